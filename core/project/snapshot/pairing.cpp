// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/pairing.h"

#include "core/analysis/confirm/confirmed_pairs.h"
#include "core/match/units/fused_units.h"
#include "core/project/snapshot/samples.h"

#include <algorithm>

namespace qs {

namespace {

bool fits(const Dims& a, const Dims& b)
{
    return std::ranges::equal(
        a, b, [](const Dim& x, const Dim& y) { return !x.known() || !y.known() || x.value == y.value; });
}

/// Both files must take the same data.
Status checkInterface(const AlignmentKey& key)
{
    const auto f = dataInputs(key.floatModel.graph(), key.carry);
    const auto q = dataInputs(key.quantModel.graph(), key.carry);
    const std::string& file = key.quantModel.model->path;
    const std::string remedy = "give the float model that this file was quantized from";
    if (f.size() != q.size())
        return badInput("has " + std::to_string(q.size()) + " inputs, the float model has " + std::to_string(f.size()),
            file, remedy);
    const auto partners = partnersOf(f, q); // as many as there are inputs
    for (size_t i = 0; i < f.size(); ++i) {
        const InputSpec& other = *partners[i];
        if (!f[i].dims || !other.dims || fits(*f[i].dims, *other.dims))
            continue;
        Issue issue = badInput("has shape " + dimsText(*other.dims) + ", but the float model's input has "
                + dimsText(*f[i].dims) + ": it is another network",
            file, remedy);
        issue.tensor = other.name;
        return issue;
    }
    return {};
}

/// Names are true where one file was made of the other, and nothing was left to guess.
bool namesTell(const Alignment& found)
{
    return found.unmatchedFloat.empty() && found.unmatchedQuant.empty()
        && std::ranges::all_of(found.values, [](const ValuePair& pair) {
               return pair.method == MatchMethod::Name || pair.method == MatchMethod::Suffix
                   || pair.method == MatchMethod::Unit;
           });
}

/// Holds what names and structure say against the values of two samples.
Status confirm(const AlignmentKey& key, const BuildContext& context, Alignment& found)
{
    if (!key.data || (key.oneNetwork && namesTell(found)))
        return {};
    SampleInputs samples;
    QS_TRY(const CarriedState before, CarriedState::make(key.floatModel.plan, key.carry, key.data->initialStates()));
    for (size_t i = 0; i < std::min<size_t>(key.data->feeds(), 2); ++i) {
        QS_TRY(Feed feed, key.data->feed(i));
        samples.push_back(before.inputs(feed.inputs));
    }
    ComparePair pair { key.floatModel.plan, key.quantModel.plan, key.quantModel.quant,
        std::make_shared<const Alignment>(found) };
    pair.lowered = context.caches.lowered;
    QS_TRY(found, confirmPairs(pair, { key.links, key.oneNetwork }, samples, context.work));
    return {};
}

} // namespace

Result<ManualLinks> manualLinks(const std::string& mapPath, const ManualLinks& links)
{
    ManualLinks manual;
    if (!mapPath.empty()) {
        QS_TRY(manual, readManualLinks(mapPath));
    }
    // Those of no file come later, so they have the last word.
    manual.pairs.insert(manual.pairs.end(), links.pairs.begin(), links.pairs.end());
    manual.apart.insert(manual.apart.end(), links.apart.begin(), links.apart.end());
    return manual;
}

Result<std::shared_ptr<const Alignment>> pairValues(const AlignmentKey& key, const BuildContext& context)
{
    context.report("match");
    QS_CHECK(checkInterface(key));
    QS_TRY(Alignment found,
        align(*key.floatModel.plan, *key.quantModel.plan, *key.quantModel.quant, key.links, key.oneNetwork));
    QS_CHECK(confirm(key, context, found));
    addUnits(*key.floatModel.plan, *key.quantModel.plan, *key.quantModel.quant, found);
    return std::make_shared<const Alignment>(std::move(found));
}

} // namespace qs
