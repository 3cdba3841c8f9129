# SPDX-License-Identifier: BSD-3-Clause
import pytest

from iocomp_studies.table import percent_text, seconds_text, table


def test_the_first_column_stands_left_and_the_others_right() -> None:
    assert table(("name", "value"), [("a", "1"), ("longer", "12345678")]) == (
        "name       value\n----------------\na              1\nlonger  12345678"
    )


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="needs 2 cells"):
        table(("a", "b"), [("1",)])


def test_numbers_are_short() -> None:
    assert seconds_text(0.12345) == "0.123"
    assert seconds_text(12.345) == "12.35"
    assert percent_text(0.876) == "88 %"
