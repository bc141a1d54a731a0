# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of weights, of biases and of the network itself; the same form as in fault_ranges."""
import numpy as np

import quantizing
from editing import ENDS, File, around, at_weight, scaled_pairs, with_scaled_channels
from values import all_values

CODES = (np.int8, np.uint8)


def weight_places(floats, node_name, weight):
    node = next((n for n in floats.graph.node if n.name == node_name), None)
    return sorted({*at_weight(floats, weight), *((node.name, *node.output, *node.input[1:]) if node is not None else ())})


def weight_channel_scale(subject, draw, style="u8s8_channel"):
    """A scale of one channel is not the one that the codes were made with."""
    for k in range(6):
        file = File(subject.best(style)["model"])
        weights = file.weights()
        if not weights:
            return
        weight, dq, node = weights[draw.integers(len(weights))]
        scale = file.array(dq.input[1])
        if scale.size < 2:
            continue
        c, factor = int(draw.integers(scale.size)), float(draw.choice([0.2, 3.0, 6.0]))
        changed = scale.copy()
        changed.ravel()[c] *= factor
        file.put(dq.input[1], changed)
        yield (f"scale of channel {c} of {weight} times {factor}", file.model,
               {"places": weight_places(subject.floats, node.name, weight), "rules": ["weights_differ", "wrong_bias_scale"]}, {})


def perturbed(codes, draw, amount):
    bounds = np.iinfo(codes.dtype)
    moved = codes.astype(np.int64) + np.rint(draw.normal(size=codes.shape) * amount).astype(np.int64)
    return np.clip(moved, bounds.min, bounds.max).astype(codes.dtype)


def weight_perturbed(subject, draw, style="u8s8"):
    """Other codes: from another training."""
    for k in range(6):
        file = File(subject.best(style)["model"])
        weights = file.weights()
        if not weights:
            return
        weight, dq, node = weights[draw.integers(len(weights))]
        file.put(dq.input[0], perturbed(file.array(dq.input[0]), draw, 30))
        yield (f"codes of {weight} from another training", file.model,
               {"places": weight_places(subject.floats, node.name, weight), "rules": ["weights_differ"]}, {})


def codes_perturbed(subject, draw, style):
    """The same where operators work on codes."""
    for k in range(4):
        file = File(subject.best(style)["model"])
        names = [t.name for t in file.model.graph.initializer if t.name.endswith("_quantized") and len(t.dims) > 1
                 and file.array(t.name).dtype in CODES]
        if not names:
            return
        name = names[draw.integers(len(names))]
        file.put(name, perturbed(file.array(name), draw, 40))
        weight = name.removesuffix("_quantized")
        yield (f"codes of {weight} from another training, {style}", file.model,
               {"places": at_weight(subject.floats, weight), "rules": ["weights_differ"]}, {})


def qoperator_perturbed(subject, draw):
    yield from codes_perturbed(subject, draw, "qoperator_channel")


def dynamic_perturbed(subject, draw):
    yield from codes_perturbed(subject, draw, "dynamic")


def bias_scale(subject, draw, style="u8s8"):
    for k in range(5):
        file = File(subject.best(style)["model"])
        biases = file.biases()
        if not biases:
            return
        bias, dq, node = biases[draw.integers(len(biases))]
        factor = float(draw.choice([8.0, 16.0]))
        file.own_copy(file.maker[dq.output[0]], 1, file.array(dq.input[1]) * np.float32(factor))
        yield (f"scale of bias {bias} times {factor}", file.model,
               {"places": weight_places(subject.floats, node.name, bias), "rules": ["wrong_bias_scale"]}, {})


def bias_saturated(subject, draw, style="u8s8"):
    for k in range(3):
        file = File(subject.best(style)["model"])
        biases = file.biases()
        if not biases:
            return
        bias, dq, node = biases[draw.integers(len(biases))]
        scale = file.array(dq.input[1])
        real = file.array(dq.input[0]).astype(np.float64) * scale
        small = (np.abs(real).max() / (2.0 ** 31) / 6).astype(np.float32)
        codes = np.clip(np.rint(real / small), -2 ** 31, 2 ** 31 - 1).astype(np.int32)
        node_dq = file.maker[dq.output[0]]
        file.own_copy(node_dq, 0, codes)
        file.own_copy(node_dq, 1, np.full(scale.shape, small, np.float32))
        yield (f"bias {bias} saturated", file.model,
               {"places": weight_places(subject.floats, node.name, bias), "rules": ["wrong_bias_scale"]}, {})


def unlike_channels(subject, draw, style="u8s8"):
    """The same network, but some channels of a weight are far larger: one scale is too coarse for the others."""
    pairs = scaled_pairs(subject.floats)
    for i in draw.permutation(len(pairs))[:3]:
        first, second, tensor = pairs[i]
        width = File(subject.floats)
        node = next(n for n in width.model.graph.node if n.name == first)
        count = width.array(node.input[1]).shape[0]
        channels = draw.permutation(count)[:max(2, count // 3)]
        floats = with_scaled_channels(subject.floats, first, second, channels, float(draw.uniform(30, 60)))
        b = next(n for n in width.model.graph.node if n.name == second)
        places = {*weight_places(subject.floats, first, node.input[1]), *weight_places(subject.floats, second, b.input[1]),
                  *around(subject.floats, tensor)}
        yield (f"channels of {first} and {second} unlike", subject.as_best(style, floats=floats),
               {"places": sorted(places), "rules": ["channel_imbalance", "weights_too_coarse", "outliers"]}, {"floats": floats})


def outlier_channel(subject, draw, style="u8s8_channel"):
    """The same network, but one channel of an activation is far larger than the others."""
    pairs = scaled_pairs(subject.floats)
    for i in draw.permutation(len(pairs))[:3]:
        first, second, tensor = pairs[i]
        floats = with_scaled_channels(subject.floats, first, second, [0], 80.0)
        file = File(subject.floats)
        a, b = [next(n for n in file.model.graph.node if n.name == name) for name in (first, second)]
        places = {*around(subject.floats, tensor), *weight_places(subject.floats, first, a.input[1]),
                  *weight_places(subject.floats, second, b.input[1])}
        yield (f"one channel of {tensor} 80 times as large", subject.as_best(style, floats=floats),
               {"places": sorted(places), "rules": ["outliers", "channel_imbalance", "range_too_large", "weights_too_coarse"]},
               {"floats": floats})


def unlike_branches(subject, draw, style="u8s8_channel"):
    """The same network, but one branch in front of a Concat is far smaller than the others."""
    file = File(subject.floats)
    for join in file.model.graph.node:
        readers = file.readers.get(join.output[0], [])
        if join.op_type != "Concat" or len(readers) != 1 or readers[0].op_type != "Conv":
            continue
        begin, second = 0, readers[0]
        for branch in join.input:
            relu = file.maker[branch]
            conv = file.maker[relu.input[0]] if relu.op_type == "Relu" else relu
            width = file.array(conv.input[1]).shape[0]
            edited = File(subject.floats)
            for name in (conv.input[1], *conv.input[2:3]):
                edited.put(name, edited.array(name) / 60)
            values = edited.array(second.input[1]).copy()
            values[:, begin:begin + width] *= 60
            edited.put(second.input[1], values)
            begin += width
            places = {*around(subject.floats, join.output[0]), join.name, *join.input, *(file.maker[i].name for i in join.input),
                      *weight_places(subject.floats, second.name, second.input[1]), second.name}
            yield (f"{branch} 60 times smaller than its neighbours in {join.name}", subject.as_best(style, floats=edited.model),
                   {"places": sorted(places), "rules": ["scale_mismatch_at_join", "channel_imbalance", "outliers"]}, {"floats": edited.model})


def activation_lost(subject, draw, style="s8_symmetric"):
    """Symmetric ranges do not cut below zero, and the Relu or Clip is gone nevertheless."""
    good = subject.best(style)["model"]
    kept = [n.output[0] for n in good.graph.node if n.op_type in ("Relu", "Clip")]
    for name in [kept[i] for i in draw.permutation(len(kept))][:5]:
        file = File(good)
        before = file.maker[file.maker[name].input[0]]
        plain = before
        if before.op_type == "DequantizeLinear":  # in front of it stands a quantizer of its own
            plain = file.maker[file.maker[before.input[0]].input[0]] if before.input[0] in file.maker else before
        file.remove(file.maker[name])
        places = {*around(subject.floats, name), *plain.output, plain.name}
        yield (f"{name} removed, range symmetric", file.model, {"places": sorted(places), "rules": ["activation_lost"]}, {})


def int4_a_tensor(subject, draw):
    """Four bits and one scale for a whole weight."""
    for style in ("s4_weights",):
        model = subject.static(style, per_channel=False, **({"op_types_to_quantize": ["MatMul", "Gemm"]}
                                                            if subject.name in ("encoder", "vit") else {}))
        yield ("weights of four bits, a scale a tensor", model,
               {"places": ["*"], "rules": ["weights_too_coarse", "channel_imbalance"]}, {})


def int4_large_blocks(subject, draw):
    """Four bits in blocks far too long."""
    if subject.offers("int4"):
        yield ("weights of four bits in blocks of 256", quantizing.weight_only(subject.floats, symmetric=True, block=256),
               {"places": ["*"], "rules": ["weights_too_coarse"]}, {})


def int4_block_scale(subject, draw, style="int4"):
    """Scales of one MatMulNBits are not those of its codes."""
    if not subject.offers(style):
        return
    for k in range(4):
        file = File(subject.best(style)["model"])
        nodes = [n for n in file.model.graph.node if n.op_type == "MatMulNBits"]
        node = nodes[draw.integers(len(nodes))]
        scale = file.array(node.input[2]).copy()
        part = draw.random(scale.shape) < 0.2
        scale[part] = scale[part] * np.float32(3)
        file.put(node.input[2], scale)
        name = node.name.removesuffix("_Q4")
        weight = next((n.input[1] for n in subject.floats.graph.node if n.name == name), "")
        yield (f"a fifth of the block scales of {node.name} times 3", file.model,
               {"places": weight_places(subject.floats, name, weight), "rules": ["weights_differ"]}, {})


def saturating(subject, draw, style="u8s8_channel"):
    """The same network for inputs far above zero: pairs of products go beyond 16 bits on CPUs without wide dot products."""
    file = File(subject.floats)
    first = next((n for n in file.model.graph.node if n.op_type == "Gemm" and n.input[0] in subject.data), None)
    for offset in (6.0, 10.0, 16.0) if first is not None else ():
        edited = File(subject.floats)
        weight = edited.array(first.input[1])
        edited.put(first.input[2], (edited.array(first.input[2]) - offset * weight.sum(axis=1)).astype(np.float32))
        data, calibration = [{k: (v + offset).astype(np.float32) if k == first.input[0] else v for k, v in part.items()}
                             for part in (subject.data, subject.calibration)]
        model = subject.as_best(style, floats=edited.model, calibration=calibration)
        places = {p for node in saturated(model, data) for p in around(subject.floats, node)}
        yield (f"inputs moved by {offset}: sums of two products saturate", model,
               {"places": sorted(places), "rules": ["saturating_accumulation"], "arithmetic": "integer-avx2"},
               {"floats": edited.model, "data": data})


def saturated(model, data):
    """Outputs of the Gemms of a Q/DQ file in which sums of two products go beyond 16 bits."""
    values, file, out = all_values(model, data, limit=16), File(model), []
    for node in model.graph.node:
        inputs = [file.maker.get(i) for i in node.input[:2]]
        if node.op_type != "Gemm" or any(i is None or i.op_type != "DequantizeLinear" for i in inputs):
            continue
        codes = values[inputs[0].input[0]].reshape(16, -1).astype(np.int64)
        weights = file.array(inputs[1].input[0]).astype(np.int64)
        even = codes.shape[1] // 2 * 2
        products = codes[:, None, :even] * weights[None, :, :even]
        sums = products.reshape(16, len(weights), -1, 2).sum(-1)
        if (np.abs(sums) > 32767).any():
            out.append(ENDS.sub("", file.readers[node.output[0]][0].input[0]) if node.output[0] in file.readers else node.output[0])
    return out
