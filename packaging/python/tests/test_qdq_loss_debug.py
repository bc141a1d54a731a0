# SPDX-License-Identifier: GPL-3.0-or-later
"""The same script with ONNX Runtime's module and with ours."""

import shutil

import numpy as np
import onnx
import pytest
from conftest import small_net

import quantscope as q
import quantscope.ort as ours

theirs = pytest.importorskip("onnxruntime.quantization.qdq_loss_debug")


class Reader(ours.CalibrationDataReader):
    def __init__(self, images, batch=1):
        self._batches = iter(images[i : i + batch] for i in range(0, len(images), batch))

    def get_next(self):
        batch = next(self._batches, None)
        return None if batch is None else {"x": batch}


def activations(module, pair, folder, reader, **options):
    found = []
    for name, path in zip(("float", "quantized"), pair):
        augmented = folder / f"{module.__name__}.{name}.onnx"
        module.modify_model_output_intermediate_tensors(path, augmented, **options)
        found.append(module.collect_activations(str(augmented), reader()))
    return found


@pytest.fixture(params=[1, 2, 3], ids=["batch 1", "batch 2", "a short last batch"])
def reader(request, images):
    return lambda: Reader(images, request.param)


@pytest.fixture
def both(pair, tmp_path, reader):
    return activations(theirs, pair, tmp_path, reader), activations(ours, pair, tmp_path, reader)


def test_activations(both):
    for a, b in zip(*both):
        assert set(a) == set(b) and len(a) == len(b)
        for name in a:
            assert [x.shape for x in a[name]] == [x.shape for x in b[name]]
            assert [x.dtype for x in a[name]] == [x.dtype for x in b[name]]
            if "quant" not in name and not name.endswith("Output"):
                assert all(np.allclose(x, y, atol=0.1) for x, y in zip(a[name], b[name]))


def test_errors(both):
    matches = [module.create_activation_matching(found[1], found[0]) for module, found in zip((theirs, ours), both)]
    assert {name: set(match) for name, match in matches[0].items()} == {n: set(m) for n, m in matches[1].items()}
    expected, got = (module.compute_activation_error(match) for module, match in zip((theirs, ours), matches))
    assert set(expected) == set(got)
    for name in expected:
        assert set(expected[name]) == set(got[name])
        for key in expected[name]:
            assert got[name][key] == pytest.approx(expected[name][key], abs=0.05)


def test_a_pair_for_each_reader(tmp_path, images):
    """Of several pairs behind one tensor the first is matched."""
    float_model, quantized = tmp_path / "float.onnx", tmp_path / "quantized.onnx"
    small_net(float_model)
    model = onnx.load(float_model)
    model.graph.node.append(onnx.helper.make_node("Neg", ["relu_out"], ["negative"], name="neg"))
    model.graph.node.append(onnx.helper.make_node("Add", ["relu_out", "negative"], ["nothing"], name="add"))
    model.graph.output.append(onnx.helper.make_tensor_value_info("nothing", onnx.TensorProto.FLOAT, ["N", 4, 6, 6]))
    onnx.save(model, float_model)
    options = {"DedicatedQDQPair": True}
    ours.quantize_static(
        float_model, quantized, Reader(images), activation_type=ours.QuantType.QUInt8, extra_options=options
    )
    found = [
        activations(module, (float_model, quantized), tmp_path, lambda: Reader(images)) for module in (theirs, ours)
    ]
    assert "relu_out_DequantizeLinear_Output_2" in found[1][1]
    expected, got = (
        module.compute_activation_error(module.create_activation_matching(after, before))
        for module, (before, after) in zip((theirs, ours), found)
    )
    assert "relu_out" in expected and set(got) == set(expected)
    for name in expected:
        assert got[name] == pytest.approx(expected[name], abs=0.05)


def test_errors_by_another_measure(both):
    def worst(x, y):
        return max(float(np.abs(a - b).max()) for a, b in zip(x, y))

    expected, got = (
        module.compute_activation_error(module.create_activation_matching(found[1], found[0]), err_func=worst)
        for module, found in zip((theirs, ours), both)
    )
    for name in expected:
        for key in expected[name]:
            assert got[name][key] == pytest.approx(expected[name][key], rel=1e-3, abs=1e-5)


def test_errors_of_other_samples_are_not_mixed_up(pair, tmp_path, images):
    before, _ = activations(ours, pair, tmp_path, lambda: Reader(images))
    _, after = activations(ours, pair, tmp_path, lambda: Reader(images[::-1]))
    errors = ours.compute_activation_error(ours.create_activation_matching(after, before))
    x, y = np.concatenate(before["scores"]), np.concatenate(after["scores"])
    assert errors["scores"]["xmodel_err"] == pytest.approx(
        ours.compute_signal_to_quantization_noice_ratio(x, y), abs=1e-6
    )


def test_without_the_float_model(both):
    match = ours.create_activation_matching(both[1][1])
    assert all(set(m) == {"pre_qdq", "post_qdq"} for m in match.values())
    assert all(set(e) == {"qdq_err"} for e in ours.compute_activation_error(match).values())


def test_some_operators_alone(pair, tmp_path, images):
    options = {"op_types_for_saving": ["Conv"]}
    a = activations(theirs, pair, tmp_path, lambda: Reader(images), **options)
    b = activations(ours, pair, tmp_path, lambda: Reader(images), **options)
    assert [set(x) for x in a] == [set(x) for x in b]


@pytest.mark.parametrize("options", [{}, {"per_channel": True}])
def test_weights(pair, images, tmp_path, options):
    q.quantize(pair[0], tmp_path / "q.onnx", {"x": images}, **options)
    expected = theirs.create_weight_matching(str(pair[0]), str(tmp_path / "q.onnx"))
    got = ours.create_weight_matching(pair[0], tmp_path / "q.onnx")
    assert set(expected) == set(got) and len(got) == 4
    for name in expected:
        for key in ("float", "dequantized"):
            assert np.allclose(expected[name][key], got[name][key], rtol=1e-6, atol=1e-9)
    expected, got = theirs.compute_weight_error(expected), ours.compute_weight_error(got)
    assert got == pytest.approx(expected, abs=1e-5)


def test_weights_with_zero_points(pair, images, tmp_path):
    """ONNX Runtime's function subtracts zero points in eight bits, which wraps around; ours gives the real values."""
    q.quantize(pair[0], tmp_path / "q.onnx", {"x": images}, weight_type="uint8", activation_type="uint8")
    match = ours.create_weight_matching(pair[0], tmp_path / "q.onnx")
    with q.compare(pair[0], tmp_path / "q.onnx", images) as result:
        for name, error in ours.compute_weight_error(match).items():
            assert error == pytest.approx(result[name].sqnr_db, abs=0.01)


def test_augmented_models_run_in_onnxruntime(pair, images, tmp_path):
    import onnxruntime

    ours.modify_model_output_intermediate_tensors(pair[1], tmp_path / "a.onnx")
    options = onnxruntime.SessionOptions()  # as collect_activations of ONNX Runtime has it
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(tmp_path / "a.onnx"), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    assert "scores" in names and "relu_out_ReshapedSavedOutput" in names
    session.run(names, {"x": images})


def test_augmented_models_do_not_need_the_original(tmp_path, images):
    small_net(tmp_path / "moved.onnx")
    ours.modify_model_output_intermediate_tensors(tmp_path / "moved.onnx", tmp_path / "a.onnx")
    expected = ours.collect_activations(tmp_path / "a.onnx", Reader(images))["scores"]
    shutil.move(tmp_path / "moved.onnx", tmp_path / "elsewhere.onnx")
    got = ours.collect_activations(tmp_path / "a.onnx", Reader(images))["scores"]
    assert all(np.array_equal(a, b) for a, b in zip(expected, got))


def test_other_models_are_refused(pair, images):
    with pytest.raises(q.BadInput, match="modify_model_output_intermediate_tensors"):
        ours.collect_activations(pair[0], Reader(images))
    with pytest.raises(KeyError):
        q.ort.compute_activation_error({"a": {}})


def test_changed_matches(pair, tmp_path, images):
    found = [activations(module, pair, tmp_path, lambda: Reader(images)) for module in (theirs, ours)]
    errors = []
    for module, (before, after) in zip((theirs, ours), found):
        match = module.create_activation_matching(after, before)
        first, second, *_ = sorted(match)
        match[first]["float"] = [np.zeros_like(a) + 1 for a in match[first]["float"]]
        del match[second]
        errors.append(module.compute_activation_error(match))
    expected, got = errors
    assert set(expected) == set(got)
    name = min(expected)
    assert got[name]["xmodel_err"] == pytest.approx(expected[name]["xmodel_err"], abs=0.05)
