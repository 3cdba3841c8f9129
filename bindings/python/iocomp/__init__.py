# SPDX-License-Identifier: BSD-3-Clause
"""Parallel output that costs an MPI simulation nothing, and what it wrote, read without MPI."""

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
    Decomposition,
    File,
    Input,
    Latest,
    Role,
    Rows,
    RowsPut,
    Session,
    Ticket,
    Variable,
)

__all__ = [
    "CopyWarning",
    "Decomposition",
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
    "RowsPut",
    "Session",
    "StorageError",
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
