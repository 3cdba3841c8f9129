# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of mutant, in a small program: it compiles, and each does something else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytest.importorskip("clang.cindex", reason="python3-clang-19 is not installed")

import campaign
import candidates
import sources

PROGRAM = """
#include <cstdio>
#include <stdexcept>
#include <string>
namespace iocomp {
struct Outcome {
  std::string error;
};
}
namespace {
using iocomp::Outcome;
int synced = 0;
std::string told;
int sync_file() { return ++synced; }
void tell(const char* what) { told += what; }
Outcome sync_all() { ++synced; return {"late"}; }
bool is_small(int value) { return value < 3; }
Outcome first_error(int value) {
  if (value == 3) {
    return {};
  }
  return Outcome{"too much"};
}
int code_of(bool is_bad) {
  if (is_bad) {
    return -5;
  }
  return 0;
}
void check(int value) {
  if (value > 7) {
    throw std::runtime_error{"more than seven"};
  }
}
class Nine {
 public:
  [[noreturn]] static void refuse();
};
void Nine::refuse() { throw std::runtime_error{"nine"}; }
void run(int value) {
  tell("begin ");
  if (value >= 3 && value != 5) {
    tell("middle ");
  }
  int left = value;
  while (left > 0) {
    left -= 1;
    if (left == 1 || left == 6) {
      continue;
    }
    tell(left + 1 > 4 ? "more " : "less ");
  }
  sync_file();
  const int is_synced = sync_file();
  const Outcome outcome = sync_all();
  told += std::to_string(is_synced) + outcome.error;
}
}
int main() {
  for (int value = 0; value < 10; ++value) {
    try {
      run(value);
      if (value == 9) {
        Nine::refuse();
      }
      check(value);
    } catch (const std::exception& error) {
      told += error.what();
    }
    told += std::to_string(is_small(value)) + first_error(value).error +
            std::to_string(code_of(value == 2)) + std::to_string(synced) + "\\n";
  }
  std::puts(told.c_str());
}
"""


def output(program: Path, mutant: int) -> str:
    """Return what a mutant prints, or that it does not end."""
    try:
        done = subprocess.run(
            [program],
            env=sources.environment(mutant),
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    return f"{done.returncode} {done.stdout}"


def test_each_mutant_does_something_else(tmp_path: Path) -> None:
    """All are in one program, which is the plain one as long as none is asked for."""
    source = tmp_path / "src" / "program.cpp"
    source.parent.mkdir()
    source.write_text(PROGRAM)
    found = candidates.find(tmp_path, ["program.cpp"], ["-std=c++20"])
    assert {one.operator for one in found} == {
        "assignment deleted",
        "bound off by one",
        "call deleted",
        "check skipped",
        "condition negated",
        "error dropped",
        "result negated",
        "sync skipped",
    }
    assert not any(one.function == "Nine::refuse" for one in found)  # it is [[noreturn]]
    numbered = dict(enumerate(found, start=1))
    mutated = tmp_path / "mutated.cpp"
    mutated.write_bytes(sources.rendered(PROGRAM.encode(), list(numbered.items())))
    header = tmp_path / sources.HEADER
    header.parent.mkdir()
    header.write_bytes(Path(sources.__file__).with_name("mutant.h").read_bytes())
    programs = {}
    for path in (source, mutated):
        programs[path] = path.with_suffix("")
        command = ["g++", "-std=c++20", "-I", str(tmp_path), str(path), "-o", str(programs[path])]
        subprocess.run(command, check=True)
    plain = output(programs[source], 0)
    assert output(programs[mutated], 0) == plain
    alike = [
        one.key for number, one in numbered.items() if output(programs[mutated], number) == plain
    ]
    assert alike == []


def test_a_sample_takes_as_many_of_each_room_and_does_not_change_with_others() -> None:
    """A mutant that is known stays in the sample when the library gets others."""

    def candidate(room: str, operator: str, number: int) -> candidates.Candidate:
        return candidates.Candidate(
            f"{room}/a.cpp", "f", operator, str(number), 0, (number, number + 1), (), "zero"
        )

    rooms = {
        room: [candidate(room, op, n) for op in ("call deleted", "sync skipped") for n in range(50)]
        for room in ("steps", "disk")
    }
    chosen = sources.sample(rooms, 20, seed=1)
    assert len(chosen) == 20
    for room in rooms:
        for operator in ("call deleted", "sync skipped"):
            of_both = [one for one in chosen if (one.room, one.operator) == (room, operator)]
            assert len(of_both) == 5
    less = {room: [one for one in found if one.text != "0"] for room, found in rooms.items()}
    kept = {one.key for one in sources.sample(less, 20, seed=1)}
    assert len({one.key for one in chosen} - kept) <= 4


def test_a_test_that_only_sleeps_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its children too; one that works is not, as long as it may."""
    monkeypatch.setattr(campaign, "ASLEEP", 2)
    sleeps = ["sh", "-c", "sleep 1000 & echo $! >child; wait"]
    assert campaign.run_limited(sleeps, 0, 10, 100, tmp_path) is None
    child = int((tmp_path / "child").read_text())
    assert not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text()
    works = ["python3", "-c", "import time\nwhile time.process_time() < 3: pass\nprint('done')"]
    done = campaign.run_limited(works, 0, 60, 100, tmp_path)
    assert done is not None
    assert done.stdout == "done\n"
    assert campaign.run_limited(works, 0, 0, 100, tmp_path).returncode != 0
