# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import pytest
from check_includes import violations

HEADERS = {
    "base/error.h": "namespace iocomp {\nclass Error {\n};\nint checked_sum(int a, int b);\n}\n",
    "base/all.h": '#include "base/error.h"\n',
    "array/box.h": "namespace iocomp::array {\nstruct Box {\n  int size() const;\n};\nenum class Order { rows };\n"
    "Box whole(int rows);\n}\n",
    "steps/known.h": '#include "array/box.h"\nnamespace iocomp::steps {\nstruct Known {\n  using Box = int;\n};\n}\n',
}
MISSED = {
    "a type of an outer namespace": ("array", "", "void f() {\n  throw Error{};\n}", "Error"),
    "a function of an outer namespace": ("array", "", "int f() {\n  return checked_sum(1, 2);\n}", "checked_sum"),
    "a type of another room": ("steps", "", "array::Box f();", "array::Box"),
    "a function of another room": ("steps", "", "auto f() {\n  return iocomp::array::whole(3);\n}", "array::whole"),
    "a type of its own room": ("array", "", "Order f();", "Order"),
    "another header of the room": ("array", "array/box.h", "void f() {\n  throw Error{};\n}", "Error"),
}
GOOD = {
    "included": ("array", "array/box.h", "Box f();"),
    "by another header": ("array", "base/all.h", "void f() {\n  throw Error{};\n}"),
    "a neighbour of the file": ("array", "box.h", "Box f();"),
    "in a comment": ("array", "", "// Box\nint f();"),
    "in a text": ("array", "", 'const char* f = "Box";'),
    "declared by the file": ("array", "", "class Box;\nBox* f();"),
    "a member that is called alike": ("steps", "steps/known.h", "Box f();"),
    "a member that is called": ("array", "", "int f(auto error) {\n  return error.checked_sum(1);\n}"),
    "a parameter of a template": ("array", "", "template <typename Box>\nBox f();"),
    "a parameter": ("array", "", "void f(const Call& checked_sum) {\n  checked_sum(1);\n}"),
    "a namespace of another project": ("array", "", "other::Box f();"),
}


def planted(folder: Path, room: str, included: str, text: str) -> list[str]:
    include = f'#include "{included}"\n' if included else ""
    files = HEADERS | {f"{room}/use.cpp": f"{include}namespace iocomp::{room} {{\n{text}\n}}\n"}
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    return violations([folder])


@pytest.mark.parametrize("what", MISSED)
def test_a_name_without_its_header_is_told(tmp_path: Path, what: str) -> None:
    room, included, text, name = MISSED[what]
    told = planted(tmp_path, room, included, text)
    assert len(told) == 1 and f": {name} without " in told[0], told
    assert f"{room}/use.cpp:{3 + bool(included) if 'f() {' in text else 2 + bool(included)}:" in told[0], told


@pytest.mark.parametrize("what", GOOD)
def test_what_compiles_alone_is_good(tmp_path: Path, what: str) -> None:
    assert planted(tmp_path, *GOOD[what]) == []
