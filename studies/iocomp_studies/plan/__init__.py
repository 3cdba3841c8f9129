# SPDX-License-Identifier: BSD-3-Clause
"""What a study runs: its file, its cells, and how each client is called."""
