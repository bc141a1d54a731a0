// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/numeric_pairs.h"

#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/engine/run/execution.h"
#include "core/match/numeric_state.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace qs {

namespace {

constexpr double kSameValue = 1e-3; ///< relative distance up to which two values count as the same
constexpr double kSure = 0.98; ///< two samples agree, and no other value is alike
constexpr double kOneSample = 0.8;
constexpr double kSeveral = 0.85; ///< times the above: more than one value is alike
constexpr size_t kMostAxes = 5;

/// What does not depend on the order of the elements.
struct Fingerprint {
    size_t count = 0;
    double absolute = 0, squares = 0, low = 0, high = 0;

    static Fingerprint of(const std::vector<float>& x)
    {
        Fingerprint f { x.size(), 0, 0, HUGE_VAL, -HUGE_VAL };
        for (const float v : x) {
            f.absolute += std::fabs(double(v));
            f.squares += double(v) * v;
            f.low = std::min(f.low, double(v));
            f.high = std::max(f.high, double(v));
        }
        return f;
    }
    /// Finite, and not the same number everywhere.
    bool tells() const { return count > 1 && std::isfinite(squares) && high > low; }
    bool like(const Fingerprint& o) const
    {
        const double largest = std::max(std::fabs(low), std::fabs(high));
        return count == o.count && std::fabs(absolute - o.absolute) <= kSameValue * absolute
            && std::fabs(squares - o.squares) <= 2 * kSameValue * squares
            && std::fabs(low - o.low) <= 10 * kSameValue * largest
            && std::fabs(high - o.high) <= 10 * kSameValue * largest;
    }
};

struct Values {
    std::vector<float> x;
    Shape shape;
    Fingerprint print;
};

/// The elements of `v` with its axes in another order.
std::vector<float> permuted(const Values& v, const std::vector<size_t>& axes)
{
    const size_t rank = v.shape.size();
    std::vector<int64_t> strides(rank, 1), size(rank), step(rank);
    for (size_t i = rank; i-- > 1;)
        strides[i - 1] = strides[i] * v.shape[i];
    for (size_t i = 0; i < rank; ++i) {
        size[i] = v.shape[axes[i]];
        step[i] = strides[axes[i]];
    }
    std::vector<float> out(v.x.size());
    std::vector<int64_t> at(rank, 0);
    int64_t from = 0;
    for (float& o : out) {
        o = v.x[size_t(from)];
        for (size_t i = rank; i-- > 0;) {
            from += step[i];
            if (++at[i] < size[i])
                break;
            from -= step[i] * size[i];
            at[i] = 0;
        }
    }
    return out;
}

enum class Likeness { None, Permuted, Same };

Likeness likenessOf(const Values& a, const Values& b)
{
    if (!a.print.tells() || !a.print.like(b.print))
        return Likeness::None;
    if (relativeDistance(a.x, b.x) <= kSameValue)
        return Likeness::Same;
    if (a.shape.size() != b.shape.size() || a.shape.size() > kMostAxes)
        return Likeness::None;
    std::vector<size_t> axes(a.shape.size());
    std::iota(axes.begin(), axes.end(), size_t(0));
    while (std::ranges::next_permutation(axes).found) {
        bool fits = true;
        for (size_t i = 0; fits && i < axes.size(); ++i)
            fits = a.shape[axes[i]] == b.shape[i];
        if (fits && relativeDistance(permuted(a, axes), b.x) <= kSameValue)
            return Likeness::Permuted;
    }
    return Likeness::None;
}

using Run = std::map<ValueId, Values>; ///< by value of its own graph

class NumericPairer {
public:
    NumericPairer(
        const ComparePair& pair, std::shared_ptr<const Plan> bypassed, const WorkContext& work, Alignment& alignment)
        : m_pair(pair)
        , m_bypassed(std::move(bypassed))
        , m_work(work)
        , m_alignment(alignment)
    {
        for (const ValueId f : alignment.unmatchedFloat)
            if (!pair.floatPlan->blocked(f) && !pair.floatPlan->constant(f))
                m_floats.push_back(f);
        for (const ValueId q : alignment.unmatchedQuant) {
            const ValueId id = m_bypassed->graph().findValue(pair.quantPlan->graph().value(q).name);
            if (id.valid() && !m_bypassed->blocked(id) && !m_bypassed->constant(id))
                m_quants.emplace_back(q, id);
        }
    }

    void run(const std::vector<std::vector<Tensor>>& samples)
    {
        if (m_floats.empty() || m_quants.empty())
            return;
        std::vector<ValueId> theirs;
        for (const auto& [q, id] : m_quants)
            theirs.push_back(id);
        for (const std::vector<Tensor>& inputs : samples) {
            const auto f = valuesOf(m_pair.floatPlan, m_floats, inputs);
            const auto b = valuesOf(m_bypassed, theirs, inputs);
            if (!f || !b)
                return;
            look(*f, *b);
        }
        emit(samples.size() > 1 ? kSure : kOneSample);
    }

private:
    std::optional<Run> valuesOf(const std::shared_ptr<const Plan>& plan, const std::vector<ValueId>& values,
        const std::vector<Tensor>& inputs) const
    {
        const auto schedule = Schedule::make(plan, { values, {} });
        BufferPool pool(m_work.memoryBytes());
        if (!schedule.ok())
            return std::nullopt;
        Execution execution(*schedule, pool);
        const FedModel fed { CarriedState(plan), CarriedState(m_pair.floatPlan) };
        if (!execution.bind(fed.inputs(inputs)).ok() || !execution.runAll(m_work.cancel).ok())
            return std::nullopt;
        Run run;
        for (const ValueId id : values) {
            const Tensor& t = execution.get(id);
            if (!t.valid() || !isFloat(t.dtype()))
                continue;
            Values v { toFloats(t), t.shape(), {} };
            v.print = Fingerprint::of(v.x);
            run.emplace(id, std::move(v));
        }
        return run;
    }

    /// Keeps the candidates that are alike in this sample, too.
    void look(const Run& f, const Run& b)
    {
        std::map<std::pair<ValueId, size_t>, Likeness> alike;
        for (const ValueId x : m_floats)
            for (size_t k = 0; k < m_quants.size(); ++k) {
                if (m_looked && !m_alike.contains({ x, k }))
                    continue;
                const auto a = f.find(x), c = b.find(m_quants[k].second);
                if (a == f.end() || c == b.end())
                    continue;
                const Likeness likeness = likenessOf(a->second, c->second);
                if (likeness != Likeness::None)
                    alike.emplace(std::pair(x, k), m_looked ? std::min(likeness, m_alike.at({ x, k })) : likeness);
            }
        m_alike = std::move(alike);
        m_looked = true;
    }

    void emit(double sure)
    {
        std::map<ValueId, size_t> partners;
        std::map<size_t, size_t> users;
        for (const auto& [key, likeness] : m_alike)
            if (likeness == Likeness::Same) {
                ++partners[key.first];
                ++users[key.second];
            }
        std::set<ValueId> paired, used;
        for (const auto& [key, likeness] : m_alike) {
            const auto& [x, k] = key;
            const ValueId q = m_quants[k].first;
            const bool alone = likeness == Likeness::Same ? partners[x] == 1 && users[k] == 1 : true;
            const double confidence = (alone ? 1 : kSeveral) * sure * (likeness == Likeness::Same ? 1 : kSeveral);
            const auto quantizer = m_pair.quantView->ofValue(q);
            const ValueId shown = quantizer ? m_pair.quantView->quantizers()[*quantizer].shown() : q;
            if (std::ranges::count(m_alignment.apart, std::pair(x, shown)) > 0)
                continue;
            if (likeness == Likeness::Same && !paired.contains(x) && !used.contains(q)) {
                m_alignment.values.push_back({ x, shown, MatchMethod::Numeric, confidence, quantizer, NodeId() });
                paired.insert(x);
                used.insert(q);
            } else {
                m_alignment.links.push_back({ x, q, confidence, likeness == Likeness::Permuted });
            }
        }
        sortPairs(m_pair.floatPlan->graph(), m_alignment.values);
        std::erase_if(m_alignment.unmatchedFloat, [&](ValueId f) { return paired.contains(f); });
        std::erase_if(m_alignment.unmatchedQuant, [&](ValueId q) { return used.contains(q); });
    }

    const ComparePair& m_pair;
    std::shared_ptr<const Plan> m_bypassed;
    const WorkContext& m_work;
    Alignment& m_alignment;
    std::vector<ValueId> m_floats;
    std::vector<std::pair<ValueId, ValueId>> m_quants; ///< in the quantized and the bypassed graph
    std::map<std::pair<ValueId, size_t>, Likeness> m_alike; ///< float value, index in m_quants
    bool m_looked = false;
};

} // namespace

void pairByNumbers(const ComparePair& pair, const std::vector<std::vector<Tensor>>& samples, const WorkContext& work,
    Alignment& alignment)
{
    if (samples.empty() || alignment.unmatchedFloat.empty() || alignment.unmatchedQuant.empty())
        return;
    const auto bypassed = bypassQuantizers(pair, planPairs(pair));
    if (bypassed)
        NumericPairer(pair, bypassed->plan, work, alignment).run(samples);
}

} // namespace qs
