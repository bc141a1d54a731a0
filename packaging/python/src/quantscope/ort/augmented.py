# SPDX-License-Identifier: GPL-3.0-or-later
"""A model whose inner tensors are outputs, too. What is added stands behind the original's bytes: parsers of protocol
buffers merge it, and the original can be had back by cutting it off."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ..errors import BadInput
from ..workspace import Workspace

_KEY = "quantscope_augmented"
_TAIL = re.compile(rb"QS\[(?P<json>\{.*\})\]QS\Z", re.DOTALL)
_SUFFIX = "_ReshapedSavedOutput"
_SHAPE = "quantscope_flat_shape"
_FLOATS = (1, 10)  # float32 and float16 in TensorProto
_MOST_TAIL = 16 << 20  # bytes


def import_onnx() -> Any:
    """The package onnx."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("this function needs the package onnx; install it with `pip install onnx`") from error
    return onnx


def _types(onnx: Any, path: str) -> Tuple[Any, Dict[str, int]]:
    """The graph, and element types of its tensors as far as they can be inferred."""
    with Workspace() as place:
        inferred = place.file("inferred.onnx")
        try:
            onnx.shape_inference.infer_shapes_path(path, inferred)
            model = onnx.load(inferred, load_external_data=False)
        except Exception:  # noqa: BLE001 - a model that breaks inference has the types that stand in its file
            model = onnx.load(path, load_external_data=False)
    graph = model.graph
    infos = [*graph.value_info, *graph.output, *graph.input]
    return graph, {info.name: info.type.tensor_type.elem_type for info in infos if info.type.HasField("tensor_type")}


def _saved(graph: Any, types: Dict[str, int], op_types: Optional[Sequence[str]]) -> Iterator[str]:
    """Float tensors at nodes of these types, without constants."""
    constants = {tensor.name for tensor in graph.initializer}
    seen = set()
    for node in graph.node:
        if op_types and node.op_type not in op_types:
            continue
        for name in (*node.input, *node.output):
            if name not in constants and name not in seen and types.get(name) in _FLOATS:
                seen.add(name)
                yield name


def augment(source: str, target: str, op_types: Optional[Sequence[str]]) -> None:
    """Writes the augmented model."""
    onnx = import_onnx()
    helper = onnx.helper
    graph, types = _types(onnx, source)
    names = list(_saved(graph, types, op_types))
    added = onnx.ModelProto()
    added.graph.initializer.append(helper.make_tensor(_SHAPE, onnx.TensorProto.INT64, [1], [-1]))
    for name in names:
        added.graph.node.append(helper.make_node("Reshape", [name, _SHAPE], [name + _SUFFIX], name=name + _SUFFIX))
        added.graph.output.append(helper.make_tensor_value_info(name + _SUFFIX, types[name], [None]))
    _keep_external_data(graph, source, target)
    size = os.path.getsize(source)
    about = json.dumps({"bytes": size, "source": os.path.abspath(source), "saved": names})
    tail = onnx.ModelProto()
    tail.metadata_props.append(onnx.StringStringEntryProto(key=_KEY, value=f"QS[{about}]QS"))
    with open(source, "rb") as original, open(target + ".part", "wb") as out:
        shutil.copyfileobj(original, out, 1 << 20)
        out.write(added.SerializeToString())
        out.write(tail.SerializeToString())
    os.replace(target + ".part", target)


def _keep_external_data(graph: Any, source: str, target: str) -> None:
    """Weights beside the model have to stand beside the augmented one, too."""
    here, there = os.path.dirname(os.path.abspath(source)), os.path.dirname(os.path.abspath(target))
    if here == there:
        return
    files = {entry.value for tensor in graph.initializer for entry in tensor.external_data if entry.key == "location"}
    for name in files:
        if not os.path.exists(os.path.join(there, name)):
            os.makedirs(os.path.dirname(os.path.join(there, name)), exist_ok=True)
            shutil.copyfile(os.path.join(here, name), os.path.join(there, name))


@dataclass
class Original:
    """The model without what was added, and the names of the tensors that are saved."""

    path: str
    saved: List[str]
    place: Optional[Workspace] = None  # where it stands, if it had to be written


def _starts_with(longer: str, shorter: str) -> bool:
    with open(longer, "rb") as a, open(shorter, "rb") as b:
        while True:
            piece = b.read(1 << 20)
            if not piece:
                return True
            if a.read(len(piece)) != piece:
                return False


def original_of(path: str) -> Original:
    """The model that was augmented."""
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            file.seek(max(0, size - _MOST_TAIL))
            found = _TAIL.search(file.read())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}; check the path") from error
    if not found:
        raise BadInput(
            f"{path}: was not written by modify_model_output_intermediate_tensors of this package; "
            "call that function first"
        )
    about = json.loads(found["json"][found["json"].rfind(b'{"bytes"') :])
    source, length = about["source"], about["bytes"]
    if os.path.exists(source) and os.path.getsize(source) == length and _starts_with(path, source):
        return Original(source, about["saved"])
    place = Workspace(length)
    copy = place.file("model.onnx")
    with open(path, "rb") as file, open(copy, "wb") as out:
        out.write(file.read(length))
    return Original(copy, about["saved"], place)
