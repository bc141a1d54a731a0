# SPDX-License-Identifier: GPL-3.0-or-later
import json

import numpy as np
import onnx
import pytest

import quantscope as q


def types(path):
    return {node.op_type for node in onnx.load(path).graph.node}


def test_what_is_written_runs_in_onnxruntime(pair, images):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(pair[1]), providers=["CPUExecutionProvider"])
    scores = session.run(None, {"x": images})[0]
    assert np.allclose(scores, q.run(pair[1], images)["scores"].reshape(8, 3), atol=0.5)


def test_what_is_told(pair, images, tmp_path):
    made = q.quantize(pair[0], tmp_path / "q.onnx", {"x": images}, method="entropy", script=tmp_path / "script.py")
    assert made.format == "qdq" and made.nodes == len(onnx.load(made.path).graph.node) and made.ranges > 0
    assert "quantize_static" in (tmp_path / "script.py").read_text()


def test_recipes(pair, images, tmp_path):
    recipe = q.Recipe(per_channel=True).exclude("gemm").tensor("relu_out", lowest=0, highest=3)
    recipe.save(tmp_path / "recipe.json")
    assert q.Recipe.load(tmp_path / "recipe.json") == recipe
    for number, given in enumerate((recipe, dict(recipe), tmp_path / "recipe.json")):
        q.quantize(pair[0], tmp_path / f"{number}.onnx", {"x": images}, given)
    files = [(tmp_path / f"{number}.onnx").read_bytes() for number in range(3)]
    assert files[0] == files[1] == files[2]
    with q.compare(pair[0], tmp_path / "0.onnx", images) as result:
        assert result["relu_out"].range == pytest.approx([0, 3], abs=0.02)
        assert "G" not in result
    q.quantize(pair[0], tmp_path / "more.onnx", {"x": images}, recipe, per_channel=False, exclude=["conv"])
    with q.compare(pair[0], tmp_path / "more.onnx", images) as result:
        assert "W" not in result


def test_wrong_recipes(pair, images, tmp_path):
    with pytest.raises(q.BadInput, match="colour"):
        q.quantize(pair[0], tmp_path / "q.onnx", {"x": images}, q.Recipe(colour="red"))
    with pytest.raises(q.BadInput, match="nothing"):
        q.quantize(pair[0], tmp_path / "q.onnx", {"x": images}, exclude="nothing")
    assert not (tmp_path / "q.onnx").exists()


def test_dynamic_needs_no_data(pair, tmp_path):
    q.quantize(pair[0], tmp_path / "q.onnx", format="dynamic")
    assert "DynamicQuantizeLinear" in types(tmp_path / "q.onnx")


def test_sensitivity(pair, images):
    found = q.sensitivity(pair[0], {"x": images})
    assert {unit.name for unit in found.units} >= {"conv", "gemm"}
    assert sum(unit.mac_share for unit in found.units) == pytest.approx(1)
    assert found.pareto[0].excluded == [] and found.json["schema_version"] == 1
    assert {unit.name for unit in q.sensitivity(pair[0], images, by="type").units} >= {"Conv", "Gemm"}


def test_run(pair, images):
    everything = q.run(pair[1], images, tensors="all")
    assert everything["x"].shape == (8, 1, 2, 6, 6) and everything["x_QuantizeLinear_Output"].dtype == np.int8
    chosen = q.run(pair[0], images, tensors=["conv_out", "re:relu.*"])
    assert set(chosen) == {"conv_out", "relu_out"}
    assert np.array_equal(np.maximum(chosen["conv_out"], 0), chosen["relu_out"])
    assert set(q.run(pair[0], images, tensors="flat")) == {"flat"}


def test_recipes_of_numbers_of_numpy(pair, images, tmp_path):
    plain = {"tensors": {"relu_out": {"lowest": 0.0, "highest": 4.0}}, "exclude": ["gemm"], "bins": 512}
    arrays = {"tensors": {"relu_out": {"lowest": np.float32(0), "highest": np.array(4.0)}}, "exclude": {"gemm"}}
    arrays["bins"] = np.int64(512)
    for recipe in (plain, arrays):
        recipe["calibration"] = {"bins": recipe.pop("bins")}
    for number, given in enumerate((plain, arrays, q.Recipe(plain), q.Recipe(arrays))):
        q.quantize(pair[0], tmp_path / f"{number}.onnx", images, given)
    q.Recipe(arrays).save(tmp_path / "recipe.json")
    assert q.Recipe.load(tmp_path / "recipe.json") == q.Recipe(plain)
    files = [(tmp_path / f"{number}.onnx").read_bytes() for number in range(4)]
    assert files[0] == files[1] and files[2] == files[3]
    with pytest.raises(q.BadUse, match="'recipe.tensors.relu_out.highest' is nan"):
        q.quantize(pair[0], tmp_path / "q.onnx", images, q.Recipe().tensor("relu_out", lowest=0, highest=np.nan))
    with pytest.raises(q.BadUse, match="recipe holds what no JSON holds"):
        q.quantize(pair[0], tmp_path / "q.onnx", images, {"exclude": [object()]})


def test_info(pair):
    found = q.info(pair[1])
    assert found["form"] == "qdq" and found["inputs"][0]["name"] == "x"
    json.dumps(found)
