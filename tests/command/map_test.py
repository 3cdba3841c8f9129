#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of `iocomp map` and `iocomp launch`.

Usage: map_test.py <path of the command> [unittest options]
"""

# ruff: noqa: SIM905 - command lines read better whole
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

BAD_INPUT = 2
CPUS = sorted(os.sched_getaffinity(0))
# Launchers mix the output of ranks, so each writes a file.
WHO = (
    "import os; rank = os.environ.get('OMPI_COMM_WORLD_RANK', os.environ.get('PMI_RANK'));"
    "print(*sorted(os.sched_getaffinity(0)), os.environ.get('IOCOMP_PLACEMENT_POLICY'),"
    "file=open('rank.' + rank, 'w'))"
)
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}


class MapTest(unittest.TestCase):
    """Each test has a working directory of its own and no IOCOMP_* variable."""

    command = "iocomp"

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_words(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program and return what it did."""
        environment = {
            name: text for name, text in os.environ.items() if not name.startswith("IOCOMP_")
        }
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(
            words, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def map(self, *words: str) -> dict:
        """Return what `iocomp map --json` prints."""
        done = self.run_words(self.command, "map", "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def cpus(self, *words: str) -> list[int]:
        """Return the CPU of every rank."""
        return [rank["cpu"] for rank in self.map(*words)["ranks"]]

    def refused(self, *words: str) -> str:
        """Return the complaint about bad input."""
        done = self.run_words(self.command, *words)
        self.assertEqual(done.returncode, BAD_INPUT, done.stdout)
        self.assertEqual(done.stdout, "")
        return done.stderr

    # Bhardwaj, Bartholomew, Parsons, CUG 2023: 4 compute ranks on one ARCHER2 node.
    def test_the_mappings_of_the_paper(self) -> None:
        first = [0, 1, 2, 3]
        for mapping, ranks, cpus in [
            ("sequential", 4, first),
            ("hyperthread", 8, [*first, 128, 129, 130, 131]),
            ("consecutive", 8, [*first, 4, 5, 6, 7]),
            ("oversubscribe", 8, first * 2),
        ]:
            words = ["--mapping", mapping, "--topology", "archer2"]
            self.assertEqual(self.cpus(*words, "--ranks", str(ranks)), cpus)
            self.assertEqual(self.cpus(*words, "--compute-ranks", "4"), cpus)

    def test_the_groups_of_the_paper(self) -> None:
        for mapping, node_of_16, cpu_of_16, servers_on in [
            ("consecutive", 1, 0, 1),
            ("hyperthread", 0, 128, 0),
            ("oversubscribe", 0, 0, 0),
        ]:
            found = self.map(
                *f"--mapping {mapping} --topology archer2".split(),
                *"--ranks 64 --nodes 4 --node-size 16".split(),
            )["ranks"]
            self.assertEqual((found[0]["role"], found[0]["pair"]), ("compute", 16))
            self.assertEqual((found[1]["pair"], found[32]["pair"]), (17, 48))
            self.assertEqual(
                (found[16]["node"], found[16]["cpu"]), (node_of_16, cpu_of_16), mapping
            )
            self.assertEqual(found[16]["role"], "server")
            self.assertEqual(found[48]["node"] - found[32]["node"], servers_on)

    def test_policies_work_with_ranks_alone(self) -> None:
        found = self.map(*"--policy halves --node-size 128 --ranks 256".split())
        servers = [rank["rank"] for rank in found["ranks"] if rank["role"] == "server"]
        self.assertEqual(servers, list(range(128, 256)))
        self.assertEqual(
            found["ranks"][0], {"rank": 0, "role": "compute", "node": 0, "cpu": None, "pair": 128}
        )
        self.assertEqual(found["policy"], "halves")

    def test_policies_take_the_nodes_they_are_told_of(self) -> None:
        words = "--policy spread --servers-per-node 2 --ranks 16 --nodes 2"
        found = self.map(*words.split())
        servers = [rank["rank"] for rank in found["ranks"] if rank["role"] == "server"]
        self.assertEqual(servers, [0, 4, 8, 12])
        self.assertIn("srun --nodes=2 --ntasks=16 --ntasks-per-node=8 ", found["launch"])
        self.assertNotIn("--cpu-bind", found["launch"])
        cpus = self.cpus(*words.split(), "--topology", "archer2")
        self.assertEqual(cpus, [*range(8), *range(8)])

    def test_the_table_has_the_columns_of_the_paper(self) -> None:
        done = self.run_words(
            self.command, *"map --mapping hyperthread --ranks 4 --topology archer2".split()
        )
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(lines[0], ["type", "rank", "CPU", "node", "pair"])
        self.assertEqual(lines[1], ["compute", "0", "0", "0", "2"])
        self.assertEqual(lines[3], ["server", "2", "128", "0", "0"])

    def test_slurm_lines_bind_and_say_what_the_library_needs(self) -> None:
        line = self.map(*"--mapping hyperthread --ranks 64 --nodes 4 --topology archer2".split())
        self.assertEqual(
            line["launch"],
            "IOCOMP_PLACEMENT_POLICY=tail IOCOMP_PLACEMENT_MAPPING=hyperthread "
            "IOCOMP_PLACEMENT_SERVERS=1-per-1 srun --nodes=4 --ntasks=64 "
            "--ntasks-per-node=16 --distribution=block --hint=multithread "
            "--cpu-bind=map_cpu:0,1,2,3,4,5,6,7,128,129,130,131,132,133,134,135 ./program",
        )
        shared = self.map(*"--mapping oversubscribe --ranks 4 --topology archer2".split())
        self.assertIn("--overcommit --cpu-bind=map_cpu:0,1,0,1 ", shared["launch"])
        self.assertNotIn("--hint", shared["launch"])

    def test_what_slurm_needs_besides_the_line_is_told(self) -> None:
        words = "map --mapping hyperthread --ranks 64 --nodes 4 --topology archer2".split()
        told = self.run_words(self.command, *words, "--launcher", "slurm").stderr
        self.assertIn("salloc --exclusive --nodes=4", told)
        self.assertIn("SLURM_MPI_TYPE", told)
        other = self.run_words(self.command, *words, "--launcher", "openmpi").stderr
        self.assertEqual(other, "")

    def test_nodes_that_are_filled_differently_get_parts_of_their_own(self) -> None:
        line = self.map(
            *"--mapping consecutive --ranks 10 --topology archer2 --topology".split(),
            "2*pack:1 core:2 pu:1",
        )["launch"]
        self.assertEqual(line.count("srun"), 1)
        self.assertIn("--nodes=1 --ntasks=6 ", line)
        self.assertIn(" : --nodes=2 --ntasks=4 --ntasks-per-node=2 ", line)

    def test_mpich_refuses_what_it_cannot_bind(self) -> None:
        words = "map --mapping consecutive --ranks 3 --nodes 2 --topology archer2 --launcher mpich"
        self.assertIn("add --hosts", self.refused(*words.split()))
        line = self.map(*words.split()[1:], "--hosts", "a,b")["launch"]
        self.assertIn("-hosts a:2,b:1 -bind-to user:0,1 ", line)

    def test_long_lists_of_servers_go_to_a_file(self) -> None:
        words = "--mapping nodes --every 5 --ranks 100000 --nodes 800 --topology archer2".split()
        line = self.map(*words, "--settings", "place.toml")["launch"]
        self.assertTrue(line.startswith("IOCOMP_CONFIG=place.toml srun "), line[:80])
        environment = os.environ | {"IOCOMP_CONFIG": "place.toml"}
        done = subprocess.run(
            [self.command, "config"],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertRegex(done.stdout, r"(?m)^placement\.servers +\[\d.*place\.toml")

    def test_the_file_of_settings_keeps_what_holds_here(self) -> None:
        (self.folder / "iocomp.toml").write_text('[files.x]\npath = "user/place"\n')
        for mapping in ("consecutive", "sequential"):
            words = f"--mapping {mapping} --ranks 4 --topology archer2 --settings place.toml"
            self.map(*words.split())
            text = (self.folder / "place.toml").read_text()
            self.assertIn('[files.x]\npath = "user/place"\n', text)
            self.assertIn(f'mapping = "{mapping}"', text)

    def test_the_picture_shows_every_rank(self) -> None:
        self.map(*"--mapping l3 --ranks 128 --topology archer2 --picture node.svg".split())
        picture = xml.dom.minidom.parse(str(self.folder / "node.svg"))
        words = [node.firstChild.data for node in picture.getElementsByTagName("text")]
        self.assertEqual(sum(bool(re.fullmatch(r"S?\d+", word)) for word in words), 128)
        self.assertEqual(sum(word.startswith("L3 ") for word in words), 32)

    def picture_size(self, words: str) -> tuple[float, float]:
        """Draw a job and return width and height of the picture."""
        self.map(*words.split(), "--picture", "nodes.svg")
        root = xml.dom.minidom.parse(str(self.folder / "nodes.svg")).documentElement
        return float(root.getAttribute("width")), float(root.getAttribute("height"))

    def test_nodes_stand_side_by_side(self) -> None:
        words = "--mapping l3 --topology archer2 --ranks"
        one_width, one_height = self.picture_size(f"{words} 128")
        width, height = self.picture_size(f"{words} 512 --nodes 4")
        self.assertLess(height, 2 * one_height)
        self.assertLess(width, 2 * one_width + 20)

    def test_ranks_of_neighbouring_servers_have_colours_of_their_own(self) -> None:
        self.map(*"--mapping l3 --ranks 128 --topology archer2 --picture node.svg".split())
        picture = xml.dom.minidom.parse(str(self.folder / "node.svg"))
        fills = {box.getAttribute("fill") for box in picture.getElementsByTagName("rect")}
        self.assertLessEqual({"#1f5fa8", "#b8560b", "#23752b", "#a82424", "#6a3fa0"}, fills)
        legend = [text.firstChild.data for text in picture.getElementsByTagName("text")][:8]
        for role in ("its server", "the first rank it serves", "no server", "not allowed", "free"):
            self.assertTrue(any(role in line for line in legend), (role, legend))

    def test_the_exchange_of_cha_and_maeng(self) -> None:
        words = "--cost --grid 8x4 --nodes 2 --aggregators 4 --order packed --affinity".split()
        topology = ["--topology", "pack:4 core:4 pu:1"]
        for affinity, table in [
            ("accumulated", [(24, 6), (8, 0), (8, 0), (8, 0)]),
            ("distributed", [(12, 1), (12, 1), (12, 2), (12, 2)]),
        ]:
            sockets = self.map(*words, affinity, *topology)["sockets"]
            self.assertEqual([(one["inter"], one["intra"]) for one in sockets], table * 2)

    def test_impossible_requests_name_the_nearest(self) -> None:
        for words, nearest in [
            ("--mapping hyperthred --ranks 4", 'did you mean "hyperthread"?'),
            (
                "--mapping hyperthread --ranks 300 --topology archer2",
                "nearest: 256 ranks, or 2 such",
            ),
            ("--mapping consecutive --ranks 9 --ratio 1:2 --topology archer2", "nearest is 1:1"),
            ("--mapping consecutive --ranks 9 --ratio 4:0 --topology archer2", "nearest is 4:1"),
            ("--mapping consecutive --ranks 9 --topology archer3", "allowed are archer2"),
            ("--mapping sequential --ranks 1 --topology pack:2", "has to be pu:N"),
            ("--mapping sequential --ranks 1 --topology archer2 --cpus 300", "no CPU 300"),
            ("--mapping oversubscribe --ranks 2 --kernel", "--mapping sequential"),
            ("--mapping sequential --ranks 1 --launcher pbs", "slurm, openmpi, mpich"),
            ("--ranks 4", "--mapping or --policy"),
            ("--policy halves", "--ranks"),
            ("--cost", "--grid"),
            ("--cost --grid 8x5 --ranks 32 --aggregators 4 --topology archer2", "40 blocks"),
        ]:
            self.assertIn(nearest, self.refused("map", *words.split()))

    def test_large_jobs_are_quick_and_small(self) -> None:
        started = time.monotonic()
        self.cpus(*"--mapping hyperthread --ranks 128 --topology archer2".split())
        self.assertLess(time.monotonic() - started, 1)
        started = time.monotonic()
        found = self.cpus(*"--mapping l3 --ranks 100000 --nodes 800 --topology archer2".split())
        self.assertEqual(len(found), 100000)
        self.assertLess(time.monotonic() - started, 10)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1 << 20)

    def bound(self) -> dict[int, tuple[list[int], str]]:
        """Return by rank where it sat and the policy it was given, once."""
        found = {}
        for file in self.folder.glob("rank.*"):
            *cpus, policy = file.read_text().split()
            found[int(file.suffix[1:])] = ([int(cpu) for cpu in cpus], policy)
            file.unlink()
        return found

    @unittest.skipIf(len(CPUS) < 2, "needs two CPUs")
    def test_printed_lines_bind_as_the_map_says(self) -> None:
        for launcher, program in LAUNCHERS.items():
            if shutil.which(program) is None:
                continue
            for mapping, ranks in [("consecutive", 2), ("oversubscribe", 4)]:
                words = ["--mapping", mapping, "--ranks", str(ranks), "--launcher", launcher]
                words += ["--cpus", f"{CPUS[0]},{CPUS[1]}"]
                words += ["--rankfile", "ranks"] if launcher == "openmpi" else []
                found = self.map(*words)
                line = shlex.split(found["launch"])
                done = self.run_words(program, *line[1:-1], sys.executable, "-c", WHO)
                self.assertEqual(done.returncode, 0, done.stderr)
                expected = {one["rank"]: ([one["cpu"]], "halves") for one in found["ranks"]}
                self.assertEqual(self.bound(), expected, found["launch"])

    @unittest.skipIf(len(CPUS) < 2, "needs two CPUs")
    def test_launch_binds_and_returns_the_status(self) -> None:
        words = "launch --mapping oversubscribe --ranks 4 --".split()
        done = self.run_words(self.command, *words, sys.executable, "-c", WHO)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = {rank: ([CPUS[rank % 2]], "halves") for rank in range(4)}
        self.assertEqual(self.bound(), expected)
        done = self.run_words(self.command, *words, sys.executable, "-c", "raise SystemExit(7)")
        self.assertEqual(done.returncode, 7, done.stderr)

    def test_launch_says_what_it_would_do(self) -> None:
        done = self.run_words(
            self.command,
            *"launch --dry-run --launcher mpich --mapping consecutive --ranks 4".split(),
            *["--topology", "archer2", "--", "./solve", "-n", "two words"],
        )
        self.assertEqual(
            done.stdout,
            "mpiexec -n 4 -ppn 4 -bind-to user:0,1,2,3 -genv IOCOMP_PLACEMENT_POLICY halves "
            "-genv IOCOMP_PLACEMENT_MAPPING consecutive -genv IOCOMP_PLACEMENT_NODE_SIZE 4 ./solve -n 'two words'\n",
        )

    def test_launch_tells_a_program_what_it_would_do(self) -> None:
        job = "--launcher openmpi --mapping consecutive --ranks 4 --topology archer2".split()
        launched = self.run_words(
            self.command, "launch", "--dry-run", "--json", *job, "--", "./program"
        )
        mapped = self.run_words(self.command, "map", "--json", *job)
        self.assertEqual(json.loads(launched.stdout), json.loads(mapped.stdout))
        found = json.loads(launched.stdout)
        self.assertEqual(found["words"][-1], "./program")
        variables = [f"{name}={value}" for name, value in found["environment"].items()]
        self.assertEqual([*variables, *found["words"]], shlex.split(found["launch"]))
        alone = self.run_words(self.command, "launch", "--json", *job, "--", "./program")
        self.assertEqual(alone.returncode, BAD_INPUT)

    def test_launch_says_what_it_looked_for(self) -> None:
        done = subprocess.run(
            [self.command, *"launch --mapping sequential --ranks 1 -- ./program".split()],
            env={"PATH": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("no launcher is in PATH", done.stderr)
        self.assertIn("mpirun.openmpi", done.stderr)


if __name__ == "__main__":
    MapTest.command = sys.argv.pop(1)
    unittest.main()
