#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random models of one operator each: ours against ONNX Runtime and the reference evaluator of onnx.

    tests/parity/operators.py [--cli build/release/bin/quantscope-cli] [--seed N] [--cases N] [--operator GLOB ...]
    tests/parity/operators.py --seed N --case NUMBER [--keep FOLDER]

Draws operators, opsets, element types, shapes, values and attributes (operator_cases_*.py) until that many cases could be
compared. A case counts when at least one of the other two computes it. Where both do and agree, or only one does, our result
has to be theirs: element type, shape, integers and strings exactly, floats within a few units of what the type can hold.
What differs is no difference when the reference evaluator, given the same numbers as float64, is nearer to ours than to theirs,
or when KNOWN says what they get wrong; both are counted by reason. Where the other two disagree with each other the case is
listed by kind with whom we agree with and what KNOWN says of the other; without a reason it counts as a difference. What we
refuse is listed with our reason, and what all refuse is not counted.

Exits with 1 when a result differs. A case depends on seed and number alone: each line names them, and --case runs one again and
prints the values; --keep leaves its files as an ONNX backend test. On its first use it makes a virtual environment in
build/parity-venv.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import environment

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ["numpy", "onnx", "onnxruntime", "ml_dtypes"]

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto as T
    from onnx import helper
    from onnx.reference import ReferenceEvaluator
    import operator_cases_decoding  # noqa: F401  (they fill CASES)
    import operator_cases_elements  # noqa: F401
    import operator_cases_learning  # noqa: F401
    import operator_cases_movement  # noqa: F401
    import operator_cases_runtime  # noqa: F401
    import operator_cases_windows  # noqa: F401
    from operator_draw import CASES, FLOAT4, FLOAT8, FLOATS, PACKED, Draw, to_tensor
except ImportError:
    environment.run_again(__file__, PACKAGES)

CHUNK = 250
MAX_OPSET = {"": min(onnx.defs.onnx_opset_version(), 27), "ai.onnx.ml": 5, "com.microsoft": 1}
REFERENCE_ALONE = "reference"
RUNTIME_ALONE = "ONNX Runtime"
BOTH = "both"
# What one of the others gets wrong: who, operator, part of the difference or of what the case is about, reason.
KNOWN = [
    (REFERENCE_ALONE, "AffineGrid", "is bfloat16", "the result has the input's type"),
    (REFERENCE_ALONE, "AffineGrid", "is float64", "the result has the input's type"),
    (REFERENCE_ALONE, "AffineGrid", "is float16", "the result has the input's type"),
    (REFERENCE_ALONE, "Det", "is bfloat16", "the result has the input's type"),
    (REFERENCE_ALONE, "Reduce*", "int32, not int64", "sums of a scalar keep its type"),
    (REFERENCE_ALONE, "Reduce*", "uint32, not uint64", "sums of a scalar keep its type"),
    (REFERENCE_ALONE, "Cast*", "to=24", "float8e8m0 has no negative numbers"),
    (REFERENCE_ALONE, "Cast*", "e8m0", "NaN as an integer is anything"),
    (REFERENCE_ALONE, "Cast*", "to=8", "how many digits a float has is not said"),
    (REFERENCE_ALONE, "Gemm", "opset 6", "alpha and beta are left out"),
    (REFERENCE_ALONE, "GlobalMaxPool", "shape", "with one axis the channels go lost"),
    (REFERENCE_ALONE, "Erf", "int", "what rounds to 1 in float32 counts as 1"),
    (REFERENCE_ALONE, "GlobalAveragePool", "bfloat16", "it computes in bfloat16"),
    (REFERENCE_ALONE, "GroupNormalization", "bfloat16", "it computes in bfloat16"),
    (REFERENCE_ALONE, "LpNormalization", "bfloat16", "it computes in bfloat16"),
    (REFERENCE_ALONE, "LSTM", "input_forget", "gates are not coupled"),
    (REFERENCE_ALONE, "LpPool", "dilations", "dilations are left out"),
    (REFERENCE_ALONE, "MaxPool", "shape", "pads of three axes are mixed up"),
    (REFERENCE_ALONE, "ReduceSum", "bfloat16", "it sums in bfloat16"),
    (REFERENCE_ALONE, "Shape", "end=-", "an end before the first axis counts from the last"),
    (REFERENCE_ALONE, "Resize", "int", "integers are rounded; ONNX Runtime cuts them off"),
    (REFERENCE_ALONE, "GRU", "int32[", "lengths of sequences are not looked at"),
    (REFERENCE_ALONE, "LSTM", "int32[", "lengths of sequences are not looked at"),
    (REFERENCE_ALONE, "RNN", "int32[", "lengths of sequences are not looked at"),
    (REFERENCE_ALONE, "LSTM", "layout=1", "the states' axes are not swapped"),
    (REFERENCE_ALONE, "*", "clip=", "sums are not clipped"),
    (REFERENCE_ALONE, "GridSample", "bfloat16", "places are computed in bfloat16"),
    (REFERENCE_ALONE, "GridSample", "float16", "places are computed in float16"),
    (REFERENCE_ALONE, "GridSample", "cubic", "pixels outside are taken otherwise than ONNX Runtime does at older opsets"),
    (REFERENCE_ALONE, "H*Window", "output_datatype=10", "it computes in float16"),
    (REFERENCE_ALONE, "BlackmanWindow", "output_datatype=10", "it computes in float16"),
    (REFERENCE_ALONE, "LRN", "values", "the window is one too small at one end"),
    (REFERENCE_ALONE, "Loop", "shape", "scan outputs are joined along their first axis, not stacked"),
    (REFERENCE_ALONE, "QLinearConv", "shape", "only two axes are right"),
    (REFERENCE_ALONE, "Softmax", "opset 1", "rows before opset 13 are those after flattening"),
    (REFERENCE_ALONE, "LogSoftmax", "opset 1", "rows before opset 13 are those after flattening"),
    (REFERENCE_ALONE, "LogSoftmax", "not -inf", "probabilities that round to 0 have no logarithm"),
    (REFERENCE_ALONE, "Hardmax", "opset 1", "rows before opset 13 are those after flattening"),
    (REFERENCE_ALONE, "StringNormalizer", "", "accents are taken off, empty texts dropped"),
    (REFERENCE_ALONE, "Unique", "sorted=0", "slices are sorted all the same"),
    (REFERENCE_ALONE, "Range", "float16", "steps are added one by one"),
    (REFERENCE_ALONE, "ai.onnx.ml:TreeEnsembleRegressor", "is float32, not float64", "the standard says float"),
    (REFERENCE_ALONE, "ai.onnx.ml:TreeEnsemble*", "e+38", "a target without a vote is left at the start value"),
    (REFERENCE_ALONE, "ai.onnx.ml:TreeEnsemble*", "e+308", "a target without a vote is left at the start value"),
    (REFERENCE_ALONE, "ai.onnx.ml:TreeEnsemble", "post_transform", "scores are not transformed"),
    (REFERENCE_ALONE, "ai.onnx.ml:TreeEnsembleClassifier", "opset 5", "one class stands for both otherwise than in ONNX Runtime"),
    (REFERENCE_ALONE, "Attention", "softcap=", "the products of qk_matmul_output_mode 0 are capped"),
    (REFERENCE_ALONE, "AffineGrid", "type float32", "the result has the input's type"),
    (REFERENCE_ALONE, "LpPool", "ceil_mode=1", "windows that reach outside are scaled up"),
    (REFERENCE_ALONE, "NegativeLogLikelihoodLoss", "ignore_index", "what is ignored counts in the mean"),
    (REFERENCE_ALONE, "Resize", "tf_crop_and_resize", "the length of the result is not rounded"),
    (REFERENCE_ALONE, "Hardmax", "with NaN", "NaN counts as the largest"),
    (REFERENCE_ALONE, "Arg*", "with NaN", "NaN counts as the largest"),
    (REFERENCE_ALONE, "Pad", "float8_e8m0", "float8e8m0 has no zero"),
    (REFERENCE_ALONE, "InstanceNormalization", "bfloat16", "it computes in bfloat16"),
    (REFERENCE_ALONE, "AveragePool", "auto_pad=SAME", "windows of SAME sizes leave dilations out"),
    (REFERENCE_ALONE, "LpPool", "auto_pad=SAME", "windows of SAME sizes leave dilations out"),
    (REFERENCE_ALONE, "AveragePool", "dilations", "dilations and pads of three axes are mixed up"),
    (REFERENCE_ALONE, "BatchNormalization", "values", "before opset 14 it takes mean and variance from the data"),
    (REFERENCE_ALONE, "CastLike", "other strings", "how many digits a number has is not said"),
    (REFERENCE_ALONE, "ConvTranspose", "group=", "channels of groups are mixed up"),
    (REFERENCE_ALONE, "Dropout", "type", "the mask has the input's type before opset 10"),
    (REFERENCE_ALONE, "LayerNormalization", "type", "stash_type says float"),
    (REFERENCE_ALONE, "LayerNormalization", "is float32, not", "stash_type says float"),
    (REFERENCE_ALONE, "MeanVarianceNormalization", "values", "E(x^2) - E(x)^2 loses small variances"),
    (REFERENCE_ALONE, "QLinearConv", "values", "only two axes are right"),
    (REFERENCE_ALONE, "ReduceSumSquare", "type", "sums of integers keep their type"),
    (REFERENCE_ALONE, "Resize", "align_corners", "the length of the result is not rounded"),
    (REFERENCE_ALONE, "Resize", "mode=nearest", "a place halfway between two pixels falls to the other one by a rounding"),
    (REFERENCE_ALONE, "RoiAlign", "opset 1", "before opset 16 places are not moved by half a pixel"),
    (REFERENCE_ALONE, "Slice", "shape", "backwards a start before the first element is that one"),
    (REFERENCE_ALONE, "ai.onnx.ml:FeatureVectorizer", "type", "the standard says float"),
    (REFERENCE_ALONE, "ai.onnx.ml:Linear*", "type", "the standard says float"),
    (REFERENCE_ALONE, "ai.onnx.ml:LinearRegressor", "is nan", "without intercepts all is NaN"),
    (REFERENCE_ALONE, "ai.onnx.ml:Normalizer", "type", "the standard says float"),
    (REFERENCE_ALONE, "ai.onnx.ml:Normalizer", "norm=MAX", "the standard says the largest number, not the largest magnitude"),
    (REFERENCE_ALONE, "ai.onnx.ml:OneHotEncoder", "values", "numbers between two categories fit none; ONNX Runtime cuts them off"),
    (REFERENCE_ALONE, "ai.onnx.ml:SVMClassifier", "type", "the standard says float"),
    (REFERENCE_ALONE, "ai.onnx.ml:SVMClassifier", "values", "scores of several classes are joined otherwise than in libsvm"),
    (REFERENCE_ALONE, "ai.onnx.ml:Scaler", "type", "the standard says float"),
    (REFERENCE_ALONE, "ai.onnx.ml:TreeEnsemble*", "with NaN", "nodes_missing_value_tracks_true is left out"),
    (REFERENCE_ALONE, "ai.onnx.ml:TreeEnsembleClassifier", "values", "one class stands for both otherwise than in ONNX Runtime"),
    (REFERENCE_ALONE, "ai.onnx.ml:TreeEnsembleRegressor", "type", "the standard says float"),
    (RUNTIME_ALONE, "Attention", "qk_matmul_output_mode", "what is masked out is the lowest float, not -infinity"),
    (RUNTIME_ALONE, "Attention", "is_causal=1", "the causal mask lies at the lower right corner; the standard says upper left"),
    (RUNTIME_ALONE, "Cast*", "other strings", "how many digits a number has is not said"),
    (RUNTIME_ALONE, "Cast*", "to=25", "fractions are rounded; the standard cuts them off"),
    (RUNTIME_ALONE, "Cast*", "to=26", "fractions are rounded; the standard cuts them off"),
    (RUNTIME_ALONE, "Dropout", "output 1", "what the mask is in inference is not said; here all is kept"),
    (RUNTIME_ALONE, "MaxPool", "shape", "dilations are left out of SAME sizes"),
    (RUNTIME_ALONE, "Reduce*", "with NaN", "NaN is passed over"),
    (RUNTIME_ALONE, "Resize", "int", "sums a rounding below an integer are cut off to the one before"),
    (RUNTIME_ALONE, "Sign", "with NaN", "the sign of NaN is NaN"),
    (RUNTIME_ALONE, "StringSplit", "values", "an empty text has no part"),
    (RUNTIME_ALONE, "TfIdfVectorizer", "max_skip_count", "single words count once for each distance"),
    (RUNTIME_ALONE, "ai.onnx.ml:TreeEnsemble", "post_transform=", "numbers of SOFTMAX and LOGISTIC are exchanged"),
    (RUNTIME_ALONE, "ai.onnx.ml:TreeEnsembleRegressor", "base_values", "a target without a vote does not get its base value"),
    (RUNTIME_ALONE, "LpPool", "shape", "dilations are left out of SAME sizes"),
    (RUNTIME_ALONE, "AveragePool", "shape", "dilations are left out of SAME sizes"),
    (RUNTIME_ALONE, "ReduceLogSumExp", "int", "integers are rounded on the way"),
    (RUNTIME_ALONE, "StringSplit", "shape", "an empty text has no part"),
    (RUNTIME_ALONE, "NonZero", "shape", "the standard says 0 x N for a scalar"),
]
EXACT_BITS = (*FLOAT8, *FLOAT4)
RELATIVE = {"float32": 2e-5, "float64": 1e-6, "float16": 4e-3, "bfloat16": 3e-2}
# Long sums, or steps that make small differences larger (FusedConv: a Clip leaves small numbers of large sums): limits that
# many times wider.
WIDER = {"Det": 20, "DFT": 10, "STFT": 10, "Attention": 4, "RNN": 4, "GRU": 4, "LSTM": 4, "GridSample": 5, "DeformConv": 5, "FusedConv": 4, "Inverse": 100, "Pow": 2, "Resize": 20}
# Sizes of the terms that cancel, where results may be far smaller: limits are no less than for such a result.
TERMS = {"HannWindow": 0.5, "HammingWindow": 0.5, "BlackmanWindow": 0.5}


class Drawn:
    """A case and what others say of it."""

    def __init__(self, number, domain, op):
        self.number, self.domain, self.op = number, domain, op
        self.label = f"{domain + ':' if domain else ''}{op}"
        self.problem = None  # why no model could be drawn
        self.theirs, self.reference = None, None  # outputs, or the reason for none
        self.model = self.feeds = None

    @property
    def answers(self):
        return [a for a in (self.theirs, self.reference) if isinstance(a, list)]

    @functools.cached_property
    def apart(self):
        """How the others differ from each other."""
        return differences(self.reference, self.theirs, self.op) if len(self.answers) == 2 else ""

    @functools.cached_property
    def precise(self):
        """What the reference makes of the same numbers as float64; None where it cannot."""
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return tidy(run_reference(*widened(self.model, self.feeds)))
        except Exception:
            return None

    def nearer(self, values):
        """Whether each of our floats is as near to the precise ones as those of the others, up to a rounding of its type."""
        if not isinstance(self.precise, list):
            return False
        floats = [(v, w, p) for v, w, p in zip(values, self.expected(), self.precise) if v is not None and is_float(w)]
        return bool(floats) and all(is_nearer(v, w, p) for v, w, p in floats)

    def about_numbers(self):
        """What of the numbers matters to results: NaN, infinity, very large ones."""
        flat = np.concatenate([np.zeros(0), *(a.astype(np.float64).reshape(-1) for a, _ in self.stored if is_float(a))])
        found = {"NaN": np.isnan(flat).any(), "infinity": np.isinf(flat).any(), "1e30": (np.abs(flat[np.isfinite(flat)]) > 1e29).any()}
        return "".join(f", with {name}" for name, there in found.items() if there)

    def expected(self, which=None):
        return self.reference if which == REFERENCE_ALONE else self.answers[0]


def operators(patterns):
    """(domain, operator) in a fixed order, so that numbers mean the same cases with and without --operator."""
    everything = sorted(CASES)
    return everything, [k for k in everything if not patterns or any(
        fnmatch.fnmatch(k[1], p) or fnmatch.fnmatch(f"{k[0]}:{k[1]}", p) for p in patterns)]


def draw(seed, number):
    everything, _ = operators(None)
    domain, op = everything[number % len(everything)]
    case = Drawn(number, domain, op)
    try:
        d = Draw(seed, number, domain, op, MAX_OPSET[domain])
        CASES[domain, op](d)
        case.model, case.feeds = d.model()
        case.stored = list(d.stored.values())
        case.about = f"opset {d.opset}, " + ", ".join(
            f"{a.dtype}{list(a.shape)}{'' if n in case.feeds else '*'}" for n, (a, _) in d.stored.items())
        case.about += case.about_numbers()
        case.about += "".join(f", {k}={v if not isinstance(v, (onnx.GraphProto, onnx.TensorProto)) else '..'}" for k, v in d.attributes.items())
    except Exception as e:  # a combination that the choices do not allow
        case.problem = f"{type(e).__name__}: {e}"
    return case


def session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


SMALL = {"tensor(bfloat16)": T.BFLOAT16, **{f"tensor({T.DataType.Name(t).lower()})": t for t in (*FLOAT8, *PACKED, *FLOAT4)}}


def run_theirs(model, feeds):
    """ONNX Runtime, where element types that numpy lacks go in as initializers and come out cast."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    feeds = dict(feeds)
    for info in list(copy.graph.input):
        if info.type.tensor_type.elem_type in SMALL.values():
            copy.graph.input.remove(info)
            copy.graph.initializer.append(to_tensor(feeds.pop(info.name), info.name))
    s = session(copy)
    small = {o.name: SMALL[o.type] for o in s.get_outputs() if o.type in SMALL}
    if small:
        for info in copy.graph.output:
            if info.name in small:
                kind = small[info.name]
                goal = T.INT8 if kind in PACKED else T.FLOAT
                copy.graph.node.append(helper.make_node("Cast", [info.name], [info.name + "_cast"], to=goal))
                info.name += "_cast"
        s = session(copy)
    outputs = []
    for info, value in zip(model.graph.output, s.run(None, feeds)):
        kind = small.get(info.name)
        outputs.append(value.astype(helper.tensor_dtype_to_np_dtype(kind)) if kind else value)
    return outputs


def widened(model, feeds):
    """The model with all its floats as float64."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        if tensor.data_type in FLOATS:
            tensor.CopyFrom(to_tensor(onnx.numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for info in copy.graph.input:
        if info.type.tensor_type.elem_type in FLOATS:
            info.type.tensor_type.elem_type = T.DOUBLE
    return copy, {k: v.astype(np.float64) if is_float(v) else v for k, v in feeds.items()}


def is_nearer(ours, theirs, precise):
    if not ours.shape == theirs.shape == precise.shape:
        return False
    kind = theirs.dtype
    a, b, p = (v.astype(np.float64).reshape(-1) for v in (ours.astype(kind), theirs, precise))
    with np.errstate(all="ignore"):
        rounded = precise.astype(kind).astype(np.float64).reshape(-1)
        same = (a == rounded) | (np.isnan(a) & np.isnan(p))
        return bool((same | (np.abs(a - p) <= np.abs(b - p)) | (np.isinf(b) & ~np.isinf(p))).all())


def run_reference(model, feeds):
    return [np.asarray(v) for v in ReferenceEvaluator(model).run(None, feeds)]


def tidy(outputs):
    if any(not isinstance(v, np.ndarray) for v in outputs):
        return "a result that is no tensor"
    outputs = [v.astype(object) if v.dtype.kind in "US" else v for v in outputs]
    if any(v.dtype == object and not all(isinstance(w, str) for w in v.reshape(-1)) for v in outputs):
        return "a result of mixed types"
    return outputs


def ask(task):
    """Both answers of a drawn case; runs in a process of its own."""
    seed, number, which = task
    case = draw(seed, number)
    if case.problem:
        return case
    warnings.simplefilter("ignore")
    with np.errstate(all="ignore"):
        for name, run in (("theirs", run_theirs), ("reference", run_reference)):
            if name == "theirs" and not which or name == "reference" and case.domain == "com.microsoft":
                setattr(case, name, "not asked")
                continue
            try:
                setattr(case, name, tidy(run(case.model, case.feeds)))
            except Exception as e:
                setattr(case, name, f"{type(e).__name__}: {str(e).splitlines()[0][:150] if str(e) else ''}")
    return case


def ask_all(seed, numbers):
    """In processes, which a crash may end: then one by one, and who crashes is not asked."""
    try:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            return list(pool.map(ask, [(seed, n, True) for n in numbers], chunksize=16))
    except concurrent.futures.process.BrokenProcessPool:
        cases = []
        for n in numbers:
            try:
                with concurrent.futures.ProcessPoolExecutor(1) as pool:
                    cases.append(pool.submit(ask, (seed, n, True)).result())
            except concurrent.futures.process.BrokenProcessPool:
                cases.append(ask((seed, n, False)))
                cases[-1].theirs = "it crashed"
        return cases


def codes_may_tie(op):
    return op.startswith(("QLinear", "Quantize", "DynamicQuantize", "QGemm", "QAttention", "GroupQueryAttention"))


def difference(got, wanted, op):
    """How two outputs differ, or an empty text."""
    if got.dtype != wanted.dtype:
        return f"type {got.dtype}, not {wanted.dtype}"
    if got.shape != wanted.shape:
        return f"shape {list(got.shape)}, not {list(wanted.shape)}"
    if wanted.dtype == object:
        return "" if list(got.reshape(-1)) == list(wanted.reshape(-1)) else "other strings"
    if wanted.dtype.kind in "iub" or "int" in wanted.dtype.name:
        a, b = got.astype(np.int64).reshape(-1), wanted.astype(np.int64).reshape(-1)
        off = np.abs(a - b)
        if codes_may_tie(op) and off.size and off.max() <= 1 and (off > 0).mean() <= max(0.02, 1.01 / off.size):
            return ""
        return "" if not off.any() else f"values, first {a[off > 0][0]}, not {b[off > 0][0]}"
    limit = RELATIVE.get(wanted.dtype.name, 0) * WIDER.get(op, 1)
    a, b = got.astype(np.float64).reshape(-1), wanted.astype(np.float64).reshape(-1)
    with np.errstate(all="ignore"):
        finite = np.isfinite(b)
        scale = max(np.abs(b[finite]).max() if finite.any() else 0, TERMS.get(op, 0))
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= limit * np.abs(b) + limit * 0.2 * scale + 1e-30 * bool(limit))
        same &= finite | (a == b) | np.isnan(b)
    if same.all():
        return ""
    i = int(np.argmin(same))
    return f"values, element {i} is {a[i]:.9g}, not {b[i]:.9g} ({int((~same).sum())} of {same.size})"


def differences(got, wanted, op):
    if len(got) != len(wanted):
        return f"{len(got)} outputs, not {len(wanted)}"
    texts = [difference(g, w, op) for g, w in zip(got, wanted)]
    return next((f"output {i}: {t}" for i, t in enumerate(texts) if t), "")


def write_case(case, folder, which=None):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(case.model, folder / "model.onnx")
    for k, info in enumerate(case.model.graph.input):
        (data / f"input_{k}.pb").write_bytes(to_tensor(case.feeds[info.name], info.name).SerializeToString())
    for k, (info, value) in enumerate(zip(case.model.graph.output, case.expected(which))):
        (data / f"output_{k}.pb").write_bytes(to_tensor(value, info.name).SerializeToString())


class Ours:
    """The command line as the engine under test."""

    def __init__(self, cli):
        self.cli = cli

    def conformance(self, cases, folder, which=None):
        """Status and reason by number. When the program itself fails, one by one."""
        for case in cases:
            write_case(case, folder / f"{case.number:06d}", which)
        done = subprocess.run([self.cli, "conformance", folder, "--json", folder / "out.json"], capture_output=True, text=True)
        if done.returncode == 0:
            tests = json.loads((folder / "out.json").read_text())["tests"]
            return {int(t["name"]): (t["status"], t["reason"]) for t in tests}
        if len(cases) == 1:
            return {cases[0].number: ("failed", f"the program ended with {done.returncode}: {done.stderr.strip()[-200:]}")}
        result = {}
        for case in cases:
            with tempfile.TemporaryDirectory() as one:
                result.update(self.conformance([case], pathlib.Path(one), which))
        return result

    def values(self, cases):
        """All float outputs, by number, of cases that run: one process for those of one opset."""
        groups = collections.defaultdict(list)
        for case in cases:
            nested = any(a.type == onnx.AttributeProto.GRAPH for n in case.model.graph.node for a in n.attribute)
            if not nested and any(is_float(v) for v in case.expected()):
                groups[tuple((i.domain, i.version) for i in case.model.opset_import)].append(case)
        result = {}
        for group in groups.values():
            result.update(self.merged(group))
        return result

    def merged(self, cases):
        model, feeds = onnx.ModelProto(), []
        model.CopyFrom(cases[0].model)
        model.ir_version = max(c.model.ir_version for c in cases)
        for field in ("node", "input", "output", "initializer"):
            model.graph.ClearField(field)
        for case in cases:
            part = onnx.ModelProto()
            part.CopyFrom(case.model)
            rename(part.graph, f"c{case.number}_")
            for field in ("node", "input", "output", "initializer"):
                getattr(model.graph, field).extend(getattr(part.graph, field))
            feeds += [to_tensor(case.feeds[i.name], i.name) for i in case.model.graph.input]
        with tempfile.TemporaryDirectory() as name:
            top = pathlib.Path(name)
            (top / "data" / "test_data_set_0").mkdir(parents=True)
            onnx.save(model, top / "model.onnx")
            for k, tensor in enumerate(feeds):
                (top / "data" / "test_data_set_0" / f"input_{k}.pb").write_bytes(tensor.SerializeToString())
            data = ["--data", top / "data"] if feeds else ["--data", "random:1"]
            names = [f"c{c.number}_{o.name}" for c in cases for o, v in zip(c.model.graph.output, c.expected()) if is_float(v)]
            done = subprocess.run([self.cli, "run", top / "model.onnx", *data, "--out", top / "out.npz", "--quiet",
                                   "--tensors", ",".join(names)], capture_output=True, text=True)
            if done.returncode == 0:
                with np.load(top / "out.npz") as z:
                    arrays = {k: z[k] for k in z.files}
                return {c.number: [arrays[f"c{c.number}_{o.name}"][0] if f"c{c.number}_{o.name}" in arrays else None
                                   for o in c.model.graph.output] for c in cases}
        if len(cases) == 1:
            return {cases[0].number: done.stderr.strip()}
        half = len(cases) // 2
        return {**self.merged(cases[:half]), **self.merged(cases[half:])}


def rename(graph, prefix):
    for item in (*graph.input, *graph.output, *graph.initializer):
        item.name = prefix + item.name
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [prefix + n if n else "" for n in names]


def is_float(array):
    return array.dtype.kind == "f" or array.dtype.name in ("bfloat16",)


def known(who, case, text):
    """Why `who` is wrong, or None."""
    return next((reason for one, pattern, part, reason in KNOWN
                 if one == who and fnmatch.fnmatch(case.label, pattern) and (part in text or part in case.about)), None)


class Tally:
    def __init__(self, seed):
        self.seed = seed
        self.compared = collections.Counter()
        self.lines = collections.defaultdict(list)
        self.refused = collections.defaultdict(list)
        self.undecided = collections.defaultdict(list)
        self.undrawn = collections.Counter()
        self.unanswered = collections.Counter()
        self.known = collections.Counter()

    def difference(self, case, text, values=None):
        who = BOTH if len(case.answers) == 2 else RUNTIME_ALONE if isinstance(case.theirs, list) else REFERENCE_ALONE
        reason = known(who, case, text)
        if not reason and isinstance(values, list) and text.startswith("values") and case.nearer(values):
            reason = "nearer to the result in float64"
        if reason:
            self.known[f"{case.op}, {who}{'' if who == BOTH else ' alone'}: {reason}"] += 1
            return
        self.lines[case.label].append(f"--seed {self.seed} --case {case.number}: {text} [{who}] ({case.about})")

    def add(self, case, outcome, values, second):
        """`second`: the outcome against the reference alone where the others disagree, or may by a step of a code."""
        status, reason = outcome
        if status == "skipped" and "random" not in reason:
            self.refused[case.label, reason.split(": ", 1)[-1][:160]].append(case.number)
            return
        self.compared[case.label] += 1
        if case.apart:
            self.disagreement(case, self.side(case, outcome, values, second), values)
            return
        if second and second[0] == "passed":
            return
        if status == "failed" and not isinstance(values, list):
            self.difference(case, reason)
        elif isinstance(values, list):
            pairs = [(v, w) for v, w in zip(values, case.expected()) if v is not None and is_float(w)]
            text = next((t for t in (difference(v.astype(w.dtype), w, case.op) for v, w in pairs) if t), "")
            other = status == "failed" and not self.only_floats(reason)
            if text or other:
                self.difference(case, reason if other else text, values)

    def disagreement(self, case, side, values):
        """The others differ from each other: whom we are not with has to be known to be wrong."""
        wrong = [who for who, name in ((RUNTIME_ALONE, "ONNX Runtime"), (REFERENCE_ALONE, "the reference")) if side != name]
        reasons = [known(who, case, case.apart) for who in wrong]
        if None in reasons and isinstance(values, list) and case.nearer(values):
            reasons = ["nearer to the result in float64"]
        kind = " ".join(case.apart.split()[2:3]).rstrip(",")
        self.undecided[case.label, kind].append((case.number, case.apart, side, None not in reasons and "; ".join(reasons)))
        if None in reasons:
            self.lines[case.label].append(f"--seed {self.seed} --case {case.number}: the reference's {case.apart}; we are with "
                                          f"{side.split(':')[0]}, without a reason ({case.about})")

    @staticmethod
    def only_floats(reason):
        """Whether a failed comparison was one of floats, which is decided by the tolerances here."""
        return "element" in reason and ("." in reason.split("element", 1)[1] or "nan" in reason or "inf" in reason)

    @staticmethod
    def side(case, outcome, values, second):
        if outcome[0] == "passed":
            return "ONNX Runtime"
        if second[0] == "passed":
            return "the reference"
        if isinstance(values, list) and " type " not in case.apart:
            for name, answer in (("ONNX Runtime", case.theirs), ("the reference", case.reference)):
                if all(v is None or not difference(v.astype(w.dtype), w, case.op) for v, w in zip(values, answer)):
                    return name
        return "neither: " + outcome[1]

    def report(self):
        for label in sorted(self.lines):
            print(f"\n{label}: {len(self.lines[label])} of {self.compared[label]} differ")
            for line in self.lines[label][:6]:
                print("   ", line)
        if self.refused:
            print("\nrefused by us, computed by others:")
            for (label, reason), numbers in sorted(self.refused.items()):
                print(f"    {label} ({len(numbers)}, as --case {numbers[0]}): {reason}")
        if self.undecided:
            print("\nONNX Runtime and the reference disagree:")
            for (label, kind), entries in sorted(self.undecided.items()):
                sides = collections.Counter(side.split(":")[0] for _, _, side, _ in entries)
                number, apart, _, _ = next((e for e in entries if e[2].startswith("neither")), entries[0])
                print(f"    {label}, {kind} ({len(entries)}): as --case {number}, reference {apart}; "
                      f"we are with {', '.join(f'{s} ({n})' for s, n in sides.items())}")
                for reason in sorted({r for *_, r in entries if r}):
                    print(f"        {reason}")
        for reason, count in self.known.items():
            print(f"meant ({count}): {reason}")
        if self.undrawn:
            print("\nnot drawn:", dict(self.undrawn.most_common(12)))
        if self.unanswered:
            print("\nnobody else computes:", dict(self.unanswered.most_common(40)))


def run_chunk(seed, numbers, ours, tally):
    drawn = ask_all(seed, numbers)
    cases = []
    for case in drawn:
        if case.problem:
            tally.undrawn[f"{case.label}: {case.problem}"[:120]] += 1
        elif not case.answers:
            tally.unanswered[case.label] += 1
        else:
            cases.append(case)
    with tempfile.TemporaryDirectory() as folder:
        outcome = ours.conformance(cases, pathlib.Path(folder))
    ties = [c for c in cases if codes_may_tie(c.op) and len(c.answers) == 2 and outcome[c.number][0] == "failed"]
    apart = [c for c in cases if c.apart or c in ties]
    with tempfile.TemporaryDirectory() as folder:
        second = ours.conformance(apart, pathlib.Path(folder), REFERENCE_ALONE) if apart else {}
    wanted = [c for c in cases if outcome[c.number][0] != "skipped"
              and (outcome[c.number][0] == "failed" or any(is_float(v) for v in c.expected()))]
    values = ours.values(wanted)
    for case in cases:
        tally.add(case, outcome[case.number], values.get(case.number), second.get(case.number))


def show(case, ours, keep):
    print(f"{case.label}: {case.problem or case.about}")
    if case.problem:
        return
    print(onnx.printer.to_text(case.model))
    for name, feed in case.feeds.items():
        print(f"{name} =\n{feed}")
    for name, answer in (("ONNX Runtime", case.theirs), ("reference", case.reference)):
        print(f"\n{name}:", *(answer if isinstance(answer, list) else [answer]), sep="\n")
    if not case.answers:
        return
    with tempfile.TemporaryDirectory() as folder:
        print("\nours:", ours.conformance([case], pathlib.Path(folder))[case.number])
    values = ours.values([case]).get(case.number)
    print(*(values if isinstance(values, list) else [values]), sep="\n")
    if keep:
        write_case(case, pathlib.Path(keep))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=str(ROOT / "build/release/bin/quantscope-cli"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=6000, help="how many to compare")
    parser.add_argument("--operator", action="append", metavar="GLOB", help="only these, e.g. Conv, 'Reduce*', 'ai.onnx.ml:*'")
    parser.add_argument("--case", type=int, help="one case again, with its values")
    parser.add_argument("--keep", help="with --case: a new folder for its files")
    args = parser.parse_args()
    ours = Ours(args.cli)
    if args.case is not None:
        show(ask_all(args.seed, [args.case])[0], ours, args.keep)
        return 0
    everything, chosen = operators(args.operator)
    places = {everything.index(k) for k in chosen}
    if not places:
        sys.exit("no operator of that name is drawn")
    print(f"seed {args.seed}: {len(chosen)} operators, onnx {onnx.__version__}, onnxruntime {ort.__version__}")
    tally = Tally(args.seed)
    numbers = (n for n in range(10**9) if n % len(everything) in places)
    for _ in range(0, 4 * args.cases + CHUNK, CHUNK):
        if sum(tally.compared.values()) >= args.cases:
            break
        run_chunk(args.seed, [next(numbers) for _ in range(CHUNK)], ours, tally)
        print(f"\r{sum(tally.compared.values())} compared, {sum(map(len, tally.lines.values()))} differ", end="",
              file=sys.stderr, flush=True)
    print(file=sys.stderr)
    tally.report()
    wrong = sum(map(len, tally.lines.values()))
    print(f"\nseed {args.seed}: {sum(tally.compared.values())} cases of {len(tally.compared)} operators compared, {wrong} differ, "
          f"{sum(map(len, tally.undecided.values()))} where the others disagree, {sum(map(len, tally.refused.values()))} refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
