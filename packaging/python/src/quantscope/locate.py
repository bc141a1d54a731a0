# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the two programs are."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Dict, Iterator

from .errors import BadUse

_PACKAGE = Path(__file__).parent
_MOST_SCRIPT = 1 << 14  # bytes
_OWN_SCRIPT = re.compile(rb"quantscope\.launch|-m\s*quantscope\b")


def is_ours(program: str) -> bool:
    """Whether it is one of those in this package."""
    return Path(program).parent == _PACKAGE / "bin"


def program_environment(program: str) -> Dict[str, str]:
    """The environment that a program starts in: those of this package find what lays graphs out."""
    environment = dict(os.environ)
    if is_ours(program):
        environment["GVBINDIR"] = str(_PACKAGE / "graphviz")
    return environment


def _is_program(path: Path) -> bool:
    """A file that runs: a program, or a script that starts it (in a container, on some cores). The scripts that this
    package installs would call themselves."""
    try:
        with open(path, "rb") as file:
            begin = file.read(_MOST_SCRIPT)
        return os.access(path, os.X_OK) and not (begin.startswith(b"#!") and _OWN_SCRIPT.search(begin))
    except OSError:
        return False


def _places(name: str) -> Iterator[Path]:
    yield _PACKAGE / "bin" / name
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(name, path=folder) if folder else None
        if found:
            yield Path(found)


def _program(name: str, variable: str) -> str:
    told = os.environ.get(variable)
    if told:
        if not _is_program(Path(told)):
            raise BadUse(
                f"{variable} names no program: {told}; give the path of {name}, or of a script that starts it (not one "
                "that pip installed, which starts this package)"
            )
        return told
    for place in _places(name):
        if _is_program(place):
            return str(place)
    raise BadUse(f"the program {name} is not found; install the package from its wheel, or set {variable} to its path")


def cli_path() -> str:
    """Path of the command line program: QUANTSCOPE_CLI, else the one in the package, else the one in PATH."""
    return _program("quantscope-cli", "QUANTSCOPE_CLI")


def window_path() -> str:
    """Path of the window: QUANTSCOPE_WINDOW, else beside QUANTSCOPE_CLI, else in the package, else in PATH."""
    told = os.environ.get("QUANTSCOPE_CLI")
    beside = Path(told).with_name("quantscope") if told else None
    if beside and "QUANTSCOPE_WINDOW" not in os.environ and _is_program(beside):
        return str(beside)
    return _program("quantscope", "QUANTSCOPE_WINDOW")
