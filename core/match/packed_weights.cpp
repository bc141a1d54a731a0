// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/packed_weights.h"

#include "core/base/work/cancel_scope.h"
#include "core/match/stored_operand.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

constexpr double kSame = 0.9; ///< cosine from which a slice counts as that matrix
constexpr int64_t kSampled = 512; ///< elements looked at first

/// A constant matrix of a product.
struct Matrix {
    NodeId node;
    ValueId value;
    Shape shape;
    std::vector<float> values;
    StoredOperand stored; ///< of the quantized file
};

bool isProduct(const CanonicalGraph& g, NodeId id)
{
    const std::string type = g.opClass(id);
    return type == "MatMul" || type == "Attention";
}

/// Value of the factor that may be a constant, the second one.
ValueId factorOf(const Node& node)
{
    const auto signature = qlinearSignature(node);
    const size_t slot = signature && signature->inputs.size() > 1 ? size_t(signature->inputs[1].codes) : 1;
    return node.hasInput(slot) ? node.inputs[slot] : ValueId();
}

std::vector<Matrix> floatMatrices(const GraphPair& g, const std::vector<WeightPair>& known)
{
    std::set<ValueId> done;
    for (const WeightPair& pair : known)
        done.insert(pair.floatValue);
    std::vector<Matrix> list;
    for (size_t n = 0; n < g.f.graph().nodes().size(); ++n) {
        const ValueId value = isProduct(g.f, NodeId(n)) ? factorOf(g.f.graph().nodes()[n]) : ValueId();
        const Tensor* t = value.valid() ? g.f.plan().constant(value) : nullptr;
        if (t && t->rank() == 2 && isFloat(t->dtype()) && done.insert(value).second)
            list.push_back({ NodeId(n), value, t->shape(), {}, {} });
    }
    return list;
}

std::vector<Matrix> storedMatrices(const GraphPair& g, const std::vector<WeightPair>& known)
{
    std::set<uint32_t> done;
    for (const WeightPair& pair : known)
        done.insert(pair.quantizer);
    std::vector<Matrix> list;
    std::set<ValueId> seen;
    for (size_t n = 0; n < g.q.graph().nodes().size(); ++n) {
        const ValueId value = isProduct(g.q, NodeId(n)) ? factorOf(g.q.graph().nodes()[n]) : ValueId();
        auto stored = value.valid() && seen.insert(value).second ? storedOperand(g, value) : std::nullopt;
        if (!stored || stored->shape.size() != 2
            || std::ranges::any_of(stored->quantizers, [&](uint32_t q) { return done.contains(q); }))
            continue;
        list.push_back({ NodeId(n), value, stored->shape, {}, std::move(*stored) });
    }
    return list;
}

/// Where a small matrix lies in a large one.
struct Slice {
    bool exchanged = false; ///< rows of the one are columns of the other
    size_t axis = 0; ///< of the large one
    int64_t first = 0;
};

/// Place in the large matrix of the small one's element i.
size_t placeIn(const Slice& slice, const Shape& small, const Shape& large, size_t i)
{
    const auto columns = static_cast<size_t>(small[1]);
    size_t at[2] = { i / columns, i % columns };
    if (slice.exchanged)
        std::swap(at[0], at[1]);
    at[slice.axis] += static_cast<size_t>(slice.first);
    return at[0] * static_cast<size_t>(large[1]) + at[1];
}

double cosineOf(const Matrix& small, const Matrix& large, const Slice& slice, size_t step)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < small.values.size(); i += step) {
        const double a = small.values[i], b = large.values[placeIn(slice, small.shape, large.shape, i)];
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

std::optional<Slice> sliceOf(const Matrix& small, const Matrix& large)
{
    const size_t step = std::max<size_t>(small.values.size() / size_t(kSampled), 1) | 1; // not along a column
    for (const bool exchanged : { false, true })
        for (const size_t axis : { size_t(1), size_t(0) }) {
            const int64_t length = small.shape[exchanged ? 1 - axis : axis];
            const int64_t width = small.shape[exchanged ? axis : 1 - axis];
            if (width != large.shape[1 - axis] || length >= large.shape[axis] || length < 1)
                continue;
            for (int64_t first = 0; first + length <= large.shape[axis]; first += length) {
                const Slice slice { exchanged, axis, first };
                if (cosineOf(small, large, slice, step) > kSame && cosineOf(small, large, slice, 1) > kSame)
                    return slice;
            }
            // Parts of unequal length: the last one ends with the matrix.
            const Slice last { exchanged, axis, large.shape[axis] - length };
            if (cosineOf(small, large, last, step) > kSame && cosineOf(small, large, last, 1) > kSame)
                return last;
        }
    return std::nullopt;
}

std::vector<uint32_t> placesIn(const Slice& slice, const Shape& small, const Shape& large)
{
    std::vector<uint32_t> places(static_cast<size_t>(small[0] * small[1]));
    for (size_t i = 0; i < places.size(); ++i)
        places[i] = static_cast<uint32_t>(placeIn(slice, small, large, i));
    return places;
}

void add(const GraphPair& g, const Matrix& f, const Matrix& q, const SameElements& same, std::vector<WeightPair>& pairs)
{
    for (WeightPair& pair : pairElements(g, q.stored, same)) {
        pair.floatValue = f.value;
        pair.floatNode = f.node;
        pair.quantNode = q.node;
        pair.method = MatchMethod::Numeric;
        pair.confidence = kSame;
        pairs.push_back(std::move(pair));
    }
}

/// Some matrix of the one list is as wide as one of the other and shorter.
bool mayHold(const Matrix& large, const Matrix& small)
{
    const int64_t a = small.shape[0], b = small.shape[1], c = large.shape[0], d = large.shape[1];
    return a * b < c * d && (a == c || b == d || a == d || b == c);
}

} // namespace

std::vector<WeightPair> packedWeightPairs(const GraphPair& g, const std::vector<WeightPair>& known)
{
    std::vector<WeightPair> pairs;
    auto floats = floatMatrices(g, known), stored = storedMatrices(g, known);
    const auto valued = [&](Matrix& f, Matrix& q) {
        if (f.values.empty())
            f.values = toFloats(*g.f.plan().constant(f.value));
        if (q.values.empty())
            q.values = operandValues(g, q.value, q.stored);
    };
    for (Matrix& f : floats)
        for (Matrix& q : stored) {
            const bool packedThere = mayHold(q, f), packedHere = mayHold(f, q);
            if (stopAsked() || (!packedThere && !packedHere))
                continue;
            valued(f, q);
            const auto slice = packedThere ? sliceOf(f, q) : sliceOf(q, f);
            if (!slice)
                continue;
            SameElements same { packedThere ? f.shape : q.shape, false, {}, {} };
            if (packedThere)
                same.operand = placesIn(*slice, f.shape, q.shape);
            else
                same.floats = placesIn(*slice, q.shape, f.shape);
            add(g, f, q, same, pairs);
            if (packedThere)
                break;
        }
    return pairs;
}

} // namespace qs
