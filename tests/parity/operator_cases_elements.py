# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of operators that work element by element or line by line: arithmetic, comparisons, reductions, normalizations."""
import numpy as np
from onnx import TensorProto as T
from operator_draw import FLOAT4, FLOAT8, FLOATS, INTS, PACKED, case

RANGES = {"Acos": (-1, 1), "Acosh": (1, 9), "Asin": (-1, 1), "Atanh": (-0.99, 0.99), "Log": (0.001, 9), "Sqrt": (0, 9),
          "Reciprocal": (0.1, 4), "Tan": (-1.4, 1.4), "Exp": (-5, 5), "Cosh": (-4, 4), "Sinh": (-4, 4)}


@case("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "HardSwish",
      "Identity", "IsNaN", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Sinh",
      "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "BitwiseNot", "Size")
def unary(d):
    schema = d.schema.inputs[0].type_str
    kind = d.type(schema)
    d.x(d.shape(), kind, *(RANGES.get(d.op, (None, None)) if kind in FLOATS else (None, None)))


@case("Celu", "Elu", "HardSigmoid", "LeakyRelu", "Selu", "Shrink", "Swish", "ThresholdedRelu")
def unary_with_numbers(d):
    d.x(d.shape(), d.type(d.schema.inputs[0].type_str))
    for name in d.schema.attributes:
        d.maybe(**{name: d.real(0.1, 1.7)})


@case("Gelu")
def gelu(d):
    d.x(d.shape(), d.type())
    d.maybe(approximate=d.pick(["none", "tanh"]))


@case("IsInf")
def is_inf(d):
    d.specials = True
    d.x(d.shape(), d.type("T1"))
    d.maybe(detect_negative=d.integer(0, 1), detect_positive=d.integer(0, 1))


def pair(d, kind, low=None, high=None):
    """Two inputs that broadcast, each the larger one at times."""
    shape = d.shape()
    small = d.broadcastable(shape) if d.chance(0.5) else shape
    for s in (shape, small) if d.chance(0.6) else (small, shape):
        d.x(s, kind, low, high)


@case("Add", "Sub", "Mul", "And", "Or", "Xor", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "BitwiseAnd",
      "BitwiseOr", "BitwiseXor")
def binary(d):
    pair(d, d.type())


@case("Div", "Mod")
def quotient(d):
    kind = d.type()
    shape = d.shape()
    a = d.values(kind, shape, specials=False)
    b = d.values(kind, d.broadcastable(shape), specials=False)
    b[b == 0] = 3
    d.feed(a)
    d.feed(b)
    if d.op == "Mod" and (kind in FLOATS or d.chance(0.3)):
        d.set(fmod=1)


@case("Pow")
def power(d):
    base = d.type("T")
    exponent = d.type("T1") if d.version >= 12 else base
    shape = d.shape()
    d.x(shape, base, 0 if base not in FLOATS else 0.1, 4)
    d.x(d.broadcastable(shape), exponent, 0, 3)


@case("BitShift")
def bit_shift(d):
    kind = d.type()
    shape = d.shape()
    d.x(shape, kind, 0, 200)
    d.x(d.broadcastable(shape), kind, 0, 7)
    d.set(direction=d.pick(["LEFT", "RIGHT"]))


@case("PRelu")
def prelu(d):
    kind, shape = d.type(), d.shape(low=1)
    d.x(shape, kind)
    d.x(d.broadcastable(shape), kind)


@case("Max", "Mean", "Min", "Sum")
def variadic(d):
    kind, shape = d.type(), d.shape()
    for i in range(d.integer(1, 4)):
        d.x(shape if i == 0 else d.broadcastable(shape), kind)


@case("Where")
def where(d):
    shape = d.shape()
    d.x(d.broadcastable(shape), T.BOOL)
    d.x(shape, d.type())
    d.x(d.broadcastable(shape), d.type())


@case("Clip")
def clip(d):
    kind = d.type()
    d.x(d.shape(), kind)
    low, high = (d.integer(0, 2), d.integer(3, 6)) if kind in INTS else (d.real(-1, 0), d.real(0, 1.5))
    if d.version < 11:
        d.maybe(min=float(low), max=float(high))
        return
    for value in (low, high):
        d.feed(np.array(value).astype(d.values(kind, []).dtype)) if d.chance(0.7) else d.absent()


def numbers_for(d, kind, goal):
    """Elements whose conversion is defined."""
    shape = d.shape()
    if kind == T.STRING:
        words = ["1", "-2", "3.5", "0", "1e2", "7"] if goal in FLOATS else ["1", "-2", "3", "0", "7"]
        if goal in (T.UINT8, T.UINT16, T.UINT32, T.UINT64):
            words = ["1", "3", "0", "7"]
        return np.array([d.pick(words) for _ in range(int(np.prod(shape)))], dtype=object).reshape(shape)
    low = 0 if goal in (T.UINT8, T.UINT16, T.UINT32, T.UINT64, *PACKED) else None
    plain = goal in INTS or goal in PACKED
    if kind == getattr(T, "FLOAT8E8M0", None):
        return d.values(kind, shape, 1, 60)
    return d.values(kind, shape, low, 1 if goal in PACKED else 100 if low is not None else None, specials=not plain)


@case("Cast", "CastLike")
def cast(d):
    kind, goal = d.type("T1", usual=d.pick(FLOATS)), d.type("T2", usual=d.pick(INTS))
    d.feed(numbers_for(d, kind, goal))
    if d.op == "Cast":
        d.set(to=int(goal))
    else:
        d.x([1], goal)
    if goal in FLOAT8:
        d.maybe(saturate=d.integer(0, 1))


@case("BitCast")
def bit_cast(d):
    kind = d.type("T1", among=[t for t in d.types("T1") if t not in (*PACKED, *FLOAT4, T.STRING, T.BOOL)])
    size = d.values(kind, [1]).dtype.itemsize
    goals = [t for t in d.types("T2") if t not in (T.STRING, T.BOOL, T.COMPLEX64, T.COMPLEX128, *PACKED, *FLOAT4)]
    d.x(d.shape(), kind)
    d.set(to=int(d.pick([g for g in goals if d.values(g, [1]).dtype.itemsize == size])))


@case("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
      "ReduceSum", "ReduceSumSquare")
def reduce(d):
    shape, kind = d.shape(), d.type()
    d.x(shape, kind, *((0.1, 2) if d.op in ("ReduceLogSum", "ReduceProd") else (None, None)))
    axes = d.axes(len(shape), 0 if d.version >= 11 else 1) if d.chance(0.8) else None
    d.maybe(keepdims=d.integer(0, 1))
    if "axes" in d.schema.attributes:
        d.set(axes=axes or None)
        return
    if axes is not None:
        d.ints(axes)
    d.maybe(noop_with_empty_axes=d.integer(0, 1))


@case("ArgMax", "ArgMin")
def arg(d):
    shape = d.shape(low=1)
    d.x(shape, d.type(), *((-2, 2) if d.chance(0.5) else (None, None)))
    d.maybe(axis=d.axis(len(shape), 0 if d.version < 11 else None), keepdims=d.integer(0, 1))
    if d.version >= 12:
        d.maybe(select_last_index=d.integer(0, 1))


@case("CumSum", "CumProd")
def cumulative(d):
    shape = d.shape(low=1)
    d.x(shape, d.type())
    d.feed(np.array(d.axis(len(shape)), d.pick([np.int64, np.int32])))
    d.maybe(exclusive=d.integer(0, 1), reverse=d.integer(0, 1))


@case("TopK")
def top_k(d):
    shape = d.shape(low=1)
    axis = d.axis(len(shape), 0 if d.version < 11 else None)
    kind = d.type()
    count = int(np.prod(shape))
    d.feed(d.rng.permutation(count).reshape(shape).astype(d.values(kind, []).dtype))  # no ties
    k = d.integer(1, shape[axis])
    d.count = 2
    d.set(axis=axis)
    if d.version < 10:
        d.set(k=k)
        return
    d.ints([k])
    if d.version >= 11:
        d.maybe(largest=d.integer(0, 1))


@case("Softmax", "LogSoftmax", "Hardmax")
def softmax(d):
    shape = d.shape(low=1)
    d.x(shape, d.type(d.schema.inputs[0].type_str))
    d.maybe(axis=d.axis(len(shape), 0 if d.version < 11 else None))


@case("LpNormalization")
def lp_normalization(d):
    shape = d.shape(low=1)
    d.x(shape, d.type(), specials=False)  # squares are summed in double here
    d.maybe(axis=d.axis(len(shape)), p=d.integer(1, 2))


@case("LRN")
def lrn(d):
    d.x([d.integer(1, 3), d.integer(1, 9), *d.shape(2, 2)], d.type(), specials=False)  # squares are summed in double here
    d.set(size=d.pick([1, 3, 5]))
    d.maybe(alpha=d.real(0.0001, 0.1), beta=d.real(0.3, 1), bias=d.real(0.5, 2))


@case("BatchNormalization")
def batch_normalization(d):
    kind, channels = d.type("T"), d.integer(1, 9)
    second, third = (d.type("T1", usual=kind), d.type("T2", usual=kind)) if d.version >= 15 else (
        kind, d.type("U", usual=kind) if d.version == 14 else kind)
    d.x([d.integer(1, 3), channels, *d.shape(0, 3)], kind, specials=False)
    d.x([channels], second, specials=False)
    d.x([channels], second, specials=False)
    d.x([channels], third, specials=False)
    d.x([channels], third, 0.1, 2)
    d.maybe(epsilon=d.pick([1e-3, 1e-5]))
    if d.version < 7:
        d.set(is_test=1)


@case("InstanceNormalization")
def instance_normalization(d):
    channels = d.integer(1, 7)
    d.x([d.integer(1, 3), channels, *d.shape(1, 3, 7, 2)], d.type(), specials=False)
    d.x([channels], d.type())
    d.x([channels], d.type())
    d.maybe(epsilon=d.pick([1e-3, 1e-5]))


@case("GroupNormalization")
def group_normalization(d):
    groups = d.integer(1, 4)
    channels = groups * d.integer(1, 3)
    size = channels if d.version >= 21 else groups
    d.x([d.integer(1, 3), channels, *d.shape(1, 3, 7, 2)], d.type(), specials=False)
    d.x([size], d.type())
    d.x([size], d.type())
    d.set(num_groups=groups)
    d.maybe(epsilon=d.pick([1e-3, 1e-5]))


@case("LayerNormalization", "RMSNormalization")
def layer_normalization(d):
    shape = d.shape(low=1, least=2)
    axis = d.axis(len(shape))
    inner = shape[axis:]
    second = "U" if d.op == "LayerNormalization" and d.chance(0) else "T" if d.op == "LayerNormalization" else "V"
    d.x(shape, d.type(), specials=False)
    d.x(d.broadcastable(inner) if d.chance(0.2) else inner, d.type() if second == "T" else d.type(second, usual=d.type()))
    if d.op == "LayerNormalization":
        if d.chance(0.6):
            d.x(inner, d.type())
        d.count = d.pick([1, 1, 3])
    d.set(axis=axis)
    d.maybe(epsilon=d.pick([1e-3, 1e-5]))


@case("MeanVarianceNormalization")
def mean_variance(d):
    shape = d.shape(4, 4, 5, 2)
    d.x(shape, d.type(), specials=False)
    d.maybe(axes=d.axes(4))


@case("Dropout")
def dropout(d):
    d.x(d.shape(), d.type())
    d.count = d.pick([1, 2])
    if d.version < 7:
        d.set(is_test=1)
    elif d.version >= 12 and d.chance(0.5):
        d.x([], d.type("T1"), 0, 0.7)
        if d.chance(0.5):
            d.feed(np.array(False))


@case("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(d):
    batch, classes, rest = d.integer(1, 4), d.integer(2, 6), d.shape(0, 2)
    d.x([batch, classes, *rest], d.type(), specials=False)
    labels = d.values(d.type("Tind"), [batch, *rest], 0, classes - 1)
    if d.chance(0.4):
        ignored = d.pick([0, 1, -1])
        d.set(ignore_index=ignored)
        if d.chance(0.5) and labels.size:
            labels.reshape(-1)[0] = ignored
    d.feed(labels, False)
    if d.chance(0.5):
        d.x([classes], d.type(), 0.2, 2)
    d.maybe(reduction=d.pick(["none", "mean", "sum"]))
    if d.op == "SoftmaxCrossEntropyLoss":
        d.count = d.pick([1, 2])


@case("Det")
def det(d):
    n = d.integer(1, 5)
    d.x([*d.shape(0, 2), n, n], d.type(), specials=False)


@case("HannWindow", "HammingWindow", "BlackmanWindow")
def window(d):
    d.feed(np.array(d.integer(1, 20), d.pick([np.int32, np.int64])))
    d.maybe(periodic=d.integer(0, 1), output_datatype=d.pick([T.FLOAT, T.DOUBLE, T.FLOAT16, T.FLOAT]))


@case("MelWeightMatrix")
def mel(d):
    for value in (d.integer(2, 8), d.pick([16, 32, 64]), d.pick([8000, 16000])):
        d.feed(np.array(value, np.int64), True)
    d.feed(np.array(d.real(0, 300), np.float32), True)
    d.feed(np.array(d.real(1000, 4000), np.float32), True)
    d.maybe(output_datatype=T.FLOAT)


@case("DFT")
def dft(d):
    shape = [d.integer(1, 2), *d.shape(1, 2, 9, 2), d.pick([1, 2])]
    d.x(shape, d.type("T1"), specials=False)
    axis = d.integer(1, len(shape) - 2)
    inverse = d.integer(0, 1)
    onesided = d.integer(0, 1) if shape[-1] == 1 and not inverse else 0
    if d.chance(0.4):
        d.feed(np.array(d.integer(2, 10), np.int64), True)
    elif d.version >= 20:
        d.absent()
    d.set(inverse=inverse, onesided=onesided)
    if d.version >= 20:
        d.feed(np.array(axis, np.int64), True)
    else:
        d.set(axis=axis)


@case("STFT")
def stft(d):
    length, frame = d.integer(12, 40), d.pick([4, 5, 8])
    d.x([d.integer(1, 2), length, 1], d.type("T1"), specials=False)
    d.feed(np.array(d.integer(1, 6), np.int64), True)
    with_window = d.chance(0.6)
    d.x([frame], d.type("T1"), 0, 1) if with_window else d.absent()
    if not with_window or d.chance(0.5):
        d.feed(np.array(frame, np.int64), True)
    d.maybe(onesided=d.integer(0, 1))


@case("StringConcat")
def string_concat(d):
    pair(d, T.STRING)


@case("StringNormalizer")
def string_normalizer(d):
    d.x([d.integer(1, 5)] if d.chance(0.5) else [1, d.integer(1, 5)], T.STRING)
    d.maybe(case_change_action=d.pick(["LOWER", "UPPER", "NONE"]), is_case_sensitive=d.integer(0, 1), stopwords=["a", "ab"])


@case("StringSplit")
def string_split(d):
    d.x(d.shape(), T.STRING)
    d.count = 2
    d.maybe(delimiter=d.pick([",", " ", "a", "b,"]), maxsplit=d.integer(1, 3))


@case("RegexFullMatch")
def regex(d):
    d.x(d.shape(), T.STRING)
    d.set(pattern=d.pick(["a.*", "[a-zA-Z]+", r"\d+", "(a|B)b?", ""]))


@case("TfIdfVectorizer")
def tfidf(d):
    words = d.chance(0.4)
    pool = ["a", "B", "ab", "x_1", "42"] if words else [1, 2, 3, 4, 5]
    longest = d.integer(1, 2)
    grams = list(pool) + ([pool[0], pool[1], pool[2], pool[3]] if longest == 2 else [])
    shape = d.shape(1, 2, 8)
    d.x(shape, T.STRING) if words else d.x(shape, d.pick([T.INT32, T.INT64]), 0, 6)
    count = len(pool) + (2 if longest == 2 else 0)
    d.set(max_gram_length=longest, min_gram_length=d.integer(1, longest), max_skip_count=d.integer(0, 2),
          mode=d.pick(["TF", "IDF", "TFIDF"]), ngram_counts=[0, len(pool)][:longest],
          ngram_indexes=[int(i) for i in d.rng.permutation(count)])
    d.set(**{"pool_strings" if words else "pool_int64s": grams})
    d.maybe(weights=[d.real(0.1, 2) for _ in range(count)])
