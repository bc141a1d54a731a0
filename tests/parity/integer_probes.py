# SPDX-License-Identifier: GPL-3.0-or-later
"""Small quantized models, one for each rule of ONNX Runtime's optimizer that the integer profiles follow. Weights and
inputs are full of extreme codes, so that sums saturate wherever they can. Used by integer.py."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

U8, S8 = {"t": np.uint8, "z": 128}, {"t": np.int8, "z": 0}


class Net:
    """A graph under construction: every method returns the name of its result."""

    def __init__(self, rng, opset=17):
        self.rng, self.opset = rng, opset
        self.nodes, self.stored, self.inputs, self.outputs, self.data = [], [], [], [], {}

    def new(self, stem):
        return f"{stem}{len(self.nodes) + len(self.stored) + len(self.inputs)}"

    def const(self, value):
        name = self.new("c")
        self.stored.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def input(self, *shape, samples=3, spread=8.0):
        name = self.new("x")
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.data[name] = (self.rng.normal(size=(samples, *shape)) * spread).astype(np.float32)
        return name

    def output(self, name, kind=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, kind, None))

    def op(self, kind, *inputs, domain="", **attributes):
        name = self.new(kind.lower())
        self.nodes.append(helper.make_node(kind, inputs, [name], name=self.new("node"), domain=domain, **attributes))
        return name

    def grid(self, s=0.05, z=128, t=np.uint8):
        return self.const(np.float32(s)), self.const(t(z))

    def qdq(self, x, s=0.05, z=128, t=np.uint8):
        grid = self.grid(s, z, t)
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, *grid), *grid)

    def weight(self, *shape, s=0.01, t=np.int8, z=0, channels=None, axis=0):
        low, high = np.iinfo(t).min, np.iinfo(t).max
        codes = self.rng.integers(low, high + 1, shape)
        extreme = self.rng.random(shape)
        codes = np.where(extreme < 0.2, low, np.where(extreme > 0.8, high, codes)).astype(t)
        if channels:
            scales = (s * self.rng.uniform(0.5, 1.5, channels)).astype(np.float32)
            self.scales = scales
            return self.op("DequantizeLinear", self.const(codes), self.const(scales), self.const(np.full(channels, z, t)),
                           axis=axis)
        self.scales = np.float32(s)
        return self.op("DequantizeLinear", self.const(codes), self.const(np.float32(s)), self.const(t(z)))

    def bias(self, n, input_scale=0.05):
        codes = self.rng.integers(-3000, 3000, n).astype(np.int32)
        scale = np.float32(input_scale) * self.scales
        attributes = {"axis": 0} if scale.ndim else {}
        return self.op("DequantizeLinear", self.const(codes), self.const(scale.astype(np.float32)), **attributes)

    def conv(self, x, m=8, c=4, k=(3, 3), t=np.int8, z=0, channels=False, bias=True, **attributes):
        w = self.weight(m, c, *k, t=t, z=z, channels=m if channels else None)
        attributes.setdefault("pads", [n // 2 for n in k] * 2)
        return self.op("Conv", x, w, *([self.bias(m)] if bias else []), kernel_shape=list(k), **attributes)

    def save(self, folder, title):
        graph = helper.make_graph(self.nodes, "probe", self.inputs, self.outputs, self.stored)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        stem = os.path.join(folder, "".join(ch if ch.isalnum() else "_" for ch in title))
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), stem + ".onnx")
        np.savez(stem + ".npz", **self.data)
        return title, stem + ".onnx", stem + ".npz"


I = (1, 4, 9, 7)
PROBES = {}


def probe(title, opset=17, **arguments):
    def take(build):
        PROBES[title] = (build, opset, arguments)
        return build
    return take


def convolution(n, q=U8, out=None, shape=I, **conv):
    n.output(n.qdq(n.conv(n.qdq(n.input(*shape), **q), **conv), s=1.5, **(out or q)))


for name, how in {
    "u8 s8": {}, "s8 s8": {"q": S8}, "u8 u8": {"t": np.uint8, "z": 120}, "s8 u8": {"q": S8, "t": np.uint8, "z": 120},
    "u8 to s8": {"out": S8}, "per channel": {"channels": True}, "no bias": {"bias": False},
    "s8 per channel, zero point": {"q": {"t": np.int8, "z": -13}, "channels": True},
    "1x1": {"k": (1, 1)}, "odd channels": {"c": 3, "shape": (1, 3, 9, 7)}, "one channel": {"c": 1, "shape": (1, 1, 9, 7)},
    "groups": {"c": 4, "m": 6, "shape": (2, 8, 9, 7), "group": 2}, "depthwise": {"c": 1, "m": 4, "group": 4},
    "depthwise s8": {"c": 1, "m": 4, "group": 4, "q": S8}, "depthwise, multiplier": {"c": 1, "m": 8, "group": 4},
    "strides": {"strides": [2, 2]}, "dilations": {"dilations": [2, 1]}, "1-D": {"k": (3,), "shape": (1, 4, 31)},
    "3-D": {"k": (2, 3, 2), "shape": (1, 4, 5, 6, 5)}, "wide": {"m": 33, "c": 37, "shape": (1, 37, 5, 5)},
}.items():
    PROBES["conv " + name] = (convolution, 17, how)
for version in (10, 13, 19, 21, 23, 24):
    PROBES[f"conv, opset {version}"] = (convolution, version, {})


@probe("conv, equal quantizers twice")
def _(n):
    y, grid = n.conv(n.qdq(n.input(*I))), n.grid(1.5)
    for _ in range(2):
        n.output(n.op("Sigmoid", n.op("DequantizeLinear", n.op("QuantizeLinear", y, *grid), *grid)))


@probe("conv, two quantizers")
def _(n):
    y = n.conv(n.qdq(n.input(*I)))
    for s in (1.5, 2.0):
        n.output(n.op("Sigmoid", n.qdq(y, s=s)))


@probe("branch u8", q=U8)
@probe("branch s8", q=S8)
def _(n, q):
    x = n.qdq(n.input(*I), **q)
    a, b = n.qdq(n.conv(x, m=4), s=1.5, **q), n.qdq(n.conv(x, m=4), s=1.5, **q)
    n.output(n.qdq(n.op("Add", a, b), s=2.0, **q))


@probe("residual u8", q=U8)
@probe("residual s8", q=S8)
def _(n, q):
    x = n.qdq(n.input(*I), **q)
    y = n.qdq(n.op("Add", n.qdq(n.conv(x, m=4), s=1.5, **q), x), s=1.5, **q)
    n.output(n.qdq(n.conv(y), s=60.0, **q))


@probe("conv output is read")
def _(n):
    y = n.conv(n.qdq(n.input(*I)))
    n.output(n.qdq(y, s=1.5))
    n.output(y)


@probe("codes are read u8", q=U8, kind=TensorProto.UINT8)
@probe("codes are read s8", q=S8, kind=TensorProto.INT8)
def _(n, q, kind):
    grid = n.grid(1.5, q["z"], q["t"])
    codes = n.op("QuantizeLinear", n.conv(n.qdq(n.input(*I), **q)), *grid)
    n.output(codes, kind)
    n.output(n.op("DequantizeLinear", codes, *grid))


for z, t in ((0, np.uint8), (128, np.uint8), (-128, np.int8), (0, np.int8)):
    def relu(n, z, t):
        x = n.qdq(n.input(*I), t=t, z=128 if t == np.uint8 else 0)
        n.output(n.qdq(n.op("Relu", n.conv(x)), s=0.7, z=z, t=t))
    PROBES[f"conv, Relu, zero point {z} {t.__name__}"] = (relu, 17, {"z": z, "t": t})
for s in (6 / 255, 8 / 255):
    def clip(n, s):
        y = n.op("Clip", n.conv(n.qdq(n.input(*I), s=0.05), bias=False), n.const(np.float32(0)), n.const(np.float32(6)))
        n.output(n.qdq(y, s=s, z=0))
    PROBES[f"conv, Clip, scale {s:.3f}"] = (clip, 17, {"s": s})


def behind(n, move, conv_after=1, q=U8):
    x = n.qdq(n.input(*I), **q)
    y = move(n, x)
    for _ in range(conv_after):
        n.output(n.qdq(n.conv(y), s=1.5, **q))


def maxpool(n, x):
    return n.op("MaxPool", x, kernel_shape=[2, 2])


def reshape(n, x):
    return n.op("Reshape", x, n.const(np.array([1, 4, 7, 9])))


for move in (maxpool, reshape):
    for readers in (1, 2):
        for q in (U8, S8):
            PROBES[f"{move.__name__}, {readers} conv {q['t'].__name__}"] = (
                behind, 17, {"move": move, "conv_after": readers, "q": q})


@probe("conv, Relu, MaxPool")
def _(n):
    n.output(n.qdq(maxpool(n, n.op("Relu", n.conv(n.qdq(n.input(*I))))), s=0.7, z=0))


@probe("conv, Reshape")
def _(n):
    n.output(n.qdq(n.op("Reshape", n.conv(n.qdq(n.input(*I))), n.const(np.array([1, -1]))), s=1.5))


@probe("conv, Flatten")
def _(n):
    n.output(n.qdq(n.op("Flatten", n.conv(n.qdq(n.input(*I)))), s=1.5))


@probe("float weight and bias")
def _(n):
    w, b = n.rng.normal(size=(8, 4, 3, 3)) + 0.3, n.rng.normal(size=8)
    n.output(n.qdq(n.op("Conv", n.qdq(n.input(*I)), n.const(w.astype(np.float32)), n.const(b.astype(np.float32))), s=1.5))


@probe("float bias")
def _(n):
    n.output(n.qdq(n.op("Conv", n.qdq(n.input(*I)), n.weight(8, 4, 3, 3, channels=8),
                        n.const(n.rng.normal(size=8).astype(np.float32))), s=1.5))


@probe("float weight, Relu that stays")
def _(n):
    w = n.const(n.rng.normal(size=(8, 4, 3, 3)).astype(np.float32))
    n.output(n.qdq(n.op("Relu", n.op("Conv", n.qdq(n.input(*I)), w)), s=0.7, z=128))


@probe("ConvTranspose, float weight and bias")
def _(n):
    w, b = n.rng.normal(size=(4, 8, 3, 3)), n.rng.normal(size=8)
    y = n.op("ConvTranspose", n.qdq(n.input(*I)), n.const(w.astype(np.float32)), n.const(b.astype(np.float32)))
    n.output(n.qdq(y, s=1.5))


@probe("bias of another scale")
def _(n):
    x, w = n.qdq(n.input(*I)), n.weight(8, 4, 3, 3)
    n.output(n.qdq(n.op("Conv", x, w, n.bias(8, 0.2)), s=1.5))


@probe("gemm", q=U8)
@probe("gemm s8", q=S8)
@probe("gemm, alpha", q=U8, bias=False, alpha=0.5)
@probe("gemm, alpha and bias", q=U8, alpha=0.5)
@probe("gemm, beta", q=U8, beta=2.0)
@probe("gemm, no bias", q=U8, bias=False)
@probe("gemm, transB", q=U8, transB=1)
@probe("gemm, transB per channel", q=U8, transB=1, channels=8)
@probe("gemm, wrong bias scale", q=U8, biasScale=0.9)
@probe("gemm, no quantizer", q=U8, end=False)
@probe("gemm s8, no quantizer", q=S8, end=False)
def _(n, q, bias=True, end=True, channels=None, biasScale=0.05, **attributes):
    x = n.qdq(n.input(5, 37), **q)
    shape = (8, 37) if attributes.get("transB") else (37, 8)
    y = n.op("Gemm", x, n.weight(*shape, channels=channels), *([n.bias(8, biasScale)] if bias else []), **attributes)
    n.output(n.qdq(y, s=1.5, **q) if end else y)


@probe("gemm, one row")
def _(n):
    n.output(n.qdq(n.op("Gemm", n.qdq(n.input(1, 64)), n.weight(64, 17), n.bias(17)), s=1.5))


@probe("gemm s8, codes read")
def _(n):
    x, grid = n.qdq(n.input(5, 36), **S8), n.grid(1.5, 0, np.int8)
    n.output(n.op("QuantizeLinear", n.op("Gemm", x, n.weight(36, 8), n.bias(8)), *grid), TensorProto.INT8)
    n.output(n.qdq(n.op("Gemm", x, n.weight(36, 8), n.bias(8)), s=1.5, **S8))


@probe("matmul u8", q=U8)
@probe("matmul s8", q=S8)
@probe("matmul u8 u8", q=U8, w={"t": np.uint8, "z": 120})
@probe("matmul per channel", q=U8, w={"channels": 8, "axis": 1})
@probe("matmul, no quantizer", q=U8, end=False)
@probe("matmul s8, no quantizer", q=S8, end=False)
@probe("matmul, Relu", q=U8, relu=0)
@probe("matmul, Relu that stays", q=U8, relu=128)
def _(n, q, w=None, end=True, relu=None):
    y = n.op("MatMul", n.qdq(n.input(5, 37), **q), n.weight(37, 8, **(w or {})))
    if relu is not None:
        return n.output(n.qdq(n.op("Relu", y), s=0.7, z=relu))
    n.output(n.qdq(y, s=1.5, **q) if end else y)


@probe("matmul + addend", shape=(5, 37))
@probe("matmul + addend, rank 3", shape=(2, 5, 37))
def _(n, shape):
    y = n.op("MatMul", n.qdq(n.input(*shape)), n.weight(37, 8))
    n.output(n.qdq(n.op("Add", y, n.const(n.rng.normal(size=8).astype(np.float32))), s=1.5))


@probe("matmul + addend, no quantizer")
def _(n):
    n.output(n.op("Add", n.op("MatMul", n.qdq(n.input(5, 37)), n.weight(37, 8)), n.const(np.ones(8, np.float32))))


@probe("matmul + matrix")
def _(n):
    y = n.op("MatMul", n.qdq(n.input(5, 37)), n.weight(37, 8))
    n.output(n.qdq(n.op("Add", y, n.const(np.ones((5, 8), np.float32))), s=1.5))


for a in (U8, S8):
    for b in (U8, S8):
        def product(n, a, b):
            n.output(n.qdq(n.op("MatMul", n.qdq(n.input(5, 37), **a), n.qdq(n.input(37, 8), **b)), s=15.0, **a))
        PROBES[f"matmul of activations {a['t'].__name__} {b['t'].__name__}"] = (product, 17, {"a": a, "b": b})


@probe("attention scores")
def _(n):
    a = n.op("Transpose", n.qdq(n.input(1, 6, 2, 8)), perm=[0, 2, 1, 3])
    b = n.op("Transpose", n.qdq(n.input(1, 6, 2, 8)), perm=[0, 2, 3, 1])
    y = n.qdq(n.op("MatMul", a, b), s=4.0)
    n.output(n.qdq(n.op("Softmax", y), s=1 / 256, z=0))


for kind in ("Add", "Mul"):
    for a, b, out in ((U8, U8, U8), (S8, S8, S8), (U8, S8, U8), (S8, U8, S8)):
        def binary(n, kind, a, b, out):
            y = n.op(kind, n.qdq(n.input(3, 40), **a), n.qdq(n.input(1, 40), s=0.07, **b))
            n.output(n.qdq(y, s=0.1 if kind == "Add" else 0.6, **out))
        PROBES[f"{kind} {a['t'].__name__} {b['t'].__name__}"] = (binary, 17, {"kind": kind, "a": a, "b": b, "out": out})


@probe("add to itself u8", q=U8)
@probe("add to itself s8", q=S8)
def _(n, q):
    x = n.qdq(n.input(3, 40), **q)
    n.output(n.qdq(n.op("Add", x, x), s=0.1, **q))


@probe("add, stored codes u8", q=U8)
@probe("add, stored codes s8", q=S8)
def _(n, q):
    n.output(n.qdq(n.op("Add", n.qdq(n.input(3, 40), **q), n.weight(40, t=q["t"], z=q["z"])), s=0.1, **q))


@probe("swish")
def _(n):
    y = n.qdq(n.conv(n.qdq(n.input(*I))), s=1.5)
    n.output(n.qdq(n.op("Mul", n.qdq(n.op("Sigmoid", y), s=1 / 256, z=0), y), s=1.2))


for kind, how, s, z in (("Sigmoid", {}, 1 / 256, 0), ("LeakyRelu", {"alpha": 0.2}, 0.04, 100), ("Softmax", {}, 1 / 256, 0),
                        ("Softmax", {"axis": 2}, 1 / 256, 0), ("GlobalAveragePool", {}, 0.02, 120),
                        ("AveragePool", {"kernel_shape": [3, 2]}, 0.03, 120),
                        ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2],
                                         "count_include_pad": 1, "ceil_mode": 1}, 0.03, 120),
                        ("Tanh", {}, 1 / 128, 128), ("ReduceMean", {"axes": [2, 3]}, 0.02, 120)):
    for q in (U8, S8):
        def unary(n, kind, how, s, z, q):
            x = n.qdq(n.input(*I), **q)
            n.output(n.qdq(n.op(kind, x, **how), s=s, z=z if q is U8 else z - 128, t=q["t"]))
        PROBES[f"{kind} {how} {q['t'].__name__}"] = (unary, 17, {"kind": kind, "how": how, "s": s, "z": z, "q": q})


@probe("concat")
def _(n):
    n.output(n.qdq(n.op("Concat", n.qdq(n.input(3, 8)), n.qdq(n.input(3, 5), s=0.07, z=90), axis=1), s=0.07, z=90))


@probe("where")
def _(n):
    x = n.input(3, 8)
    y = n.op("Where", n.op("Greater", x, n.const(np.float32(0))), n.qdq(x), n.qdq(n.input(3, 8), s=0.07, z=90))
    n.output(n.qdq(y, s=0.06))


@probe("where, number", number=-3.0)
@probe("where, positive number", number=4.5)
@probe("where, first number", number=-1e9, first=True)
@probe("where, number s8", number=-3.0, q=S8)
def _(n, number, first=False, q=U8):
    x = n.input(3, 8)
    sides = [n.qdq(x, **q), n.const(np.float32(number))]
    y = n.op("Where", n.op("Greater", x, n.const(np.float32(0))), *(sides[::-1] if first else sides))
    n.output(n.qdq(y, s=0.06, **q))


@probe("movements")
def _(n):
    x = n.qdq(n.input(1, 8, 4, 4))
    for y in (n.op("DepthToSpace", x, blocksize=2), n.op("Flatten", x), n.op("Transpose", x, perm=[0, 2, 3, 1]),
              n.op("Slice", x, n.const(np.array([1])), n.const(np.array([3])), n.const(np.array([1]))),
              n.op("Gather", x, n.const(np.array([2, 0, 1])), axis=1), n.op("Tile", x, n.const(np.array([1, 2, 1, 1]))),
              n.op("Unsqueeze", x, n.const(np.array([0]))), n.op("MaxPool", x, kernel_shape=[2, 2]),
              n.op("Resize", x, "", n.const(np.array([1, 1, 2, 2], np.float32)), mode="nearest"),
              n.op("Reshape", x, n.const(np.array([4, -1])))):
        n.output(n.qdq(y))


@probe("movement to another grid")
def _(n):
    n.output(n.qdq(n.op("Reshape", n.qdq(n.input(*I)), n.const(np.array([4, -1]))), s=0.06))


@probe("not joined")
def _(n):
    x, y = n.qdq(n.input(*I)), n.qdq(n.input(*I), z=100)
    for z in (n.op("Sub", x, y), n.op("Div", x, n.op("Abs", y)), n.op("ConvTranspose", x, n.weight(4, 8, 3, 3))):
        n.output(n.qdq(z, s=1.1))


@probe("identities between")
def _(n):
    y = n.op("Identity", n.conv(n.op("Identity", n.qdq(n.input(*I)))))
    n.output(n.qdq(y, s=1.5))


@probe("QOperator u8", q=U8)
@probe("QOperator s8", q=S8)
def _(n, q):
    xs, xz = n.grid(**{"s": 0.05, **q})
    ys, yz = n.grid(**{"s": 1.5, **q})
    x = n.op("QuantizeLinear", n.input(*I), xs, xz)
    w = n.const(np.where(n.rng.random((8, 4, 3, 3)) < 0.5, -128, 127).astype(np.int8))
    y = n.op("QLinearConv", x, xs, xz, w, n.const(np.float32(0.01)), n.const(np.int8(0)), ys, yz, pads=[1, 1, 1, 1])
    n.output(n.op("DequantizeLinear", y, ys, yz))
    flat = n.op("Reshape", y, n.const(np.array([8, -1])))
    w = n.const(np.where(n.rng.random((63, 9)) < 0.5, -128, 127).astype(np.int8))
    z = n.op("QLinearMatMul", flat, ys, yz, w, n.const(np.float32(0.01)), n.const(np.int8(0)), *n.grid(**{"s": 90.0, **q}))
    n.output(z, TensorProto.UINT8 if q is U8 else TensorProto.INT8)


@probe("MatMulInteger", w=np.int8)
@probe("MatMulInteger u8", w=np.uint8)
def _(n, w):
    x, zero = n.op("QuantizeLinear", n.input(5, 37), *(grid := n.grid())), grid[1]
    codes = n.const(np.where(n.rng.random((37, 9)) < 0.5, np.iinfo(w).min, np.iinfo(w).max).astype(w))
    n.output(n.op("MatMulInteger", x, codes, zero, n.const(w(3))), TensorProto.INT32)


@probe("DynamicQuantizeMatMul")
def _(n):
    codes = n.const(np.where(n.rng.random((37, 9)) < 0.5, -128, 127).astype(np.int8))
    n.output(n.op("DynamicQuantizeMatMul", n.input(5, 37), codes, n.const(np.float32(0.01)), domain="com.microsoft"))


@probe("DynamicQuantizeLSTM", t=np.int8)
@probe("DynamicQuantizeLSTM u8", t=np.uint8)
def _(n, t):
    low, high = np.iinfo(t).min, np.iinfo(t).max
    codes = [n.const(np.where(n.rng.random((1, k, 32)) < 0.5, low, high).astype(t)) for k in (7, 8)]
    grid = [n.const(np.array([v], k)) for v, k in ((0.002, np.float32), ((low + high + 1) // 2, t))]
    name = n.op("DynamicQuantizeLSTM", n.input(5, 2, 7), *codes, "", "", "", "", "", *grid, *grid, domain="com.microsoft",
                hidden_size=8)
    n.output(name)


def write_all(folder, seed):
    rng = np.random.default_rng(seed)
    for title, (build, opset, arguments) in PROBES.items():
        net = Net(rng, opset)
        build(net, **arguments)
        yield net.save(folder, title)
