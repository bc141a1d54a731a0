// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/explained.h"

#include "core/analysis/bypass/proof_distances.h"
#include "core/analysis/rounding/relative_distance.h"

#include <algorithm>

namespace qs {

namespace {

constexpr uint32_t kDraws = 3;
/// Sums in another order and other approximations of a function differ by so many roundings of float32.
constexpr double kFloatRoundings = 4;
constexpr uint32_t kSeed = 7919; ///< of each draw, times its number

/// One network, run with one kind of rounding after another.
class Rounding {
public:
    /// `shown`: the float model's values that these are.
    Rounding(const std::shared_ptr<const Plan>& plan, std::vector<ValueId> values, std::vector<ValueId> shown,
        const PrecisionStep& step, const ProofSample& sample, const ComparePair& pair, const WorkContext& work)
        : m_plan(plan)
        , m_values(std::move(values))
        , m_shown(std::move(shown))
        , m_step(step)
        , m_sample(sample)
        , m_pair(pair)
        , m_work(work)
    {
    }

    Result<std::vector<double>> distances()
    {
        std::vector<double> largest(m_values.size(), 0);
        QS_TRY(m_plain, runNetwork(m_plan, m_pair.floatPlan, m_values, m_sample.inputs, m_work));
        for (uint32_t draw = 0; draw <= kDraws; ++draw) {
            QS_TRY(const std::vector<Tensor> found, run(draw));
            for (size_t i = 0; i < found.size(); ++i)
                largest[i] = std::max(largest[i], relativeDistance(reals(i, m_plain[i]), reals(i, found[i])));
        }
        return largest;
    }

private:
    std::vector<float> reals(size_t i, const Tensor& t) const { return countedReals(m_sample, m_shown[i], t); }

    /// Draw 0 rounds, the others disturb.
    Tensor moved(const Tensor& t, uint32_t draw, uint32_t number) const
    {
        const bool plain = m_step.precision == Precision::Float32;
        return draw == 0 ? rounded(t, m_step.precision)
                         : disturbed(t, m_step.precision, draw * kSeed + number, plain ? kFloatRoundings : 1);
    }

    Result<std::vector<Tensor>> run(uint32_t draw)
    {
        const OnValue onValue = [&](const Tensor& t, uint32_t number) { return moved(t, draw, number); };
        const bool constants = m_step.precision != Precision::Float32;
        const bool values = !constants || m_step.values;
        std::shared_ptr<const Plan> plan = m_plan;
        if (constants) {
            QS_TRY(plan, withConstants(*m_plan, onValue));
        }
        std::vector<ValueId> theirs;
        for (const ValueId id : m_values)
            theirs.push_back(plan->graph().findValue(m_plan->graph().value(id).name));
        if (std::ranges::find(theirs, ValueId()) != theirs.end())
            return badInput("a value is constant");
        return runNetwork(plan, m_pair.floatPlan, theirs, m_sample.inputs, m_work, values ? onValue : OnValue());
    }

    std::shared_ptr<const Plan> m_plan;
    std::vector<ValueId> m_values, m_shown;
    const PrecisionStep& m_step;
    const ProofSample& m_sample;
    const ComparePair& m_pair;
    const WorkContext& m_work;
    std::vector<Tensor> m_plain;
};

} // namespace

Result<std::vector<double>> explainedDistances(const TwoNetworks& networks, const PrecisionStep& step,
    const std::vector<ValueOfBoth>& values, const ProofSample& sample, const ComparePair& pair, const WorkContext& work)
{
    // The finer of the two is the one that rounding can be added to.
    const bool ofFloat = !step.inFloatFile || step.inQuantizedFile;
    std::vector<ValueId> ids, shown;
    for (const ValueOfBoth& v : values) {
        ids.push_back(ofFloat ? v.f : v.b);
        shown.push_back(v.shown);
    }
    return Rounding(ofFloat ? networks.f : networks.b, std::move(ids), std::move(shown), step, sample, pair, work)
        .distances();
}

} // namespace qs
