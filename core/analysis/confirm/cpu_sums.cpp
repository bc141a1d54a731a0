// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/cpu_sums.h"

#include "core/analysis/pairs/pair_plan.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

constexpr size_t kMostSamples = 5; ///< feeds; three runs each
/// Two neighbouring weights of at most this and any activation code fit 16 bits: 255 * 2 * 64 < 2^15.
constexpr int kAlwaysFits = 64;

/// The results of a run of the quantized file beside the float model's, over all samples.
struct OutputSums {
    double signal = 0, noise = 0;
    void add(const Tensor& x, const Tensor& y, const std::optional<ElementRuns>& counted)
    {
        std::vector<float> of = toFloats(x), with = toFloats(y);
        if (counted && of.size() == with.size()) {
            of = elementsIn(*counted, of);
            with = elementsIn(*counted, with);
        }
        signal += squaresBetween(std::vector<float>(of.size()), of);
        noise += squaresBetween(of, with);
    }
    double db() const { return noise == 0 ? HUGE_VAL : 10 * std::log10(signal / noise); }
};

/// Some weight is stored as int8 that leaves 16 bits together with its like.
bool hasLargeWeights(const ComparePair& pair)
{
    return std::ranges::any_of(pair.quantView->quantizers(), [&](const Quantizer& q) {
        const Tensor* codes
            = q.role == QuantRole::Weight && q.codes.valid() ? pair.quantPlan->constant(q.codes) : nullptr;
        return codes && codes->dtype() == DType::Int8
            && std::ranges::any_of(codes->data<int8_t>(), [](int8_t w) { return std::abs(int(w)) > kAlwaysFits; });
    });
}

/// The float model and the quantized file twice: with exact sums, and with those of pairs in 16 bits.
class SumRuns {
public:
    SumRuns(const ComparePair& pair, const WorkContext& work)
        : m_pair(pair)
        , m_work(work)
    {
        for (const OutputPair& out : pairOutputs(pair))
            if (!out.quantizer) {
                m_x.push_back(out.x);
                m_y.push_back(out.y);
            }
        const auto model = std::make_shared<const Model>(pair.quantPlan->model());
        for (const ArithmeticProfile profile : { ArithmeticProfile::Integer, ArithmeticProfile::IntegerAvx2 })
            m_plans.push_back(Plan::make(model, { KernelMode::Fast, profile }));
        m_sums.resize(2 * m_x.size());
    }

    bool add(const ProofSample& sample)
    {
        const auto x = runNetwork(m_pair.floatPlan, m_pair.floatPlan, m_x, sample.inputs, m_work);
        for (size_t p = 0; p < m_plans.size(); ++p) {
            const auto y = runNetwork(m_plans[p], m_pair.floatPlan, m_y, sample.inputs, m_work);
            if (!x.ok() || !y.ok())
                return false;
            for (size_t i = 0; i < m_x.size(); ++i)
                m_sums[2 * i + p].add(
                    (*x)[i], (*y)[i], sample.counted ? sample.counted(m_x[i], (*x)[i].shape()) : std::nullopt);
        }
        return true;
    }

    /// The output that loses most; nothing where there is none.
    std::optional<CpuSums> result(uint64_t samples) const
    {
        std::optional<CpuSums> worst;
        for (size_t i = 0; i < m_x.size(); ++i) {
            const OutputSums &exact = m_sums[2 * i], &cut = m_sums[2 * i + 1];
            if (exact.signal == 0)
                continue;
            const CpuSums of { samples, m_x[i], exact.db(), cut.db() };
            if (!worst || of.lossDb() > worst->lossDb())
                worst = of;
        }
        return worst;
    }

private:
    const ComparePair& m_pair;
    const WorkContext& m_work;
    std::vector<ValueId> m_x, m_y; ///< by output
    std::vector<std::shared_ptr<const Plan>> m_plans;
    std::vector<OutputSums> m_sums; ///< by output and plan
};

} // namespace

std::optional<CpuSums> measureCpuSums(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work)
{
    if (!hasLargeWeights(pair))
        return std::nullopt;
    SumRuns runs(pair, work);
    uint64_t count = 0;
    for (size_t i = 0; i < std::min(samples.size(), kMostSamples); ++i) {
        if (!runs.add(samples[i]))
            return std::nullopt;
        count += samples[i].samples;
    }
    return runs.result(count);
}

} // namespace qs
