# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a difference comes from rows that products of accuracy level 4 round: a code on a tie fell to the other side.

ONNX Runtime writes the graph that it computes; with every tensor of it as an output it is run again, and ours, too. Each
product then gets ONNX Runtime's own input in both programs, and the codes of both programs' rows are compared.
"""
import subprocess

import numpy as np
import onnx
import onnxruntime as ort

# Of the largest magnitude, by bits: products of equal inputs differ in the order of sums alone. Of 8 bits ONNX Runtime takes
# 128 times the sum of the row away in float32, which leaves about 4e-5 where all of a column is zero with a scale of 1 (ours:
# 4e-8 from the product in float64).
EQUAL = {4: 1e-5, 8: 1e-4}
NEAR = 1e-3  # of a step: how far from a tie an element may be whose code falls otherwise by float32's last places


def optimized(path):
    """ONNX Runtime's own graph; names of tensors stay where nodes are joined."""
    out = path.parent / "optimized.onnx"
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level, options.optimized_model_filepath = 1, 4, str(out)
    ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return onnx.load(out)


def everything(model, feeds, folder):
    """Every tensor of that graph by name."""
    exposed = onnx.ModelProto()
    exposed.CopyFrom(model)
    have = {o.name for o in exposed.graph.output}
    exposed.graph.output.extend(onnx.ValueInfoProto(name=o) for n in model.graph.node for o in n.output if o and o not in have)
    out = folder / "exposed.onnx"
    onnx.save(exposed, out, save_as_external_data=True, location="exposed.data")
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    s = ort.InferenceSession(str(out), options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in s.get_outputs()], s.run(None, feeds)))


def in_steps(rows, block):
    """Rows in blocks, in steps of their codes."""
    x = rows.reshape(-1, rows.shape[-1]).astype(np.float32)
    x = np.pad(x, ((0, 0), (0, -x.shape[1] % block))).reshape(len(x), -1, block)
    largest = np.abs(x).max(-1, keepdims=True)
    return x * np.where(largest > 0, np.float32(127) / np.where(largest > 0, largest, 1), 0).astype(np.float32)


def ours(cli, model, feeds, folder, *more):
    given, out = folder / "in.npz", folder / "out.npz"
    np.savez(given, **{n: v[None] for n, v in feeds.items()})
    done = subprocess.run([cli, "run", model, "--data", given, "--out", out, "--quiet", "--arithmetic", "integer", "--threads", "1",
                           *more], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"run: {done.returncode} {done.stderr.strip()[:400]}")
    return dict(np.load(out))


def alone(cli, node, model, x, wanted, folder):
    """How far our product of ONNX Runtime's input is from its own, over the largest magnitude."""
    stored = [i for i in model.graph.initializer if i.name in node.input]
    graph = onnx.helper.make_graph([node], "g", [onnx.helper.make_tensor_value_info(node.input[0], onnx.TensorProto.FLOAT, x.shape)],
                                   [onnx.ValueInfoProto(name=node.output[0])], stored)
    path = folder / "product.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version), path)
    mine = ours(cli, path, {node.input[0]: x}, folder)[node.output[0]].reshape(wanted.shape)
    return float(np.abs(mine - wanted).max() / max(np.abs(wanted).max(), 1e-30))


def rounds(node, said):
    """Whether a node rounds its rows to codes of 8 bits; `said`: its attributes."""
    if node.op_type == "QMoE":
        return said.get("block_size", 0) > 0 and (said.get("expert_weight_bits", 4) == 8 or said.get("accuracy_level", 0) == 4)
    return node.op_type == "MatMulNBits" and said.get("accuracy_level", 0) == 4


def flips(cli, path, feeds, folder):
    """(sentence, whether the difference is one of ties) of one step."""
    model = optimized(path)
    theirs, mine = {**feeds, **everything(model, feeds, folder)}, {**feeds, **ours(cli, path, feeds, folder, "--all-tensors")}
    first, count, worst = "", 0, 0.0
    near, equal, hidden = True, True, False
    for node in model.graph.node:
        said = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        x = theirs.get(node.input[0]) if rounds(node, said) else None
        if x is None or not x.size:
            continue
        if node.op_type == "QMoE":  # of which the rows between its products are not seen
            hidden = True
        else:
            apart = alone(cli, node, model, x, theirs[node.output[0]], folder)
            worst, equal = max(worst, apart), equal and apart < EQUAL[said.get("bits", 4)]
        if node.input[0] not in mine:  # joined with others here
            continue
        block = min(said["block_size"], 256)
        a, b = in_steps(mine[node.input[0]].reshape(x.shape), block), in_steps(x, block)
        other = np.rint(a) != np.rint(b)
        if other.any() and not first:
            tie = float(np.abs(np.abs(b - np.trunc(b)) - 0.5)[other].max())
            near = tie < NEAR or hidden
            first = f"first {other.sum()} of {other.size} codes at {node.input[0]}, {tie:.0e} of a step from a tie"
        count += int(other.sum())
    return (f"products of equal inputs {worst:.0e}, {count} codes differ{', ' + first if first else ''}",
            equal and near and (count > 0 or hidden))
