# SPDX-License-Identifier: BSD-3-Clause
"""The acceptance test of a computing centre: `iocomp check-site`."""
