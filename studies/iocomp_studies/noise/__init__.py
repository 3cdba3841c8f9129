# SPDX-License-Identifier: BSD-3-Clause
"""The time that a coupled job loses to writers, which take cores from some of its ranks.

The model: docs/developers/decisions/noise.md.
"""
