// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include "core/match/graph/canonical.h"
#include "core/match/stored_operand.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"
#include "core/tensor/largest_scale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

constexpr double kWorthwhileDb = 6; ///< a bit
constexpr double kPoorWeightDb = 25;
constexpr double kAmpleWeightDb = 50; ///< more than 8 bits give
constexpr size_t kFewLayers = 3; ///< of so many weights less than one is other
constexpr double kFewElements = 2.5; ///< of a small weight: damage, not training
constexpr double kMostElements = 0.5; ///< share from which on the others are the few
constexpr double kFewSteps = 4; ///< rounding by data moves weights by one

std::optional<double> medianOf(const std::vector<Number>& values)
{
    std::vector<double> known;
    for (const Number& v : values)
        if (v)
            known.push_back(*v);
    if (known.empty())
        return std::nullopt;
    const auto middle = known.begin() + ptrdiff_t(known.size() / 2);
    std::nth_element(known.begin(), middle, known.end());
    return *middle;
}

/// Single elements that no rounding explains.
bool hasWrongElements(const WeightRow& row)
{
    if (row.params.scale.empty() || row.order || !row.offByMoreThanHalfStep || *row.offByMoreThanHalfStep <= 0)
        return false;
    double elements = 1;
    for (const int64_t size : row.shape)
        elements *= double(size);
    const double share = *row.offByMoreThanHalfStep;
    if (share >= kMostElements || (share > kDifferingShare && share * elements > kFewElements))
        return false;
    return row.mostStepsOff.value_or(0) > kFewSteps;
}

} // namespace

namespace {

constexpr double kFeltAtOutput = 0.5; ///< dB
constexpr double kFeltTogether = 3, kPoorOutput = 20; ///< dB that all such weights cost together, and where that counts

/// What scales a channel of all weights would take away of the worst output's noise: what single ones gain hides behind
/// the others.
class SharedCost {
public:
    void add(const Number& gainDb) { m_all += gainDb ? 1 - std::pow(10.0, -*gainDb / 10) : 0; }
    void tell(size_t finding) { m_told.push_back(finding); }
    void judge(const Comparison& c, std::vector<Finding>& found) const
    {
        const OutputRow* worst = worstOutput(c.outputs);
        const bool felt = 1 - std::min(m_all, 1.0) <= std::pow(10.0, -kFeltTogether / 10);
        if (felt && worst && worst->similarity.sqnrDb.value_or(HUGE_VAL) < kPoorOutput)
            for (const size_t finding : m_told)
                found[finding].severity = Severity::Warning;
    }

private:
    double m_all = 0;
    std::vector<size_t> m_told;
};

/// The format stores one scale for what Gather reads.
bool hasOneScaleOnly(const ComparePair& pair, const WeightRow& row)
{
    const QuantForm form = pair.quantView->form();
    return row.opType == "Gather" && (form == QuantForm::Dynamic || form == QuantForm::QOperator);
}

} // namespace

void findChannelImbalance(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    std::vector<double> shares;
    SharedCost cost;
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        if (row.bias || !row.params.perTensor() || !row.perChannelSqnrDb || !row.similarity.sqnrDb || !row.rangeRatio
            || row.shape.size() < 2)
            continue;
        // A clipped range is another matter.
        const double gain
            = *row.perChannelSqnrDb - std::max(*row.similarity.sqnrDb, row.perTensorSqnrDb.value_or(-HUGE_VAL));
        // Weights that differ for another reason would not gain by another granularity.
        if (gain <= 0 || row.offByMoreThanHalfStep.value_or(0) > kDifferingShare)
            continue;
        if (shares.empty())
            shares = noiseShares(pair, c);
        const Number atOutput = gainAtOutput(c, shares, row, gain);
        cost.add(atOutput);
        if (gain < kWorthwhileDb)
            continue;
        // The large channels hide in the sum how little is left of the others.
        const double typical = medianOf(row.channelSqnrDb).value_or(*row.similarity.sqnrDb);
        if (typical >= kAmpleWeightDb)
            continue;
        const bool felt = atOutput.value_or(HUGE_VAL) >= kFeltAtOutput;
        const bool oneOnly = hasOneScaleOnly(pair, row);
        if (oneOnly && !felt)
            continue;
        Finding f = weightFinding(c, i, Rule::ChannelImbalance);
        if (felt && (typical < kPoorWeightDb || *row.similarity.sqnrDb < kCoarseWeightDb))
            f.severity = Severity::Warning;
        f.rank = std::pow(10.0, -typical / 10);
        f.summary = fmt::format("The largest channel is {:.1f} times the median one; a scale per channel would give "
                                "{:.1f} dB instead of {:.1f} dB.",
            *row.rangeRatio, *row.perChannelSqnrDb, *row.similarity.sqnrDb);
        f.evidence = { evidence("range_ratio", *row.rangeRatio), evidence("sqnr_db", *row.similarity.sqnrDb, "dB"),
            evidence("median_channel_sqnr_db", typical, "dB"),
            evidence("per_channel_sqnr_db", *row.perChannelSqnrDb, "dB"), evidence("gain_db", gain, "dB") };
        f.change = { RemedyKind::PerChannel, row.node, row.name, 0, 0, row.channelAxis };
        f.expectedGainDb = gain;
        if (oneOnly) {
            f.summary += " This format has one scale alone for a table that Gather reads.";
            f.remedy = "Leave this table in float, or take a format that has scales a channel or block for it.";
            f.change = { RemedyKind::ExcludeNode, row.node, row.name, 0, 0, 0 };
        }
        cost.tell(found.size());
        found.push_back(std::move(f));
    }
    cost.judge(c, found);
}

namespace {

/// Training changes most layers. Where a few alone have other weights, these were exchanged or damaged.
void blameFew(const Comparison& c, std::vector<Finding>& found)
{
    const auto retrained = [](const Finding& f) {
        return f.rule == Rule::WeightsDiffer && (f.cause == "retrained" || f.cause == "factors");
    };
    std::set<size_t> told; // of all that is said of weights
    for (const Finding& f : found)
        for (const FindingPlace& place : placesOf(f))
            if (f.rule == Rule::WeightsDiffer && place.weight && !c.weights[*place.weight].bias)
                told.insert(*place.weight);
    const size_t differing = told.size();
    const auto all = size_t(std::ranges::count(c.weights, false, &WeightRow::bias));
    if (std::ranges::none_of(found, retrained) || kFewLayers * differing >= all)
        return;
    for (Finding& f : found)
        if (retrained(f)) {
            f.summary += fmt::format(" The other {} weights {} the float model.", all - differing,
                c.network && !c.network->byOutput.empty() ? "fit" : "are as in");
            f.remedy = "Quantize these weights anew from the float model's, and find out what changed them.";
            f.change = { RemedyKind::Requantize, f.node, f.tensor, 0, 0, 0 };
        }
}

} // namespace

namespace {

/// What is wrong with a weight that has one simple change.
std::string changeText(const WeightChange& change, bool mayBeMeant)
{
    switch (change.kind) {
    case WeightChange::Kind::Factor:
        return fmt::format("each is {:.4g} times the float model's, rounded; its scale is wrong by that", change.value);
    case WeightChange::Kind::Shift:
        return fmt::format(
            "each is {:+.0f} steps beside the float model's, rounded; its zero point is wrong by that", change.value);
    case WeightChange::Kind::Shifts:
        return fmt::format("each block is whole steps beside the float model's, rounded, up to {:.0f}; its zero points "
                           "are lost or wrong",
            change.value);
    case WeightChange::Kind::OtherAxis:
        return "with its scales along another axis they would be the float model's, rounded: the axis is wrong";
    case WeightChange::Kind::Factors:
        return fmt::format("{} of the channels or blocks are the float model's times factors of their own, up to "
                           "{:.4g}, rounded: their scales are wrong or those of others{}",
            percentText(change.part), change.value,
            mayBeMeant && change.part > kMostElements ? ", or the weight was equalized" : "");
    case WeightChange::Kind::Cut:
        break;
    }
    return fmt::format(
        "they have the code {:.0f}, beyond which the float model's go; codes were cut off there", change.value);
}

/// The quantizer that has rounded a weight before its own does, perhaps with a node between that keeps the numbers.
const Quantizer* roundedBefore(const ComparePair& pair, const WeightRow& row)
{
    constexpr size_t kMost = 8; // nodes
    constexpr double kHalfStep = 0.51;
    const Graph& graph = pair.quantPlan->graph();
    const auto& all = pair.quantView->quantizers();
    ValueId value = row.floatValue.valid() ? all[row.quantizer].real : ValueId();
    for (size_t i = 0; i < kMost && value.valid(); ++i) {
        const NodeId maker = graph.value(value).producer;
        if (!maker.valid())
            return nullptr;
        if (const auto q = pair.quantView->ofQuantized(value); q && isDequantizeLinear(graph.node(maker))) {
            const Quantizer& first = all[*q];
            const bool explains = !first.params.scale.empty()
                && row.similarity.maxAbsError.value_or(HUGE_VAL)
                    <= kHalfStep * (largestScale(first.params) + largestScale(row.params));
            return explains ? &first : nullptr;
        }
        const Node& node = graph.node(maker);
        value = (movesElements(node) || node.is("Identity")) && node.hasInput(0) ? node.inputs[0] : ValueId();
    }
    return nullptr;
}

Finding quantizedTwice(const ComparePair& pair, const Comparison& c, size_t index, const Quantizer& first)
{
    const WeightRow& row = c.weights[index];
    const std::string& name = pair.quantPlan->graph().value(first.shown()).name;
    Finding f = weightFinding(c, index, Rule::WeightsDiffer);
    f.cause = "twice";
    f.title = "The weight of " + row.node + " is quantized twice";
    f.summary = fmt::format("{} of the elements are off by more than half a step: its codes are made of {}, which "
                            "was rounded already, {}, and what was left is rounded again, {}.",
        percentText(*row.offByMoreThanHalfStep), name, first.params.perTensor() ? "per tensor" : "per channel",
        row.params.perTensor() ? "per tensor" : "per channel");
    f.evidence = { evidence("off_by_more_than_half_step", *row.offByMoreThanHalfStep),
        { "rounded_before", std::nullopt, name, {} }, evidence("sqnr_db", row.similarity.sqnrDb.value_or(0), "dB"),
        evidence("ideal_sqnr_db", row.idealSqnrDb.value_or(0), "dB") };
    f.remedy
        = "Fold what stands between the weight and its product (Identity, Transpose, Reshape) into the constant, as "
          "quant_pre_process or onnxsim do, and quantize the float model anew.";
    return f;
}

constexpr size_t kRowsTold = 8;

std::string lineName(const Shape& shape, size_t axis)
{
    return shape.size() > 2 ? "channel" : axis == 0 ? "row" : "column";
}

/// "Its rows 3 and 7 of 512 are other ones"
std::string otherRowsText(const OtherRows& other, const Shape& shape)
{
    std::vector<int64_t> told(
        other.rows.begin(), other.rows.begin() + ptrdiff_t(std::min(other.rows.size(), kRowsTold)));
    std::vector<std::string> holding;
    for (size_t i = 0; i < other.from.size(); ++i)
        if (other.from[i])
            holding.push_back(fmt::format("{} holds the float model's {}", other.rows[i], *other.from[i]));
    return fmt::format("Its {}{} {}{} of {} (axis {}) {}, all others are rounded well.{}", lineName(shape, other.axis),
        other.rows.size() == 1 ? "" : "s", fmt::join(told, ", "), other.rows.size() > kRowsTold ? " ..." : "",
        shape[other.axis], other.axis,
        other.rows.size() == 1 ? "is not the float model's" : "are not the float model's",
        holding.empty() ? "" : fmt::format(" Of these {}.", fmt::join(holding, ", ")));
}

/// "12 ... 15 hold 20 ... 23, 16 holds 3": lines that have another's elements, in runs.
std::string movedLinesText(const std::vector<int64_t>& from)
{
    constexpr size_t kRuns = 4;
    std::vector<std::string> runs;
    const auto size = int64_t(from.size());
    for (int64_t first = 0; first < size && runs.size() <= kRuns;) {
        const auto at = [&](int64_t i) { return from[size_t(i)]; };
        int64_t end = first + 1;
        const int64_t step = end < size ? at(end) - at(first) : 0;
        while (end < size && std::abs(step) == 1 && at(end) - at(end - 1) == step)
            ++end;
        if (step == 1 && at(first) == first) {
            first = end; // these stand where they belong
            continue;
        }
        if (end == first + 1 && at(first) != first)
            runs.push_back(fmt::format("{} holds {}", first, at(first)));
        else if (end > first + 1)
            runs.push_back(fmt::format("{} ... {} hold {} ... {}", first, end - 1, at(first), at(end - 1)));
        first = end;
    }
    const bool more = runs.size() > kRuns;
    if (more)
        runs.resize(kRuns);
    return fmt::format("{}{}", fmt::join(runs, ", "), more ? " ..." : "");
}

/// Whose elements a weight has.
std::string orderText(const WeightOrder& order, const Shape& shape)
{
    switch (order.kind) {
    case WeightOrder::Kind::Transposed:
        return fmt::format(
            "it holds the float model's weight transposed: with two axes exchanged it has {:.1f} dB", order.sqnrDb);
    case WeightOrder::Kind::Pairs:
        return "with neighbouring codes exchanged in pairs they are the float model's, rounded: the halves of each "
               "byte are swapped";
    case WeightOrder::Kind::Sign:
        return fmt::format("read as {} the same codes are the float model's, rounded: the type's sign is wrong",
            dtypeName(order.type));
    case WeightOrder::Kind::UpperBit:
        return "with the upper bit of each code turned over they are the float model's, rounded: signed codes were "
               "stored for unsigned ones, or the other way round";
    case WeightOrder::Kind::Lines:
        return fmt::format("its {}s (axis {}) are the float model's, rounded, in another order: {}",
            lineName(shape, order.axis), order.axis, movedLinesText(order.from));
    case WeightOrder::Kind::Another:
        break;
    }
    return fmt::format("they are those of {} ({}), rounded", order.node, order.name);
}

const RoundedByOutput* byOutput(const Comparison& c, const WeightRow& row)
{
    if (!c.network)
        return nullptr;
    const auto it = std::ranges::find(c.network->byOutput, row.name, &RoundedByOutput::name);
    return it == c.network->byOutput.end() ? nullptr : &*it;
}

/// The one simple change that explains it; of codes that were chosen by the output what is wrong beside.
std::optional<WeightChange> changeOf(const Comparison& c, const WeightRow& row)
{
    const RoundedByOutput* const chosen = byOutput(c, row);
    if (row.change || !chosen || chosen->right())
        return row.change;
    if (chosen->shift != 0)
        return chosen->part >= 1 ? WeightChange { WeightChange::Kind::Shift, chosen->shift }
                                 : WeightChange { WeightChange::Kind::Shifts, std::fabs(chosen->shift) };
    const bool all = chosen->part >= 1;
    return WeightChange { all ? WeightChange::Kind::Factor : WeightChange::Kind::Factors, chosen->factor,
        chosen->part };
}

/// What is wrong with a weight that is another one.
std::string otherWeightText(const Comparison& c, const WeightRow& row, bool elements, bool unrelated)
{
    if (row.otherRows && row.change && row.change->kind == WeightChange::Kind::Factors)
        return otherRowsText(*row.otherRows, row.shape)
            + fmt::format(" They are the float model's times factors of their own, up to {:.4g}, rounded: their scales "
                          "are wrong or those of others.",
                row.change->value);
    if (row.otherRows)
        return otherRowsText(*row.otherRows, row.shape);
    if (elements)
        return fmt::format(
            "A few elements ({:.3f} %) are off by up to {:.0f} steps, all others are rounded well or clipped.",
            100 * *row.offByMoreThanHalfStep, row.mostStepsOff.value_or(0));
    const auto change = changeOf(c, row);
    return fmt::format("{} of the elements are off by more than half a step without being clipped: {}.",
        percentText(*row.offByMoreThanHalfStep),
        change          ? changeText(*change, !byOutput(c, row))
            : row.order ? orderText(*row.order, row.shape)
            : unrelated ? "other weights, or a scale or axis that is not theirs"
                        : "retrained (quantization-aware), equalized or other weights");
}

/// What the recipe was asked for is no fault.
void tellChangedByRecipe(const Comparison& c, std::vector<Finding>& found)
{
    const auto other = [](const WeightRow& row) { return row.offByMoreThanHalfStep.value_or(0) > kDifferingShare; };
    const auto count = std::ranges::count_if(c.weights, other);
    if (count == 0)
        return;
    Finding f = makeFinding(Rule::WeightsDiffer);
    f.severity = Severity::Note;
    f.cause = "recipe";
    f.title = "The recipe changes weights";
    f.summary
        = fmt::format("{} of {} weights and biases are further from the float model's than rounding to the nearest "
                      "code moves them. The recipe asks for that: it moves factors between constants (SmoothQuant, "
                      "equalization), or rounds or corrects them by what that does to outputs.",
            count, c.weights.size());
    f.remedy = "Nothing has to be done; what is told of single weights compares other numbers.";
    found.push_back(std::move(f));
}

/// Layers whose factors cancel out are one cause, and no fault.
void tellEqualized(const Comparison& c, std::vector<Finding>& found)
{
    Finding f = makeFinding(Rule::WeightsDiffer);
    f.severity = Severity::Note;
    f.cause = "equalized";
    double lowest = HUGE_VAL, highest = 0;
    for (size_t i = 0; i < c.weights.size(); ++i)
        if (const WeightRow& row = c.weights[i]; row.equalized && !row.factors->in.empty()) {
            f.places.push_back(placesOf(weightFinding(c, i, Rule::WeightsDiffer)).front());
            lowest = std::min(lowest, std::ranges::min(row.factors->out));
            highest = std::max(highest, std::ranges::max(row.factors->out));
        }
    if (f.places.empty())
        return;
    f.node = f.places.front().node;
    f.tensor = f.places.front().tensor;
    f.weight = f.places.front().weight;
    f.title = fmt::format("{} layers are equalized", f.places.size());
    f.summary = fmt::format("Output channels have factors of their own, {:.3g} … {:.3g}, and so have their biases; the "
                            "inputs of the next layers take them away again, so that they compute the same within the "
                            "rounding of their codes (cross-layer equalization).",
        lowest, highest);
    f.evidence
        = { evidence("lowest", lowest), evidence("highest", highest), evidence("places", double(f.places.size())) };
    f.remedy = "Nothing has to be done; the tensors between these layers are compared with the float model's times "
               "these factors, and what is told of the weights compares other numbers.";
    found.push_back(std::move(f));
}

/// Codes that were chosen by what they do to the output are no fault.
void tellByOutput(const Comparison& c, const std::vector<size_t>& rows, std::vector<Finding>& found)
{
    if (rows.empty())
        return;
    Finding f = weightFinding(c, rows.front(), Rule::WeightsDiffer);
    f.severity = Severity::Note;
    f.cause = "by_output";
    f.rank = 0;
    double most = 0, error = 0, steps = 0;
    for (const size_t i : rows) {
        const RoundedByOutput& chosen = *byOutput(c, c.weights[i]);
        f.places.push_back(placesOf(weightFinding(c, i, Rule::WeightsDiffer)).front());
        most = std::max(most, chosen.moved);
        error = std::max(error, chosen.error);
        steps = std::max(steps, chosen.steps);
    }
    f.title = rows.size() == 1
        ? "The weights of " + f.node + " are rounded by what they do to its output"
        : fmt::format("{} layers have weights that are rounded by what they do to outputs", rows.size());
    f.summary = fmt::format(
        "Up to {} of the codes are not the nearest ones, by {:.0f} steps at most, and on the samples the products are "
        "off by less for it: by {} of the noise power that the nearest codes with the same scales make, or less. GPTQ "
        "rounds so.",
        percentText(most), steps, percentText(error));
    f.evidence = { evidence("moved_codes", most), evidence("output_noise_over_nearest", error),
        evidence("places", double(rows.size())) };
    f.remedy = "Nothing has to be done.";
    found.push_back(std::move(f));
}

} // namespace

namespace {

/// One weight of the float model, perhaps read transposed by one of both.
bool isOneWeight(const Tensor* a, const Tensor* b)
{
    if (a == b || !a || !b || a->count() != b->count())
        return a == b && a;
    const std::vector<float> x = toFloats(*a), y = toFloats(*b);
    if (x == y)
        return true;
    if (a->rank() != 2 || b->rank() != 2 || a->dim(0) != b->dim(1))
        return false;
    for (size_t i = 0; i < x.size(); ++i)
        if (x[i] != y[exchangedPlace(a->shape(), i)])
            return false;
    return true;
}

/// Another reader of the same codes, for which they are the float model's, where that has one weight for both.
const WeightRow* rightReader(const ComparePair& pair, const Comparison& c, const WeightRow& row)
{
    const auto codesOf
        = [&](const WeightRow& w) { return storedCodes(*pair.quantPlan, pair.quantView->quantizers()[w.quantizer]); };
    const Tensor* const own = row.floatValue.valid() ? codesOf(row) : nullptr; // bodies have views of their own
    for (const WeightRow& other : c.weights) {
        const bool right = !other.bias && other.offByMoreThanHalfStep && *other.offByMoreThanHalfStep <= 0;
        if (!own || !right || !other.floatValue.valid() || other.quantizer == row.quantizer || other.lostScales > 0)
            continue;
        const Tensor* const codes = codesOf(other);
        if (codes && codes->dtype() == own->dtype() && codes->count() == own->count()
            && std::ranges::equal(codes->bytes(), own->bytes())
            && isOneWeight(pair.floatPlan->constant(row.floatValue), pair.floatPlan->constant(other.floatValue)))
            return &other;
    }
    return nullptr;
}

/// What of a reader is wrong where the codes are right elsewhere.
void tellRightReader(const WeightRow& row, const WeightRow& right, Finding& f)
{
    const bool scales = row.params.scale != right.params.scale;
    const bool zeros = row.params.zeroPoint != right.params.zeroPoint || row.params.zeroRest != right.params.zeroRest;
    const std::string what = scales && zeros ? "scales and zero points" : zeros ? "zero points" : "scales";
    f.severity = Severity::Error;
    f.cause = "reader";
    f.title = fmt::format("{} reads its weights with wrong {}", row.node, what);
    f.summary += fmt::format(
        " {} reads the same codes with other {}, and there they are the float model's.", right.node, what);
    f.remedy = fmt::format("Give this node the {} of {}, or quantize these weights anew.", what, right.node);
    f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
}

/// Codes and scales are right, the axis is not.
void tellOtherAxis(const WeightRow& row, int64_t axis, Finding& f)
{
    f.title = fmt::format("The scales of the weight of {} lie along the wrong axis", row.node);
    if (row.part || !row.params.axis)
        return;
    const auto stored = [&](int64_t a) { return row.turned ? 1 - a : a; };
    f.summary += fmt::format(" Its {} scales belong to axis {}, the file says axis {}.", row.params.scale.size(),
        stored(axis), stored(*row.params.axis));
    f.evidence.push_back(evidence("fitting_axis", double(stored(axis))));
    f.evidence.push_back(evidence("stored_axis", double(stored(*row.params.axis))));
    f.change = { RemedyKind::PerChannel, row.node, row.name, 0, 0, axis };
    f.remedy = fmt::format("Set the axis of its DequantizeLinear to {}, or quantize this weight anew.", stored(axis));
}

/// A weight that is not the float model's, rounded to the nearest codes.
Finding otherWeight(const ComparePair& pair, const Comparison& c, size_t i, bool elements)
{
    const WeightRow& row = c.weights[i];
    const auto change = changeOf(c, row);
    const bool unrelated = row.similarity.sqnrDb.value_or(kUnrelatedDb) < kUnrelatedDb;
    Finding f = weightFinding(c, i, Rule::WeightsDiffer);
    // Equalization gives most channels factors, too.
    const bool meant
        = change && change->kind == WeightChange::Kind::Factors && change->part > kMostElements && !byOutput(c, row);
    const bool damaged = elements || (change && !meant) || row.order;
    f.cause = elements ? row.name : damaged ? "changed" : meant ? "factors" : unrelated ? "unrelated" : "retrained";
    if (elements)
        f.title = row.node + " has damaged weights";
    f.summary = otherWeightText(c, row, elements, unrelated);
    if (!elements && c.network && c.network->storedWeights && c.network->same())
        f.summary += " Given these weights, the float model computes what the quantized file does without its "
                     "quantizers: the network is the same.";
    f.evidence = { evidence("off_by_more_than_half_step", *row.offByMoreThanHalfStep),
        evidence("max_abs_error", row.similarity.maxAbsError.value_or(0)),
        evidence("sqnr_db", row.similarity.sqnrDb.value_or(0), "dB"),
        evidence("ideal_sqnr_db", row.idealSqnrDb.value_or(0), "dB") };
    if (damaged || unrelated) {
        f.severity = Severity::Error;
        f.remedy = "Quantize these weights anew from the float model's, and find out what changed them.";
        f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
    }
    if (change && change->kind == WeightChange::Kind::OtherAxis)
        tellOtherAxis(row, int64_t(change->value), f);
    if (row.order && row.order->kind == WeightOrder::Kind::Sign) {
        f.title = fmt::format("The codes of the weight of {} are {}, not {}", row.node, dtypeName(row.order->type),
            dtypeName(row.params.dtype));
        f.remedy = fmt::format("Give these codes the type {}, or quantize these weights anew from the float model's.",
            dtypeName(row.order->type));
    }
    if (row.order && row.order->kind == WeightOrder::Kind::Transposed)
        f.title = row.node + " holds the float model's weight transposed";
    if (const WeightRow* right = rightReader(pair, c, row))
        tellRightReader(row, *right, f);
    return f;
}

} // namespace

void findWeightsDiffer(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (isChangedByRecipe(pair))
        return tellChangedByRecipe(c, found);
    tellEqualized(c, found);
    const Graph& graph = pair.floatPlan->graph();
    std::vector<size_t> chosenByOutput;
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        const NodeId maker = row.floatValue.valid() ? graph.value(row.floatValue).producer : NodeId();
        const bool rounded = maker.valid() && isDequantizeLinear(graph.node(maker)); // on a grid of its own
        const bool elements = hasWrongElements(row) || row.otherRows;
        const bool besideThese = c.network && c.network->rearranged && row.added;
        const bool moved = (areMadeUp(c, row) || besideThese) && !elements; // together they are the same
        if (isTold(found, Rule::BrokenScale, {}, i))
            continue;
        if (row.bias || rounded || moved || row.equalized || correctsMeans(c, row)
            || (row.offByMoreThanHalfStep.value_or(0) <= kDifferingShare && !elements))
            continue;
        if (const Quantizer* first = roundedBefore(pair, row)) {
            found.push_back(quantizedTwice(pair, c, i, *first));
            continue;
        }
        if (isNearlyRounded(row))
            continue;
        if (const RoundedByOutput* chosen = byOutput(c, row); chosen && chosen->right() && !elements)
            chosenByOutput.push_back(i);
        else
            found.push_back(otherWeight(pair, c, i, elements));
    }
    tellByOutput(c, chosenByOutput, found);
    blameFew(c, found);
}

} // namespace qs
