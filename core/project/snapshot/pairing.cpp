// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/pairing.h"

#include "core/analysis/confirm/confirmed_pairs.h"
#include "core/data/implied_inputs.h"
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

constexpr const char* kOtherFloat = "give the float model that this file was quantized from";

Issue inputIssue(const InputSpec& input, std::string what, const std::string& file, std::string remedy)
{
    Issue issue = badInput(std::move(what), file, std::move(remedy));
    issue.tensor = input.name;
    return issue;
}

/// Says no more than the sizes do.
Issue otherShape(const Dims& given, const InputSpec& taken, const std::string& file)
{
    const std::string shapes
        = "has shape " + dimsText(*taken.dims) + ", but the float model's input has " + dimsText(given);
    const auto sorted = [](Dims dims) {
        std::ranges::sort(dims, {}, &Dim::value);
        return dims;
    };
    if (given.size() != taken.dims->size())
        return inputIssue(taken, shapes + ": it is another network", file, kOtherFloat);
    if (std::equal(given.begin() + 1, given.end(), taken.dims->begin() + 1, taken.dims->end()))
        return inputIssue(taken, shapes + ": no data fill both batches", file,
            "write both files with one batch size, or one of them with a dynamic one");
    if (std::ranges::equal(sorted(given), sorted(*taken.dims), {}, &Dim::value, &Dim::value))
        return inputIssue(taken, shapes + ": these are its axes in another order, and the sizes do not tell in which",
            file, "write both files with their axes in one order");
    return inputIssue(taken, shapes + ": it is another network", file, kOtherFloat);
}

Issue unknownCodes(const InputSpec& taken, const std::string& file)
{
    return inputIssue(taken,
        "takes codes (" + std::string(dtypeName(taken.dtype))
            + "), the float model floats, and no DequantizeLinear"
              " tells what they stand for",
        file, "write the file with float inputs");
}

/// Whether the first sample holds something of the past.
Result<bool> hasPast(const AlignmentKey& key, const std::vector<InputSpec>& inputs)
{
    if (!key.data || key.data->feeds() == 0)
        return false;
    QS_TRY(const Feed feed, key.data->feed(0));
    for (size_t i = 0; i < inputs.size() && i < feed.inputs.size(); ++i)
        if (impliedBy(inputs[i]) == Implied::EmptyCache && feed.inputs[i].count() > 0)
            return true;
    return false;
}

/// What one file takes and the other does not has to be what the tokens imply of a text's beginning.
Status checkInputsOfOne(
    const AlignmentKey& key, const std::vector<InputSpec>& f, const std::vector<InputSpec>& q, bool past)
{
    const auto places = placesOf(q, f);
    std::vector<bool> taken(f.size(), false);
    std::string other; // the first that nothing implies
    const bool hasTokens = std::ranges::any_of(f, holdsTokens) && !past;
    for (size_t i = 0; i < q.size(); ++i)
        if (places[i] < f.size())
            taken[places[i]] = true;
        else if (!(hasTokens && impliedBy(q[i])) && other.empty())
            other = "takes '" + q[i].name + "', the float model does not";
    for (size_t i = 0; i < f.size(); ++i)
        if (!taken[i] && !(hasTokens && impliedBy(f[i])) && other.empty())
            other = "does not take '" + f[i].name + "', the float model does";
    if (other.empty())
        return {};
    return badInput("has " + std::to_string(q.size()) + " inputs, the float model has " + std::to_string(f.size())
            + " (it " + other + ")",
        key.quantModel.model->path, kOtherFloat);
}

/// Both files must take the same data.
Status checkInterface(const AlignmentKey& key)
{
    const auto f = dataInputs(key.floatModel.graph(), key.carry);
    const auto q = dataInputs(key.quantModel.graph(), key.carry);
    const std::string& file = key.quantModel.model->path;
    QS_TRY(const bool past, hasPast(key, f));
    QS_CHECK(checkInputsOfOne(key, f, q, past));
    const auto partners = partnersOf(f, q);
    for (size_t i = 0; i < f.size(); ++i) {
        if (!partners[i])
            continue;
        const InputSpec& other = *partners[i];
        const bool isEmpty = !past && impliedBy(other) == Implied::EmptyCache; // of any width and type
        if (f[i].dims && other.dims && !fits(*f[i].dims, *other.dims) && !isEmpty)
            return otherShape(*f[i].dims, other, file);
        if (key.data && isFloat(f[i].dtype) && isInteger(other.dtype) && !isEmpty)
            return unknownCodes(other, file);
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
