# SPDX-License-Identifier: GPL-3.0-or-later
"""A deep language model out of a shallow one, of which onnxruntime-genai's builder would need tens of gigabytes."""
import re

import numpy as np
import onnx
from onnx.external_data_helper import load_external_data_for_tensor

BUILT, MIDDLE = 3, 1  # layers of the shallow model, and which of them is repeated
LAYER = re.compile(r"(layers|past_key_values|present)\.(\d+)")


def moved(name, by):
    return LAYER.sub(lambda m: f"{m[1]}.{int(m[2]) + by}", name)


def repeated(items, layers):
    """(item, how many layers it is moved), in an order in which nodes can run."""
    layer = [int(m[2]) if (m := LAYER.search(item.name)) else -1 for item in items]
    first = layer.index(MIDDLE) if MIDDLE in layer else len(items)
    yield from ((item, 0) for item in items[:first])
    for by in range(layers - BUILT + 1):
        yield from ((item, by) for item, number in zip(items, layer) if number == MIDDLE)
    for item, number in list(zip(items, layer))[first:]:
        if number != MIDDLE:
            yield item, 0 if number == 0 else layers - BUILT


def copy_of(item, by):
    made = type(item)()
    made.CopyFrom(item)
    made.name = moved(item.name, by)
    return made


def write_initializer(tensor, source, by, file, rng):
    """A copy of it, its bytes at the end of the open file; codes of another layer are random."""
    made = copy_of(tensor, by)
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return made
    held = copy_of(tensor, 0)
    load_external_data_for_tensor(held, str(source.parent))
    raw = rng.bytes(len(held.raw_data)) if by and tensor.data_type == onnx.TensorProto.UINT8 else held.raw_data
    file.seek(-file.tell() % 4096, 1)
    del made.external_data[:]
    for key, value in ("location", "model.onnx.data"), ("offset", file.tell()), ("length", len(raw)):
        made.external_data.add(key=key, value=str(value))
    file.write(raw)
    return made


def deepen(source, target, layers):
    """Writes the model `target`: `source`, the middle one of its three layers repeated until there are `layers`."""
    model, rng = onnx.load(source, load_external_data=False), np.random.default_rng(0)
    deep = onnx.GraphProto(name=model.graph.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.parent / "model.onnx.data", "wb") as file:
        for tensor, by in repeated(model.graph.initializer, layers):
            deep.initializer.append(write_initializer(tensor, source, by, file, rng))
    for node, by in repeated(model.graph.node, layers):
        made = copy_of(node, by)
        made.input[:] = [moved(name, by) for name in node.input]
        made.output[:] = [moved(name, by) for name in node.output]
        deep.node.append(made)
    for kind in ("input", "output", "value_info"):
        getattr(deep, kind).extend(copy_of(value, by) for value, by in repeated(getattr(model.graph, kind), layers))
    model.graph.CopyFrom(deep)
    onnx.save(model, target)
