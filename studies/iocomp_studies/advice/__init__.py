# SPDX-License-Identifier: BSD-3-Clause
"""How a program should write: a model of what each way costs, fitted to results."""
