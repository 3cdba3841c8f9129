# SPDX-License-Identifier: BSD-3-Clause
"""The C libraries and their calls. A library is loaded when it is first needed."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from iocomp.errors import Error, InvalidArgumentError, UnsupportedError, error_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mpi4py import MPI

__version__ = "0.3.0"
"""The release of iocomp.h that the calls below were written for, and of this package."""

# The result and the arguments of every call of iocomp.h. A test compares them with the
# header. p: a pointer; s: text; i: int or an enum; l: int64_t; z: size_t; d: double; c: MPI_Comm.
CALLS = {
    "iocomp_init": "i:csp",
    "iocomp_comm": "c:p",
    "iocomp_role": "i:p",
    "iocomp_should_stop": "i:pp",
    "iocomp_finalize": "i:p",
    "iocomp_open": "i:psipp",
    "iocomp_define": "i:psiipp",
    "iocomp_define_with": "i:ppp",
    "iocomp_set_shape": "i:pp",
    "iocomp_set_rows": "i:ipppp",
    "iocomp_set_attribute": "i:ppsilp",
    "iocomp_set_fill": "i:pp",
    "iocomp_begin_step": "i:pld",
    "iocomp_put": "i:ppppp",
    "iocomp_put_block": "i:ppp",
    "iocomp_decompose": "i:piplppp",
    "iocomp_decomp_free": "i:p",
    "iocomp_after": "i:ps",
    "iocomp_end_step": "i:p",
    "iocomp_current_step": "l:p",
    "iocomp_test": "i:pip",
    "iocomp_wait": "i:pi",
    "iocomp_wait_puts": "i:pi",
    "iocomp_wait_step": "i:pl",
    "iocomp_alloc": "i:pzp",
    "iocomp_free": "i:pp",
    "iocomp_progress": "i:p",
    "iocomp_close": "i:p",
    "iocomp_close_later": "i:pp",
    "iocomp_open_input": "i:pspp",
    "iocomp_latest": "i:pspppp",
    "iocomp_input_steps": "i:ppp",
    "iocomp_input_left_out": "i:pppp",
    "iocomp_input_time": "i:plp",
    "iocomp_input_variables": "i:ppp",
    "iocomp_input_variable": "i:pslppp",
    "iocomp_input_attributes": "i:pspp",
    "iocomp_input_attribute": "i:pssppp",
    "iocomp_read": "i:pslppp",
    "iocomp_read_block": "i:pslp",
    "iocomp_close_input": "i:p",
    "iocomp_error": "s:",
    "iocomp_code_name": "s:i",
    "iocomp_version": "i:p",
    "iocomp_type_size": "z:i",
    "iocomp_settings": "s:p",
}


class OpenOptions(ctypes.Structure):
    """The C structure `iocomp_open_options`: the options of an open."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("settings", ctypes.c_char_p),
        ("comm", ctypes.c_void_p),
        ("after", ctypes.c_void_p),
    )


class Definition(ctypes.Structure):
    """The C structure `iocomp_definition`: the properties of a new variable."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("ndims", ctypes.c_int),
        ("shape", ctypes.c_char_p),  # int64_t[], packed
        ("dims", ctypes.c_void_p),
        ("has_time", ctypes.c_int),
        ("file_type", ctypes.c_int),
    )


class Block(ctypes.Structure):
    """The C structure `iocomp_block`: a block to put. Lists of int64_t are packed."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("start", ctypes.c_char_p),
        ("count", ctypes.c_char_p),
        ("values", ctypes.c_void_p),
        ("memory_shape", ctypes.c_char_p),
        ("memory_start", ctypes.c_char_p),
        ("decomp", ctypes.c_void_p),
        ("type", ctypes.c_int),
        ("flags", ctypes.c_int),
    )


class Destination(ctypes.Structure):
    """The C structure `iocomp_destination`: memory to read to. Lists of int64_t are packed."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("start", ctypes.c_char_p),
        ("count", ctypes.c_char_p),
        ("values", ctypes.c_void_p),
        ("memory_shape", ctypes.c_char_p),
        ("memory_start", ctypes.c_char_p),
        ("type", ctypes.c_int),
    )


BUFFERED = 1
DROP_STEP = -(2**63)
_TYPES: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "s": ctypes.c_char_p,
    "i": ctypes.c_int,
    "l": ctypes.c_int64,
    "z": ctypes.c_size_t,
    "d": ctypes.c_double,
}


class Library:
    """The calls of one libiocomp.so, for the MPI of mpi4py."""

    def __init__(self, path: str) -> None:
        """Load the library of this path.

        Raises:
            UnsupportedError: If it is not there, of another release, or made for another MPI.
        """
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise UnsupportedError(
                f"cannot load the library of iocomp: {error}; set IOCOMP_LIBRARY to the path of "
                "libiocomp.so, or install this package into the prefix of iocomp"
            ) from None
        self._check(path)
        from mpi4py import MPI

        is_int = MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int)
        self._handle: type[ctypes.c_int | ctypes.c_void_p]
        self._handle = ctypes.c_int if is_int else ctypes.c_void_p
        types = {**_TYPES, "c": self._handle}
        for name, signature in CALLS.items():
            result, _, arguments = signature.partition(":")
            function = getattr(self._library, name)
            function.restype = types[result]
            function.argtypes = [types[letter] for letter in arguments]

    def _check(self, path: str) -> None:
        from mpi4py import MPI

        missing = [name for name in CALLS if not hasattr(self._library, name)]
        found = _release(path)
        if missing or (found and found < _release(f".so.{__version__}")):
            raise UnsupportedError(
                f"{path} is of release {'.'.join(map(str, found)) or 'unknown'} of iocomp, this "
                f"package is of {__version__}"
                + (f": it lacks {len(missing)} calls, such as {missing[0]}" if missing else "")
            )
        mpi4py_has = MPI.get_vendor()[0]
        library_has = "Open MPI" if hasattr(self._library, "ompi_mpi_comm_world") else "MPICH"
        if (mpi4py_has == "Open MPI") != (library_has == "Open MPI"):
            raise UnsupportedError(
                f"{path} is made for {library_has}, and mpi4py for {mpi4py_has}: both must use the "
                "same MPI"
            )

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a call by its name without `iocomp_`."""
        function: Callable[..., Any] = getattr(self._library, f"iocomp_{name}")
        setattr(self, name, function)  # found at once from now on
        return function

    def check(self, code: int) -> None:
        """Raise the error of a code, with the story of this thread; return for 0."""
        if code:
            self.fail(code)

    def fail(self, code: int) -> NoReturn:
        """Raise the error of a code, with the story of this thread."""
        raise self.error_of(code)

    def error_of(self, code: int) -> Error:
        """Return the error of a code, with the story of this thread."""
        story = (self.error() or b"").decode(errors="replace")
        return error_of(code, story or self.code_name(code).decode())

    def handle_of(self, comm: MPI.Comm) -> int | None:
        """Return the C handle of a communicator."""
        value: int | None = self._handle.from_address(self.address_of(comm)).value
        return value

    def address_of(self, comm: MPI.Comm) -> int:
        """Return the address of the C handle of a communicator."""
        from mpi4py import MPI

        if not isinstance(comm, MPI.Comm):
            raise InvalidArgumentError(f"comm {comm!r}: allowed is a communicator of mpi4py")
        return int(MPI._addressof(comm))

    def set_handle(self, comm: MPI.Comm, handle: int | None) -> None:
        """Make a communicator of mpi4py stand for a C handle, which it does not own."""
        from mpi4py import MPI

        self._handle.from_address(MPI._addressof(comm)).value = handle


_NAME = f"libiocomp.so.{__version__.partition('.')[0]}"


def _release(path: str) -> tuple[int, ...]:
    """Return the release that the name of a library tells, links followed; nothing if none."""
    found = re.search(r"\.so\.(\d+)\.(\d+)", str(Path(path).resolve()))
    return (int(found[1]), int(found[2])) if found else ()


def _candidates(name: str) -> Iterator[Path]:
    """Yield where a library lies if this package was installed into its prefix, or Python was."""
    folders = ("lib", "lib64", f"lib/{sysconfig.get_config_var('MULTIARCH')}")
    for prefix in [*Path(__file__).resolve().parents[2:6], Path(sys.prefix)]:
        yield from (prefix / folder / name for folder in folders)


def version() -> str:
    """Return the release of the C library as text, such as "1.2.3". Local; loads the library."""
    text = ctypes.c_char_p()
    library().version(ctypes.addressof(text))
    return (text.value or b"").decode()


def version_number() -> int:
    """Return the release of the C library as a number: 1002003 is 1.2.3. Local."""
    return int(library().version(None))


@cache
def library() -> Library:
    """Return the library: that of IOCOMP_LIBRARY, else of the prefix, else the loader's.

    Raises:
        UnsupportedError: If mpi4py is missing, or `Library` raises it.
    """
    try:
        import mpi4py.MPI  # noqa: F401
    except ImportError as error:
        raise UnsupportedError(f"writing needs mpi4py: {error}") from None
    given = os.environ.get("IOCOMP_LIBRARY")
    beside = next((str(path) for path in _candidates(_NAME) if path.exists()), None)
    return Library(given or beside or _NAME)


# The calls of src/reader/reader.h. A test compares them with it.
READER_CALLS = {
    "iocomp_reader_version": "s:",
    "iocomp_reader_error": "s:",
    "iocomp_reader_reads": "i:s",
    "iocomp_reader_open": "i:sip",
    "iocomp_reader_close": ":p",
    "iocomp_reader_description": "i:pp",
    "iocomp_reader_steps": "i:pppppp",
    "iocomp_reader_places": "i:pippppp",
    "iocomp_reader_read": "i:pilppppi",
}
_READER = f"libiocomp_reader.so.{__version__.partition('.')[0]}"


class ReaderLibrary:
    """The calls of one libiocomp_reader.so: what the C library reads with, without MPI."""

    def __init__(self, path: str) -> None:
        """Load the library of this path.

        Raises:
            UnsupportedError: If it cannot be loaded, or is of another release.
        """
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            raise UnsupportedError(
                f"cannot load the library that reads: {error}; install this package by pip, which "
                "builds it, or into the prefix of iocomp; or set IOCOMP_LIBRARY to the path of "
                "libiocomp.so, which has it beside it"
            ) from None
        for name, signature in READER_CALLS.items():
            result, _, arguments = signature.partition(":")
            function = getattr(library, name, None)
            if function is None:
                raise UnsupportedError(f"{path} is of another release of iocomp: it lacks {name}")
            function.restype = _TYPES[result] if result else None
            function.argtypes = [_TYPES[letter] for letter in arguments]
            setattr(self, name.removeprefix("iocomp_reader_"), function)
        found = self.version().decode()
        if found != __version__:
            raise UnsupportedError(
                f"{path} is of release {found} of iocomp, this package is of {__version__}"
            )

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Any]:
            """Return a call by its name without `iocomp_reader_`."""

    def check(self, code: int) -> None:
        """Raise the error of a code, with the story of this thread; return for 0."""
        if code:
            raise error_of(code, (self.error() or b"").decode(errors="replace"))


@cache
def reader_library() -> ReaderLibrary:
    """Return the library that reads: that of the package, else the one beside libiocomp.so.

    IOCOMP_LIBRARY overrides the package's.

    Raises:
        UnsupportedError: If `ReaderLibrary` raises it.
    """
    own = Path(__file__).resolve().parent / "lib" / _READER
    given = os.environ.get("IOCOMP_LIBRARY")
    beside = [Path(given).with_name(_READER)] if given else []
    places = [*beside, own, *_candidates(_READER)]
    found = next((str(path) for path in places if path.exists()), None)
    return ReaderLibrary(found or _READER)
