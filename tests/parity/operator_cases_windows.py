# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of operators with windows, products, quantization, recurrence and regions."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper
from operator_draw import FLOATS, PACKED, case


def window(d, rank, auto=True):
    """Kernel, strides, dilations and pads as attributes; returns the kernel and how far it reaches."""
    kernel = [d.integer(1, 3) for _ in range(rank)]
    dilations = [d.pick([1, 1, 2]) for _ in range(rank)] if not d.schema or "dilations" in d.schema.attributes else [1] * rank
    reach = [(k - 1) * s + 1 for k, s in zip(kernel, dilations)]
    d.maybe(0.5, strides=[d.integer(1, 3) for _ in range(rank)])
    if dilations != [1] * rank:
        d.set(dilations=dilations)
    if auto and d.chance(0.2):
        d.set(auto_pad=d.pick(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    elif d.chance(0.6):
        d.set(pads=[d.integer(0, max(0, k - 1)) for k in kernel * 2])
    return kernel, reach


def image(d, rank, reach):
    return [d.integer(r + 1, r + d.pick([3, 7])) for r in reach]


def conv_shapes(d):
    rank = d.pick([1, 2, 2, 2, 3])
    kernel, reach = window(d, rank)
    group = d.pick([1, 1, 2, 3])
    each, out = d.integer(1, 5), group * d.integer(1, 5)
    if group > 1 and d.chance(0.5):
        each = 1
    d.maybe(1.1 if group > 1 else 0.3, group=group)
    d.maybe(kernel_shape=kernel)
    return [d.integer(1, 2), group * each, *image(d, rank, reach)], [out, each, *kernel]


@case("Conv")
def conv(d):
    x, w = conv_shapes(d)
    kind = d.type()
    d.x(x, kind, specials=False)
    d.x(w, kind, stored=d.chance(0.8), specials=False)
    if d.chance(0.6):
        d.x([w[0]], kind, stored=True, specials=False)


@case("ConvInteger")
def conv_integer(d):
    x, w = conv_shapes(d)
    d.x(x, d.type("T1"), -128, 255)
    d.x(w, d.type("T2"), -128, 255, stored=d.chance(0.8))
    if d.chance(0.6):
        d.x([], d.type("T1"), -128, 255, stored=True)
        if d.chance(0.5):
            d.x([], d.type("T2"), -128, 255, stored=True)


@case("QLinearConv")
def qlinear_conv(d):
    x, w = conv_shapes(d)
    first = d.pick([T.UINT8, T.INT8])
    weights = d.pick([T.INT8, T.UINT8]) if first == T.UINT8 else T.INT8
    d.x(x, first, -128, 255)
    d.x([], T.FLOAT, 0.01, 0.1, stored=True)
    d.x([], first, -128, 255, stored=True)
    per_channel = d.chance(0.5)
    d.x(w, weights, -128, 255, stored=True)
    d.x([w[0]] if per_channel else [], T.FLOAT, 0.01, 0.1, stored=True)
    d.feed(np.zeros([w[0]] if per_channel else [], helper.tensor_dtype_to_np_dtype(weights)), True)
    d.x([], T.FLOAT, 0.5, 2, stored=True)
    d.x([], first, -128, 255, stored=True)
    if d.chance(0.5):
        d.x([w[0]], T.INT32, -1000, 1000, stored=True)


@case("ConvTranspose")
def conv_transpose(d):
    rank = d.pick([1, 2, 2, 3])
    kernel, _ = window(d, rank, auto=False)
    strides = d.attributes.get("strides", [1] * rank)
    group = d.pick([1, 1, 2])
    each, out = d.integer(1, 4), d.integer(1, 4)
    kind = d.type()
    d.x([d.integer(1, 2), group * each, *[d.integer(2, 5) for _ in range(rank)]], kind, specials=False)
    d.x([group * each, out, *kernel], kind, stored=d.chance(0.7), specials=False)
    if d.chance(0.5):
        d.x([group * out], kind, stored=True, specials=False)
    d.maybe(1.1 if group > 1 else 0.3, group=group)
    if d.chance(0.3):
        d.set(output_padding=[d.integer(0, s - 1) for s in strides])


@case("MaxPool", "AveragePool", "LpPool")
def pool(d):
    rank = d.pick([1, 2, 2, 2, 3])
    kernel, reach = window(d, rank)
    d.set(kernel_shape=kernel)
    d.x([d.integer(1, 2), d.integer(1, 9), *image(d, rank, reach)], d.type(), specials=False)
    if "ceil_mode" in d.schema.attributes:
        d.maybe(0.4, ceil_mode=d.integer(0, 1))
    if "count_include_pad" in d.schema.attributes:
        d.maybe(0.5, count_include_pad=d.integer(0, 1))
    if d.op == "LpPool":
        d.maybe(p=d.pick([1, 2, 3]))
    if d.op == "MaxPool" and d.version >= 8:
        d.count = d.pick([1, 1, 2])
        d.maybe(0.2, storage_order=d.integer(0, 1))


@case("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(d):
    d.x([d.integer(1, 3), d.integer(1, 9), *d.shape(1, 3)], d.type(), specials=False)
    if d.op == "GlobalLpPool":
        d.maybe(p=d.pick([1, 2, 3]))


@case("MaxUnpool")
def max_unpool(d):
    n, c, h, w = d.integer(1, 2), d.integer(1, 3), d.integer(1, 3), d.integer(1, 3)
    d.x([n, c, h, w], d.type("T1"), specials=False)
    index = [d.rng.permutation(4 * h * w)[: h * w].reshape(h, w) + i * 4 * h * w for i in range(n * c)]
    d.ints(np.array(index).reshape(n, c, h, w), stored=False)
    d.set(kernel_shape=[2, 2], strides=[2, 2])


@case("Col2Im")
def col2im(d):
    block = [d.integer(1, 3), d.integer(1, 3)]
    size = [d.integer(3, 6), d.integer(3, 6)]
    stride, pads, dilation = [d.integer(1, 2) for _ in size], [d.integer(0, 1) for _ in range(4)], [d.pick([1, 1, 2]) for _ in size]
    for i in range(2):
        if dilation[i] * (block[i] - 1) + 1 > size[i]:
            dilation[i] = 1
    count = [(size[i] + pads[i] + pads[i + 2] - dilation[i] * (block[i] - 1) - 1) // stride[i] + 1 for i in range(2)]
    d.x([d.integer(1, 2), block[0] * block[1] * d.integer(1, 3), count[0] * count[1]], d.type(), specials=False)
    d.ints(size)
    d.ints(block)
    d.set(strides=stride, pads=pads, dilations=dilation)


@case("DeformConv")
def deform_conv(d):
    kernel, stride, pads = [d.integer(1, 3), d.integer(1, 3)], [d.integer(1, 2)] * 2, [d.integer(0, 1) for _ in range(4)]
    group, offsets, each = d.pick([1, 2]), d.pick([1, 1, 2]), d.integer(1, 2) * 2
    size = [d.integer(4, 7), d.integer(4, 7)]
    out = [(size[i] + pads[i] + pads[i + 2] - kernel[i]) // stride[i] + 1 for i in range(2)]
    batch, taps, kind = d.integer(1, 2), kernel[0] * kernel[1], d.type()
    d.x([batch, group * each, *size], kind, specials=False)
    d.x([group * d.integer(1, 2), each, *kernel], kind, specials=False)
    d.x([batch, offsets * taps * 2, *out], kind, -1, 1)
    if d.chance(0.5):
        d.x([d.stored["x1"][0].shape[0]], kind, specials=False)
    else:
        d.absent()
    if d.chance(0.5):
        d.x([batch, offsets * taps, *out], kind, 0, 1)
    d.set(kernel_shape=kernel, strides=stride, pads=pads, group=group, offset_group=offsets)


def product_shapes(d):
    m, k, n = d.integer(1, 7), d.integer(1, 20), d.integer(1, 17)
    lead = d.shape(0, 2, 3)
    a = [*(lead if d.chance(0.7) else d.broadcastable(lead)), m, k]
    b = [*(lead if d.chance(0.3) else []), k, n]
    if d.chance(0.1):
        a = [k]
    elif d.chance(0.1):
        b = [k]
    return a, b


@case("MatMul")
def matmul(d):
    a, b = product_shapes(d)
    d.x(a, d.type(), specials=False)
    d.x(b, d.type(), specials=False)


@case("MatMulInteger")
def matmul_integer(d):
    a, b = product_shapes(d)
    d.x(a, d.type("T1"), -128, 255)
    d.x(b, d.type("T2"), -128, 255)
    if d.chance(0.6):
        d.x([], d.type("T1"), -128, 255)
        if d.chance(0.6):
            d.x([b[-1]] if len(b) == 2 and d.chance(0.4) else [], d.type("T2"), -128, 255, stored=True)


@case("QLinearMatMul")
def qlinear_matmul(d):
    a, b = product_shapes(d)
    if len(a) == 1 or len(b) == 1:
        a, b = [3, 5], [5, 4]
    first = d.pick([T.UINT8, T.INT8])
    second = d.pick([T.INT8, T.UINT8]) if first == T.UINT8 else T.INT8
    for shape, kind, high in ((a, first, 0.1), (b, second, 0.1), (None, first, 4)):
        if shape:
            d.x(shape, kind, -128, 255)
        d.x([], T.FLOAT, high / 4, high, stored=True)
        d.x([], kind, -128, 255, stored=True)


@case("Gemm")
def gemm(d):
    m, k, n = d.integer(1, 7), d.integer(1, 20), d.integer(1, 17)
    ta, tb = d.integer(0, 1), d.integer(0, 1)
    kind = d.type()
    d.x([k, m] if ta else [m, k], kind, specials=False)
    d.x([n, k] if tb else [k, n], kind, specials=False)
    if d.version < 11 or d.chance(0.7):
        d.x(d.pick([[n], [m, n], [1, n], [m, 1], [], [1]]) if d.version >= 7 else [m, n], kind, specials=False)
    d.maybe(1.1 if ta or tb else 0.3, transA=ta, transB=tb)
    if kind in FLOATS:
        d.maybe(alpha=d.real(0.3, 2), beta=d.real(0.3, 2))


def scales_for(d, shape):
    """Shape of scales, axis and block size: one, one a slice, or one a block."""
    form = d.pick(["one", "axis"] + (["block"] if d.version >= 21 else [])) if shape else "one"
    if form == "one" or d.version < 13:
        return [], None, None
    axis = d.integer(0, len(shape) - 1)
    if form == "axis":
        return [shape[axis]], axis - (len(shape) if d.chance(0.3) else 0), None
    block = d.integer(1, shape[axis])
    blocks = -(-shape[axis] // block)
    if -(-shape[axis] // blocks) > block or block > (shape[axis] - 1) / max(blocks - 1, 1) and blocks > 1:
        block = -(-shape[axis] // blocks)
    return [*shape[:axis], -(-shape[axis] // block), *shape[axis + 1:]], axis, block


def set_axis(d, axis, block):
    if axis is not None:
        d.set(axis=axis)
    if block is not None:
        d.set(block_size=block)


@case("QuantizeLinear")
def quantize(d):
    shape = d.shape()
    kind = d.type("T1")
    goal = d.type("T3" if d.version >= 23 else "T2", usual=T.UINT8)
    scale, axis, block = scales_for(d, shape)
    set_axis(d, axis, block)
    d.x(shape, kind, -20 if kind == T.INT32 else None, 20 if kind == T.INT32 else None, specials=False)
    number = d.chosen.get("T2", kind) if d.version >= 23 else T.FLOAT if d.version < 19 else kind
    d.x(scale, number, *((1, 3) if number == T.INT32 else (0.02, 0.3)))
    integers = goal in (T.INT8, T.UINT8, T.INT16, T.UINT16, *PACKED)
    if not integers or d.chance(0.8):
        d.x(scale, goal, *((0, 9) if integers else (0, 0)))
    elif d.version >= 21:
        d.set(output_dtype=int(goal))


@case("DequantizeLinear")
def dequantize(d):
    shape = d.shape()
    kind = d.type("T" if d.version < 19 else "T1", usual=T.UINT8)
    scale, axis, block = scales_for(d, shape)
    set_axis(d, axis, block)
    integers = kind not in (T.INT32, ) and kind in (T.INT8, T.UINT8, T.INT16, T.UINT16, *PACKED)
    d.x(shape, kind, *((-128, 255) if integers or kind == T.INT32 else (None, None)), specials=False)
    d.x(scale, d.type("T2", among=[t for t in d.types("T2") if t in FLOATS]) if d.version >= 19 else T.FLOAT, 0.02, 0.3)
    if integers and d.chance(0.7):
        d.x(scale, kind, 0, 9)


@case("DynamicQuantizeLinear")
def dynamic_quantize(d):
    d.x(d.shape(low=1), T.FLOAT, specials=False)
    d.count = 3


def recurrent(d, gates):
    size, inputs, batch, steps = d.integer(1, 6), d.integer(1, 5), d.integer(1, 3), d.integer(1, 5)
    direction = d.pick(["forward", "reverse", "bidirectional"])
    n = 2 if direction == "bidirectional" else 1
    layout = d.integer(0, 1) if d.version >= 14 and d.chance(0.2) else 0
    kind = d.type("T")
    swap = (lambda s: [s[1], s[0], *s[2:]]) if layout else list
    d.x(swap([steps, batch, inputs]), kind, specials=False)
    d.x([n, gates * size, inputs], kind, -0.8, 0.8, stored=d.chance(0.8))
    d.x([n, gates * size, size], kind, -0.8, 0.8, stored=d.chance(0.8))
    d.x([n, 2 * gates * size], kind, -0.5, 0.5) if d.chance(0.7) else d.absent()
    d.x([batch], T.INT32, 1, steps) if d.chance(0.3) else d.absent()
    d.x(swap([n, batch, size]), kind, -1, 1) if d.chance(0.4) else d.absent()
    d.set(hidden_size=size)
    d.maybe(1.1 if n == 2 or direction == "reverse" else 0.3, direction=direction)
    if layout:
        d.set(layout=1)
    if d.chance(0.15):
        d.set(clip=d.real(0.5, 2))
    return size, batch, n, kind, swap


@case("RNN")
def rnn(d):
    _, _, n, _, _ = recurrent(d, 1)
    d.count = d.pick([2, 1, [None, 1]])
    if d.chance(0.3):
        d.set(activations=[d.pick(["Relu", "Sigmoid", "Tanh", "Softsign"]) for _ in range(n)])


@case("GRU")
def gru(d):
    recurrent(d, 3)
    d.maybe(linear_before_reset=d.integer(0, 1))
    d.count = d.pick([2, 1, [None, 1]])


@case("LSTM")
def lstm(d):
    size, batch, n, kind, swap = recurrent(d, 4)
    d.x(swap([n, batch, size]), kind, -1, 1) if d.chance(0.4) else d.absent()
    if d.chance(0.3):
        d.x([n, 3 * size], kind, -0.5, 0.5, stored=True)
    if d.chance(0.15):
        d.set(input_forget=1)
    d.count = d.pick([3, 1, [None, 1, 2]])


@case("Attention")
def attention(d):
    batch, kv, tokens, keys, size, value_size = (d.integer(1, 2), d.integer(1, 2), d.integer(1, 5), d.integer(1, 6), d.pick([2, 4, 8]),
                                                d.pick([2, 4, 8]))
    heads, past = kv * d.integer(1, 2), d.integer(1, 3) if d.chance(0.3) else 0
    first, second = d.type("T1", among=FLOATS), d.type("T2", among=FLOATS, usual=d.type("T1"))
    second = first
    flat = d.chance(0.4)
    for count, length, width, kind in ((heads, tokens, size, first), (kv, keys, size, first), (kv, keys, value_size, second)):
        d.x([batch, length, count * width] if flat else [batch, count, length, width], kind, specials=False)
    if flat:
        d.set(q_num_heads=heads, kv_num_heads=kv)
    total = keys + past
    if d.chance(0.5):
        shape = d.pick([[tokens, total], [1, 1, tokens, total], [batch, heads, tokens, total], [batch, 1, tokens, total]])
        kind = d.pick([T.BOOL, first])
        if kind == T.BOOL:
            mask = d.rng.random(shape) < 0.7
            mask[..., 0] = True
            d.feed(mask)
        else:
            d.x(shape, kind, -2, 0)
    else:
        d.absent()
    if past:
        d.x([batch, kv, past, size], first, specials=False)
        d.x([batch, kv, past, value_size], second, specials=False)
        d.count = 3
    d.maybe(0.3, is_causal=1, scale=d.real(0.2, 1), softcap=d.real(1, 4))
    if d.chance(0.2):
        d.count = 4
        d.set(qk_matmul_output_mode=d.integer(0, 3))


@case("RotaryEmbedding")
def rotary(d):
    batch, heads, tokens, size = d.integer(1, 2), d.integer(1, 3), d.integer(1, 5), d.pick([4, 8])
    part = d.pick([0, 0, size // 2])
    kind = d.type()
    flat = d.chance(0.4)
    d.x([batch, tokens, heads * size] if flat else [batch, heads, tokens, size], kind, specials=False)
    width = (part or size) // 2
    positions = d.chance(0.6)
    for _ in range(2):
        d.x([10, width] if positions else [batch, tokens, width], kind, -1, 1)
    if positions:
        d.x([batch, tokens], T.INT64, 0, 9)
    if flat:
        d.set(num_heads=heads)
    d.maybe(interleaved=d.integer(0, 1))
    if part:
        d.set(rotary_embedding_dim=part)


@case("CausalConvWithState")
def causal_conv(d):
    batch, channels, length, taps = d.integer(1, 2), d.integer(1, 5), d.integer(1, 6), d.integer(1, 4)
    d.x([batch, channels, length], d.type(), specials=False)
    d.x([channels, 1, taps], d.type(), specials=False)
    d.x([channels], d.type(), specials=False) if d.chance(0.5) else d.absent()
    if d.chance(0.5):
        d.x([batch, channels, taps - 1], d.type(), specials=False)
    d.count = 2
    d.maybe(activation=d.pick(["none", "silu", "swish"]))


@case("CausalConvWithState", domain="com.microsoft")
def causal_conv_of_the_runtime(d):
    batch, channels, length, taps, apart = d.integer(1, 2), d.integer(1, 6), d.integer(1, 6), d.integer(1, 5), d.pick([1, 1, 2, 3])
    last, past = d.chance(0.4), (taps - 1) * apart
    inner = d.pick([[channels], [1, channels], [channels, 2]]) if last else [channels]
    channels = int(np.prod(inner))
    d.x([batch, length, *inner] if last else [batch, channels, length], T.FLOAT, specials=False)
    d.x([channels, 1, taps], T.FLOAT, specials=False)
    d.x([channels], T.FLOAT, specials=False) if d.chance(0.5) else d.absent()
    if d.chance(0.6):
        d.x([batch, past, *inner] if last else [batch, channels, past], T.FLOAT, specials=False)
    d.count = 2
    d.maybe(activation=d.pick(["none", "silu", "swish"]), ndim=1, state_window=0)
    if apart > 1:
        d.set(dilation=apart)
    if last:
        d.set(channels_last=1)


@case("LinearAttention")
def linear_attention(d):
    batch, tokens, kv, size, value_size = d.integer(1, 2), d.integer(1, 5), d.integer(1, 2), d.pick([2, 4]), d.pick([2, 3])
    heads = kv * d.integer(1, 2)
    rule = d.pick(["linear", "gated", "delta", "gated_delta"])
    d.x([batch, tokens, heads * size], d.type(), specials=False)
    d.x([batch, tokens, kv * size], d.type(), -0.5, 0.5)
    d.x([batch, tokens, kv * value_size], d.type(), specials=False)
    d.x([batch, kv, size, value_size], d.type("S", usual=d.type()), specials=False) if d.chance(0.4) else d.absent()
    d.x([batch, tokens, d.pick([kv, kv * size])], d.type(), -1, 0) if "gated" in rule else d.absent()
    if "delta" in rule:
        d.x([batch, tokens, kv], d.type(), 0, 1)
    d.count = 2
    d.set(q_num_heads=heads, kv_num_heads=kv, update_rule=rule)


@case("GridSample")
def grid_sample(d):
    rank = 2 if d.version < 20 or d.chance(0.7) else 3
    kind = d.type("T1", among=(T.FLOAT, T.DOUBLE, T.FLOAT16))
    batch = d.integer(1, 2)
    d.x([batch, d.integer(1, 3), *[d.integer(2, 6) for _ in range(rank)]], kind, specials=False)
    d.x([batch, *[d.integer(1, 5) for _ in range(rank)], rank], d.type("T2", usual=T.FLOAT) if d.version >= 16 else kind, -1.3, 1.3)
    old = d.version < 20
    d.set(mode=d.pick(["bilinear" if old else "linear", "nearest"] + (["bicubic" if old else "cubic"] if rank == 2 else [])))
    d.maybe(padding_mode=d.pick(["zeros", "border", "reflection"]), align_corners=d.integer(0, 1))


@case("AffineGrid")
def affine_grid(d):
    rank = d.pick([2, 3])
    batch = d.integer(1, 2)
    d.x([batch, rank, rank + 1], d.type("T1"), specials=False)
    d.ints([batch, d.integer(1, 3), *[d.integer(2, 5) for _ in range(rank)]])
    d.maybe(align_corners=d.integer(0, 1))


def boxes(d, count, kind, size):
    low = d.rng.uniform(0, size / 2, (count, 2))
    return np.concatenate([low, low + d.rng.uniform(0.5, size / 2, (count, 2))], 1).astype(helper.tensor_dtype_to_np_dtype(kind))


@case("RoiAlign")
def roi_align(d):
    kind = d.type("T1")
    batch, count = d.integer(1, 2), d.integer(1, 4)
    d.x([batch, d.integer(1, 3), 8, 8], kind, specials=False)
    d.feed(boxes(d, count, kind, 8))
    d.x([count], T.INT64, 0, batch - 1)
    d.maybe(output_height=d.integer(1, 4), output_width=d.integer(1, 4), sampling_ratio=d.integer(0, 3), spatial_scale=d.pick([1.0, 0.5]),
            mode=d.pick(["avg", "max"]))
    if d.version >= 16:
        d.maybe(coordinate_transformation_mode=d.pick(["half_pixel", "output_half_pixel"]))


@case("MaxRoiPool")
def max_roi_pool(d):
    kind = d.type()
    batch, count = d.integer(1, 2), d.integer(1, 4)
    d.x([batch, d.integer(1, 3), 8, 8], kind, specials=False)
    index = d.rng.integers(0, batch, (count, 1))
    regions = np.concatenate([index, np.rint(boxes(d, count, kind, 7))], 1)
    d.feed(regions.astype(helper.tensor_dtype_to_np_dtype(kind)))
    d.set(pooled_shape=[d.integer(1, 3), d.integer(1, 3)])
    d.maybe(spatial_scale=d.pick([1.0, 0.5]))


@case("NonMaxSuppression")
def non_max_suppression(d):
    batch, count, classes = d.integer(1, 2), d.integer(1, 9), d.integer(1, 3)
    center = d.integer(0, 1)
    corners = np.stack([boxes(d, count, T.FLOAT, 8) for _ in range(batch)])
    if center:
        corners = np.concatenate([(corners[..., :2] + corners[..., 2:]) / 2, corners[..., 2:] - corners[..., :2]], -1)
    d.feed(corners)
    d.x([batch, classes, count], T.FLOAT, 0, 1)
    d.feed(np.array([d.integer(0, count)], np.int64))
    if d.chance(0.7):
        d.x([1], T.FLOAT, 0.1, 0.7)
        if d.chance(0.7):
            d.x([1], T.FLOAT, 0, 0.6)
    d.maybe(1.1 if center else 0.3, center_point_box=center)
