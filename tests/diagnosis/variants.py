# SPDX-License-Identifier: GPL-3.0-or-later
"""Other forms of one float file, as tools make them: they compute the same."""
import contextlib
import io
import pathlib
import random
import tempfile

import onnx
import onnxruntime as ort
from onnx import helper


def outer_names(graph):
    return {v.name for v in [*graph.input, *graph.output]}


def renamed(model, new_name):
    """`new_name(old, node that makes it or None)` for each value inside; node names follow."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    graph, keep, names = model.graph, outer_names(model.graph), {"": ""}
    for t in graph.initializer:
        names[t.name] = t.name if t.name in keep else new_name(t.name, None)
    for node in graph.node:
        for o in node.output:
            if o:
                names[o] = o if o in keep else new_name(o, node)
    del graph.value_info[:]
    for t in graph.initializer:
        t.name = names[t.name]
    for node in graph.node:
        node.input[:] = [names.get(i, i) for i in node.input]
        node.output[:] = [names[o] for o in node.output]
    return model


def scrambled(model, seed=5):
    """All names inside are others: what is left are the graph's inputs and outputs."""
    draw, used = random.Random(seed), set()

    def fresh(_old, _node):
        while True:
            name = f"t{draw.randrange(10 ** 6)}"
            if name not in used:
                used.add(name)
                return name

    out = renamed(model, fresh)
    for node in out.graph.node:
        node.name = f"n{draw.randrange(10 ** 8)}"
    return out


TF_NAMES = {"Conv": "Conv2D", "Gemm": "MatMul", "BatchNormalization": "FusedBatchNormV3", "Relu": "Relu", "Clip": "Relu6",
            "Add": "add", "MaxPool": "MaxPool", "Concat": "concat", "GlobalAveragePool": "Mean"}


def tensorflow_names(model, seed=3):
    """Names as tf2onnx gives them; two Transposes that cancel in front of convolutions, as between NHWC and NCHW."""
    model, draw, count = onnx.ModelProto.FromString(model.SerializeToString()), random.Random(seed), {}
    graph, nodes = model.graph, []
    weights = {t.name: t for t in graph.initializer}
    for node in graph.node:
        w = weights.get(node.input[1]) if node.op_type == "Conv" and len(node.input) > 1 else None
        if w is not None and len(w.dims) == 4 and draw.random() < 0.6:
            last, first = f"{node.output[0]}__nhwc", f"{node.output[0]}__nchw"
            nodes += [helper.make_node("Transpose", [node.input[0]], [last], perm=[0, 2, 3, 1], name=last),
                      helper.make_node("Transpose", [last], [first], perm=[0, 3, 1, 2], name=first)]
            node.input[0] = first
        nodes.append(node)
    nodes = [onnx.NodeProto.FromString(n.SerializeToString()) for n in nodes]
    del graph.node[:]
    graph.node.extend(nodes)

    def name(old, node):
        if node is None:
            return f"StatefulPartitionedCall/model/{old.replace('.', '/')}/ReadVariableOp:0"
        kind = TF_NAMES.get(node.op_type, node.op_type)
        count[kind] = count.get(kind, 0) + 1
        return f"StatefulPartitionedCall/model/{kind.lower()}_{count[kind]}/{kind}:0" if node.op_type != "Transpose" \
            else f"StatefulPartitionedCall/model/{kind.lower()}__{40 + count[kind]}:0"

    out = renamed(model, name)
    for node in out.graph.node:
        node.name = node.output[0].removesuffix(":0")
    return out


def optimized(model, level):
    """As an ONNX Runtime session saves it: basic, extended or all."""
    levels = {"basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC, "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
              "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL}
    with tempfile.TemporaryDirectory() as folder:
        options = ort.SessionOptions()
        options.graph_optimization_level, options.log_severity_level = levels[level], 4
        options.optimized_model_filepath = str(pathlib.Path(folder) / "o.onnx")
        ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return onnx.load(options.optimized_model_filepath)


def preprocessed(model):
    """ONNX Runtime's own step before quantizing."""
    from onnxruntime.quantization.shape_inference import quant_pre_process
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        source, out = pathlib.Path(folder) / "m.onnx", pathlib.Path(folder) / "p.onnx"
        onnx.save(model, str(source))
        quant_pre_process(str(source), str(out), skip_symbolic_shape=True)
        return onnx.load(str(out))


def transformer_optimized(model, net):
    from onnxruntime.transformers import optimizer
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "m.onnx")
        onnx.save(model, path)
        done = optimizer.optimize_model(path, model_type=net.transformer, num_heads=net.heads, hidden_size=net.width,
                                        opt_level=0, use_gpu=False)
        if not any(o.domain == "com.microsoft" for o in done.model.opset_import):
            done.model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        return done.model


def half(model):
    """Weights and values in float16, graph inputs and outputs in float32."""
    from onnxruntime.transformers.float16 import convert_float_to_float16
    return convert_float_to_float16(onnx.ModelProto.FromString(model.SerializeToString()), keep_io_types=True)
