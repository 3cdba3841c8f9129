# SPDX-License-Identifier: BSD-3-Clause
"""Random definitions, attributes and shapes of a file: what the library accepts it must hold.

Each call is a line of a script, and what it means for the file if all ranks accept it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any
from urllib.parse import quote

import numpy as np
from element_pattern import DTYPES, size_of
from script import Attribute, Extents, FileScript, Script
from verification import BackEnd

MOST_ELEMENTS = 300
BACK_ENDS = [
    BackEnd("posix"),
    BackEnd("mpiio"),
    BackEnd("hdf5"),
    BackEnd("hdf5", time=True),
    BackEnd("hdf5", flat=True),
    BackEnd("netcdf"),
    BackEnd("pnetcdf"),
    BackEnd("zarr"),
    BackEnd("adios2", engine="BP4"),
    BackEnd("adios2", engine="BP5"),
    BackEnd("adios2", engine="HDF5"),
]

PLAIN_NAMES = ["u", "v", "x", "y", "rho", "temperature", "E", "p_0", "time", "dim_3", "dim_5"]
ODD_NAMES = [
    "a b", " a", "a ", "a=b", "a+b", "-a", "+a", ".a", "a.", "..a", "0", "7", "007", "1u", "a\\b",
    'a"b', "a'b", "a%b", "a,b", "a;b", "a:b", "a@b", "a#b", "(a)", "[a]", "{a}", "<a>", "a*", "a?",
    "a|b", "a&b", "$a", "~a", "^a", "`a`", "!a", "_a", "__a__", "_", "µ", "Größe", "波",
    "\U0001F600", "e\u0301", "\u212b", "\u00e9", "\u200b", "a\u00a0b", "\ufeff", "true", "NaN", "null",
    "Step0", "step1", "NumSteps", "iocomp_empty_step", "CLASS", "NAME", "DIMENSION_LIST",
    "REFERENCE_LIST", "DIMENSION_LABELS", "_Netcdf4Coordinates", "_Netcdf4Dimid", "_NCProperties",
    "_nc3_strict", "_Format", "_IsNetcdf4", "_SuperblockVersion", "_ARRAY_DIMENSIONS", "_Codecs",
    "_NCZARR_ATTR", "_nczarr_array", "_nc4_non_coord_u", "_Encoding", "_Unsigned", "_ChunkSizes",
    "_Storage", "_Endianness", "_DeflateLevel", "_FillValue", "missing_value", "scale_factor",
    "dimensions", "coordinates", "units", "adios2_schema", "__adios2_structdef", "BPg", "SST_",
    "iocomp", "_pfnc_complex", "phony_dim_0", "NC_EMPTY_SCALE", "_QuantizeBitRoundNumberOfSignificantBits",
    "_QuantizeBitGroomNumberOfSignificantDigits",
    "a/b", "a/b/c", "0/u", "12/u", "012/u", "u/0", "./a", "a/.", "a/..", "../a", "a/./b", ".", "..",
    "/a", "a/", "a//b", "/", "", "a\x01b", "a\x7f", "a\tb", "a\nb", "gr\udcfc\udcdf",
]  # fmt: skip
UNITS = ["m", "", "kg m\u207b\u00b9", "K", " ", "\n", "\\", '"', "a\tb"]


def quoted(name: str) -> str:
    """Return a word of a script."""
    return quote(name.encode(errors="surrogateescape"), safe="") or "%"


@dataclass
class Call:
    """A line of the script, and what it changes if it is accepted."""

    line: str
    apply: Callable[[FileScript], object]
    is_put: bool = False  # by one rank
    must_succeed: bool = False


@dataclass
class RandomFile:
    """The calls for one file."""

    seed: int
    name: str
    back_end: BackEnd
    kind: str
    settings: dict[str, Any]
    calls: list[Call] = field(default_factory=list)

    def script(self) -> list[str]:
        """Return the lines."""
        return [call.line for call in self.calls]


class _Maker:
    """Makes the calls; what it knows of the file is what it would be if all were accepted."""

    def __init__(self, seed: int, name: str) -> None:
        self.chance = chance = random.Random(seed)
        back_end = chance.choice(BACK_ENDS)
        may_have_many = not back_end.time  # files
        kind = "checkpoint" if may_have_many and chance.random() < 0.25 else "series"
        settings: dict[str, Any] = dict(back_end.settings)
        if kind == "series" and may_have_many and chance.random() < 0.15:
            settings["kind"] = "file_per_step"
        self.file = RandomFile(seed, name, back_end, kind, settings)
        self.has_one_file = kind == "series" and "kind" not in settings
        self.shapes: dict[str, list[int]] = {}
        self.types: dict[str, str] = {}
        self.seeds = 0
        self.said_bytes = 0  # of attributes

    def say(self, line: str, apply: Callable[[FileScript], object], **how: bool) -> None:
        self.file.calls.append(Call(line, apply, **how))

    # Names, values

    def any_name(self) -> str:
        chance = self.chance
        if chance.random() < 0.55:
            return chance.choice(PLAIN_NAMES)
        if chance.random() < 0.9:
            return chance.choice(ODD_NAMES)
        length = chance.choice([1, 100, 230, 239, 240, 241, 254, 255, 256, 300])
        return chance.choice("aZ_0é")[0] * length if chance.random() < 0.7 else "é" * (length // 2)

    def shape(self) -> list[int]:
        chance = self.chance
        dimensions = chance.choice([0, 0, 1, 1, 1, 2, 2, 3, 4, 8, 9])
        shape: list[int] = []
        for _ in range(dimensions):
            most = max(1, min(8, MOST_ELEMENTS // max(1, prod(shape))))
            shape.append(0 if chance.random() < 0.03 else chance.randint(1, most))
        return shape

    def text(self) -> bytes:
        chance = self.chance
        form = chance.random()
        if form < 0.5:
            return chance.choice(UNITS).encode()
        if form < 0.6:
            return chance.choice([b"a\0b", b"\0", b"a\0", b"ab\0\0", b"\0\0a"])
        if form < 0.65:
            return chance.choice([b"gr\xfc\xdf", b"\xff", b"\xc3", "e\u0301".encode()])
        if form < 0.85:
            return b"x" * chance.randint(1, 3000)
        return b"y" * chance.choice([60_000, 60_001, 64_000, 65_500, 65_535, 65_536, 70_000, 300_000])

    def numbers(self, element_type: str) -> bytes:
        chance = self.chance
        size = size_of(element_type)
        count = chance.choice([0, 1, 1, 1, 2, 3, 17])
        if chance.random() < 0.06:
            count = chance.choice([60_000, 60_004, 65_536, 70_000, 200_000]) // size
        raw = np.frombuffer(chance.randbytes(count * size), np.uint8)
        values = raw.view(DTYPES[element_type]).copy()
        if values.dtype.kind in "fc":  # which NaN it is no text tells
            parts = values.view(values.real.dtype)
            parts[np.isnan(parts)] = chance.choice([np.nan, np.inf, -np.inf, 0.0, -0.0])
        return values.tobytes()

    # Calls

    def open(self) -> None:
        self.say(f"open {self.file.name} {self.file.kind}", lambda _: None, must_succeed=True)

    def define(self) -> None:
        chance = self.chance
        name = self.any_name()
        if name in self.shapes:
            return
        element_type = chance.choice(list(DTYPES))
        shape = self.shape()
        self.seeds += 1
        seed = self.file.seed * 100 + self.seeds
        self.shapes[name], self.types[name] = shape, element_type
        extents = "x".join(map(str, shape)) or "scalar"

        def apply(file: FileScript) -> None:
            file.define(name, element_type, shape)
            file.variables[name].seed = seed

        self.say(
            f"define {self.file.name} {quoted(name)} {element_type} {extents} seed={seed}", apply
        )

    def set_shape(self, name: str) -> None:
        before = self.shapes[name]
        shape = [self.chance.choice([extent, extent, max(1, extent - 1), extent + 1]) for extent in before]
        if not shape:
            return
        self.shapes[name] = shape
        extents = "x".join(map(str, shape))
        self.say(
            f"set_shape {self.file.name} {quoted(name)} {extents}",
            lambda file: file.set_shape(name, shape),
        )

    def attribute(self, name: str, value: Attribute, variable: str = "-") -> None:
        self.said_bytes += len(value.values)
        of = "" if variable == "-" else f" of={quoted(variable)}"
        kept = value
        if value.element_type in ("text", "char"):  # up to the zeros at its end
            kept = Attribute("text", value.values.rstrip(b"\0"))

        def apply(file: FileScript) -> None:
            file._remember(variable, name, kept)

        self.say(
            f"attribute {self.file.name} {quoted(name)} type={value.element_type}"
            f" bytes={value.values.hex()}{of}",
            apply,
        )

    def any_attribute(self, variable: str = "-", name: str | None = None) -> None:
        chance = self.chance
        name = self.any_name() if name is None else name
        if chance.random() < 0.5:
            self.attribute(name, Attribute("char", self.text()), variable)
            return
        if chance.random() < 0.2:
            texts = [self.text().replace(b"\0", b"0") + b"\0" for _ in range(chance.randint(0, 3))]
            self.attribute(name, Attribute("texts", b"".join(texts)), variable)
            return
        element_type = chance.choice([each for each in DTYPES if each != "char"])
        self.attribute(name, Attribute(element_type, self.numbers(element_type)), variable)

    def late_attribute(self, variable: str) -> None:
        """Set an attribute after a put: one that ranks which have put take as well."""
        if self.file.back_end.name != "pnetcdf":
            self.any_attribute(variable, "late")
        elif self.said_bytes < 100_000:
            self.attribute("late", Attribute("char", self.chance.choice(UNITS).encode()), variable)

    def dimensions(self, name: str) -> None:
        """Name the dimensions, rightly or not, such that names are shared."""
        chance = self.chance
        words = []
        for extent in self.shapes[name]:
            word = chance.choice(["x", "y", "z"]) if chance.random() < 0.3 else f"n{extent}"
            words.append(word if chance.random() < 0.97 else quoted(self.any_name()))
        if chance.random() < 0.6 or (name == "time" and not words):  # xarray refuses it without that
            words.insert(0, "time")
        if chance.random() < 0.05:
            words.append("extra")
        self.attribute("dimensions", Attribute("char", " ".join(words).encode()), name)

    def fill(self, name: str) -> None:
        chance = self.chance
        own = self.types[name]
        if chance.random() < 0.5:
            one = 1 + 1j if own.startswith("complex") else 1  # both parts alike, as netCDF wants them
            raw = np.full(1, one, DTYPES[own]).tobytes() if own != "char" else b"f"
            self.say(
                f"fill {self.file.name} {quoted(name)} bytes={raw.hex()}",
                lambda file: file._remember(name, "_FillValue", Attribute(own, raw)),
            )
            return
        other = chance.choice([own, own, "float64", "int32", "char"])
        count = chance.choice([1, 1, 1, 0, 2])
        raw = b"f" * count if other == "char" else np.ones(count, DTYPES[other]).tobytes()
        self.attribute("_FillValue", Attribute(other, raw), name)

    def put(self, name: str) -> None:
        chance = self.chance
        shape = self.shapes[name]
        start = [0] * len(shape)
        count = list(shape)
        if shape and chance.random() < 0.2:
            d = chance.randrange(len(shape))
            count[d] = chance.randint(0, count[d])
        writer = sum(name.encode(errors="replace")) % 4  # what has no time has one step on each rank
        words = f"put {self.file.name} {quoted(name)} writer={writer}"
        if shape:
            words += f" start={'x'.join(map(str, start))} count={'x'.join(map(str, count))}"
        else:
            words += " by=whole"
        self.say(words, lambda file: file.put(name, writer, start, count), is_put=True)

    def begin(self, step: int) -> None:
        chance = self.chance
        for _ in range(chance.randint(1, 4) if step == 0 else chance.random() < 0.15):
            self.define()
        for name in list(self.shapes):
            if chance.random() < (0.15 if step == 0 or not self.has_one_file else 0.05):
                self.set_shape(name)
            if chance.random() < (0.35 if step == 0 else 0.03):
                self.dimensions(name)
            if chance.random() < 0.15:
                self.fill(name)
            for _ in range(chance.choice([0, 0, 1, 2])):
                self.any_attribute(name)
        for _ in range(chance.choice([0, 0, 1, 2])):
            self.any_attribute()

    def step(self, step: int) -> None:
        chance = self.chance
        self.begin(step)
        for name in list(self.shapes):
            if chance.random() < 0.8:
                self.put(name)
                if chance.random() < 0.05:
                    self.late_attribute(chance.choice(["-", name]))
        self.say(f"end_step {self.file.name}", lambda file: file.end_step())

    def make(self) -> RandomFile:
        chance = self.chance
        self.open()
        for step in range(chance.choice([0, 1, 1, 2, 2, 3])):
            self.step(step)
        if chance.random() < 0.3:
            for name in ["-", *self.shapes]:
                if chance.random() < 0.4:
                    self.any_attribute(name)
        self.say(f"close {self.file.name}", lambda file: file.leave(), must_succeed=True)
        return self.file


def random_file(seed: int, name: str) -> RandomFile:
    """Return the calls for a file, from a seed."""
    return _Maker(seed, name).make()


def model_of(file: RandomFile, accepted: Sequence[Call]) -> FileScript:
    """Return what the file must hold, of the calls that were accepted."""
    model = Script().open(file.name, file.kind, **file.settings)
    for call in accepted:
        call.apply(model)
    return model
