# SPDX-License-Identifier: GPL-3.0-or-later
"""show(), without a display."""

import os
import subprocess

import pytest

import quantscope as q
from quantscope.locate import window_path
from quantscope.qt import what_is_missing, window_environment


@pytest.fixture(autouse=True)
def offscreen(monkeypatch):
    try:
        window_path()
    except q.BadUse:
        pytest.skip("the window is not built")
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")


def test_show_returns_at_once(pair, images):
    try:
        window = q.show(*pair, {"x": images})
    except q.BadUse as error:
        assert "quantscope[gui]" in error.message  # the package without Qt
        pytest.skip(error.message)
    path = window._data.path
    assert window.is_open and os.path.exists(path)
    window.close()
    assert not window.is_open and not os.path.exists(path)


def test_unknown_options_open_nothing(pair):
    if what_is_missing(window_path()):
        pytest.skip("Qt is not there")
    with pytest.raises(TypeError, match="show has no option 'vieww'; did you mean 'view'"):
        q.show(*pair, "never.npz", vieww="graph")
    with pytest.raises(TypeError, match="no option 'colour'; see `quantscope --help`"):
        q.show(*pair, "never.npz", colour=1)


def test_screenshot(pair, images, tmp_path):
    try:
        window = q.show(
            *pair, {"x": images}, screenshot=tmp_path / "window.png", size="800x600", serve=True, select=None
        )
    except q.BadUse as error:
        pytest.skip(error.message)
    assert window.wait(60) == 0
    assert "dot" not in window.messages  # what lays the graph out is found
    assert (tmp_path / "window.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "words, offered",
    [
        ("quantscope --theme da", "dark"),
        ("quantscope --theme = li", "light"),
        ("quantscope --screen", "--screenshot"),
        ("quantscope m", "model.onnx models mine.qscope"),
        ("quantscope --session mine.q", ""),  # the shell's own files
    ],
)
def test_bash_completes(tmp_path, words, offered):
    for name in ("model.onnx", "mine.qscope", "more.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "models").mkdir()
    script = subprocess.run(
        [window_path(), "--completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        env=window_environment(window_path()),
    ).stdout
    (tmp_path / "script").write_text(script)
    line = (
        f"compopt() {{ :; }}; source ./script; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
        '_quantscope; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert sorted(done.stdout.split()) == sorted(offered.split())
    assert done.stderr == ""


@pytest.mark.parametrize(
    "shell, theme, serve",
    [
        ("bash", "--theme) words='light dark system'", "--serve"),
        ("zsh", "'*--theme[light, dark or system]:value:(light dark system)'", "'*--serve["),
        ("fish", "-l theme -x -a 'light dark system'", "-l serve -d 'lets an agent"),
    ],
)
def test_completions(shell, theme, serve):
    line = [window_path(), "--completion", shell]
    done = subprocess.run(line, capture_output=True, text=True, env=window_environment(window_path()))
    assert theme in done.stdout and serve in done.stdout
    refused = subprocess.run([*line[:-1], "tcsh"], capture_output=True, text=True, env=window_environment(line[0]))
    assert refused.returncode == 2 and "bash, zsh or fish" in refused.stderr
