# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks: what is run, which figures come from it, and which goals they have."""
