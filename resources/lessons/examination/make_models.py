#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the files of the examination out of ../../examples/digits_float.onnx: five kinds of faults, three of each.

    pip install onnx onnxruntime scikit-learn numpy
    python3 make_models.py

ONNX Runtime's quantize_static makes all quantized files, with weights of 7 bits (reduce_range), which no CPU saturates.
The program shows the names of files, which say nothing: each of the five kinds, of which an examination has one each, has
a network and pictures of its own, though most are equal. A kind of fault has these letters:

d, n, o   wrong preprocessing: a good file; its pictures are not normalized, inverted, turned
g, a, k   bad calibration set: pictures not normalized, of one class and faint, far too bright
b, h, m   broken export: all of the padding on one side, a ReLU that is gone, another one
j, c, f   one layer whose weights kept 8 bits: stem, first convolution of the block, pointwise
e, l, i   other layers left in float than the one that needs it: depthwise, pointwise, first of the block; the networks
          compute what the example's does, and one channel of one layer is larger

The pictures come from Optical Recognition of Handwritten Digits (E. Alpaydin and C. Kaynak, UCI Machine Learning
Repository, CC BY 4.0), as scikit-learn's load_digits delivers them; pictures_*.npz stay under that licence.
"""
import logging
import os
import pathlib
import shutil
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED, TEST, JUDGED, CALIBRATION = 20, 200, 100, 128
MEAN, DEVIATION = 0.3, 0.4
HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
FIRST, SECOND, DEPTHWISE, POINTWISE = (
    "/block/first/conv/Conv", "/block/second/Conv", "/depthwise/conv/Conv", "/pointwise/conv/Conv")
KEPT_EIGHT_BITS = ("/stem/conv/Conv", FIRST, POINTWISE)
WIDE = ((DEPTHWISE, POINTWISE, 7, 64), (POINTWISE, "/classifier/Gemm", 20, 16), (FIRST, SECOND, 5, 16))
EXCLUDED = ([FIRST, SECOND], [FIRST, SECOND], [SECOND, DEPTHWISE, POINTWISE])


class Reader(CalibrationDataReader):
    def __init__(self, images):
        self.rows = iter(images)

    def get_next(self):
        row = next(self.rows, None)
        return None if row is None else {"image": row[None]}


def quantize(model, name, images, excluded=(), **options):
    with tempfile.TemporaryDirectory() as scratch:
        source, made = os.path.join(scratch, "float.onnx"), os.path.join(scratch, "made.onnx")
        onnx.save(model, source)
        extra = {"ActivationSymmetric": options.pop("symmetric", False), **options.pop("extra", {})}
        quantize_static(
            source, made, Reader(images), quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8, reduce_range=True, nodes_to_exclude=list(excluded), extra_options=extra,
            **options)
        shutil.move(made, HERE / name)


def parts(model):
    return ({node.name: node for node in model.graph.node},
            {constant.name: constant for constant in model.graph.initializer})


def change(constants, name, made):
    values = made(numpy_helper.to_array(constants[name]).copy())
    constants[name].CopyFrom(numpy_helper.from_array(np.ascontiguousarray(values), name))


def broken(model, kind):
    nodes, constants = parts(model)
    if kind == 0:  # all of the padding on one side
        pads = next(a for a in nodes[SECOND].attribute if a.name == "pads")
        pads.ints[:] = [2, 2, 0, 0]
    else:
        relu = nodes["/block/first/relu/Relu" if kind == 1 else "/pointwise/relu/Relu"]
        for node in model.graph.node:
            for i, name in enumerate(node.input):
                if name == relu.output[0]:
                    node.input[i] = relu.input[0]
        model.graph.node.remove(relu)
    return model


def widened(model, layer, follower, channel, factor):
    nodes, constants = parts(model)
    first, second = nodes[layer], nodes[follower]

    def scaled(place, by):
        def made(values):
            values[place] *= by
            return values
        return made

    for name in first.input[1:3]:
        change(constants, name, scaled(channel, factor))
    change(constants, second.input[1], scaled((slice(None), channel), 1 / factor))
    return model


def accuracy(path, images, labels):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return float((session.run(None, {"image": images})[0].argmax(1) == labels).mean())


def main():
    logging.disable(logging.WARNING)
    digits = load_digits()
    pixels, test, labels, test_labels = train_test_split(
        digits.images.astype(np.float32)[:, None] / 16, digits.target.astype(np.int64), test_size=TEST,
        random_state=SEED, stratify=digits.target)
    normalized = lambda x: ((x - MEAN) / DEVIATION).astype(np.float32)
    calibration, judged = normalized(pixels[:CALIBRATION]), test[:JUDGED]
    load = lambda: onnx.load(EXAMPLES / "digits_float.onnx")

    def save(kind, i, network, quantized, calibrated, images, **options):
        """A case of the kind; `quantized` is the network that is quantized, which a broken export is not. Of what all
        cases of a kind share there is one file, with the letter of the first."""
        first = i == 0
        if first or kind == "eli":
            onnx.save(network, HERE / f"network_{kind[i]}.onnx")
        if first or kind != "dno":
            quantize(quantized, f"digits_{kind[i]}.onnx", calibrated, per_channel=True, **options)
        if first or kind == "dno":
            np.savez_compressed(
                HERE / f"pictures_{kind[i]}.npz", image=images.astype(np.float32), labels=test_labels[:JUDGED])

    wrong = (judged, normalized(1 - judged), normalized(np.rot90(judged, axes=(2, 3))))
    ones = normalized(0.35 * pixels[labels == 1][:CALIBRATION])
    badly_calibrated = (pixels[:CALIBRATION], ones, normalized(16 * pixels[:CALIBRATION]))
    nodes, _ = parts(load())
    for i in range(3):
        save("dno", i, load(), load(), calibration, wrong[i])
        save("gak", i, load(), load(), badly_calibrated[i], normalized(judged))
        save("bhm", i, load(), broken(load(), i), calibration, normalized(judged))
        override = {nodes[KEPT_EIGHT_BITS[i]].input[1]: [{"quant_type": QuantType.QInt8, "axis": 0, "reduce_range": False}]}
        save("jcf", i, load(), load(), calibration, normalized(judged), symmetric=True,
             extra={"TensorQuantOverrides": override})
        wide = widened(load(), *WIDE[i])
        save("eli", i, wide, widened(load(), *WIDE[i]), calibration, normalized(judged), excluded=EXCLUDED[i])
    for path in sorted(HERE.glob("*.onnx")):
        print(f"{path.name}: {path.stat().st_size} bytes, accuracy {accuracy(path, normalized(test), test_labels):.3f}")


main()
