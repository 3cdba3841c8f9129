# SPDX-License-Identifier: BSD-3-Clause
"""The model of docs/developers/model.md by hand, fitted, and against published ones."""

import random
from dataclasses import replace

import pytest
from studies_data import record

from iocomp_studies.advice.fit import Sample, errors_of, fit, left_out
from iocomp_studies.advice.model import Model, names_of
from iocomp_studies.advice.samples import read_samples
from iocomp_studies.advice.work import GIB, Way, Work
from iocomp_studies.plan.cell import Cell
from iocomp_studies.plan.clients import CLIENTS
from iocomp_studies.results.archer2 import read_archer2
from iocomp_studies.statistics import Estimate

PLAIN = Model(
    {
        "bandwidth.posix": 1.0 * GIB,
        "writers.posix": 0.5,
        "commit.posix": 0.1,
        "copy.shared": 4.0 * GIB,
        "part.kernel": 1.0,
        "slow.kernel": 0.0,
        "part.consecutive": 1.0,
        "slow.consecutive": 0.0,
        "factor.consecutive": 1.0,
    }
)
# 4 ranks write 2 GiB in a step: 1 s and the commit, as four are twice as fast as one.
WORK = Work(4, 10, 0.5 * GIB, 2.0, reuse_seconds=2.0)


def wall(way: Way, work: Work = WORK, **values: float) -> float:
    model = PLAIN.with_values({name.replace("_", "."): value for name, value in values.items()})
    return model.predict(work, way).wall


def test_synchronous_output_is_added_to_the_computing() -> None:
    assert wall(Way("synchronous")) == pytest.approx(10 * (2.0 + 1.1))


def test_output_that_fits_behind_the_computing_costs_the_last_write() -> None:
    assert wall(Way("kernel")) == pytest.approx(10 * 2.0 + 1.1)


def test_output_that_is_slower_than_the_computing_decides() -> None:
    slow = replace(WORK, step_seconds=0.5, reuse_seconds=0.5)
    waits = 1.0 / 32 + 0.5 / 4.0  # for 16 MiB that have begun, and a copy of the array
    told = PLAIN.predict(slow, Way("kernel"))
    assert told.waited == pytest.approx(waits)
    assert told.is_bound_by_output()
    assert told.wall == pytest.approx(0.5 + 9 * 1.1 + 1.1)


def test_who_waits_for_an_array_gets_it_by_a_copy_or_when_it_is_written() -> None:
    late = replace(WORK, reuse_seconds=0.9)
    assert PLAIN.predict(late, Way("kernel")).waited == pytest.approx(1.0 - 0.9)
    small = replace(WORK, step_bytes=16 << 20, reuse_seconds=0.0)
    assert PLAIN.predict(small, Way("kernel")).waited == pytest.approx(1.0 / 32)
    large = replace(WORK, step_bytes=2.0 * GIB, reuse_seconds=0.0)
    assert PLAIN.predict(large, Way("kernel")).waited == pytest.approx(4.0)


def test_servers_free_the_array_after_a_copy_and_write_as_fast_as_so_many_writers() -> None:
    soon = replace(WORK, reuse_seconds=0.0)
    told = PLAIN.predict(soon, Way("consecutive", servers=1, transport="shared"))
    assert told.waited == pytest.approx(2.0 / 4.0)  # GiB through one server ÷ GiB/s
    assert told.write == pytest.approx(2.1)
    four = PLAIN.predict(soon, Way("consecutive", servers=4, transport="shared"))
    assert four.waited == pytest.approx(told.waited / 4)
    assert four.write == pytest.approx(1.1)


def test_computing_is_slower_by_the_factor_and_by_each_byte() -> None:
    way = Way("consecutive", servers=4, transport="shared")
    slower = wall(way, factor_consecutive=1.1, slow_consecutive=0.2 / GIB)
    assert slower - wall(way) == pytest.approx(10 * 0.2 + 9 * 0.2 * 0.5)


def test_a_byte_costs_a_program_that_waits_for_memory_otherwise_than_one_that_computes() -> None:
    way = Way("oversubscribe", servers=4, transport="shared")
    values = {"slow.oversubscribe": 0.4 / GIB, "slow.computing.oversubscribe": 0.1 / GIB}
    model = PLAIN.with_values({**values, "part.oversubscribe": 1.0})
    for bound, lost in (("memory", 0.4), ("computing", 0.1)):
        told = model.predict(replace(WORK, bound=bound), way)
        assert told.slowed == pytest.approx(lost * 0.5)  # GiB of a server in a step
        assert f"slow.{'computing.' * (bound != 'memory')}oversubscribe" in names_of(
            way, replace(WORK, bound=bound)
        )


def test_what_a_byte_costs_each_kind_of_program_is_learned_from_its_own_kind() -> None:
    way = Way("oversubscribe", servers=4, transport="shared")
    truth = PLAIN.with_values(
        {"slow.oversubscribe": 0.8 / GIB, "slow.computing.oversubscribe": 0.1 / GIB}
    )
    cases = []
    for bound in ("memory", "computing"):
        for seconds in (0.5, 2.0, 8.0):
            work = replace(WORK, step_seconds=seconds, reuse_seconds=seconds, bound=bound)
            for one in (Way("synchronous"), way):
                wall_seconds = truth.predict(work, one).wall
                measured = Estimate(wall_seconds, 0.99 * wall_seconds, 1.01 * wall_seconds)
                cases.append(Sample(work, one, measured, f"{bound} {seconds} {one.name}", bound))
    found = fit(cases)
    memory, computing = (
        found.value(f"slow.{kind}oversubscribe") * GIB for kind in ("", "computing.")
    )
    assert 0.05 < computing < 0.25 < 0.6 < memory < 1.0


def test_servers_without_memory_for_a_step_keep_the_ranks_waiting() -> None:
    way = Way("consecutive", servers=4, transport="shared", memory_bytes=1.0 * GIB)
    soon = replace(WORK, reuse_seconds=0.0)
    all_of_it = replace(way, memory_bytes=2.0 * GIB)
    lacking = PLAIN.predict(soon, way).waited - PLAIN.predict(soon, all_of_it).waited
    assert lacking == pytest.approx(0.5 * 1.0)  # half of the bytes are written first


OWN = Way("consecutive", servers=4, transport="auto")


def test_ranks_that_have_servers_write_long_blocks_themselves_where_that_is_not_waited_for() -> None:
    assert wall(OWN, slow_consecutive=9.0 / GIB) == pytest.approx(wall(Way("kernel")))


def test_servers_get_the_blocks_of_the_third_step_where_a_program_has_waited_for_them() -> None:
    soon = replace(WORK, reuse_seconds=0.0)
    own, served = 2.0 + 1.0, 2.0 + 0.5 / 4.0  # a step: written by the rank, copied by a server
    assert wall(OWN, soon) == pytest.approx(2.0 + 2 * own + 7 * served + 1.1)
    begun = replace(soon, steps=2)
    assert wall(OWN, begun) == pytest.approx(2.0 + own + 1.1)


@pytest.mark.parametrize(
    ("way", "work"),
    [
        (replace(OWN, backend="hdf5"), WORK),  # lays its variables out itself
        (OWN, replace(WORK, puts=100.0)),  # blocks of 5 MiB
    ],
)
def test_servers_get_all_blocks_that_ranks_cannot_write(way: Way, work: Work) -> None:
    soon = replace(work, reuse_seconds=0.0)
    shared = replace(way, transport="shared")
    assert wall(way, soon) == pytest.approx(wall(shared, soon))


def test_a_program_that_puts_first_computes_behind_its_last_write() -> None:
    assert wall(Way("kernel"), replace(WORK, before_part=0.0)) == pytest.approx(10 * 2.0)


def test_a_measured_step_sets_the_bandwidth() -> None:
    model = PLAIN.as_if_measured(WORK, "posix", 4.0)
    assert model.predict(WORK, Way("synchronous")).write == pytest.approx(4.0)


WAYS = (
    Way("synchronous"),
    Way("kernel"),
    Way("consecutive", servers=1, transport="shared"),
    Way("consecutive", servers=4, transport="shared"),
)


def samples(model: Model, noise: float = 0.0) -> list[Sample]:
    chance = random.Random(1)
    found = []
    for size in (0.01, 0.1, 1.0):
        for ranks in (1, 4, 16):
            for reuse in (0.0, 1.0):
                work = Work(ranks, 10, size * GIB, 1.0, reuse_seconds=reuse)
                for way in WAYS:
                    seconds = model.predict(work, way).wall * chance.gauss(1.0, noise)
                    label = f"{size} {ranks} {reuse} {way.text()}"
                    measured = Estimate(seconds, seconds, seconds)
                    found.append(Sample(work, way, measured, label, (size, ranks, reuse)))
    return found


def test_planted_parameters_that_walls_tell_are_found_and_all_walls() -> None:
    planted = PLAIN.with_values(
        {
            "bandwidth.posix": 0.4 * GIB,
            "copy.shared": 2.0 * GIB,
            "slow.kernel": 0.1 / GIB,
            "slow.consecutive": 0.3 / GIB,
        }
    )
    found = fit(samples(planted))
    for name in ("bandwidth.posix", "commit.posix", "part.kernel"):
        assert found.value(name) == pytest.approx(planted.value(name), rel=0.1), name
    assert found.value("writers.posix") == pytest.approx(0.5, abs=0.03)
    # The cost of a byte in copying can stand for that in computing, so not each is found.
    assert errors_of(found, samples(planted)).worst[0] < 0.03


def test_what_was_left_out_is_predicted_about_as_well_as_it_can_be_measured() -> None:
    noisy = samples(PLAIN, noise=0.05)
    alone = left_out(noisy)
    worlds = left_out(noisy, lambda one: one.world)
    assert alone is not None
    assert worlds is not None
    assert 0.01 < alone.median.value < 0.06
    assert alone.median.low <= alone.median.value <= alone.median.high
    assert worlds.median.value < 0.08
    right, pairs = alone.order
    assert right / pairs > 0.95
    assert left_out(noisy[:1]) is None


def test_a_model_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        fit([])


def test_a_way_that_was_not_measured_has_what_is_expected_of_it() -> None:
    found = fit([one for one in samples(PLAIN) if one.way.name == "synchronous"])
    hyperthread = Way("hyperthread", servers=1, transport="shared")
    expected = {name: Model().value(name) for name in names_of(hyperthread, WORK)}
    assert found.value("slow.hyperthread") == expected["slow.hyperthread"]
    assert found.value("bandwidth.posix") != expected["bandwidth.posix"]


STREAM = Cell(
    "stream", transport="kernel", ranks=2, size="64 MiB",
    arguments=("--loops", "20", "--write-every", "5"),
)  # fmt: skip


def test_results_become_samples_beside_what_ran_without_output() -> None:
    none = replace(STREAM, output="none", backend="-", transport="-")
    served = replace(STREAM, mapping="oversubscribe", transport="auto")
    records = []
    for number, slow in enumerate((1.0, 2.0, 1.5)):  # whole rounds are slower
        records.append(record(none, number, 4.0 * slow))
        records.append(record(STREAM, number, 5.0 * slow))
        records.append(record(served, number, 6.0 * slow, servers=2))
    records.append(record(replace(served, progress=True), 0, 9.0, servers=2))
    records.append({**record(STREAM, 3, 99.0), "marks": ["wrong mapping"]})
    ((key, found),) = read_samples(records).items()
    assert key == ("here", "stream")
    kernel, oversubscribe = found
    assert kernel.way == Way("kernel")
    assert oversubscribe.way == Way("oversubscribe", servers=2, transport="auto")
    work = kernel.work
    assert (work.ranks, work.steps, work.puts) == (2, 4, 4)
    assert work.step_bytes == 4 * (64 << 20)
    assert work.step_seconds == pytest.approx(6.0 / 4)
    assert work.reuse_seconds == pytest.approx(work.step_seconds / 20)  # one kernel of 5 loops
    assert kernel.measured.value == pytest.approx(1.25 * 6.0)
    assert oversubscribe.measured.value == pytest.approx(1.5 * 6.0)


def test_the_library_says_what_was_put_wherever_it_counts() -> None:
    none = replace(STREAM, output="none", backend="-", transport="-")
    trace = {
        "compute_sum": {"puts": 48.0, "put_bytes": 4800.0},
        "compute_max": {"steps": 8.0, "call_seconds": 1.0},
    }
    records = [record(none, 0, 9.0), record(STREAM, 0, 10.0, trace=trace)]
    ((_, (found,)),) = read_samples(records).items()
    assert (found.work.steps, found.work.step_bytes, found.work.puts) == (8, 300.0, 3.0)
    assert found.work.reuse_seconds == pytest.approx(9.0 / 8 / 20)  # STREAM says when


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--loops=40", "--write-every=5"), (8, 4, 1 / 20)),
        (("--loops", "40", "--write-every", "5", "--write-every=10"), (4, 4, 1 / 40)),
        (("--loops", "40", "--in-turn"), (4, 3, 1.0)),
        (("--write-every", "0"), None),
    ],
)
def test_the_words_of_stream_tell_its_steps(
    arguments: tuple[str, ...], told: tuple[int, int, float] | None
) -> None:
    found = CLIENTS["stream"].steps(replace(STREAM, arguments=arguments))
    assert (found and (found.steps, found.puts, found.reuse_part)) == told
    if found:
        assert found.step_bytes == found.puts * (64 << 20)


def test_samples_with_the_same_words_are_different_samples() -> None:
    two = [replace(one, label="the same") for one in samples(PLAIN)[:8]]
    alone = left_out(two)
    assert alone is not None
    assert len(alone.of) == len(errors_of(PLAIN, two).of) == 8
    assert errors_of(PLAIN, two).inside == 8


def test_the_interval_of_a_published_wall_is_one_of_95_percent() -> None:
    (one,) = read_samples(
        [record(replace(STREAM, output="sync", transport="-", arguments=("1",)), 0, 10.0,
                spread={"seconds.wall": 1.0}, source="p")]
    )["p", "stream"]  # fmt: skip
    assert (one.measured.low, one.measured.high) == (8.0, 12.0)


def test_results_without_computing_alone_are_no_samples() -> None:
    assert read_samples([record(STREAM, 0, 5.0)]) == {}


def test_other_programs_put_what_the_library_has_counted() -> None:
    cell = Cell("command", output="sync", transport="-", ranks=2, arguments=("./program",))
    trace = {
        "compute_sum": {"puts": 12.0, "put_bytes": 600.0},
        "compute_max": {"steps": 3.0, "call_seconds": 1.0},
    }
    none = replace(cell, output="none", backend="-")
    records = [record(none, 0, 9.0), record(cell, 0, 10.0, trace=trace)]
    ((_, (found,)),) = read_samples(records).items()
    assert (found.work.steps, found.work.step_bytes, found.work.puts) == (3, 100.0, 2.0)


def test_the_published_walls_of_stream_are_predicted_in_their_trend() -> None:
    found = read_samples(list(read_archer2()))
    stream = found["ARCHER2 (published 2023)", "stream"]
    assert len(stream) == 60
    errors = errors_of(fit(stream), stream)
    right, pairs = errors.order
    assert errors.median.value < 0.2
    assert right / pairs > 0.85
