#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares `quantscope-cli quantize` with onnxruntime.quantization: the same model, options and ranges given to both,
then every node, name, scale, zero point and code of the two files is compared in every bit, and both files are run in
ONNX Runtime on a few samples, whose outputs must be equal in every bit, too.

    quantizer.py [--cli PATH] [--only SUBSTRING] [--net SUBSTRING] [--no-run] [--verbose] [MODEL.onnx ...]

Needs a Python with onnx, onnxruntime 1.31 or 1.32 and numpy; the recipes ask for the rules of that version, which
differ for small scales and biases of float16 and for the Gemm of dynamic files. The nets of quantizer_nets.py are always used, those of
quantizer_torch_nets.py where torch is installed; models given as
arguments are added (dynamic sizes: NAME.onnx:2x3x4,...). Prints a matrix of option sets by nets; exit 1 when one
differs without being listed in KNOWN.
"""
import argparse
import contextlib
import io
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime
from onnx import numpy_helper

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
from onnxruntime.quantization import (  # noqa: E402
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.execution_providers.qnn.mixed_precision_overrides_utils import (  # noqa: E402
    MixedPrecisionTensorQuantOverridesFixer,
)
from onnxruntime.quantization.tensor_quant_overrides import TensorQuantOverridesHelper  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import weight_only  # noqa: E402
from quantizer_cases import CASES  # noqa: E402
import body_nets  # noqa: E402
from quantizer_nets import NETS  # noqa: E402
from quantizer_torch_nets import TORCH_NETS  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = ".".join(onnxruntime.__version__.split(".")[:2])
TYPES = {"int8": QuantType.QInt8, "uint8": QuantType.QUInt8, "int16": QuantType.QInt16, "uint16": QuantType.QUInt16,
         "int4": QuantType.QInt4, "uint4": QuantType.QUInt4, "float8e4m3fn": QuantType.QFLOAT8E4M3FN}


# Differences that are meant, by (part of the option set's name, net).
KNOWN = {
    ("restricted asymmetric", "half"): "ONNX Runtime gives float16 tensors float32 scales, which no runtime accepts",
    ("restricted asymmetric", "half-matmul"): "ONNX Runtime gives float16 tensors float32 scales, which no runtime accepts",
    ("restricted asymmetric", "half-small"): "ONNX Runtime gives float16 tensors float32 scales, which no runtime accepts",
    ("override act scale", "half-small"): "ONNX Runtime gives float16 tensors float32 scales, which no runtime accepts",
    ("restricted asymmetric", "torch-half"): "ONNX Runtime gives float16 tensors float32 scales, which no runtime accepts",
    **{(" " + algorithm, "with Constant nodes"): "ONNX Runtime's RTN, k-quant and GPTQ lose Constant nodes: no valid file"
       for algorithm in ("rtn", "k-quant", "gptq")},
    **{(" " + algorithm, "bodies"): "ONNX Runtime's RTN, k-quant and GPTQ drop a weight that subgraphs read: no valid file"
       for algorithm in ("rtn", "k-quant", "gptq")},
    **{("weight-only 4 pairs", net): "ONNX Runtime writes the new opset's number without converting the nodes"
       for net in ("with ReduceMean", "silero_vad_float_if")},
    **{("weight-only 4 pairs", net): "ONNX Runtime writes the DequantizeLinear of a shared weight twice: no valid file"
       for net in ("nbits", "bodies")},
    **{(" " + algorithm, "nbits"): "ONNX Runtime keeps the float weight that two nodes shared, which nobody reads"
       for algorithm in ("rtn", "k-quant", "gptq")},
    **{("weight-only 2 hqq", net): "PyTorch's vectorized power is off in the last bit now and then; it counts where errors "
                                   "exceed 0.17" for net in ("nbits", "blocks_even", "tables")},
    **{("override complete", net): "ONNX Runtime completes overrides of constants in Constant nodes as if they were activations"
       for net in ("torch-speech", "ppocr_v4_ch_PP-OCRv4_det_infer")},
    **{(case, "silero_vad_float_if"): "axes that become an input at opset 18 in bodies: ONNX's converter makes up Constants"
       for case in ("a16", "a8w16", "float8")},
    **({("dynamic", "gemms"): "ONNX Runtime 1.31 transposes a weight where it is, though others read it"}
       if VERSION == "1.31" else {}),
    ("dynamic", "shared"): "two Mul nodes of a node without a name are named after its output, not after the scales",
}


# A file that only differs so is listed, too: every difference must match one of these.
EXPLAINED = {
    r"ReduceMean|'_v_\d+'": "axes that become an input at opset 18: ONNX's converter makes up a Constant's name, ours is an initializer",
    r"_scale: type 1 shape \(\) .* against ours type 10 ":
        "ONNX Runtime gives float16 tensors float32 scales, which no runtime accepts",
}


# What ours refuses on purpose, by its sentence.
REFUSED = {"holds values that do not differ": "ONNX Runtime gives a float8 tensor of equal values the scale 0, which makes it 0"}


def refused_on_purpose(error):
    return any(sentence in error for sentence in REFUSED)


def explained(found):
    return all(any(re.search(pattern, line) for pattern in EXPLAINED) for line in found)


def known(case, net):
    names = {net.name} | {"with Constant nodes" if n.op_type == "Constant" else "with " + n.op_type for n in net.model.graph.node}
    return next((reason for (part, name), reason in KNOWN.items() if part in case and name in names), None)


class Reader(CalibrationDataReader):
    def __init__(self, feeds):
        self.feeds = iter(feeds)

    def get_next(self):
        return next(self.feeds, None)


class Net:
    """A float model in a file, the ranges ONNX Runtime finds on random data, and data to run."""

    def __init__(self, name, model, folder, sizes=()):
        self.name = name
        self.path = os.path.join(folder, name + ".onnx")
        if next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")) < 10:
            # The converter that ONNX Runtime calls makes up names of its own; here it works before both.
            model = onnx.version_converter.convert_version(model, 11)
        onnx.save(model, self.path)
        self.model = model
        self.cache = os.path.join(folder, name + ".ranges.json")
        rng = np.random.default_rng(7)
        constants = {i.name for i in model.graph.initializer}
        sizes = iter(sizes)
        self.feeds = [{} for _ in range(3)]
        for value in model.graph.input:
            if value.name in constants:
                continue
            dims = value.type.tensor_type.shape.dim
            known = [d.dim_value if d.HasField("dim_value") else 0 for d in dims]
            shape = known if all(known) else next(sizes, [k or 1 for k in known])
            dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            for feed in self.feeds:
                x = rng.normal(0.2, 1.5, shape)
                mask = dtype.kind == "b" or "mask" in value.name
                x = np.abs(x) * 2 if dtype.kind in "iu" else x > 0 if mask else x
                if value.name == "sr":  # a sampling rate that speech models branch on
                    x = 16000
                feed[value.name] = np.asarray(x).astype(dtype)
        self.calibrate(CalibrationMethod.MinMax, self.cache)

    def calibrate(self, method, cache):
        types = sorted({n.op_type for n in self.model.graph.node})
        with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
            quantize_static(self.path, os.path.join(scratch, "q.onnx"), Reader(self.feeds), op_types_to_quantize=types,
                            calibrate_method=method, calibration_cache_path=cache)

    def ranges(self, case):
        """How a case's ranges are found, and the file of them."""
        if case.get("activation") != "float8e4m3fn":
            return CalibrationMethod.MinMax, self.cache
        cache = self.cache + ".distribution.json"
        if not os.path.exists(cache):
            self.calibrate(CalibrationMethod.Distribution, cache)
        return CalibrationMethod.Distribution, cache


def theirs(net, case, out):
    options = dict(case.get("extra", {}))
    if "overrides" in case:
        options["TensorQuantOverrides"] = case["overrides"](net)
        if case.get("complete"):
            kind = TYPES[case.get("activation", "int8")]
            MixedPrecisionTensorQuantOverridesFixer.create_from_model(
                TensorQuantOverridesHelper(options["TensorQuantOverrides"]), onnx.load(net.path), kind).apply(
                    kind, options.get("ActivationSymmetric", False))
    common = dict(per_channel=case.get("per_channel", False), reduce_range=case.get("reduce_range", False),
                  op_types_to_quantize=case.get("op_types"), nodes_to_exclude=exclude_of(case, net),
                  nodes_to_quantize=include_of(case, net), extra_options=options)
    if case.get("format") == "weight-only":
        weight_only.theirs(net, case, exclude_of(case, net), out)
        return
    if case.get("format") == "dynamic":
        quantize_dynamic(net.path, out, weight_type=TYPES[case.get("weight", "int8")], **common)
        return
    method, cache = net.ranges(case)
    quantize_static(net.path, out, None,
                    quant_format=QuantFormat.QOperator if case.get("format") == "qoperator" else QuantFormat.QDQ,
                    activation_type=TYPES[case.get("activation", "int8")], weight_type=TYPES[case.get("weight", "int8")],
                    calibrate_method=method, calibration_cache_path=cache, **common)


def exclude_of(case, net):
    return case["exclude"](net) if "exclude" in case else []


def include_of(case, net):
    return case["include"](net) if "include" in case else []


FIELDS = {"ActivationSymmetric": "symmetric_activations", "WeightSymmetric": "symmetric_weights",
          "ActivationRestrictedAsymmetric": "restricted_asymmetric", "MinimumRealRange": "minimum_range",
          "ForceQuantizeNoInputCheck": "quantize_unquantized_inputs", "MatMulConstBOnly": "matmul_constant_only",
          "AddQDQPairToWeight": "pairs_for_weights", "DedicatedQDQPair": "dedicated_pairs", "QuantizeBias": "quantize_bias",
          "QDQKeepRemovableActivations": "keep_removable", "UseQDQContribOps": "contrib_operators",
          "OpTypesToExcludeOutputQuantization": "no_output_types", "QDQOpTypePerChannelSupportToAxis": "per_channel_axis",
          "BlockSize": "block_size", "EnableSubgraph": "subgraphs", "extra.Sigmoid.nnapi": "sigmoid_nnapi"}
PART = {"quant_type": "type", "rmin": "lowest", "rmax": "highest", "recv_nodes": "readers"}


def part_json(part):
    out = {}
    for key, value in part.items():
        if key == "quant_type":
            value = next(n for n, t in TYPES.items() if t == value)
        elif key == "convert":
            value = part_json(value)
        elif key == "recv_nodes":
            value = sorted(value)
        elif isinstance(value, (np.generic, np.ndarray)):
            value = value.item()
        out[PART.get(key, key)] = value
    return out


def recipe_of(net, case):
    recipe = {"schema_version": 1, "ort_version": VERSION, "format": case.get("format", "qdq"), "activation_type": case.get("activation", "int8"),
              "weight_type": case.get("weight", "int8"), "per_channel": case.get("per_channel", False),
              "reduce_range": case.get("reduce_range", False), "op_types": case.get("op_types") or [],
              "exclude": exclude_of(case, net), "include": include_of(case, net)}
    if recipe["format"] == "weight-only":
        recipe["weight_only"] = weight_only.recipe(net, case)
    for key, value in case.get("extra", {}).items():
        if key == "QDQDisableWeightAdjustForInt32Bias":
            recipe["adjust_weights_for_bias"] = not value
        else:
            recipe[FIELDS[key]] = value
    recipe["complete_overrides"] = case.get("complete", False)
    if "overrides" in case:
        recipe["tensors"] = {}
        for name, parts in case["overrides"](net).items():
            entry = part_json(parts[0])
            if len(parts) > 1:
                axis = entry.pop("axis")
                entry = {"axis": axis, "channels": [{k: v for k, v in part_json(p).items() if k != "axis"} for p in parts]}
            recipe["tensors"][name] = entry
    return recipe


def ours(cli, net, case, out, folder):
    recipe = os.path.join(folder, "recipe.json")
    with open(recipe, "w", encoding="utf-8") as f:
        json.dump(recipe_of(net, case), f)
    command = [cli, "quantize", net.path, "-o", out, "--recipe", recipe, "--ranges", net.ranges(case)[1], "--quiet"]
    if case.get("algorithm") == "gptq":
        data = os.path.join(folder, "data.npz")
        weight_only.write_data(net, data)
        command += ["--data", data]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}")[:300])


def attribute(a):
    value = onnx.helper.get_attribute_value(a)
    if isinstance(value, onnx.GraphProto):
        return (a.name, contents_key(value))
    if isinstance(value, onnx.TensorProto):
        return (a.name, value.data_type, tuple(value.dims), numpy_helper.to_array(value).tobytes())
    return (a.name, tuple(value) if not isinstance(value, (int, float, bytes, str)) else value)


def contents_key(graph):
    nodes, constants = contents(graph)
    return str(sorted(map(str, nodes))) + str(sorted(constants))


def contents(graph):
    nodes = {}
    for n in graph.node:
        attributes = tuple(sorted((attribute(a) for a in n.attribute), key=str))
        key = (n.op_type, n.domain if n.domain != "ai.onnx" else "", n.name, tuple(n.input), tuple(n.output), attributes)
        nodes[key] = nodes.get(key, 0) + 1
    constants = {}
    for t in graph.initializer:
        a = numpy_helper.to_array(t)
        constants[t.name] = (t.data_type, tuple(t.dims), a.tobytes())
    return nodes, constants


def describe(t):
    return f"type {t[0]} shape {t[1]} bytes {t[2][:8].hex()}"


def differences(a_path, b_path):
    a, b = onnx.load(a_path), onnx.load(b_path)
    (an, ac), (bn, bc) = contents(a.graph), contents(b.graph)
    found = []
    for name in sorted(set(ac) | set(bc)):
        if name not in bc:
            found.append(f"constant {name}: only ONNX Runtime's has it: {describe(ac[name])}")
        elif name not in ac:
            found.append(f"constant {name}: only ours has it: {describe(bc[name])}")
        elif ac[name] != bc[name]:
            found.append(f"constant {name}: {describe(ac[name])} against ours {describe(bc[name])}")
    for key in sorted(set(an) | set(bn), key=str):
        if an.get(key, 0) != bn.get(key, 0):
            who = "ONNX Runtime's" if an.get(key, 0) > bn.get(key, 0) else "ours"
            found.append(f"node only in {who}: {str(key)[:400]}")
    versions = [{o.domain: o.version for o in m.opset_import} for m in (a, b)]
    if versions[0] != versions[1]:
        found.append(f"opsets {versions[0]} against ours {versions[1]}")
    order = [n.output[0] for n in a.graph.node] == [n.output[0] for n in b.graph.node]
    return found, order


def without_constant_inputs(path):
    """The file without inputs that are constants, too (ONNX's converter makes them): ours never has them, and ONNX
    Runtime neither folds nor fuses such constants, so that sums come in another order."""
    model = onnx.load(path)
    constants = {i.name for i in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in constants]
    if len(inputs) < len(model.graph.input):
        del model.graph.input[:]
        model.graph.input.extend(inputs)
        path += ".inputs.onnx"
        onnx.save(model, path)
    return path


def session(path, optimized=True):
    options = onnxruntime.SessionOptions()
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def run_differences(a_path, b_path, feeds):
    """Differences of the outputs in ONNX Runtime; None where it cannot run its own file."""
    for optimized in (True, False):  # it fuses float8 into operators that do not have it
        try:
            a = session(without_constant_inputs(a_path), optimized)
            expected = [a.run(None, feed) for feed in feeds]
            break
        except Exception:  # noqa: BLE001
            if not optimized:
                return None
    try:
        b = session(b_path, optimized)
        names = [o.name for o in a.get_outputs()]
        for feed, wanted in zip(feeds, expected):
            for name, x, y in zip(names, wanted, b.run(names, feed)):
                if x.dtype != y.dtype or x.tobytes() != y.tobytes():
                    return [f"output {name} differs in ONNX Runtime by up to {np.abs(x.astype(float) - y.astype(float)).max():g}"]
    except Exception as e:  # noqa: BLE001
        return [f"ONNX Runtime cannot run ours: {str(e)[:200]}"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=os.path.join(HERE, "../../build/release/bin/quantscope-cli"))
    parser.add_argument("--only", default="")
    parser.add_argument("--net", default="")
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("models", nargs="*")
    args = parser.parse_args()
    if not onnxruntime.__version__.startswith("1.31."):
        print(f"warning: the rules here are those of ONNX Runtime 1.31, this is {onnxruntime.__version__}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        nets = [Net(name, make(), folder) for name, make in ({**NETS, **body_nets.NETS, **weight_only.NETS} | TORCH_NETS).items()
                if args.net in name]
        for text in args.models:
            path, _, sizes = text.partition(":")
            name = os.path.splitext(os.path.relpath(path, os.path.dirname(os.path.dirname(os.path.abspath(path)))))[0]
            shapes = [[int(d) for d in s.split("x")] for s in sizes.split(",") if s]
            if args.net in name:
                nets.append(Net(name.replace("/", "_"), onnx.load(path), folder, shapes))
        equal = different = refused = order_equal = listed = ran = 0
        for case_name, case in CASES.items():
            if args.only not in case_name:
                continue
            cells = []
            for net in nets:
                if net.name in weight_only.NETS and case.get("format") != "weight-only":
                    continue
                if "when" in case and not case["when"](net):
                    continue
                a, b = os.path.join(folder, "a.onnx"), os.path.join(folder, "b.onnx")
                for path in (a, b):
                    if os.path.exists(path):
                        os.remove(path)
                their_error = our_error = ""
                try:
                    theirs(net, case, a)
                except Exception as e:  # noqa: BLE001
                    their_error = f"{type(e).__name__}: {e}"[:200]
                try:
                    ours(args.cli, net, case, b, folder)
                except RuntimeError as e:
                    our_error = str(e)
                if their_error:
                    refused += 1
                    cells.append(f"{net.name}:theirs-fails" + ("" if our_error else "(ours-not)"))
                    if args.verbose:
                        print(f"  {case_name} {net.name}: theirs fails: {their_error} | ours: {our_error}")
                    continue
                if our_error and (known(case_name, net) or refused_on_purpose(our_error)):
                    listed += 1
                    cells.append(f"{net.name}:listed")
                    continue
                if our_error:
                    different += 1
                    cells.append(f"{net.name}:OURS-FAILS")
                    print(f"  {case_name} {net.name}: {our_error}")
                    continue
                found, order = differences(a, b)
                order_equal += order and not found
                outputs = None if args.no_run else run_differences(a, b, net.feeds)
                ran += outputs == []
                found += outputs or []
                if found and (known(case_name, net) or explained(found)):
                    listed += 1
                    cells.append(f"{net.name}:listed")
                elif found:
                    different += 1
                    cells.append(f"{net.name}:{len(found)}")
                    for line in found[: None if args.verbose else 3]:
                        print(f"  {case_name} {net.name}: {line}")
                else:
                    equal += 1
                    cells.append(f"{net.name}:=")
            print(f"{case_name:40} " + " ".join(cells), flush=True)
        print(f"{equal} equal ({order_equal} in the order of nodes, too; "
              f"{ran} run to equal outputs), {different} different, {listed} listed, "
              f"{refused} refused by ONNX Runtime")
        for reason in sorted({*KNOWN.values(), *EXPLAINED.values(), *REFUSED.values()}):
            print("listed:", reason)
        return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
