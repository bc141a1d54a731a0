# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a result later is about the files that it is of."""

import os
import pickle
import shutil
import time

import numpy as np
import pytest

import quantscope as q
import quantscope.ort as ours


@pytest.fixture
def files(pair, images, tmp_path, monkeypatch):
    """A folder with models, data and a recipe, in which the test stands."""
    for name, path in zip(("float.onnx", "quantized.onnx"), pair):
        shutil.copy(path, tmp_path / name)
    write(tmp_path / "data.npz", images)
    (tmp_path / "recipe.json").write_text('{"per_channel": true}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, images):
    np.savez(path, x=images)


def write_set(folder, image):
    from onnx import numpy_helper

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "input_0.pb").write_bytes(numpy_helper.from_array(image[None], "x").SerializeToString())


def refused(result, what):
    with pytest.raises(q.BadInput, match=f"{what} was written since it was compared"):
        result.tensor("scores")
    with pytest.raises(q.BadInput, match=f"{what} was written since"):
        result.report("report.html")


def test_data_that_were_written_since(files, images):
    with q.compare("float.onnx", "quantized.onnx", "data.npz") as result:
        before = result.tensor("scores")[0]
        write("data.npz", images * 0.2)
        refused(result, "data.npz")
        os.remove("data.npz")
        with pytest.raises(q.BadInput, match="data.npz is not there any more since it was compared"):
            result.tensor("scores")
    with q.compare("float.onnx", "quantized.onnx", {"x": images}) as result:
        assert np.array_equal(result.tensor("scores")[0], before)


def test_folders_of_several_files(files, images):
    for index, image in enumerate(images[:3]):
        write_set(files / "sets" / f"test_data_set_{index}", image)
    with q.compare("float.onnx", "quantized.onnx", "sets") as result:
        (files / "sets" / "notes.html").write_text("beside the samples")
        result.tensor("scores")
        write_set(files / "sets" / "test_data_set_1", images[5])
        refused(result, "sets")
    with q.compare("float.onnx", "quantized.onnx", "sets") as result:
        write_set(files / "sets" / "test_data_set_3", images[6])
        refused(result, "sets")


def test_files_that_options_name(files, images):
    write("calibration.npz", images[:4])
    options = {"recipe": "recipe.json", "calibration_data": "calibration.npz"}
    with q.compare("float.onnx", data="data.npz", **options) as result:
        result.tensor("scores")
        write("calibration.npz", images[4:])
        refused(result, "calibration.npz")
    with q.compare("float.onnx", data="data.npz", **options) as result:
        time.sleep(0.02)
        (files / "recipe.json").write_text('{"per_channel": false}')
        refused(result, "recipe.json")


def test_weights_beside_a_model(files, images):
    import onnx

    for name in ("float.onnx", "quantized.onnx"):
        options = {"save_as_external_data": True, "location": name + ".data", "size_threshold": 0}
        onnx.save(onnx.load(name), name, **options)
    with q.compare("float.onnx", "quantized.onnx", images) as result:
        weights = bytearray((files / "float.onnx.data").read_bytes())
        weights[0] ^= 1
        (files / "float.onnx.data").write_bytes(weights)
        refused(result, "float.onnx")


@pytest.mark.parametrize("quantized", ["quantized.onnx", None], ids=["a file", "a recipe"])
def test_another_current_folder(files, tmp_path_factory, monkeypatch, quantized):
    options = {"recipe": "recipe.json", "calibration_data": "data.npz"} if quantized is None else {}
    with q.compare("float.onnx", quantized, "data.npz", **options) as result:
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        monkeypatch.chdir(elsewhere)
        assert len(result.tensor("scores")[1]) == 8
        result.report("report.html")
        assert (elsewhere / "report.html").is_file() and not (files / "report.html").exists()
        (files / "data.npz").unlink()
        with pytest.raises(q.BadInput, match="data.npz is not there any more"):
            result.tensor("scores")


def test_activations_of_another_current_folder(files, images, tmp_path_factory, monkeypatch):
    ours.modify_model_output_intermediate_tensors("float.onnx", "all.onnx")
    found, same = (ours.collect_activations("all.onnx", "data.npz") for _ in range(2))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert len(found["scores"]) == 8
    write(files / "data.npz", images * 2)
    with pytest.raises(q.BadInput, match="data.npz was written since"):
        same["relu_out"]


def test_a_copy_of_a_closed_result(pair, images):
    with q.compare(*pair, images) as result:
        copy = pickle.loads(pickle.dumps(result))
        assert len(copy.tensor("scores")[0]) == 8
    for closed in (result, copy):
        with pytest.raises(q.BadUse, match="was closed"):
            closed.tensor("scores")
