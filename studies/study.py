#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the command `iocomp study` starts."""

import sys

from iocomp_studies.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
