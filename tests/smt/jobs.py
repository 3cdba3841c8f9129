# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of the emulated machine, as shell scripts by name; each runs in a folder of its own."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

STREAM_FORMATS = ["posix", "hdf5"]
STREAM_LOOPS = 11
STREAM_WRITE_EVERY = 5
STREAM_BYTES = 32768  # per array and rank

ENVIRONMENT = """
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=/bin/sh OMPI_MCA_btl=self,vader,tcp
export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_MCA_mca_base_component_show_load_errors=0 OMPI_MCA_mpi_yield_when_idle=1
export IOCOMP_PLACEMENT_REPORT=report
"""

# The words of `iocomp launch` by what a test calls them.
LAUNCHES = {
    "hyperthread": "--mapping hyperthread --ranks 8",
    "hyperthread-half": "--mapping hyperthread --ranks 4",
    "hyperthread-two-to-one": "--mapping hyperthread --ranks 6 --ratio 2",
    "oversubscribe": "--mapping oversubscribe --ranks 8",
    "consecutive": "--mapping consecutive --ranks 4",
    "numa": "--mapping numa --ranks 4",
    "node": "--mapping node --servers-per-node 1 --ranks 4",
    "sequential": "--mapping sequential --ranks 4",
}
SOME_CPUS = [2, 3, 6, 7]  # a core of each package
OFFLINE = 2  # without it, hwloc's numbers of the CPUs behind it are no longer those of the system
# By rank, where a launcher that knows nothing of iocomp has put it.
BOUND = [[1], [6], [0], [7]]
BOUND_TO_CORES = [[0, 1], [6, 7], [0, 1], [6, 7]]


STAGING_BYTES = 16 << 20  # that the server touches at start
NUMA_SIZE = 1 << 20  # bytes for each domain
NUMA_THREADS = [1, 2]  # on each domain
NUMA_ROUNDS = 2
FULL_DOMAIN = 1
FULL_SIZE = 32 << 20  # of a full domain the kernel keeps some tens of MiB free


@dataclass(frozen=True)
class Build:
    """The programs of one build."""

    mpi: str
    actor: str
    command: str
    stream: str
    modules: str

    def programs(self) -> list[Path]:
        modules = sorted(Path(self.modules).glob("*.so"))
        return [Path(self.actor), Path(self.command), Path(self.stream), *modules]


def read_build(folder: Path) -> Build:
    return Build(**json.loads((folder / "tests/smt/build.json").read_text()))


def jobs(build: Build) -> Iterator[tuple[str, str]]:
    """Yield all jobs of a build; the names begin with its MPI."""
    for name, script in _jobs(build):
        yield f"{build.mpi}-{name}", f"{ENVIRONMENT}{script}\n"


def _jobs(build: Build) -> Iterator[tuple[str, str]]:
    actor = "printf 'init\\nfinalize\\n' >script\n{} seated " + f"{build.actor} script ."
    launch = f"{build.command} launch --launcher {build.mpi} "
    strict = "export IOCOMP_PLACEMENT_STRICT=true\n"
    for name, options in LAUNCHES.items():
        yield name, strict + actor.format(f"{launch}{options} --")

    some = ",".join(map(str, SOME_CPUS))
    words = f"{launch}--mapping hyperthread --ranks 4"
    yield "some-cpus", strict + actor.format(f"{words} --cpus {some} --")
    yield "allowed-cpus", strict + actor.format(f"taskset -c {some} {words} --")
    yield "too-many", actor.format(f"{launch}--mapping hyperthread --ranks 10 --")

    cpu = f"/sys/devices/system/cpu/cpu{OFFLINE}/online"
    offline = f"{strict}trap 'echo 1 >{cpu}' EXIT\necho 0 >{cpu}\n"
    for mapping, ranks in (("hyperthread", 6), ("consecutive", 4)):
        words = f"{launch}--mapping {mapping} --ranks {ranks} --"
        yield f"offline-{mapping}", offline + actor.format(words)

    paired = "export IOCOMP_PLACEMENT_SERVERS=1-per-1\n"
    yield "auto", paired + actor.format(bound(build.mpi, BOUND))
    yield "auto-whole-cores", paired + actor.format(bound(build.mpi, BOUND_TO_CORES))
    yield "auto-unbound", paired + actor.format(unbound(build.mpi, 4))
    asked = strict + "export IOCOMP_PLACEMENT_MAPPING=hyperthread\n"
    yield "strict-refuses", asked + actor.format(bound(build.mpi, [[0], [2], [4], [6]]))

    yield "writer-threads", strict + writer_threads(build, launch)

    for backend in STREAM_FORMATS:
        stream = [build.stream, "--size", STREAM_BYTES, "--loops", STREAM_LOOPS]
        stream += ["--write-every", STREAM_WRITE_EVERY, "--pattern", "index"]
        stream += ["--backend", backend, "--file", "out"]
        words = shlex.join(map(str, stream))
        yield f"stream-{backend}", f"{strict}{launch}{LAUNCHES['hyperthread']} -- {words}"


def writer_threads(build: Build, launch: str) -> str:
    """Return a job of one server with two threads; meanwhile the kernel is asked where they are.

    The second thread is there from the first request that is divided, so there is a pause after it.
    """
    script = (
        "init", "open out series", "define out u float64 1024x1024", "put out u by=columns",
        "end_step out", "wait out written", "pause 2", "close out", "finalize",
    )  # fmt: skip
    lines = "\\n".join(script)
    return f"""export IOCOMP_WRITING_THREADS=2 IOCOMP_WRITING_POLICY=local IOCOMP_FILES_OUT_PATH=out
export IOCOMP_TEST_TOUCH="{STAGING_BYTES}B" IOCOMP_STAGING_MEMORY="64 MiB"
printf '{lines}\\n' >script
{launch}--mapping node --servers-per-node 1 --ranks 4 -- {build.actor} script . &
shell=$!
while kill -0 $shell 2>/dev/null; do
  for pid in $(pidof actor); do
    grep -h ' interleave:' /proc/$pid/numa_maps
    for task in /proc/$pid/task/*; do
      [ "$(cat $task/comm)" != iocomp-writing ] || grep -h Cpus_allowed_list $task/status
    done
  done
  usleep 20000
done >seen 2>/dev/null
wait $shell
"""


def numa_jobs(command: str) -> Iterator[tuple[str, str]]:
    """Yield what measures the routes of data; no MPI is in it."""
    words = f"timeout 60 {command} numa /tmp --rounds {NUMA_ROUNDS}"
    threads = ",".join(map(str, NUMA_THREADS))
    measured = f"{words} --size {NUMA_SIZE}B --threads {threads}"
    yield "numa", f"{measured} --json --svg heat.svg --apply settings.toml >numa.json"
    # The kernel is asked meanwhile where threads may run and where pages are. Without reads, for
    # which the first thread has a policy of its own that the kernel shows for all its memory. And
    # without that thread, which measures nothing: hwloc moves it from CPU to CPU to look at them.
    yield (
        "numa-table",
        f"""{measured} --only write,direct-write,copy &
shell=$!
while kill -0 $shell 2>/dev/null; do
  for pid in $(pidof iocomp); do
    grep -H Cpus_allowed_list /proc/$pid/task/*/status | sed -n "/task.$pid.status/!s/.*status://p"
    grep -h ' prefer:' /proc/$pid/numa_maps
  done
  usleep 20000
done >seen 2>/dev/null
wait $shell
""",
    )
    # Memory of a domain runs out: the system takes that of the other one without a word.
    yield (
        "numa-full",
        f"""mkdir /tmp/full
mount -t tmpfs -o mpol=prefer:{FULL_DOMAIN},size=1G full /tmp/full
trap 'umount /tmp/full' EXIT
free=$(awk '/MemFree/ {{print int($4 / 1024)}}' /sys/devices/system/node/node{FULL_DOMAIN}/meminfo)
fallocate -l "${{free}}M" /tmp/full/file || exit
grep MemFree /sys/devices/system/node/node*/meminfo
# The kernel would look for huge pages in vain, and long.
echo never >/sys/kernel/mm/transparent_hugepage/enabled
{words} --size {FULL_SIZE}B --threads 1 --only copy --json >numa.json
""",
    )


def four_domain_jobs(command: str) -> Iterator[tuple[str, str]]:
    """Yield the same for a machine of four domains."""
    words = f"{command} numa /tmp --rounds 1 --size {NUMA_SIZE}B --threads 1 --json"
    yield "numa", f"{words} --only write,copy >numa.json"


def bound(mpi: str, cpus: list[list[int]]) -> str:
    """Return the launcher with each rank on these CPUs, without iocomp's help."""
    if mpi == "mpich":
        places = ",".join("+".join(map(str, place)) for place in cpus)
        return f"mpiexec.hydra -n {len(cpus)} -bind-to user:{places}"
    places = "".join(
        f"rank {rank}=localhost slot={','.join(map(str, place))}\\n"
        for rank, place in enumerate(cpus)
    )
    options = "--use-hwthread-cpus --mca rmaps_rank_file_physical 1 --rankfile rankfile"
    options += " --oversubscribe --bind-to hwthread:overload-allowed"
    return f"printf '{places}' >rankfile\nmpirun.openmpi -n {len(cpus)} {options}"


def unbound(mpi: str, ranks: int) -> str:
    if mpi == "mpich":
        return f"mpiexec.hydra -n {ranks} -bind-to none"
    return f"mpirun.openmpi -n {ranks} --bind-to none"
