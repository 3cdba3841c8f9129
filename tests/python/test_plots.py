# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace
from pathlib import Path

import pytest
from studies_data import KERNEL, NONE, OVERSUBSCRIBE, planted

from iocomp_studies.plots.figures import FIGURES
from iocomp_studies.plots.folder import draw_figures, write_figures
from iocomp_studies.plots.plot import Plot, panels, variants
from iocomp_studies.results.archer2 import read_archer2
from iocomp_studies.results.rows import rows_of

CELLS = {
    replace(cell, ranks=ranks): factor * ranks
    for ranks in (1, 2)
    for cell, factor in ((NONE, 1.0), (KERNEL, 1.1), (OVERSUBSCRIBE, 1.3))
}


def figure(id_: str) -> Plot:
    return next(plot for plot in FIGURES if plot.id == id_)


def test_a_ratio_is_taken_within_its_round() -> None:
    plot = figure("stream-compute-ratio")
    one, two = variants(plot, rows_of(planted(CELLS)))  # a variant for each number of ranks
    (panel,) = panels(plot, two)
    found = {(p.series, p.part): p.found for p in panel.points}
    assert found["kernel", "add"].value == pytest.approx(1.1, abs=0.01)
    assert found["oversubscribe", "add"].value == pytest.approx(1.3, abs=0.013)
    # The rounds differ by 30 %, but their ratios by a few percent.
    assert found["kernel", "add"].high - found["kernel", "add"].low < 0.05
    assert {one.words, two.words} == {"ranks 1", "ranks 2"}


def test_lines_go_over_ranks_and_every_point_has_its_interval() -> None:
    plot = figure("stream-wall-mapping")
    (variant,) = variants(plot, rows_of(planted(CELLS)))
    (panel,) = panels(plot, variant)
    assert panel.series() == ["no output", "kernel", "oversubscribe"]
    assert panel.places() == [1, 2]
    assert all(p.found.low < p.found.value < p.found.high for p in panel.points)


def test_what_a_figure_does_not_tell_apart_is_never_mixed() -> None:
    cells = {**CELLS, replace(KERNEL, backend="hdf5"): 5.0, replace(KERNEL, size="2 MiB"): 9.0}
    for plot in FIGURES[:8]:
        for variant in variants(plot, rows_of(planted(cells))):
            used = {plot.x, *plot.by}
            for name in {"backend", "size"} - used:
                assert len({row.fields[name] for row in variant.rows} - {"-"}) <= 1, plot.id


def test_a_part_of_a_bar_that_nobody_names_is_the_rest() -> None:
    plot = figure("stream-strong-parts")
    cells = {replace(cell, scaling="strong"): factor for cell, factor in CELLS.items()}
    (variant,) = variants(plot, rows_of(planted(cells)))
    (panel,) = panels(plot, variant)
    mine = {p.part: p.found.value for p in panel.points if (p.series, p.x) == ("kernel", 1)}
    assert mine["rest"] / (mine["rest"] + mine["computing"]) == pytest.approx(0.2)


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    rows = rows_of(planted(CELLS))
    ids = ["stream-wall-mapping", "stream-compute-ratio", "stream-parts-backend"]
    for name in ("a", "b"):
        write_figures(list(draw_figures(rows, only=ids)), tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert {Path(name).suffix for name in files} == {".svg", ".png"}
    assert len(files) >= 6
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_order_of_the_results_does_not_matter(tmp_path: Path) -> None:
    records = planted(CELLS)
    for name, some in (("a", records), ("b", records[::-1])):
        rows = rows_of(some)
        write_figures(list(draw_figures(rows, only=["stream-wall-mapping"])), tmp_path / name)
    (file,) = (tmp_path / "a").glob("*.svg")
    assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_published_results_stand_beside_our_own() -> None:
    plot = figure("hpcg-parts")
    rows = rows_of(read_archer2())
    assert len(rows) > 400
    for variant in variants(plot, rows)[:3]:
        (panel,) = panels(plot, variant)
        assert "ARCHER2" in panel.title
        assert {"hyperthread", "consecutive"} <= set(panel.series())


def test_the_published_story_is_in_the_imported_results() -> None:
    """128^3 HPCG, one node: 26.6 s with servers elsewhere and 40.7 on siblings (CUG 2023)."""
    found = {
        (r["cell"]["mapping"], r["cell"]["backend"], r["cell"]["size"]): r["seconds"]
        for r in read_archer2()
        if r["cell"]["client"] == "hpcg" and r["cell"]["ranks"] == 1
    }
    assert found["consecutive", "mpiio", "16 MiB"]["loop_per_set"] == pytest.approx(26.6, abs=0.1)
    assert found["hyperthread", "mpiio", "16 MiB"]["loop_per_set"] == pytest.approx(40.7, abs=0.1)


def test_a_figure_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no figure nonsense; there are stream-compute-ratio"):
        list(draw_figures([], only=["nonsense"]))
