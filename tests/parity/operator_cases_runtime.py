# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of com.microsoft: what ONNX Runtime's optimizers make, and its quantized operators. It alone computes them."""
import numpy as np
from onnx import TensorProto as T
from operator_cases_windows import conv_shapes, product_shapes
from operator_draw import case

MS = "com.microsoft"
FLOAT = T.FLOAT


def codes_kind(d):
    return d.pick([T.UINT8, T.INT8])


def quantized(d, shape, kind, scale=(0.01, 0.1), stored=None):
    """An input of codes with its scale and zero point."""
    d.x(shape, kind, -128, 255, stored=stored)
    parameters(d, kind, scale)


def parameters(d, kind, scale=(0.01, 0.1)):
    d.x([], FLOAT, *scale, stored=True)
    d.x([], kind, -128, 255, stored=True)


def activation(d, names):
    name = d.pick([None, *names])
    if name:
        d.set(activation=name)
    return name


@case("FusedConv", domain=MS)
def fused_conv(d):
    x, w = conv_shapes(d)
    d.x(x, FLOAT, specials=False)
    d.x(w, FLOAT, stored=d.chance(0.8), specials=False)
    if d.chance(0.6):
        d.x([w[0]], FLOAT, stored=True, specials=False)
    name = activation(d, ["Relu", "LeakyRelu", "Clip", "HardSigmoid", "Tanh", "Sigmoid"])
    d.set(activation_params={"LeakyRelu": [0.3], "Clip": [-0.5, 0.75], "HardSigmoid": [0.3, 0.4]}.get(name))


@case("FusedGemm", domain=MS)
def fused_gemm(d):
    m, k, n, ta, tb = d.integer(1, 7), d.integer(1, 20), d.integer(1, 17), d.integer(0, 1), d.integer(0, 1)
    d.x([k, m] if ta else [m, k], FLOAT, specials=False)
    d.x([n, k] if tb else [k, n], FLOAT, specials=False)
    if d.chance(0.7):
        d.x(d.pick([[n], [m, n], [1, n], [m, 1]]), FLOAT, specials=False)
    d.set(transA=ta, transB=tb, activation=d.pick(["Relu", "LeakyRelu", "Tanh", "Elu", "Sigmoid", "Softplus", "Softsign"]))
    if d.attributes["activation"] in ("LeakyRelu", "Elu"):
        d.set(activation_alpha=d.real(0.1, 1))
    d.maybe(alpha=d.real(0.3, 2), beta=d.real(0.3, 2))


@case("FusedMatMul", domain=MS)
def fused_matmul(d):
    kind = d.pick([FLOAT, FLOAT, T.DOUBLE])
    m, k, n, lead = d.integer(1, 6), d.integer(1, 12), d.integer(1, 9), d.shape(0, 2, 3)
    ta, tb = d.integer(0, 1), d.integer(0, 1)
    d.x([*lead, k, m] if ta else [*lead, m, k], kind, specials=False)
    wide = lead if d.chance(0.4) else []
    d.x([*wide, n, k] if tb else [*wide, k, n], kind, specials=False)
    d.set(transA=ta, transB=tb)
    d.maybe(alpha=d.real(0.1, 2))


@case("BiasGelu", "FastGelu", "QuickGelu", "Gelu", domain=MS)
def gelus(d):
    shape = d.shape(1, 3, 9)
    d.x(shape, FLOAT, specials=False)
    if d.op == "BiasGelu" or d.op == "FastGelu" and d.chance(0.5):
        d.x([shape[-1]], FLOAT, specials=False)
    if d.op == "QuickGelu":
        d.maybe(alpha=d.real(0.5, 2))


@case("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS)
def skip_norm(d):
    size, kind = d.integer(2, 20), d.pick([FLOAT, FLOAT, T.FLOAT16])
    shape = [d.integer(1, 3), d.integer(1, 4), size]
    d.x(shape, kind, specials=False)
    d.x(shape, kind, specials=False)
    d.x([size], kind, specials=False)
    if d.op == "SkipLayerNormalization":
        d.x([size], kind, specials=False) if d.chance(0.7) else d.absent()
    if d.chance(0.4):
        d.x([size], kind, specials=False)
    d.set(epsilon=d.pick([1e-3, 1e-5]))
    d.count = d.pick([1, [0, None, None, 1]])


@case("QLinearAdd", "QLinearMul", domain=MS)
def qlinear_binary(d):
    kind, shape = codes_kind(d), d.shape()
    small = d.broadcastable(shape)
    for s in (shape, small) if d.chance(0.5) else (small, shape):
        quantized(d, s, kind)
    parameters(d, kind, (0.05, 0.5))


@case("QLinearSigmoid", "QLinearLeakyRelu", domain=MS)
def qlinear_unary(d):
    kind = codes_kind(d)
    quantized(d, d.shape(), kind)
    parameters(d, kind, (0.004, 0.1))
    if d.op == "QLinearLeakyRelu":
        d.maybe(alpha=d.real(0.05, 0.5))


@case("QLinearConcat", domain=MS)
def qlinear_concat(d):
    kind, shape = codes_kind(d), d.shape(low=1)
    axis = d.axis(len(shape))
    parameters(d, kind, (0.05, 0.5))
    for _ in range(d.integer(1, 3)):
        shape[axis] = d.integer(1, 5)
        quantized(d, shape, kind)
    d.set(axis=axis)


@case("QLinearWhere", domain=MS)
def qlinear_where(d):
    kind, shape = codes_kind(d), d.shape(low=1)
    d.x(d.broadcastable(shape), T.BOOL)
    quantized(d, shape, kind)
    quantized(d, d.broadcastable(shape), kind)
    parameters(d, kind, (0.05, 0.5))


@case("QLinearSoftmax", domain=MS)
def qlinear_softmax(d):
    kind, shape = codes_kind(d), d.shape(low=1)
    quantized(d, shape, kind)
    d.x([], FLOAT, 1 / 256, 1 / 256, stored=True)
    d.x([], kind, *((-128, -128) if kind == T.INT8 else (0, 0)), stored=True)
    d.set(axis=d.axis(len(shape)), opset=d.pick([12, 13]))


@case("QLinearAveragePool", "QLinearGlobalAveragePool", domain=MS)
def qlinear_pool(d):
    kind, last = codes_kind(d), d.integer(0, 1)
    channels, h, w = d.integer(1, 9), d.integer(3, 8), d.integer(3, 8)
    quantized(d, [d.integer(1, 2), h, w, channels] if last else [d.integer(1, 2), channels, h, w], kind)
    parameters(d, kind)
    d.set(channels_last=last)
    if d.op == "QLinearAveragePool":
        d.set(kernel_shape=[d.integer(1, 3), d.integer(1, 3)])
        d.maybe(strides=[d.integer(1, 2), d.integer(1, 2)], pads=[0, 0, 0, 0], count_include_pad=d.integer(0, 1), ceil_mode=d.integer(0, 1))


@case("QGemm", domain=MS)
def qgemm(d):
    m, k, n, tb = d.integer(1, 6), d.integer(1, 20), d.integer(1, 9), d.integer(0, 1)
    first = codes_kind(d)
    second = codes_kind(d) if first == T.UINT8 else T.INT8
    quantized(d, [m, k], first)
    d.x([n, k] if tb else [k, n], second, -128, 255, stored=True)
    channels = [n] if d.chance(0.4) else []
    d.x(channels, FLOAT, 0.01, 0.1, stored=True)
    d.feed(np.zeros(channels, d.values(second, []).dtype), True)
    d.x([n], T.INT32, -2000, 2000, stored=True) if d.chance(0.6) else d.absent()
    if d.chance(0.7):
        parameters(d, first, (0.5, 3))
    d.set(transB=tb)


@case("MatMulIntegerToFloat", "DynamicQuantizeMatMul", domain=MS)
def integer_to_float(d):
    a, b = product_shapes(d)
    if len(a) == 1 or len(b) == 1:
        a, b = [3, 5], [5, 4]
    weights = codes_kind(d)
    channels = [b[-1]] if len(b) == 2 and d.chance(0.4) else []
    dynamic = d.op == "DynamicQuantizeMatMul"
    d.x(a, FLOAT, specials=False) if dynamic else d.x(a, T.UINT8, 0, 255)
    d.x(b, weights, -128, 255, stored=True)
    if not dynamic:
        d.x([], FLOAT, 0.01, 0.1, stored=True)
    d.x(channels, FLOAT, 0.01, 0.1, stored=True)
    if not dynamic:
        d.x([], T.UINT8, 0, 255, stored=True)
    d.x(channels, weights, -128, 255, stored=True) if d.chance(0.6) else d.absent()
    if d.chance(0.5):
        d.x([b[-1]], FLOAT, specials=False)


@case("MultiHeadAttention", domain=MS)
def multi_head(d):
    batch, heads, tokens, keys, size, out = d.integer(1, 2), d.integer(1, 3), d.integer(1, 5), d.integer(1, 6), d.pick([2, 4, 8]), d.pick([2, 4])
    past = d.integer(1, 5) if d.chance(0.3) else 0
    if past:
        tokens, out = keys, size
    d.x([batch, tokens, heads * size], FLOAT, specials=False)
    d.x([batch, keys, heads * size], FLOAT, specials=False)
    d.x([batch, keys, heads * out], FLOAT, specials=False)
    d.x([heads * (2 * size + out)], FLOAT, specials=False) if d.chance(0.5) else d.absent()
    total = past + keys
    if d.chance(0.4):
        mask = d.values(T.INT32, d.pick([[batch, total], [batch, tokens, total]]), 0, 1)
        mask[..., 0] = 1
        d.feed(mask)
    else:
        d.absent()
    d.x([d.pick([1, batch]), d.pick([1, heads]), tokens, total], FLOAT, specials=False) if d.chance(0.4) else d.absent()
    if past:
        for width in (size, out):
            d.x([batch, heads, past, width], FLOAT, stored=False, specials=False)
    d.set(num_heads=heads)
    d.maybe(scale=d.real(0.2, 1))
    d.maybe(0.3, unidirectional=1)
    d.count = 3 if past or d.chance(0.2) else 1


@case("Attention", domain=MS)
def attention(d):
    batch, heads, tokens, size, width = d.integer(1, 2), d.integer(1, 3), d.integer(1, 5), d.pick([2, 4]), d.integer(2, 9)
    d.x([batch, tokens, width], FLOAT, specials=False)
    d.x([width, 3 * heads * size], FLOAT, stored=True, specials=False)
    d.x([3 * heads * size], FLOAT, stored=True, specials=False)
    if d.chance(0.5):
        mask = d.values(T.INT32, [batch, tokens], 0, 1)
        mask[..., 0] = 1
        d.feed(mask)
    d.set(num_heads=heads)
    d.maybe(unidirectional=d.integer(0, 1), scale=d.real(0.2, 1))


@case("RotaryEmbedding", domain=MS)
def rotary(d):
    batch, heads, tokens, size = d.integer(1, 2), d.integer(1, 3), d.integer(1, 5), d.pick([4, 8])
    flat = d.chance(0.5)
    d.x([batch, tokens, heads * size] if flat else [batch, heads, tokens, size], FLOAT, specials=False)
    d.x([batch, tokens], T.INT64, 0, 9) if d.chance(0.6) else d.feed(np.array([d.integer(0, 4)], np.int64))
    for _ in range(2):
        d.x([10, size // 2], FLOAT, -1, 1, stored=True)
    d.maybe(interleaved=d.integer(0, 1))


@case("Inverse", domain=MS)
def inverse(d):
    n, kind = d.integer(1, 5), d.pick([FLOAT, T.DOUBLE])
    x = d.values(kind, [*d.shape(0, 2, 3), n, n], specials=False) + 4 * np.eye(n)
    d.feed(x.astype(d.values(kind, []).dtype))


@case("Trilu", domain=MS)
def trilu(d):
    d.x(d.shape(low=2), d.pick([FLOAT, T.INT64]), specials=False)
    if d.chance(0.6):
        d.feed(np.array(d.integer(-4, 4), np.int64))
    d.maybe(upper=d.integer(0, 1))


@case("DequantizeLinear", "QuantizeLinear", domain=MS)
def linear(d):
    kind, shape = d.pick([T.UINT8, T.INT8, T.UINT16, T.INT16]), d.shape()
    channel = bool(shape) and d.chance(0.4)
    axis = d.integer(0, len(shape) - 1) if channel else None
    size = [shape[axis]] if channel else []
    d.x(shape, kind, -128, 255) if d.op == "DequantizeLinear" else d.x(shape, FLOAT, specials=False)
    d.x(size, FLOAT, 0.02, 0.3)
    d.x(size, kind, 0, 9)
    if channel:
        d.set(axis=axis)
