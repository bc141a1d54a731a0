// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gate/losses.h"

#include "core/base/profile.h"
#include "core/base/text/one_line.h"
#include "core/gate/number_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace qs {

namespace {

/// A name, and how many rows before had it.
using Occurrence = std::pair<std::string, size_t>;

const Similarity& numbersOf(const ActivationRow& row) { return row.accumulated; }
const Similarity& numbersOf(const WeightRow& row) { return row.similarity; }
const Similarity& numbersOf(const OutputRow& row) { return row.similarity; }

template <class Row> std::map<Occurrence, const Similarity*> byName(const std::vector<Row>& rows)
{
    std::map<std::string, size_t> seen;
    std::map<Occurrence, const Similarity*> found;
    for (const Row& row : rows)
        found[{ row.name, seen[row.name]++ }] = &numbersOf(row);
    return found;
}

/// `now` null: it is not there any more.
void judgeLoss(GateCheck& check, const BaselineRow& before, const Similarity* now, double limit)
{
    check.verdict = GateVerdict::Missed;
    if (!now) {
        check.measured = "not in this comparison";
    } else if (now->exact) {
        check.verdict = GateVerdict::Passed;
        check.measured = "exact values";
    } else if (before.exact) {
        check.measured = "exact before, now " + measuredSqnr(*now, limit);
    } else if (!before.sqnrDb || !std::isfinite(*before.sqnrDb)) {
        check.verdict = GateVerdict::NotJudged;
        check.measured = "no number in the baseline, now " + measuredSqnr(*now, limit);
    } else if (!hasSqnr(*now)) {
        check.measured = measuredSqnr(*now, limit);
    } else {
        const double loss = *before.sqnrDb - *now->sqnrDb;
        check.verdict = loss <= limit ? GateVerdict::Passed : GateVerdict::Missed;
        check.measured = fmt::format("{} dB lost, from {} dB to {} dB", numberAgainst(loss, limit),
            numberAgainst(*before.sqnrDb, *now->sqnrDb), numberAgainst(*now->sqnrDb, *before.sqnrDb));
    }
}

template <class Row>
void addRows(std::string_view what, const std::vector<BaselineRow>& before, const std::vector<Row>& rows, double limit,
    std::vector<GateCheck>& checks)
{
    constexpr size_t kNameLength = 400;
    const auto now = byName(rows);
    std::map<std::string, size_t> seen;
    for (const BaselineRow& row : before) {
        const auto found = now.find({ row.name, seen[row.name]++ });
        GateCheck check { GateRule::Loss, GateVerdict::Missed, oneLine(row.name, kNameLength),
            fmt::format("at most {} dB lost", limit), {}, {}, {} };
        judgeLoss(check, row, found == now.end() ? nullptr : found->second, limit);
        check.sentence = fmt::format(
            "{} {}: {}; at most {} dB may be lost against the baseline", what, check.place, check.measured, limit);
        checks.push_back(std::move(check));
    }
}

/// The tensors that are not judged as outputs already.
std::vector<BaselineRow> withoutOutputs(const Baseline& before)
{
    std::vector<BaselineRow> rows = before.activations;
    std::erase_if(rows, [&](const BaselineRow& row) {
        return std::ranges::find(before.outputs, row.name, &BaselineRow::name) != before.outputs.end();
    });
    return rows;
}

} // namespace

size_t addLosses(const Comparison& c, const BaselineLimit& limit, std::vector<GateCheck>& checks)
{
    const auto before = std::ptrdiff_t(checks.size());
    addRows("output", limit.before.outputs, c.outputs, limit.maxLossDb, checks);
    addRows("tensor", withoutOutputs(limit.before), c.activations, limit.maxLossDb, checks);
    addRows("weight", limit.before.weights, c.weights, limit.maxLossDb, checks);
    return size_t(std::count_if(checks.begin() + before, checks.end(),
        [](const GateCheck& check) { return check.verdict != GateVerdict::NotJudged; }));
}

std::vector<std::string> baselineDoubts(const Comparison& c, const BaselineLimit& limit)
{
    std::vector<std::string> doubts;
    const Baseline& b = limit.before;
    if (b.samples != c.samples || b.arithmetic != profileName(c.profile))
        doubts.push_back(
            fmt::format("the baseline {} was made with {} samples and the arithmetic {}, this comparison with {} "
                        "and {}: losses may come from that",
                limit.path, b.samples, oneLine(b.arithmetic, 40), c.samples, profileName(c.profile)));
    return doubts;
}

} // namespace qs
