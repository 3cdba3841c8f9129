# SPDX-License-Identifier: BSD-3-Clause
"""The report: tables, figures and conclusions on one page."""
