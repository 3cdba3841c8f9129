# SPDX-License-Identifier: BSD-3-Clause
"""How much a coupled job loses to writers that take time from some of its ranks.

The model: docs/developers/decisions/noise.md.
"""
