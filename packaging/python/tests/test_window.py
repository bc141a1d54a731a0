# SPDX-License-Identifier: GPL-3.0-or-later
"""show(), without a display."""

import os

import pytest

import quantscope as q
from quantscope.locate import window_path


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


def test_screenshot(pair, images, tmp_path):
    try:
        window = q.show(*pair, {"x": images}, screenshot=tmp_path / "window.png", size="800x600")
    except q.BadUse as error:
        pytest.skip(error.message)
    assert window.wait(60) == 0
    assert "dot" not in window.messages  # what lays the graph out is found
    assert (tmp_path / "window.png").read_bytes().startswith(b"\x89PNG")
