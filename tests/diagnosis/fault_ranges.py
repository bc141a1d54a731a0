# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of activations: ranges, zero points, calibration. Each is a function (subject, draw, tries) that yields
(description, quantized model, truth, more) where truth names places and rules that are right to name first."""
import numpy as np

import trained
from editing import File, around, at_weight


def limits(file, q):
    scale, zero = float(file.array(q.input[1]).ravel()[0]), file.array(q.input[2]).ravel()[0]
    bounds = np.iinfo(zero.dtype)
    return scale, int(zero), (bounds.min - int(zero)) * scale, (bounds.max - int(zero)) * scale


def chosen(subject, style, draw, count, test=lambda t: True):
    """Tensors that a good file quantizes, in an order drawn; many are tried, since not each matters for the output."""
    file, seen = File(subject.best(style)["model"]), []
    for tensor, q, dq in file.quantizers():
        if tensor not in [s[0] for s in seen] and test(tensor):
            seen.append((tensor, q, dq))
    return file, [seen[i] for i in draw.permutation(len(seen))][:count]


def with_override(subject, style, tensor, **override):
    return subject.as_best(style, extra={"TensorQuantOverrides": {tensor: [override]}})


def range_too_small(subject, draw, style="u8s8_channel"):
    file, tensors = chosen(subject, style, draw, 9)
    for tensor, q, _ in tensors:
        _, _, low, high = limits(file, q)
        k = float(draw.uniform(3, 9))
        rules = ["range_too_small", *(["input_mismatch"] if tensor in subject.data else [])]
        yield (f"range of {tensor} {k:.1f} times too small",
               with_override(subject, style, tensor, rmin=np.float32(low / k), rmax=np.float32(high / k)),
               {"places": around(subject.floats, tensor), "rules": rules}, {})


def range_too_large(subject, draw, style="u8s8"):
    file, tensors = chosen(subject, style, draw, 9)
    for tensor, q, _ in tensors:
        _, _, low, high = limits(file, q)
        k = float(draw.uniform(24, 60))
        made = next((n for n in subject.floats.graph.node if tensor in n.output), None)  # a range that no longer cuts at 6
        rules = ["range_too_large", *(["activation_lost"] if made is not None and made.op_type == "Clip" else []),
                 *(["input_mismatch"] if tensor in subject.data else [])]
        yield (f"range of {tensor} {k:.0f} times too large",
               with_override(subject, style, tensor, rmin=np.float32(low * k), rmax=np.float32(high * k)),
               {"places": around(subject.floats, tensor), "rules": rules}, {})


def zero_point_moved(subject, draw, style="u8s8_channel"):
    file, tensors = chosen(subject, style, draw, 6)
    for tensor, q, _ in tensors:
        scale, zero, _, _ = limits(file, q)
        step = int(draw.integers(90, 130)) * (1 if zero < 128 else -1)
        yield (f"zero point of {tensor} moved by {step}",
               with_override(subject, style, tensor, scale=np.array(scale, np.float32), zero_point=np.array(zero + step, np.uint8)),
               {"places": around(subject.floats, tensor), "rules": ["range_too_small", "wrong_zero_point", "activation_lost",
                                                                    *(["input_mismatch"] if tensor in subject.data else [])]}, {})


def zero_point_apart(subject, draw, style="u8s8"):
    """The DequantizeLinear takes off another zero point than the QuantizeLinear put on."""
    _, tensors = chosen(subject, style, draw, 8)
    for tensor, _q, dq in tensors:
        edited = File(subject.best(style)["model"])
        node = edited.maker[dq.output[0]]
        zero = edited.array(node.input[2])
        step = int(draw.integers(10, 30)) * (1 if int(zero.ravel()[0]) < 128 else -1)
        edited.own_copy(node, 2, (zero.astype(np.int64) + step).astype(zero.dtype))
        yield (f"zero point behind {tensor} off by {step} codes", edited.model,
               {"places": around(subject.floats, tensor), "rules": ["wrong_zero_point"]}, {})


def told_by(subject, style, floats, more=()):
    """Where an input has no quantizer, other ranges have to tell that calibration saw other data."""
    quantized = {tensor for tensor, _, _ in File(subject.best(style)["model"]).quantizers()}
    if quantized & set(floats):
        return {"places": floats, "rules": ["input_mismatch", "calibration_set", *more]}
    return {"places": ["*"], "rules": ["input_mismatch", "calibration_set", "range_too_small", "range_too_large"]}


def wrong_calibration(subject, draw, style="u8s8_channel"):
    """Calibrated with data that are not normalized as those that are judged."""
    floats = [k for k, v in subject.calibration.items() if v.dtype.kind == "f"]
    ways = (("a quarter", lambda x: x * 0.25), ("six times", lambda x: x * 6), ("not centred", lambda x: np.abs(x) * 0.3),
            ("in 0..1", lambda x: (x - x.min()) / (x.max() - x.min())))
    for how, change in ways if floats else ():
        data = {k: change(v).astype(np.float32) if k in floats else v for k, v in subject.calibration.items()}
        yield (f"calibrated with inputs {how}", subject.as_best(style, calibration=data),
               told_by(subject, style, floats, ["range_too_large"] if how == "six times" else []), {})


def noise_calibration(subject, draw, style="u8s8_channel"):
    """Calibrated with noise in place of data."""
    floats = [k for k, v in subject.calibration.items() if v.dtype.kind == "f"]
    if floats:
        data = {k: (draw.normal(size=v.shape) * 0.5).astype(np.float32) for k, v in subject.calibration.items()}
        yield ("calibrated with noise", subject.as_best(style, calibration=data), told_by(subject, style, floats), {})


def one_class(subject, draw, style="u8s8_channel"):
    """Calibrated with faint samples of one class alone: most ranges are too small, by some amount."""
    data, labels = trained.drawn(subject.name, 400, seed=8)
    floats = [k for k, v in data.items() if v.dtype.kind == "f"]
    for label in range(3 if floats else 0):
        size = sum(np.abs(data[k]).reshape(len(labels), -1).mean(1) for k in floats)
        size[labels != label] = np.inf
        few = np.argsort(size)[:8]
        yield (f"calibrated with eight faint samples of class {label}",
               subject.as_best(style, calibration={k: v[few] for k, v in data.items()}),
               {"places": ["*"], "rules": ["input_mismatch", "calibration_set", "range_too_small"]}, {})


def other_data(subject, draw, style="u8s8_channel"):
    """A good file, judged with data of another size than it was made for."""
    floats = [k for k, v in subject.data.items() if v.dtype.kind == "f"]
    for k in (4.0, 10.0) if floats else ():
        data = {n: (v * k).astype(np.float32) for n, v in subject.data.items()}
        yield (f"judged with inputs {k:.0f} times as large", subject.best(style)["model"],
               {"places": floats, "rules": ["input_mismatch"]}, {"data": data})


def softmax_range(subject, draw, style="u8s8"):
    tensors = [n.output[0] for n in subject.floats.graph.node if n.op_type == "Softmax"]
    for tensor in tensors[:2]:
        types = {"op_types_to_quantize": ["MatMul", "Gemm", "Softmax"]}
        model = subject.as_best(style, **types, extra={"TensorQuantOverrides": {
            tensor: [{"rmin": np.float32(0), "rmax": np.float32(40)}]}})
        yield (f"range of {tensor} 0 .. 40", model,
               {"places": around(subject.floats, tensor), "rules": ["range_too_large", "sensitive_operator"]},
               {"good": subject.as_best(style, **types)})


def mask_ruins(subject, draw, style="u8s8"):
    """The mask of attention, -10000 where words are missing, is quantized with the scores."""
    if subject.name != "encoder":
        return
    places = set()
    for node in subject.floats.graph.node:
        if node.op_type == "Softmax" or (node.op_type == "Mul" and "/Mul_output_0" == node.output[0]):
            places.update([node.name, node.output[0], node.input[0]])
    for name in list(places):
        places.update(around(subject.floats, name))
    places.update(at_weight(subject.floats, "/Mul_output_0"))
    for other in ("u8s8", "u8s8_channel", "s8s8"):
        yield (f"mask quantized, {other}", subject.static(other),
               {"places": sorted(places), "rules": ["extreme_constant", "sensitive_operator", "scale_mismatch_at_join", "outliers"]}, {})
