#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairing of files that different exporters and quantizers made: are the outputs of Conv, Gemm and MatMul paired right?

    pairing.py                                  networks of its own, by PyTorch's two exporters and ONNX Runtime
    pairing.py FLOAT.onnx DATA.npz QUANT.onnx...   files that exist

Truth are the weights: a float node and the node behind the value it was paired with must have alike ones.
Needs: torch onnx onnxscript onnxruntime numpy
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

CLI = os.environ.get("QUANTSCOPE_CLI", "build/release/bin/quantscope-cli")
WEIGHT_SLOT = {"Conv": 1, "ConvTranspose": 1, "Gemm": 1, "MatMul": 1, "QLinearConv": 3, "QLinearMatMul": 3, "QGemm": 3,
               "ConvInteger": 1, "MatMulInteger": 1}
HEAVY = ("Conv", "ConvTranspose", "Gemm", "MatMul")
ALIKE = 0.9
SURE = 0.9


class Net:
    """A graph with what pairing by weights needs of it."""

    def __init__(self, path):
        graph = onnx.load(path).graph
        self.nodes = list(graph.node)
        self.maker = {out: n for n in self.nodes for out in n.output if out}
        self.readers = {}
        for n in self.nodes:
            for i in n.input:
                self.readers.setdefault(i, []).append(n)
        self.values = {t.name: numpy_helper.to_array(t) for t in graph.initializer}

    def constant(self, name):
        """Float or integer value; scales and zero points do not matter for likeness, but zero points do for codes."""
        if name in self.values:
            return self.values[name]
        node = self.maker.get(name)
        if node is None:
            return None
        if node.op_type == "Constant":
            for a in node.attribute:
                if a.name == "value":
                    return numpy_helper.to_array(a.t)
            return None
        if node.op_type in ("Identity", "Cast", "Clip", "QuantizeLinear"):
            return self.constant(node.input[0])
        if node.op_type == "Transpose":
            inner = self.constant(node.input[0])
            return None if inner is None else inner.T
        if node.op_type == "DequantizeLinear":
            return self.dequantized(node)
        return None

    def dequantized(self, node):
        codes, scale = self.constant(node.input[0]), self.constant(node.input[1])
        if codes is None or scale is None:
            return None
        zero = self.constant(node.input[2]) if len(node.input) > 2 else None
        axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
        shape = [1] * codes.ndim
        if np.size(scale) > 1:
            shape[axis] = np.size(scale)
        out = codes.astype(np.float64)
        if zero is not None and codes.dtype != np.float32:
            out = out - np.reshape(zero.astype(np.float64), shape if np.size(zero) > 1 else ())if np.size(zero) else out
        return out * np.reshape(scale.astype(np.float64), shape if np.size(scale) > 1 else ())

    def weight(self, node):
        slot = WEIGHT_SLOT.get(node.op_type)
        w = self.constant(node.input[slot]) if slot is not None and len(node.input) > slot else None
        return None if w is None or w.ndim < 2 else w.astype(np.float64)

    def heavy_before(self, name, steps=40):
        """The node with a weight that makes this value, through what keeps or scales values."""
        front = [name]
        for _ in range(steps):
            following = []
            for value in front:
                node = self.maker.get(value)
                if node is None:
                    continue
                if self.weight(node) is not None:
                    return node
                following += [i for i in node.input[:2] if i]
            front = following
        return None


def alike(a, b):
    if a is None or b is None or a.size != b.size:
        return False
    best = 0
    for c in [b.ravel()] + ([b.T.ravel()] if b.ndim == 2 else []):
        best = max(best, abs(np.corrcoef(a.ravel(), c)[0, 1]))
    return best > ALIKE


def check(floats, quantized, data, extra=()):
    done = subprocess.run([CLI, "compare", floats, quantized, "--data", data, "--limit", "2", "--json", "-", "--quiet",
                           *extra], capture_output=True, text=True)
    if done.returncode != 0:
        return 0, 1, [done.stderr.strip()], 0
    document = json.loads(done.stdout)
    rows = {r["name"]: r for r in document["activations"]}
    f, q = Net(floats), Net(quantized)
    right, total, complaints, sure = 0, 0, [], 0
    for node in f.nodes:
        weight = f.weight(node) if node.op_type in HEAVY else None
        if weight is None:
            continue
        total += 1
        value, row = node.output[0], None
        for _ in range(6):  # a bias or an activation of its own may be all that is left to pair
            row = rows.get(value)
            following = f.readers.get(value, [])
            if row or len(following) != 1 or following[0].op_type not in ("Add", "Relu", "Clip", "BatchNormalization",
                                                                          "Reshape", "Flatten", "Squeeze"):
                break
            value = following[0].output[0]
        if row is None:
            complaints.append(f"{node.name}: not paired")
            continue
        partner = q.heavy_before(row["quantized_name"])
        if partner is not None and alike(weight, q.weight(partner)):
            right += 1
        else:
            confidence = row["match"]["confidence"]
            sure += confidence > SURE
            complaints.append(f"{node.name}: paired with {row['quantized_name']} ({confidence:.2f})")
    return right, total, complaints, sure


def report(cases):
    right = total = sure = 0
    for name, floats, quantized, data in cases:
        r, t, complaints, s = check(floats, quantized, data)
        right, total, sure = right + r, total + t, sure + s
        print(f"{name:44} {r:3} of {t:3}", *complaints, sep="\n    " if complaints else "")
    share = right / max(total, 1)
    print(f"{right} of {total} right ({100 * share:.1f} %), {sure} wrong with confidence above {SURE}")
    return 0 if share >= 0.99 and sure == 0 else 1


def networks():
    import torch
    from torch import nn

    torch.manual_seed(5)

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
            self.a = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                                   nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8))
            self.down = nn.Conv2d(8, 8, 1)
            self.head = nn.Linear(8, 5)

        def forward(self, x):
            x = self.stem(x)
            return self.head((torch.relu(self.a(x) + self.down(x))).mean((2, 3)))

    class Separable(nn.Module):
        def __init__(self):
            super().__init__()
            parts = [nn.Conv2d(3, 12, 3, stride=2, padding=1), nn.BatchNorm2d(12), nn.ReLU6()]
            for _ in range(3):
                parts += [nn.Conv2d(12, 12, 3, padding=1, groups=12, bias=False), nn.BatchNorm2d(12), nn.ReLU6(),
                          nn.Conv2d(12, 12, 1, bias=False), nn.BatchNorm2d(12)]
            self.body, self.head = nn.Sequential(*parts), nn.Linear(12, 7)

        def forward(self, x):
            return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(self.body(x), 1), 1))

    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv2d(3, 6, 1), nn.Conv2d(3, 6, 5, padding=2)
            self.c, self.d = nn.Conv2d(12, 8, 3), nn.Conv2d(8, 8, 3)

        def forward(self, x):
            x = self.c(torch.cat([torch.relu(self.a(x)), torch.sigmoid(self.b(x))], 1))
            return self.d(nn.functional.max_pool2d(nn.functional.leaky_relu(x), 2))

    class Mlp(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 32),
                                      nn.ReLU(), nn.Linear(32, 4))

        def forward(self, x):
            return self.body(x)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))
            self.up, self.down, self.norm = nn.Linear(16, 32), nn.Linear(32, 16), nn.LayerNorm(16)

        def forward(self, x):
            p = torch.softmax(self.q(x) @ self.k(x).transpose(1, 2) / 4, -1)
            x = self.norm(x + self.o(p @ self.v(x)))
            return x + self.down(nn.functional.gelu(self.up(x)))

    class Sequence(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Conv1d(4, 8, 5, padding=2), nn.BatchNorm1d(8), nn.ReLU(), nn.Conv1d(8, 8, 3),
                                      nn.ReLU(), nn.Conv1d(8, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())
            self.head = nn.Linear(8, 3)

        def forward(self, x):
            return self.head(self.body(x))

    picture = (1, 3, 16, 16)
    for make, shape in ((Residual, picture), (Separable, picture), (Branches, picture), (Mlp, (1, 20)),
                        (Attention, (1, 10, 16)), (Sequence, (1, 4, 40))):
        net = make().eval()
        for m in net.modules():  # normalization that does something
            if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
                m.running_mean.normal_(0, 0.3)
                m.running_var.uniform_(0.5, 2)
                m.weight.data.uniform_(0.5, 1.5)
        yield make.__name__.lower(), net, shape


def own_cases(folder):
    import onnxruntime as ort
    import torch
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self, name, samples):
            self.rest = iter([{name: s} for s in samples])

        def get_next(self):
            return next(self.rest, None)

    for name, net, shape in networks():
        def path(what):
            return os.path.join(folder, f"{name}_{what}.onnx")
        samples = np.random.default_rng(3).normal(size=(8, *shape)).astype(np.float32)
        data = os.path.join(folder, name + ".npz")
        np.savez(data, x=samples[:, 0])
        torch.onnx.export(net, (torch.zeros(shape),), path("script"), dynamo=False, opset_version=17,
                          input_names=["x"], output_names=["y"])
        torch.onnx.export(net, (torch.zeros(shape),), path("dynamo"), dynamo=True, opset_version=18,
                          input_names=["x"], output_names=["y"], external_data=False, verbose=False)
        torch.onnx.export(net, (torch.zeros(shape),), path("unfolded"), dynamo=False, opset_version=17,
                          input_names=["x"], output_names=["y"], do_constant_folding=False,
                          training=torch.onnx.TrainingMode.PRESERVE)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = path("optimized")
        ort.InferenceSession(path("script"), options, providers=["CPUExecutionProvider"])
        quant_pre_process(path("dynamo"), path("prepared"), skip_symbolic_shape=True)
        for source, target, more in (
                ("script", "script_qdq", dict(quant_format=QuantFormat.QDQ)),
                ("prepared", "dynamo_qdq", dict(quant_format=QuantFormat.QDQ, per_channel=True)),
                ("optimized", "optimized_u8", dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8)),
                ("script", "qoperator", dict(quant_format=QuantFormat.QOperator,
                                             activation_type=QuantType.QUInt8))):
            quantize_static(path(source), path(target), Reader("x", samples), **more)
        for floats, quantized in (("script", "script_qdq"), ("script", "dynamo_qdq"), ("dynamo", "script_qdq"),
                                  ("unfolded", "optimized_u8"), ("dynamo", "qoperator"), ("optimized", "dynamo_qdq")):
            yield f"{name}: {floats} / {quantized}", path(floats), path(quantized), data


def main():
    if len(sys.argv) > 3:
        floats, data = sys.argv[1:3]
        return report([(os.path.basename(q), floats, q, data) for q in sys.argv[3:]])
    with tempfile.TemporaryDirectory() as folder:
        return report(list(own_cases(folder)))


if __name__ == "__main__":
    sys.exit(main())
