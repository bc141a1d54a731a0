# SPDX-License-Identifier: GPL-3.0-or-later
"""Shards on a Dask cluster of processes: the same bits as one run, whatever happens to workers."""

import json
import os
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from conftest import small_net, two_inputs

import quantscope as q
from quantscope import distributed
from quantscope.arrays import save_feed

SAMPLES = 256
DIFFERENT = ("time_ms", "peak_memory_bytes")  # of two runs that are equal


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pair and 256 samples with labels."""
    place = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(3)
    x = rng.normal(size=(SAMPLES, 2, 6, 6)).astype(np.float32) * rng.lognormal(size=(SAMPLES, 1, 1, 1)).astype("f")
    np.savez(place / "samples.npz", x=x, labels=rng.integers(0, 3, SAMPLES))
    np.savez_compressed(place / "compressed.npz", x=x)
    np.save(place / "samples.npy", x)
    small_net(place / "float.onnx")
    q.quantize(place / "float.onnx", place / "quantized.onnx", place / "samples.npz", limit=20)
    return place


@pytest.fixture(scope="module")
def one_run(folder):
    with q.compare(folder / "float.onnx", folder / "quantized.onnx", folder / "samples.npz") as result:
        return result


@pytest.fixture(scope="module")
def cluster():
    dask = pytest.importorskip("distributed")
    with dask.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as workers:
        yield workers


@pytest.fixture
def client(cluster):
    import distributed as dask

    with dask.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(4, timeout=60)
        yield client


def numbers(result):
    """All but the commands of remedies: what merges states does not know the options that made them."""
    return of_document(result.json)


def of_document(whole):
    document = {key: value for key, value in whole.items() if key not in DIFFERENT}
    findings = [{key: value for key, value in finding.items() if key != "command"} for finding in document["findings"]]
    return {**document, "findings": findings}


def one_calibration(folder, path, data="samples.npz", **options):
    q.quantize(folder / "float.onnx", path.with_suffix(".onnx"), folder / data, save_ranges=path, **options)
    return path.read_bytes()


def files(folder, *names):
    return [folder / name for name in names]


def running(folder):
    """Programs that run shards whose states go there."""
    about = f"--state={folder}/".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if any(part.startswith(about) for part in line):
            found.append(int(entry.name))
    return found


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_comparison(folder, one_run, client, tmp_path):
    told = []
    pair = files(folder, "float.onnx", "quantized.onnx", "samples.npz")
    result = distributed.compare(*pair, client=client, shards=13, folder=tmp_path, progress=lambda *t: told.append(t))
    assert numbers(result) == numbers(one_run)
    assert result.accuracy.labels == SAMPLES
    assert told == [("compare", done, 13) for done in range(1, 14)]
    result.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10000
    assert len(result.tensor("relu_out")[0]) == SAMPLES
    result.close()
    assert os.listdir(tmp_path) == ["report.html"]


class KillWhen:
    """Kills a worker in the middle, without a word."""

    def __init__(self, client, done):
        self.pids = list(client.run(os.getpid).values())
        self.done = done
        self.killed = None

    def __call__(self, phase, done, total):
        if done >= self.done and self.killed is None:
            self.killed = self.pids[1]
            os.kill(self.killed, signal.SIGKILL)


def test_a_worker_is_lost(folder, one_run, client, tmp_path):
    pair = files(folder, "float.onnx", "quantized.onnx", "samples.npz")
    kill = KillWhen(client, 10)
    with distributed.compare(*pair, client=client, shards=32, folder=tmp_path, progress=kill) as result:
        assert kill.killed and not Path(f"/proc/{kill.killed}/exe").exists()
        assert numbers(result) == numbers(one_run)
    client.wait_for_workers(4, timeout=60)
    kill = KillWhen(client, 10)
    out = distributed.calibrate(
        *files(folder, "float.onnx", "samples.npz"),
        tmp_path / "r.json",
        client=client,
        shards=32,
        folder=tmp_path,
        progress=kill,
    )
    assert kill.killed
    assert Path(out).read_bytes() == one_calibration(folder, tmp_path / "one.json")
    assert sorted(os.listdir(tmp_path)) == ["one.json", "one.onnx", "r.json"]


@pytest.mark.parametrize("data", ["samples.npz", "compressed.npz", "samples.npy"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"symmetric_activations": True, "per_channel": True, "limit": 100},
        {"method": "percentile", "percentile": 99.5},
        {"method": "entropy", "bins": 512},
        {"method": "mse"},
        {"method": "moving-average"},
        {"recipe": {"calibration": {"method": "moving-average", "stride": 4}}},
        {"recipe": {"calibration": {"method": "percentile", "stride": 32}}},
        {"tensor_calibrator": {"relu_out": "percentile:99"}},
    ],
)
def test_calibration(folder, client, tmp_path, data, options):
    told = []
    out = distributed.calibrate(
        folder / "float.onnx",
        folder / data,
        tmp_path / "r.json",
        client=client,
        shards=7,
        **options,
        progress=lambda *t: told.append(t),
    )
    two = any(method in str(options) for method in ("percentile", "entropy"))
    phases = ["calibrate", "histograms"] if two else ["calibrate"]
    assert told == [(phase, done, 7) for phase in phases for done in range(1, 8)]
    assert Path(out).read_bytes() == one_calibration(folder, tmp_path / "one.json", data, **options)
    recipe = {name: value for name, value in options.items() if name != "limit"}
    q.quantize(folder / "float.onnx", tmp_path / "a.onnx", ranges=out, **recipe)
    arrays = [q.run(tmp_path / name, folder / "samples.npz")["scores"] for name in ("a.onnx", "one.onnx")]
    assert np.array_equal(*arrays)


@pytest.mark.parametrize(
    "options, phases",
    [
        ({"per_channel": True}, ["calibrate", "compare"]),
        ({"method": "percentile", "percentile": 99.0, "limit": 100}, ["calibrate", "histograms", "compare"]),
        ({"recipe": {"calibration": {"method": "entropy"}}, "bins": 512}, ["calibrate", "histograms", "compare"]),
        ({"bias_correction": True}, ["calibrate", "compare"]),
        ({"smooth_quant": True}, ["compare"]),
        ({"format": "dynamic"}, ["compare"]),
    ],
    ids=str,
)
def test_a_recipe_is_calibrated_in_shards(folder, client, tmp_path, options, phases):
    told = []
    model, data = files(folder, "float.onnx", "samples.npz")
    shared = {"client": client, "shards": 5, "progress": lambda phase, *_: told.append(phase), **options}
    with q.compare(model, data=data, **options) as expected:
        with distributed.compare(model, data=data, **shared) as result:
            assert numbers(result) == numbers(expected)
    assert list(dict.fromkeys(told)) == phases


def test_a_comparison_needs_a_file_or_a_recipe(folder, client):
    model, data = files(folder, "float.onnx", "samples.npz")
    with pytest.raises(q.BadUse, match="needs the quantized file too, or a recipe"):
        distributed.compare(model, data=data, client=client, shards=2)
    told = []
    with pytest.raises(q.BadUse, match="shard"):
        distributed.compare(
            model, data=data, client=client, shards=2, per_channel=True, rtol=1e-3, progress=lambda *t: told.append(t)
        )
    assert not told
    with pytest.raises(TypeError, match="results"):
        job(folder, folder / "none").merge([], state="x")


def test_a_kept_calibration_of_a_recipe_is_not_made_again(folder, client, tmp_path):
    model, data = files(folder, "float.onnx", "samples.npz")
    told = []
    for _ in range(2):
        distributed.compare(
            model,
            data=data,
            client=client,
            shards=3,
            folder=tmp_path,
            keep=True,
            per_channel=True,
            progress=lambda phase, *_: told.append(phase),
        )
    assert told == ["calibrate"] * 3 + ["compare"] * 6
    assert len(list(tmp_path.glob("*-all.qscalib"))) == 1


def test_what_is_kept_is_not_run_again(folder, one_run, client, tmp_path):
    pair = files(folder, "float.onnx", "quantized.onnx", "samples.npz")
    results, times = [], []
    for _ in range(2):
        results.append(distributed.compare(*pair, client=client, shards=6, folder=tmp_path, keep=True))
        times.append({path: path.stat().st_mtime_ns for path in tmp_path.glob("*.qstate")})
    assert times[0] == times[1] and len(times[0]) == 6
    assert [numbers(result) for result in results] == [numbers(one_run)] * 2
    merged = subprocess.run(
        [q.cli_path(), "merge", *times[0], "--json", "-"], capture_output=True, text=True, check=True
    )
    assert of_document(json.loads(merged.stdout)) == numbers(one_run)


def test_a_failing_shard_says_why(folder, client, tmp_path):
    pair = files(folder, "float.onnx", "quantized.onnx")
    np.savez(tmp_path / "wrong.npz", x=np.zeros((9, 2, 5, 6), np.float32))
    with pytest.raises(q.BadInput, match=r"^shard \d of 3: .*wrong.npz.*'x'"):
        distributed.compare(*pair, tmp_path / "wrong.npz", client=client, shards=3, folder=tmp_path)
    with pytest.raises(q.BadInput, match=r"^shard \d of 3: .*'x'"):
        distributed.calibrate(
            pair[0], tmp_path / "wrong.npz", tmp_path / "r.json", client=client, shards=3, folder=tmp_path
        )
    with pytest.raises(q.BadInput, match="none.npz"):
        distributed.compare(*pair, tmp_path / "none.npz", client=client, shards=3, folder=tmp_path)
    assert os.listdir(tmp_path) == ["wrong.npz"]


def test_what_cannot_be_split(folder, client, tmp_path):
    arguments = (*files(folder, "float.onnx", "samples.npz"), tmp_path / "r.json")
    shared = {"client": client, "shards": 2}
    for options, sentence in [
        ({"smooth_quant": True}, "SmoothQuant"),
        ({"equalize": True}, "equalization"),
        ({"format": "dynamic"}, "dynamic has no calibrated ranges"),
    ]:
        with pytest.raises(q.BadUse, match=sentence):
            distributed.calibrate(*arguments, **shared, **options)
    for name in ("ranges", "carry", "shard"):
        with pytest.raises(TypeError, match=f"'{name}'"):
            distributed.calibrate(*arguments, **shared, **{name: "x"})
    with pytest.raises(TypeError, match="numpy.savez"):
        distributed.compare(*files(folder, "float.onnx", "quantized.onnx"), {"x": np.zeros(3)}, **shared)
    with pytest.raises(TypeError, match="no option 'colour'"):
        distributed.compare(*files(folder, "float.onnx", "quantized.onnx", "samples.npz"), **shared, colour=1)


def test_reports_and_limits_are_of_the_whole(folder, client, tmp_path):
    pair = files(folder, "float.onnx", "quantized.onnx", "samples.npz")
    options = {"client": client, "shards": 3, "fail_below_sqnr": 300.0}
    with distributed.compare(*pair, **options, html=tmp_path / "r.html") as result:
        assert result.threshold_missed and (tmp_path / "r.html").exists()
    with pytest.raises(q.ThresholdMissed, match="scores"):
        distributed.compare(*pair, **options, raise_on_threshold=True)


def job(folder, place, **options):
    pair = files(folder, "float.onnx", "quantized.onnx", "samples.npz")
    return distributed.ComparisonJob.of(*pair, folder=place, **{"shards": 5, **options})


def test_jobs_run_anywhere(folder, one_run, tmp_path):
    whole = job(folder, tmp_path, recipe=None)
    states = [whole.run(index) for index in reversed(list(whole))]
    assert numbers(whole.merge(states)) == numbers(one_run)
    os.remove(states[0])
    with pytest.raises(q.BadInput, match="shard 5 of 5 is missing"):
        whole.merge()
    with pytest.raises(q.BadUse, match="there is no shard 6"):
        whole.run(6)
    whole.remove_files()
    assert os.listdir(tmp_path) == []


def test_recipes_are_files_of_the_job(folder, tmp_path):
    recipe = q.Recipe(per_channel=True)
    data = folder / "samples.npz"
    whole = distributed.ComparisonJob.of(folder / "float.onnx", None, data, shards=2, folder=tmp_path, recipe=recipe)
    with q.compare(folder / "float.onnx", data=data, recipe=recipe) as expected:
        assert numbers(whole.merge([whole.run(index) for index in whole])) == numbers(expected)


def test_changed_files_are_other_work(folder, tmp_path, monkeypatch):
    """Each file that is read is part of the key: options, data in folders, weights beside a model."""
    recipe, model, sets = tmp_path / "recipe.json", tmp_path / "float.onnx", tmp_path / "sets"
    model.write_bytes((folder / "float.onnx").read_bytes())
    recipe.write_text('{"per_channel": true}')
    (sets / "class").mkdir(parents=True)
    (sets / "class" / "one.png").write_bytes(b"1")
    keys = []

    def key(path="recipe.json"):
        place = tmp_path / "states"
        whole = distributed.ComparisonJob.of(model, None, sets, shards=2, folder=place, recipe=path)
        assert whole.options["recipe"] == str(recipe)
        keys.append(whole.key)
        return whole.key

    monkeypatch.chdir(tmp_path)
    assert key() == key(recipe) == key(str(recipe))
    recipe.write_text('{"per_channel": true}')  # written anew, but the same
    assert key() == keys[0]
    recipe.write_text('{"per_channel": null}')
    key()
    (sets / "class" / "two.png").write_bytes(b"2")
    key()
    os.utime(sets / "class" / "one.png", ns=(1, 1))
    key()
    for name in ("float.onnx.data", "float.onnx_data", "float.data"):
        (tmp_path / name).write_bytes(b"weights")
        key()
        os.utime(tmp_path / name, ns=(1, 1))
        key()
    assert len(set(keys[3:])) == len(keys[3:])


def test_many_shards_are_summed_as_a_tree(folder, one_run, client, tmp_path):
    told = []
    shared = {"client": client, "shards": 40, "folder": tmp_path, "progress": lambda phase, *_: told.append(phase)}
    model, quantized, data = files(folder, "float.onnx", "quantized.onnx", "samples.npz")
    with distributed.compare(model, quantized, data, **shared) as result:
        assert numbers(result) == numbers(one_run)
        result.report(tmp_path / "report.html")
    assert told == ["compare"] * 40 + ["merge"] * 3
    told.clear()
    out = distributed.calibrate(model, data, tmp_path / "r.json", method="percentile", **shared)
    assert told == ["calibrate"] * 40 + ["merge"] * 3 + ["histograms"] * 40 + ["merge"] * 3
    assert Path(out).read_bytes() == one_calibration(folder, tmp_path / "one.json", method="percentile")
    assert sorted(os.listdir(tmp_path)) == ["one.json", "one.onnx", "r.json", "report.html"]


def test_levels_of_a_tree(folder, one_run, tmp_path):
    whole = job(folder, tmp_path, shards=11)
    states = [whole.run(index) for index in whole]
    widths = []
    sums = whole.sums(states, most=2)
    while sums is not None:
        widths.append(len(sums))
        states = [sums.run(index) for index in reversed(list(sums))][::-1]
        sums = whole.sums(states, most=2)
    assert widths == [6, 3, 2]
    assert numbers(whole.merge(states)) == numbers(one_run)
    whole.remove_files()
    assert os.listdir(tmp_path) == []


def test_calibration_of_folders(tmp_path):
    """Samples of various lengths, one without any value, and more shards than samples."""
    two_inputs(tmp_path / "two.onnx")
    rng = np.random.default_rng(0)
    for index, length in enumerate((2, 0, 5, 3, 0, 1, 4, 2, 2, 7, 1)):
        feed = {name: rng.normal(size=(1, length, 4)).astype(np.float32) + 9 for name in "ab"}
        save_feed(str(tmp_path / "sets"), index, ["a", "b"], feed)
    for limit in (None, 10, 2):
        q.quantize(
            tmp_path / "two.onnx",
            tmp_path / "q.onnx",
            tmp_path / "sets",
            limit=limit,
            save_ranges=tmp_path / "one.json",
        )
        for shards in (1, 4, 11, 30):
            place = tmp_path / f"{limit}-{shards}"
            whole = distributed.CalibrationJob.of(
                tmp_path / "two.onnx", tmp_path / "sets", shards=shards, folder=place, limit=limit
            )
            parts = [whole.run(index) for index in whole]
            assert not whole.has_second_round() and whole.count(1) is None
            for found in (parts, None):
                whole.merge(found, tmp_path / "r.json")
                assert (tmp_path / "r.json").read_bytes() == (tmp_path / "one.json").read_bytes()


def test_calibration_of_batches(tmp_path):
    """A fixed batch, an array that serves every run, and a limit."""
    small_net(tmp_path / "float.onnx", batch=4)
    x = np.random.default_rng(7).normal(size=(36, 2, 6, 6)).astype(np.float32)
    np.savez(tmp_path / "samples.npz", x=x, labels=np.zeros(36, np.int64))
    for limit in (None, 20):
        expected = one_calibration(tmp_path, tmp_path / "one.json", limit=limit)
        whole = distributed.CalibrationJob.of(
            tmp_path / "float.onnx", tmp_path / "samples.npz", shards=4, folder=tmp_path, limit=limit
        )
        whole.merge([whole.run(index) for index in whole], tmp_path / "r.json")
        assert (tmp_path / "r.json").read_bytes() == expected
    np.savez(tmp_path / "samples.npz", x=x[:34])
    with pytest.raises(q.BadInput, match="samples"):
        odd = distributed.CalibrationJob.of(
            tmp_path / "float.onnx", tmp_path / "samples.npz", shards=2, folder=tmp_path
        )
        odd.merge([odd.run(index) for index in odd], tmp_path / "r.json")


def test_rounds_of_a_calibration(folder, tmp_path):
    """Done anywhere, in any order; what is kept is not run again."""
    expected = one_calibration(folder, tmp_path / "one.json", method="entropy", bins=512)
    whole = distributed.CalibrationJob.of(
        *files(folder, "float.onnx", "samples.npz"), shards=3, folder=tmp_path / "s", method="entropy", bins=512
    )
    states = [whole.run(1)]
    with pytest.raises(q.BadInput, match="shard 2 of 3 is missing"):
        whole.count(1)
    states += [whole.run(index) for index in (3, 2)]
    assert whole.has_second_round()
    with pytest.raises(q.BadInput, match="second round of shard 1 of 3 is missing"):
        whole.merge(None, tmp_path / "r.json")
    states += [whole.count(index) for index in (3, 1, 2)]
    times = {path: os.stat(path).st_mtime_ns for path in states}
    assert [whole.run(1), whole.count(1)] == [states[0], states[4]]
    assert times == {path: os.stat(path).st_mtime_ns for path in states}
    for found in (states, states[::-1], None):
        whole.merge(found, tmp_path / "r.json")
        assert (tmp_path / "r.json").read_bytes() == expected
    q.quantize(folder / "float.onnx", tmp_path / "a.onnx", calibrated=states, method="entropy", bins=512)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "one.onnx").read_bytes()
    whole.remove_files()
    assert os.listdir(tmp_path / "s") == []


@pytest.mark.parametrize("options", [{}, {"method": "percentile"}, {"bias_correction": True}], ids=str)
def test_a_calibration_is_kept_as_a_cache(folder, tmp_path, options):
    """Both by the job and by the command line; it is used in place of the samples."""
    pair = files(folder, "float.onnx", "samples.npz")
    whole = distributed.CalibrationJob.of(*pair, shards=3, folder=tmp_path / "s", **options)
    states = [whole.run(index) for index in whole]
    if whole.has_second_round():
        states += [whole.count(index) for index in whole]
    cache = whole.merge_cache(states, tmp_path / "all.qscalib")
    flags = [f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}") for name, value in options.items()]
    line = [q.cli_path(), "quantize", pair[0], "-o", tmp_path / "a.onnx", "--data", pair[1], *flags]
    line += ["--calibration-cache", cache, "--json", "-"]
    assert json.loads(subprocess.run(line, capture_output=True, check=True).stdout)["calibration_cache_used"]
    q.quantize(pair[0], tmp_path / "b.onnx", pair[1], **options)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    with pytest.raises(q.BadUse, match="found again by its samples"):
        q.quantize(pair[0], tmp_path / "c.onnx", calibrated=states, calibration_cache=cache, **options)
    (tmp_path / "notes.txt").write_text("notes")
    with pytest.raises(q.BadInput, match="notes.txt: holds no calibration"):
        whole.merge_cache(states, tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "notes"


def test_calibration_of_random_data(folder, tmp_path):
    data, shape = "random:40:3", {"x": (1, 2, 6, 6)}
    q.quantize(folder / "float.onnx", tmp_path / "q.onnx", data, shape=shape, save_ranges=tmp_path / "one.json")
    whole = distributed.CalibrationJob.of(folder / "float.onnx", data, shards=3, folder=tmp_path / "s", shape=shape)
    whole.merge([whole.run(index) for index in whole], tmp_path / "r.json")
    assert (tmp_path / "r.json").read_bytes() == (tmp_path / "one.json").read_bytes()


def save_png(path, pixels):
    """Eight bits of grey."""

    def piece(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", zlib.compress(rows)) + piece(b"IEND", b"")
    )


def test_calibration_of_pictures(tmp_path):
    """In folders for classes, beside other files."""
    rng = np.random.default_rng(4)
    for index in range(11):
        pixels = rng.integers(0, 40 + 20 * index, (8, 8)).astype(np.uint8)
        save_png(tmp_path / "pictures" / "ab"[index % 2] / f"{index}.PNG", pixels)
    (tmp_path / "pictures" / ".notes.txt").write_text("none")
    model = q.example().float_model
    prepare = {"size": [8, 8], "color": "gray", "scale": 1 / 255, "mean": [0.3], "std": [0.4]}
    for limit in (None, 4):
        options = {"preprocess": prepare, "limit": limit}
        q.quantize(model, tmp_path / "q.onnx", tmp_path / "pictures", save_ranges=tmp_path / "one.json", **options)
        whole = distributed.CalibrationJob.of(model, tmp_path / "pictures", shards=3, folder=tmp_path / "s", **options)
        whole.merge([whole.run(index) for index in whole], tmp_path / "r.json")
        assert (tmp_path / "r.json").read_bytes() == (tmp_path / "one.json").read_bytes()


# A shell that starts the tests in the background has its children ignore SIGINT.
CANCELLED = textwrap.dedent("""
    import signal, sys, quantscope.distributed as d
    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("begin", flush=True)
        try:
            d.compare(*sys.argv[1:3], "random:4000000", shape={"x": (1, 2, 6, 6)}, workers=3, folder=sys.argv[3])
        except KeyboardInterrupt:
            print("interrupted", flush=True)
""")


@pytest.mark.parametrize("to_all", [False, True], ids=["as a notebook does", "as a terminal does"])
def test_interrupting_leaves_nothing(folder, tmp_path, to_all):
    pytest.importorskip("distributed")
    script = tmp_path / "script.py"
    script.write_text(CANCELLED)
    states = tmp_path / "states"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pair = map(str, files(folder, "float.onnx", "quantized.onnx"))
    process = subprocess.Popen(
        [sys.executable, script, *pair, states],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout.readline() == "begin\n"
    try:
        wait_until(lambda: len(running(states)) >= 3)
        if to_all:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.wait(30) == 0
        assert os.listdir(states) == [] and running(states) == []
    finally:
        process.kill()


KILLED = textwrap.dedent("""
    import sys
    from quantscope.distributed import ComparisonJob
    job = ComparisonJob.of(*sys.argv[1:3], "random:4000000", shape={"x": (1, 2, 6, 6)}, shards=2, folder=sys.argv[3])
    job.run(1)
""")


def test_a_program_ends_with_its_worker(folder, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pair = map(str, files(folder, "float.onnx", "quantized.onnx"))
    process = subprocess.Popen([sys.executable, "-c", KILLED, *pair, tmp_path], env=environment)
    wait_until(lambda: running(tmp_path))
    process.kill()
    process.wait()
    wait_until(lambda: not running(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_shard_can_be_stopped(folder, tmp_path):
    pair = files(folder, "float.onnx", "quantized.onnx")
    whole = distributed.ComparisonJob.of(*pair, "random:4000000", shape={"x": (1, 2, 6, 6)}, shards=2, folder=tmp_path)
    stop = threading.Event()

    def check():
        if stop.is_set():
            raise q.Cancelled("enough")

    threading.Timer(0.5, stop.set).start()
    begin = time.monotonic()
    with pytest.raises(q.Cancelled, match="enough"):
        whole.run(1, check)
    assert time.monotonic() - begin < 5 and os.listdir(tmp_path) == []


def test_a_shard_that_costs_all_workers(folder, tmp_path):
    dask = pytest.importorskip("distributed")
    from quantscope.distributed.on_dask import _result

    class Lost:
        def result(self):
            raise dask.scheduler.KilledWorker.__new__(dask.scheduler.KilledWorker)  # arguments vary with versions

    with pytest.raises(q.InternalError, match="shard 2 of 5: each worker that took it was lost"):
        _result(Lost(), 2, job(folder, tmp_path))


def test_without_dask(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install quantscope\[distributed\]"):
        distributed.compare(*files(folder, "float.onnx", "quantized.onnx", "samples.npz"))
