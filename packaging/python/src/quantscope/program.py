# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of the command line program."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from typing import IO, Any, Callable, Iterator, List, Optional, Sequence, Tuple

from .errors import ProgramWarning, error_of
from .locate import cli_path, program_environment
from .progress import Bar, Progress, ProgressCall, tell
from .tying import tied_quickly, tied_surely
from .words import Words

_SECONDS_TO_END = 0.9  # after a signal, before the program is killed
_BETWEEN_CHECKS = 500  # milliseconds

#: Called every half a second while the program runs; what it raises ends the program.
Check = Callable[[], None]


@dataclass
class Outcome:
    """How a run ended that did what it was asked for."""

    text: str  # what stood on stdout
    threshold_missed: bool
    warnings: List[str] = field(default_factory=list)


def end(process: subprocess.Popen[Any]) -> None:
    """Ends a program, gently at first: it removes its temporary files.

    Not by SIGINT, which Ctrl-C in a terminal sends to both: its second one would end the program at once.
    """
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _terminal() -> Optional[Tuple[int, int]]:
    """Both ends of a terminal, to which alone the program says how far it is."""
    try:
        return os.openpty()
    except (AttributeError, OSError):
        return None


def _wait(descriptor: int, check: Check) -> None:
    """Until there is something to read."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    check()
    while not poll.poll(_BETWEEN_CHECKS):
        check()


def _pieces(descriptor: int, check: Optional[Check]) -> Iterator[str]:
    """What is written there, cut at ends and starts of lines."""
    rest = b""
    while True:
        if check is not None:
            _wait(descriptor, check)
        try:
            read = os.read(descriptor, 1 << 16)
        except OSError:  # a terminal whose other end is closed
            read = b""
        if not read:
            break
        *whole, rest = re.split(rb"[\r\n]+", rest + read)
        for piece in whole:
            yield piece.decode("utf-8", "replace")
    yield rest.decode("utf-8", "replace")


class _Messages:
    """Sorts what the program says on stderr."""

    def __init__(self, progress: Optional[ProgressCall]) -> None:
        self.error = ""
        self.warnings: List[str] = []
        self.other: List[str] = []
        self._progress = progress

    def take(self, piece: str) -> None:
        on_bar = piece.startswith("\x1b[K")
        piece = piece.replace("\x1b[K", "").strip()
        if piece.startswith("error: "):
            self.error = piece[len("error: ") :]
        elif piece.startswith("warning: "):
            self.warnings.append(piece[len("warning: ") :])
        elif on_bar and self._progress is not None:
            tell(piece, self._progress)
        elif piece and not on_bar:
            self.other.append(piece)


def _run(
    arguments: Sequence[str],
    output: IO[bytes],
    messages: _Messages,
    terminal: Optional[Tuple[int, int]],
    check: Optional[Check],
    folder: Optional[str],
) -> int:
    ours, theirs = terminal if terminal else os.pipe()
    try:
        program = os.path.abspath(cli_path())
        tied = tied_surely() if check is not None else tied_quickly()
        process = subprocess.Popen(
            [*tied, program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=theirs,
            env=program_environment(program),
            cwd=folder if folder and os.path.isdir(folder) else None,
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    try:
        for piece in _pieces(ours, check):
            messages.take(piece)
        return process.wait()
    finally:
        end(process)
        os.close(ours)


def levels_to_user() -> int:
    """How many calls the user's line is above the one that asks."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(__package__ + "."):
        level, frame = level + 1, frame.f_back
    return level


def run_program(
    arguments: Sequence[str],
    progress: Progress = None,
    check: Optional[Check] = None,
    *,
    words: Optional[Words] = None,
    folder: Optional[str] = None,
) -> Outcome:
    """Runs the program to its end. Whatever is raised meanwhile (KeyboardInterrupt, say) ends it first, and so does
    the end of this process; with `check` surely, however early that is. `words`: for paths that the user does not
    know. `folder`: where relative paths begin, if it is still there."""
    call = Bar() if progress is True else progress if callable(progress) else None
    messages = _Messages(call)
    words = words or Words()
    with tempfile.TemporaryFile() as output:
        try:
            code = _run(arguments, output, messages, _terminal() if call else None, check, folder)
        finally:
            if isinstance(call, Bar):
                call.close()
        output.seek(0)
        text = words.in_document(output.read().decode("utf-8", "replace"))
    told = [words.in_sentence(warning) for warning in messages.warnings]
    for warning in told:
        warnings.warn(warning, ProgramWarning, stacklevel=levels_to_user())
    if code not in (0, 1):
        raise error_of(code, words.in_sentence(messages.error or " ".join(messages.other)))
    return Outcome(text, code == 1, told)


def read_json(path: str, words: Optional[Words] = None) -> Any:
    """A result of the program."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(words.in_document(text) if words else text)
