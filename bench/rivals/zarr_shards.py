#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of a job that writes a 3-D array with zarr-python or TensorStore, as apps/benchio does by iocomp.

Each rank has a block of the array, which is a shard of its own, and makes it durable. Times are those
of the slowest rank.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for wheel in ("tensorstore", "zarr"):  # tools/install-wheel
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "build" / wheel))

import numpy as np
from mpi4py import MPI

CHUNK_ROWS = 8
"""Planes of a chunk: 4 MiB of blocks of 256 x 256 doubles, as iocomp's."""

Write = Callable[[Path, Any], None]


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", choices=("zarr", "tensorstore"), required=True)
    parser.add_argument("--size", type=int, default=256, help="elements in each dimension")
    parser.add_argument("--compress", action="store_true", help="Zstandard on sorted bytes (blosc)")
    parser.add_argument("--noise", type=int, default=0, help="random bits of each value, as of benchio")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--json", type=Path, required=True)
    return parser.parse_args()


def block_of(values: Any, noise: int) -> Any:  # noqa: ANN401 (NumPy of two places)
    """Return values with so many random bits at their ends."""
    if noise:
        random = np.random.default_rng(MPI.COMM_WORLD.rank).integers(0, 1 << noise, values.shape, np.uint64)
        values = (values.view(np.uint64) ^ random).view(np.float64)
    return values


def by_zarr(shape: tuple[int, ...], shard: tuple[int, ...], box: Any, given: argparse.Namespace) -> Write:
    """Return what writes a block by zarr-python."""
    import zarr
    from zarr.codecs import BloscCodec

    codec = BloscCodec(cname="zstd", clevel=2, shuffle="shuffle", typesize=8) if given.compress else None

    def write(path: Path, values: Any) -> None:
        if MPI.COMM_WORLD.rank == 0:
            zarr.create_array(str(path), shape=shape, dtype="f8", shards=shard,
                              chunks=(CHUNK_ROWS, *shard[1:]), compressors=codec)  # fmt: skip
        MPI.COMM_WORLD.Barrier()
        zarr.open_array(str(path), mode="r+")[box] = values

    return write


def by_tensorstore(shape: tuple[int, ...], shard: tuple[int, ...], box: Any, given: argparse.Namespace) -> Write:
    """Return what writes a block by TensorStore."""
    import tensorstore

    blosc = {"cname": "zstd", "clevel": 2, "shuffle": "shuffle", "typesize": 8, "blocksize": 0}
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    codecs += [{"name": "blosc", "configuration": blosc}] if given.compress else []
    sharding = {"chunk_shape": [CHUNK_ROWS, *shard[1:]], "codecs": codecs}
    metadata = {
        "shape": shape,
        "data_type": "float64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shard}},
        "codecs": [{"name": "sharding_indexed", "configuration": sharding}],
    }

    def write(path: Path, values: Any) -> None:
        spec = {"driver": "zarr3", "kvstore": f"file://{path}/"}
        if MPI.COMM_WORLD.rank == 0:
            tensorstore.open({**spec, "metadata": metadata}, create=True).result()
        MPI.COMM_WORLD.Barrier()
        tensorstore.open(spec).result()[box].write(values).result()

    return write


def sync(path: Path) -> None:
    """Make all files below a folder durable, as many on each rank."""
    files = sorted(Path(folder) / name for folder, _, names in os.walk(path) for name in names)
    for file in files[MPI.COMM_WORLD.rank :: MPI.COMM_WORLD.size]:
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def main() -> None:
    """Write again and again; each repetition has a new store."""
    given = arguments()
    comm = MPI.COMM_WORLD
    grid = MPI.Compute_dims(comm.size, 3)
    shape = (given.size,) * 3
    shard = tuple(length // parts for length, parts in zip(shape, grid, strict=True))
    place = np.unravel_index(comm.rank, grid)
    box = tuple(slice(p * s, (p + 1) * s) for p, s in zip(place, shard, strict=True))
    write = (by_zarr if given.library == "zarr" else by_tensorstore)(shape, shard, box, given)
    indices = [np.arange(b.start, b.stop, dtype=np.float64) for b in box]
    values = block_of((indices[0][:, None, None] * given.size + indices[1][:, None]) * given.size + indices[2],
                      given.noise)  # fmt: skip
    path = given.directory / "rival.zarr"
    seconds = []
    for _ in range(given.repetitions + 1):
        if comm.rank == 0:
            shutil.rmtree(path, ignore_errors=True)
        comm.Barrier()
        begin = time.perf_counter()
        write(path, values)
        comm.Barrier()
        sync(path)
        seconds.append(comm.allreduce(time.perf_counter() - begin, MPI.MAX))
    if comm.rank == 0:
        stored = sum(file.stat().st_size for file in path.rglob("*"))
        found = {"program": "zarr_shards.py", "seconds": seconds[1:], "stored_bytes": stored}
        given.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
