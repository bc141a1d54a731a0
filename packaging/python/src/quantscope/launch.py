# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs as commands that pip installs."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Dict, NoReturn, Optional

from .errors import BadUse
from .locate import cli_path, is_ours, program_environment, window_path

MISSING_QT = "the window needs Qt; install it with `pip install quantscope[gui]`"


def qt_folder() -> Optional[Path]:
    """Qt as PySide6 brings it, if it is installed."""
    found = importlib.util.find_spec("PySide6")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(next(iter(found.submodule_search_locations))) / "Qt"
    return folder if (folder / "lib").is_dir() else None


def lacks_qt(program: str) -> bool:
    """Whether it is the window of this package, and PySide6 is not there."""
    return is_ours(program) and qt_folder() is None


def window_environment(program: str) -> Dict[str, str]:
    """The environment that the window starts in: the one of this package finds PySide6's Qt."""
    environment = program_environment(program)
    qt = qt_folder() if is_ours(program) else None
    if qt is not None:
        libraries = [str(qt / "lib"), *filter(None, [environment.get("LD_LIBRARY_PATH")])]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(libraries)
        environment["QT_PLUGIN_PATH"] = str(qt / "plugins")
    return environment


def _end(message: str, code: int) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(code)


def command_line() -> NoReturn:
    """quantscope-cli"""
    try:
        program = cli_path()
    except BadUse as error:
        _end(f"error: {error}", 2)
    os.execve(program, ["quantscope-cli", *sys.argv[1:]], program_environment(program))


def window() -> NoReturn:
    """quantscope"""
    try:
        program = window_path()
    except BadUse as error:
        _end(f"error: {error}", 2)
    if lacks_qt(program):
        _end(f"error: {MISSING_QT}", 2)
    os.execve(program, ["quantscope", *sys.argv[1:]], window_environment(program))
