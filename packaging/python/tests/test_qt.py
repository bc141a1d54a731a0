# SPDX-License-Identifier: GPL-3.0-or-later
"""What the launcher of the window says and sets. Only the wheel's own window needs it."""

import os
from pathlib import Path

import pytest

from quantscope import locate, qt

OURS = str(Path(qt.__file__).parent / "bin" / "quantscope")


@pytest.fixture
def with_qt(monkeypatch, tmp_path):
    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(qt, "qt_folder", lambda: tmp_path)
    return tmp_path


def test_qt_is_named(monkeypatch):
    monkeypatch.setattr(qt, "qt_folder", lambda: None)
    assert "pip install quantscope[gui]" in qt.what_is_missing(OURS)
    assert qt.what_is_missing("/usr/bin/quantscope") is None


def test_libraries_of_the_display_are_named(monkeypatch, with_qt):
    monkeypatch.setattr(
        qt, "_can_be_loaded", lambda library: library not in ("libxcb-cursor.so.0", "libwayland-cursor.so.0")
    )
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    assert "apt install libxcb-cursor0`" in qt.what_is_missing(OURS)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert "apt install libwayland-cursor0`" in qt.what_is_missing(OURS)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert qt.what_is_missing(OURS) is None


def test_environment(monkeypatch, with_qt):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/own")
    environment = qt.window_environment(OURS)
    assert environment["LD_LIBRARY_PATH"] == os.pathsep.join([str(with_qt / "lib"), "/own"])
    assert environment["QT_PLUGIN_PATH"] == str(with_qt / "plugins")
    assert environment["GVBINDIR"].endswith("graphviz")
    assert qt.window_environment("/usr/bin/quantscope") == dict(os.environ)
    assert locate.program_environment("/usr/bin/quantscope-cli") == dict(os.environ)
