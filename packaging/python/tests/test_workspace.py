# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders in memory are removed by who made them, and what killed processes leave by the next one."""

import os
import subprocess
import sys
import threading

import pytest

from quantscope import workspace
from quantscope.workspace import Workspace

LEFT = """
import os, signal
from quantscope.workspace import Workspace
place = Workspace()
open(place.file("data"), "w").close()
print(place.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed() -> None:
    if workspace._memory_folder(0) is None:
        pytest.skip("no storage in memory")
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    ran = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, env=environment)
    left = ran.stdout.strip()
    assert os.path.isdir(left), ran.stderr
    with Workspace() as own:
        assert not os.path.exists(left)
        with Workspace():
            assert os.path.isdir(own.path)


def test_a_copy_of_the_process_removes_nothing() -> None:
    with Workspace() as place:
        child = os.fork()
        if child == 0:
            place.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert os.path.isdir(place.path)
    assert not os.path.exists(place.path)


def test_it_goes_when_nobody_knows_it() -> None:
    place = Workspace()
    path = place.path
    del place
    assert not os.path.exists(path)


def test_sweeping_while_others_begin() -> None:
    """Who sweeps takes no folder whose owner has not locked it yet."""
    gone = []

    def make():
        for _ in range(200):
            with Workspace(1) as place:
                if not os.path.isdir(place.path):
                    gone.append(place.path)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not gone
