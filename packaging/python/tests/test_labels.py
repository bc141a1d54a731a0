# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels are used, or it is said that they are not."""

import warnings

import numpy as np
import onnx
import pytest

import quantscope as q


@pytest.fixture(scope="module")
def labels(pair, images):
    found = q.run(pair[0], {"x": images})["scores"].reshape(8, 3).argmax(1)
    found[0] = (found[0] + 1) % 3
    return found


def accuracy(pair, data, **options):
    with q.compare(*pair, data, task="scores=classes", **options) as result:
        return result.accuracy


def test_dicts_of_batches(pair, images, labels):
    expected = accuracy(pair, {"x": images}, labels=labels)
    assert expected.labels == 8
    for size in (4, 3, 1):
        batches = [{"x": images[at : at + size]} for at in range(0, 8, size)]
        assert accuracy(pair, batches, labels=labels) == expected
    assert accuracy(pair, [{"x": image} for image in images], labels=labels) == expected
    with pytest.raises(q.BadInput, match="2 labels for 8 samples"):
        accuracy(pair, [{"x": images[:4]}, {"x": images[4:]}], labels=labels[:2])


def test_wrong_counts(pair, images, labels):
    for data in ({"x": images}, iter(images), [{"x": image} for image in images]):
        with pytest.raises(q.BadInput, match="9 labels for 8 samples"):
            accuracy(pair, data, labels=[*labels, 0])
    assert accuracy(pair, iter(images), labels=labels, limit=5).labels == 5


def test_labels_in_a_tuple_with_a_dict(pair, images, labels):
    expected = accuracy(pair, {"x": images}, labels=labels)
    pairs = [({"x": images[:4]}, labels[:4]), ({"x": images[4:]}, labels[4:])]
    assert accuracy(pair, pairs, labels=True) == expected
    assert accuracy(pair, pairs, labels=False) is None
    with pytest.raises(q.BadUse, match="a dict with something behind it"):
        accuracy(pair, pairs)


def test_inputs_in_a_tuple_of_their_own(two):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 2, 4)).astype(np.float32)
    expected = q.run(two, {"a": a, "b": b})["sum"]
    assert np.array_equal(q.run(two, [((a, b), np.zeros(3, int))], labels=False)["sum"], expected)
    assert np.array_equal(q.run(two, [((a, b), np.zeros(3, int))], labels=True)["sum"], expected)


def test_asked_for_and_not_there(pair, images, tmp_path):
    np.savez(tmp_path / "data.npz", x=images)
    np.save(tmp_path / "data.npy", images)
    samples = [{"x": image, "label": 1} for image in images]
    files = [tmp_path / "data.npz", tmp_path / "data.npy"]
    for data in (images, {"x": images}, samples, iter(images), [(images,)], *files):
        with pytest.raises(q.BadUse, match="there are none; give them as an array 'labels'"):
            accuracy(pair, data, labels=True)
    np.savez(tmp_path / "data.npz", x=images, labels=np.zeros(8, int))
    assert accuracy(pair, tmp_path / "data.npz", labels=True).labels == 8


@pytest.fixture(scope="module")
def other_output_first(pair, images, tmp_path_factory):
    """The same models with a feature map before the scores."""
    folder = tmp_path_factory.mktemp("outputs")
    model = onnx.load(pair[0])
    first = onnx.helper.make_tensor_value_info("relu_out", onnx.TensorProto.FLOAT, ["N", 4, 6, 6])
    model.graph.output.insert(0, first)
    onnx.save(model, folder / "float.onnx")
    q.quantize(folder / "float.onnx", folder / "quantized.onnx", images)
    return folder / "float.onnx", folder / "quantized.onnx"


def test_an_output_of_no_classes(other_output_first, images, labels, tmp_path):
    np.savez(tmp_path / "data.npz", x=images, labels=labels)
    for data, given in ((images, labels), ({"x": images, "labels": labels}, None), (tmp_path / "data.npz", None)):
        with pytest.warns(q.ProgramWarning, match="labels are not used") as told:
            assert q.compare(*other_output_first, data, labels=given).accuracy is None
        assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        q.compare(*other_output_first, images)


def test_labels_need_samples_of_one_shape(two):
    lengths = [{name: np.zeros((1, n, 4), np.float32) for name in "ab"} for n in (1, 2)]
    with pytest.raises(q.BadUse, match="must have one shape"):
        q.compare(two, data=lengths, recipe={}, labels=[0, 1])
