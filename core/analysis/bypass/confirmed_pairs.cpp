// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/confirmed_pairs.h"

#include "core/analysis/bypass/numeric_links.h"

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

} // namespace

Result<Alignment> confirmPairs(
    const ComparePair& pair, const PairingRequest& request, const SampleInputs& samples, const WorkContext& work)
{
    ComparePair now = pair;
    const auto floats = samples.empty() ? std::nullopt : sketchRun(pair.floatPlan, pair.floatPlan, samples, work);
    std::optional<Evidence> evidence;
    for (int round = 0; floats && round < kRounds; ++round) {
        auto found = evidenceOf(now, *floats, samples, work);
        if (!found)
            break;
        evidence = std::move(found);
        QS_TRY(Alignment next,
            align(*pair.floatPlan, *pair.quantPlan, *pair.quantView, request.links, request.oneNetwork,
                &evidence->values));
        const bool settled = basisOf(next) == basisOf(*now.alignment);
        now.alignment = std::make_shared<const Alignment>(std::move(next));
        if (settled)
            break;
    }
    Alignment alignment = *now.alignment;
    keepMethods(*pair.alignment, alignment);
    if (evidence)
        addLinks(now, *evidence, samples, work, alignment);
    return alignment;
}

} // namespace qs
