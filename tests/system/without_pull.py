# SPDX-License-Identifier: BSD-3-Clause
"""Run a program in which the kernel refuses process_vm_readv, as a container or Yama does."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
NUMBERS = {"x86_64": 310, "aarch64": 270}
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE = 0x00050001  # SECCOMP_RET_ERRNO with EPERM
ALLOW = 0x7FFF0000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def refuse_pull() -> None:
    """Install the filter for this process and those that it becomes."""
    steps = [
        (LOAD, 0, 0, 0),  # the number of the system call
        (JUMP_IF_EQUAL, 0, 1, NUMBERS[platform.machine()]),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = _Program(len(steps), ctypes.cast(code, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        sys.exit("no_new_privs is refused")
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        sys.exit("seccomp is refused")


if __name__ == "__main__":
    refuse_pull()
    os.execvp(sys.argv[1], sys.argv[1:])
