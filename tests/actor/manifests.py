# SPDX-License-Identifier: BSD-3-Clause
"""Read manifests without iocomp (src/commit/commit.h), and seal lines as the library does."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator, Mapping
from typing import Any

LEAST_SUMMED = 129  # bytes of a line without its seal


def xxh3(data: bytes) -> int:
    """Return the checksum of some bytes, by the library of XXH3 itself."""
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return int(library.XXH3_64bits(data, len(data)))


def sealed(line: Mapping[str, Any]) -> bytes:
    """Return a line that is added to a manifest, with its checksum."""
    body = json.dumps(line).removesuffix("}").ljust(LEAST_SUMMED).encode()
    return body + b',"xxh3":"%016x"}\n' % xxh3(body)


def _is_sealed(line: bytes) -> bool:
    body, mark, _ = line.rpartition(b',"xxh3":"')
    return bool(mark) and line == body + b'%s%016x"}\n' % (mark, xxh3(body))


def _take_in(manifest: dict[str, Any], line: Mapping[str, Any]) -> None:
    """Let a manifest say what a line adds: more entries, or more steps of the last one."""
    manifest |= {name: line[name] for name in ("bytes", "committed_steps", "absent")}
    manifest["steps"] += line.get("steps", [])
    if "more" in line:
        entry, more = manifest["steps"][-1], line["more"]
        for variable, advance in zip(entry["variables"], more.get("advance", ())):
            if variable["offset"] >= 0:
                variable["advance"] = advance
        if "time" in more:
            times = entry["time"]
            entry["time"] = [*(times if isinstance(times, list) else [times]), *more["time"]]
        entry["count"] = entry.get("count", 1) + more["count"]


def whole_manifest(text: bytes) -> dict[str, Any]:
    """Return what a manifest says, with the lines that were added to it, up to a torn one."""
    end = text.find(b"\n}\n") + 3
    first, added = (text[:end], text[end:]) if end > 2 else (text, b"")
    manifest: dict[str, Any] = json.loads(first)
    for line in added.splitlines(keepends=True):
        if not _is_sealed(line):
            break
        _take_in(manifest, json.loads(line))
    return manifest


def manifest_steps(manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a manifest tells of its steps, one after the other: an entry may tell of many."""
    for entry in manifest["steps"]:
        count = entry.get("count", 1)
        for i in range(count):
            step: dict[str, Any] = {"step": entry["step"] + i}
            if "number" in entry:
                step["number"] = entry["number"] + i
            if "time" in entry:
                step["time"] = entry["time"][i] if count > 1 else entry["time"]
            step["variables"] = [
                {**each, "offset": each["offset"] + i * each.get("advance", 0)}
                for each in entry["variables"]
            ]
            yield step
