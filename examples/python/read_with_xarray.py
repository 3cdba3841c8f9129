# SPDX-License-Identifier: BSD-3-Clause
"""Look at what first_array.py has written, while it runs or afterwards. Needs no MPI.

python3 read_with_xarray.py fields.bin
"""

import sys

import xarray as xr

import iocomp

path = sys.argv[1] if len(sys.argv) > 1 else "fields.bin"

with iocomp.open_files(path) as files:  # numpy arrays, no xarray needed
    newest = files.steps[-1]
    print(f"{len(files.steps)} committed steps of {', '.join(files.variables())}")
    print("the newest begins with", files.read("u", newest, (0, slice(0, 3))))

with xr.open_dataset(path, engine="iocomp", chunks={}) as fields:  # lazy, one chunk per step
    print(fields)
    print("mean of each step:", fields.u.mean(("dim_4", "dim_1000000")).values)
    print("at time 2:", fields.u.sel(time=2.0)[0, :3].values, fields.u.units)
