# SPDX-License-Identifier: GPL-3.0-or-later
"""The notebook of the documentation runs from top to bottom, with nothing but the package."""

import json
import os
import sys
from pathlib import Path

import pytest

import quantscope as q

NOTEBOOK = Path(__file__).parent.parent.parent.parent / "docs" / "five_minutes.ipynb"


def test_example():
    example = q.example()
    assert [Path(path).is_file() for path in example] == [True] * 3
    assert example.float_model.endswith("digits_float.onnx")


def test_committed_without_outputs():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 8 and not any(cell["outputs"] or cell["execution_count"] for cell in code)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell of code shows, by its id."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # for the kernel
    os.environ["TMPDIR"], before = str(folder), os.environ.get("TMPDIR")
    try:
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbclient.NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        ).execute()
    finally:
        del os.environ["PYTHONPATH"], os.environ["TMPDIR"]
        if before is not None:
            os.environ["TMPDIR"] = before
    return {cell["id"]: cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"}


def text(cell):
    return "".join(output.get("text", "") for output in cell)


def test_what_it_shows(outputs):
    assert "Calibration does not fit the input" in outputs["compare"][0]["data"]["text/html"]
    assert text(outputs["accuracy"]) == "float 100%, quantized 19%\n"
    assert text(outputs["findings"]).startswith("[error] Calibration does not fit the input (image)")
    made, *problems = text(outputs["quantize"]).splitlines()
    assert made == f"float 100%, quantized 100%, {len(problems)} problems"
    # Sums of 16 bits are one on processors without VNNI.
    assert len(problems) <= 1 and all("Sums of" in problem and "VNNI" in problem for problem in problems)
    assert outputs["report"][0]["data"]["text/html"].startswith("<div><iframe srcdoc=")


def test_what_its_text_says(outputs):
    rows = [line.split() for line in text(outputs["worst"]).splitlines()[1:]]
    assert len(rows) == 6 and all(row[-1] in ("99%", "100%") for row in rows[:5])
    assert rows[5][0] == "image" and rows[5][-2] in ("99%", "100%")
    assert "data -0.75 to 1.75 | after the quantizer 0.0 to 1.0" in text(outputs["values"])
    decibels = [float(line.split()[-3]) for line in text(outputs["recipes"]).splitlines()]
    assert len(decibels) == 4 and decibels[1] > decibels[0] and decibels[3] == max(decibels)
    assert text(outputs["sensitivity"]).startswith("/stem/conv/Conv")
