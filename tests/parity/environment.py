# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments of the parity scripts, made in build/ on their first use."""
import os
import pathlib
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]


def python_with(packages, name, complete=False):
    """The Python of build/NAME, made with these packages; `complete`: an older one gets what it lacks."""
    python = ROOT / "build" / name / "bin" / "python"
    new = not python.exists()
    if new:
        venv.create(python.parents[1], with_pip=True)
    if new or complete:
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
                       check=True)
    return python


def run_again(script, packages):
    """To be called where an import failed: runs the script in build/parity-venv; the error stands when it is there."""
    name = "parity-venv"
    if pathlib.Path(sys.prefix) == ROOT / "build" / name:
        raise
    python = python_with(packages, name, complete=True)
    os.execv(python, [str(python), script, *sys.argv[1:]])
