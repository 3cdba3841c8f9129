# SPDX-License-Identifier: BSD-3-Clause
from check_comments import bad_docstrings, bad_lines


def test_a_comment_that_begins_without_its_subject_is_refused() -> None:
    assert bad_lines("// What a rank has.\nint rank;\n") == [1]
    assert bad_lines("  /// Of a file.\n") == [1]
    assert bad_lines("# SPDX-License-Identifier: x\n# Whether it is there.\n") == [2]
    assert bad_lines("! Where it lies\n") == [1]


def test_lines_within_a_comment_and_other_words_are_not() -> None:
    assert bad_lines("// A rank knows\n// What it has.\n") == []
    assert bad_lines("// Offsets in bytes.\n# Whatever it is.\n") == []
    assert bad_lines('print("# What is it")\n') == []


def test_docstrings_and_their_entries_are_held_to_the_same_rule() -> None:
    assert bad_docstrings('"""What a rank has."""\n') == [1]
    assert bad_docstrings('class Rank:\n    """Who computes.\n\n    More.\n    """\n') == [2]
    assert bad_docstrings('seconds = 1.0\n"""Of a step."""\n') == [2]
    assert bad_docstrings('"""Add.\n\nArgs:\n    a: Of f.\n    b: That is added.\n"""\n') == [4, 5]
    assert bad_docstrings('"""A rank.\n\nWhat it has: a core.\n"""\n') == []
    assert bad_docstrings('print("What")\nx = "Of"\n') == []
