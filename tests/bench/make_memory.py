#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes models that cost memory or time by their size, not by what they compute.

    make_memory.py FOLDER inside [--megabytes 512]     products whose weights lie in the model file
    make_memory.py FOLDER shared [--megabytes 2600]    weights beside the file (a sparse file of zeros), each read by
                                                       several nodes in several ways
    make_memory.py FOLDER nodes --nodes N [--bytes B]  N small nodes, every second one with B bytes of data of its own

Each writes FOLDER/<kind>.onnx (nodes: nodes_N.onnx).
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def info(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def save(path, nodes, constants, shape, at):
    graph = helper.make_graph(nodes, "memory", [info("x", shape)], [info(at, shape)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(model.SerializeToString())


def inside(folder, megabytes):
    width, nodes, constants, at = 2048, [], [], "x"
    random = np.random.default_rng(5)
    weight = random.normal(0, width**-0.5, (width, width)).astype(np.float32)
    for i in range(max(1, megabytes * 2**20 // weight.nbytes)):
        constants.append(numpy_helper.from_array(np.roll(weight, i), f"w{i}"))
        nodes.append(helper.make_node("MatMul", [at, f"w{i}"], [f"m{i}"], name=f"MatMul_{i}"))
        nodes.append(helper.make_node("Relu", [f"m{i}"], [f"r{i}"], name=f"Relu_{i}"))
        at = f"r{i}"
    save(folder / "inside.onnx", nodes, constants, [1, width], at)


def shared(folder, megabytes):
    width, nodes, constants, at = 8192, [], [], "x"
    size = width * width * 4
    count = max(1, megabytes * 2**20 // size)
    with open(folder / "shared.data", "wb") as data:
        data.truncate(count * size)

    def node(kind, inputs, **attributes):
        nodes.append(helper.make_node(kind, inputs, [f"t{len(nodes)}"], name=f"{kind}_{len(nodes)}", **attributes))
        return nodes[-1].output[0]

    for i in range(count):
        tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[width, width],
                             data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "shared.data"), ("offset", i * size), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
        constants.append(tensor)
        at = node("MatMul", [at, f"w{i}"])
        at = node("Gemm", [at, f"w{i}"], transB=1)
        at = node("MatMul", [at, node("Transpose", [f"w{i}"], perm=[1, 0])])
        at = node("MatMul", [at, f"w{i}"])
    save(folder / "shared.onnx", nodes, constants, [1, width], at)


def small(folder, count, size):
    width, nodes, constants, at = max(4, size // 4), [], [], "x"
    random = np.random.default_rng(6)
    for i in range(count):
        if i % 2 == 0:
            constants.append(numpy_helper.from_array(random.normal(0, 1, width).astype(np.float32), f"c{i}"))
            nodes.append(helper.make_node("Add" if i % 4 else "Mul", [at, f"c{i}"], [f"t{i}"], name=f"n{i}"))
        else:
            nodes.append(helper.make_node("Tanh", [at], [f"t{i}"], name=f"n{i}"))
        at = f"t{i}"
    save(folder / f"nodes_{count}.onnx", nodes, constants, [1, width], at)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("kind", choices=["inside", "shared", "nodes"])
    parser.add_argument("--megabytes", type=int)
    parser.add_argument("--nodes", type=int, default=8000)
    parser.add_argument("--bytes", type=int, default=64)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.kind == "inside":
        inside(args.folder, args.megabytes or 512)
    elif args.kind == "shared":
        shared(args.folder, args.megabytes or 2600)
    else:
        small(args.folder, args.nodes, args.bytes)


if __name__ == "__main__":
    main()
