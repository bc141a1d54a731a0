# SPDX-License-Identifier: GPL-3.0-or-later
"""Good files of the trained networks: in each style the best of some ways to calibrate."""
import functools

import onnx
from onnxruntime.quantization import CalibrationMethod

import quantizing
import trained
from measuring import accuracy, outputs, sqnr

STYLES = ("u8s8", "u8s8_channel", "s8s8", "s8_symmetric", "u16s8", "qoperator_channel", "dynamic", "int4")
LINEAR = ["MatMul", "Gemm"]
CALIBRATORS = ({}, {"calibrate_method": CalibrationMethod.Percentile, "extra_options": {"CalibPercentile": 99.99}})


class Subject:
    """A trained network, its data, and what the float file gives."""

    def __init__(self, name, folder):
        self.name, self.floats = name, trained.trained_file(name, folder)
        self.calibration, _ = trained.drawn(name, 48, seed=3)
        self.data, self.labels = trained.drawn(name, 64, seed=4)
        self.logits = outputs(self.floats, self.data)
        self.accuracy = accuracy(self.logits, self.labels)

    def db(self, model, data=None):
        return sqnr(self.logits if data is None else outputs(self.floats, data), outputs(model, data or self.data))

    def static(self, style, floats=None, calibration=None, extra=None, **more):
        options = {**quantizing.STATIC[style], **more}
        options["extra_options"] = {**options.get("extra_options", {}), **(extra or {})}
        return quantizing.quantized_static(onnx.ModelProto.FromString((floats or self.floats).SerializeToString()),
                                           calibration or self.calibration, options)

    def ways(self, style):
        """[(how, options)] that a user of this style would try."""
        if style not in quantizing.STATIC:
            return [("", None)]
        types = [("", {})] if self.name not in ("encoder", "vit") else [("linear", {"op_types_to_quantize": LINEAR}), ("", {})]
        return [(t, {**c, **o}) for c in CALIBRATORS for t, o in types]

    def quantized(self, style, options, **more):
        if options is None:
            return quantizing.quantized(self.floats, style, None)
        extra = {**options.get("extra_options", {}), **more.pop("extra", {})}
        return self.static(style, extra=extra, **{k: v for k, v in {**options, **more}.items() if k != "extra_options"})

    def as_best(self, style, **more):
        """Another file made as the best one of this style."""
        return self.quantized(style, self.best(style)["options"], **more)

    def offers(self, style):
        """Weights in blocks are those of MatMul."""
        return style != "int4" or any(n.op_type == "MatMul" for n in self.floats.graph.node)

    @functools.lru_cache(None)
    def best(self, style):
        """{model, options, db, accuracy, healthy}"""
        found = None
        for _how, options in self.ways(style):
            try:
                model = self.quantized(style, options)
            except ValueError:  # a histogram of values that a mask makes huge
                continue
            logits = outputs(model, self.data)
            db = sqnr(self.logits, logits)
            if found is None or db > found["db"]:
                found = {"model": model, "options": options or {}, "db": db, "accuracy": accuracy(logits, self.labels)}
        found["healthy"] = self.accuracy - found["accuracy"] < 0.01 and found["db"] > 10
        return found
