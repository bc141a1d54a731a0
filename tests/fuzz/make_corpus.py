#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the inputs of corpus/ that are easier to describe than to keep: past crashes, each the smallest of its class.

Needs nothing beside Python. Inputs that fuzzing found lie in corpus/ as they are, and are left alone.
"""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus"
FLOAT, UINT8, INT8, INT64, BOOL, DOUBLE = 1, 2, 3, 7, 9, 11


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytearray([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def tensor(name, kind, sizes, raw):
    return b"".join(number(1, s) for s in sizes) + number(2, kind) + block(8, name) + block(9, raw)


def node(kind, inputs, outputs, attributes=b"", domain=""):
    out = b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in outputs) + block(4, kind) + attributes
    return out + (block(7, domain) if domain else b"")


def value(name, kind=FLOAT, sizes=(2, 2)):
    shape = b"".join(block(1, number(1, s)) for s in sizes)
    return block(1, name) + block(2, block(1, number(1, kind) + block(2, shape)))


def model(nodes, constants=(), inputs=("x",), outputs=("y",), graph=b"", more=b"", version=19):
    parts = b"".join(block(1, n) for n in nodes) + block(2, "g") + b"".join(block(5, c) for c in constants)
    parts += b"".join(block(11, i if isinstance(i, bytes) else value(i)) for i in inputs)
    parts += b"".join(block(12, o if isinstance(o, bytes) else value(o)) for o in outputs) + graph
    return number(1, 9) + block(8, number(2, version)) + more + block(7, parts)


def scalar(name, value):
    return tensor(name, FLOAT, [], struct.pack("<f", value))


def pair(floats, quantized):
    return struct.pack("<I", len(floats)) + floats + quantized


def dequantized(kind, raw, scale=None):
    codes = tensor("q", kind, [2, 2], raw)
    scales = scale if scale is not None else scalar("s", 0.5)
    nodes = [node("DequantizeLinear", ["q", "s"], ["w"]), node("MatMul", ["x", "w"], ["y"])]
    return model(nodes, [codes, scales])


def sparse():
    entries = tensor("w", FLOAT, [0], b"") + b""
    return block(15, block(1, entries) + block(2, tensor("", INT64, [0], b"")) + number(3, 1 << 20) + number(3, 1 << 20))


def doubling(depth):
    """Functions of which each calls the one before twice."""
    functions = b""
    for i in range(depth):
        inner = [node("Relu", ["a"], ["m"]), node("Relu", ["m"], ["b"])] if i == 0 else [
            node(f"f{i - 1}", ["a"], ["m"], domain="local"), node(f"f{i - 1}", ["m"], ["b"], domain="local")]
        functions += block(25, block(1, f"f{i}") + block(4, "a") + block(5, "b") + b"".join(block(7, n) for n in inner)
                           + block(9, number(2, 19)) + block(9, block(1, "local") + number(2, 1)) + block(10, "local"))
    return model([node(f"f{depth - 1}", ["x"], ["y"], domain="local")],
                 more=block(8, block(1, "local") + number(2, 1)) + functions)


def integer_product(scale):
    inputs = ["x", "xs", "z", "w", "ws", "z", "ys", "z"]
    constants = [tensor("xs", FLOAT, *scale), tensor("ws", FLOAT, [], struct.pack("<f", 0.5)),
                 tensor("ys", FLOAT, *scale), tensor("z", UINT8, [], b"\0"), tensor("w", UINT8, [2, 2], b"\1\2\3\4")]
    return model([node("QLinearMatMul", inputs, ["y"])], constants, [value("x", UINT8)], [value("y", UINT8)])


def whole(name, value):
    """An attribute of a node: an integer."""
    return block(5, block(1, name) + number(3, value) + number(20, 2))


def blocks_of(size):
    """A weight in blocks of a size that is rounded up beyond what an integer holds."""
    attributes = whole("K", 2) + whole("N", 2) + whole("bits", 4) + whole("block_size", size)
    constants = [tensor("q", UINT8, [2, 1, 8], bytes(16)), tensor("s", FLOAT, [2], struct.pack("<2f", 1, 2))]
    return model([node("MatMulNBits", ["x", "q", "s"], ["y"], attributes, "com.microsoft")], constants,
                 more=block(8, block(1, "com.microsoft") + number(2, 1)))


def groups_of(count):
    weight = tensor("w", FLOAT, [1, 1, 1, 1], struct.pack("<f", 1))
    return model([node("Conv", ["x", "w"], ["y"], whole("group", count))], [weight], [value("x", FLOAT, (1, 1, 2, 2))],
                 [value("y", FLOAT, (1, 1, 2, 2))])


def bodies_that_read(count):
    """Bodies of an If read floats that operators on codes give elsewhere."""
    weight = tensor("w", FLOAT, [2, 2], struct.pack("<4f", 1, 2, 3, 4))
    nodes = [node("MatMul", ["x" if i == 0 else f"p{i - 1}", "w"], [f"p{i}"]) for i in range(count)]

    def body(name, kind):
        inner = [node(kind, [f"p{i}", f"p{i}" if i == 0 else f"{name}{i - 1}"], [f"{name}{i}"]) for i in range(count)]
        graph = b"".join(block(1, n) for n in inner) + block(2, name) + block(12, value(f"{name}{count - 1}"))
        return block(5, block(1, f"{name}_branch") + block(6, graph) + number(20, 5))

    return model(nodes + [node("If", ["c"], ["y"], body("then", "Add") + body("else", "Mul"))], [weight],
                 [value("x"), value("c", BOOL, ())])


plain = model([node("MatMul", ["x", "w"], ["y"])], [tensor("w", FLOAT, [2, 2], struct.pack("<4f", 1, 2, 3, 4))])
deep = "[" * 20000
keys = '{"a":' * 20000
files = {
    "model/one-output-too-many": model([node("Relu", ["x"], ["y", "z"])]),
    "model/codes-int64": dequantized(INT64, bytes(32)),
    "model/codes-float64": dequantized(DOUBLE, bytes(32)),
    "model/scale-empty": dequantized(INT8, b"\1\2\3\4", tensor("s", FLOAT, [0], b"")),
    "model/scale-empty-product": integer_product(([0], b"")),
    "model/scale-zero-product": integer_product(([], bytes(4))),
    "model/sparse-of-4-tib": model([node("MatMul", ["x", "w"], ["y"])], graph=sparse()),
    "model/functions-doubling": doubling(40),
    "model/block-size-near-2-to-63": blocks_of((1 << 63) - 16),
    "model/groups-near-2-to-63": groups_of((1 << 63) - 1),
    "model/bodies-read-floats-of-codes": bodies_that_read(9),
    "model/names-deep": plain + block(14, block(1, "names") + block(2, deep)),
    "model/names-of-keys": plain + block(14, block(1, "names") + block(2, keys)),
    "pair/dequantize-without-scale": pair(plain, model(
        [node("DequantizeLinear", ["q"], ["w"]), node("MatMul", ["x", "w"], ["y"])],
        [tensor("q", INT8, [2, 2], b"\1\2\3\4")])),
    "pair/block-size-near-2-to-63": pair(plain, blocks_of((1 << 63) - 16)),
    "pair/codes-int64": pair(plain, dequantized(INT64, bytes(32))),
    "pair/scale-empty": pair(plain, dequantized(INT8, b"\1\2\3\4", tensor("s", FLOAT, [0], b""))),
    "recipe/deep": deep,
    "recipe/deep-keys": keys,
    "recipe/bins": '{"schema_version": 1, "calibration": {"method": "entropy", "bins": 1000000000}}',
    "recipe/pattern": '{"schema_version": 1, "exclude": ["re:(a*)*(b*)*(.*)*$", "re:((a{999}){999}){999}"]}',
    "ranges/deep": deep,
    "ranges/infinite": '{"image": [-1e999, 1e999]}',
    "class-names/deep": deep,
    "class-names/python-deep": "{0: " * 20000,
    "preprocess/deep": keys,
    "preprocess/huge": '{"size": [2000000000, 2000000000], "layout": "nchw"}',
    "project/deep": keys,
    "map/deep": deep,
    "baseline/deep": deep,
    "gate/deep": "a = " + deep,
    "gate/key-behind-three-brackets": "[[[x]]]\n",
    "gate/deep-tables": "a = " + "{a=" * 20000,
    "lesson-json/deep": keys,
    "expression/deep": "(" * 20000,
    "expression/signs": "-" * 20000 + "1",
    "expression/not": "not " * 20000 + "true",
    "npy/huge": b"\x93NUMPY\x01\x00\x76\x00"
    + b"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }".ljust(117) + b"\n",
}
for name, content in files.items():
    path = CORPUS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
