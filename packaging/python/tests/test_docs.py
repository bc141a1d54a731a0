# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of docs/python.md and of the package's README run."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

PACKAGE = Path(__file__).parent.parent
PAGE = PACKAGE.parent.parent / "docs" / "python.md"
SHARDS = PAGE.with_name("distributed.md")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(pair, images, tmp_path, monkeypatch):
    shutil.copy(pair[0], tmp_path / "float.onnx")
    shutil.copy(pair[1], tmp_path / "quantized.onnx")
    np.savez(tmp_path / "samples.npz", x=images)
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif(not PAGE.exists(), reason="the page is in the repository")
def test_page(folder, capsys):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) >= 6
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert "scores" in capsys.readouterr().out


@pytest.mark.skipif(not SHARDS.exists(), reason="the page is in the repository")
def test_page_about_shards(folder, capsys):
    pytest.importorskip("distributed")
    names = {}
    for block in BLOCK.findall(SHARDS.read_text(encoding="utf-8")):
        exec(compile(block, str(SHARDS), "exec"), names)
    numbers = capsys.readouterr().out.split()
    assert len(numbers) == 3 and len(set(numbers)) == 1
    assert Path("ranges.json").exists() and not any(Path("states").iterdir())


@pytest.mark.skipif(not (PACKAGE / "README.md").exists(), reason="the file is in the repository")
def test_readme(folder, images):
    block = BLOCK.findall((PACKAGE / "README.md").read_text(encoding="utf-8"))[0].replace('"input"', '"x"')
    before_the_window = block[: block.index("q.show(")]
    exec(compile(before_the_window, "README.md", "exec"), {"array": images})
