# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong: one class for each exit code of the program."""

from __future__ import annotations


class Error(Exception):
    """The program did not do what it was asked for; `message` is its sentence."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BadUse(Error):
    """An option or argument that is not possible (exit code 2)."""


class BadInput(Error):
    """A file or array that cannot be read, or that does not fit the model (exit code 3)."""


class Cancelled(Error):
    """The program was told to stop by somebody else (exit code 4). Ctrl-C raises KeyboardInterrupt instead."""


class InternalError(Error):
    """The program failed by a mistake of its own (exit code 5, or a crash)."""


class ThresholdMissed(Error):
    """A limit that was set is missed (exit code 1); raised with `raise_on_threshold=True` only."""


class ProgramWarning(UserWarning):
    """What the program warns of."""


def error_of(code: int, message: str) -> Error:
    """The exception for an exit code other than 0 and 1."""
    kinds = {2: BadUse, 3: BadInput, 4: Cancelled}
    return kinds.get(code, InternalError)(message or f"quantscope-cli ended with code {code}")
