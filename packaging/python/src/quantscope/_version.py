# SPDX-License-Identifier: GPL-3.0-or-later
"""The version, which is that of the program."""

version = "0.1.0"
