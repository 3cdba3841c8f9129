#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the command `iocomp`: what users see, and the status that scripts see.

Usage: command_test.py <path of the command> [unittest options]
"""

import functools
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BAD_INPUT = 2


class CommandTest(unittest.TestCase):
    """Each test has a working directory of its own and no IOCOMP_* variable but its own."""

    command = "iocomp"

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command with these words and variables, and return what it did."""
        environment = {
            name: text for name, text in os.environ.items() if not name.startswith("IOCOMP_")
        }
        return subprocess.run(
            [self.command, *words],
            cwd=self.folder,
            env=environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def settings(self, *words: str, **variables: str) -> dict[str, dict[str, str]]:
        """Return what `iocomp config --json` lists, by key."""
        done = self.run_command("config", "--json", *words, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {entry["key"]: entry for entry in json.loads(done.stdout)}

    def test_output_that_cannot_be_written_is_told(self) -> None:
        (self.folder / "iocomp.toml").write_text("".join(f"files.f{i}.keep = 2\n" for i in range(300)))
        for words in (["--version"], ["--help"], ["info"], ["config"], ["config", "--json"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [self.command, *words], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True
                )
            self.assertEqual(done.returncode, BAD_INPUT, words)
            self.assertEqual(done.stderr, "iocomp: cannot write to the standard output\n", words)

    def test_config_lists_every_key_with_value_and_origin(self) -> None:
        (self.folder / "iocomp.toml").write_text("[staging]\nmemory = '2 GiB'\n")
        done = self.run_command("config", IOCOMP_MODE="sync")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^mode +sync +environment IOCOMP_MODE$")
        self.assertRegex(done.stdout, r"(?m)^staging\.memory +2 GiB +iocomp\.toml:2$")
        self.assertRegex(done.stdout, r"(?m)^trace\.json +- +default$")

    def test_config_aligns_its_columns(self) -> None:
        lines = self.run_command("config").stdout.splitlines()
        self.assertEqual(len({line.index("default", line.index(" ")) for line in lines[:5]}), 1)

    def test_config_prints_the_same_as_json(self) -> None:
        found = self.settings(IOCOMP_MODE="sync")
        self.assertEqual(found["mode"]["value"], "sync")
        self.assertEqual(found["mode"]["origin"], "environment IOCOMP_MODE")
        self.assertEqual(found["files.default.backend"]["origin"], "default")

    def test_config_shows_the_keys_of_one_file(self) -> None:
        found = self.settings("--file", "fields", IOCOMP_FILES_BACKEND="hdf5")
        self.assertEqual(found["files.fields.backend"]["value"], "hdf5")
        self.assertTrue(all(key.startswith("files.fields.") for key in found))

    def test_a_bad_value_ends_with_status_2_and_says_what_is_allowed(self) -> None:
        done = self.run_command("config", IOCOMP_PLACEMENT_POLICY="halfs")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertEqual(done.stdout, "")
        self.assertEqual(
            done.stderr,
            'iocomp: placement.policy = "halfs" (environment IOCOMP_PLACEMENT_POLICY): '
            'allowed are auto, halves, spread, packed, tail; did you mean "halves"?\n',
        )

    def test_unknown_variables_are_warned_of(self) -> None:
        for command in ("info", "config"):
            done = self.run_command(command, IOCOMP_MODUS="sync", IOCOMP_HOME="/opt/iocomp")
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, "IOCOMP_MODUS .* IOCOMP_MODE;")
            self.assertRegex(done.stderr, "IOCOMP_HOME .* nearest")

    def test_unknown_words_end_with_status_2(self) -> None:
        for words in ([], ["nonsense"], ["config", "--nonsense"], ["config", "--json", "--markdown"]):
            done = self.run_command(*words)
            self.assertEqual(done.returncode, BAD_INPUT, words)
            self.assertNotEqual(done.stderr, "", words)

    def test_the_nearest_word_is_named(self) -> None:
        for words, told in (
            (["verfy"], "there is no subcommand verfy; did you mean \"verify\"?"),
            (["show", "x", "--vriable", "u"], "show has no option --vriable; did you mean \"--variable\"?"),
            (["ls", "a", "b"], "ls takes no more words, but there is b;"),
            (["map", "--servers", "1", "2"], "map takes no more words, but there is 2;"),
            (["launch", "--hosts", "a", "--srevers", "2", "--", "./p"],
             "launch has no option --srevers; did you mean \"--servers\"?"),
            (["nonsense"], "there is no subcommand nonsense; `iocomp --help` lists all"),
        ):
            done = self.run_command(*words)
            self.assertEqual(done.returncode, BAD_INPUT, words)
            self.assertTrue(done.stderr.startswith(f"iocomp: {told}"), done.stderr)

    def test_options_that_take_one_word_promise_no_more(self) -> None:
        for command, options in (("launch", ("servers", "hosts", "topology")), ("numa", ("only",))):
            told = self.run_command(command, "--help").stdout
            for option in options:
                self.assertNotRegex(told, rf"--{option} \S+ \.\.\.")
                self.assertIn(f"--{option} ", told)

    @classmethod
    @functools.cache  # programs in Python take a while to answer
    def completed(cls, *words: str) -> list[str]:
        """Return what may follow words, by the script for bash."""
        script = pathlib.Path(__file__).parents[2] / "tools/completion/iocomp"
        quoted = " ".join(shlex.quote(word) for word in (cls.command, *words))
        done = subprocess.run(
            ["bash", "-c", f"source {shlex.quote(str(script))}; COMP_WORDS=({quoted}); "
             f'COMP_CWORD={len(words)}; _iocomp; printf "%s\\n" "${{COMPREPLY[@]}}"'],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.split()

    def test_shells_learn_what_may_come_next(self) -> None:
        self.assertEqual(self.completed("la"), ["latest", "launch"])
        self.assertEqual(self.completed("show", "--v"), ["--variable"])
        self.assertEqual(self.completed("latest", "--only", ""), ["step", "time", "file"])
        self.assertEqual(self.completed("ls", "--json", "out"), [])
        self.assertEqual(self.completed("nonsense", "--"), [])

    def test_shells_learn_the_words_of_programs_in_python(self) -> None:
        self.assertEqual(self.completed("advise", "--bytes"), ["--bytes-per-step"])
        self.assertEqual(self.completed("check-site", "--m"), ["--minutes"])
        self.assertEqual(self.completed("study", "r"), ["run", "report"])
        self.assertEqual(self.completed("study", "run", "--dry"), ["--dry-run"])
        self.assertEqual(self.completed("study", "run", "--part"), [])  # is for itself
        self.assertIn("kill-rank", self.completed("torture", "--only", ""))
        self.assertEqual(self.completed("torture", "--buil"), [])

    def test_what_follows_a_program_is_not_completed(self) -> None:
        self.assertEqual(self.completed("run", "--d"), ["--dry-run"])
        for words in (["run", "./solve"], ["run", "--"], ["launch", "--", "./solve"], ["advise", "--"]):
            self.assertEqual(self.completed(*words, "--"), [], words)

    def test_whatever_a_program_may_ask_is_told_as_json(self) -> None:
        for name in self.names():
            self.assertIn("--json", self.completed(*name.split(), "--"), name)

    def names(self) -> list[str]:
        """Return all subcommands, those of subcommands too: "study run"."""
        found = []
        for name in self.completed(""):
            members = self.completed(name, "")
            found += [f"{name} {member}" for member in members] or [name]
        return found

    def test_subcommands_stand_in_the_help_and_in_the_manual(self) -> None:
        shown = self.run_command("--help").stdout
        manual = self.run_command("manual").stdout
        self.assertIn("\nFiles:\n", shown)
        for name in self.names():
            self.assertRegex(shown, rf"(?m)^  {name.split()[0]} ")
            _, found, rest = manual.partition(f".SS iocomp {name}\n")
            self.assertTrue(found, name)
            options = self.completed(*name.split(), "--")
            self.assertNotEqual(options, [], name)
            for option in options:
                self.assertIn(option.replace("-", "\\-"), rest.partition("\n.SS ")[0], name)
        if groff := shutil.which("groff"):
            checked = subprocess.run(
                [groff, "-man", "-ww", "-z", "-K", "utf8"],
                input=manual, capture_output=True, text=True, check=True,
            )  # fmt: skip
            self.assertEqual(checked.stderr, "")

    def test_the_reference_does_not_depend_on_what_is_set(self) -> None:
        plain = self.run_command("config", "--markdown")
        bad = self.run_command("config", "--markdown", IOCOMP_MODE="quickly")
        self.assertEqual(plain.returncode, 0)
        self.assertEqual(plain.stdout, bad.stdout)

    def test_info_names_versions_and_back_ends(self) -> None:
        done = self.run_command("info", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertRegex(found["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(found["mpi_library"], "Open MPI|MPICH|Intel|MVAPICH|Cray")
        self.assertNotIn("\0", found["mpi_library"])
        self.assertRegex(found["disk_engine"], r"^(io_uring|threads( \(io_uring: .+\))?)$")
        formats = {entry["name"]: entry for entry in found["back_ends"]}
        self.assertTrue(formats["posix"]["found"], formats)
        for entry in formats.values():
            self.assertTrue(entry["version"] if entry["found"] else entry["reason"], entry)

    def test_info_loads_no_code_that_a_file_names(self) -> None:
        (self.folder / "libiocomp_format_posix.so").write_text("no module")
        (self.folder / "iocomp.toml").write_text("storage.modules = '.'\n")
        done = self.run_command("info")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("IOCOMP_STORAGE_MODULES", done.stderr)
        self.assertNotIn("cannot load", done.stdout + done.stderr)
        (self.folder / "iocomp.toml").unlink()
        done = self.run_command("info", IOCOMP_STORAGE_MODULES=str(self.folder))
        self.assertIn("cannot load", done.stdout)

    def test_info_is_readable(self) -> None:
        done = self.run_command("info")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^MPI library +\S")
        self.assertRegex(done.stdout, r"(?m)^back-end posix +found")

    def test_info_tells_the_file_system_of_a_directory(self) -> None:
        done = self.run_command("info", "--path", str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^file system +\S")
        self.assertRegex(done.stdout, r"(?m)^O_DIRECT +(yes|no)$")
        found = json.loads(self.run_command("info", "--path", str(self.folder), "--json").stdout)
        self.assertEqual(found["directory"], str(self.folder))
        self.assertGreater(found["block_bytes"], 0)
        if found["file_system"] not in ("lustre", "gpfs"):
            self.assertIsNone(found["advice"])
            self.assertRegex(done.stdout, r"(?m)^advice +nothing to choose")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_info_names_a_directory_that_is_not_there(self) -> None:
        done = self.run_command("info", "--path", str(self.folder / "none"))
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("none: No such file or directory", done.stderr)

    def test_help_and_version_succeed(self) -> None:
        for words in (["--help"], ["config", "--help"], ["--version"]):
            self.assertEqual(self.run_command(*words).returncode, 0, words)


if __name__ == "__main__":
    CommandTest.command = sys.argv.pop(1)
    unittest.main()
