# SPDX-License-Identifier: BSD-3-Clause
"""The reference of Fortran has each call of the module, as a program writes it."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

from fortran_calls import calls_of  # noqa: E402

MODULE = (ROOT / "bindings/fortran/iocomp.f90").read_text()


def test_each_public_name_that_is_no_type_is_a_call() -> None:
    public = {
        name.strip()
        for line in re.findall(r"^  public :: (.*)$", MODULE, re.MULTILINE)
        for name in line.split(",")
    }
    types = set(re.findall(r"^  type, bind\(c\) :: (\w+)$", MODULE, re.MULTILINE))
    assert types < public
    assert calls_of(MODULE).keys() == public - types


def test_a_call_is_told_without_what_binds_it_to_c() -> None:
    ((declared, _),) = calls_of(MODULE)["iocomp_define"]
    assert declared.splitlines()[0].startswith("subroutine iocomp_define(file, name, type, shape, var")
    assert declared.splitlines()[2] == "  character(kind=c_char, len=*), intent(in) :: name"
    assert "bind" not in declared and "import" not in declared


def test_forms_of_one_call_have_its_name() -> None:
    forms = [declared for declared, _ in calls_of(MODULE)["iocomp_init"]]
    assert [form.splitlines()[1] for form in forms] == [
        "  type(MPI_Comm), intent(in) :: comm",
        "  integer(c_int), intent(in) :: comm",
    ]
    assert all(form.startswith("subroutine iocomp_init(comm, ") for form in forms)


def test_what_stands_before_a_call_is_told_with_it() -> None:
    ((_, told),) = calls_of(MODULE)["iocomp_open"]
    assert told.startswith("@param settings ") and "@param comm" in told
    assert calls_of(MODULE)["iocomp_close"][0][1] == ""
