# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs as commands that pip installs."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from .errors import BadUse
from .locate import cli_path, program_environment, window_path
from .qt import what_is_missing, window_environment


def _end(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def command_line() -> NoReturn:
    """quantscope-cli"""
    try:
        program = cli_path()
    except BadUse as error:
        _end(error.message)
    os.execve(program, ["quantscope-cli", *sys.argv[1:]], program_environment(program))


def window() -> NoReturn:
    """quantscope"""
    try:
        program = window_path()
    except BadUse as error:
        _end(error.message)
    missing = what_is_missing(program)
    if missing:
        _end(missing)
    os.execve(program, ["quantscope", *sys.argv[1:]], window_environment(program))
