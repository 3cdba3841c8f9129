#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run fuzz targets, as many at once as there are cores.

Usage: run.py --build FOLDER [--seconds N] [--runs N] [--grow] [TARGET ...]

A finding ends its target; its input and its story lie in FOLDER/found. So does an input that took long, if it takes as
much processor time when it is run alone. With --runs, each run has the same inputs. With --grow, what reaches new code
is added to FOLDER/corpus, which the next run begins with.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LONGEST_BYTES = 4096
SLOWEST_SECONDS = 25
SLOW_SECONDS = 2
MEMORY_MIB = 2048


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, help="that many inputs of each target, always the same")
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("targets", nargs="*")
    return parser.parse_args()


def is_slow(program: pathlib.Path, unit: pathlib.Path) -> bool:
    """Run an input that took long once more: the machine may have been busy with something else."""
    with subprocess.Popen([program, unit], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime > SLOW_SECONDS


def run(target: str, options: argparse.Namespace) -> str:
    """Return what to tell of a target; the first word is "ok" or "FOUND"."""
    found = options.build / "found" / target
    corpus = options.build / "corpus" / target
    found.mkdir(parents=True, exist_ok=True)
    corpus.mkdir(parents=True, exist_ok=True)
    program = options.build / "tests" / "fuzz" / f"fuzz_{target}"
    dictionary = HERE / "dictionaries" / f"{target}.dict"
    # Files are written and made durable again and again: in memory, where that is possible.
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        new = corpus if options.grow else pathlib.Path(folder, "new")
        new.mkdir(exist_ok=True)
        command = [
            program,
            f"-max_total_time={options.seconds}",
            f"-max_len={LONGEST_BYTES}",
            f"-timeout={SLOWEST_SECONDS}",
            f"-report_slow_units={SLOW_SECONDS}",
            f"-rss_limit_mb={MEMORY_MIB}",
            f"-artifact_prefix={found}/",
            *([f"-runs={options.runs}", "-seed=1"] if options.runs else []),
            *([f"-dict={dictionary}"] if dictionary.exists() else []),
            new,
            *([] if options.runs else [corpus]),
            HERE / "corpus" / target,
        ]
        environment = dict(os.environ, TMPDIR=folder)
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", check=False
        )
    slow = []
    for unit in sorted(found.glob("slow-unit-*")):
        if is_slow(program, unit):
            slow.append(f"FOUND  {target}: {unit} takes more than {SLOW_SECONDS} s")
        else:
            unit.unlink()
    last = [line.strip() for line in done.stderr.splitlines() if "\tDONE" in line]
    if done.returncode == 0:
        return "\n".join(slow) or f"ok     {target}: {' '.join(last)}"
    story = found / "story"
    story.write_text(done.stderr)
    return f"FOUND  {target}: {story}\n" + "\n".join(done.stderr.splitlines()[-30:])


def main() -> int:
    options = arguments()
    options.build = options.build.resolve()
    targets = options.targets or sorted(path.name for path in (HERE / "corpus").iterdir())
    missing = [t for t in targets if not (options.build / "tests/fuzz" / f"fuzz_{t}").exists()]
    if missing:
        print("not built: " + ", ".join(missing), file=sys.stderr)
        return 2
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = []
        for result in pool.map(lambda target: run(target, options), targets):
            print(result, flush=True)
            results.append(result)
    return 1 if any(result.startswith("FOUND") for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
