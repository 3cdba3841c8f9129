# SPDX-License-Identifier: BSD-3-Clause
"""Parallel output that costs an MPI simulation nothing, and a reader of its files without MPI."""

from iocomp.errors import (
    CopyWarning,
    Error,
    InconsistentCallsError,
    InvalidArgumentError,
    InvalidSettingError,
    MpiError,
    NotFoundError,
    OutOfStagingError,
    OverlappingPutsError,
    StorageError,
    TargetExistsError,
    TimedOutError,
    UnsupportedError,
)
from iocomp.library import __version__, version, version_number
from iocomp.reader import Files, open_files
from iocomp.session import (
    Attributes,
    Decomp,
    File,
    Input,
    Latest,
    Role,
    Rows,
    Session,
    Ticket,
    Variable,
)
from iocomp.stored import StoredVariable

__all__ = [
    "Attributes",
    "CopyWarning",
    "Decomp",
    "Error",
    "File",
    "Files",
    "InconsistentCallsError",
    "Input",
    "InvalidArgumentError",
    "InvalidSettingError",
    "Latest",
    "MpiError",
    "NotFoundError",
    "OutOfStagingError",
    "OverlappingPutsError",
    "Role",
    "Rows",
    "Session",
    "StorageError",
    "StoredVariable",
    "TargetExistsError",
    "Ticket",
    "TimedOutError",
    "UnsupportedError",
    "Variable",
    "__version__",
    "open_files",
    "version",
    "version_number",
]
