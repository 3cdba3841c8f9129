# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a study: its file, its cells, and the command line of each client."""
