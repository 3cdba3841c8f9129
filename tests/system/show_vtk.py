# SPDX-License-Identifier: BSD-3-Clause
"""Print what VTK makes of a file, as ParaView opens it: JSON, values included.

{"times": [...], "steps": [[{"type", "dimensions", "bounds", "arrays": {name: {"type", "values"}}}]]}: the grids of
each step. Files that end in .nc are opened by the reader for netCDF, all others by that for XDMF.
Run with VTK in PYTHONPATH.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import vtkmodules.vtkCommonDataModel  # noqa: F401  makes the classes of grids known
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
from vtkmodules.vtkIONetCDF import vtkNetCDFCFReader
from vtkmodules.vtkIOXdmf2 import vtkXdmfReader


def grids(found: Any) -> list[dict[str, Any]]:
    """Return the grids of a data object, those of its blocks if it has some."""
    if hasattr(found, "GetNumberOfBlocks"):
        blocks = (found.GetBlock(i) for i in range(found.GetNumberOfBlocks()))
        return [grid for block in blocks if block is not None for grid in grids(block)]
    values = found.GetPointData()
    arrays = [values.GetArray(i) for i in range(values.GetNumberOfArrays())]
    return [
        {
            "type": found.GetClassName(),
            "dimensions": found.GetDimensions(),
            "bounds": found.GetBounds(),
            "arrays": {
                array.GetName(): {
                    "type": str(vtk_to_numpy(array).dtype),
                    "values": vtk_to_numpy(array).tolist(),
                }
                for array in arrays
            },
        }
    ]


def main() -> None:
    path = sys.argv[1]
    reader = vtkNetCDFCFReader() if path.endswith(".nc") else vtkXdmfReader()
    reader.SetFileName(path)
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(Pipeline.TIME_STEPS()) or ()
    steps = []
    for time in times:
        reader.UpdateTimeStep(time)
        steps.append(grids(reader.GetOutputDataObject(0)))
    json.dump({"times": times, "steps": steps}, sys.stdout)


if __name__ == "__main__":
    main()
