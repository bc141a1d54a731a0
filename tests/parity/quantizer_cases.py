# SPDX-License-Identifier: GPL-3.0-or-later
"""Option sets for quantizer.py, in the words of onnxruntime.quantization."""
import numpy as np
import weight_only
from onnxruntime.quantization import QuantType


def some_nodes(net):
    """Every third named node."""
    names = [n.name for n in net.model.graph.node if n.name]
    return names[1::3]


STATIC = {
    "defaults": {},
    "u8s8": {"activation": "uint8"},
    "u8u8": {"activation": "uint8", "weight": "uint8"},
    "per-channel": {"per_channel": True},
    "u8s8 per-channel": {"activation": "uint8", "per_channel": True},
    "u8u8 per-channel": {"activation": "uint8", "weight": "uint8", "per_channel": True},
    "reduce-range": {"activation": "uint8", "reduce_range": True},
    "reduce-range per-channel": {"activation": "uint8", "reduce_range": True, "per_channel": True},
    "reduce-range u8u8": {"activation": "uint8", "weight": "uint8", "reduce_range": True},
    "symmetric activations": {"extra": {"ActivationSymmetric": True}},
    "symmetric activations u8": {"activation": "uint8", "extra": {"ActivationSymmetric": True}},
    "restricted asymmetric": {"activation": "uint8", "extra": {"ActivationRestrictedAsymmetric": True}},
    "asymmetric weights": {"extra": {"WeightSymmetric": False}},
    "symmetric u8 weights": {"activation": "uint8", "weight": "uint8", "extra": {"WeightSymmetric": True}},
    "minimum range": {"activation": "uint8", "extra": {"MinimumRealRange": 0.05}},
    "force": {"extra": {"ForceQuantizeNoInputCheck": True}},
    "exclude": {"activation": "uint8", "exclude": some_nodes},
    "include": {"activation": "uint8", "include": some_nodes},
    "conv and gemm": {"op_types": ["Conv", "Gemm"]},
    "matmul only": {"op_types": ["MatMul"]},
    "more types": {"activation": "uint8", "op_types": ["Conv", "Gemm", "MatMul", "Add", "Mul", "Sub", "Div", "Tanh", "Erf",
                                                         "HardSigmoid", "ReduceMean", "Relu", "Clip", "Softmax", "Concat"]},
}

# ONNX Runtime has no histograms of float16 this fine; Softmax stays float, since it forgets its deviation.
FLOAT8 = {"activation": "float8e4m3fn", "weight": "float8e4m3fn", "when": lambda net: "half" not in net.name,
          "exclude": lambda net: [n.name for n in net.model.graph.node if n.op_type == "Softmax"]}

QDQ = {
    "pairs for weights": {"extra": {"AddQDQPairToWeight": True}},
    "pairs for weights per-channel": {"per_channel": True, "extra": {"AddQDQPairToWeight": True}},
    "dedicated pairs": {"activation": "uint8", "extra": {"DedicatedQDQPair": True}},
    "float bias": {"extra": {"QuantizeBias": False}},
    "keep removable": {"activation": "uint8", "extra": {"QDQKeepRemovableActivations": True}},
    "no adjusting": {"extra": {"QDQDisableWeightAdjustForInt32Bias": True}},
    "contrib": {"extra": {"UseQDQContribOps": True}},
    "no conv outputs": {"extra": {"OpTypesToExcludeOutputQuantization": ["Conv", "Gather", "Gemm"]}},
    "matmul axis 0": {"per_channel": True, "extra": {"QDQOpTypePerChannelSupportToAxis": {"MatMul": 0}}},
    "norm axis 0": {"per_channel": True, "extra": {"QDQOpTypePerChannelSupportToAxis":
                                                    {"LayerNormalization": 0, "InstanceNormalization": -1, "Conv": 1}}},
    "a16w8": {"activation": "uint16", "weight": "uint8"},
    "a16w8 signed": {"activation": "int16", "weight": "int8"},
    "a16w8 per-channel": {"activation": "uint16", "weight": "int8", "per_channel": True},
    "a16w16": {"activation": "int16", "weight": "int16"},
    "a8w16": {"activation": "uint8", "weight": "uint16"},
    "w4": {"activation": "uint8", "weight": "int4"},
    "w4 unsigned": {"activation": "uint8", "weight": "uint4"},
    "w4 per-channel": {"activation": "uint8", "weight": "int4", "per_channel": True},
    "w4 reduced": {"activation": "uint8", "weight": "uint4", "reduce_range": True},
    "blocks of 16": {"extra": {"BlockSize": 16}, "when": lambda net: net.name in ("matmul", "nbits", "floatops")},
    "blocks of 4 bits": {"activation": "uint8", "weight": "uint4", "extra": {"BlockSize": 8},
                         "when": lambda net: net.name in ("nbits", "floatops")},
    "blocks per-channel": {"per_channel": True, "extra": {"BlockSize": 16}, "when": lambda net: net.name in ("nbits", "floatops")},
    "float8": FLOAT8,
    "float8 per-channel": {**FLOAT8, "per_channel": True},
    "float8 pairs for weights": {**FLOAT8, "extra": {"AddQDQPairToWeight": True}},
    "float8 keep removable": {**FLOAT8, "extra": {"QDQKeepRemovableActivations": True, "QuantizeBias": False}},
    "symmetric a16": {"activation": "int16", "weight": "int8", "extra": {"ActivationSymmetric": True}},
}



def pick(net, op, slot, output=False, skip=0):
    """Tensor at input (or output) `slot` of the `skip`-th node of that type that has one; None when there is none."""
    constants = {i.name for i in net.model.graph.initializer}
    for n in net.model.graph.node:
        values = n.output if output else n.input
        if n.op_type == op and len(values) > slot and (output or (values[slot] in constants) == (slot > 0)):
            if skip == 0:
                return values[slot]
            skip -= 1
    return None


def override(*wanted):
    """wanted: (op, slot, output, parts); tensors a net does not have are left out."""
    def make(net):
        found = {}
        for op, slot, output, parts in wanted:
            name = pick(net, op, slot, output)
            if name is not None:
                found[name] = [dict(p) for p in parts]
        return found
    return make


def convert(readers):
    """The first quantized Conv's or Gemm's output is uint16 for its readers (all, or the first alone)."""
    def make(net):
        for n in net.model.graph.node:
            if n.op_type not in ("Conv", "Gemm", "MatMul"):
                continue
            after = [m.name for m in net.model.graph.node if n.output[0] in m.input and m.op_type not in ("Relu", "Clip") and m.name]
            if len(after) < (2 if readers == "first" else 1):
                continue
            to = {"quant_type": QuantType.QUInt16}
            if readers == "first":
                to["recv_nodes"] = {after[0]}
            return {n.output[0]: [{"quant_type": QuantType.QUInt8, "convert": to}]}
        return {}
    return make


U8, I8, I16 = QuantType.QUInt8, QuantType.QInt8, QuantType.QInt16
OVERRIDES = {
    "act scale": {"overrides": override(("Conv", 0, True, [{"scale": np.array(0.05, np.float32), "zero_point": np.array(3, np.int8)}]),
                                         ("MatMul", 0, True, [{"scale": np.array(0.05, np.float32), "zero_point": np.array(3, np.int8)}]))},
    "act symmetric": {"activation": "uint8", "overrides": override(("Conv", 0, True, [{"symmetric": True}]),
                                                                    ("Add", 0, True, [{"symmetric": True}]))},
    "act range": {"overrides": override(("Conv", 0, True, [{"rmin": np.float32(-0.5), "rmax": np.float32(0.75)}]),
                                         ("Gemm", 0, True, [{"rmin": np.float32(-0.5), "rmax": np.float32(0.75)}]))},
    "act type": {"overrides": override(("Add", 0, True, [{"quant_type": U8}]), ("Gemm", 0, True, [{"quant_type": U8}]))},
    "act 16": {"activation": "uint8", "overrides": override(("Conv", 0, True, [{"quant_type": QuantType.QUInt16}]))},
    "weight type": {"overrides": override(("Conv", 1, False, [{"quant_type": U8}]), ("MatMul", 1, False, [{"quant_type": I16}]))},
    "weight float8": {"overrides": override(("Conv", 1, False, [{"quant_type": QuantType.QFLOAT8E4M3FN}]),
                                            ("MatMul", 1, False, [{"quant_type": QuantType.QFLOAT8E4M3FN}]))},
    "weight reduced": {"overrides": override(("Conv", 1, False, [{"reduce_range": True, "symmetric": True}]))},
    "weight range": {"overrides": override(("Conv", 1, False, [{"rmin": -0.3, "rmax": 0.4}]),
                                            ("Gemm", 1, False, [{"rmin": -0.3, "rmax": 0.4}]))},
    "weight scale": {"overrides": override(("Conv", 1, False, [{"scale": 0.013, "zero_point": 0}]))},
    "weight axis": {"overrides": override(("Conv", 1, False, [{"axis": 0}]), ("MatMul", 1, False, [{"axis": -1}]),
                                           ("Gemm", 1, False, [{"axis": 1, "quant_type": I8}]))},
    "operand axis": {"overrides": override(("Add", 1, False, [{"axis": 0}]), ("Sub", 1, False, [{"axis": 0}]))},
    "bias as weight": {"overrides": override(("Conv", 2, False, [{"quant_type": I8}]), ("Gemm", 2, False, [{"quant_type": I8}]))},
    "convert all": {"activation": "uint8", "overrides": convert("all")},
    "convert first": {"activation": "uint8", "overrides": convert("first")},
}
U16 = [{"quant_type": QuantType.QUInt16}]
COMPLETED = {
    "complete conv": {"overrides": override(("Conv", 0, True, U16), ("MatMul", 0, True, U16))},
    "complete add": {"overrides": override(("Add", 0, True, U16))},
    "complete more": {"overrides": override(("Gemm", 0, True, U16), ("Relu", 0, True, U16), ("Softmax", 0, True, U16),
                                            ("Reshape", 0, True, U16), ("Concat", 0, True, U16))},
    "complete symmetric": {"overrides": override(("Conv", 0, True, [{"quant_type": QuantType.QUInt16, "symmetric": True}]),
                                                 ("LayerNormalization", 0, True, [{"symmetric": True}]))},
    "complete input": {"overrides": override(("Conv", 0, False, U16), ("Transpose", 0, False, U16))},
}
OVERRIDES |= {name: {**case, "activation": "uint8", "complete": True} for name, case in COMPLETED.items()}
for case in OVERRIDES.values():
    case["when"] = lambda net, case=case: bool(case["overrides"](net))
# A float32 range for a float16 tensor would give it a float32 scale.
OVERRIDES["act range"]["when"] = lambda net: net.name not in ("half", "half-small") and bool(OVERRIDES["act range"]["overrides"](net))

QOPERATOR = {name: case for name, case in STATIC.items()}
QOPERATOR["nnapi sigmoid"] = {"activation": "uint8", "extra": {"extra.Sigmoid.nnapi": True}}
QOPERATOR["matmul constants only"] = {"extra": {"MatMulConstBOnly": True}}

DYNAMIC = {
    "defaults": {},
    "u8": {"weight": "uint8"},
    "per-channel": {"per_channel": True},
    "u8 per-channel": {"weight": "uint8", "per_channel": True},
    "reduce-range": {"reduce_range": True},
    "reduce-range per-channel": {"reduce_range": True, "per_channel": True},
    "asymmetric weights": {"extra": {"WeightSymmetric": False}},
    "symmetric u8 weights": {"weight": "uint8", "extra": {"WeightSymmetric": True}},
    "all matmuls": {"extra": {"MatMulConstBOnly": False}},
    "matmul only": {"op_types": ["MatMul"]},
    "conv only": {"op_types": ["Conv"]},
    "minimum range": {"extra": {"MinimumRealRange": 4.0}},
}

for name, case in {"subgraphs": {}, "subgraphs u8": {"weight": "uint8"}, "subgraphs per-channel": {"per_channel": True},
                   "subgraphs exclude": {"exclude": lambda net: {"branches": ["matmul_then_d"], "loops": ["matmul_q"]}.get(net.name, [])},
                   "subgraphs all matmuls": {"extra": {"MatMulConstBOnly": False}}}.items():
    DYNAMIC[name] = {**case, "extra": {"EnableSubgraph": True, **case.get("extra", {})},
                     "when": lambda net: any(n.op_type in ("If", "Loop", "Scan") for n in net.model.graph.node)}


def with_blocks(net):
    return net.name in ("matmul", "nbits", "lstm") or "_" in net.name or net.name in weight_only.NETS


WEIGHT_ONLY = {
    **weight_only.BLOCKS,
    "4": {"weight": "int4", "block": 32},
    "4 asymmetric": {"weight": "uint4", "block": 32},
    "4 block 16": {"weight": "int4", "block": 16},
    "4 block 128 asymmetric": {"weight": "uint4", "block": 128},
    "8": {"weight": "int8", "block": 32},
    "8 asymmetric": {"weight": "uint8", "block": 64},
    "4 pairs": {"weight": "int4", "block": 32, "dequantize": True},
    "4 pairs asymmetric": {"weight": "uint4", "block": 16, "dequantize": True},
    "4 rtn": {"weight": "int4", "block": 32, "algorithm": "rtn"},
    "4 rtn asymmetric": {"weight": "uint4", "block": 16, "algorithm": "rtn"},
    "4 exclude": {"weight": "int4", "block": 32, "exclude": some_nodes},
}

CASES = {}
for name, case in STATIC.items():
    CASES["qdq " + name] = case
for name, case in QDQ.items():
    CASES["qdq " + name] = case
for name, case in OVERRIDES.items():
    CASES["qdq override " + name] = case
for name, case in QOPERATOR.items():
    CASES["qoperator " + name] = {**case, "format": "qoperator"}
for name, case in DYNAMIC.items():
    CASES["dynamic " + name] = {**case, "format": "dynamic"}
for name, case in WEIGHT_ONLY.items():
    CASES["weight-only " + name] = {**case, "format": "weight-only", "when": lambda net, when=case.get("when"): (
        with_blocks(net) and (when is None or when(net)))}
