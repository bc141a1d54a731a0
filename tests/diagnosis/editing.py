# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks into a file and changes single parameters of it."""
import re

import numpy as np
import onnx
from onnx import numpy_helper

# what hands values on, and mostly the range, too
PASSES = ("Relu", "Clip", "Reshape", "Flatten", "MaxPool", "AveragePool", "Transpose", "Squeeze", "Unsqueeze", "Identity", "Split",
          "Slice", "Resize", "LeakyRelu")
ENDS = re.compile(r"_(QuantizeLinear_Input|QuantizeLinear_Output|DequantizeLinear_Output)$")


def copied(model):
    return onnx.ModelProto.FromString(model.SerializeToString())


class File:
    def __init__(self, model):
        self.model = copied(model)
        self.constants = {t.name: t for t in self.model.graph.initializer}
        self.maker = {o: n for n in self.model.graph.node for o in n.output if o}
        self.readers = {}
        for node in self.model.graph.node:
            for i in node.input:
                self.readers.setdefault(i, []).append(node)

    def array(self, name):
        return numpy_helper.to_array(self.constants[name])

    def put(self, name, array):
        self.constants[name].CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), name))

    def own_copy(self, node, slot, array):
        """A constant of this node alone."""
        name = f"{node.input[slot]}_{slot}_of_{node.output[0]}"
        tensor = self.model.graph.initializer.add()
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), name))
        self.constants[name] = tensor
        node.input[slot] = name

    def quantizers(self):
        """[(tensor by its float name, QuantizeLinear, DequantizeLinear)] of activations."""
        out = []
        for node in self.model.graph.node:
            if node.op_type == "QuantizeLinear" and node.input[0] not in self.constants:
                after = [d for d in self.readers.get(node.output[0], []) if d.op_type == "DequantizeLinear"]
                if after:
                    out.append((ENDS.sub("", node.input[0]), node, after[0]))
        return out

    def weights(self):
        """[(weight by its float name, DequantizeLinear, node that multiplies by it)] of Q/DQ files."""
        out = []
        for node in self.model.graph.node:
            if node.op_type in ("Conv", "MatMul", "Gemm"):
                dq = self.maker.get(node.input[1])
                if dq is not None and dq.op_type == "DequantizeLinear" and dq.input[0] in self.constants:
                    out.append((dq.input[0].removesuffix("_quantized"), dq, node))
        return out

    def biases(self):
        out = []
        for node in self.model.graph.node:
            dq = self.maker.get(node.input[2]) if node.op_type in ("Conv", "Gemm") and len(node.input) > 2 else None
            if dq is not None and dq.op_type == "DequantizeLinear" and dq.input[0] in self.constants:
                out.append((dq.input[0].removesuffix("_quantized"), dq, node))
        return out

    def remove(self, node):
        """Its readers read what it read."""
        for reader in self.readers.get(node.output[0], []):
            for k, i in enumerate(reader.input):
                if i == node.output[0]:
                    reader.input[k] = node.input[0]
        self.model.graph.node.remove(node)


def with_range(model, tensor, low, high):
    """The file with this range for one activation, by hand, and for those that share its parameters; None where it has no
    quantizer of that name."""
    file = File(model)
    named = {q.input[1] for name, q, _ in file.quantizers() if name == tensor}
    found = [q for _, q, _ in file.quantizers() if q.input[1] in named]
    for q in found:
        zero = file.array(q.input[2])
        bounds = np.iinfo(zero.dtype)
        scale = max(high - low, 1e-12) / (bounds.max - bounds.min)
        code = np.clip(np.rint(bounds.min - low / scale), bounds.min, bounds.max)
        readers = [q, *(d for d in file.readers.get(q.output[0], []) if d.op_type == "DequantizeLinear")]
        for node in readers:
            file.own_copy(node, 1, np.full(file.array(q.input[1]).shape, scale, np.float32))
            file.own_copy(node, 2, np.full(zero.shape, code).astype(zero.dtype))
    return file.model if found else None


def around(floats, tensor):
    """Names of the float file by which a fault at this tensor may be told: the tensor, what makes it, and the same
    through nodes that hand values on."""
    file, out, front = floats if isinstance(floats, File) else File(floats), {tensor}, [tensor]
    made = file.maker.get(tensor)
    if made is not None:
        out |= {made.name, *made.output}
    while made is not None and made.op_type in PASSES:  # upwards
        front.append(made.input[0])
        made = file.maker.get(made.input[0])
        if made is not None:
            out |= {made.name, *made.output}
    todo = list(front)
    while todo:  # downwards
        for reader in file.readers.get(todo.pop(), []):
            if reader.op_type in PASSES and reader.output[0] not in out:
                out |= {reader.name, *reader.output}
                todo.append(reader.output[0])
    return sorted(out)


def at_weight(floats, name):
    """The same for a constant: itself, the nodes that read it, their outputs and their biases."""
    file, out = File(floats), {name}
    for reader in file.readers.get(name, []):
        out |= {reader.name, *reader.output, *[i for i in reader.input if i in file.constants]}
        for after in file.readers.get(reader.output[0], []):
            if after.op_type == "Add" and any(i in file.constants for i in after.input):
                out |= {after.name, *after.output}
    return sorted(out)


def scaled_pairs(floats):
    """[(first node, second node, tensor between)]: channels of the first can be scaled and the second take it back."""
    file, out = File(floats), []
    for first in file.model.graph.node:
        if first.op_type not in ("Conv", "Gemm") or first.input[1] not in file.constants:
            continue
        value, tensor = first.output[0], first.output[0]
        while True:
            readers = file.readers.get(value, [])
            if len(readers) != 1:
                break
            node = readers[0]
            if node.op_type in ("Relu", "LeakyRelu", "MaxPool", "AveragePool", "GlobalAveragePool"):
                value = node.output[0]
                tensor = value if node.op_type in ("Relu", "LeakyRelu") else tensor
                continue
            groups = next((a.i for a in node.attribute if a.name == "group"), 1)
            if node.op_type in ("Conv", "Gemm") and groups == 1 and node.input[1] in file.constants and \
                    file.array(node.input[1]).shape[1] == file.array(first.input[1]).shape[0]:
                out.append((first.name, node.name, tensor))
            break
    return out


def with_scaled_channels(floats, first, second, channels, factor):
    """The same network with some channels between two nodes `factor` times as large."""
    file = File(floats)
    nodes = {n.name: n for n in file.model.graph.node}
    a, b = nodes[first], nodes[second]
    for name in (a.input[1], *a.input[2:3]):
        values = file.array(name).copy()
        values[channels] *= factor
        file.put(name, values)
    values = file.array(b.input[1]).copy()
    values[:, channels] /= factor
    file.put(b.input[1], values)
    return file.model
