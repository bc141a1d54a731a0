# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of what decoders of language models are made of: attention that remembers keys and values, as floats or codes."""
import numpy as np
from onnx import TensorProto as T
from operator_draw import case

MS = "com.microsoft"
FLOAT = T.FLOAT


def lengths(d):
    """Samples, new tokens, tokens of each sample with the new ones, rows of the cache (None: there is none), whether keys come from it alone."""
    kind = d.pick(["prompt", "prompt", "padded", "buffer", "step", "step", "uneven", "several", "in buffer", "read"])
    batch = d.integer(1, 3)
    if kind in ("prompt", "padded", "buffer"):
        tokens = d.integer(1, 9)
        totals = [tokens if kind == "prompt" or d.chance(0.3) else d.integer(1, tokens) for _ in range(batch)]
        totals[d.integer(0, batch - 1)] = tokens
        return batch, tokens, totals, tokens + d.integer(0, 4) if kind == "buffer" else d.pick([None, 0]), False
    if kind == "several":
        past, tokens = d.integer(1, 9), d.integer(2, 5)
        return 1, tokens, [past + tokens], d.pick([past, past + tokens + d.integer(0, 3)]), False
    if kind == "read":
        tokens = d.integer(1, 4) if batch == 1 else 1
        total = tokens + d.integer(0, 6)
        return batch, tokens, [total] * batch, total + d.integer(0, 3), True
    past = d.integer(1, 12)
    totals = [past + 1 if kind != "uneven" else d.integer(2, past + 1) for _ in range(batch)]
    totals[d.integer(0, batch - 1)] = past + 1
    return batch, 1, totals, past if kind != "in buffer" else past + 1 + d.integer(0, 4), False


def cache(d, shape, bits, kind):
    if bits:
        d.x([*shape[:3], shape[3] * bits // 8], T.INT8 if bits == 8 else T.UINT8, -128, 255, stored=False)
    else:
        d.x(shape, kind, stored=False, specials=False)


def chunks(d):
    """Whole chunks of prompts that are not as far as each other, as query_seqlens says: what padding gives is not said."""
    keys, size, batch, tokens = d.integer(1, 3), d.pick([8, 16]), d.integer(1, 3), d.integer(1, 4)
    heads, bits = keys * d.integer(1, 3), d.pick([0, 0, 8, 4])
    totals = [tokens + d.integer(0, 6) for _ in range(batch)]
    rows = max(totals) + d.integer(0, 3)
    d.x([batch, tokens, heads * size], FLOAT, stored=False, specials=False)
    for _ in range(2):
        d.x([batch, tokens, keys * size], FLOAT, stored=False, specials=False)
    for _ in range(2):
        cache(d, [batch, keys, rows, size], bits, FLOAT)
    d.ints([t - 1 for t in totals], T.INT32)
    d.feed(np.array(rows, np.int32))
    rotary = d.chance(0.5) and size == 16
    for _ in range(2):
        d.x([rows + 3, 8], FLOAT, -1, 1, stored=True) if rotary else d.absent()
    d.x([batch, tokens], T.INT64, 0, rows, stored=False) if rotary and d.chance(0.3) else d.absent()
    d.x([1, heads, tokens, rows], FLOAT, stored=False, specials=False) if d.chance(0.3) else d.absent()
    d.absent()
    for _ in range(2):
        d.x([1], FLOAT, 0.01 * 128 / 2**bits, 0.04 * 128 / 2**bits, stored=True) if bits else d.absent()
    for _ in range(2):
        d.absent()
    d.ints([tokens] * batch, T.INT32)
    if bits:
        d.set(k_quant_type="PER_TENSOR", v_quant_type="PER_TENSOR", kv_cache_bit_width=bits)
    d.set(num_heads=heads, kv_num_heads=keys, do_rotary=int(rotary))
    d.maybe(0.3, scale=d.real(0.1, 0.5), softcap=d.real(0.5, 5), local_window_size=d.integer(1, 6))
    d.count = 3


@case("GroupQueryAttention", domain=MS)
def group_query(d):
    if d.chance(0.15):
        chunks(d)
        return
    kind = d.pick([FLOAT, FLOAT, FLOAT, T.FLOAT16])
    keys, size = d.integer(1, 3), d.pick([8, 16, 32, 40])
    heads = keys * d.integer(1, 3)
    batch, tokens, totals, rows, reads = lengths(d)
    bits = d.pick([0, 0, 8, 4])
    rows = rows if rows is not None or not bits else 0
    fresh = 0 if reads else tokens
    if d.chance(0.3) and not reads:
        d.x([batch, tokens, (heads + 2 * keys) * size], kind, specials=False)
        d.absent()
        d.absent()
    else:
        d.x([batch, tokens, heads * size], kind, specials=False)
        d.x([batch, fresh, keys * size], kind, stored=False, specials=False)
        d.x([batch, fresh, keys * size], kind, stored=False, specials=False)
    for _ in range(2):
        cache(d, [batch, keys, rows, size], bits, kind) if rows is not None else d.absent()
    d.ints([t - 1 for t in totals], T.INT32)
    d.feed(np.array(max(totals), np.int32))
    rotary = d.chance(0.5) and size % 16 == 0
    if rotary:
        half = d.pick([8, size // 2])
        for _ in range(2):
            d.x([max(totals) + 3 + (rows or 0), half], kind, -1, 1, stored=True)
        d.set(do_rotary=1)
        d.maybe(rotary_interleaved=d.integer(0, 1))
    else:
        d.absent()
        d.absent()
    d.x([batch, tokens], T.INT64, 0, max(totals), stored=False) if rotary and d.chance(0.3) else d.absent()
    if d.chance(0.3):
        d.x([d.pick([1, batch]), d.pick([1, heads]), tokens, max(totals)], kind, stored=False, specials=False)
    else:
        d.absent()
    d.x([heads], kind, stored=True, specials=False) if d.chance(0.2) else d.absent()
    if bits:
        mode = d.pick(["PER_TENSOR", "PER_CHANNEL"])
        for _ in range(2):
            d.x([1] if mode == "PER_TENSOR" else [1, keys, 1, size], FLOAT, 0.01 * 128 / 2**bits, 0.04 * 128 / 2**bits, stored=True)
        d.set(k_quant_type=mode, v_quant_type=mode, kv_cache_bit_width=bits)
    d.set(num_heads=heads, kv_num_heads=keys)
    d.maybe(0.3, scale=d.real(0.1, 0.5), softcap=d.real(0.5, 5), smooth_softmax=1)
    slides = bool(rows) and not reads and d.chance(0.3) and min(totals) >= rows and not size * bits % 128
    if slides:  # all of the cache is in use; what lies behind the rows that are is not said
        d.set(local_window_size=rows, sliding_window_cache=1)
    elif d.chance(0.3):
        d.set(local_window_size=d.integer(1, 6))
    elif d.chance(0.2):
        d.set(causal=0)
    d.count = 3
    if d.chance(0.2) and len(set(totals)) == 1 and not slides:
        d.set(qk_output=d.integer(1, 2))
        d.count = 4


@case("MatMulNBits", domain=MS)
def nbits(d):
    bits, block, depth, columns = d.pick([4, 4, 8, 2]), d.pick([16, 32, 64, 128, 256, 512]), d.integer(1, 200), d.integer(1, 40)
    kind = d.pick([FLOAT, FLOAT, FLOAT, T.FLOAT16])
    depth *= 1 if block < 256 else 5
    blocks = -(-depth // block)
    d.x([*d.shape(1, 2, 5), depth], kind, specials=False)
    d.x([columns, blocks, block * bits // 8], T.UINT8, 0, 255, stored=True)
    d.x(d.pick([[columns, blocks], [columns * blocks]]), kind, 0.01, 0.1, stored=True)
    zero = d.pick(["none", "codes", "codes", "floats"])
    if zero == "codes":
        d.x([columns, -(-blocks * bits // 8)], T.UINT8, 0, 255, stored=True)
    elif zero == "floats":
        d.x([columns, blocks], kind, 0, 2**bits - 1, stored=True)
    else:
        d.absent()
    # With zero points of codes ONNX Runtime passes over these, and of other bits than 4 it makes something else.
    if bits == 4 and zero != "codes" and d.chance(0.15):
        d.ints(d.rng.permutation(np.arange(blocks * block) // block)[:depth] if d.chance(0.5) else np.arange(depth) // block, T.INT32, stored=True)
    else:
        d.absent()
    if d.chance(0.3):
        d.x([columns], kind, stored=True, specials=False)
    d.set(K=depth, N=columns, bits=bits, block_size=block)
    d.maybe(accuracy_level=d.integer(0, 4))


def experts(d, hidden):
    """Attributes that both forms share; returns experts, inner size, rows of the first product and whether a third one is."""
    count, inner = d.integer(2, 5), hidden * d.integer(1, 2)
    name = d.pick(["relu", "gelu", "silu", "identity", "swiglu"])
    d.set(k=d.integer(1, 2), activation_type=name, normalize_routing_weights=d.integer(0, 1))
    fused = name == "swiglu"
    if fused:
        d.set(swiglu_fusion=1, activation_alpha=d.pick([1.0, 1.702]), activation_beta=d.pick([0.0, 1.0]))
        d.maybe(swiglu_limit=d.real(1, 7))
    return count, inner, 2 * inner if fused else inner


@case("MoE", domain=MS)
def mixture(d):
    hidden, tokens = d.pick([4, 8]), d.integer(1, 5)
    count, inner, first = experts(d, hidden)
    d.x([tokens, hidden] if d.chance(0.5) else [1, tokens, hidden], FLOAT, specials=False)
    d.x([tokens, count], FLOAT, specials=False)
    d.x([count, first, hidden], FLOAT, -0.5, 0.5)
    d.x([count, first], FLOAT, specials=False) if d.chance(0.5) else d.absent()
    d.x([count, hidden, inner], FLOAT, -0.5, 0.5)
    if d.chance(0.5):
        d.x([count, hidden], FLOAT, specials=False)


@case("QMoE", domain=MS)
def mixture_of_codes(d):
    bits = d.pick([2, 4, 8])
    hidden, tokens = d.pick([32, 64, 128]) if bits == 2 else d.pick([32, 64]), d.integer(1, 5)
    count, inner, first = experts(d, hidden)
    block = d.pick([0, 0, 16, 32])
    kind = FLOAT
    d.x([tokens, hidden], kind, specials=False)
    d.x([tokens, count], kind, specials=False)
    for rows, depth in ((first, hidden), (hidden, inner)):
        d.x([count, rows, depth * bits // 8], T.UINT8, 0, 255, stored=True)
        d.x([count, rows, depth // block] if block else [count, rows], kind, 0.01, 0.03, stored=True)
        d.x([count, rows], kind, specials=False, stored=True) if d.chance(0.5) else d.absent()
    if d.chance(0.4):
        for _ in range(3):  # no third product, no zero points of it
            d.absent()
        for rows, depth in ((first, hidden), (hidden, inner)):
            d.x([count, rows, -(-depth // block * bits // 8)] if block else [count, -(-rows * bits // 8)], T.UINT8, 0, 255, stored=True)
    d.set(expert_weight_bits=bits)
    d.maybe(0.4, accuracy_level=d.integer(0, 4))
    if block:
        d.set(block_size=block)


@case("SimplifiedLayerNormalization")
def simplified_norm(d):
    shape, kind = d.shape(1, 4, 9), d.pick([FLOAT, FLOAT, T.FLOAT16, T.DOUBLE])
    axis = d.axis(len(shape))
    d.x(shape, kind, specials=False)
    d.x(shape[axis:], kind, specials=False)
    d.maybe(axis=axis, epsilon=d.pick([1e-3, 1e-6]), stash_type=1)
    if "axis" not in d.attributes:
        d.stored["x1"] = (d.values(kind, shape[-1:], specials=False), d.stored["x1"][1])


@case("DecoderMaskedMultiHeadAttention", domain=MS)
def decoder_masked(d):
    batch, heads, size, room = d.integer(1, 3), d.integer(1, 3), d.pick([4, 8, 16]), d.integer(1, 9)
    known, cross = d.integer(0, room - 1), d.chance(0.2)
    d.x([batch, 1, heads * size], FLOAT, specials=False)
    if cross:
        keys = d.integer(1, 7)
        for _ in range(2):
            d.x([batch, heads, keys, size], FLOAT, stored=False, specials=False)
    else:
        keys = known + 1
        for _ in range(2):
            d.x([batch, 1, heads * size], FLOAT, stored=False, specials=False)
    if d.chance(0.3):
        mask = d.values(T.INT32, [batch, keys], 0, 1)
        mask[:, 0] = 1
        d.feed(mask)
    else:
        d.absent()
    d.x([1, heads, 1, keys], FLOAT, stored=False, specials=False) if d.chance(0.3) and not cross else d.absent()
    if cross:
        for _ in range(5):
            d.absent()
    else:
        for _ in range(2):
            d.x([batch, heads, room, size], FLOAT, stored=False, specials=False)
        d.ints([known], T.INT32)
        for _ in range(2):
            d.absent()
        d.count = 3
        d.set(past_present_share_buffer=1)
    if d.chance(0.4):
        d.x([3 * heads * size], FLOAT, specials=False)
    d.set(num_heads=heads)
    d.maybe(scale=d.real(0.2, 1))


@case("MRotaryEmbedding", domain=MS)
def rotary_of_pictures(d):
    batch, heads, tokens, size = d.integer(1, 2), d.integer(1, 3), d.integer(1, 5), d.pick([8, 12, 16])
    kind, flat, rotated = d.pick([FLOAT, FLOAT, T.FLOAT16]), d.chance(0.5), size
    if d.chance(0.3):
        rotated = size // 2
        d.set(rotary_embedding_dim=rotated)
    if flat or rotated != size:
        d.set(num_heads=heads)
    d.x([batch, tokens, heads * size] if flat else [batch, heads, tokens, size], kind, specials=False)
    d.x([3, batch, tokens], T.INT64, 0, 9)
    for _ in range(2):
        d.x([10, rotated // 2], kind, -1, 1, stored=True)
    least = d.integer(0, rotated // 6)
    middle = d.integer(0, least)
    d.set(mrope_section=[rotated // 2 - least - middle, middle, least])
    d.maybe(interleaved=d.integer(0, 1), mrope_layout=d.integer(0, 1))


@case("GatedRMSNorm", domain=MS)
def gated_norm(d):
    group, kind, lead = d.integer(1, 17), d.pick([FLOAT, FLOAT, T.FLOAT16]), d.shape(0, 3, 4)
    shape = [*lead, group * d.integer(1, 3)]
    d.x(shape, kind, specials=False)
    d.x([group], kind, specials=False)
    d.x(shape, kind, specials=False)
    d.maybe(activation=d.pick(["silu", "swish", "sigmoid"]), epsilon=d.pick([1e-3, 1e-6]))


@case("LinearAttentionGate", domain=MS)
def attention_gate(d):
    kind = d.pick([FLOAT, FLOAT, T.FLOAT16])
    shape = [d.integer(1, 3), d.integer(1, 5), d.integer(1, 9)]
    d.x(shape, kind, specials=False)
    for _ in range(2):
        d.x(shape[-1:], FLOAT, specials=False)
    if d.chance(0.7):
        d.x(shape, kind, specials=False)
        d.count = 2


@case("GatedAdd", domain=MS)
def gated_add(d):
    kind, shape = d.pick([FLOAT, FLOAT, T.FLOAT16]), d.shape(1, 4, 9)
    for _ in range(2):
        d.x(shape, kind, specials=False)
    d.x([*shape[:-1], 1], kind, specials=False)


@case("GatherBlockQuantized", domain=MS)
def gathered_blocks(d):
    bits, block, rows = d.pick([4, 4, 8]), d.pick([16, 32, 64]), d.integer(1, 9)
    columns = d.integer(1, 90) * 2
    blocks, kind = -(-columns // block), d.pick([FLOAT, FLOAT, T.FLOAT16])
    codes = d.pick([T.UINT8, T.UINT4, T.INT4]) if bits == 4 else T.UINT8
    packed = lambda n: -(-n * bits // 8) if codes == T.UINT8 else n
    low, high = (0, 255) if codes == T.UINT8 else (0, 15) if codes == T.UINT4 else (-8, 7)
    d.x([rows, packed(columns)], codes, low, high, stored=True)
    d.x(d.shape(0, 3, 4), d.pick([T.INT64, T.INT32]), -rows, rows - 1, stored=False)
    d.x([rows, blocks], kind, 0.01, 0.1, stored=True)
    if d.chance(0.5):
        d.x([rows, packed(blocks)], codes, low, high, stored=True)
    d.set(gather_axis=0, quantize_axis=1, block_size=block, bits=bits)


@case("MatMulBnb4", domain=MS)
def bnb4(d):
    block, depth, columns = d.pick([16, 32, 64, 128]), d.integer(1, 200), d.integer(1, 40)
    columns += columns * depth % 2
    d.x([*d.shape(1, 2, 5), depth], FLOAT, specials=False)
    d.x([columns * depth // 2], T.UINT8, 0, 255, stored=True)
    d.x([-(-columns * depth // block)], FLOAT, 0.01, 0.1, stored=True)
    d.set(K=depth, N=columns, block_size=block, quant_type=d.integer(0, 1))


@case("LinearAttention", domain=MS)
def linear_attention(d):
    batch, tokens, size, value_size = d.integer(1, 3), d.integer(1, 5), d.pick([2, 4, 8]), d.pick([2, 3, 8])
    keys = d.integer(1, 2)
    values = keys * d.integer(1, 3)
    queries = values * d.integer(1, 2) if d.chance(0.5) else d.pick([n for n in range(1, values + 1) if values % n == 0])
    rule = d.pick(["linear", "gated", "delta", "gated_delta"])
    d.x([batch, tokens, queries * size], FLOAT, specials=False)
    d.x([batch, tokens, keys * size], FLOAT, -0.5, 0.5)
    d.x([batch, tokens, values * value_size], FLOAT, specials=False)
    d.x([batch, values, size, value_size], FLOAT, specials=False) if d.chance(0.5) else d.absent()
    d.x([batch, tokens, d.pick([values, values * size])], FLOAT, -1, 0) if "gated" in rule else d.absent()
    if "delta" in rule:
        d.x([batch, tokens, d.pick([values, 1])], FLOAT, 0, 1)
    d.count = 2
    d.set(q_num_heads=queries, kv_num_heads=values, update_rule=rule)
    d.maybe(0.3, scale=d.real(0.1, 1))
