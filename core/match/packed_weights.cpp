// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/packed_weights.h"

#include "core/base/work/cancel_scope.h"
#include "core/match/stored_operand.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <map>
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
    bool operator==(const Slice&) const = default;
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

void add(const GraphPair& g, const Matrix& f, const Matrix& q, const SameElements& same, MatchMethod method,
    std::vector<WeightPair>& pairs)
{
    for (WeightPair& pair : pairElements(g, q.stored, same)) {
        pair.floatValue = f.value;
        pair.floatNode = f.node;
        pair.quantNode = q.node;
        pair.method = method;
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

/// A float matrix in a stored one.
struct Part {
    size_t of; ///< place in the list of float matrices
    Slice slice;
};

/// Which float matrices the stored ones hold side by side. Where numbers tell it of one of them and not of another one
/// of the same shape, that one is arranged like it: its codes are others.
class Arrangements {
public:
    Arrangements(const GraphPair& g, const std::vector<Matrix>& floats, const std::vector<Matrix>& stored)
        : m_floats(floats)
        , m_stored(stored)
        , m_held(stored.size())
        , m_taken(floats.size(), false)
    {
        std::map<ValueId, size_t> byInput;
        for (size_t f = 0; f < floats.size(); ++f) {
            const Node& node = g.f.graph().node(floats[f].node);
            const auto [it, added]
                = byInput.try_emplace(node.hasInput(0) ? node.inputs[0] : ValueId(), m_groups.size());
            if (added)
                m_groups.emplace_back();
            m_groups[it->second].push_back(f);
        }
    }

    void hold(size_t q, const Part& part)
    {
        m_held[q].push_back(part);
        m_taken[part.of] = true;
    }

    /// Calls found(q, part) for what is arranged like another stored matrix.
    void eachAlike(auto&& found) const
    {
        std::vector<bool> done(m_stored.size(), false);
        for (size_t model = 0; model < m_stored.size(); ++model) {
            const std::vector<size_t>* group = wholeGroup(model);
            if (!group)
                continue;
            std::vector<size_t> open; // stored matrices of which nothing is known
            std::vector<const std::vector<size_t>*> free;
            for (size_t q = 0; q < m_stored.size(); ++q) {
                if (done[q] || m_stored[q].shape != m_stored[model].shape || wholeGroup(q))
                    continue;
                if (m_held[q].empty())
                    open.push_back(q);
                else if (const auto* own = restOf(q, model, *group))
                    done[q] = tell(q, model, *group, *own, found);
            }
            for (const auto& other : m_groups)
                if (sameShapes(other, *group) && std::ranges::none_of(other, [&](size_t f) { return m_taken[f]; }))
                    free.push_back(&other);
            for (size_t i = 0; i < open.size() && open.size() == free.size(); ++i) // layer by layer
                done[open[i]] = tell(open[i], model, *group, *free[i], found);
        }
    }

private:
    /// The matrices that multiply one value and fill a stored matrix; null where it is not filled so.
    const std::vector<size_t>* wholeGroup(size_t q) const
    {
        for (const auto& group : m_groups) {
            const bool all = group.size() > 1 && group.size() == m_held[q].size()
                && std::ranges::all_of(group, [&](size_t f) { return sliceOf(q, f) != nullptr; });
            int64_t elements = 0;
            for (const size_t f : group)
                elements += m_floats[f].shape[0] * m_floats[f].shape[1];
            if (all && elements == m_stored[q].shape[0] * m_stored[q].shape[1])
                return &group;
        }
        return nullptr;
    }

    const Slice* sliceOf(size_t q, size_t f) const
    {
        const auto part = std::ranges::find(m_held[q], f, &Part::of);
        return part == m_held[q].end() ? nullptr : &part->slice;
    }

    bool sameShapes(const std::vector<size_t>& a, const std::vector<size_t>& b) const
    {
        return std::ranges::equal(a, b, [&](size_t x, size_t y) { return m_floats[x].shape == m_floats[y].shape; });
    }

    /// The group of which `q` holds some where `model` holds its own; null where there is none, or others are held.
    const std::vector<size_t>* restOf(size_t q, size_t model, const std::vector<size_t>& group) const
    {
        for (const auto& other : m_groups) {
            if (!sameShapes(other, group))
                continue;
            size_t alike = 0;
            bool free = true;
            for (size_t i = 0; i < other.size(); ++i)
                if (const Slice* own = sliceOf(q, other[i]))
                    alike += *own == *sliceOf(model, group[i]);
                else
                    free &= !m_taken[other[i]];
            if (free && alike == m_held[q].size())
                return &other;
        }
        return nullptr;
    }

    bool tell(
        size_t q, size_t model, const std::vector<size_t>& group, const std::vector<size_t>& own, auto&& found) const
    {
        for (size_t i = 0; i < own.size(); ++i)
            if (!sliceOf(q, own[i]))
                found(q, Part { own[i], *sliceOf(model, group[i]) });
        return true;
    }

    const std::vector<Matrix>&m_floats, &m_stored;
    std::vector<std::vector<Part>> m_held; ///< by stored matrix
    std::vector<bool> m_taken; ///< by float matrix: some stored one holds it
    std::vector<std::vector<size_t>> m_groups; ///< float matrices by the value that they multiply, in order
};

} // namespace

std::vector<WeightPair> packedWeightPairs(const GraphPair& g, const std::vector<WeightPair>& known)
{
    std::vector<WeightPair> pairs;
    auto floats = floatMatrices(g, known), stored = storedMatrices(g, known);
    Arrangements arrangements(g, floats, stored);
    const auto valued = [&](Matrix& f, Matrix& q) {
        if (f.values.empty())
            f.values = toFloats(*g.f.plan().constant(f.value));
        if (q.values.empty())
            q.values = operandValues(g, q.value, q.stored);
    };
    for (size_t n = 0; n < floats.size(); ++n)
        for (size_t k = 0; k < stored.size(); ++k) {
            Matrix &f = floats[n], &q = stored[k];
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
            add(g, f, q, same, MatchMethod::Numeric, pairs);
            if (packedThere) {
                arrangements.hold(k, { n, *slice });
                break;
            }
        }
    arrangements.eachAlike([&](size_t q, const Part& part) {
        const Matrix& f = floats[part.of];
        const SameElements same { f.shape, false, {}, placesIn(part.slice, f.shape, stored[q].shape) };
        add(g, f, stored[q], same, MatchMethod::Topology, pairs);
    });
    return pairs;
}

} // namespace qs
