# SPDX-License-Identifier: GPL-3.0-or-later
"""What the window of this package needs beside itself: Qt from PyPI, and libraries of the system."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from pathlib import Path
from typing import Dict, List, Mapping, Optional

from .locate import is_ours, program_environment

# Packages that bring Qt, and where in them.
_PLACES = {"PySide6": "Qt", "PyQt6": "Qt6"}

# Libraries of the system that Qt loads, and Debian's packages of them.
_ALWAYS = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
_XCB = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_WAYLAND = {"libwayland-client.so.0": "libwayland-client0", "libwayland-cursor.so.0": "libwayland-cursor0"}


def qt_folder() -> Optional[Path]:
    """Qt as PySide6 or PyQt6 brings it, if one of them is installed."""
    for package, inside in _PLACES.items():
        found = importlib.util.find_spec(package)
        for place in (found.submodule_search_locations or ()) if found else ():
            if (Path(place) / inside / "lib").is_dir():
                return Path(place) / inside
    return None


def window_environment(program: str) -> Dict[str, str]:
    """The environment that the window starts in: the one of this package finds Qt by it."""
    environment = program_environment(program)
    qt = qt_folder() if is_ours(program) else None
    if qt is not None:
        libraries = [str(qt / "lib"), *filter(None, [environment.get("LD_LIBRARY_PATH")])]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(libraries)
        environment["QT_PLUGIN_PATH"] = str(qt / "plugins")
    return environment


def _can_be_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _needed(environment: Mapping[str, str]) -> Dict[str, str]:
    """Libraries for the kind of display that the window will open on."""
    platform = environment.get("QT_QPA_PLATFORM", "")
    if not platform:
        platform = "wayland" if environment.get("WAYLAND_DISPLAY") else "xcb" if environment.get("DISPLAY") else ""
    further = _XCB if platform.startswith("xcb") else _WAYLAND if platform.startswith("wayland") else {}
    return {**_ALWAYS, **further}


def _missing(environment: Mapping[str, str]) -> List[str]:
    return [package for library, package in _needed(environment).items() if not _can_be_loaded(library)]


def what_is_missing(program: str) -> Optional[str]:
    """One sentence on what the window of this package lacks; None where it can start, or is not of this package."""
    if not is_ours(program):
        return None
    if qt_folder() is None:
        return "the window needs Qt; install it with `pip install quantscope[gui]`"
    packages = _missing(os.environ)
    if packages:
        return f"the window needs libraries of the system; install them with `apt install {' '.join(packages)}`"
    return None
