# SPDX-License-Identifier: GPL-3.0-or-later
"""Random choices that make a model of one operator: its opset, types, shapes, values and attributes."""
import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import defs, helper, numpy_helper

CASES = {}  # (domain, operator) -> function that fills a Draw
FLOATS = (T.FLOAT, T.FLOAT16, T.DOUBLE, T.BFLOAT16)
FLOAT8 = (T.FLOAT8E4M3FN, T.FLOAT8E4M3FNUZ, T.FLOAT8E5M2, T.FLOAT8E5M2FNUZ)
INTS = (T.INT8, T.UINT8, T.INT16, T.UINT16, T.INT32, T.UINT32, T.INT64, T.UINT64)
PACKED = tuple(getattr(T, n) for n in ("INT4", "UINT4", "INT2", "UINT2") if hasattr(T, n))
FLOAT4 = (T.FLOAT4E2M1,)
WORDS = ["", "a", "B", "ab", "Zebra", "émile", "the quick fox", "x_1", "42", "Ärger", "a,b,c", "  pad "]
TYPE_NAMES = {"float": "FLOAT"}


def case(*names, domain=""):
    """Marks the function that draws cases of these operators."""

    def keep(function):
        for name in names:
            CASES[domain, name] = function
        return function

    return keep


def versions(domain, op):
    """All since_versions of an operator, oldest first."""
    found = sorted({s.since_version for s in SCHEMAS.get((domain, op), [])})
    return found or [1]


SCHEMAS = {}
for _schema in defs.get_all_schemas_with_history():
    SCHEMAS.setdefault((_schema.domain, _schema.name), []).append(_schema)


def element_type(text):
    """tensor(float) -> TensorProto.FLOAT; None for what is no tensor."""
    if not text.startswith("tensor("):
        return None
    name = text[7:-1]
    return getattr(T, TYPE_NAMES.get(name, name.upper()), None)


class Draw:
    def __init__(self, seed, index, domain, op, max_opset):
        self.rng = np.random.default_rng([seed, index])
        self.domain, self.op = domain, op
        all_versions = versions(domain, op)
        usable = [v for v in all_versions if v <= max_opset and (domain or v >= 1)]
        recent = [v for v in usable if v >= 6] or usable
        self.version = recent[-1] if self.chance(0.5) else self.pick(recent)
        following = [v for v in all_versions if v > self.version]
        last = min(max_opset, following[0] - 1 if following else max_opset)
        first = min(max(self.version, 7), last) if not domain else self.version
        self.opset = int(self.rng.integers(first, last + 1))
        schemas = [s for s in SCHEMAS.get((domain, op), []) if s.since_version == self.version]
        self.schema = schemas[0] if schemas else None
        self.inputs, self.stored, self.attributes, self.count = [], {}, {}, 1
        self.chosen = {}
        self.specials = self.chance(0.08)
        self.all_stored = self.chance(0.1)
        self.symbolic = self.chance(0.3)

    # choices
    def chance(self, p):
        return bool(self.rng.random() < p)

    def pick(self, options):
        options = list(options)
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def real(self, low, high):
        return float(np.float32(self.rng.uniform(low, high)))

    def shape(self, low=0, high=4, size=6, least=1):
        """Sizes, mostly small and odd; seldom an empty axis or one past a vector's width."""
        dims = [self.integer(least, size) for _ in range(self.integer(low, high))]
        if dims and self.chance(0.15):
            dims[-1] = self.integer(7, 40)
        return dims

    def broadcastable(self, shape):
        """A shape that broadcasts to `shape`."""
        dims = [1 if self.chance(0.25) else n for n in shape]
        return dims[self.integer(0, len(dims)):] if self.chance(0.3) else dims

    def axis(self, rank, low=None):
        return self.integer(-rank if low is None else low, rank - 1)

    def axes(self, rank, least=1):
        count = self.integer(min(least, rank), rank)
        chosen = sorted(self.rng.choice(rank, count, replace=False).tolist())
        return [int(a) - (rank if self.chance(0.3) else 0) for a in chosen]

    # types
    def types(self, name):
        """Element types that the schema allows for a type parameter (or for an input's fixed type)."""
        for c in self.schema.type_constraints if self.schema else []:
            if c.type_param_str == name:
                found = [element_type(t) for t in c.allowed_type_strs]
                return [t for t in found if t is not None]
        return [element_type(name)]

    def type(self, name="T", among=None, usual=T.FLOAT):
        """One of them; the same each time it is asked."""
        if name not in self.chosen:
            options = [t for t in self.types(name) if t not in (T.COMPLEX64, T.COMPLEX128)]
            if among is not None:
                options = [t for t in options if t in among] or options
            self.chosen[name] = usual if usual in options and self.chance(0.5) else self.pick(options)
        return self.chosen[name]

    # values
    def values(self, kind, shape, low=None, high=None, specials=True):
        """Random elements; between low and high when given."""
        dtype = helper.tensor_dtype_to_np_dtype(kind) if kind != T.STRING else object
        shape = tuple(shape)
        if kind == T.STRING:
            flat = [self.pick(WORDS) for _ in range(int(np.prod(shape)))]
            return np.array(flat, dtype=object).reshape(shape)
        if kind == T.BOOL:
            return self.rng.random(shape) < 0.5
        if kind in INTS or kind in PACKED:
            info = np.iinfo(dtype) if kind in INTS else ml_dtypes.iinfo(dtype)
            lo = max(int(info.min), -9 if low is None else int(low))
            hi = min(int(info.max), 9 if high is None else int(high))
            return self.rng.integers(lo, hi + 1, shape).astype(dtype)
        if low is None and high is None:
            x = self.rng.standard_normal(shape) * self.pick([1, 1, 3])
        else:
            x = self.rng.uniform(-1 if low is None else low, 1 if high is None else high, shape)
        x = np.asarray(x)
        if self.specials and specials and low is None and x.size:
            flat = x.reshape(-1)
            for value in (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e30, 0.5, -1.5):
                if self.chance(0.5):
                    flat[self.integer(0, flat.size - 1)] = value
        with np.errstate(over="ignore", invalid="ignore"):
            return x.astype(np.float32 if kind in (*FLOAT8, *FLOAT4) else dtype).astype(dtype)

    # the node
    def feed(self, array, stored=None):
        """Appends an input; `stored` makes it an initializer (True), a graph input (False), or either (None)."""
        name = f"x{len(self.inputs)}"
        self.inputs.append(name)
        keep = self.all_stored or self.chance(0.2) if stored is None else stored
        self.stored[name] = (np.asarray(array), keep)

    def x(self, shape, kind=None, low=None, high=None, stored=None, specials=True):
        """Appends random elements and returns them."""
        values = self.values(self.type() if kind is None else kind, shape, low, high, specials)
        self.feed(values, stored)
        return values

    def absent(self):
        self.inputs.append("")

    def ints(self, values, kind=T.INT64, stored=None):
        self.feed(np.array(values, helper.tensor_dtype_to_np_dtype(kind)), stored)

    def set(self, **attributes):
        self.attributes.update({k: v for k, v in attributes.items() if v is not None})

    def maybe(self, p=0.6, **attributes):
        """Each attribute is given or left to its default."""
        for name, value in attributes.items():
            if self.chance(p):
                self.set(**{name: value})

    def model(self):
        while self.inputs and not self.inputs[-1]:
            self.inputs.pop()
        outputs = [f"y{i}" if i is not None else "" for i in (range(self.count) if isinstance(self.count, int) else self.count)]
        node = helper.make_node(self.op, self.inputs, outputs, domain=self.domain, **self.attributes)
        graph_inputs, initializers, feeds = [], [], {}
        for name, (array, keep) in self.stored.items():
            tensor = to_tensor(array, name)
            if keep:
                initializers.append(tensor)
                continue
            dims = [f"{name}_{i}" for i in range(array.ndim)] if self.symbolic else list(array.shape)
            graph_inputs.append(helper.make_tensor_value_info(name, tensor.data_type, dims))
            feeds[name] = array
        infos = [onnx.ValueInfoProto(name=o) for o in outputs if o]
        graph = helper.make_graph([node], "g", graph_inputs, infos, initializers)
        imports = [helper.make_opsetid(self.domain, self.opset)]
        if self.domain:
            imports.append(helper.make_opsetid("", 21))
        plain = 10 if all(t.data_type not in (*PACKED, *FLOAT4) for t in initializers) else 12
        newest = max([i.version for i in imports if not i.domain])
        ir = 8 if newest < 19 else 9 if newest < 21 else max(plain, 10 if newest < 23 else 11 if newest < 25 else 12)
        return helper.make_model(graph, opset_imports=imports, ir_version=ir), feeds


def to_tensor(array, name=""):
    if array.dtype == object:
        return helper.make_tensor(name, T.STRING, array.shape, [s.encode() for s in array.reshape(-1)])
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
