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


@case("GroupQueryAttention", domain=MS)
def group_query(d):
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
    if d.chance(0.3):
        d.set(local_window_size=d.integer(1, 6))
    elif d.chance(0.2):
        d.set(causal=0)
    d.count = 3
    if d.chance(0.2) and len(set(totals)) == 1:
        d.set(qk_output=d.integer(1, 2))
        d.count = 4
