# SPDX-License-Identifier: BSD-3-Clause
"""Draw a file from a seed: its format, what is put into it, and what happens to it afterwards."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
ALL_TYPES = (*NUMBERS, "f2", "c8", "c16", "S1")


@dataclass(frozen=True)
class Format:
    """A back-end and its variant."""

    backend: str
    settings: tuple[tuple[str, object], ...] = ()
    types: tuple[str, ...] = ALL_TYPES
    kinds: tuple[str, ...] = ("series", "checkpoint", "file_per_step")
    changes: bool = True  # variables may come later, and change their shape
    groups: bool = True  # a name may have a '/'
    empty: bool = True  # arrays without elements are in the file
    extension: str = ".bin"

    @property
    def label(self) -> str:
        """As in messages."""
        return "-".join([self.backend, *(str(value) for _, value in self.settings)])


_CDF = {"types": (*NUMBERS, "c8", "c16", "S1"), "groups": False, "empty": False, "extension": ".nc"}
_ZARR = {"types": (*NUMBERS, "f2", "c8", "c16"), "groups": False, "extension": ".zarr"}
_BP = {"types": (*NUMBERS, "c8", "c16", "S1"), "extension": ".bp", "empty": False}
FORMATS = (
    Format("posix"),
    Format("mpiio"),
    Format("hdf5", extension=".h5"),
    Format("hdf5", (("layout", "time"),), kinds=("series",), changes=False, extension=".h5"),
    Format(
        "hdf5",
        (("layout", "time"), ("compression", "deflate")),
        kinds=("series",),
        changes=False,
        extension=".h5",
    ),
    Format("hdf5", (("layout", "flat"),), kinds=("checkpoint", "file_per_step"), extension=".h5"),
    Format("netcdf", changes=False, **_CDF),
    Format("netcdf", (("compression", "deflate"),), changes=False, **_CDF),
    Format("pnetcdf", changes=False, **_CDF),
    Format("zarr", changes=False, **_ZARR),
    Format("zarr", (("compression", "zstd"),), changes=False, **_ZARR),
    Format("zarr", (("compression", "deflate"),), changes=False, **_ZARR),
    Format("adios2", (("engine", "BP4"),), **_BP),
    Format("adios2", (("engine", "BP5"),), **{**_BP, "empty": True}),
    Format("adios2", (("engine", "HDF5"),), **{**_BP, "types": NUMBERS, "extension": ".h5"}),
)

# The lengths of dimensions that have a name; variables may be called like them.
DIMENSIONS = {"x": 5, "y": 3, "lat": 4, "tax": 3, "level": 2, "t": 6}
NAMES = ("u", "v2", "größe", "lat", "tax", "x", "time", "step", "a_b", "dim_3", "temp-1", "p")
GROUP_NAMES = ("fields/u", "a/b/c", "fields/w")


@dataclass
class Variable:
    """A variable, and what was put into it: by step, what must be read."""

    name: str
    dtype: np.dtype[Any]
    shape: Shape
    dimensions: str | None = None  # its attribute of that name
    fill: Any = None
    attributes: dict[str, Any] = field(default_factory=dict)
    is_once: bool = False  # without time, so put in one step


@dataclass
class Put:
    """The puts of a variable in a step: boxes, and the values of the whole variable."""

    values: Array  # of the whole variable, with what nobody puts in place
    boxes: list[tuple[tuple[int, ...], tuple[int, ...]]]  # start, count


@dataclass
class Step:
    """A step as the program says it."""

    number: int | None
    time: float
    puts: dict[str, Put]


@dataclass
class Plan:
    """A file."""

    seed: int
    format: Format
    kind: str
    settings: dict[str, Any]
    variables: list[Variable]
    steps: list[Step]
    attributes: dict[str, Any]
    accidents: list[str]


def _values(numbers: np.random.Generator, dtype: np.dtype[Any], shape: Shape) -> Array:
    if dtype.kind == "S":
        return numbers.integers(97, 123, shape, np.uint8).view("S1").reshape(shape)
    if dtype.kind in "iu":
        room = np.iinfo(dtype)
        return numbers.integers(room.min, room.max, shape, dtype, endpoint=True)
    real = numbers.standard_normal(shape)
    if dtype.kind == "c":
        real = real + 1j * numbers.standard_normal(shape)
    return np.asarray(real).astype(dtype).reshape(shape)


def _attributes(chance: random.Random, plan_format: Format) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in chance.sample(
        ["units", "long_name", "scale", "n", "größe", "w"], chance.randint(0, 3)
    ):
        kind = chance.choice(["text", "text", "texts", "number", "numbers"])
        if kind == "text":
            found[name] = chance.choice(["K", "m s-1", "äöü", "a" * chance.randint(1, 300)])
            continue
        if kind == "texts" and plan_format.label not in ("pnetcdf", "adios2-HDF5"):
            found[name] = chance.choices(["K", "m s-1", "äöü", "", "b" * 70], k=chance.randint(2, 4))
            continue
        dtype = np.dtype(chance.choice(NUMBERS))
        count = 1 if kind == "number" else chance.randint(2, 40)
        found[name] = _values(np.random.default_rng(chance.getrandbits(32)), dtype, (count,))
    return found


def _shape(chance: random.Random, plan_format: Format) -> Shape:
    dimensions = chance.choice([0, 0, 1, 1, 1, 2, 2, 3, 4])
    shape = [chance.randint(1, 7) for _ in range(dimensions)]
    if shape and chance.random() < 0.05:
        shape[chance.randrange(len(shape))] = chance.choice([0, 300])
    del plan_format
    return tuple(shape)


def _variable(chance: random.Random, plan_format: Format, name: str, is_series: bool) -> Variable:
    dtype = np.dtype(chance.choice(plan_format.types))
    made = Variable(name, dtype, _shape(chance, plan_format))
    if name == "time" and chance.random() < 0.5:
        made.shape, made.dtype = (), np.dtype("f8")
    if chance.random() < 0.4:
        names = chance.sample(sorted(DIMENSIONS), chance.randint(1, 3))
        made.shape = tuple(DIMENSIONS[each] for each in names)
        has_time = is_series and chance.random() < 0.85
        made.dimensions = " ".join((["time"] if has_time or not is_series else []) + names)
        if not is_series:
            made.dimensions = " ".join(names)
        made.is_once = is_series and not has_time
    elif name in DIMENSIONS and chance.random() < 0.5:  # a coordinate
        made.shape, made.dimensions, made.is_once = (DIMENSIONS[name],), name, is_series
    made.attributes = _attributes(chance, plan_format)
    if chance.random() < 0.3 and dtype.kind != "S":
        made.fill = _values(np.random.default_rng(chance.getrandbits(32)), made.dtype, ()).item()
        if made.dtype.kind == "c" and plan_format.backend in ("netcdf", "pnetcdf"):
            made.fill = complex(made.fill.real, made.fill.real)  # one number for both parts
    return made


def _put(
    chance: random.Random, variable: Variable, shape: Shape, numbers: np.random.Generator
) -> Put:
    values = _values(numbers, variable.dtype, shape)
    if not shape or 0 in shape or chance.random() < 0.6:
        return Put(values, [((0,) * len(shape), shape)])
    d = chance.randrange(len(shape))
    cuts = sorted({0, shape[d], *(chance.randint(0, shape[d]) for _ in range(3))})
    boxes = []
    for low, high in zip(cuts, cuts[1:], strict=False):
        start, count = [0] * len(shape), list(shape)
        start[d], count[d] = low, high - low
        if chance.random() < 0.2 and len(cuts) > 2:  # nobody puts it
            hole = tuple(slice(s, s + c) for s, c in zip(start, count, strict=True))
            nothing = 0 if variable.dtype.kind != "S" else b""
            values[hole] = nothing if variable.fill is None else variable.fill
            continue
        boxes.append((tuple(start), tuple(count)))
    if not boxes:
        boxes = [((0,) * len(shape), shape)]
        values = _values(numbers, variable.dtype, shape)
    chance.shuffle(boxes)
    return Put(values, boxes)


def draw(seed: int) -> Plan:
    """Return the plan of a seed."""
    chance = random.Random(seed)
    numbers = np.random.default_rng(seed)
    plan_format = FORMATS[seed % len(FORMATS)]  # all of them equally often
    kind = chance.choice(plan_format.kinds)
    is_series = kind == "series"
    may_change = plan_format.changes or not is_series
    names = [*NAMES, *(GROUP_NAMES if plan_format.groups else ())]
    chosen = chance.sample(names, chance.randint(1, 5))
    variables = [_variable(chance, plan_format, name, is_series) for name in chosen]
    if all(each.is_once for each in variables):
        variables[0].is_once, variables[0].dimensions = False, None
    settings: dict[str, Any] = dict(plan_format.settings)
    if chance.random() < 0.4:
        settings["checksum"] = "xxh3"
    if chance.random() < 0.3:
        settings["alignment"] = chance.choice([1, 8, 512])
    if kind == "file_per_step":
        settings["kind"] = "file_per_step"
    has_numbers, has_times = chance.random() < 0.4, chance.random() < 0.5
    steps: list[Step] = []
    number = 0
    once = {each.name for each in variables if each.is_once}
    for _ in range(chance.randint(1, 6)):
        puts: dict[str, Put] = {}
        for variable in variables:
            if variable.is_once and variable.name not in once:
                continue
            if steps and chance.random() < 0.15:
                continue
            shape = variable.shape
            if may_change and shape and variable.dimensions is None and chance.random() < 0.3:
                shape = tuple(chance.randint(0 if chance.random() < 0.1 else 1, 7) for _ in shape)
                variable.shape = shape
            puts[variable.name] = _put(chance, variable, shape, numbers)
            once.discard(variable.name)
        if not puts:
            variable = next(each for each in variables if not each.is_once)
            puts[variable.name] = _put(chance, variable, variable.shape, numbers)
        number += chance.randint(0, 5) if has_numbers else 0
        time = np.nan
        if has_times and (not steps or chance.random() < 0.7):  # formats want `time` from the first
            time = number / 8
        steps.append(Step(number if has_numbers else None, time, puts))
        number += 1
    plan = Plan(seed, plan_format, kind, settings, variables, steps, {}, [])
    plan.attributes = _attributes(chance, plan_format)
    plan.accidents = _accidents(chance, plan)
    return plan


def _accidents(chance: random.Random, plan: Plan) -> list[str]:
    """Return what happens to the file, in this order."""
    backend = plan.format.backend
    found = []
    tells_itself = backend in ("hdf5", "netcdf", "pnetcdf")
    if tells_itself and chance.random() < 0.5:
        found += chance.sample(["repack", "extend"], chance.choice([1, 1, 2]))
    if (tells_itself or backend in ("adios2", "zarr")) and chance.random() < 0.35:
        found.append(chance.choice(["lose", "recover"]))
    return found
