// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/remedy_search.h"

#include "core/analysis/rows/range_use.h"
#include "core/project/search/change_kinds.h"
#include "core/quant/recipe/recipe.h"

#include <algorithm>
#include <array>
#include <set>

namespace qs {

namespace {

using Changes = std::vector<Remedy>;

constexpr double kNoticeableDb = 1; ///< that a larger choice has to gain over a smaller one
constexpr double kNoticeablePoints = 1; ///< of agreement: less makes no choice the better one
constexpr double kEightBitsDb = 20; ///< at the output: more than 8 bits are not asked for
constexpr double kWiderDb = 3; ///< that a change of all activations has to gain over that of the one that is to blame
constexpr size_t kExcluded = 3; ///< nodes that are tried in float, by each of two orders
constexpr size_t kLongestStep = 4; ///< candidates that are tried beside the best choice, each time
const Changes kRecalibrate { { RemedyKind::Recalibrate, {}, {}, 0, 0, 0 } };

double gainOf(const RemedyTrials& trials, const Changes& changes)
{
    const Trial* trial = trials.known(changes);
    return trial ? trial->gainDb.value_or(-1e9) : -1e9;
}

/// Percentage points of what tasks other than classes count.
double pointsOf(const RemedyTrials& trials, const Changes& changes)
{
    const Trial* trial = trials.known(changes);
    return trial ? trial->agreementGain.value_or(0) : 0;
}

bool holds(const Changes& all, const Changes& some)
{
    return std::ranges::all_of(some, [&](const Remedy& r) { return std::ranges::find(all, r) != all.end(); });
}

Changes joined(Changes all, const Changes& more)
{
    for (const Remedy& r : more)
        if (std::ranges::find(all, r) == all.end())
            all.push_back(r);
    return all;
}

/// Of all findings; where two concern the same tensor, the first.
Changes allOf(const std::vector<Changes>& single, bool rangesAlone)
{
    Changes all;
    std::set<std::pair<RemedyKind, std::string>> known;
    for (const Changes& changes : single)
        for (const Remedy& r : changes) {
            const bool range = r.kind == RemedyKind::SetRange;
            const bool wholeRecipe = r.kind == RemedyKind::Recalibrate;
            if ((rangesAlone ? range : !wholeRecipe) && known.emplace(r.kind, r.tensor + "\n" + r.node).second)
                all.push_back(r);
        }
    return all;
}

Changes channelsOf(const Comparison& c)
{
    Changes all;
    for (const WeightRow& row : c.weights)
        if (!row.bias && row.params.perTensor() && row.shape.size() > 1)
            all.push_back({ RemedyKind::PerChannel, row.node, row.name, 0, 0, row.channelAxis });
    return all;
}

/// Where weights of fewer bits are too coarse: all of them, since those that are left hide what others gain.
Changes eightBitsOf(const Comparison& c)
{
    Changes all;
    const bool coarse = std::ranges::any_of(c.findings, [](const Finding& f) {
        return f.rule == Rule::WeightsTooCoarse && f.change.kind == RemedyKind::EightBitWeight;
    });
    for (const WeightRow& row : c.weights)
        if (coarse && !row.bias && row.params.bits() < 8 && !isTableOfBlocks(row))
            all.push_back({ RemedyKind::EightBitWeight, row.node, row.name, 0, 0, row.channelAxis });
    return all;
}

/// Nodes behind which the noise grows most, and those whose own quantizer makes most.
std::vector<Changes> exclusions(const RemedyTrials& trials, const Comparison& c)
{
    std::vector<Changes> found;
    std::set<std::string> named;
    const auto addLargest = [&](auto&& size) {
        std::vector<std::pair<double, const ActivationRow*>> rows;
        for (const ActivationRow& row : c.activations)
            if (!row.node.empty() && size(row) > 0 && trials.isQuantized(row))
                rows.emplace_back(size(row), &row);
        std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.first > b.first; });
        for (size_t i = 0, taken = 0; i < rows.size() && taken < kExcluded; ++i)
            if (named.insert(rows[i].second->node).second) {
                found.push_back({ { RemedyKind::ExcludeNode, rows[i].second->node, rows[i].second->name, 0, 0, 0 } });
                ++taken;
            }
    };
    addLargest([](const ActivationRow& row) { return growthDb(row).value_or(0); });
    addLargest([](const ActivationRow& row) { return ownNoiseShare(row); });
    return found;
}

/// The causes are ranges or steps of activations.
bool saysRanges(const Comparison& c)
{
    constexpr std::array kRules { Rule::RangeTooSmall, Rule::RangeTooLarge, Rule::Outliers, Rule::SymmetricOnSkewed,
        Rule::RangeVaries, Rule::CalibrationSet, Rule::ScaleMismatchAtJoin, Rule::SensitiveOperator };
    return std::ranges::any_of(
        c.findings, [&](const Finding& f) { return std::ranges::find(kRules, f.rule) != kRules.end(); });
}

/// Other calibrators for all activations, which cost nothing while running.
std::vector<Changes> calibrations(const Recipe& recipe)
{
    std::vector<Changes> choices;
    for (const Calibrator kind : { Calibrator::Percentile, Calibrator::Mse, Calibrator::Entropy })
        if (isStatic(recipe.format) && recipe.calibration.kind != kind) {
            Remedy r { RemedyKind::Calibrate, {}, {}, 0, 0, 0 };
            r.calibrator = kind;
            choices.push_back({ r });
        }
    return choices;
}

/// All activations of 16 bits, which costs time.
Changes wideActivations(const Recipe& recipe)
{
    const bool bytes = recipe.activationType == DType::Int8 || recipe.activationType == DType::UInt8;
    if (recipe.format != RecipeFormat::Qdq || !bytes)
        return {};
    Remedy r { RemedyKind::ActivationType, {}, {}, 0, 0, 0 };
    r.type = isSigned(recipe.activationType) ? DType::Int16 : DType::UInt16;
    return { r };
}

/// Large channels of activations, which come from normalizations, can go into the weights.
std::vector<Changes> smoothings(const RemedyTrials& trials, const Comparison& c)
{
    const bool normalized = std::ranges::any_of(
        c.activations, [](const ActivationRow& row) { return row.opType.ends_with("Normalization"); });
    return normalized && trials.byRecipe() && isStatic(trials.recipe()->format)
        ? std::vector<Changes> { { { RemedyKind::SmoothQuant, {}, {}, 0, 0, 0 } } }
        : std::vector<Changes> {};
}

/// Other ranges or another type for all activations.
bool ofAllActivations(const Changes& changes)
{
    constexpr std::array kKinds { RemedyKind::Recalibrate, RemedyKind::Calibrate, RemedyKind::ActivationType };
    return changes.size() == 1 && std::ranges::find(kKinds, changes.front().kind) != kKinds.end();
}

/// How much of the model it changes. Other ranges for all activations are more than those of a few tensors, and what
/// finds them anew beside what it does is one change more.
size_t extentOf(const Changes& changes)
{
    constexpr size_t kFewRanges = 3;
    const auto anew = size_t(std::ranges::count_if(
        changes, [](const Remedy& r) { return recalibratesToo({ r }) || r.kind == RemedyKind::Calibrate; }));
    return changes.size() + anew + (anew > 0 || ofAllActivations(changes) ? kFewRanges : 0);
}

/// Mends the range of one tensor, as the finding that names it says.
bool ofOneRange(const Changes& changes) { return changes.size() == 1 && changes.front().kind == RemedyKind::SetRange; }

class Search {
public:
    Search(RemedyTrials& trials, size_t most)
        : m_trials(trials)
        , m_last(trials.tried() + most)
    {
    }
    bool over() const { return m_trials.tried() >= m_last; }
    /// As many as are left.
    Status tryAll(std::vector<Changes> choices)
    {
        std::erase_if(choices, [&](const Changes& c) { return c.empty() || m_trials.known(c); });
        choices.resize(std::min(choices.size(), m_last - std::min(m_last, m_trials.tried())));
        QS_CHECK(m_trials.measure(choices, m_last));
        m_tried.insert(m_tried.end(), choices.begin(), choices.end());
        return {};
    }
    void add(const std::vector<Changes>& choices) { m_tried.insert(m_tried.end(), choices.begin(), choices.end()); }
    /// What gains most; among about equals those whose tasks agree most, and of these the smallest choice.
    const Changes* best() const
    {
        const Changes* best = nullptr;
        for (const Changes& c : m_tried)
            if (!best || gainOf(m_trials, c) > gainOf(m_trials, *best))
                best = &c;
        if (!best)
            return nullptr;
        const double enough = gainOf(m_trials, *best) - kNoticeableDb;
        double most = pointsOf(m_trials, *best);
        for (const Changes& c : m_tried)
            if (gainOf(m_trials, c) >= enough)
                most = std::max(most, pointsOf(m_trials, c));
        const auto agrees = [&](const Changes& c) { return pointsOf(m_trials, c) >= most - kNoticeablePoints; };
        const Changes* chosen = agrees(*best) ? best : nullptr;
        for (const Changes& c : m_tried)
            if (gainOf(m_trials, c) >= enough && agrees(c) && (!chosen || extentOf(c) < extentOf(*chosen)))
                chosen = &c;
        return chosen;
    }

private:
    RemedyTrials& m_trials;
    size_t m_last;
    std::vector<Changes> m_tried;
};

/// Beside the best choice one more at a time, while that gains.
Status grow(Search& search, const RemedyTrials& trials, const std::vector<Changes>& parts)
{
    while (!search.over()) {
        const Changes from = *search.best();
        std::vector<Changes> next;
        for (const Changes& part : parts)
            if (!holds(from, part) && next.size() < kLongestStep)
                next.push_back(joined(from, part));
        QS_CHECK(search.tryAll(std::move(next)));
        if (gainOf(trials, *search.best()) < gainOf(trials, from) + kNoticeableDb)
            return {};
    }
    return {};
}

} // namespace

Result<std::vector<Remedy>> searchTogether(
    RemedyTrials& trials, const Comparison& comparison, const std::vector<std::vector<Remedy>>& single, size_t most)
{
    Search search(trials, most);
    search.add(single);
    const double alone = search.best() ? std::max(0.0, gainOf(trials, *search.best())) : 0;
    const bool oneRange = search.best() && ofOneRange(*search.best());
    const bool ranges = !allOf(single, true).empty();
    std::vector<Changes> whole { allOf(single, true), allOf(single, false) };
    if (ranges)
        whole.push_back(kRecalibrate);
    QS_CHECK(search.tryAll(std::move(whole)));
    QS_CHECK(search.tryAll(exclusions(trials, comparison)));
    QS_CHECK(search.tryAll(smoothings(trials, comparison)));
    const bool ranged = trials.byRecipe() && saysRanges(comparison);
    if (ranged)
        QS_CHECK(search.tryAll(calibrations(*trials.recipe())));
    const Changes channels = channelsOf(comparison);
    const Changes all = channels.empty() ? Changes {} : Changes { { RemedyKind::PerChannel, {}, {}, 0, 0, 0 } };
    QS_CHECK(search.tryAll({ all, channels, eightBitsOf(comparison), { { RemedyKind::Equalize, {}, {}, 0, 0, 0 } } }));
    if (!single.empty() && search.best())
        QS_CHECK(grow(search, trials, single));
    const double cheap = *trials.before() + (search.best() ? std::max(0.0, gainOf(trials, *search.best())) : 0);
    if (ranged && cheap < kEightBitsDb)
        QS_CHECK(search.tryAll({ wideActivations(*trials.recipe()) }));
    if (const Changes* found = search.best(); found && trials.byRecipe() && recalibratesToo(*found))
        QS_CHECK(search.tryAll({ kRecalibrate })); // it may be all that helps of it
    const Changes* best = search.best();
    const double worth = best && oneRange && ofAllActivations(*best) ? kWiderDb : kNoticeableDb;
    if (!best || gainOf(trials, *best) < alone + worth)
        return std::vector<Remedy>();
    return *best;
}

} // namespace qs
