# SPDX-License-Identifier: BSD-3-Clause
"""Compare what stores of Zarr hold with what zarr-python and xarray find."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from script import Array, Attribute
from written_file import TYPE_OF, Written
from zarr_packages import values_of

def _plain(value: Any, element_type: str) -> Any:  # noqa: ANN401 (whatever JSON has)
    if element_type.startswith("complex"):
        return [_plain(value.real, "float"), _plain(value.imag, "float")]
    if not element_type.startswith("float") or np.isfinite(value):
        return value
    return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def as_zarr_keeps(attribute: Attribute, *, is_fill: bool = False) -> Any:  # noqa: ANN401
    """Return an attribute as JSON has it."""
    if attribute.element_type in ("text", "char"):
        try:
            return attribute.values.decode()
        except UnicodeDecodeError:
            return list(attribute.values)
    if attribute.element_type == "texts":
        return attribute.values.decode().split("\0")[:-1]
    values = np.frombuffer(attribute.values, _dtype(attribute.element_type))
    if is_fill and values.dtype.kind in "fc":
        parts = [values[0].real, values[0].imag] if values.dtype.kind == "c" else [values[0]]
        coded = [base64.b64encode(np.float64(part).tobytes()).decode() for part in parts]
        return coded if values.dtype.kind == "c" else coded[0]
    plain = [_plain(value, attribute.element_type) for value in values.tolist()]
    return plain[0] if len(plain) == 1 and isinstance(plain[0], (int, float)) else plain


def _dtype(element_type: str) -> np.dtype[Any]:
    return next(dtype for dtype, name in TYPE_OF.items() if name == element_type)


def without_dimensions(expected: dict[str, Attribute]) -> dict[str, Attribute]:
    """Leave out the attribute of a variable that became its dimensions."""
    return {name: each for name, each in expected.items() if name != "dimensions"}


def compare_attributes(
    where: str, expected: dict[str, Attribute], found: dict[str, Any], fill: str | None = None
) -> list[str]:
    """Return what differs. `fill` is the name of the fill value, where these are a variable's."""
    wanted = {name: as_zarr_keeps(each, is_fill=name == fill) for name, each in expected.items()}
    return [
        f"{where}: the attribute {name!r} is {found.get(name)!r}, not {wanted.get(name)!r}"
        for name in sorted(wanted.keys() | found.keys())
        if json.dumps(wanted.get(name)) != json.dumps(found.get(name))
    ]


def read_zarr(found: dict[str, Any], manifest: dict[str, Any], is_series: bool) -> Written:
    """Return what the packages found, without attributes.

    A variable has a place in every step; where the manifest does not name it, that must hold
    nothing but the fill value.
    """
    named = {
        int(step["step"]): {variable["name"] for variable in step["variables"]}
        for step in manifest["steps"]
    }
    written = Written()
    for name, array in found["arrays"].items():
        element_type = TYPE_OF[np.dtype(array["type"])]
        dtype = np.dtype(array["type"])
        values = values_of(array)
        fill = base64.b64decode(array["fill"])
        written.dimensions[name] = tuple(array["dimensions"] or ())
        has_time = written.dimensions[name][:1] == ("time",)
        steps = range(len(values)) if has_time and is_series else [s for s in named if name in named[s]]
        for step in steps:
            of_step = values[step if is_series else 0] if has_time else values
            raw = np.ascontiguousarray(of_step).reshape(-1)
            elements = raw.view(np.uint8).reshape(raw.size, dtype.itemsize)
            if name in named.get(step, ()):
                arrays = written.arrays.setdefault(step, {})
                arrays[name] = Array(element_type, np.shape(of_step), elements)
            else:
                assert raw.tobytes() == fill * raw.size, f"{name} in step {step}"
    return written
