# SPDX-License-Identifier: BSD-3-Clause
"""A model of a machine, where it comes from, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iocomp_studies.advice.fit import Errors, Sample, errors_of, fit, left_out
from iocomp_studies.advice.machine import measure
from iocomp_studies.advice.model import Model
from iocomp_studies.advice.own_run import OwnRun
from iocomp_studies.advice.samples import read_samples
from iocomp_studies.plan.cell import NOT_USED
from iocomp_studies.results.lines import Record
from iocomp_studies.table import percent_text, seconds_text

SAME = 0.1
"""Walls that differ by less count as the same, where no study says how good the model is."""


class NothingToLearnError(ValueError):
    """Results do not tell what the model needs; the text says what is missing."""


@dataclass(frozen=True)
class Learned:
    """A model, and where it comes from.

    Attributes:
        model: The model of the machine.
        about: The origin and the quality of the model, in sentences.
        errors: The errors of walls that were predicted from the others; None without a study.
    """

    model: Model
    about: tuple[str, ...]
    errors: Errors | None = None

    def same(self) -> float:
        """Return the part by which two predicted walls may differ and count as the same."""
        return self.errors.median.value if self.errors else SAME

    def with_run(self, own: OwnRun, backends: Sequence[str]) -> Learned:
        """Return it with the bandwidth that a synchronous run of the program has had."""
        backend = backends[0] if own.backend == NOT_USED else own.backend
        if not own.write_seconds or backend not in backends:
            return self
        told = (
            f"The run took {seconds_text(own.wall)} s, {seconds_text(own.write_seconds)} s of them "
            f"in calls of iocomp for each step: that is the bandwidth used for {backend}."
        )
        model = self.model.as_if_measured(own.work, backend, own.write_seconds)
        return replace(self, model=model, about=(*self.about, told))


def error_text(errors: Errors) -> str:
    """Return errors as a line for people."""
    (worst, where), middle = errors.worst, errors.median
    right, pairs = errors.order
    return (
        f"median {100 * middle.value:.1f} % ({100 * middle.low:.1f} to {100 * middle.high:.1f}), "
        f"worst {percent_text(worst)} ({where}); {errors.inside} of {len(errors.of)} within what "
        f"was measured (95 %), {right} of {pairs} pairs in the right order"
    )


def learn(samples: Sequence[Sample], name: str) -> Learned:
    """Fit the model to walls, and say how well it does."""
    model = fit(samples)
    about = [
        f"The model is fitted to {len(samples)} ways of writing, measured on {name}.",
        f"Error on these: {error_text(errors_of(model, samples))}.",
    ]
    alone = left_out(samples)
    if alone:
        about.append(f"Each predicted from the others: {error_text(alone)}.")
    worlds = left_out(samples, lambda sample: sample.world)
    if worlds:
        about.append(
            f"Each size and number of ranks predicted from the others: {error_text(worlds)}."
        )
    return Learned(model, tuple(about), alone)


def learn_from_results(records: Sequence[Record], source: str = "") -> Learned:
    """Fit the model to the results of one machine.

    Args:
        records: Results of studies.
        source: The machine; needed where there are several.

    Raises:
        NothingToLearnError: If there is no such machine, or too little of it.
    """
    found = read_samples(records)
    sources = sorted({name for name, _ in found})
    if source and source not in sources:
        raise NothingToLearnError(f"--source {source}: there are {', '.join(sources) or 'none'}")
    if len(sources) > 1 and not source:
        names = ", ".join(sources)
        raise NothingToLearnError(f"results of several machines ({names}): --source names one")
    name = source or (sources[0] if sources else "")
    samples = [one for (where, _), of in found.items() if where == name for one in of]
    if len(samples) < 2:
        raise NothingToLearnError(
            "the results have nothing to learn from: it takes runs with output, and beside them "
            "runs of the same size without (output = none)"
        )
    return learn(samples, name)


def learn_from_machine(directory: Path, backends: Sequence[str]) -> Learned:
    """Measure this machine for some seconds, in a directory.

    Raises:
        OSError: If files cannot be written there.
    """
    machine = measure(directory)
    return Learned(
        machine.model(backends),
        (
            f"Measured now: {machine.text()}.",
            "What servers cost the computing was not measured here and is what is expected "
            "elsewhere, so the error is not known. To know it: iocomp study run "
            "advise.toml, then iocomp advise --from study-advise.",
        ),
    )
