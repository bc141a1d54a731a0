# SPDX-License-Identifier: GPL-3.0-or-later
"""All forms of data give the same numbers."""

import gc
import warnings

import numpy as np
import pytest

import quantscope as q


class Tensor:
    """As much of a tensor of PyTorch as is used."""

    def __init__(self, array):
        self._array = np.asarray(array)
        self.dtype = self._array.dtype
        self.nbytes = self._array.nbytes

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self._array


class Loader:
    """Batches of inputs and labels, as a DataLoader gives them; the last one is smaller."""

    def __init__(self, images, labels, size):
        self._images, self._labels, self._size = images, labels, size

    def __len__(self):
        return -(-len(self._images) // self._size)

    def __iter__(self):
        for at in range(0, len(self._images), self._size):
            yield [Tensor(self._images[at : at + self._size]), Tensor(self._labels[at : at + self._size])]


class Reader:
    """A CalibrationDataReader."""

    def __init__(self, images):
        self._images = iter(images)

    def get_next(self):
        image = next(self._images, None)
        return None if image is None else {"x": image[None]}


def forms(images, folder):
    labels = np.zeros(len(images), np.int64)
    np.savez(folder / "data.npz", x=images)
    np.save(folder / "data.npy", images)
    return {
        "npz": folder / "data.npz",
        "npy": str(folder / "data.npy"),
        "dict": {"x": images},
        "complete inputs": {"x": images[:, None]},
        "array": images,
        "tensors": {"x": Tensor(images)},
        "list of samples": [{"x": x} for x in images],
        "list of inputs": [{"x": x[None]} for x in images],
        "iterator": ({"x": x} for x in images),
        "dataset": [(x, 0) for x in images],
        "arrays": iter(images),
        "loader": Loader(images, labels, 3),
        "batches by name": [{"x": images[:7], "labels": labels[:7]}, {"x": images[7:], "labels": labels[7:]}],
        "reader": Reader(images),
        "data set": [{"x": x.tolist(), "file": f"{i}.png"} for i, x in enumerate(images)],
        "not in C order": {"x": np.asfortranarray(images)},
    }


@pytest.mark.parametrize(
    "form",
    [
        "npz",
        "npy",
        "dict",
        "complete inputs",
        "array",
        "tensors",
        "list of samples",
        "list of inputs",
        "iterator",
        "dataset",
        "arrays",
        "loader",
        "batches by name",
        "reader",
        "data set",
        "not in C order",
    ],
)
def test_forms(pair, images, tmp_path, form):
    expected = q.run(pair[0], {"x": images})["scores"]
    got = q.run(pair[0], forms(images, tmp_path)[form], labels=False)["scores"]
    assert np.array_equal(got.reshape(8, 3), expected.reshape(8, 3))


def test_a_limit_stops_a_stream(pair, images):
    taken = []

    def endless():
        while True:
            taken.append(1)
            yield {"x": images[0]}

    assert len(q.run(pair[0], endless(), limit=3)["scores"]) == 3
    assert len(taken) == 3


def test_samples_of_various_shapes(two):
    rng = np.random.default_rng(0)
    feeds = [{name: rng.normal(size=(1, length, 4)).astype(np.float32) for name in "ba"} for length in (2, 2, 5)]
    with q.compare(two, data=iter(feeds), recipe={}) as result:
        assert result.json["samples"] == 3
    one = q.run(two, [feeds[2]])["sum"]
    prefix = q.run(two, feeds[:2])["sum"]
    assert one.shape == (1, 1, 5, 4) and prefix.shape == (2, 1, 2, 4)


def test_samples_of_various_shapes_without_batch_axis(two):
    rng = np.random.default_rng(0)
    feeds = [{name: rng.normal(size=(length, 4)).astype(np.float32) for name in "ab"} for length in (2, 2, 5)]
    with q.compare(two, data=feeds, recipe={}) as result:
        assert result.json["samples"] == 3
    assert q.run(two, feeds[2:])["sum"].shape == (1, 1, 5, 4)


def test_batches_of_various_lengths(two):
    rng = np.random.default_rng(0)
    batches = [tuple(rng.normal(size=(3, length, 4)).astype(np.float32) for _ in range(2)) for length in (2, 4)]
    with q.compare(two, data=iter(batches), recipe={}) as result:
        assert result.json["samples"] == 6


def test_what_is_no_data(pair, images):
    with pytest.raises(q.BadUse, match="labels=True"):
        q.run(pair[0], [(x, 0) for x in images])
    with pytest.raises(q.BadUse, match="no samples"):
        q.run(pair[0], iter(()))
    with pytest.raises(TypeError, match="not int"):
        q.run(pair[0], 3)
    with pytest.raises(TypeError, match="not str"):
        q.run(pair[0], ["a.npz"])
    with pytest.raises(q.BadInput, match="objects"):
        q.run(pair[0], {"x": np.array([None, {}])})
    with pytest.raises(q.BadUse, match="no array 'b'"):
        q.run(pair[0], [{"a": images[0], "b": images[0]}, {"a": images[0]}])
    with pytest.raises(q.BadUse, match="stand in the file"):
        q.run(pair[0], "a.npz", labels=[1])
    with pytest.raises(TypeError, match="needs data"):
        q.compare(*pair)
    for nothing in ("", [""]):
        with pytest.raises(q.BadUse, match="names nothing"):
            q.run(pair[0], {"x": images}, tensors=nothing)


def test_names_that_are_not_the_model_s(pair, two, images):
    batches = [images[:5], images[5:]]
    with q.compare(*pair, {"x": images}) as expected, q.compare(*pair, [{"pixels": b} for b in batches]) as result:
        assert result["scores"].sqnr_db == expected["scores"].sqnr_db  # a single one may be called anything
    for size in (4, 5):  # batches of one size, and of two
        samples = [{"pixels": images[at : at + size], "label": np.zeros(2)} for at in range(0, 8, size)]
        with pytest.raises(q.BadInput, match="'pixels', 'label'") as error:
            q.run(pair[0], samples)
        assert "'x'" in error.value.message and ".pb" not in error.value.message
    unused = [{name: np.zeros((1, n, 4), np.float32) for name in ("a", "b", "c")} for n in (1, 2)]
    with pytest.warns(q.ProgramWarning, match="not used: 'c'"):
        q.compare(two, data=unused, recipe={})


def test_samples_have_one_form(pair, images):
    with pytest.raises(q.BadUse, match="the first samples are dicts, but sample 1 is an array or a tuple"):
        q.run(pair[0], [{"x": images[:1]}, (images[1:2],)])
    with pytest.raises(q.BadUse, match="the first samples are arrays or tuples, but sample 1 is a dict"):
        q.run(pair[0], [images[0], {"x": images[0]}])


def test_lists_of_unlike_lengths(pair, two, images):
    with pytest.raises(q.BadInput, match="'x'"):
        q.run(pair[0], {"x": [images[0], images[1][:, :4]]})
    with pytest.raises(q.BadInput, match="'x' is no array: .* one by one"):
        q.run(pair[0], [{"x": [images[0].tolist(), images[1][:, :4].tolist()]}])
    lists = {name: [np.ones((n, 4), np.float32).tolist() for n in (1, 3)] for name in "ab"}
    with q.compare(two, data=lists, recipe={}) as result:
        assert result.json["samples"] == 2


def test_files_are_closed_where_samples_end_badly(pair, images):
    def broken():
        yield {"x": images[0]}
        raise ZeroDivisionError

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(ZeroDivisionError):
            q.run(pair[0], broken())
        with pytest.raises(q.BadUse, match="no array 'x'"):
            q.run(pair[0], [{"x": images[0]}, {}])
        gc.collect()
    assert not [warning for warning in told if issubclass(warning.category, ResourceWarning)]


def test_messages_do_not_name_temporary_files(pair):
    with pytest.raises(q.BadInput) as error:
        q.run(pair[0], {"x": np.zeros((2, 3), np.float32)})
    assert "quantscope-" not in error.value.message and "'x'" in error.value.message
