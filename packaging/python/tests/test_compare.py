# SPDX-License-Identifier: GPL-3.0-or-later
import json
import os
import shutil

import numpy as np
import pytest

import quantscope as q


def sqnr(x, y):
    return 20 * np.log10(np.linalg.norm(x.ravel()) / np.linalg.norm((x - y).ravel()))


@pytest.fixture
def result(pair, images):
    with q.compare(*pair, {"x": images}) as result:
        yield result


def test_rows_are_those_of_the_json(result):
    assert [o.name for o in result.outputs] == ["scores"]
    assert result.json["samples"] == 8 == len(result.samples)
    assert len(result.activations) == len(result.json["activations"])
    row, given = result.activations[-1], result.json["activations"][-1]
    assert row.sqnr_db == given["sqnr_db"] and row.match.method == given["match"]["method"]
    assert row.noise.rounding == given["noise"]["rounding"]
    parts = (row.noise.rounding, row.noise.clipping, row.noise.inherited)
    assert abs(sum(parts) - row.rmse**2) <= 0.01 * row.rmse**2
    for key in given:  # nothing is lost
        assert hasattr(row, key) or key in row.extra
    assert {w.name for w in result.weights} == {"W", "B", "G", "H"}
    assert result.unmatched.float == []
    assert result.accuracy is None
    assert "scores" in str(result) and "8 samples" in repr(result)


def test_rows_by_name(result):
    assert result["relu_out"].name == "relu_out"
    assert result[result["relu_out"].quantized_name] is result["relu_out"]
    assert result["W"].dtype == "int8"
    assert "W" in result and "nothing" not in result
    with pytest.raises(KeyError, match="near it: relu_out"):
        result["relu_ou"]
    with pytest.raises(TypeError, match="has the name of its tensor, not 3"):
        result[3]


def test_tensors_are_those_that_were_compared(result, images):
    for row in result.activations:
        before, after = result.tensor(row.name)
        assert before.shape == after.shape and len(before) == 8
        if row.exact:
            assert np.array_equal(before, after)
        else:
            assert sqnr(before, after) == pytest.approx(row.sqnr_db, abs=1e-3)
    before, _ = result.tensor("x")
    assert np.array_equal(before.reshape(images.shape), images)


@pytest.mark.parametrize("form", ["qdq", "qoperator"])
def test_tensors_of_other_forms_are_real_values(pair, images, tmp_path, form):
    q.quantize(pair[0], tmp_path / "q.onnx", {"x": images}, format=form, per_channel=True)
    with q.compare(pair[0], tmp_path / "q.onnx", {"x": images}) as result:
        row = result["relu_out"]
        assert sqnr(*result.tensor("relu_out")) == pytest.approx(row.sqnr_db, abs=1e-3)
        for weight in result.weights:
            before, after = result.tensor(weight.name)
            assert len(before) == len(after) == 1
            assert sqnr(before, after) == pytest.approx(weight.sqnr_db, abs=0.01)


def test_tensors_that_are_quantized_while_running(pair, images, tmp_path):
    q.quantize(pair[0], tmp_path / "q.onnx", format="dynamic")
    with q.compare(pair[0], tmp_path / "q.onnx", {"x": images}) as result:
        assert result["x"].dynamic
        assert sqnr(*result.tensor("x")) == pytest.approx(result["x"].sqnr_db, abs=0.01)


def test_tensors_that_the_quantized_file_does_not_have(pair, images, tmp_path):
    q.quantize(pair[0], tmp_path / "q.onnx", {"x": images}, format="qoperator")
    with q.compare(pair[0], tmp_path / "q.onnx", {"x": images}) as result:
        with pytest.raises(q.BadInput, match="conv_out"):
            result.tensor("conv_out")


def test_a_recipe_in_place_of_a_file(pair, images):
    recipe = q.Recipe(per_channel=True)
    with q.compare(pair[0], data={"x": images}, recipe=recipe, reduce_range=True) as result:
        assert sqnr(*result.tensor("scores")) == pytest.approx(result["scores"].sqnr_db, abs=1e-3)
        assert result["W"].axis == 0


def test_calibration_data_of_their_own(pair, images, tmp_path):
    path = tmp_path / "calibration.npz"
    np.savez(path, x=images[:4])
    by_path = q.compare(pair[0], data={"x": images}, recipe={}, calibration_data=path)
    for form in ({"x": images[:4]}, [{"x": image} for image in images[:4]], iter([{"x": i} for i in images[:4]])):
        with q.compare(pair[0], data={"x": images}, recipe={}, calibration_data=form) as result:
            assert result["scores"].sqnr_db == by_path["scores"].sqnr_db
            assert np.array_equal(result.tensor("scores")[1], by_path.tensor("scores")[1])


def test_two_quantized_files(pair, images, tmp_path):
    q.quantize(pair[0], tmp_path / "b.onnx", {"x": images}, per_channel=True)
    with q.compare(pair[1], tmp_path / "b.onnx", {"x": images}, reference=pair[0]) as result:
        assert sqnr(*result.tensor("scores")) == pytest.approx(result["scores"].sqnr_db, abs=1e-3)
        assert result.json["parameters"] and result.json["a"]["activations"]


def test_shards_have_no_result(pair, images, tmp_path):
    with pytest.raises(q.BadUse, match="merge"):
        q.compare(*pair, images, shard="1/2", state=tmp_path / "a.qstate")


def test_labels_give_accuracy(pair, images):
    scores = q.run(pair[0], {"x": images})["scores"].reshape(8, 3)
    labels = scores.argmax(1)
    labels[0] = (labels[0] + 1) % 3
    with q.compare(*pair, {"x": images}, labels=labels, task={"scores": "classes"}) as result:
        assert result.accuracy.labels == 8
        assert result.accuracy.float == pytest.approx(7 / 8)
    with q.compare(*pair, zip(images, labels), labels=True, task="scores=classes") as other:
        assert other.accuracy == result.accuracy
    with q.compare(*pair, iter({"x": x[None]} for x in images), labels=list(labels), task="scores=classes") as other:
        assert other.accuracy == result.accuracy


def test_report_and_notebook(result, tmp_path):
    result.report(tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text()[:500].lower()
    html = result._repr_html_()
    assert "scores" in html and "<script" not in html and "http" not in html


def test_names_in_a_notebook_are_text(result):
    result.outputs[0].name = "<b>&"
    assert "&lt;b&gt;&amp;" in result._repr_html_()


def test_frame(result):
    pandas = pytest.importorskip("pandas")
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(result.activations)
    assert "noise.rounding" in frame.columns
    assert len(result.frame("weights")) == 4 and len(result.frame("samples")) == 8
    with pytest.raises(ValueError, match="activations, weights"):
        result.frame("nothing")


def test_limits(pair, images):
    missed = q.compare(*pair, {"x": images}, fail_below_sqnr=200)
    assert missed.threshold_missed and missed.outputs
    assert not q.compare(*pair, {"x": images}, fail_below_sqnr=1).threshold_missed
    with pytest.raises(q.ThresholdMissed, match="^output scores has"):
        q.compare(*pair, {"x": images}, fail_below_sqnr=200, raise_on_threshold=True)


def test_gate_files(pair, images, tmp_path):
    gates, summary = tmp_path / "gates.toml", tmp_path / "summary.md"
    gates.write_text('[[tensors]]\nname = "relu_*"\nmin_sqnr_db = 200\n')
    with q.compare(*pair, {"x": images}, gate=gates, markdown=summary) as missed:
        assert missed.threshold_missed and "1 of 1 check missed" in summary.read_text()
        summary.unlink()
        missed.report(tmp_path / "report.html")
        assert not summary.exists()
    gates.write_text("[outputs]\nmin_snr = 1\n")
    with pytest.raises(q.BadInput, match="line 2.*min_sqnr_db"):
        q.compare(*pair, {"x": images}, gate=gates)


@pytest.mark.parametrize(
    "gates, missed",
    [
        ({"outputs": {"min_sqnr_db": 1, "min_top1": None}}, 0),
        ({"outputs": {"min_sqnr_db": 200.5}, "tensors": [{"name": "relu_*", "min_sqnr_db": np.float32(200)}]}, 2),
        ({"tensors": [{"name": "re:^relu", "min_sqnr_db": 1}, {"name": "relu_*", "min_sqnr_db": 200}]}, 1),
        ({"findings": {"fail_on": "warning", "ignore": ["range_too_large"]}, "outputs": {"min_sqnr_db": 200}}, 1),
    ],
)
def test_gates_that_are_dicts(pair, images, tmp_path, gates, missed):
    summary = tmp_path / "summary.md"
    with q.compare(*pair, {"x": images}, gate=gates, markdown=summary) as result:
        assert result.threshold_missed == (missed > 0)
    assert not missed or f"{missed} of " in summary.read_text()


def test_a_baseline_in_a_dict_is_by_the_current_folder(pair, images, tmp_path, monkeypatch):
    with q.compare(*pair, {"x": images}) as before:
        document = {**before.json, "outputs": [{**row, "sqnr_db": 90} for row in before.json["outputs"]]}
    (tmp_path / "before.json").write_text(json.dumps(document))
    monkeypatch.chdir(tmp_path)
    with q.compare(*pair, {"x": images}, gate={"baseline": {"file": "before.json", "max_loss_db": 0.5}}) as result:
        assert result.threshold_missed


@pytest.mark.parametrize(
    "gates, told",
    [
        ({"outputs": {"min_snr": 1}}, "^gate: .*has no key 'min_snr'"),
        ({"outputs": {"min_sqnr_db": float("nan")}}, "^'gate.outputs.min_sqnr_db' is nan"),
        ({"findings": {"ignore": [{"rule": "clipping"}]}}, r"^'gate.findings.ignore\[0\]' is {'rule': 'clipping'}"),
        ({}, "^gate"),
        ({"outputs": 3}, "^gate"),
    ],
)
def test_gates_that_are_none(pair, images, gates, told):
    with pytest.raises(q.Error, match=told):
        q.compare(*pair, {"x": images}, gate=gates)


def test_other_options(pair, images, tmp_path):
    with q.compare(
        *pair,
        {"x": images},
        limit=3,
        threads=1,
        arithmetic="integer",
        csv=tmp_path / "rows.csv",
        carry=[],
        node_alone=True,
    ) as result:
        assert result.json["samples"] == 3 and result.json["arithmetic"] == "integer"
        assert (tmp_path / "rows.csv").read_text().startswith("kind")
        assert result["relu_out"].node_sqnr_db is not None
        assert result["relu_out"].implementation is not None


def test_models_are_paths(pair, images):
    with pytest.raises(TypeError, match="path of its file, not as bytes"):
        q.compare(pair[0].read_bytes(), pair[1], {"x": images})


def test_warnings_are_warnings(pair, images):
    with pytest.warns(q.ProgramWarning, match="unused"):
        q.compare(*pair, {"x": images, "unused": np.zeros(8, np.float32)})


def test_kept_arrays_go_with_the_result(pair, images):
    result = q.compare(*pair, {"x": images})
    path = result._task.data.path
    assert os.path.exists(path)
    result.close()
    assert not os.path.exists(path)
    with pytest.raises(q.BadUse, match="was closed"):
        result.tensor("scores")


def test_a_file_that_was_written_since(pair, images, tmp_path):
    models = [str(shutil.copy(path, tmp_path / f"{index}.onnx")) for index, path in enumerate(pair)]
    with q.compare(*models, {"x": images}) as result:
        result.tensor("scores")
        shutil.copy(pair[0], models[1])
        with pytest.raises(q.BadInput, match="1.onnx was written since"):
            result.tensor("scores")
        with pytest.raises(q.BadInput, match="compare again"):
            result.report(tmp_path / "report.html")
