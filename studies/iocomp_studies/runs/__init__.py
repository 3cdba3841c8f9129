# SPDX-License-Identifier: BSD-3-Clause
"""Run the cells of a study, here or as jobs of Slurm, and keep every result."""
