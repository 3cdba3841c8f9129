# SPDX-License-Identifier: BSD-3-Clause
"""Let the tests find the modules of the studies, the benchmarks, the demonstration, stream and tools, and the package."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("studies", "bench", "bindings/python", "apps/demo", "apps/stream", "tools", "tests/actor"):
    sys.path.insert(0, str(ROOT / folder))
