# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of ai.onnx.ml: trees, linear models, support vectors, encoders."""
import numpy as np
from onnx import TensorProto as T
from onnx import numpy_helper
from operator_draw import FLOATS, case

ML = "ai.onnx.ml"
TRANSFORMS = ["NONE", "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]
LABELS = ["cat", "dog", "ant", "fox"]


def rows(d, width, kind, low=None, high=None):
    d.x([d.integer(1, 9), width], kind, low, high, stored=False, specials=False)


def labels(d, count, ints="classlabels_int64s"):
    if d.chance(0.4):
        d.set(classlabels_strings=LABELS[:count])
    else:
        d.set(**{ints: [int(v) for v in d.rng.permutation(count + 2)[:count]] if d.chance(0.3) else list(range(count))})


def tree(d, features, depth):
    """Nodes of one tree as (mode, feature, value, true, false); leaves have no children."""
    nodes = []

    def grow(left):
        place = len(nodes)
        nodes.append(None)
        if left == 0 or d.chance(0.2):
            nodes[place] = ("LEAF", 0, 0.0, 0, 0)
            return place
        mode = d.pick(["BRANCH_LEQ"] * 4 + ["BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"])
        feature, value = d.integer(0, features - 1), d.pick([d.real(-1, 1), 0.0, 1.0])
        yes, no = grow(left - 1), grow(left - 1)
        nodes[place] = (mode, feature, value, yes, no)
        return place

    grow(depth)
    return nodes


def forest(d, what, targets, one=False, positive=False):
    features, ids = d.integer(1, 4), {k: [] for k in ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")}
    votes = {k: [] for k in ("ids", "nodeids", "treeids", "weights")}
    for t in range(d.integer(1, 4)):
        for i, (mode, feature, value, yes, no) in enumerate(tree(d, features, d.integer(0, 3))):
            for key, v in zip(ids, (t, i, mode, feature, value, yes, no)):
                ids[key].append(v)
            if mode != "LEAF":
                continue
            for target in [0 if one else d.integer(0, targets - 1)] if one or d.chance(0.5) else range(targets):
                for key, v in zip(votes, (target, i, t, d.real(0.01 if positive else -1, 1))):
                    votes[key].append(v)
    d.set(**{f"nodes_{k}": v for k, v in ids.items()}, **{f"{what}_{k}": v for k, v in votes.items()})
    if d.chance(0.3):
        d.set(nodes_missing_value_tracks_true=[d.integer(0, 1) for _ in ids["modes"]])
    return features


@case("TreeEnsembleRegressor", domain=ML)
def tree_regressor(d):
    targets = d.integer(1, 3)
    rows(d, forest(d, "target", targets), d.type("T", among=(T.FLOAT, T.DOUBLE)))
    d.set(n_targets=targets)
    d.maybe(aggregate_function=d.pick(["SUM", "AVERAGE", "MIN", "MAX"]))
    if d.chance(0.4):
        d.set(base_values=[d.real(-1, 1) for _ in range(targets)])
    if targets > 1:
        d.maybe(0.3, post_transform=d.pick(TRANSFORMS))
    nan_somewhere(d)


def nan_somewhere(d):
    values, keep = d.stored["x0"]
    if "nodes_missing_value_tracks_true" in d.attributes and values.dtype.kind == "f" and d.chance(0.5):
        values[0, 0] = np.nan


@case("TreeEnsembleClassifier", domain=ML)
def tree_classifier(d):
    classes = d.pick([2, 2, 3, 4])
    one = classes == 2 and d.chance(0.7)
    positive = d.chance(0.5)
    rows(d, forest(d, "class", classes, one, positive), d.type("T1", among=(T.FLOAT, T.DOUBLE, T.INT32, T.INT64)))
    if classes == 2 and not one:
        d.set(classlabels_int64s=[0, 1])  # ONNX Runtime says 1 and 0 whatever integers the labels are
    else:
        labels(d, classes)
    if d.chance(0.3):
        d.set(base_values=[d.real(-1, 1) for _ in range(1 if one else classes)])
    d.maybe(0.5, post_transform=d.pick(TRANSFORMS))
    d.count = 2
    nan_somewhere(d)


@case("TreeEnsemble", domain=ML)
def tree_ensemble(d):
    kind = d.type("T", among=(T.FLOAT, T.DOUBLE))
    targets, features, count = d.integer(1, 3), d.integer(1, 4), d.integer(1, 6)
    # a chain: the false branch of each node leads on, the last one to a leaf
    modes, members = [], []
    for _ in range(count):
        modes.append(d.pick([0, 0, 0, 1, 2, 3, 4, 5, 6]))
        if modes[-1] == 6:
            members += [d.real(-1, 1), 0.0, 1.0, float("nan")]
    dtype = d.values(kind, []).dtype
    tensor = lambda v, t: numpy_helper.from_array(np.array(v, t))  # noqa: E731
    d.set(n_targets=targets, aggregate_function=d.pick([0, 1, 1, 2, 3]), tree_roots=[0],
          nodes_featureids=[d.integer(0, features - 1) for _ in range(count)], nodes_modes=tensor(modes, np.uint8),
          nodes_splits=tensor([d.pick([d.real(-1, 1), 0.0]) for _ in range(count)], dtype),
          nodes_truenodeids=list(range(count)), nodes_trueleafs=[1] * count,
          nodes_falsenodeids=[*range(1, count), count], nodes_falseleafs=[0] * (count - 1) + [1],
          leaf_targetids=[d.integer(0, targets - 1) for _ in range(count + 1)],
          leaf_weights=tensor([d.real(-1, 1) for _ in range(count + 1)], dtype))
    if members:
        d.set(membership_values=tensor(members, dtype))
    if targets > 1:
        d.maybe(0.3, post_transform=d.integer(0, 3))
    rows(d, features, kind)


@case("LinearRegressor", domain=ML)
def linear_regressor(d):
    targets, features = d.integer(1, 3), d.integer(1, 6)
    rows(d, features, T.FLOAT)
    d.set(coefficients=[d.real(-1, 1) for _ in range(targets * features)])
    if targets > 1 or d.chance(0.5):
        d.set(targets=targets)
    if d.chance(0.7):
        d.set(intercepts=[d.real(-1, 1) for _ in range(targets)])


@case("LinearClassifier", domain=ML)
def linear_classifier(d):
    classes, features = d.pick([2, 2, 3]), d.integer(1, 6)
    lines = classes
    rows(d, features, d.type("T1", among=(T.FLOAT, T.DOUBLE, T.INT32, T.INT64)))
    labels(d, classes, "classlabels_ints")
    d.set(coefficients=[d.real(-1, 1) for _ in range(lines * features)], intercepts=[d.real(-1, 1) for _ in range(lines)])
    d.maybe(post_transform=d.pick(TRANSFORMS), multi_class=d.integer(0, 1))
    d.count = 2


def kernel(d):
    kind = d.pick(["LINEAR", "POLY", "RBF", "SIGMOID"])
    d.set(kernel_type=kind, kernel_params=[d.real(0.1, 1), d.real(0, 1), float(d.integer(1, 3))])


@case("SVMRegressor", domain=ML)
def svm_regressor(d):
    features, vectors = d.integer(1, 4), d.integer(1, 5)
    rows(d, features, T.FLOAT)
    kernel(d)
    d.set(n_supports=vectors, support_vectors=[d.real(-1, 1) for _ in range(vectors * features)],
          coefficients=[d.real(-1, 1) for _ in range(vectors)], rho=[d.real(-1, 1)])
    d.maybe(0.3, one_class=1)


@case("SVMClassifier", domain=ML)
def svm_classifier(d):
    classes, features = d.pick([2, 3, 4]), d.integer(1, 4)
    counts = [d.integer(1, 3) for _ in range(classes)]
    total, pairs = sum(counts), classes * (classes - 1) // 2
    rows(d, features, d.type("T1", among=(T.FLOAT, T.DOUBLE)))
    kernel(d)
    labels(d, classes, "classlabels_ints")
    d.set(vectors_per_class=counts, support_vectors=[d.real(-1, 1) for _ in range(total * features)],
          coefficients=[d.real(-1, 1) for _ in range((classes - 1) * total)], rho=[d.real(-1, 1) for _ in range(pairs)])
    if d.chance(0.5):
        d.set(prob_a=[d.real(-2, -0.5) for _ in range(pairs)], prob_b=[d.real(-0.3, 0.3) for _ in range(pairs)])
    d.count = 2


@case("Scaler", domain=ML)
def scaler(d):
    width = d.integer(1, 6)
    rows(d, width, d.type("T", among=(T.FLOAT, T.DOUBLE, T.INT32, T.INT64)))
    size = d.pick([1, width])
    d.set(offset=[d.real(-1, 1) for _ in range(size)], scale=[d.real(0.1, 2) for _ in range(size)])


@case("Normalizer", domain=ML)
def normalizer(d):
    rows(d, d.integer(1, 6), d.type("T", among=(T.FLOAT, T.DOUBLE, T.INT32, T.INT64)))
    d.set(norm=d.pick(["MAX", "L1", "L2"]))


@case("Imputer", domain=ML)
def imputer(d):
    width = d.integer(1, 5)
    kind = d.type("T", among=(T.FLOAT, T.INT64))
    size = d.pick([1, width])
    rows(d, width, kind, -2, 2)
    values, keep = d.stored["x0"]
    if kind in FLOATS:
        values[0, 0] = np.nan
        d.set(imputed_value_floats=[d.real(-1, 1) for _ in range(size)], replaced_value_float=float("nan"))
    else:
        d.set(imputed_value_int64s=[d.integer(5, 9) for _ in range(size)], replaced_value_int64=int(values[0, 0]))


@case("Binarizer", domain=ML)
def binarizer(d):
    d.x(d.shape(low=1), T.FLOAT)
    d.maybe(threshold=d.real(-1, 1))


@case("OneHotEncoder", domain=ML)
def one_hot_encoder(d):
    words = d.chance(0.5)
    d.x(d.shape(1, 2), T.STRING) if words else d.x(d.shape(1, 2), d.type("T", among=(T.INT64, T.INT32, T.FLOAT)), 0, 4)
    d.set(**({"cats_strings": ["a", "B", "ab", ""]} if words else {"cats_int64s": [0, 3, 1]}))
    d.maybe(0.3, zeros=1)


@case("CategoryMapper", domain=ML)
def category_mapper(d):
    words = d.chance(0.5)
    d.x(d.shape(1, 2), T.STRING) if words else d.x(d.shape(1, 2), T.INT64, 0, 6)
    d.set(cats_strings=["a", "B", "ab", ""], cats_int64s=[3, 1, 4, 0])
    d.maybe(default_int64=7, default_string="none")


@case("LabelEncoder", domain=ML)
def label_encoder(d):
    forms = [(T.STRING, "strings", ["a", "B", "ab"]), (T.INT64, "int64s", [1, 2, 3]), (T.FLOAT, "floats", [1.0, 2.0, 3.5])]
    if d.version == 1:
        words = d.chance(0.5)
        d.x(d.shape(1, 2), T.STRING) if words else d.x(d.shape(1, 2), T.INT64, 0, 4)
        d.set(classes_strings=["a", "B", "ab"])
        d.maybe(default_int64=7, default_string="none")
        return
    (kind, keys, key), (goal, values, value) = d.pick(forms), d.pick(forms)
    x = d.values(kind, d.shape(1, 2), *((0, 4) if kind != T.STRING else (None, None)))
    d.feed(np.rint(x) if kind == T.FLOAT else x)
    d.set(**{f"keys_{keys}": key, f"values_{values}": value})
    d.maybe(default_int64=7, default_string="none", default_float=0.5)


@case("ArrayFeatureExtractor", domain=ML)
def array_features(d):
    shape = d.shape(1, 3)
    d.x(shape, d.type("T", among=(T.FLOAT, T.DOUBLE, T.INT32, T.INT64, T.STRING)))
    d.x([d.integer(1, 4)], T.INT64, 0, shape[-1] - 1)


@case("FeatureVectorizer", domain=ML)
def feature_vectorizer(d):
    count, widths = d.integer(1, 4), []
    kind = d.type("T1", among=(T.FLOAT, T.DOUBLE, T.INT32, T.INT64))
    for _ in range(d.integer(1, 3)):
        widths.append(d.integer(1, 4))
        d.x([count, widths[-1]], kind, specials=False)
    d.set(inputdimensions=widths)
