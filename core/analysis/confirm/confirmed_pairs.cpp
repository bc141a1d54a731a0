// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/confirmed_pairs.h"

#include "core/analysis/confirm/numeric_links.h"
#include "core/match/confidence.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace qs {

namespace {

constexpr int kRounds = 4;

/// What the bypassed file is made by: activations that quantizers stand for, and partners of constants.
auto basisOf(const Alignment& alignment)
{
    std::pair<std::set<std::pair<ValueId, uint32_t>>, std::set<std::tuple<ValueId, uint32_t, bool>>> basis;
    for (const ValuePair& p : alignment.values)
        if (p.quantizer)
            basis.first.emplace(p.floatValue, *p.quantizer);
    for (const WeightPair& w : alignment.weights)
        basis.second.emplace(w.floatValue, w.quantizer, w.transposed);
    return basis;
}

/// What names and structure had found already is theirs.
void keepMethods(const Alignment& before, Alignment& alignment)
{
    std::map<std::pair<ValueId, ValueId>, MatchMethod> methods;
    for (const ValuePair& p : before.values)
        methods.emplace(std::pair(p.floatValue, p.quantValue), p.method);
    for (ValuePair& p : alignment.values)
        if (const auto it = methods.find({ p.floatValue, p.quantValue }); it != methods.end())
            p.method = it->second;
}

struct Confirmed {
    ComparePair pair; ///< with the alignment
    std::optional<Evidence> evidence;

    /// Nothing is left to ask: both files compute the same, and every pair is among what they compute.
    bool sure() const
    {
        const double exact = confidenceOf(MatchMethod::Topology, Proof::Exact, 1);
        return evidence && evidence->sameOutputs
            && std::ranges::all_of(pair.alignment->values, [&](const ValuePair& p) { return p.confidence >= exact; });
    }
};

Result<Confirmed> confirmOn(
    const SampleInputs& samples, const ComparePair& pair, const PairingRequest& request, const WorkContext& work)
{
    Confirmed made { pair, std::nullopt };
    std::optional<Sketches> floats;
    for (int round = 0; round < kRounds; ++round) {
        auto found = evidenceOf(made.pair, floats, samples, work);
        if (!found)
            break;
        made.evidence = std::move(found);
        QS_TRY(Alignment next,
            align(*pair.floatPlan, *pair.quantPlan, *pair.quantView, request.links, request.oneNetwork,
                &made.evidence->values));
        const bool settled = basisOf(next) == basisOf(*made.pair.alignment);
        made.pair.alignment = std::make_shared<const Alignment>(std::move(next));
        if (settled)
            break;
    }
    return made;
}

} // namespace

Result<Alignment> confirmPairs(
    const ComparePair& pair, const PairingRequest& request, const SampleInputs& samples, const WorkContext& work)
{
    if (samples.empty())
        return *pair.alignment;
    QS_TRY(Confirmed made, confirmOn({ samples[0] }, pair, request, work));
    if (!made.sure() && samples.size() > 1) {
        QS_TRY(made, confirmOn(samples, pair, request, work));
    }
    Alignment alignment = *made.pair.alignment;
    keepMethods(*pair.alignment, alignment);
    if (made.evidence)
        addLinks(made.pair, *made.evidence, samples, work, alignment);
    return alignment;
}

} // namespace qs
