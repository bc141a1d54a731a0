# SPDX-License-Identifier: GPL-3.0-or-later
"""The truth about a pair of files, from how they were made: which values of the quantized file stand for a float value."""
import re

import numpy as np
from onnx import TensorProto, numpy_helper

from values import HEAVY, all_values, equal_values

SUFFIX = re.compile(r"(_(QuantizeLinear|DequantizeLinear|Convert)(_(Input|Output))?(_\d+)?|_?quantized|_convert|_pre_q|_q_to_dq|_post_dq|/duplicated(_token_\d+)?)+$")
FOLDED = ("Relu", "Clip")
EXACT, SMALL = 1e-3, 3e-5  # relative
PLUMBING = ("DequantizeLinear", "QuantizeLinear", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Cast", "Concat",
            "Split", "Slice")
WEIGHT_SLOTS = {"Conv": (1,), "ConvTranspose": (1,), "MatMul": (0, 1), "Gemm": (0, 1), "QLinearConv": (3,), "QGemm": (3,),
                "QLinearMatMul": (0, 3), "ConvInteger": (0, 1), "MatMulInteger": (0, 1), "MatMulNBits": (1,), "LSTM": (1, 2),
                "GRU": (1, 2), "DynamicQuantizeLSTM": (1, 2), "QAttention": (1,), "Attention": (1,), "FusedConv": (1,),
                "DynamicQuantizeMatMul": (1,), "MatMulIntegerToFloat": (1,), "FusedMatMul": (0, 1), "FusedGemm": (1,)}


def makers(model):
    return {o: n for n in model.graph.node for o in n.output if o}


def on_codes(node):
    return node is not None and (node.op_type.startswith("QLinear") or node.op_type == "QGemm")


class Meanings:
    """What a value of the quantized file stands for in the un-quantized structure, by the quantizer's names.

    Where the quantizer removed a Relu or Clip, the node before took over its output's name: in front of the quantizer that
    name stands for what the removed node read. Operators on codes keep the name of what it read, for codes that are cut;
    such an operator stands for both, by what it sums up and by the codes it gives."""

    def __init__(self, structure, quantized):
        self.before, self.after, self.readers = makers(structure), makers(quantized), {}
        self.known = set(self.before) | {v.name for v in structure.graph.input}
        for node in structure.graph.node:
            for i in node.input:
                self.readers.setdefault(i, []).append(node)

    def removed_behind(self, value):
        """What is read from this value by the one Relu or Clip that the quantizer removed, or None."""
        readers = self.readers.get(value, [])
        if len(readers) != 1 or readers[0].op_type not in FOLDED:
            return None
        out = readers[0].output[0]
        return None if out in self.after or out + "_quantized" in self.after else out

    def removed_before(self, value, maker):
        node = self.before.get(value)
        same = maker is not None and maker.op_type in (*FOLDED, "DequantizeLinear", "QuantizeLinear")
        return node.input[0] if node is not None and node.op_type in FOLDED and not same else None

    def of(self, name):
        base = name if name in self.known else SUFFIX.sub("", name)
        if base not in self.known:
            return None
        maker, out = self.after.get(name), [base]
        raw = name == base or name.endswith("_QuantizeLinear_Input")
        if on_codes(maker):
            out += [v for v in (self.removed_behind(base), self.removed_before(base, maker)) if v]
        while raw and maker is not None and not on_codes(maker) and (before := self.removed_before(out[0], maker)):
            out = [before]
        while name.endswith("_quantized") and not on_codes(maker) and (behind := self.removed_behind(out[0])):
            out = [behind]
        return out


def quantized_weights(model):
    """[{node, names}] of operators that multiply by quantized constants: every name the constant has on its way."""
    make, out = makers(model), []
    ints = {t.name for t in model.graph.initializer if t.data_type in (
        TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16, TensorProto.INT4, TensorProto.UINT4)}
    ints |= {n.output[0] for n in model.graph.node if n.op_type == "Constant"
             and n.attribute[0].name == "value" and numpy_helper.to_array(n.attribute[0].t).dtype in (np.int8, np.uint8)}
    for node in model.graph.node:
        for slot in WEIGHT_SLOTS.get(node.op_type, ()):
            name, names = node.input[slot] if slot < len(node.input) else "", []
            while name:
                names.append(name)
                if name in ints:
                    out.append({"node": node.name or node.output[0], "names": names})
                    break
                source = make.get(name)
                name = source.input[0] if source is not None and source.op_type in PLUMBING else ""
    return out


def unnamed(floats, quantized_values, meaning, names):
    """{float value: values that the quantizer's names say nothing of, but that are alike}: an optimizer made them."""
    others = {n: v for n, v in quantized_values.items() if n in names and meaning.of(n) is None and v.dtype.kind == "f"}
    return {n: [o for o, k in found.items() if k == "same"] for n, found in equal_values(floats, others, 0.05).items()}


def finite_values(floats, data):
    return {n: v for n, v in all_values(floats, data).items() if v.dtype.kind != "f" or np.abs(v).max(initial=0) < 1e30}


def entry(node, accept, also=(), permuted=()):
    return {"accept": sorted(accept), "also": list(also), "permuted": sorted(permuted),
            "op": node.op_type if node is not None else "input", "heavy": node is not None and node.op_type in HEAVY}


def true_pairs(floats, values, structure, quantized, quantized_values, data, tolerance=EXACT):
    """The document that the judge reads; `values` are those of the float file."""
    others = all_values(structure, data)
    alike = nearest(values, others, equal_values(values, others, tolerance), SMALL if tolerance <= EXACT else EXACT)
    meaning, stands_for = Meanings(structure, quantized), {}
    for name in [*meaning.after, *(v.name for v in quantized.graph.input)]:
        for value in meaning.of(name) or []:
            stands_for.setdefault(value, []).append(name)
    more = unnamed(values, quantized_values, meaning, set(meaning.after)) if quantized is not structure else {}
    make, out = makers(floats), {}
    for name, found in alike.items():
        accept, permuted = [{q for s, k in found.items() if k == kind for q in stands_for.get(s, [])}
                            for kind in ("same", "permuted")]
        out[name] = entry(make.get(name), accept, more.get(name, []), permuted)
    split = [n for n in meaning.after if n.endswith("_MatMul") and meaning.of(n) is None]  # of a Gemm, by quantize_dynamic
    return {"values": out, "unjudged": split, "weights": quantized_weights(quantized)}


def pairs_by_bypass(floats, values, quantized, others, tolerance=0.08):
    """The same for a file with names of its own: `others` are the values of that file without its quantizers, which computes
    the float model but for the rounding of weights; the values nearest to a float value are those that stand for it."""
    make, out = makers(floats), {}
    for name, found in nearest(values, others, equal_values(values, others, tolerance), EXACT).items():
        accept, permuted = [[o for o, k in found.items() if k == kind] for kind in ("same", "permuted")]
        out[name] = entry(make.get(name), accept, permuted=permuted)
    return {"values": out, "unjudged": [], "weights": quantized_weights(quantized)}


def nearest(values, others, alike, floor):
    """Of values that are alike within a tolerance those that are, for both of them, about as near as the nearest: a small
    bias or mean keeps two values alike that are not the same."""
    error = {(n, o): distance(values[n], others[o]) for n, found in alike.items() for o, kind in found.items() if kind == "same"}
    best = {}
    for (n, o), e in error.items():
        best["float", n], best["other", o] = min(e, best.get(("float", n), e)), min(e, best.get(("other", o), e))
    near = {k for k, e in error.items() if e <= 2 * min(best["float", k[0]], best["other", k[1]]) + floor}
    return {n: {o: kind for o, kind in found.items() if kind != "same" or (n, o) in near} for n, found in alike.items()}


def distance(a, b):
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return float(np.linalg.norm(a - b) / (np.linalg.norm(a) + 1e-12))
