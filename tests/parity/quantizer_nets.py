# SPDX-License-Identifier: GPL-3.0-or-later
"""Tiny float nets for quantizer.py; each exercises some rules of the quantizer."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self, opset=17, dtype=np.float32, seed=1):
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.opset, self.dtype = opset, dtype
        self.rng = np.random.default_rng(seed)

    def type(self):
        return TensorProto.FLOAT16 if self.dtype == np.float16 else TensorProto.FLOAT

    def input(self, name, shape, elem=None):
        self.inputs.append(helper.make_tensor_value_info(name, elem or self.type(), shape))
        return name

    def output(self, *names):
        for name in names:
            self.outputs.append(helper.make_tensor_value_info(name, self.type(), None))

    def const(self, name, value):
        value = np.asarray(value)
        if value.dtype.kind == "f":
            value = value.astype(self.dtype)
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def rand(self, name, shape, scale=0.5):
        return self.const(name, self.rng.normal(0, scale, shape).astype(self.dtype))

    def node(self, op, inputs, output, name=None, domain="", **attributes):
        outputs = output if isinstance(output, list) else [output]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=op.lower() + "_" + outputs[0] if name is None else name,
                                           domain=domain, **attributes))
        return outputs[0]

    def make(self, ir=8):
        graph = helper.make_graph(self.nodes, "net", self.inputs, self.outputs, self.constants)
        imports = [helper.make_opsetid("", self.opset)]
        if any(n.domain == "com.microsoft" for n in self.nodes):
            imports.append(helper.make_opsetid("com.microsoft", 1))
        return helper.make_model(graph, opset_imports=imports, ir_version=ir)


def conv_net(opset=17, dtype=np.float32):
    """Conv, Relu, Clip, pools, residual Add, Gemm."""
    b = Builder(opset, dtype)
    x = b.input("x", [1, 3, 12, 12])
    b.node("Conv", [x, b.rand("w1", [8, 3, 3, 3]), b.rand("b1", [8])], "c1", pads=[1, 1, 1, 1])
    b.node("Relu", ["c1"], "r1")
    b.node("Conv", ["r1", b.rand("w2", [8, 1, 3, 3]), b.rand("b2", [8])], "c2", pads=[1, 1, 1, 1], group=8)
    b.node("Clip", ["c2", b.const("zero", np.float32(0)), b.const("six", np.float32(6))], "r2")
    b.node("Conv", ["r2", b.rand("w3", [8, 8, 1, 1])], "c3")
    b.node("Add", ["c3", "r1"], "a1")
    b.node("MaxPool", ["a1"], "m1", kernel_shape=[2, 2], strides=[2, 2])
    b.node("AveragePool", ["m1"], "p1", kernel_shape=[2, 2], strides=[2, 2])
    b.node("GlobalAveragePool", ["p1"], "g1")
    b.node("Flatten", ["g1"], "f1")
    b.node("Gemm", ["f1", b.rand("w4", [5, 8]), b.rand("b4", [5])], "y", transB=1)
    b.output("y")
    return b.make()


def matmul_net():
    """MatMul with constants and activations, Add and Mul with constants, Softmax, Sigmoid, LeakyRelu."""
    b = Builder()
    x = b.input("x", [2, 6, 16])
    b.node("MatMul", [x, b.rand("w1", [16, 16])], "q")
    b.node("Add", ["q", b.rand("b1", [16])], "q1")
    b.node("MatMul", [x, b.rand("w2", [16, 16])], "k")
    b.node("Mul", ["k", b.const("s", np.float32(0.25))], "k1")
    b.node("Transpose", ["k1"], "kt", perm=[0, 2, 1])
    b.node("MatMul", ["q1", "kt"], "scores")
    b.node("Softmax", ["scores"], "p", axis=-1)
    b.node("MatMul", ["p", "q1"], "v")
    b.node("Sigmoid", ["v"], "sg")
    b.node("LeakyRelu", ["sg"], "lr", alpha=0.1)
    b.node("MatMul", [b.rand("w3", [2, 6, 6]), "lr"], "y")
    b.output("y", "p")
    return b.make()


def movement_net():
    """Everything that only moves values."""
    b = Builder()
    x = b.input("x", [1, 4, 8, 8])
    b.node("Conv", [x, b.rand("w1", [8, 4, 1, 1])], "c1")
    b.node("Split", ["c1"], ["s1", "s2"], axis=1)
    b.node("Reshape", ["s1", b.const("shape", np.array([1, 4, 64]))], "rs")
    b.node("Unsqueeze", ["rs", b.const("ax0", np.array([0]))], "us")
    b.node("Squeeze", ["us", b.const("ax1", np.array([0]))], "sq")
    b.node("Slice", ["sq", b.const("st", np.array([0])), b.const("en", np.array([32])), b.const("ax2", np.array([2]))], "sl")
    b.node("Resize", ["s2", "", b.const("scales", np.array([1, 1, 2, 2], np.float32))], "rz", mode="nearest")
    b.node("Pad", ["rz", b.const("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1]))], "pd")
    b.node("Pad", ["pd", "pads", b.const("pv", np.float32(0.5))], "pd2")
    b.node("Pad", ["pd2", "pads"], "pd3", mode="reflect")
    b.node("Concat", ["pd3", "pd3"], "cc", axis=1)
    b.node("Gather", ["cc", b.const("idx", np.array([0, 3, 5]))], "ga", axis=1)
    b.node("TopK", ["sl", b.const("k", np.array([5]))], ["tk", "ti"], axis=2)
    b.node("Where", [b.const("cond", np.array([True, False, True, False, True])), "tk", b.rand("other", [1, 4, 5])], "wh")
    b.node("ArgMax", ["cc"], "am", axis=1)
    b.output("ga", "wh", "sl")
    b.outputs.append(helper.make_tensor_value_info("am", TensorProto.INT64, None))
    return b.make()


def norm_net():
    """LayerNormalization, InstanceNormalization, BatchNormalization, ConvTranspose, embedding Gather."""
    b = Builder()
    ids = b.input("ids", [1, 6], TensorProto.INT64)
    b.node("Gather", [b.rand("table", [20, 8]), ids], "emb", axis=0)
    b.node("LayerNormalization", ["emb", b.rand("lg", [8]), b.rand("lb", [8])], "ln", axis=-1)
    b.node("Transpose", ["ln"], "tr", perm=[0, 2, 1])
    b.node("InstanceNormalization", ["tr", b.rand("ig", [8]), b.rand("ib", [8])], "in")
    b.node("BatchNormalization", ["in", b.rand("bg", [8]), b.rand("bb", [8]), b.rand("bm", [8]),
                                  b.const("bv", np.linspace(0.5, 2, 8, dtype=np.float32))], "bn")
    b.node("ConvTranspose", ["bn", b.rand("tw", [8, 4, 3]), b.rand("tb", [4])], "ct")
    b.node("Mul", ["ct", "ct"], "sq")
    b.node("Erf", ["sq"], "er")
    b.node("Sub", ["er", b.rand("sb", [4, 1])], "y")
    b.output("y")
    return b.make()


def shared_net():
    """Shared weights and biases, unnamed nodes, a graph output that is read inside, tiny weights under a big bias."""
    b = Builder(opset=13)
    x = b.input("x", [1, 4, 6, 6])
    w, bias = b.rand("w", [4, 4, 1, 1]), b.rand("bias", [4])
    b.node("Conv", [x, w, bias], "c1", name="n1")
    b.node("Conv", ["c1", w, bias], "c2", name="n2")
    b.node("Conv", ["c2", b.rand("tiny", [4, 4, 1, 1], 1e-8), b.const("big", np.array([5, -4.5, 0.25, 0]))], "c3", name="n3")
    b.node("Conv", ["c3", b.rand("w5", [4, 4, 1, 1]), bias], "c4", name="")
    b.node("Relu", ["c4"], "r4", name="")
    b.node("Add", ["r4", "c1"], "y", name="")
    b.node("Relu", ["y"], "z", name="last")
    b.output("y", "z", "c2")
    return b.make()


def float_ops_net():
    """Operators outside of the defaults between quantized ones."""
    b = Builder(opset=18)
    x = b.input("x", [2, 8])
    b.node("Gemm", [x, b.rand("w1", [8, 12]), b.rand("b1", [12])], "g1")
    b.node("Tanh", ["g1"], "t1")
    b.node("Div", ["t1", b.const("two", np.float32(2))], "d1")
    b.node("HardSigmoid", ["d1"], "h1")
    b.node("Mul", ["h1", "g1"], "m1")
    b.node("ReduceMean", ["m1", b.const("axes", np.array([1]))], "rm", keepdims=1)
    b.node("Gemm", ["m1", b.rand("w2", [12, 6])], "g2")
    b.node("Gemm", ["g2", b.rand("w3", [6, 6]), b.rand("b3", [6])], "g3", beta=0.5, alpha=1.0)
    b.node("Concat", ["g3", "rm", b.rand("cc", [2, 3])], "y", axis=1)
    b.output("y")
    return b.make()


def lstm_net():
    """Two LSTMs, one of both directions, and a Gemm with and without a bias."""
    b = Builder(opset=14)
    x = b.input("x", [5, 2, 6])
    b.node("LSTM", [x, b.rand("w1", [1, 16, 6]), b.rand("r1", [1, 16, 4]), b.rand("b1", [1, 32])], ["s1", "h1", ""], hidden_size=4)
    b.node("Squeeze", ["s1", b.const("ax", np.array([1]))], "q1")
    b.node("LSTM", ["q1", b.rand("w2", [2, 12, 4]), b.rand("r2", [2, 12, 3])], ["s2", "h2"], hidden_size=3, direction="bidirectional")
    b.node("Reshape", ["s2", b.const("sh", np.array([10, 6]))], "f")
    b.node("Gemm", ["f", b.rand("w3", [8, 6]), b.rand("b3", [8])], "g3", transB=1)
    b.node("Gemm", ["g3", b.rand("w4", [8, 8])], "g4")
    b.node("MatMul", ["g4", b.node("Transpose", ["g3"], "t", perm=[1, 0])], "y")
    b.output("y")
    return b.make()


def nbits_net():
    """Matrices of odd sizes, of one sign, of zeros, and one that two nodes share."""
    b = Builder(opset=17)
    x = b.input("x", [3, 33])
    b.node("MatMul", [x, b.rand("w1", [33, 40])], "m1")
    b.node("MatMul", ["m1", b.rand("w2", [40, 7], 3.0)], "m2")
    b.node("MatMul", ["m2", b.const("w3", np.abs(b.rng.normal(2, 0.3, (7, 64))).astype(np.float32))], "m3")
    b.node("MatMul", ["m3", b.const("w4", np.zeros((64, 64), np.float32))], "m4")
    b.node("MatMul", ["m4", b.rand("w5", [64, 64])], "m5")
    b.node("MatMul", ["m5", "w5"], "m6")
    b.node("MatMul", ["m6", b.const("w6", b.rng.integers(-4, 5, (64, 21)) / 8.0)], "m7")
    b.node("MatMul", ["m7", b.rand("w7", [21, 3], 1e-3)], "y")
    b.output("y")
    return b.make()


def half_net():
    """float16."""
    return conv_net(opset=19, dtype=np.float16)


def transformer_net():
    """ONNX Runtime's own embedding and attention."""
    b = Builder()
    ids, segments = b.input("ids", [2, 6], TensorProto.INT32), b.input("segments", [2, 6], TensorProto.INT32)
    b.node("EmbedLayerNormalization", [ids, segments, b.rand("words", [30, 16]), b.rand("places", [8, 16]),
                                       b.rand("segment", [30, 16]), b.rand("gamma", [16]), b.rand("beta", [16])],
           ["e", "mi"], domain="com.microsoft", epsilon=1e-6)
    b.node("Attention", ["e", b.rand("wa", [16, 48]), b.rand("ba", [48])], "at", domain="com.microsoft", num_heads=2)
    b.node("MatMul", ["at", b.rand("w1", [16, 8])], "y")
    b.output("y")
    return b.make()


def embedding_net():
    """ONNX Runtime's own embedding alone, whose sums are codes of tables."""
    b = Builder()
    ids, segments = b.input("ids", [2, 6], TensorProto.INT32), b.input("segments", [2, 6], TensorProto.INT32)
    b.node("EmbedLayerNormalization", [ids, segments, b.rand("words", [30, 16]), b.rand("places", [8, 16]),
                                       b.rand("segment", [30, 16]), b.rand("gamma", [16]), b.rand("beta", [16])],
           ["e", "mi"], domain="com.microsoft", epsilon=1e-6)
    b.output("e")
    return b.make()


def foreign_net():
    """ONNX Runtime's own operators between standard ones: what follows from them has a type only where the file says
    so, as it does behind one of them."""
    b = Builder()
    x = b.input("x", [2, 6, 16])
    b.node("MatMul", [x, b.rand("w1", [16, 16])], "a")
    b.node("Gelu", ["a"], "g", domain="com.microsoft")
    b.node("MatMul", ["g", b.rand("w2", [16, 16])], "c")
    b.node("Add", ["a", "c"], "d")
    b.node("Add", ["c", "a"], "e")
    b.node("Cast", ["e"], "f", to=TensorProto.FLOAT)
    b.node("Where", [b.const("choice", np.ones((1, 1, 16), bool)), "d", "f"], "h")
    b.node("MatMul", ["h", b.rand("w3", [16, 16])], "i")
    b.node("FastGelu", ["i"], "j", domain="com.microsoft")
    b.node("MatMul", ["j", b.rand("w4", [16, 16])], "k")
    b.node("Mul", ["d", "k"], "m")
    b.node("Softmax", ["m"], "n", axis=-1)
    b.node("Transpose", ["n"], "o", perm=[0, 2, 1])
    b.node("Reshape", ["f", b.const("shape", np.array([12, 16], np.int64))], "p")
    b.output("o", "p", "k")
    model = b.make()
    model.graph.value_info.append(helper.make_tensor_value_info("j", TensorProto.FLOAT, [2, 6, 16]))
    return model


def half_matmul_net():
    """float16 products, a softmax and a normalization."""
    b = Builder(opset=19, dtype=np.float16)
    x = b.input("x", [2, 6, 16])
    b.node("LayerNormalization", [x, b.rand("lg", [16]), b.rand("lb", [16])], "ln", axis=-1)
    b.node("MatMul", ["ln", b.rand("w1", [16, 16])], "q")
    b.node("Add", ["q", b.rand("b1", [16])], "q1")
    b.node("Transpose", ["q1"], "kt", perm=[0, 2, 1])
    b.node("MatMul", ["q1", "kt"], "scores")
    b.node("Mul", ["scores", b.const("s", np.float32(0.25))], "scaled")
    b.node("Softmax", ["scaled"], "p", axis=-1)
    b.node("MatMul", ["p", "q1"], "y")
    b.output("y")
    return b.make()


def half_small_net():
    """float16 whose scales are subnormal or vanish, and biases that they would cut or lose."""
    b = Builder(opset=19, dtype=np.float16)
    x = b.input("x", [1, 4, 6, 6])
    b.node("Conv", [x, b.rand("w1", [8, 4, 3, 3], 2e-4), b.rand("b1", [8], 40)], "c1", pads=[1, 1, 1, 1])
    b.node("Mul", ["c1", b.const("tiny", np.float32(1e-4))], "m1")
    b.node("Conv", ["m1", b.rand("w2", [6, 8, 1, 1], 1e-3), b.rand("b2", [6], 1e-3)], "c2")
    b.node("Conv", ["c2", b.rand("w3", [6, 6, 1, 1], 3e-6), b.const("b3", np.zeros(6))], "c3")
    b.node("Conv", ["c1", b.const("w4", np.linspace(-1e-7, 6e-5, 48).reshape(6, 8, 1, 1)),
                    b.const("b4", [300, -2, 0, 1e-3, 30000, 5])], "c4")
    b.node("Add", ["c3", "c4"], "a1")
    b.node("Flatten", ["a1"], "f1")
    b.node("Gemm", ["f1", b.rand("w5", [5, 216], 1e-3), b.rand("b5", [5], 3)], "g1", transB=1, beta=0.25)
    b.node("Gemm", ["g1", b.rand("w6", [5, 4]), b.rand("b6", [4])], "g2", beta=0.0)
    b.node("Gemm", ["g2", b.rand("w7", [3, 4], 3e-5), b.rand("b7", [3])], "y", transB=1)
    b.output("y")
    return b.make()


def gemms_net():
    """Gemm with weights to be transposed: read twice, with a shape that another reads, with a name that is taken."""
    b = Builder(opset=17)
    x = b.input("x", [3, 8])
    b.node("Gemm", [x, b.rand("w", [8, 8]), b.rand("bias", [8])], "g1", transB=1)
    b.node("Gemm", ["g1", "w", "bias"], "g2", transB=1)
    b.node("Gemm", ["g2", b.rand("v", [8, 8])], "g3", transB=1)
    b.node("Add", ["g3", b.rand("v_Transposed", [8])], "s1")
    b.node("MatMul", ["s1", "v"], "m1")
    b.node("Gemm", ["m1", b.rand("u", [8, 6])], "g4")
    b.node("Gemm", ["g4", b.rand("t", [4, 6]), b.rand("c", [4])], "y", transB=1)
    b.output("y")
    return b.make()


NETS = {"conv": conv_net, "matmul": matmul_net, "movement": movement_net, "norm": norm_net, "shared": shared_net,
        "floatops": float_ops_net, "lstm": lstm_net, "nbits": nbits_net, "transformer": transformer_net, "embedding": embedding_net, "foreign": foreign_net, "half": half_net, "half-matmul": half_matmul_net,
        "half-small": half_small_net, "gemms": gemms_net}
