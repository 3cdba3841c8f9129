# SPDX-License-Identifier: BSD-3-Clause
"""One combination of everything that a study varies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from iocomp_studies.table import counted

OUTPUTS = ("none", "idle", "sync", "async")
"""No call of iocomp; servers that have nothing to do; synchronous; asynchronous."""
MAPPINGS = (
    "sequential",
    "consecutive",
    "hyperthread",
    "oversubscribe",
    "l3",
    "numa",
    "node",
    "nodes",
)
NOT_USED = "-"


@dataclass(frozen=True)
class Cell:
    """The choices that all repetitions of a run share.

    Attributes:
        client: A name of `plan.clients`.
        output: One of OUTPUTS.
        mapping: The seats of servers; `sequential` has none.
        backend: The format of the file; "-" without output.
        transport: The path of arrays to servers; "kernel" without servers, "-" without output.
        ranks: The number of ranks that compute.
        nodes: The number of nodes of the job.
        ratio: Compute ranks per server.
        size: The size, as the client takes it: bytes, or points as "64" or "64,64,32".
        scaling: "weak": `size` is that of a rank; "strong": that of the whole job.
        progress: True if the client calls iocomp_progress.
        arguments: Further words for the client.
        settings: Further settings of iocomp, as (key, value).
        verify: True if the client reads back what it has written.
    """

    client: str
    output: str = "async"
    mapping: str = "sequential"
    backend: str = "posix"
    transport: str = "auto"
    ranks: int = 1
    nodes: int = 1
    ratio: str = "1"
    size: str = ""
    scaling: str = "weak"
    progress: bool = False
    arguments: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    verify: bool = True

    def record(self) -> dict[str, Any]:
        """Return it as JSON values."""
        record = asdict(self)
        record["arguments"] = list(self.arguments)
        record["settings"] = dict(self.settings)
        return record

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Cell:
        """Return the cell of a result.

        Raises:
            ValueError: If it is none.
        """
        if not isinstance(record.get("client"), str):
            raise ValueError("no cell of a study")
        for name, value in record.items():
            if type(value) is not _TYPES.get(name):
                raise ValueError(f"no cell of a study that is known here: {name} = {value!r}")
        values = dict(record)
        values["arguments"] = tuple(record.get("arguments", ()))
        values["settings"] = tuple(sorted(record.get("settings", {}).items()))
        return cls(**values)

    def key(self) -> str:
        """Return a short name that no other cell has."""
        text = json.dumps(self.record(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def label(self) -> str:
        """Return it in words."""
        ranks = counted(self.ranks, "rank")
        if self.output == "none":
            return f"{self.client}, no output, {ranks}, {self.size}"
        words = [self.client, self.output, self.mapping]
        if self.output != "idle":
            words += [self.backend]
        if self.output == "async" and self.transport != "auto":
            words.append(self.transport)
        if self.progress:
            words.append("progress calls")
        if self.ratio != "1":
            words.append(f"{self.ratio} ranks per server")
        return ", ".join((*words, ranks, self.size))


_TYPES = {name: type(value) for name, value in Cell("").record().items()}
"""The type of each value in the record of a cell."""
