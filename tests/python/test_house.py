# SPDX-License-Identifier: BSD-3-Clause
import re
from pathlib import Path

from check_house import LARGER, Size, body_at, classes, members_in, plain, violations

ROOT = Path(__file__).resolve().parents[2]


def room(folder: Path, **sources: str) -> Path:
    (folder / "disk").mkdir()
    for name, text in sources.items():
        (folder / "disk" / re.sub("_(h|cpp)$", r".\1", name)).write_text(text)
    return folder


def members(text: str) -> int:
    return members_in(body_at(plain(text), text.index("{") + 1))


def test_data_members_are_counted_and_nothing_else_is() -> None:
    assert (
        members(
            """class Pump {
 public:
  explicit Pump(int litres) : litres_{litres}, name_{"a;b_;"} {}
  int litres() const { return litres_; }  // of litres_;
  static inline int pumps_ = 0;

 private:
  struct Valve {
    int width_ = 0;
  };
  int litres_;
  std::string name_{"{"};
  std::function<bool(int)> opens_;
  std::array<Valve, 2> valves_{};
  int slots_[4];
  Valve* first_ = nullptr;  // into valves_
};"""
        )
        == 6
    )


def test_a_class_in_two_source_files_is_refused(tmp_path: Path) -> None:
    place = room(
        tmp_path,
        pump_h="class Pump {\n  int litres_;\n};\n",
        pump_cpp="Pump::Pump() = default;\n",
        pump_more_cpp="int\nPump::litres() const { return litres_; }\n",
    )
    assert violations(place, {}) == [
        "disk/Pump is defined in 2 source files, at most 1: pump.cpp, pump_more.cpp"
    ]
    assert violations(place, {"disk/Pump": Size(files=2)}) == []


def test_a_class_that_only_calls_another_is_not_its_definition(tmp_path: Path) -> None:
    place = room(
        tmp_path,
        pump_cpp="void Pump::run() {\n  Valve::open();\n}\n",
        valve_cpp="void Valve::open() {\n  Pump::run();\n}\n",
    )
    assert violations(place, {}) == []


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    body = "".join(f"  int litres{number}_ = 0;\n" for number in range(16))
    place = room(tmp_path, pump_h=f"class Pump final : public Engine {{\n{body}}};\n")
    assert violations(place, {}) == ["disk/Pump has 16 data members, at most 15"]
    assert violations(place, {"disk/Pump": Size(members=16)}) == []


def test_threads_are_started_in_one_place(tmp_path: Path) -> None:
    place = room(
        tmp_path,
        pump_h="class Pump {\n  std::jthread thread_;\n};\n",
        pump_cpp="Pump::Pump() { thread_ = std::jthread{[this] { run(); }}; }\n",
        valve_cpp='void run() {\n  std::thread beside{turn};  // std::thread{}\n  log("std::thread{");\n}\n',
        meter_cpp='auto thread = start_thread("iocomp-meter", read);\n',
    )
    assert violations(place, {}) == [
        "disk/pump.cpp starts a thread: base/thread.h does",
        "disk/valve.cpp starts a thread: base/thread.h does",
    ]


def test_an_entry_of_a_mended_class_has_to_go(tmp_path: Path) -> None:
    place = room(tmp_path, pump_h="class Pump {\n  int litres_;\n};\n")
    assert len(violations(place, {"disk/Pump": Size(files=2)})) == 1


def test_the_list_says_why_and_names_classes_that_are_there() -> None:
    found = classes(ROOT / "src")
    assert all(size.reason and name in found for name, size in LARGER.items())
