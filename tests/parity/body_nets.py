# SPDX-License-Identifier: GPL-3.0-or-later
"""Nets for quantizer.py with nodes in the bodies of If, Loop and Scan that the dynamic format quantizes. Bodies state the
types of what they read from outside, else ONNX Runtime's tools, which infer types in each body alone, fail."""
import numpy as np
import onnx
from onnx import TensorProto, helper

from quantizer_nets import Builder


def graph(b, name, outputs, types=()):
    """A body; `outputs` in order, `types`: (name, shape) of float values that inference on the body alone cannot know."""
    made = [helper.make_tensor_value_info(o, TensorProto.FLOAT, s) if isinstance(o, str) else o for o, s in outputs]
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in types]
    return helper.make_graph(b.nodes, name, b.inputs, made, b.constants, value_info=info)


def branches_net(opset=17):
    """Products with weights of the branch and of the graph around it, Gemm both ways, a Conv, a table; one branch in
    another."""
    b = Builder(opset, seed=11)
    b.input("x", [3, 16])
    b.input("picked", [3], TensorProto.INT64)
    b.input("yes", [], TensorProto.BOOL)
    b.rand("outside", [16, 16])
    b.rand("turned", [16, 16])
    b.rand("table", [20, 16])
    b.node("MatMul", ["x", "outside"], "m")
    deep = Builder(opset, seed=12)
    deep.node("MatMul", ["then_b", deep.rand("w", [16, 16])], "deep_a")
    deep.node("Tanh", ["deep_a"], "deep_out")
    deep_graph = graph(deep, "deep", [("deep_out", [3, 16])], [("deep_a", [3, 16])])
    flat = Builder(opset, seed=13)
    flat.node("Neg", ["then_b"], "flat_out")
    flat_graph = graph(flat, "flat", [("flat_out", [3, 16])])
    yes = Builder(opset, seed=14)
    yes.node("MatMul", ["m", "outside"], "then_a")
    yes.node("Gemm", ["then_a", "turned", yes.rand("bias", [16])], "then_b", transB=1)
    yes.node("If", ["yes"], "then_c", then_branch=deep_graph, else_branch=flat_graph)
    yes.node("MatMul", ["x", yes.rand("own", [16, 16])], "then_d")
    yes.node("Add", ["then_c", "then_d"], "then_out")
    then_graph = graph(yes, "then", [("then_out", [3, 16])], [(n, [3, 16]) for n in ("then_a", "then_b", "then_c", "then_d")])
    no = Builder(opset, seed=15)
    no.node("Gather", ["table", "picked"], "else_a")
    no.node("MatMul", ["else_a", no.rand("own", [16, 16])], "else_b")
    no.node("Unsqueeze", ["else_b", no.const("axis", np.array([0], np.int64))], "else_c")
    no.node("Conv", ["else_c", no.rand("filter", [3, 3, 3]), no.rand("shift", [3])], "else_d", pads=[1, 1])
    no.node("Squeeze", ["else_d", "axis"], "else_out")
    else_graph = graph(no, "else", [("else_out", [3, 16])], [(n, [3, 16]) for n in ("else_a", "else_b")]
                       + [(n, [1, 3, 16]) for n in ("else_c", "else_d")])
    b.node("If", ["yes"], "chosen", then_branch=then_graph, else_branch=else_graph)
    b.node("MatMul", ["chosen", b.rand("last", [16, 4])], "y")
    b.output("y")
    return b.make()


def loops_net(opset=17):
    """A Loop and a Scan, each a small recurrent cell whose weights lie outside."""
    b = Builder(opset, seed=21)
    b.input("x", [5, 2, 8])
    b.rand("wx", [8, 8])
    b.rand("wh", [8, 8])
    b.const("start", np.zeros((2, 8), np.float32))
    cell = Builder(opset, seed=22)
    cell.input("h", [2, 8])
    cell.input("row", [2, 8])
    cell.node("MatMul", ["row", "wx"], "p")
    cell.node("MatMul", ["h", "wh"], "q")
    cell.node("Add", ["p", "q"], "s")
    cell.node("Tanh", ["s"], "next")
    cell.node("Identity", ["next"], "seen")
    b.node("Scan", ["start", "x"], ["last", "all"], num_scan_inputs=1,
           body=graph(cell, "cell", [("next", [2, 8]), ("seen", [2, 8])]))
    step = Builder(opset, seed=23)
    step.input("i", [], TensorProto.INT64)
    step.input("go", [], TensorProto.BOOL)
    step.input("state", [2, 8])
    step.node("Identity", ["go"], "still")
    step.node("MatMul", ["state", step.rand("own", [8, 8])], "product")
    step.node("Sigmoid", ["product"], "after")
    still = helper.make_tensor_value_info("still", TensorProto.BOOL, [])
    b.node("Loop", [b.const("trips", np.array(3, np.int64)), b.const("on", np.array(True)), "last"], "y",
           body=graph(step, "step", [(still, None), ("after", [2, 8])]))
    b.output("y", "all")
    return b.make()


NETS = {"branches": branches_net, "loops": loops_net}
