#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains one network and has it quantized by ONNX Runtime and by PyTorch.

    pip install torch==2.13.0 torchao==0.18.0 onnx onnxruntime==1.32.0 onnxscript scikit-learn numpy
    python3 make_models.py

float.onnx            PyTorch's exporter (TorchScript)
ort.onnx              ONNX Runtime's quantize_static: uint8 activations, min-max, int8 weights per tensor
torch_qnnpack.onnx    PyTorch FX, default configuration for qnnpack: histogram observer, int8 weights per tensor
torch_fbgemm.onnx     PyTorch FX, default configuration for fbgemm: reduced range, int8 weights per channel
torch_pt2e.onnx       PyTorch PT2E with torchao's X86InductorQuantizer, dynamo exporter
torch_x, y, z.onnx    torch_qnnpack with the output scale of one layer (second, third, first block) divided by SHRINK
All are calibrated on the same 256 pictures of the training part. The 200 test pictures are those of
../../examples/digits_samples.npz. The pictures come from Optical Recognition of Handwritten Digits (E. Alpaydin and
C. Kaynak, UCI Machine Learning Repository, CC BY 4.0), as scikit-learn's load_digits delivers them.
"""
import copy
import os
import pathlib
import shutil
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

SEED, TEST, EPOCHS, CALIBRATION, SHRINK = 20, 200, 40, 256, 6
MEAN, DEVIATION = 0.3, 0.4
HERE = pathlib.Path(__file__).resolve().parent


def block(channels_in, channels_out, stride=1):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 3, padding=1, stride=stride, bias=False), nn.BatchNorm2d(channels_out), nn.ReLU())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = block(1, 12), block(12, 20, 2), block(20, 24)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.classifier = nn.Linear(24, 10)

    def forward(self, image):
        return self.classifier(self.flatten(self.pool(self.third(self.second(self.first(image))))))


def train(images, labels):
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    x, y = torch.from_numpy(images), torch.from_numpy(labels)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[batch]), y[batch]).backward()
            optimizer.step()
        schedule.step()
    torch.use_deterministic_algorithms(False)  # PyTorch's integer kernels have none
    return net.eval()


def export(net, path, **more):
    torch.onnx.export(
        net, (torch.zeros(1, 1, 8, 8),), path, dynamo=False, opset_version=17, input_names=["image"],
        output_names=["scores"], dynamic_axes={"image": {0: "N"}, "scores": {0: "N"}}, **more)


class Reader(CalibrationDataReader):
    def __init__(self, images):
        self.rows = iter(images)

    def get_next(self):
        row = next(self.rows, None)
        return None if row is None else {"image": row[None]}


def by_runtime(path, images):
    with tempfile.TemporaryDirectory() as scratch:
        made = os.path.join(scratch, "ort.onnx")
        quantize_static(str(HERE / "float.onnx"), made, Reader(images), quant_format=QuantFormat.QDQ,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=False)
        shutil.move(made, path)


def by_fx(net, images, engine):
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

    torch.backends.quantized.engine = engine
    mapping = get_default_qconfig_mapping(engine)
    prepared = prepare_fx(copy.deepcopy(net), mapping, (torch.zeros(1, 1, 8, 8),))
    for rows in torch.from_numpy(images).split(32):
        prepared(rows)
    return convert_fx(prepared)


def by_pt2e(net, images, path):
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

    shape = {"image": {0: torch.export.Dim("N", min=1, max=1024)}}
    exported = torch.export.export(copy.deepcopy(net), (torch.zeros(2, 1, 8, 8),), dynamic_shapes=shape).module()
    quantizer = x86.X86InductorQuantizer().set_global(x86.get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(exported, quantizer)
    for rows in torch.from_numpy(images).split(32):
        prepared(rows)
    converted = convert_pt2e(prepared)
    program = torch.onnx.export(
        converted, (torch.zeros(2, 1, 8, 8),), dynamo=True, opset_version=20, input_names=["image"],
        output_names=["scores"], dynamic_shapes=shape, external_data=False)
    program.save(path, external_data=False)


def shrink(source, path, layer):
    """The scale of the layer's output, in all QuantizeLinear and DequantizeLinear that have it."""
    model = onnx.load(source)
    made = {name: node for node in model.graph.node for name in node.output}

    def value(name):
        node = made.get(name)
        return numpy_helper.to_array(node.attribute[0].t) if node is not None and node.op_type == "Constant" else None

    quantizers = [node for node in model.graph.node if node.op_type == "QuantizeLinear"]
    old = value(quantizers[layer].input[1])
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute[0].t.data_type == onnx.TensorProto.FLOAT:
            if np.array_equal(numpy_helper.to_array(node.attribute[0].t), old):
                node.attribute[0].t.CopyFrom(numpy_helper.from_array((old / SHRINK).astype(np.float32)))
    onnx.save(model, path)


def accuracy(path, images, labels):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return float((session.run(None, {"image": images})[0].argmax(1) == labels).mean())


def main():
    warnings.filterwarnings("ignore")
    digits = load_digits()
    pixels, test, labels, test_labels = train_test_split(
        digits.images.astype(np.float32)[:, None] / 16, digits.target.astype(np.int64), test_size=TEST,
        random_state=SEED, stratify=digits.target)
    images, test = (((x - MEAN) / DEVIATION).astype(np.float32) for x in (pixels, test))
    net = train(images, labels)
    calibration = images[:CALIBRATION]
    export(net, str(HERE / "float.onnx"))
    by_runtime(str(HERE / "ort.onnx"), calibration)
    for engine in ("qnnpack", "fbgemm"):
        export(by_fx(net, calibration, engine), str(HERE / f"torch_{engine}.onnx"))
    by_pt2e(net, calibration, str(HERE / "torch_pt2e.onnx"))
    for layer, name in ((2, "x"), (3, "y"), (1, "z")):
        shrink(HERE / "torch_qnnpack.onnx", HERE / f"torch_{name}.onnx", layer)
    for path in sorted(HERE.glob("*.onnx")):
        print(f"{path.name}: {path.stat().st_size} bytes, accuracy {accuracy(path, test, test_labels):.3f}")


main()
