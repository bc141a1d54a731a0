# SPDX-License-Identifier: GPL-3.0-or-later
"""Becomes a program that is told to end (SIGTERM) when its parent is gone, even if that was killed. A script.

tied.py PARENT PROGRAM [ARGUMENT ...]        PARENT: the process that starts it
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2)

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(sys.argv[1]):  # it went away before
        sys.exit(4)
    os.execv(sys.argv[2], sys.argv[2:])
