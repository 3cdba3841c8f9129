#!/usr/bin/python3
"""What the command `iocomp study` starts."""

import sys

from iocomp_studies.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
