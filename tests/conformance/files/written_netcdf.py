# SPDX-License-Identifier: BSD-3-Clause
"""Read what netCDF files hold, through netCDF4."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from element_pattern import DTYPES
from script import Array, Attribute
from written_file import Written, texts

_TYPE_OF = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


def _attributes(owner: Any) -> dict[str, Attribute]:  # noqa: ANN401 (netCDF4 has no types)
    found = {}
    for name in owner.ncattrs():
        value = owner.getncattr(name)
        if isinstance(value, bytes):  # of the type NC_CHAR, with this name
            found[name] = Attribute("text", value)
        elif isinstance(value, str) and name == "_FillValue":
            found[name] = Attribute("string", value.encode())
        elif isinstance(value, str):
            found[name] = Attribute("text", value.encode(errors="surrogateescape"))
        elif isinstance(value, list):
            found[name] = texts(value)
        else:
            values = np.asarray(value)
            found[name] = Attribute(_TYPE_OF[values.dtype], values.tobytes())
    return found


def _has_parts(variable: Any) -> bool:  # noqa: ANN401
    """Return True for complex numbers: their parts lie along the last dimension."""
    return bool(variable.dimensions[-1:] == ("_pfnc_complex",))


def _array(variable: Any, values: Any) -> Array:  # noqa: ANN401
    dtype = variable.dtype.newbyteorder("=")
    raw = np.ascontiguousarray(values)
    if _has_parts(variable):
        dtype = np.dtype(f"c{2 * dtype.itemsize}")
        raw = raw.view(dtype)[..., 0]
    shape, raw = raw.shape if np.ndim(values) else (), raw.reshape(-1)
    data = raw.view(np.uint8).reshape(raw.size, dtype.itemsize)
    return Array(_TYPE_OF[dtype], shape, data)


def read_netcdf(path: Path, manifest: dict[str, Any]) -> Written:
    """Return what netCDF4 finds.

    A variable has a place in every step; where the manifest does not name it, that must hold
    nothing but the fill value.
    """
    import netCDF4  # type: ignore[import-untyped]

    named = {
        int(step["step"]): {variable["name"] for variable in step["variables"]}
        for step in manifest["steps"]
    }
    written = Written()
    with netCDF4.Dataset(path, "r") as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        written.attributes = _attributes(file)
        is_series = "time" in file.dimensions and file.dimensions["time"].isunlimited()
        steps = range(len(file.dimensions["time"])) if is_series else list(named)
        for name, variable in file.variables.items():
            if any(name in variables for variables in named.values()):
                own = variable.dimensions[:-1] if _has_parts(variable) else variable.dimensions
                written.dimensions[name] = own
                if variable.ncattrs():
                    written.variable_attributes[name] = _attributes(variable)
            has_time = variable.dimensions[:1] == ("time",)
            for step in steps if has_time else [s for s in named if name in named[s]]:
                record = step if is_series else 0
                values = variable[record] if has_time else variable[()]
                if name in named.get(step, ()):
                    written.arrays.setdefault(step, {})[name] = _array(variable, values)
                else:
                    fill = netCDF4.default_fillvals[variable.dtype.str[1:]]
                    fill = b"" if fill == "\x00" else fill
                    fill = variable.getncattr("_FillValue") if "_FillValue" in variable.ncattrs() else fill
                    assert (np.asarray(values) == fill).all(), f"{path}: {name} in step {step}"
    return written
