# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that PyTorch quantizes, and such a file without its quantizers."""
import copy

import onnx
import torch
from onnx import TensorProto, helper

import exporting

KINDS = ("fx", "pt2e")


def feeds(data, at):
    return tuple(torch.from_numpy(v[at:at + 1]) for v in data.values())


def fx(model, calibration):
    """FX graph mode, fbgemm, TorchScript exporter."""
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx
    torch.backends.quantized.engine = "fbgemm"
    prepared = prepare_fx(copy.deepcopy(model), get_default_qconfig_mapping("fbgemm"), feeds(calibration, 0))
    for i in range(len(next(iter(calibration.values())))):
        prepared(*feeds(calibration, i))
    return exporting.export(convert_fx(prepared), feeds(calibration, 0), list(calibration), "script")


def pt2e(model, calibration):
    """PT2E with the quantizer of XNNPACK, a scale a channel, dynamo exporter; needs torchao."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.testing.pt2e import _xnnpack_quantizer as xnnpack
    quantizer = xnnpack.XNNPACKQuantizer()
    quantizer.set_global(xnnpack.get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export(copy.deepcopy(model), feeds(calibration, 0)).module(), quantizer)
    for i in range(len(next(iter(calibration.values())))):
        prepared(*feeds(calibration, i))
    return exporting.export(convert_pt2e(prepared), feeds(calibration, 0), list(calibration), "dynamo")


def quantized(model, kind, calibration):
    return {"fx": fx, "pt2e": pt2e}[kind](model, calibration)


def bypassed(model):
    """The file with Identity in place of every quantizer of a value that is no constant."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    constant = {t.name for t in model.graph.initializer} | {""}
    nodes = []
    for node in model.graph.node:
        if all(i in constant for i in node.input):
            constant.update(node.output)
        elif node.op_type == "QuantizeLinear" or (node.op_type == "DequantizeLinear" and node.input[0] not in constant) \
                or (node.op_type == "Cast" and node.attribute[0].i in (TensorProto.INT8, TensorProto.UINT8)):
            node = helper.make_node("Identity", [node.input[0]], [node.output[0]], name=node.name)
        nodes.append(onnx.NodeProto.FromString(node.SerializeToString()))
    del model.graph.node[:], model.graph.value_info[:]
    model.graph.node.extend(nodes)
    return model
