# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m quantscope` is the command line program."""

from .launch import command_line

command_line()
