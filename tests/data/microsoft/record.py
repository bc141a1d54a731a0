#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what ONNX Runtime computes for its own operators, and for what the standard does not define: each case a model that also stores, as initializers which no
node reads, what to feed ("feed:NAME") and what came out ("expected:NAME").

    record.py [--out FOLDER] [--only PREFIX] [--seed N] [--times N]

Without options it writes the cases beside itself (recorded with onnxruntime 1.31.1, optimizations off). With --out and
--times it makes more of them, with other random numbers, for QS_MICROSOFT_DIR=FOLDER test_microsoft.
"""
import argparse
import pathlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper, numpy_helper

MS = "com.microsoft"
RNG = np.random.default_rng(1)


class Case:
    """One model: nodes, graph inputs with data, stored weights."""

    def __init__(self, name, ir=10, opset=21):
        self.name, self.nodes, self.inputs, self.stored, self.outputs = name, [], {}, {}, []
        self.ir, self.opset = ir, opset
        self.types = {}  # of outputs whose type the runtime does not infer
        self.buffers = {}  # of outputs that lie in the memory of inputs: the input

    def feed(self, name, value):
        self.inputs[name] = value
        return name

    def store(self, name, value):
        self.stored[name] = value
        return name

    def node(self, op, inputs, outputs=1, domain=MS, **attributes):
        base = f"y{len(self.nodes)}"
        names = [base if k == 0 else f"{base}_{k}" for k in range(outputs)] if isinstance(outputs, int) else outputs
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        self.outputs += [n for n in names if n]
        return names[0]

    def model(self):
        inputs = [helper.make_tensor_value_info(n, tensor(v).data_type, list(v.shape)) for n, v in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(n, self.types[n], None) if n in self.types else onnx.ValueInfoProto(name=n) for n in self.outputs]
        stored = [tensor(v, n) for n, v in self.stored.items()]
        graph = helper.make_graph(self.nodes, self.name, inputs, outputs, stored)
        imports = [helper.make_opsetid("", self.opset), helper.make_opsetid(MS, 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=self.ir)

    def save(self, folder):
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        model = self.model()
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = self.run_in_place(session) if self.buffers else session.run(self.outputs, self.inputs)
        for info, value in zip(model.graph.output, results):
            info.CopyFrom(helper.make_tensor_value_info(info.name, tensor(value).data_type, list(value.shape)))
        model.graph.initializer.extend(tensor(v, "feed:" + n) for n, v in self.inputs.items())
        model.graph.initializer.extend(tensor(v, "expected:" + n) for n, v in zip(self.outputs, results))
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(model, folder / f"{self.name}.onnx")

    def run_in_place(self, session):
        arrays = {n: np.array(v) for n, v in self.inputs.items()}  # which live as long as the values do
        values = {n: ort.OrtValue.ortvalue_from_numpy(v) for n, v in arrays.items()}
        binding = session.io_binding()
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        for name in self.outputs:
            if name in self.buffers:
                binding.bind_ortvalue_output(name, values[self.buffers[name]])
            else:
                binding.bind_output(name)
        session.run_with_iobinding(binding)
        return [np.array(v.numpy()) for v in binding.get_outputs()]


class Packed:
    """A tensor of an element type that numpy does not have."""

    def __init__(self, values, kind):
        self.values, self.kind, self.shape = values, kind, values.shape


def tensor(value, name=""):
    if isinstance(value, Packed):
        return helper.make_tensor(name, value.kind, value.shape, value.values.flatten())
    return numpy_helper.from_array(np.asarray(value), name)


def floats(*shape, scale=1.0, dtype=np.float32):
    return (RNG.standard_normal(shape) * scale).astype(dtype)


def codes(*shape, dtype=np.uint8):
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max + 1, shape).astype(dtype)


def number(value, dtype=np.float32):
    return np.array(value, dtype)


def pick(*choices):
    return choices[RNG.integers(len(choices))]


def fused_conv():
    c = Case("fused_conv")
    x = c.feed("x", floats(1, 4, 5, 6))
    w, b = c.store("w", floats(6, 4, 3, 3, scale=0.3)), c.store("b", floats(6))
    z = c.feed("z", floats(1, 6, 5, 6))
    for activation, params in (("Relu", None), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.3, 0.4]),
                               ("Tanh", None), ("Sigmoid", None)):
        more = {"activation_params": params} if params else {}
        c.node("FusedConv", [x, w, b], activation=activation, pads=[1, 1, 1, 1], **more)
    c.node("FusedConv", [x, w, b, z], activation="Relu", pads=[1, 1, 1, 1])
    c.node("FusedConv", [x, w], strides=[2, 2])
    return c


def fused_gemm():
    c = Case("fused_gemm")
    a, b, bias = c.feed("a", floats(5, 7)), c.store("b", floats(7, 6)), c.store("c", floats(6))
    at, bt = c.feed("at", floats(7, 5)), c.feed("bt", floats(6, 7))
    c.node("FusedGemm", [a, b, bias], activation="Relu", alpha=0.7, beta=1.3)
    c.node("FusedGemm", [at, bt, bias], activation="LeakyRelu", activation_alpha=0.2, transA=1, transB=1)
    c.node("FusedGemm", [a, b], activation="Tanh")
    c.node("FusedGemm", [a, b, bias], activation="Elu", activation_alpha=0.6)
    return c


def fused_matmul(dtype=np.float32):
    c = Case("fused_matmul" if dtype == np.float32 else f"fused_matmul_{np.dtype(dtype).name}")
    a, b = c.feed("a", floats(2, 3, 4, 5, dtype=dtype)), c.store("b", floats(5, 6, dtype=dtype))
    bt, at = c.store("bt", floats(6, 5, dtype=dtype)), c.feed("at", floats(2, 3, 5, 4, dtype=dtype))
    c.node("FusedMatMul", [a, b], alpha=0.25)
    c.node("FusedMatMul", [a, bt], transB=1, alpha=2.0)
    c.node("FusedMatMul", [at, bt], transA=1, transB=1)
    # the first axis stands before the last one: 4x2x3x5 is 2x3 matrices of 4x5
    p, q = c.feed("p", floats(4, 2, 3, 5, dtype=dtype)), c.feed("q", floats(5, 2, 3, 6, dtype=dtype))
    c.node("FusedMatMul", [p, q], transBatchA=1, transBatchB=1, alpha=0.5)
    r, s = c.feed("r", floats(5, 2, 3, 4, dtype=dtype)), c.feed("s", floats(6, 2, 3, 5, dtype=dtype))
    c.node("FusedMatMul", [r, s], transBatchA=1, transBatchB=1, transA=1, transB=1)
    v = c.feed("v", floats(5, dtype=dtype))
    c.node("FusedMatMul", [v, b], transA=1)
    return c


def gelus():
    c = Case("gelus")
    x, b = c.feed("x", floats(2, 3, 9, scale=2)), c.store("b", floats(9))
    c.node("Gelu", [x])
    c.node("FastGelu", [x])
    c.node("FastGelu", [x, b])
    c.node("BiasGelu", [x, b])
    c.node("QuickGelu", [x])
    c.node("QuickGelu", [x], alpha=0.8)
    return c


def skip_norms(dtype=np.float32):
    c = Case("skip_norms" if dtype == np.float32 else f"skip_norms_{np.dtype(dtype).name}")
    x, skip = c.feed("x", floats(2, 3, 8, dtype=dtype)), c.feed("skip", floats(2, 3, 8, dtype=dtype))
    row = c.feed("row", floats(1, 3, 8, dtype=dtype))
    g, b, bias = (c.store(n, floats(8, dtype=dtype)) for n in ("g", "b", "bias"))
    c.node("SkipLayerNormalization", [x, skip, g, b], epsilon=1e-3)
    c.node("SkipLayerNormalization", [x, row, g], ["s1"])
    c.node("SkipLayerNormalization", [x, skip, g, b, bias], ["s2", "", "", "s2_sum"])
    c.node("SkipSimplifiedLayerNormalization", [x, skip, g], ["s3"], epsilon=1e-2)
    c.node("SkipSimplifiedLayerNormalization", [x, skip, g, bias], ["s4", "", "", "s4_sum"])
    c.node("SimplifiedLayerNormalization", [x, g], ["s5"], domain="", epsilon=1e-2, axis=-1)
    if dtype == np.float32:
        c.node("SimplifiedLayerNormalization", [x, g], ["s6", "s6_inverse"], domain="", axis=2)
    return c


def nhwc():
    c = Case("nhwc")
    x = c.feed("x", codes(1, 5, 6, 4))
    c.node("NhwcMaxPool", [x], kernel_shape=[3, 2], pads=[1, 0, 1, 0], strides=[2, 1])
    w, xs, ws, ys = codes(8, 4, 3, 3, dtype=np.int8), number(0.02), number(0.01), number(0.3)
    names = [x, "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
    for name, value in zip(names[1:], [xs, number(120, np.uint8), w, ws, number(0, np.int8), ys, number(99, np.uint8),
                                       RNG.integers(-3000, 3000, 8).astype(np.int32)]):
        c.store(name, value)
    c.node("QLinearConv", names, channels_last=1, pads=[1, 1, 1, 1])
    return c


def embed():
    c = Case("embed")
    ids = c.feed("ids", RNG.integers(0, 11, (2, 5)).astype(np.int32))
    segments = c.feed("segments", RNG.integers(0, 2, (2, 5)).astype(np.int32))
    mask = c.feed("mask", np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32))
    positions = c.feed("positions", RNG.integers(0, 7, (2, 5)).astype(np.int32))
    tables = [c.store(n, floats(*shape)) for n, shape in (("word", (11, 8)), ("position", (7, 8)), ("segment", (2, 8)),
                                                          ("gamma", (8,)), ("beta", (8,)))]
    c.node("EmbedLayerNormalization", [ids, segments, *tables, mask], ["a", "a_index", "a_sum"], epsilon=1e-3)
    c.node("EmbedLayerNormalization", [ids, "", *tables[:2], "", *tables[3:]], ["b", "b_index"])
    c.node("EmbedLayerNormalization", [ids, segments, *tables, "", positions], ["d", "d_index"])
    return c


def embed_quantized():
    c = Case("embed_quantized")
    ids = c.feed("ids", RNG.integers(0, 11, (2, 5)).astype(np.int32))
    segments = c.feed("segments", RNG.integers(0, 2, (2, 5)).astype(np.int32))
    mask = c.feed("mask", np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32))
    names = ("word", "position", "segment", "gamma", "beta")
    for name, shape in zip(names, ((11, 8), (7, 8), (2, 8), (8,), (8,))):
        c.store(name, codes(*shape))
        c.store(name + "_scale", number(RNG.random() * 0.05 + 0.01))
        c.store(name + "_zero", number(RNG.integers(100, 150), np.uint8))
    c.node("QEmbedLayerNormalization", [ids, segments, *names, mask, *[n + "_scale" for n in names],
                                        *[n + "_zero" for n in names]], ["a", "a_index"], epsilon=1e-3)
    return c


def packed(values, bits):
    """Codes packed along the last axis, lowest bits first."""
    per = 8 // bits
    pad = [(0, 0)] * (values.ndim - 1) + [(0, -values.shape[-1] % per)]
    v = np.pad(values, pad).reshape(*values.shape[:-1], -1, per)
    return sum(v[..., k].astype(np.uint8) << np.uint8(k * bits) for k in range(per)).astype(np.uint8)


def nbits(bits, level, dtype=np.float32):
    c = Case(f"nbits_{bits}_{level}" + ("" if dtype == np.float32 else "_float16"))
    for k, (size, block, zero, more) in enumerate((
            (96, 32, None, None), (70, 16, "codes", "bias"), (40, 64, "floats", None), (64, 16, None, "groups"),
            (48, 32, None, "bias"))):
        if (bits == 8 and (zero == "floats" or more == "groups")) or (bits != 4 and more == "groups"):
            continue
        columns, blocks = 5, -(-size // block)
        a = c.feed(f"a{k}", floats(*((2, 3, size) if k == 1 else (3, size)), dtype=dtype))
        w = c.store(f"w{k}", packed(RNG.integers(0, 2**bits, (columns, blocks, block)), bits))
        s = c.store(f"s{k}", (RNG.random((columns, blocks)) * 0.1 + 0.01).astype(dtype))
        z = g = b = ""
        if zero == "codes":
            z = c.store(f"z{k}", packed(RNG.integers(0, 2**bits, (columns, blocks)), bits))
        if zero == "floats":
            z = c.store(f"z{k}", (RNG.random((columns, blocks)) * 2**bits).astype(dtype))
        if more == "groups":
            g = c.store(f"g{k}", RNG.permutation(np.arange(size) // block).astype(np.int32))
        if more == "bias":
            b = c.store(f"b{k}", floats(columns, dtype=dtype))
        attributes = {"accuracy_level": level} if level else {}
        c.node("MatMulNBits", [a, w, s, z, g, b], K=size, N=columns, bits=bits, block_size=block, **attributes)
    return c


def bnb4():
    c = Case("bnb4")
    a = c.feed("a", floats(3, 48))
    for kind in (0, 1):
        w = c.store(f"w{kind}", codes(5 * 48 // 2))
        s = c.store(f"s{kind}", (RNG.random(15) + 0.1).astype(np.float32))
        c.node("MatMulBnb4", [a, w, s], K=48, N=5, block_size=16, quant_type=kind)
    return c


def gather_blocks():
    c = Case("gather_blocks", ir=10)
    indices = c.feed("indices", np.array([[1, 4], [-1, 0]], np.int64))
    one = c.feed("one", np.array(2, np.int32))
    for k, kind in enumerate((T.INT4, T.UINT4)):
        low, high = (-8, 7) if kind == T.INT4 else (0, 15)
        w = c.store(f"w{k}", Packed(RNG.integers(low, high + 1, (5, 40)), kind))
        s = c.store(f"s{k}", (RNG.random((5, 3)) * 0.1).astype(np.float32))
        z = c.store(f"z{k}", Packed(RNG.integers(low, high + 1, (5, 3)), kind))
        c.node("GatherBlockQuantized", [w, indices, s], block_size=16)
        c.node("GatherBlockQuantized", [w, one, s, z], block_size=16)
    w = c.store("wide", Packed(RNG.integers(-8, 8, (4, 32, 6)), T.INT4))
    s = c.store("wide_s", (RNG.random((4, 2, 6)) * 0.1).astype(np.float32))
    c.node("GatherBlockQuantized", [w, one, s], block_size=16, gather_axis=0, quantize_axis=1)
    c.node("GatherBlockQuantized", [w, one, s], block_size=16, gather_axis=2, quantize_axis=1)
    c.node("GatherBlockQuantized", [w, one, s], block_size=16, gather_axis=1, quantize_axis=1)
    for bits in (2, 4, 8):
        w = c.store(f"u{bits}", packed(RNG.integers(0, 2**bits, (5, 48)), bits))
        s = c.store(f"us{bits}", (RNG.random((5, 3)) * 0.1).astype(np.float32))
        z = c.store(f"uz{bits}", packed(RNG.integers(0, 2**bits, (5, 3)), bits))
        c.node("GatherBlockQuantized", [w, indices, s], block_size=16, bits=bits)
        c.node("GatherBlockQuantized", [w, indices, s, z], block_size=16, bits=bits)
    return c


def attention(dtype=np.float32):
    c = Case("attention" if dtype == np.float32 else f"attention_{np.dtype(dtype).name}")
    x, w, b = c.feed("x", floats(2, 4, 6, dtype=dtype)), c.store("w", floats(6, 24, dtype=dtype)), c.store("b", floats(24, dtype=dtype))
    past = c.feed("past", floats(2, 2, 2, 3, 4, dtype=dtype))
    ends = c.feed("ends", np.array([2, 4], np.int32))
    ranges = c.feed("ranges", np.array([3, 4, 1, 0], np.int32))
    keys = c.feed("keys", np.array([[1, 1, 0, 1], [0, 1, 1, 1]], np.int32))
    keys_past = c.feed("keys_past", np.array([[0, 1, 1, 1, 0, 1, 1], [1] * 7], np.int32))
    both = c.feed("both", RNG.integers(0, 2, (2, 4, 4)).astype(np.int32))
    none = c.feed("none", np.zeros((2, 4), np.int32))
    bias = c.feed("bias", floats(1, 2, 4, 4, dtype=dtype))
    c.node("Attention", [x, w, b], num_heads=2)
    c.node("Attention", [x, w, b], num_heads=2, unidirectional=1, scale=0.3)
    for mask in (ends, ranges, keys, both, none):
        c.node("Attention", [x, w, b, mask], num_heads=2)
        c.node("Attention", [x, w, b, mask], num_heads=2, unidirectional=1, mask_filter_value=-500.0)
    c.node("Attention", [x, w, b, "", past], 2, num_heads=2)
    c.node("Attention", [x, w, b, keys_past, past], 2, num_heads=2, unidirectional=1)
    c.node("Attention", [x, w, b, keys, "", bias], num_heads=2)
    wide, wide_b = c.store("wide", floats(6, 8 + 8 + 12, dtype=dtype)), c.store("wide_b", floats(28, dtype=dtype))
    c.node("Attention", [x, wide, wide_b], num_heads=2, qkv_hidden_sizes=[8, 8, 12])
    return c


def attention_quantized():
    c = Case("attention_quantized")
    x, b = c.feed("x", codes(2, 4, 6)), c.store("b", floats(24))
    mask, past = c.feed("mask", np.array([[1, 1, 0, 1], [0, 1, 1, 1]], np.int32)), c.feed("past", floats(2, 2, 2, 3, 4))
    xs, ws, wsc = c.store("xs", number(0.02)), c.store("ws", number(0.01)), c.store("wsc", (RNG.random(24) * 0.02).astype(np.float32))
    xz, wz = c.store("xz", number(120, np.uint8)), c.store("wz", number(3, np.int8))
    w, wu = c.store("w", codes(6, 24, dtype=np.int8)), c.store("wu", codes(6, 24))
    wuz = c.store("wuz", number(130, np.uint8))
    c.node("QAttention", [x, w, b, xs, ws, mask, xz, wz], num_heads=2)
    c.node("QAttention", [x, w, b, xs, wsc, "", xz], num_heads=2, unidirectional=1)
    c.node("QAttention", [x, wu, b, xs, ws, "", xz, wuz, past], 2, num_heads=2)
    return c


def multi_head(dtype=np.float32):
    c = Case("multi_head" if dtype == np.float32 else f"multi_head_{np.dtype(dtype).name}")
    q, k, v = (c.feed(n, floats(2, t, d, dtype=dtype)) for n, t, d in (("q", 3, 8), ("k", 5, 8), ("v", 5, 12)))
    b = c.store("b", floats(8 + 8 + 12, dtype=dtype))
    lengths = c.feed("lengths", np.array([5, 2], np.int32))
    padding = c.feed("padding", np.array([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1]], np.int32))
    full = c.feed("full", RNG.integers(0, 2, (2, 3, 5)).astype(np.int32))
    bias = c.feed("bias", floats(2, 1, 3, 5, dtype=dtype))
    c.node("MultiHeadAttention", [q, k, v], num_heads=2)
    c.node("MultiHeadAttention", [q, k, v, b], num_heads=2, scale=0.2)
    for mask in (lengths, padding, full):
        c.node("MultiHeadAttention", [q, k, v, b, mask], num_heads=2)
    c.node("MultiHeadAttention", [q, k, v, "", padding, bias], num_heads=2, mask_filter_value=-300.0)
    cached_k, cached_v = c.feed("cached_k", floats(2, 2, 6, 4, dtype=dtype)), c.feed("cached_v", floats(2, 2, 6, 4, dtype=dtype))
    c.node("MultiHeadAttention", [q, cached_k, cached_v], num_heads=2)
    k3, v3 = c.feed("k3", floats(2, 3, 8, dtype=dtype)), c.feed("v3", floats(2, 3, 8, dtype=dtype))
    b3 = c.store("b3", floats(24, dtype=dtype))
    c.node("MultiHeadAttention", [q, k3, v3, b3, "", "", cached_k, cached_v], 3, num_heads=2)
    c.node("MultiHeadAttention", [q, k3, v3, b3, "", "", cached_k, cached_v], 3, num_heads=2, unidirectional=1)
    c.node("MultiHeadAttention", [q, k3, v3], num_heads=2, unidirectional=1)
    return c


def group_query(dtype=np.float32):
    c = Case("group_query" if dtype == np.float32 else f"group_query_{np.dtype(dtype).name}")
    heads, shared, size = 2, 1, 16
    q, k, v = (c.feed(n, floats(2, 3, d * size, dtype=dtype)) for n, d in (("q", heads), ("k", shared), ("v", shared)))
    pk, pv = c.feed("pk", floats(2, shared, 5, size, dtype=dtype)), c.feed("pv", floats(2, shared, 5, size, dtype=dtype))
    packed_qkv = c.feed("packed", floats(2, 3, (heads + 2 * shared) * size, dtype=dtype))
    angles = np.outer(np.arange(16), 0.3 ** np.arange(size // 2))
    cos, sin = c.store("cos", np.cos(angles).astype(dtype)), c.store("sin", np.sin(angles).astype(dtype))
    first, total3 = c.feed("first", np.array([2, 2], np.int32)), c.store("total3", number(3, np.int32))
    later, total8 = c.feed("later", np.array([7, 7], np.int32)), c.store("total8", number(8, np.int32))
    common = {"num_heads": heads, "kv_num_heads": shared}
    c.node("GroupQueryAttention", [q, k, v, "", "", first, total3], 3, **common)
    c.node("GroupQueryAttention", [q, k, v, "", "", first, total3, cos, sin], 3, do_rotary=1, **common)
    c.node("GroupQueryAttention", [q, k, v, "", "", first, total3, cos, sin], 3, do_rotary=1, rotary_interleaved=1, **common)
    c.node("GroupQueryAttention", [packed_qkv, "", "", "", "", first, total3], 3, softcap=5.0, scale=0.4, **common)
    q1, k1, v1 = (c.feed(n, floats(2, 1, d * size, dtype=dtype)) for n, d in (("q1", heads), ("k1", shared), ("v1", shared)))
    step, total6 = c.feed("step", np.array([5, 5], np.int32)), c.store("total6", number(6, np.int32))
    c.node("GroupQueryAttention", [q1, k1, v1, pk, pv, step, total6, cos, sin], 3, do_rotary=1, **common)
    c.node("GroupQueryAttention", [q1, k1, v1, pk, pv, step, total6], 3, local_window_size=3, **common)
    uneven = c.feed("uneven", np.array([5, 3], np.int32))
    c.node("GroupQueryAttention", [q1, k1, v1, pk, pv, uneven, total6], 3, **common)
    return c


def experts_in_blocks():
    """QMoE with a scale for each block: activations are rounded where the weights have eight bits."""
    c = Case("experts_in_blocks")
    x, router = c.feed("x", floats(3, 32)), c.feed("router", floats(3, 3))
    for bits in (8, 4):
        inputs, zeros = [x, router], []
        for rows, depth in ((32, 32), (32, 32)):
            name = f"w{bits}_{len(inputs)}"
            inputs += [c.store(name, codes(3, rows, depth * bits // 8)), c.store(name + "s", (RNG.uniform(0.01, 0.03, (3, rows, depth // 16))).astype(np.float32)), ""]
            zeros.append(c.store(name + "z", codes(3, rows, depth // 16 * bits // 8)))
        common = {"k": 2, "activation_type": "silu", "expert_weight_bits": bits, "block_size": 16}
        c.node("QMoE", inputs, **common)
        c.node("QMoE", [*inputs, "", "", "", *zeros], **common)
    return c


def hybrid():
    """What stands around linear attention, and positions in three streams."""
    c = Case("hybrid")
    x, gate, scale = c.feed("x", floats(2, 3, 12)), c.feed("gate", floats(2, 3, 12)), c.store("scale", floats(6))
    for activation in ("silu", "sigmoid"):
        c.node("GatedRMSNorm", [x, scale, gate], activation=activation, epsilon=1e-4)
    a, b, shift, decay = c.feed("a", floats(2, 3, 4)), c.feed("b", floats(2, 3, 4)), c.store("shift", floats(4)), c.store("decay", floats(4))
    c.node("LinearAttentionGate", [a, shift, decay, b], 2)
    c.node("LinearAttentionGate", [a, shift, decay])
    q, ids = c.feed("q", floats(2, 3, 32)), c.feed("ids", RNG.integers(0, 10, (3, 2, 3)).astype(np.int64))
    angles = np.outer(np.arange(10), 0.5 ** np.arange(8))
    turn = [c.store("cos", np.cos(angles).astype(np.float32)), c.store("sin", np.sin(angles).astype(np.float32))]
    for layout in (0, 1):
        c.node("MRotaryEmbedding", [q, ids, *turn], num_heads=2, mrope_section=[4, 2, 2], mrope_layout=layout)
    return c


def sparse():
    """A prompt and a single token, each with a buffer of its own."""
    c = Case("sparse")
    heads, shared, size, block, blocks = 4, 2, 16, 16, 3
    mask = np.array([[[1, 0, 0], [0, 1, 0], [1, 0, 1]], [[1, 0, 0], [1, 1, 0], [0, 1, 1]]])
    rows = c.store("rows", np.concatenate([np.zeros((2, 1)), mask.sum(2).cumsum(1)], 1).astype(np.int32))
    columns = c.store("columns", np.array([[0, 1, 0, 2, -1], [0, 0, 1, 1, 2]], np.int32))
    angles = np.outer(np.arange(block * blocks), 0.3 ** np.arange(size // 2))
    turn = [c.store("cos", np.cos(angles).astype(np.float32)), c.store("sin", np.sin(angles).astype(np.float32))]
    for name, tokens, total, behind in (("prompt", 20, 20, turn), ("step", 1, 40, [])):
        q, k, v = (c.feed(f"{name}_{n}", floats(1, tokens, d * size)) for n, d in (("q", heads), ("k", shared), ("v", shared)))
        past = [c.feed(f"{name}_{n}", floats(1, shared, block * blocks, size)) for n in ("pk", "pv")]
        lengths = [c.store(f"{name}_total", np.array([total], np.int32)), c.store(f"{name}_lengths", np.array([total], np.int32))]
        y = c.node("SparseAttention", [q, k, v, *past, rows, columns, *lengths, *behind], 3, num_heads=heads, kv_num_heads=shared,
                   sparse_block_size=block, do_rotary=int(bool(behind)))
        c.buffers.update({f"{y}_{i + 1}": past[i] for i in range(2)})
    return c


def scores():
    """Attention that puts out the scores before their softmax, mask and bias added."""
    c = Case("scores")
    heads, size = 2, 8
    q, k, v = (c.feed(n, floats(2, t, heads * size)) for n, t in (("q", 2), ("k", 3), ("v", 3)))
    mask, bias = c.feed("mask", np.array([[1, 1, 0], [1, 1, 1]], np.int32)), c.feed("bias", floats(1, heads, 2, 3))
    one = [c.feed(n, floats(2, 1, heads * size)) for n in ("q1", "k1", "v1")]
    past = [c.feed(n, floats(2, heads, 5, size)) for n in ("pk", "pv")]
    length = c.store("length", np.array([2], np.int32))
    common = {"num_heads": heads}
    made = [c.node("MultiHeadAttention", [q, k, v, "", *behind], 4, **common) for behind in ([], [mask], ["", bias], [mask, bias])]
    made.append(c.node("DecoderMaskedMultiHeadAttention", [*one, "", "", *past, length], 4, past_present_share_buffer=1, output_qk=1, **common))
    c.types = {f"{name}_3": onnx.TensorProto.FLOAT for name in made}
    return c


def quantized_cache(bits, mode):
    """Prompts, single tokens behind caches of several lengths, windows, sinks: keys and values kept as codes."""
    c = Case(f"cache_{bits}_{mode.lower()}")
    heads, shared, size = 4, 2, 16
    q, k, v = (c.feed(n, floats(2, 3, d * size)) for n, d in (("q", heads), ("k", shared), ("v", shared)))
    q1, k1, v1 = (c.feed(n, floats(2, 1, d * size)) for n, d in (("q1", heads), ("k1", shared), ("v1", shared)))
    width, kind = (size, np.int8) if bits == 8 else (size // 2, np.uint8)
    past = [c.feed(n, codes(2, shared, 5, width, dtype=kind)) for n in ("pk", "pv")]
    empty = [c.feed(n, codes(2, shared, 0, width, dtype=kind)) for n in ("ek", "ev")]
    shape = (1,) if mode == "PER_TENSOR" else (1, shared, 1, size)
    scales = [c.store(n, (RNG.uniform(0.3, 0.6, shape) * 4 / 2 ** (bits - 1)).astype(np.float32)) for n in ("ks", "vs")]
    angles = np.outer(np.arange(16), 0.3 ** np.arange(size // 2))
    turn = [c.store("cos", np.cos(angles).astype(np.float32)), c.store("sin", np.sin(angles).astype(np.float32))]
    sink, bias = c.store("sink", floats(heads)), c.feed("bias", floats(1, heads, 3, 3))
    first, padded, total3 = c.feed("first", np.array([2, 2], np.int32)), c.feed("padded", np.array([2, 1], np.int32)), c.store("total3", number(3, np.int32))
    step, uneven, total6 = c.feed("step", np.array([5, 5], np.int32)), c.feed("uneven", np.array([5, 3], np.int32)), c.store("total6", number(6, np.int32))
    inside, total5 = c.feed("inside", np.array([3, 4], np.int32)), c.store("total5", number(5, np.int32))
    common = {"num_heads": heads, "kv_num_heads": shared, "k_quant_type": mode, "v_quant_type": mode, "kv_cache_bit_width": bits}

    def node(inputs, behind=("", "", "", "", ""), outputs=3, **attributes):
        c.node("GroupQueryAttention", [*inputs, *behind, *scales], outputs, **common, **attributes)

    node([q, k, v, *empty, first, total3])
    node([q, k, v, *empty, padded, total3], [*turn, "", "", ""], do_rotary=1)
    node([q, k, v, *past, first, total3], ["", "", "", bias, sink])
    node([q1, k1, v1, *past, step, total6], [*turn, "", "", ""], do_rotary=1, rotary_interleaved=1)
    node([q1, k1, v1, *past, uneven, total6], local_window_size=2)
    node([q1, k1, v1, *past, inside, total5], smooth_softmax=1, softcap=2.0)
    return c


def rotary(dtype=np.float32):
    c = Case("rotary" if dtype == np.float32 else f"rotary_{np.dtype(dtype).name}")
    angles = np.outer(np.arange(10), 0.5 ** np.arange(4))
    cos, sin = c.store("cos", np.cos(angles).astype(dtype)), c.store("sin", np.sin(angles).astype(dtype))
    x, heads = c.feed("x", floats(2, 3, 16, dtype=dtype)), c.feed("heads", floats(2, 2, 3, 8, dtype=dtype))
    offset, ids = c.feed("offset", np.array([4], np.int64)), c.feed("ids", RNG.integers(0, 10, (2, 3)).astype(np.int64))
    for positions in (offset, ids):
        for interleaved in (0, 1):
            c.node("RotaryEmbedding", [x, positions, cos, sin], interleaved=interleaved)
            c.node("RotaryEmbedding", [heads, positions, cos, sin], interleaved=interleaved)
    wide = c.feed("wide", floats(2, 3, 24, dtype=dtype))
    c.node("RotaryEmbedding", [wide, ids, cos, sin], rotary_embedding_dim=8, num_heads=2)
    return c


def integer_products():
    c = Case("integer_products")
    a, af = c.feed("a", codes(2, 3, 9)), c.feed("af", floats(2, 3, 9))
    b, bu = c.store("b", codes(9, 5, dtype=np.int8)), c.store("bu", codes(9, 5))
    s, z = c.store("s", number(0.02)), c.store("z", number(99, np.uint8))
    bs, bsc, bias = c.store("bs", number(0.03)), c.store("bsc", (RNG.random(5) * 0.1).astype(np.float32)), c.store("bias", floats(5))
    bz, bzc = c.store("bz", number(-3, np.int8)), c.store("bzc", codes(5))
    c.node("MatMulIntegerToFloat", [a, b, s, bs])
    c.node("MatMulIntegerToFloat", [a, b, s, bsc, z, bz, bias])
    c.node("MatMulIntegerToFloat", [a, bu, s, bsc, z, bzc])
    c.node("DynamicQuantizeMatMul", [af, b, bs])
    c.node("DynamicQuantizeMatMul", [af, bu, bsc, bzc, bias])
    m, n = c.feed("m", codes(4, 9)), c.store("n", codes(5, 9, dtype=np.int8))
    add = c.store("add", RNG.integers(-3000, 3000, 5).astype(np.int32))
    zs = c.store("zs", np.zeros(5, np.int8))
    ys, yz = c.store("ys", number(0.4)), c.store("yz", number(120, np.uint8))
    c.node("QGemm", [m, s, z, n, bs, bz, add, ys, yz], transB=1)
    c.node("QGemm", [m, s, z, n, bsc, zs, add], transB=1, alpha=0.5)
    c.node("QGemm", [m, s, z, b, bs, bz, "", ys, yz], alpha=1.5)
    return c


def qlinear(dtype=np.uint8):
    c = Case("qlinear_" + np.dtype(dtype).name)
    x, y = c.feed("x", codes(1, 4, 5, 6, dtype=dtype)), c.feed("y", codes(4, 1, 1, dtype=dtype))
    zero = np.iinfo(dtype).min + 128
    for k, (scale, shift) in enumerate(((0.02, 3), (0.05, -20), (0.07, 11), (1 / 256, -128))):
        c.store(f"s{k}", number(scale))
        c.store(f"z{k}", number(zero + shift, dtype))
    xq, yq, out, soft = ["s0", "z0"], ["s1", "z1"], ["s2", "z2"], ["s3", "z3"]
    c.node("QLinearAdd", [x, *xq, y, *yq, *out])
    c.node("QLinearMul", [x, *xq, y, *yq, *out])
    c.node("QLinearSigmoid", [x, *xq, *soft])
    c.node("QLinearLeakyRelu", [x, *xq, *out], alpha=0.2)
    c.node("QLinearSoftmax", [x, *xq, *soft], axis=-1, opset=13)
    c.node("QLinearSoftmax", [x, *xq, *soft], axis=1, opset=12)
    for last in (0, 1):
        c.node("QLinearGlobalAveragePool", [x, *xq, *out], channels_last=last)
        c.node("QLinearAveragePool", [x, *xq, *out], channels_last=last, kernel_shape=[2, 3], pads=[1, 1, 0, 1], strides=[2, 1])
    c.node("QLinearConcat", ["s2", "z2", x, *xq, x, *yq, x, *out], axis=1)
    condition = c.feed("condition", RNG.integers(0, 2, (5, 1)).astype(bool))
    c.node("QLinearWhere", [condition, x, *xq, y, *yq, *out])
    return c


def ms_quantize():
    c = Case("quantize", opset=13)
    x = c.feed("x", floats(3, 8, scale=3))
    s, sc = c.store("s", number(0.1)), c.store("sc", (RNG.random(8) * 0.1 + 0.05).astype(np.float32))
    for k, dtype in enumerate((np.uint8, np.int8, np.uint16, np.int16)):
        z, zc = c.store(f"z{k}", number(7, dtype)), c.store(f"zc{k}", RNG.integers(0, 20, 8).astype(dtype))
        q = c.node("QuantizeLinear", [x, s, z])
        qc = c.node("QuantizeLinear", [x, sc, zc], axis=1)
        c.node("DequantizeLinear", [q, s, z])
        c.node("DequantizeLinear", [qc, sc, zc], axis=1)
    for kind in (T.INT4, T.UINT4):
        z = c.store(f"z{kind}", Packed(np.array(2), kind))
        q = f"q{kind}"
        c.nodes.append(helper.make_node("QuantizeLinear", [x, s, z], [q], domain=MS))
        c.node("DequantizeLinear", [q, s, z])
    return c


def masks_of_attention():
    """Masks that stand for none, and those that say more than how many keys count."""
    c = Case("masks_of_attention")
    x, w, b = c.feed("x", floats(2, 3, 6)), c.store("w", floats(6, 24)), c.store("b", floats(24))
    past = c.feed("past", floats(2, 2, 2, 2, 4))
    one, each = c.feed("one", np.array([[0]], np.int32)), c.feed("each", np.array([[0], [1]], np.int32))
    ends = c.feed("ends", np.array([2, 3, 0, 3, 6, 0, 3, 6], np.int32))
    for mask in (one, each, ends):
        c.node("Attention", [x, w, b, mask], num_heads=2)
        c.node("Attention", [x, w, b, mask], num_heads=2, unidirectional=1)
        c.node("Attention", [x, w, b, mask, past], 2, num_heads=2, unidirectional=1)
    return c


def cached_keys():
    """Keys and values of a cache with a bias, which is the queries' alone; fewer queries than keys in order."""
    c = Case("cached_keys")
    q, b = c.feed("q", floats(2, 3, 8)), c.store("b", floats(24))
    k, v = c.feed("k", floats(2, 2, 5, 4)), c.feed("v", floats(2, 2, 5, 4))
    pk, pv = c.feed("pk", floats(2, 2, 2, 4)), c.feed("pv", floats(2, 2, 2, 4))
    mask = c.feed("mask", np.array([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1]], np.int32))
    c.node("MultiHeadAttention", [q, k, v, b], 3, num_heads=2)
    c.node("MultiHeadAttention", [q, k, v, b, mask], num_heads=2)
    c.node("MultiHeadAttention", [q, k, v, b], num_heads=2, unidirectional=1)
    c.node("MultiHeadAttention", [q, k, v, b, "", "", pk, pv], 3, num_heads=2, unidirectional=1)
    few = c.feed("few", floats(2, 7, 8))
    c.node("MultiHeadAttention", [few, k, v], num_heads=2, unidirectional=1)
    return c


def shared_past():
    """A past with room for the present, of one token and of several, with and without beams."""
    c = Case("shared_past")
    b = c.store("b", floats(24))
    pk, pv = c.feed("pk", floats(4, 2, 7, 4)), c.feed("pv", floats(4, 2, 7, 4))
    beams = c.feed("beams", RNG.integers(0, 2, (2, 2, 7)).astype(np.int32))
    no_beams = c.feed("no_beams", np.zeros((4, 1, 7), np.int32))
    lengths = [c.feed(f"past{n}", np.array([n], np.int32)) for n in (0, 3, 6)]
    for tokens in (1, 3):
        q, k, v = (c.feed(f"{n}{tokens}", floats(4, tokens, 8)) for n in "qkv")
        for n, length in zip((0, 3, 6), lengths):
            if n + tokens > 7:
                continue
            c.node("MultiHeadAttention", [q, k, v, b, "", "", pk, pv, length], 3, num_heads=2)
            c.node("MultiHeadAttention", [q, k, v, b, "", "", pk, pv, length, beams], 3, num_heads=2, unidirectional=1)
            c.node("MultiHeadAttention", [q, k, v, "", "", "", pk, pv, length, no_beams], 3, num_heads=2, unidirectional=1)
    mask, bias = c.feed("mask", np.maximum(RNG.integers(0, 2, (4, 4)), [1, 0, 0, 0]).astype(np.int32)), c.feed("bias", floats(4, 2, 1, 4))
    c.node("MultiHeadAttention", ["q1", "k1", "v1", b, mask, bias, pk, pv, lengths[1]], 3, num_heads=2)
    k4, v4 = c.feed("k4", floats(4, 2, 2, 4)), c.feed("v4", floats(4, 2, 2, 4))
    # without a past the length says nothing
    c.node("MultiHeadAttention", ["q1", k4, v4, b, "", "", "", "", lengths[1], beams], num_heads=2)
    return c


def decoder_masked():
    """One new token of a decoder: with a past in the present's buffer, with beams, and of a cache without one."""
    c = Case("decoder_masked")
    op, b = "DecoderMaskedMultiHeadAttention", c.store("b", floats(24))
    q, k, v = (c.feed(n, floats(4, 1, 8)) for n in "qkv")
    pk, pv = c.feed("pk", floats(4, 2, 7, 4)), c.feed("pv", floats(4, 2, 7, 4))
    past, width = c.feed("past", np.array([3], np.int32)), c.feed("width", np.array([2], np.int32))
    beams = c.feed("beams", RNG.integers(0, 2, (2, 2, 7)).astype(np.int32))
    mask, bias = c.feed("mask", np.maximum(RNG.integers(0, 2, (4, 4)), [1, 0, 0, 0]).astype(np.int32)), c.feed("bias", floats(4, 2, 1, 4))
    shared = {"num_heads": 2, "past_present_share_buffer": 1}
    c.node(op, [q, k, v, "", "", pk, pv, past, width, beams, b], 3, **shared)
    c.node(op, [q, k, v, mask, bias, pk, pv, past], 3, scale=0.3, mask_filter_value=-500.0, **shared)
    k4, v4, m4 = c.feed("k4", floats(4, 2, 5, 4)), c.feed("v4", floats(4, 2, 5, 4)), c.feed("m4", np.array([[1, 0, 1, 1, 0]] * 4, np.int32))
    c.node(op, [q, k4, v4, "", "", "", "", "", "", "", b], num_heads=2)
    c.node(op, [q, k4, v4, m4], num_heads=2)
    return c


def experimental(opset=7):
    """What ONNX Runtime still has of the standard's experimental operators."""
    c = Case(f"experimental_{opset}", ir=6, opset=opset)
    run = lambda op, inputs, **attributes: c.node(op, inputs, domain="", **attributes)
    x, y = c.feed("x", floats(2, 3, 4, 5, scale=2)), c.feed("y", floats(3, 7, scale=20))
    for value in (x, y):
        run("Affine", [value])
        run("Affine", [value], alpha=1.7, beta=-0.3)
        run("Scale", [value])
        run("Scale", [value], scale=0.3)
        for alpha, beta in ((2.0, 3.0), (-0.7, 0.4)):
            run("ScaledTanh", [value], alpha=alpha, beta=beta)
            run("ParametricSoftplus", [value], alpha=alpha, beta=beta)
    run("ImageScaler", [x], bias=[0.5, -1.5, 3.0])
    run("ImageScaler", [x], bias=[0.5, -1.5, 3.0], scale=0.25)
    run("Crop", [x], border=[1, 0, 2, 1])
    run("Crop", [x], border=[1, 2, 4, 4], scale=[2, 3])
    run("Crop", [x], border=[0, 0, 0, 0])
    run("ThresholdedRelu", [x])
    one, two = c.store("one", np.array([1, -3])), c.store("two", np.array([1000, -1]))
    run("DynamicSlice", [x, one, two])
    run("DynamicSlice", [x, one, two, c.store("axes", np.array([2, -1]))])
    run("DynamicSlice", [c.feed("i", np.arange(12).reshape(3, 4)), *(c.feed(f"s{k}", np.array([v], np.int32)) for k, v in enumerate((1, 3, 1)))])
    if opset < 9:
        for value in (x, y, c.feed("z", floats(2, 3, 2, 2, 2))):
            for across in (0, 1):
                run("MeanVarianceNormalization", [value], across_channels=across)
                run("MeanVarianceNormalization", [value], across_channels=across, normalize_variance=0)
    else:
        run("MeanVarianceNormalization", [y])
        run("MeanVarianceNormalization", [y], axes=[1, 5])
    return c


def signals():
    """STFT of signals with and without a last axis of one number."""
    c = Case("signals", opset=17)
    x, d = c.feed("x", floats(2, 20)), c.feed("d", floats(2, 20, dtype=np.float64))
    column = c.feed("column", floats(2, 20, 1))
    w = c.store("w", np.hanning(8).astype(np.float32))
    step, length = c.store("step", np.array(3)), c.store("length", np.array(8))
    for onesided in (0, 1):
        c.node("STFT", [x, step, w], domain="", onesided=onesided)
        c.node("STFT", [x, step, "", length], domain="", onesided=onesided)
        c.node("STFT", [d, step, "", length], domain="", onesided=onesided)
        c.node("STFT", [column, step, w, length], domain="", onesided=onesided)
    return c


CASES = [fused_conv, fused_gemm, fused_matmul, gelus, skip_norms, nhwc, lambda: skip_norms(np.float16), embed, embed_quantized,
         *[lambda b=b, v=v: nbits(b, v) for b in (2, 4, 8) for v in (0, 4)], lambda: nbits(4, 0, np.float16), bnb4,
         gather_blocks, attention, attention_quantized, multi_head, group_query, rotary, integer_products, qlinear,
         lambda: qlinear(np.int8), ms_quantize, masks_of_attention, cached_keys, shared_past, experimental,
         lambda: experimental(9), signals, decoder_masked, scores, experts_in_blocks, hybrid, sparse,
         *(lambda b=b, m=m: quantized_cache(b, m) for b in (8, 4) for m in ("PER_TENSOR", "PER_CHANNEL"))]


def main():
    global RNG
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--times", type=int, default=1)
    a = arguments.parse_args()
    for k in range(a.times):
        for make in CASES:
            RNG = np.random.default_rng(a.seed + k)
            case = make()
            if not case.name.startswith(a.only):
                continue
            if k:
                case.name += f"_{k}"
            try:
                case.save(a.out)
            except Exception as e:  # a case that the runtime refuses is said and left out
                print(f"{case.name}: {str(e)[-300:]}")


main()
