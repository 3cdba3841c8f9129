#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program behind the command `iocomp study`."""

import sys

from iocomp_studies.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
