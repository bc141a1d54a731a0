# SPDX-License-Identifier: GPL-3.0-or-later
"""What files that were written for the program are called to the user, who gave arrays and dicts and knows of none."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
from typing import Any, Dict, Mapping, Pattern

from .workspace import Workspace

_WORKSPACE = re.compile(r"[^\s']*/quantscope-\w{8}/")  # folders that are not told to anybody
_TEXTS = ("html", "csv", "junit", "sarif", "markdown", "script", "save_recipe", "save_map")  # options: files to write
_OPTION_FILE = re.compile(r"([\w-]+)\.json|(gate)\.toml")


def _character(sign: str) -> str:
    """A pattern of how one stands in texts, HTML, XML, Markdown and JSON."""
    if sign.isascii() and sign.isalnum() or sign in "/.-":
        return re.escape(sign)
    forms = (sign, f"&#{ord(sign)};", f"&#x{ord(sign):x};", html.escape(sign), json.dumps(sign)[1:-1])
    return "(?:" + "|".join(re.escape(form) for form in dict.fromkeys(forms)) + ")"


def _pattern(path: str) -> Pattern[str]:
    """How a path stands in a document, with the quotes that it has in commands."""
    plain = path if shlex.quote(path) == path else "'" + path.replace("'", "'\\''") + "'"
    spellings = dict.fromkeys((plain, path))
    return re.compile("|".join("".join(map(_character, spelling)) for spelling in spellings))


class Words:
    """Words for paths. In commands and documents they are capitals (`--data DATA`), in sentences plain."""

    def __init__(self, *more: Words) -> None:
        self._known: Dict[str, str] = {}
        for other in more:
            self._known.update(other._known)

    def __contains__(self, path: object) -> bool:
        return path in self._known

    def add(self, path: str, word: str) -> None:
        """A path that was made for the program."""
        self._known[path] = word

    def add_option_files(self, place: Workspace) -> None:
        """Dicts that an option took as a file are called as the option."""
        for name in os.listdir(place.path):
            match = _OPTION_FILE.fullmatch(name)
            if match:
                self.add(place.file(name), match[1] or match[2])

    def in_document(self, text: str) -> str:
        """A text of the program's with words for the paths."""
        for path, word in self._known.items():
            text = _pattern(path).sub(word.upper(), text)
        return text

    def in_sentence(self, text: str) -> str:
        """One of the program's sentences; of samples of various shapes it tells which one."""
        for path, word in self._known.items():
            if path in text:
                text = re.sub(re.escape(path) + r"/test_data_set_(\d+)(?:/input_\d+\.pb)?", r"sample \1", text)
                text = text.replace(path, word.replace("_", " ")).replace("(the file holds ", "(they hold ")
        return _WORKSPACE.sub("", text)

    def in_files(self, options: Mapping[str, Any]) -> None:
        """The texts that these options had the program write."""
        for name in _TEXTS if self._known else ():
            path = options.get(name)
            if isinstance(path, (str, os.PathLike)) and os.path.isfile(path):
                self._in_file(os.fspath(path))

    def _in_file(self, path: str) -> None:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read()
        told = self.in_document(text)
        if told != text:
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(told)
