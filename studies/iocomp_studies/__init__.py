# SPDX-License-Identifier: BSD-3-Clause
"""Plan, run and judge measurements of programs that use iocomp; links nothing of it."""
