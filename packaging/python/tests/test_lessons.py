# SPDX-License-Identifier: GPL-3.0-or-later
"""The lessons that come with the programs, and the example that they and the start page open."""

import json
import os
import subprocess

import pytest

import quantscope as q
from quantscope.locate import cli_path, is_ours, program_environment, window_path
from quantscope.qt import what_is_missing, window_environment


def cli(*arguments, **more):
    program = cli_path()
    return subprocess.run(
        [program, "lesson", *arguments], env=program_environment(program), capture_output=True, text=True, **more
    )


def test_lessons_are_there():
    listed = cli("list", "--json", "-")
    assert listed.returncode == 0, listed.stderr
    lessons = json.loads(listed.stdout)["lessons"]
    assert len(lessons) >= 12 and lessons[0]["id"] == "scale-and-zero-point"
    if is_ours(cli_path()):
        package = os.path.dirname(q.__file__)
        assert all(lesson["folder"].startswith(package) for lesson in lessons)
        assert not [name for _, _, names in os.walk(os.path.join(package, "share")) for name in names if ".py" in name]


def test_lessons_work(tmp_path):
    """Wherever one stands: one on the example, one with models of its own, one of files of two exporters."""
    checked = cli(
        "check",
        "scale-and-zero-point",
        "one-channel-spoils-a-layer",
        "two-exporters-one-network",
        "--seeds",
        "1",
        cwd=tmp_path,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "0 problems" in checked.stdout


def test_a_lesson_is_taken(tmp_path):
    taken = cli(
        "run", "scale-and-zero-point", "--json", tmp_path / "result.json", input="256\n=\n.\n", cwd=tmp_path, timeout=60
    )
    assert taken.returncode == 0, taken.stderr
    steps = json.loads((tmp_path / "result.json").read_text())["steps"]
    assert steps[0]["right"] and steps[1]["shown"]


def test_the_window_takes_one(tmp_path):
    try:
        program = window_path()
    except q.BadUse:
        pytest.skip("the window is not built")
    if what_is_missing(program):
        pytest.skip(what_is_missing(program))
    picture = tmp_path / "lesson.png"
    environment = {**window_environment(program), "QT_QPA_PLATFORM": "offscreen", "HOME": str(tmp_path)}
    ended = subprocess.run(
        [program, "--lesson", "scale-and-zero-point", "--screenshot", picture, "--size", "1280x800"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
