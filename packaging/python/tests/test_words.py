# SPDX-License-Identifier: GPL-3.0-or-later
"""What was written for the program has no name that the user could do anything with."""

import shlex
import subprocess

import numpy as np
import pytest

import quantscope as q
from quantscope.words import Words

WRITTEN = ("html", "csv", "junit", "sarif", "markdown")


@pytest.fixture(scope="module")
def narrow(pair, images, tmp_path_factory):
    """A quantized model whose ranges are too small, so that there is a command."""
    path = tmp_path_factory.mktemp("narrow") / "narrow.onnx"
    q.quantize(pair[0], path, {"x": images * 0.1})
    return path


FORMS = {
    "array": lambda images: images,
    "dict": lambda images: {"x": images},
    "samples": lambda images: [{"x": image} for image in images],
    "batches of various sizes": lambda images: [{"x": images[:5]}, {"x": images[5:]}],
}


@pytest.mark.parametrize("form", FORMS)
def test_commands_say_data(pair, narrow, images, tmp_path, form):
    paths = {kind: tmp_path / f"out.{kind}" for kind in WRITTEN}
    with q.compare(pair[0], narrow, FORMS[form](images), **paths) as result:
        commands = [finding.command for finding in result.findings if finding.command]
        result.report(tmp_path / "report")
        texts = [str(result), *(path.read_text() for path in (*paths.values(), tmp_path / "report"))]
    assert commands and all(" --data DATA " in command for command in commands)
    assert not any("quantscope-" in text.replace("quantscope-cli", "") for text in texts)


def test_the_command_works(pair, narrow, images, tmp_path):
    with q.compare(pair[0], narrow, images) as result:
        command = next(finding.command for finding in result.findings if finding.command)
    np.save(tmp_path / "images.npy", images)
    line = [{"quantscope-cli": q.cli_path(), "DATA": "images.npy"}.get(word, word) for word in shlex.split(command)]
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True)
    with q.compare(pair[0], tmp_path / line[line.index("-o") + 1], images) as mended:
        assert mended.outputs[0].sqnr_db > result.outputs[0].sqnr_db + 10


def test_paths_stay_as_they_are(pair, narrow, images, tmp_path):
    np.save(tmp_path / "images.npy", images)
    with q.compare(pair[0], narrow, tmp_path / "images.npy") as result:
        commands = [finding.command for finding in result.findings if finding.command]
    assert commands and all(str(tmp_path / "images.npy") in command for command in commands)


def test_recipes_and_calibration_data(pair, images, tmp_path):
    options = {"recipe": {"activation_type": "uint8"}, "calibration_data": images * 0.1}
    with q.compare(pair[0], data=images, html=tmp_path / "out.html", **options) as result:
        commands = [finding.command for finding in result.findings if finding.command]
        assert commands and all(" --recipe RECIPE --data " in command for command in commands)
        text = str(result) + str(result.json) + (tmp_path / "out.html").read_text()
    assert "quantscope-" not in text.replace("quantscope-cli", "")
    assert q.quantize(pair[0], tmp_path / "q.onnx", images, options["recipe"]).recipe == ""


def test_folders_with_blanks_and_signs(pair, narrow, images, tmp_path, monkeypatch):
    folder = tmp_path / "it's a <folder>_ & more"
    folder.mkdir()
    monkeypatch.setattr("quantscope.workspace._memory_folder", lambda size: str(folder))
    paths = {kind: tmp_path / f"out.{kind}" for kind in WRITTEN}
    with q.compare(pair[0], narrow, images, **paths) as result:
        assert any(" --data DATA " in (finding.command or "") for finding in result.findings)
    assert not any("/data.npz" in path.read_text() for path in paths.values())


def test_sentences_say_data(pair, two, images):
    with pytest.warns(q.ProgramWarning, match="^data: not used: 'unused'$"):
        q.compare(*pair, {"x": images, "unused": images})
    with pytest.raises(q.BadInput, match=r"^data: .*name an array 'x' \(they hold 'a', 'b'\)$"):
        q.run(pair[0], {"a": images, "b": images})
    lengths = [{name: np.zeros((1, n, 4 if n < 3 else 5), np.float32) for name in "ab"} for n in (1, 2, 3)]
    with pytest.raises(q.BadInput, match="^data: tensor 'a': .* 1x3x5"):
        q.compare(two, data=lengths, recipe={})
    words = Words()
    words.add("/tmp/quantscope-12345678/sets", "data")
    text = "/tmp/quantscope-12345678/sets/test_data_set_2/input_0.pb: ends early"
    assert words.in_sentence(text) == "sample 2: ends early"
