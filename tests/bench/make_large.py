#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a deep float network with small tensors and samples for it: what many nodes cost, not what they compute.

    make_large.py FOLDER NODES [--width 16] [--samples 16] [--scopes]

Blocks of ten nodes: a product, its bias and activation, a branch, a normalization by hand, the residual addition.
FOLDER/float.onnx and FOLDER/samples.npz; with --scopes nodes are named /encoder/layer.3/mlp/MatMul, else MatMul_31.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    def __init__(self, width, scopes):
        self.width, self.scopes = width, scopes
        self.nodes, self.constants = [], []
        self.random = np.random.default_rng(7)

    def node(self, kind, inputs, scope, **attributes):
        index = len(self.nodes)
        name = f"/encoder/layer.{scope[0]}/{scope[1]}/{kind}" if self.scopes else f"{kind}_{index}"
        self.nodes.append(helper.make_node(kind, inputs, [f"t{index}"], name=name, **attributes))
        return f"t{index}"

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def weight(self):
        return self.constant(self.random.normal(0, self.width**-0.5, (self.width, self.width)))

    def block(self, x, index):
        mlp, gate, norm = (index, "mlp"), (index, "gate"), (index, "norm")
        h = self.node("MatMul", [x, self.weight()], mlp)
        h = self.node("Add", [h, self.constant(self.random.normal(0, 0.1, self.width))], mlp)
        h = self.node("Relu", [h], mlp)
        g = self.node("Sigmoid", [self.node("MatMul", [x, self.weight()], gate)], gate)
        h = self.node("Mul", [h, g], gate)
        mean = self.node("ReduceMean", [h], norm, axes=[-1], keepdims=1)
        h = self.node("Sub", [h, mean], norm)
        h = self.node("Tanh", [h], norm)
        return self.node("Add", [x, h], norm)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("nodes", type=int)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--scopes", action="store_true")
    args = parser.parse_args()
    net, at = Network(args.width, args.scopes), "x"
    while len(net.nodes) < args.nodes:
        at = net.block(at, len(net.nodes) // 10)
    shape = [1, 4, args.width]
    graph = helper.make_graph(
        net.nodes, "large", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(at, TensorProto.FLOAT, shape)], net.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    args.folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, args.folder / "float.onnx")
    np.savez(args.folder / "samples.npz", x=net.random.normal(0, 1, (args.samples, 4, args.width)).astype(np.float32))


if __name__ == "__main__":
    main()
