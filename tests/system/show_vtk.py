# SPDX-License-Identifier: BSD-3-Clause
"""Print what VTK makes of files, as ParaView opens them: a line of JSON for each, values included.

{"times": [...], "steps": [{"type", "dimensions", "bounds", "point": {name: {"type", "values"}}, "cell": {...}}]}, and
of a mesh "points", "connectivity", "offsets" and "types". Files that end in .nc are opened by the reader for netCDF,
all others by that for VTKHDF. Run with VTK in PYTHONPATH.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import vtkmodules.vtkCommonDataModel  # noqa: F401  makes the classes of grids known
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIONetCDF import vtkNetCDFCFReader


def arrays(values: Any) -> dict[str, Any]:
    found = (values.GetArray(i) for i in range(values.GetNumberOfArrays()))
    return {
        array.GetName(): {
            "type": str(vtk_to_numpy(array).dtype),
            "values": vtk_to_numpy(array).tolist(),
        }
        for array in found
    }


def shown(found: Any) -> dict[str, Any]:
    told = {
        "type": found.GetClassName(),
        "bounds": found.GetBounds(),
        "point": arrays(found.GetPointData()),
        "cell": arrays(found.GetCellData()),
    }
    if told["type"] == "vtkUnstructuredGrid":
        cells = found.GetCells()
        told["points"] = vtk_to_numpy(found.GetPoints().GetData()).tolist()
        told["connectivity"] = vtk_to_numpy(cells.GetConnectivityArray()).tolist()
        told["offsets"] = vtk_to_numpy(cells.GetOffsetsArray()).tolist()
        told["types"] = [found.GetCellType(i) for i in range(found.GetNumberOfCells())]
    else:
        told["dimensions"] = found.GetDimensions()
    return told


def main() -> None:
    for path in sys.argv[1:]:
        reader = vtkNetCDFCFReader() if path.endswith(".nc") else vtkHDFReader()
        reader.SetFileName(path)
        reader.UpdateInformation()
        information = reader.GetOutputInformation(0)
        times = information.Get(Pipeline.TIME_STEPS()) if information.Has(Pipeline.TIME_STEPS()) else ()
        steps = []
        for time in times or (None,):
            reader.Update() if time is None else reader.UpdateTimeStep(time)
            steps.append(shown(reader.GetOutputDataObject(0)))
        print(json.dumps({"times": times, "steps": steps}))


if __name__ == "__main__":
    main()
