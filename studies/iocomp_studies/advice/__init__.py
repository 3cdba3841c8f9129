# SPDX-License-Identifier: BSD-3-Clause
"""Advice on how a program should write: a model of what each way costs, fitted to results."""
