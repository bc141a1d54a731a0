# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens the window."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
from typing import IO, Any, Dict, FrozenSet, List, Optional

from .data import Data, PreparedData
from .errors import BadUse, error_of
from .labels import Labels
from .locate import window_path
from .options import no_option
from .paths import FilePath, file_argument
from .program import end
from .qt import what_is_missing, window_environment
from .running import inputs_of

_SECONDS_TO_START = 0.3  # within which a wrong option or a missing display ends it


class Window:
    """A window that is open."""

    def __init__(self, process: subprocess.Popen[bytes], data: PreparedData, messages: IO[bytes]) -> None:
        self._process = process
        self._data = data  # lives as long as the window shows it
        self._messages = messages

    @property
    def is_open(self) -> bool:
        """Whether it is still there."""
        return self._process.poll() is None

    @property
    def messages(self) -> str:
        """What it wrote on stderr so far."""
        # Not seek() and read(): the window writes where this file stands.
        return os.pread(self._messages.fileno(), 1 << 20, 0).decode("utf-8", "replace").strip()

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits (at most `timeout` seconds) until it is closed; returns its exit code."""
        code = self._process.wait(timeout)
        self._data.close()
        return code

    def close(self) -> None:
        """Closes it."""
        end(self._process)
        self._data.close()


@functools.lru_cache(maxsize=None)
def _options_of(program: str) -> FrozenSet[str]:
    """Names of the window's options, as Python has them, read out of its help."""
    done = subprocess.run(
        [program, "--help"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**window_environment(program), "QT_QPA_PLATFORM": "offscreen"},
    )
    if done.returncode != 0:
        raise error_of(done.returncode, done.stderr.strip())
    lines = [line for line in done.stdout.splitlines() if line.startswith("  -")]
    begins = [re.split(r"\s{2,}", line.strip())[0] for line in lines]
    return frozenset(name[2:].replace("-", "_") for begin in begins for name in re.findall(r"--[a-z][\w-]*", begin))


def _check_options(program: str, options: Dict[str, Any]) -> None:
    known = sorted(_options_of(program) - {"help", "version", "data", "limit", "completion"})
    for name in options:
        if name not in known:
            raise TypeError(no_option("show", name, known, "see `quantscope --help`"))


def _arguments(options: Dict[str, Any]) -> List[str]:
    line: List[str] = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            line.append(option)
        elif value is not None and value is not False:
            line.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return line


def show(
    float_model: Optional[FilePath] = None,
    quantized_model: Optional[FilePath] = None,
    data: Data = None,
    *,
    labels: Labels = None,
    limit: Optional[int] = None,
    **options: Any,
) -> Window:
    """Opens the window on a pair of files and returns at once; what is found wrong later, the window itself says.

    Options are those of `quantscope`: `view`, `select`, `theme`, `preprocess`, `serve` …, with underscores; True for
    one that takes no value.
    """
    files = [file_argument(f) for f in (float_model, quantized_model) if f is not None]
    program = window_path()
    missing = what_is_missing(program)
    if missing:
        raise BadUse(missing)
    _check_options(program, options)
    prepared = PreparedData(data, inputs_of(float_model or ""), labels, limit)
    messages = tempfile.TemporaryFile()
    process = subprocess.Popen(
        [program, *files, *prepared.arguments(), *_arguments({"limit": limit, **options})],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=messages,
        env=window_environment(program),
        start_new_session=True,
    )
    window = Window(process, prepared, messages)
    try:
        process.wait(_SECONDS_TO_START)
    except subprocess.TimeoutExpired:
        return window
    if process.returncode != 0:
        prepared.close()
        raise error_of(process.returncode, window.messages.rpartition("error: ")[2])
    return window
