# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the program as keyword arguments. What a command knows is read out of its help, so nothing can differ."""

from __future__ import annotations

import difflib
import functools
import os
import re
import subprocess
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Sequence

from .errors import error_of
from .gates import gate_text
from .locate import cli_path
from .plain import write_json

_LINE = re.compile(r"^  (?:-\w,)?(--[\w-]+(?:,--[\w-]+)*)(?: (TEXT|U?INT|FLOAT))?( REQUIRED)?( \.\.\.)?")
_SET_BY_THIS_PACKAGE = {
    "help": "see `quantscope-cli {} --help`",
    "data": "data are an argument of their own",
    "out": "the function returns the arrays; numpy.savez writes them",
    "json": "what the function returns holds the document, most as `.json`",
    "quiet": "leave `progress` out, and filter q.ProgramWarning by the module warnings",
    "verbose": "what the function returns holds all rows",
}


@dataclass(frozen=True)
class Option:
    """One option of a command."""

    name: str  # with dashes
    is_flag: bool
    may_repeat: bool


@functools.lru_cache(maxsize=None)
def _options_of(program: str, command: str) -> Mapping[str, Option]:
    done = subprocess.run([program, command, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise error_of(done.returncode, done.stderr.strip())
    known: Dict[str, Option] = {}
    for line in done.stdout.splitlines():
        match = _LINE.match(line)
        for name in match[1].split(",") if match else ():
            option = Option(name[2:], match[2] is None, match[4] is not None)  # type: ignore[index]
            known[option.name.replace("-", "_")] = option
    return known


def options_of(command: str) -> Mapping[str, Option]:
    """All options of a command by their Python names."""
    return _options_of(cli_path(), command)


def no_option(command: str, name: str, known: Sequence[str], otherwise: str) -> str:
    """What is said of a name that is not known."""
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean '{near[0]}'?" if near else otherwise
    return f"{command} has no option '{name}'; {hint}"


def check_options(command: str, given: Mapping[str, Any]) -> None:
    """Raises TypeError for a name that the command does not know."""
    known = [name for name in options_of(command) if name not in _SET_BY_THIS_PACKAGE]
    for name in given:
        if name in _SET_BY_THIS_PACKAGE and name in options_of(command):
            raise TypeError(f"{command} has no option '{name}' in Python: {_SET_BY_THIS_PACKAGE[name].format(command)}")
        if name not in known:
            raise TypeError(no_option(command, name, known, f"see `quantscope-cli {command} --help`"))


def _one_text(value: Any) -> str:
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if hasattr(value, "item") and not isinstance(value, str):  # a scalar of numpy
        value = value.item()
    return repr(value) if isinstance(value, float) else str(value)


def _pair_text(name: str, key: str, value: Any) -> str:
    if isinstance(value, (list, tuple)):
        between = "x" if name.endswith("shape") else ":"
        return f"{key}={between.join(_one_text(v) for v in value)}"
    return f"{key}={_one_text(value)}"


def _texts(option: Option, value: Any) -> Sequence[str]:
    if isinstance(value, Mapping):
        return [_pair_text(option.name, key, v) for key, v in value.items()]
    if isinstance(value, (str, os.PathLike)) or not hasattr(value, "__iter__"):
        return [_one_text(value)]
    return [_one_text(v) for v in value]


def _option_file(name: str, value: Mapping[str, Any], folder: str) -> str:
    if name == "gate":
        path = os.path.join(folder, "gate.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(gate_text(value))
        return path
    path = os.path.join(folder, f"{name}.json")
    write_json(path, value, name)
    return path


def arguments(command: str, given: Mapping[str, Any], folder: str) -> List[str]:
    """The command line for some options: None is left out, False is `--no-…` where there is such an option, lists are
    repeated, a dict is NAME=VALUE pairs, or a file in `folder` where the option takes a file."""
    check_options(command, given)
    known = options_of(command)
    line: List[str] = []
    for name, value in given.items():
        option = known[name]
        if value is None:
            continue
        if option.is_flag:
            opposite = known.get("no_" + name)
            if value:
                line.append("--" + option.name)
            elif opposite:
                line.append("--" + opposite.name)
        elif option.may_repeat:
            line += [f"--{option.name}={text}" for text in _texts(option, value)]
        elif isinstance(value, Mapping):
            line.append(f"--{option.name}={_option_file(name, value, folder)}")
        elif isinstance(value, (list, tuple)):
            raise TypeError(f"{command}: option '{name}' takes one value, not {len(value)}")
        else:
            line.append(f"--{option.name}={_one_text(value)}")
    return line


def shared(command: str, given: Mapping[str, Any]) -> Dict[str, Any]:
    """Those of some options that another command knows, too."""
    known = options_of(command)
    return {name: value for name, value in given.items() if name in known and name not in _SET_BY_THIS_PACKAGE}
