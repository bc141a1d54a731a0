# SPDX-License-Identifier: GPL-3.0-or-later
"""What starts a program so that it is told to end when this process is gone, even if that was killed.

The kernel sends the signal (PR_SET_PDEATHSIG) when the thread ends that started the program; here that thread waits for
it. It has to be asked for by the new process itself, and not in Python between fork and exec, where threads may hang.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List

_SCRIPT = str(Path(__file__).with_name("tied.py"))


def tied_surely() -> List[str]:
    """Begin of a command line, by Python: it takes tens of milliseconds, and misses no end of this process."""
    return [sys.executable, "-I", "-S", _SCRIPT, str(os.getpid())]


@functools.lru_cache(maxsize=None)
def tied_quickly() -> List[str]:
    """The same by util-linux, in a millisecond; empty where there is no such program or an old one. A process that is
    killed in that millisecond leaves the program running."""
    program = shutil.which("setpriv")
    line = [program, "--pdeathsig", "TERM", "--"] if program else []
    try:
        works = bool(line) and subprocess.run([*line, "true"], capture_output=True).returncode == 0
    except OSError:
        works = False
    return line if works else []
