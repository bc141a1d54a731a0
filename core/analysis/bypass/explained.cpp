// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/explained.h"

#include "core/analysis/bypass/network_run.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/tensor/convert.h"

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
    Rounding(const std::shared_ptr<const Plan>& plan, std::vector<ValueId> values, const PrecisionStep& step,
        const std::vector<Tensor>& inputs, const ComparePair& pair, const WorkContext& work)
        : m_plan(plan)
        , m_values(std::move(values))
        , m_step(step)
        , m_inputs(inputs)
        , m_pair(pair)
        , m_work(work)
    {
    }

    Result<std::vector<double>> distances()
    {
        std::vector<double> largest(m_values.size(), 0);
        QS_TRY(m_plain, runNetwork(m_plan, m_pair.floatPlan, m_values, m_inputs, m_work));
        for (uint32_t draw = 0; draw <= kDraws; ++draw) {
            QS_TRY(const std::vector<Tensor> found, run(draw));
            for (size_t i = 0; i < found.size(); ++i)
                largest[i] = std::max(largest[i], relativeDistance(toFloats(m_plain[i]), toFloats(found[i])));
        }
        return largest;
    }

private:
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
        return runNetwork(plan, m_pair.floatPlan, theirs, m_inputs, m_work, values ? onValue : OnValue());
    }

    std::shared_ptr<const Plan> m_plan;
    std::vector<ValueId> m_values;
    const PrecisionStep& m_step;
    const std::vector<Tensor>& m_inputs;
    const ComparePair& m_pair;
    const WorkContext& m_work;
    std::vector<Tensor> m_plain;
};

} // namespace

Result<std::vector<double>> explainedDistances(const TwoNetworks& networks, const PrecisionStep& step,
    const std::vector<ValueOfBoth>& values, const std::vector<Tensor>& inputs, const ComparePair& pair,
    const WorkContext& work)
{
    // The finer of the two is the one that rounding can be added to.
    const bool ofFloat = !step.inFloatFile || step.inQuantizedFile;
    std::vector<ValueId> ids;
    for (const ValueOfBoth& v : values)
        ids.push_back(ofFloat ? v.f : v.b);
    return Rounding(ofFloat ? networks.f : networks.b, std::move(ids), step, inputs, pair, work).distances();
}

} // namespace qs
