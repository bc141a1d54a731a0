# SPDX-License-Identifier: GPL-3.0-or-later
"""Option sets of weights in blocks for quantizer.py, what ONNX Runtime's MatMulNBitsQuantizer makes of them, and nets."""
import contextlib
import io
import os

import numpy as np
import onnx
from onnx import TensorProto
from onnxruntime.quantization import CalibrationDataReader, QuantFormat
from onnxruntime.quantization import matmul_nbits_quantizer as nbits

from quantizer_nets import Builder

BITS = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "int8": 8, "uint8": 8}


class Reader(CalibrationDataReader):
    """The quantizer copies its reader, so this one holds no iterator."""

    def __init__(self, feeds):
        self.feeds = feeds
        self.at = 0

    def __iter__(self):
        return iter(self.feeds)

    def get_next(self):
        self.at += 1
        return self.feeds[self.at - 1] if self.at <= len(self.feeds) else None


def options(case, net):
    algorithm, kind = case.get("algorithm", "default"), case["weight"]
    form = QuantFormat.QDQ if case.get("dequantize") else QuantFormat.QOperator
    nodes = {}
    if BITS[kind] == 8 and algorithm in ("rtn", "k-quant"):
        nodes = {n.name: {"bits": 8} for n in net.model.graph.node if n.op_type == "MatMul"}
    if algorithm == "rtn":
        return nbits.RTNWeightOnlyQuantConfig(ratios=ratios(case, net), customized_weight_config=nodes)
    if algorithm == "k-quant":
        return nbits.KQuantWeightOnlyQuantConfig(customized_weight_config=nodes)
    if algorithm == "gptq":
        g = case.get("gptq", {})
        return nbits.GPTQWeightOnlyQuantConfig(Reader(net.feeds), actorder=g.get("reorder", False),
                                               mse=g.get("search_scale", False), perchannel=g.get("per_channel", True))
    if algorithm == "hqq":
        return nbits.HQQWeightOnlyQuantConfig(block_size=case["block"], bits=BITS[kind])
    return nbits.DefaultWeightOnlyQuantConfig(
        block_size=case["block"], is_symmetric=kind.startswith("i"), bits=BITS[kind], quant_format=form,
        accuracy_level=case.get("accuracy"), op_types_to_quantize=case.get("op_types"),
        quant_axes=(("MatMul", 0), ("Gather", case["axis"])) if "axis" in case else None,
        channel_wised_quantize=case.get("channel_wise", False))


def ratios(case, net):
    if "ratio" not in case:
        return {}
    constants = {i.name for i in net.model.graph.initializer}
    return {n.input[1]: case["ratio"] for n in net.model.graph.node if n.op_type == "MatMul" and n.input[1] in constants}


def theirs(net, case, exclude, out):
    with contextlib.redirect_stdout(io.StringIO()):
        quantizer = nbits.MatMulNBitsQuantizer(
            onnx.load(net.path), block_size=case["block"], is_symmetric=case["weight"].startswith("i"),
            accuracy_level=case.get("accuracy"), nodes_to_exclude=exclude, algo_config=options(case, net))
        quantizer.process()
    model = quantizer.model.model
    if all(o.domain != "com.microsoft" for o in model.opset_import) and not case.get("dequantize"):
        model.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))  # left out there
    onnx.save(model, out)


def recipe(net, case):
    made = {"block_size": case["block"], "algorithm": case.get("algorithm", "default"),
            "dequantize_form": case.get("dequantize", False), "accuracy_level": case.get("accuracy", 0),
            "channel_wise": case.get("channel_wise", False), "table_axis": case.get("axis", 1),
            "clip_ratios": ratios(case, net)}
    if "gptq" in case:
        made["gptq"] = case["gptq"]
    return made


def write_data(net, path):
    """The feeds as samples, which complete inputs are."""
    np.savez(path, **{name: np.stack([feed[name] for feed in net.feeds]) for name in net.feeds[0]})


def blocks_net(opset=17, dtype=np.float32, sizes=(70, 40)):
    """MatMuls of K that no block divides, with weights on a coarse grid, of one sign, of zeros, of leading ones; a
    transposed Gemm, which stays."""
    b = Builder(opset, dtype, seed=3)
    k, n = sizes
    b.node("MatMul", [b.input("x", [2, 3, k]), b.rand("w1", [k, n])], "m1")
    b.node("MatMul", ["m1", b.const("w2", np.round(b.rng.normal(0, 4, (n, 32))) * 0.0625)], "m2")
    b.node("MatMul", ["m2", b.const("w3", np.abs(b.rng.normal(0.02, 0.003, (32, 64))))], "m3")
    b.node("MatMul", ["m3", b.const("w4", np.where(b.rng.random((64, 128)) < 0.5, 0, b.rng.normal(size=(64, 128))))], "m4")
    b.node("MatMul", ["m4", b.rand("w5", [128, 5], 2)], "m5")
    b.node("MatMul", ["m5", b.const("w6", np.zeros((5, 16)))], "m6")
    b.node("MatMul", ["m4", b.rand("w7", [1, 1, 1, 128, 6])], "m7")
    b.node("MatMul", ["m4", b.rand("w8", [1, 128, 6])], "m8")
    b.node("Reshape", ["m4", b.const("flat", np.array([6, 128], np.int64))], "f")
    b.node("Gemm", ["f", b.rand("w9", [24, 128]), b.rand("b9", [24])], "g", transB=1)
    b.node("MatMul", ["g", b.rand("w10", [24, 1])], "m10")
    b.output("m6", "m7", "m8", "m10")
    return b.make()


def tables_net(dtype=np.float32):
    """Gathers from tables of two and three dimensions, along several axes, and a MatMul behind them."""
    b = Builder(17, dtype, seed=4)
    ids = b.input("ids", [2, 5], TensorProto.INT64)
    b.node("Gather", [b.rand("table", [19, 48]), ids], "e1")
    b.node("Gather", [b.const("coarse", np.round(b.rng.normal(0, 3, (20, 48))) * 0.25), ids], "e2")
    b.node("Add", ["e1", "e2"], "e")
    b.node("MatMul", ["e", b.rand("w", [48, 20])], "m")
    b.node("Gather", [b.rand("deep", [3, 35, 7]), ids], "d", axis=1)
    b.node("Gather", [b.const("nothing", np.zeros((17, 16))), ids], "z")
    b.output("m", "d", "z")
    return b.make()


def half_tables_net():
    return tables_net(np.float16)


def bodies_net(opset=17):
    """MatMuls in the branches of an If, one inside the other, and in a Loop: weights of their own and of the graph
    around them, one of which nobody else reads."""
    b = Builder(opset, seed=5)
    b.input("x", [3, 32])
    b.input("mask_on", [], TensorProto.BOOL)
    b.rand("outside", [32, 32])
    b.rand("alone", [32, 32])
    b.node("MatMul", ["x", "outside"], "m")
    b.node("If", ["mask_on"], "chosen", then_branch=branch(b, "then", "outside"), else_branch=branch(b, "else", "alone"))
    b.node("Loop", [b.const("trips", np.array(2, np.int64)), b.const("go", np.array(True)), "chosen"], "y",
           body=loop_body(b))
    b.output("y")
    return b.make()


def branch(b, name, weight):
    own = Builder(b.opset, seed=len(name))
    own.node("MatMul", ["m", weight], name + "_a")
    own.node("MatMul", [name + "_a", own.rand("w", [32, 32])], name + "_b")
    own.node("Relu", [name + "_b"], name + "_out")
    own.output(name + "_out")
    return onnx.helper.make_graph(own.nodes, name, [], own.outputs, own.constants)


def loop_body(b):
    own = Builder(b.opset, seed=9)
    own.input("i", [], TensorProto.INT64)
    own.input("go_on", [], TensorProto.BOOL)
    own.input("state", [3, 32])
    own.node("Identity", ["go_on"], "still")
    own.node("If", ["go_on"], "inner", then_branch=inner_branch(b, "deep_then"), else_branch=inner_branch(b, "deep_else"))
    own.output("inner")
    go_out = onnx.helper.make_tensor_value_info("still", TensorProto.BOOL, [])
    return onnx.helper.make_graph(own.nodes, "body", own.inputs, [go_out, own.outputs[0]], own.constants)


def inner_branch(b, name):
    own = Builder(b.opset, seed=len(name))
    own.node("MatMul", ["state", own.rand(name + "_w", [32, 32], 0.1)], name + "_out")
    own.output(name + "_out")
    return onnx.helper.make_graph(own.nodes, name, [], own.outputs, own.constants)


NETS = {"blocks": blocks_net, "bodies": bodies_net, "blocks_half": lambda: blocks_net(dtype=np.float16),
        "blocks_even": lambda: blocks_net(sizes=(64, 128)), "tables": tables_net, "tables_half": half_tables_net}


def with_tables(net):
    return any(n.op_type == "Gather" for n in net.model.graph.node)


BLOCKS = {
    "2": {"weight": "int2", "block": 32},
    "2 asymmetric": {"weight": "uint2", "block": 16},
    "2 asymmetric 128": {"weight": "uint2", "block": 128},
    "8 block 256": {"weight": "int8", "block": 256},
    "4 accuracy": {"weight": "int4", "block": 32, "accuracy": 4},
    "4 pairs odd block": {"weight": "uint4", "block": 24, "dequantize": True},
    "4 pairs channel": {"weight": "uint4", "block": 32, "dequantize": True, "channel_wise": True},
    "4 pairs channel symmetric": {"weight": "int4", "block": 32, "dequantize": True, "channel_wise": True},
    "4 rtn accuracy": {"weight": "int4", "block": 64, "algorithm": "rtn", "accuracy": 1},
    "4 rtn clipped": {"weight": "uint4", "block": 32, "algorithm": "rtn", "ratio": 0.8},
    "4 rtn clipped symmetric": {"weight": "int4", "block": 16, "algorithm": "rtn", "ratio": 0.9},
    "8 rtn": {"weight": "int8", "block": 32, "algorithm": "rtn"},
    "8 rtn asymmetric": {"weight": "uint8", "block": 32, "algorithm": "rtn"},
    "4 hqq": {"weight": "uint4", "block": 32, "algorithm": "hqq"},
    "4 hqq 128": {"weight": "uint4", "block": 128, "algorithm": "hqq"},
    "4 hqq 16": {"weight": "uint4", "block": 16, "algorithm": "hqq"},
    "8 hqq": {"weight": "uint8", "block": 64, "algorithm": "hqq"},
    "2 hqq": {"weight": "uint2", "block": 32, "algorithm": "hqq"},
    "4 k-quant": {"weight": "uint4", "block": 32, "algorithm": "k-quant"},
    "4 k-quant 16": {"weight": "uint4", "block": 16, "algorithm": "k-quant"},
    "4 k-quant 128": {"weight": "uint4", "block": 128, "algorithm": "k-quant"},
    "8 k-quant": {"weight": "uint8", "block": 32, "algorithm": "k-quant"},
    "4 gptq": {"weight": "int4", "block": 32, "algorithm": "gptq"},
    "4 gptq asymmetric": {"weight": "uint4", "block": 32, "algorithm": "gptq"},
    "4 gptq order": {"weight": "int4", "block": 16, "algorithm": "gptq", "gptq": {"reorder": True}},
    "4 gptq search": {"weight": "int4", "block": 32, "algorithm": "gptq", "gptq": {"search_scale": True}},
    "4 gptq one scale": {"weight": "uint4", "block": 32, "algorithm": "gptq", "gptq": {"per_channel": False}},
    "4 tables": {"weight": "int4", "block": 32, "op_types": ("MatMul", "Gather"), "when": with_tables},
    "4 tables asymmetric": {"weight": "uint4", "block": 16, "op_types": ("MatMul", "Gather"), "when": with_tables},
    "4 tables alone, axis 0": {"weight": "uint4", "block": 16, "op_types": ("Gather",), "axis": 0, "when": with_tables},
    "4 tables last axis": {"weight": "int4", "block": 16, "op_types": ("Gather",), "axis": -1, "when": with_tables},
    "8 tables": {"weight": "int8", "block": 32, "op_types": ("MatMul", "Gather"), "when": with_tables},
}
