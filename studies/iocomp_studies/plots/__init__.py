# SPDX-License-Identifier: BSD-3-Clause
"""Figures: one function that draws, and a table of what it draws."""
