# SPDX-License-Identifier: BSD-3-Clause
"""Tell what zarr-python and xarray find in stores: a path in a line comes in, an object in a line goes out.

It has packages of its own (tools/install-wheel zarr), so that it runs beside the test that asks it.
"""

from __future__ import annotations

import base64
import json
import sys
import warnings
from typing import Any

import numpy as np
import xarray
import zarr


def _seen_by_xarray(path: str) -> xarray.Dataset | None:
    """Return the variables as they lie there, neither masked nor decoded.

    Where the program has called a scalar like a dimension, xarray refuses the store: then return None. Only the
    scalar `time` may have such a name.
    """
    try:
        return xarray.open_zarr(
            path, chunks=None, consolidated=True, mask_and_scale=False, decode_cf=False
        )
    except ValueError as error:
        if str(error).endswith("already exists as a scalar variable") and "'time'" not in str(error):
            return None
        raise


def _told(path: str) -> dict[str, Any]:
    group = zarr.open_group(path, mode="r", use_consolidated=True)
    alone = zarr.open_group(path, mode="r", use_consolidated=False)
    dataset = _seen_by_xarray(path)
    arrays = {}
    for name, array in group.arrays():
        values = np.asarray(array[...])
        by_itself = alone[name]
        dimensions = array.metadata.dimension_names or ()
        of_both = [each.metadata.to_dict() for each in (array, by_itself)]
        if dimensions[:1] == ("time",):  # of its own it may be a step ahead, and failed ones before it
            assert by_itself.shape[0] >= array.shape[0], f"steps of {name} of its own"
            of_both = [each | {"shape": tuple(each["shape"])[1:]} for each in of_both]
        assert of_both[0] == of_both[1], f"{name} has other metadata of its own"
        if dataset is not None:
            seen = np.asarray(dataset[name].values)
            assert seen.tobytes() == values.tobytes(), f"xarray finds other values of {name}"
            assert dataset[name].dims == dimensions, f"dimensions of {name}"
        arrays[name] = {
            "type": str(array.dtype),
            "shape": values.shape,
            "values": base64.b64encode(values.tobytes()).decode(),
            "dimensions": dimensions,
            "attributes": dict(array.attrs),
            "fill": base64.b64encode(np.asarray(array.fill_value, array.dtype).tobytes()).decode(),
        }
    assert dataset is None or set(dataset.variables) == set(arrays), f"xarray finds {set(dataset.variables)}"
    return {"attributes": dict(group.attrs), "arrays": arrays}


def main() -> None:
    """Answer until nobody asks any more."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            answer = _told(line.rstrip("\n"))
        except Exception as error:  # noqa: BLE001 (the test tells it)
            answer = {"failure": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
