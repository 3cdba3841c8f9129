# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import pytest
from studies_data import record

from iocomp_studies.plan.cell import Cell
from iocomp_studies.plan.clients import CLIENTS, flat
from iocomp_studies.plan.study import Study, StudyError, check_launcher, read_study
from iocomp_studies.report.conclusions import LEAST_RESULTS
from iocomp_studies.results.lines import Writer
from iocomp_studies.runs.campaign import NARROW_FROM, is_compared
from iocomp_studies.runs.slurm import _is_complete

ROOT = Path(__file__).resolve().parents[2]


def study(tmp_path: Path, text: str) -> Study:
    path = tmp_path / "study.toml"
    path.write_text(text)
    return read_study(path)


def test_a_series_is_every_combination_that_has_a_meaning(tmp_path: Path) -> None:
    found = study(
        tmp_path,
        """
        [[series]]
        client = "stream"
        output = ["none", "sync", "async"]
        mapping = ["sequential", "oversubscribe"]
        backend = ["posix", "hdf5"]
        progress = [false, true]
        ranks = [1, 2]
        """,
    )
    ways = {(c.output, c.mapping, c.backend, c.transport, c.progress) for c in found.cells}
    assert ways == {
        ("none", "sequential", "-", "-", False),
        *(("sync", "sequential", b, "-", False) for b in ("posix", "hdf5")),
        *(
            ("async", "sequential", b, "kernel", p)
            for b in ("posix", "hdf5")
            for p in (False, True)
        ),
        *(
            ("async", "oversubscribe", b, "auto", p)
            for b in ("posix", "hdf5")
            for p in (False, True)
        ),
    }
    assert len(found.cells) == 2 * len(ways)
    assert "synchronous output has no servers: not with mapping oversubscribe" in found.left_out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is no [[series]]"),
        ("[study", "study.toml"),
        ("[[series]]\nclient = 'strem'", "client = 'strem'; allowed are stream, hpcg"),
        ("[[series]]\nclint = 'stream'", "[[series]] 1: unknown key 'clint'; allowed are"),
        ("[[series]]\nranks = 1", "client is missing"),
        ("[[series]]\nclient = 'stream'\nranks = 0", "ranks = 0: at least 1"),
        ("[[series]]\nclient = 'stream'\nranks = '2'", "ranks = '2': it must be int"),
        ("[[series]]\nclient = 'stream'\nprogress = 1", "progress = 1: it must be bool"),
        ("[[series]]\nclient = 'stream'\nbackend = []", "backend is an empty list"),
        ("[study]\nleast = 5\nmost = 2\n[[series]]\nclient = 'stream'", "1 <= least <= most"),
        ("[study]\nlauncher = 'pbs'\n[[series]]\nclient = 'stream'", "allowed are local, slurm, smpi"),
        ("[[series]]\nclient = 'stream'\nsize = 'big'", "[[series]] 1: size = 'big': stream takes bytes"),
        ("[[series]]\nclient = 'stream'\nsize = 0", "size = '0': stream takes bytes"),
        ("[[series]]\nclient = 'hpcg'\nsize = '64,64'", "hpcg takes points, as 64 or 64,64,64"),
        ("[[series]]\nclient = 'tile'\nsize = '-1'", "tile takes points, as 1024 or 1024,1024"),
        *(
            (f"[[series]]\nclient = 'hpl'\nsize = {size!r}", f"size = {size!r}: hpl takes N, NB and")
            for size in ("N", "0", "2000,0", "2000,64,4", "2000,64,2x", "2000,64,1x2x3", "1,2,3x4,5")
        ),
        ("[[series]]\nclient = 'command'\narguments = ['{sise}']", "allowed in braces are size"),
        *(
            (f"[[series]]\nclient = 'stream'\n[series.settings]\n{line}", told)
            for line, told in (
                ("mode = 'async'", "settings: mode: the series has output for it"),
                ("placement.servers = '1 per 2'", "the series has mapping and ratio for it"),
                ("files.stream.backend = 'hdf5'", "the series has backend for it"),
                ("files.other.mode = 'sync'", "the series has output for it"),
                ("files.stream.path = '/x'", "files.stream.path: a study sets it"),
            )
        ),
        ("[study]\nseed = 1.5\n[[series]]\nclient = 'stream'", "seed = 1.5: it must be int"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(StudyError) as error:
        study(tmp_path, text)
    assert told in str(error.value)


def test_settings_are_those_of_the_library_whether_tables_or_dots_say_them(tmp_path: Path) -> None:
    text = """
        [[series]]
        client = "stream"
        output = ["none", "sync"]
        [series.settings]
        "disk.direct" = "off"
        files.stream.guard = true
        files.stream.after = ["a", "b"]
        wait.deadline = 20
        """
    none, sync = study(tmp_path, text).cells
    assert dict(sync.settings) == {
        "disk.direct": "off", "files.stream.guard": "true", "files.stream.after": "a,b",
        "wait.deadline": "20",
    }  # fmt: skip
    assert none.settings == ()  # they play no part there


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"[study]\nname = '\xe4'\n")
    with pytest.raises(StudyError, match=r"latin\.toml: .*utf-8"):
        read_study(tmp_path / "latin.toml")


@pytest.mark.parametrize("path", sorted((ROOT / "studies").glob("*.toml")), ids=lambda p: p.stem)
def test_the_studies_of_the_repository_are_right(path: Path) -> None:
    found = read_study(path)
    assert found.cells
    for cell in found.cells:
        assert Cell.of_record(cell.record()) == cell
        assert CLIENTS[cell.client].words(cell, Path("/files"))
    assert len({cell.key() for cell in found.cells}) == len(found.cells)


@pytest.mark.parametrize(
    ("client", "launcher", "told"),
    [
        ("stream", "smpi", "starts client scale alone"),
        ("scale", "local", "starts any client but scale"),
        ("stream", "pbs", "allowed are local, slurm, smpi"),
    ],
)
def test_a_launcher_that_cannot_start_a_client_is_told(
    tmp_path: Path, client: str, launcher: str, told: str
) -> None:
    found = study(tmp_path, f"[[series]]\nclient = '{client}'")
    with pytest.raises(StudyError) as error:
        check_launcher(found, launcher)
    assert told in str(error.value)
    check_launcher(found, "smpi" if client == "scale" else "slurm")


def test_a_baseline_runs_as_often_as_what_is_compared_with_it() -> None:
    none, sync = Cell("stream", output="none"), Cell("stream", output="sync")
    cell = Cell("stream", mapping="oversubscribe")
    assert is_compared(cell, none)
    assert is_compared(cell, sync)
    assert not is_compared(none, cell)
    assert not is_compared(Cell("stream", ranks=2), none)
    assert NARROW_FROM >= LEAST_RESULTS  # what is narrow is enough for a conclusion


def test_jobs_of_slurm_are_complete_when_this_build_has_made_them(tmp_path: Path) -> None:
    cell = Cell("stream", nodes=2)
    build = {"versions": {"iocomp": "1", "library": "a"}}
    with Writer(tmp_path / "nodes-2.part-0.jsonl") as writer:
        for number in range(3):
            writer.write(record(cell, number, 1.0, cluster="c", host={"name": f"n{number}"}, **build))
    a_study = Study("s", (cell,), least=3)
    login = {"host": {"name": "login"}}
    assert _is_complete(a_study, {**login, **build}, tmp_path, [cell])
    other = {"versions": {"iocomp": "1", "library": "b"}}
    assert not _is_complete(a_study, {**login, **other}, tmp_path, [cell])


def test_strong_scaling_divides_the_size_among_the_ranks() -> None:
    def size(cell: Cell) -> str:
        words = CLIENTS[cell.client].words(cell, Path())
        return words[words.index("--size" if cell.client == "stream" else "--local") + 1]

    assert size(Cell("stream", size="32 MiB", ranks=2)) == str(32 << 20)
    assert size(Cell("stream", size="32 MiB", ranks=2, scaling="strong")) == str(16 << 20)
    assert size(Cell("hpcg", size="64", ranks=2, scaling="strong")) == "64,64,32"


def test_hpl_takes_its_size_block_and_grid_from_one_word() -> None:
    def words(**more: object) -> str:
        return " ".join(CLIENTS["hpl"].words(Cell("hpl", **more), Path()))

    assert words(size="2000").startswith("--size 2000 --repetitions 3")
    assert "--size 4000 --block 64 --grid 2,2" in words(size="2000,64,2x2", ranks=4)
    assert "--size 2000 --block 64" in words(size="2000,64", ranks=4, scaling="strong")
    assert words(output="none").endswith("--plain")
    assert words(output="idle").endswith("--output none")
    assert words(progress=True).endswith("--progress on --verify")


def test_hpl_needs_the_processor_alone_and_tells_what_it_puts() -> None:
    steps = CLIENTS["hpl"].steps(Cell("hpl", size="1000,64", ranks=4))
    assert steps is not None
    assert (steps.steps, steps.step_bytes) == (3, 8 * 2000 * 2000 / 4)
    assert not steps.waits_for_memory
    assert not steps.is_contiguous
    solutions = Cell("hpl", arguments=("--output", "solution"))
    assert CLIENTS["hpl"].steps(solutions) is None  # the library tells


def test_timers_and_checks_are_taken_by_their_names() -> None:
    found = flat(
        {
            "wall_until_durable_seconds": 2.0,
            "kernel_seconds": {"copy": 0.5},
            "gib_per_second": 3,
            "arrays_checked": True,
            "file_verified": False,
            "loops": 10,
        }
    )
    assert found.seconds == {"wall_until_durable": 2.0, "kernel.copy": 0.5, "wall": 2.0}
    assert found.values == {"gib_per_second": 3.0}
    assert found.checks == {"arrays_checked": True, "file_verified": False}


def test_a_word_in_braces_that_is_not_known_is_told() -> None:
    with pytest.raises(ValueError, match=r"allowed in braces are size, ranks"):
        CLIENTS["command"].words(Cell("command", arguments=("run", "{sise}")), Path())
