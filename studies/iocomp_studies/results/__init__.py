# SPDX-License-Identifier: BSD-3-Clause
"""Results: lines of JSON, and the rows that figures are made of."""
