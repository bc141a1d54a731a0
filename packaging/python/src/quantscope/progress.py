# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a run is: what the program writes to its terminal, and who is told."""

from __future__ import annotations

import re
import sys
from typing import Any, Callable, Optional, Union

#: (phase, done, total); a phase of unknown length has total 0.
ProgressCall = Callable[[str, int, int], None]
#: None: nobody is told; True: a bar (tqdm's, if it is installed); else who is called.
Progress = Union[None, bool, ProgressCall]

_LINE = re.compile(r"^(?P<phase>.*?)(?: (?P<done>\d+) of (?P<total>\d+))?$")


class Bar:
    """A bar of tqdm, else a line on stderr."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._phase = ""
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._tqdm: Optional[Callable[..., Any]] = None
        else:
            self._tqdm = tqdm

    def __call__(self, phase: str, done: int, total: int) -> None:
        if self._tqdm is None:
            text = f"{phase} {done} of {total}" if total else phase
            sys.stderr.write(f"\r{text:<78}")
            sys.stderr.flush()
            return
        if self._bar is None or phase != self._phase:
            self._close_bar()
            self._bar = self._tqdm(total=total or None, desc=phase)
            self._phase = phase
        self._bar.update(done - self._bar.n)

    def _close_bar(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def close(self) -> None:
        """Ends the line or the bar."""
        if self._tqdm is None:
            sys.stderr.write(f"\r{'':<78}\r")
        self._close_bar()


def tell(line: str, call: ProgressCall) -> None:
    """Passes on one state of the program's line."""
    match = _LINE.match(line)
    if match and match["phase"]:
        call(match["phase"], int(match["done"] or 0), int(match["total"] or 0))
