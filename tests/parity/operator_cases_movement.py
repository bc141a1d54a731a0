# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of operators that move elements: shapes, indices, images resized."""
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from operator_draw import FLOATS, case, to_tensor


@case("Shape")
def shape_of(d):
    shape = d.shape()
    d.x(shape, d.type())
    if d.version >= 15:
        d.maybe(start=d.integer(-5, 5), end=d.integer(-5, 5))


def split_product(d, count):
    """Sizes whose product is `count`."""
    sizes = []
    for factor in (2, 3, 5):
        while count % factor == 0 and d.chance(0.7):
            sizes.append(factor)
            count //= factor
    return [int(i) for i in d.rng.permutation([*sizes, count])]


@case("Reshape")
def reshape(d):
    shape = d.shape()
    d.x(shape, d.type())
    goal = split_product(d, int(np.prod(shape)))
    if d.chance(0.5):
        goal[d.integer(0, len(goal) - 1)] = -1
    elif shape and goal[0] == shape[0] and d.chance(0.5):
        goal[0] = 0
    if d.version < 5:
        d.set(shape=goal)
    else:
        d.ints(goal)


@case("Flatten")
def flatten(d):
    shape = d.shape(low=1)
    d.x(shape, d.type())
    d.maybe(axis=d.integer(0 if d.version < 11 else -len(shape), len(shape)))


def list_argument(d, name, values, kind=T.INT64):
    if name in d.schema.attributes:
        d.set(**{name: values})
    else:
        d.ints(values, kind)


@case("Squeeze")
def squeeze(d):
    shape = [n if d.chance(0.5) else 1 for n in d.shape(low=1)]
    ones = [i for i, n in enumerate(shape) if n == 1]
    d.x(shape, d.type())
    if ones and d.chance(0.7):
        chosen = ones[: d.integer(1, len(ones))]
        list_argument(d, "axes", [a - len(shape) if d.version >= 11 and d.chance(0.3) else a for a in chosen])


@case("Unsqueeze")
def unsqueeze(d):
    shape = d.shape()
    d.x(shape, d.type())
    count = d.integer(1, 3)
    rank = len(shape) + count
    chosen = sorted(d.rng.choice(rank, count, replace=False).tolist())
    list_argument(d, "axes", [int(a) - rank if d.version >= 11 and d.chance(0.3) else int(a) for a in chosen])


@case("Transpose")
def transpose(d):
    shape = d.shape(high=5)
    d.x(shape, d.type())
    if shape:
        d.maybe(0.85, perm=[int(i) for i in d.rng.permutation(len(shape))])


@case("Concat")
def concat(d):
    shape = d.shape(low=1)
    axis = d.axis(len(shape), 0 if d.version < 11 else None)
    for _ in range(d.integer(1, 4)):
        shape[axis] = d.integer(0 if d.chance(0.1) else 1, 5)
        d.x(shape, d.type())
    d.set(axis=axis)


@case("Split")
def split(d):
    shape = d.shape(low=1)
    axis = d.axis(len(shape), 0 if d.version < 11 else None)
    count = d.integer(1, 4)
    d.count = count
    d.set(axis=axis)
    if d.chance(0.6):
        parts = [d.integer(0 if d.chance(0.1) else 1, 4) for _ in range(count)]
        shape[axis] = sum(parts)
        d.x(shape, d.type())
        list_argument(d, "split", parts)
        return
    shape[axis] = count * d.integer(1, 3)
    if d.version >= 18:
        d.set(num_outputs=count)
        if count > 1 and d.chance(0.3):
            shape[axis] -= 1
            if shape[axis] < count:
                shape[axis] = count
    d.x(shape, d.type())


@case("Slice")
def slice_(d):
    shape = d.shape(low=1)
    d.x(shape, d.type())
    axes = d.axes(len(shape))
    if d.version < 10:
        axes = [a % len(shape) for a in axes]
    starts, ends, steps = [], [], []
    for axis in axes:
        n = shape[axis]
        step = d.pick([1, 1, 2, 3, -1, -2]) if d.version >= 10 else 1
        starts.append(d.integer(-n - 1, n))
        ends.append(d.pick([d.integer(-n - 1, n + 1), 2**31 - 1 if step > 0 else -2**31]))
        steps.append(step)
    if d.version < 10:
        d.set(starts=starts, ends=ends, axes=axes)
        return
    kind = d.pick([T.INT64, T.INT32])
    d.ints(starts, kind)
    d.ints(ends, kind)
    if len(axes) < len(shape) or d.chance(0.7):
        d.ints(axes, kind)
    else:
        order = [a % len(shape) for a in axes]
        if order != sorted(order) or len(order) != len(shape):
            d.ints(axes, kind)
        else:
            d.absent()
    if any(s != 1 for s in steps) or d.chance(0.3):
        d.ints(steps, kind)


@case("Gather")
def gather(d):
    shape = d.shape(low=1)
    axis = d.axis(len(shape))
    d.x(shape, d.type())
    n = shape[axis]
    d.x(d.shape(high=2), d.pick([T.INT64, T.INT32]), 0 if d.version < 11 else -n, n - 1)
    d.maybe(0.8, axis=axis)
    if "axis" not in d.attributes and shape[0] < n:
        d.set(axis=axis)


@case("GatherElements")
def gather_elements(d):
    shape = d.shape(low=1)
    axis = d.axis(len(shape))
    d.x(shape, d.type())
    index = [d.integer(1, n) for n in shape]
    index[axis] = d.integer(1, 6)
    d.x(index, d.pick([T.INT64, T.INT32]), -shape[axis], shape[axis] - 1)
    d.set(axis=axis)


@case("GatherND")
def gather_nd(d):
    shape = d.shape(low=1)
    batch = d.integer(0, len(shape) - 1) if d.version >= 12 and d.chance(0.5) else 0
    depth = d.integer(1, len(shape) - batch)
    d.x(shape, d.type())
    lead = shape[:batch] + d.shape(0, 2)
    index = np.stack([d.rng.integers(-shape[batch + i], shape[batch + i], lead) for i in range(depth)], -1)
    d.feed(index.astype(np.int64))
    if batch:
        d.set(batch_dims=batch)


def reduction(d):
    if d.version >= 16:
        d.maybe(0.7, reduction=d.pick(["none", "add", "mul"] + (["max", "min"] if d.version >= 18 else [])))


@case("Scatter", "ScatterElements")
def scatter_elements(d):
    shape = d.shape(low=1)
    axis = d.axis(len(shape), 0 if d.op == "Scatter" else None)
    if d.op != "Scatter":
        reduction(d)
    d.x(shape, d.type())
    index = [d.integer(1, n) for n in shape]
    repeated = d.attributes.get("reduction", "none") != "none"
    n = shape[axis]
    lines = np.apply_along_axis(lambda _: d.rng.integers(-n, n, index[axis]) if repeated else d.rng.permutation(n)[: index[axis]],
                                axis, np.zeros(index))
    d.feed(lines.astype(d.pick([np.int64, np.int32])))
    d.x(index, d.type())
    d.maybe(0.9, axis=axis)
    if "axis" not in d.attributes and axis % len(shape) != 0:
        d.set(axis=axis)


@case("ScatterND")
def scatter_nd(d):
    shape = d.shape(low=1)
    depth = d.integer(1, len(shape))
    reduction(d)
    d.x(shape, d.type())
    places = int(np.prod(shape[:depth]))
    count = d.integer(1, places)
    repeated = d.attributes.get("reduction", "none") != "none"
    flat = d.rng.integers(0, places, count) if repeated else d.rng.permutation(places)[:count]
    d.feed(np.stack(np.unravel_index(flat, shape[:depth]), -1).astype(np.int64))
    d.x([count, *shape[depth:]], d.type())


@case("Expand")
def expand(d):
    shape = d.shape()
    d.x(d.broadcastable(shape), d.type())
    d.ints([1 if d.chance(0.2) else n for n in shape])


@case("Tile")
def tile(d):
    shape = d.shape(low=1, size=4)
    d.x(shape, d.type())
    d.ints([d.integer(0 if d.chance(0.05) else 1, 3) for _ in shape])


@case("Pad")
def pad(d):
    shape = d.shape(low=1, least=3)
    kind = d.type()
    mode = d.pick(["constant", "constant", "reflect", "edge", *(["wrap"] if d.version >= 19 else [])])
    axes = d.axes(len(shape)) if d.version >= 18 and d.chance(0.4) else list(range(len(shape)))
    low = -1 if mode == "constant" and d.chance(0.3) else 0
    pads = [d.integer(low, 2) for _ in range(2 * len(axes))]
    d.x(shape, kind)
    d.maybe(0.9 if mode == "constant" else 1.1, mode=mode)
    if d.version < 11:
        d.set(**{"pads" if d.version >= 2 else "paddings": pads})
        d.maybe(value=d.real(-2, 2))
        return
    d.ints(pads)
    d.x([], kind) if mode == "constant" and d.chance(0.6) else d.absent()
    if len(axes) < len(shape) or d.version >= 18 and d.chance(0.2) or axes != list(range(len(shape))):
        d.ints(axes, d.pick([T.INT64, T.INT32]))


@case("ConstantOfShape")
def constant_of_shape(d):
    d.ints(d.shape())
    d.maybe(0.8, value=to_tensor(d.values(d.type("T2"), [1], specials=False)))


@case("Constant")
def constant(d):
    if d.version < 12 or d.chance(0.5):
        d.set(value=to_tensor(d.values(d.type(), d.shape())))
        return
    d.set(**d.pick([{"value_float": d.real(-2, 2)}, {"value_int": d.integer(-5, 5)}, {"value_ints": [1, -2, 3]},
                    {"value_floats": [0.5, 1.5]}, {"value_string": "ab"}, {"value_strings": ["a", "", "c"]}]))


@case("Range")
def range_(d):
    kind = d.type(among=(T.FLOAT, T.DOUBLE, T.INT16, T.INT32, T.INT64))
    step = d.pick([1, 2, 3, -1, -2])
    start = d.integer(-5, 5)
    stop = start + step * d.integer(0, 6) + d.pick([0, 1, -1])
    half = 0.5 if kind in FLOATS else 1
    for value in (start * half, stop * half, step * half):
        d.feed(np.array(value).astype(helper.tensor_dtype_to_np_dtype(kind)))


@case("OneHot")
def one_hot(d):
    shape, depth = d.shape(high=3), d.integer(1, 6)
    d.x(shape, d.type("T1", among=(T.INT64, T.INT32, T.FLOAT), usual=T.INT64), -depth if d.version >= 11 else 0, depth - 1)
    last = d.stored["x0"][0]
    d.stored["x0"] = (np.rint(last.astype(np.float64)).astype(last.dtype), d.stored["x0"][1])
    kind = d.type("T2", among=(T.INT64, T.INT32, T.FLOAT), usual=T.INT64)
    d.feed(np.array([depth] if d.chance(0.3) else depth).astype(helper.tensor_dtype_to_np_dtype(kind)))
    d.x([2], d.type("T3"), specials=False)
    d.maybe(axis=d.integer(-len(shape) - 1 if d.version >= 11 else -1, len(shape)))


@case("EyeLike")
def eye_like(d):
    d.x([d.integer(1, 6), d.integer(1, 6)], d.type("T1"))
    d.maybe(k=d.integer(-3, 3), dtype=int(d.type("T2")))


@case("Trilu")
def trilu(d):
    d.x(d.shape(low=2), d.type())
    if d.chance(0.6):
        d.feed(np.array(d.integer(-4, 4), np.int64))
    d.maybe(upper=d.integer(0, 1))


@case("Compress")
def compress(d):
    shape = d.shape(low=1)
    d.x(shape, d.type())
    if d.chance(0.7):
        axis = d.axis(len(shape), 0 if d.version < 11 else None)
        d.set(axis=axis)
        d.x([d.integer(1, shape[axis])], T.BOOL)
    else:
        d.x([d.integer(1, int(np.prod(shape)))], T.BOOL)


@case("NonZero")
def non_zero(d):
    d.x(d.shape(), d.type(), -1, 1)


@case("Unique")
def unique(d):
    shape = d.shape(low=1)
    kind = d.type()
    x = d.values(kind, shape, *((-2, 2) if kind != T.STRING else (None, None)))
    d.feed(np.rint(x) if kind in FLOATS else x)
    if d.chance(0.4):
        d.set(axis=d.axis(len(shape)))
    d.maybe(sorted=d.integer(0, 1))
    d.count = d.pick([1, 4])


@case("ReverseSequence")
def reverse_sequence(d):
    shape = d.shape(low=2)
    time = d.integer(0, 1)
    d.x(shape, d.type())
    d.x([shape[1 - time]], T.INT64, 0 if d.chance(0) else 1, shape[time])
    d.set(time_axis=time, batch_axis=1 - time)


@case("DepthToSpace")
def depth_to_space(d):
    b = d.integer(1, 3)
    d.x([d.integer(1, 2), b * b * d.integer(1, 3), d.integer(1, 4), d.integer(1, 4)], d.type())
    d.set(blocksize=b)
    if d.version >= 11:
        d.maybe(mode=d.pick(["DCR", "CRD"]))


@case("SpaceToDepth")
def space_to_depth(d):
    b = d.integer(1, 3)
    d.x([d.integer(1, 2), d.integer(1, 3), b * d.integer(1, 3), b * d.integer(1, 3)], d.type())
    d.set(blocksize=b)


@case("CenterCropPad")
def center_crop_pad(d):
    shape = d.shape(low=1)
    axes = d.axes(len(shape)) if d.chance(0.5) else None
    d.x(shape, d.type())
    d.ints([d.integer(1, 9) for _ in (axes if axes is not None else shape)], d.pick([T.INT64, T.INT32]))
    d.set(axes=axes)


@case("TensorScatter")
def tensor_scatter(d):
    batch, rest, size, steps = d.integer(1, 3), d.shape(0, 1, 3), d.integer(1, 5), d.integer(1, 3)
    length = steps + d.integer(0, 4)
    circular = d.chance(0.4)
    d.x([batch, *rest, length, size], d.type())
    d.x([batch, *rest, steps, size], d.type())
    if d.chance(0.8):
        d.ints(d.rng.integers(0, (length if circular else length - steps + 1), batch))
    d.maybe(axis=-2)
    d.set(mode="circular" if circular else "linear")


@case("Resize")
def resize(d):
    shape = [d.integer(1, 2), d.integer(1, 3), d.integer(2, 7), d.integer(2, 7)]
    kind = d.type("T1" if d.version >= 11 else "T", among=(T.FLOAT, T.FLOAT16, T.DOUBLE, T.UINT8, T.INT8, T.INT32))
    d.x(shape, kind, specials=False)
    mode = d.pick(["nearest", "linear"] + (["cubic"] if d.version >= 11 else []))
    scales = [1.0, 1.0, d.pick([0.5, 2.0, 1.5, 0.7, 3.0]), d.pick([0.5, 2.0, 1.25, 0.6])]
    sizes = [*shape[:2], d.integer(1, 12), d.integer(1, 12)]
    d.set(mode=mode)
    if d.version < 11:
        d.feed(np.array(scales, np.float32), True)
        return
    transform = d.pick(["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]
                       + (["half_pixel_symmetric"] if d.version >= 19 else []))
    d.set(coordinate_transformation_mode=transform)
    if mode == "nearest":
        d.maybe(nearest_mode=d.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    if mode == "cubic":
        d.maybe(cubic_coeff_a=d.pick([-0.5, -0.75]), exclude_outside=d.integer(0, 1))
    chosen = d.version >= 18 and d.chance(0.3)
    if chosen:
        d.set(axes=[2, 3])
    pick = (lambda v: v[2:]) if chosen else (lambda v: v)
    if transform == "tf_crop_and_resize":
        roi = [0, 0, d.real(0, 0.3), d.real(0, 0.3), 1, 1, d.real(0.6, 1.1), d.real(0.6, 1.1)]
        d.feed(np.array(pick(roi[:4]) + pick(roi[4:]), np.float32), True)
        d.maybe(extrapolation_value=d.real(-2, 2))
    elif d.version >= 13:
        d.absent()
    else:
        d.feed(np.zeros([0], np.float32), True)
    if d.version >= 18 and mode in ("linear", "cubic") and transform == "half_pixel":
        d.maybe(0.3, antialias=1)
    if d.chance(0.5):
        d.feed(np.array(pick(scales), np.float32), True)
        return
    d.absent() if d.version >= 13 else d.feed(np.zeros([0], np.float32), True)
    d.feed(np.array(pick(sizes), np.int64), True)
    if d.version >= 18 and transform != "tf_crop_and_resize":
        d.maybe(0.3, keep_aspect_ratio_policy=d.pick(["stretch", "not_larger", "not_smaller"]))


@case("Upsample")
def upsample(d):
    d.x([1, d.integer(1, 2), d.integer(2, 5), d.integer(2, 5)], d.type(), specials=False)
    scales = [1.0, 1.0, d.pick([1.0, 2.0, 3.0]), d.pick([1.0, 2.0, 1.5])]
    d.set(mode=d.pick(["nearest", "linear"]))
    if d.version >= 9:
        d.feed(np.array(scales, np.float32), True)
    else:
        d.set(scales=scales)


@case("Einsum")
def einsum(d):
    equation = d.pick(["ij,jk->ik", "bij,bjk->bik", "ii->i", "ij->ji", "ij->", "i,j->ij", "bhid,bhjd->bhij", "...ij,...jk->...ik",
                       "ij,ij->i", "abc->cab", "ij,jk", "...i,i->..."])
    size = {c: d.integer(1, 5) for c in "abcdhijk"}
    lead = d.shape(0, 2, 3)
    for term in equation.split("->")[0].split(","):
        dims = (lead if term.startswith("...") else []) + [size[c] for c in term.replace(".", "")]
        d.x(dims, d.type(among=(T.FLOAT, T.DOUBLE, T.INT32, T.INT64, T.FLOAT16)), specials=False)
    d.set(equation=equation)


@case("If")
def if_(d):
    branches = {}
    shape = d.shape()
    for name, factor in (("then_branch", 2), ("else_branch", -1)):
        value = numpy_helper.from_array(np.full(shape, factor, np.float32), name)
        node = helper.make_node("Identity", [name], [f"out_{name}"])
        info = helper.make_tensor_value_info(f"out_{name}", T.FLOAT, shape)
        branches[name] = helper.make_graph([node], name, [], [info], [value])
    d.feed(np.array(d.chance(0.5)), False)
    d.set(**branches)


@case("Loop")
def loop(d):
    shape, trips = d.shape(), d.integer(0, 4)
    infos = [helper.make_tensor_value_info(n, k, s) for n, k, s in
             (("i", T.INT64, []), ("c", T.BOOL, []), ("v", T.FLOAT, shape))]
    nodes = [helper.make_node("Identity", ["c"], ["c_out"]), helper.make_node("Add", ["v", "v"], ["v_out"]),
             helper.make_node("Neg", ["v"], ["scan"])]
    outs = [helper.make_tensor_value_info("c_out", T.BOOL, []), helper.make_tensor_value_info("v_out", T.FLOAT, shape),
            helper.make_tensor_value_info("scan", T.FLOAT, shape)]
    d.feed(np.array(trips, np.int64))
    d.feed(np.array(d.chance(0.9)))
    d.x(shape, T.FLOAT)
    d.count = 2
    d.set(body=helper.make_graph(nodes, "body", infos, outs))


@case("Scan")
def scan(d):
    if d.version < 9:
        d.version = d.opset = 9
    shape, steps = d.shape(0, 2), d.integer(1, 4)
    infos = [helper.make_tensor_value_info(n, T.FLOAT, shape) for n in ("s", "e")]
    nodes = [helper.make_node("Add", ["s", "e"], ["s_out"]), helper.make_node("Mul", ["s", "e"], ["o"])]
    outs = [helper.make_tensor_value_info(n, T.FLOAT, shape) for n in ("s_out", "o")]
    axis = d.integer(0, len(shape))
    d.x(shape, T.FLOAT)
    d.x([*shape[:axis], steps, *shape[axis:]], T.FLOAT)
    d.count = 2
    d.set(body=helper.make_graph(nodes, "body", infos, outs), num_scan_inputs=1, scan_input_axes=[axis])
    d.maybe(scan_input_directions=[d.integer(0, 1)], scan_output_directions=[d.integer(0, 1)], scan_output_axes=[d.integer(0, len(shape))])
