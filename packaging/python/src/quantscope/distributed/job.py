# SPDX-License-Identifier: GPL-3.0-or-later
"""Work on a set of samples that is done in shards: a value that any process on any machine can take one shard of."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from .._version import version
from ..errors import BadInput, BadUse, Cancelled
from ..options import options_of
from ..paths import FilePath
from ..plain import write_json
from ..program import Check, run_program
from ..states import READ, in_folder, state_of_one

MOST_IN_A_SUM = 16  # files that are read for one
OF_EACH = {"threads", "memory_limit"}  # options that change no number
_PATHS = READ | {"calibration_cache"}  # which shards write themselves
_SMALL = 1 << 20  # bytes of a file that is told by what it holds


def data_path(data: Any) -> Optional[str]:
    """A path of data as every worker may open it."""
    if data is None:
        return None
    if not isinstance(data, (str, os.PathLike)):
        raise TypeError(
            f"data of shards are a path that all workers see, not {type(data).__name__}; save arrays with numpy.savez"
        )
    text = os.fspath(data)
    return text if text.startswith("random:") else os.path.abspath(text)


def absolute(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Options whose paths do not depend on where a process stands."""
    return {
        name: data_path(value) if name in _PATHS and isinstance(value, (str, os.PathLike)) else value
        for name, value in options.items()
    }


def _beside(path: str) -> Iterator[Sequence[Any]]:
    """Files that hold a model's weights, by how they are called: model.onnx.data, model.onnx_data, model.data."""
    folder, name = os.path.split(path)
    stem = os.path.splitext(name)[0]
    for other in sorted(os.listdir(folder)):
        if other != name and (other.startswith(name) or other in (stem + ".data", stem + "_data")):
            yield state_of_one(os.path.join(folder, other))


def _about(path: Optional[str]) -> Sequence[Any]:
    """What tells a file, or a folder, from the one that was there before."""
    try:
        if not path or not os.path.exists(path):
            return [path]
        if os.path.isdir(path):
            return [path, *in_folder(path, set())]
        return [*state_of_one(path), *_beside(path)]
    except OSError:  # of a folder that cannot be listed
        return state_of_one(path or "")


def _about_option(path: str) -> Sequence[Any]:
    """The same of a file that an option names, which may be written anew with what it held."""
    try:
        if os.path.isfile(path) and os.path.getsize(path) <= _SMALL and not path.endswith(".onnx"):
            with open(path, "rb") as file:
                return [path, hashlib.sha256(file.read()).hexdigest()]
    except OSError:
        return [path]
    return _about(path)


def fingerprint(command: str, files: Sequence[Optional[str]], shards: int, options: Mapping[str, Any]) -> str:
    """Equal for equal work on files that nobody changed, by any number of threads."""
    given: Dict[str, Any] = {}
    for name, value in sorted(options.items()):
        if value is None or name in OF_EACH:
            continue
        text = os.fspath(value) if isinstance(value, os.PathLike) else value
        given[name] = _about_option(text) if name in READ and isinstance(text, str) else text
    about = [version, command, shards, [_about(file) for file in files], given]
    return hashlib.sha256(json.dumps(about, default=str).encode()).hexdigest()[:16]


def with_files(command: str, options: Mapping[str, Any], folder: str, key: str) -> Dict[str, Any]:
    """Options whose dicts are files in the folder, which all shards and their sum read."""
    known = options_of(command)
    made: Dict[str, Any] = {}
    for name, value in options.items():
        if isinstance(value, Mapping) and name in known and not known[name].may_repeat:
            path = os.path.join(folder, f"{key}-{name}.json")
            part = f"{path}.{os.getpid()}.part"
            write_json(part, value, name)
            os.replace(part, path)
            value = path
        made[name] = value
    return made


def check_folder(folder: FilePath) -> str:
    """The folder for what shards write, as an absolute path."""
    path = os.path.abspath(folder)
    os.makedirs(path, exist_ok=True)
    return path


def check_shards(shards: int) -> int:
    """Their number."""
    if int(shards) < 1:
        raise BadUse(f"{shards} shards are not possible; give 1 or more")
    return int(shards)


@dataclass(frozen=True)
class Stop:
    """Tells shards to end: by a file that appears, or a folder that goes away."""

    path: str

    def __call__(self) -> None:
        """Raises Cancelled when it is time."""
        if os.path.exists(self.path) or not os.path.isdir(os.path.dirname(self.path)):
            raise Cancelled("the shard was told to stop")


def never() -> None:
    """A check that lets everything go on."""


@dataclass(frozen=True)
class Job:
    """Base of jobs. Paths are absolute, and the same for all who take part."""

    shards: int
    folder: str
    key: str  # names of its files in the folder begin with it
    options: Mapping[str, Any]

    @property
    def part(self) -> str:
        """What run() does one of."""
        return "shard"

    def __len__(self) -> int:
        return self.shards

    def __iter__(self) -> Iterator[int]:
        """Numbers of the shards, from 1 on."""
        return iter(range(1, self.shards + 1))

    def _file(self, index: int, ending: str) -> str:
        if not 1 <= index <= self.shards:
            raise BadUse(f"there is no shard {index}; they are numbered from 1 to {self.shards}")
        if not os.path.isdir(self.folder):
            raise BadInput(f"{self.folder}: is not there on {os.uname().nodename}; give a folder that all workers see")
        return os.path.join(self.folder, f"{self.key}-{index}-of-{self.shards}.{ending}")

    def _run(self, index: int, check: Check) -> str:
        raise NotImplementedError

    def run(self, index: int, check: Optional[Check] = None) -> str:
        """Does one shard, by as many threads as the option `threads` says (1). Returns the path of the file that holds
        what it found, which is complete or not there; one that is there from before is taken as it is. `check` is
        called every half a second and ends the program by what it raises."""
        return self._run(index, check or never)

    def _found(self, files: Optional[Sequence[Optional[str]]]) -> List[str]:
        """Files of all shards: those that are given, else those in the folder."""
        if files is None:
            return [path for index in self for path in self._written(index)]
        return [path for path in files if path]

    def _written(self, index: int) -> List[str]:
        raise NotImplementedError

    def sums(self, states: Sequence[Optional[str]], most: int = MOST_IN_A_SUM) -> Optional[Sums]:
        """A level of a tree: a job that adds up `most` neighbours each. `states`: what run() of all shards returned, in
        their order, or run() of the level before; of the counts of a calibration, those of count(). What its run()
        returns takes their place in merge(). None: there are no more than `most`."""
        files = [path for path in states if path]
        if len(files) <= most:
            return None
        groups = tuple(tuple(files[i : i + most]) for i in range(0, len(files), most))
        ending = os.path.basename(files[0]).partition(".")[2]
        return Sums(len(groups), self.folder, f"{self.key}-sums-of-{len(files)}-by-{most}", {}, groups, ending)

    def remove_files(self) -> None:
        """Removes what its shards wrote."""
        for path in glob.glob(os.path.join(glob.escape(self.folder), self.key + "-*")):
            try:
                os.remove(path)
            except FileNotFoundError:
                pass


@dataclass(frozen=True)
class Sums(Job):
    """Adds up groups of neighbouring shards, each of them to one file. Made by Job.sums()."""

    groups: Sequence[Sequence[str]]
    ending: str

    @property
    def part(self) -> str:
        """What run() does one of."""
        return "sum"

    def _run(self, index: int, check: Check) -> str:
        path = self._file(index, self.ending)
        if not os.path.exists(path):
            check()
            run_program(["merge", *self.groups[index - 1], f"--state={path}", "--quiet"], check=check)
        return path
