// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/numeric_links.h"

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/engine/run/execution.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace qs {

namespace {

constexpr double kSameValue = 1e-3; ///< relative distance up to which two values count as the same
constexpr double kLink = 0.85; ///< confidence: the same numbers, in another place
constexpr double kPermuted = 0.8; ///< in another order
constexpr size_t kMostAxes = 5;

struct Values {
    std::vector<float> x;
    Shape shape;
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

bool sumsAlike(const std::vector<float>& a, const std::vector<float>& b)
{
    const auto squares = [](const std::vector<float>& x) {
        return std::accumulate(x.begin(), x.end(), 0., [](double sum, float v) { return sum + double(v) * v; });
    };
    const double s = squares(a);
    return std::abs(s - squares(b)) <= 2 * kSameValue * s;
}

/// The same elements with the axes in another order, but not in the same order.
bool exchanged(const Values& a, const Values& b)
{
    if (a.x.size() != b.x.size() || a.shape.size() != b.shape.size() || a.shape.size() > kMostAxes
        || !sumsAlike(a.x, b.x))
        return false;
    std::vector<size_t> axes(a.shape.size());
    std::iota(axes.begin(), axes.end(), size_t(0));
    while (std::ranges::next_permutation(axes).found) {
        bool fits = true;
        for (size_t i = 0; fits && i < axes.size(); ++i)
            fits = a.shape[axes[i]] == b.shape[i];
        if (fits && relativeDistance(permuted(a, axes), b.x) <= kSameValue)
            return true;
    }
    return false;
}

using Run = std::map<ValueId, Values>; ///< by value of its own graph

class LinkFinder {
public:
    LinkFinder(const ComparePair& pair, const Evidence& evidence, const WorkContext& work, Alignment& alignment)
        : m_pair(pair)
        , m_evidence(evidence)
        , m_work(work)
        , m_alignment(alignment)
    {
    }

    void run(const SampleInputs& samples)
    {
        addEquals();
        std::set<std::pair<ValueId, ValueId>> alike;
        for (size_t i = 0; i < samples.size(); ++i)
            if (i == 0 || !alike.empty())
                alike = exchangedIn(samples[i], i > 0 ? &alike : nullptr);
        for (const auto& [f, q] : alike)
            m_alignment.links.push_back({ f, q, kPermuted, true });
    }

private:
    void addEquals()
    {
        std::set<ValueId> shown(m_alignment.unmatchedQuant.begin(), m_alignment.unmatchedQuant.end());
        for (const ValuePair& p : m_alignment.values)
            shown.insert(p.quantValue);
        std::set<std::pair<ValueId, ValueId>> found;
        for (const ValueId f : m_alignment.unmatchedFloat) {
            const auto equals = m_evidence.values.equalsOfFloat(f);
            for (const ValueId q : equals)
                if (shown.contains(q))
                    found.emplace(f, q);
            if (equals.empty() && m_evidence.values.tellsOfFloat(f))
                m_floats.push_back(f);
        }
        for (const ValueId q : m_alignment.unmatchedQuant) {
            const auto equals = m_evidence.values.equalsOfQuant(q);
            for (const ValueId f : equals)
                found.emplace(f, q);
            const ValueId id = m_evidence.plan->graph().findValue(m_pair.quantPlan->graph().value(q).name);
            if (equals.empty() && m_evidence.values.tellsOfQuant(q) && id.valid())
                m_quants.emplace_back(q, id);
        }
        for (const auto& [f, q] : found)
            if (std::ranges::count(m_alignment.apart, std::pair(f, q)) == 0)
                m_alignment.links.push_back({ f, q, kLink, false });
    }

    std::set<std::pair<ValueId, ValueId>> exchangedIn(
        const std::vector<Tensor>& inputs, const std::set<std::pair<ValueId, ValueId>>* before) const
    {
        std::set<std::pair<ValueId, ValueId>> alike;
        std::vector<ValueId> theirs;
        for (const auto& [q, id] : m_quants)
            theirs.push_back(id);
        if (m_floats.empty() || theirs.empty())
            return alike;
        const auto a = valuesOf(m_pair.floatPlan, m_floats, inputs), b = valuesOf(m_evidence.plan, theirs, inputs);
        if (!a || !b)
            return alike;
        for (const ValueId f : m_floats)
            for (const auto& [q, id] : m_quants)
                if (!before || before->contains({ f, q }))
                    if (const auto x = a->find(f), y = b->find(id);
                        x != a->end() && y != b->end() && exchanged(x->second, y->second))
                        alike.emplace(f, q);
        return alike;
    }

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
        for (const ValueId id : values)
            if (const Tensor& t = execution.get(id); t.valid() && isFloat(t.dtype()))
                run.emplace(id, Values { toFloats(t), t.shape() });
        return run;
    }

    const ComparePair& m_pair;
    const Evidence& m_evidence;
    const WorkContext& m_work;
    Alignment& m_alignment;
    std::vector<ValueId> m_floats;
    std::vector<std::pair<ValueId, ValueId>> m_quants; ///< in the quantized graph and in the one that was run
};

} // namespace

void addLinks(const ComparePair& pair, const Evidence& evidence, const SampleInputs& samples, const WorkContext& work,
    Alignment& alignment)
{
    LinkFinder(pair, evidence, work, alignment).run(samples);
}

} // namespace qs
