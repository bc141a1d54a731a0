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

namespace qs {

namespace {

constexpr double kWorthwhileDb = 6; ///< a bit
constexpr double kPoorWeightDb = 25;
constexpr double kAmpleWeightDb = 50; ///< more than 8 bits give
constexpr double kUnrelatedDb = 6; ///< the dequantized weight says next to nothing about the float one
constexpr size_t kFewLayers = 3; ///< of so many weights less than one is other
constexpr double kFewElements = 2.5; ///< of a small weight: damage, not training
constexpr double kMostElements = 0.5; ///< share from which on the others are the few
constexpr double kFewSteps = 4; ///< rounding by data moves weights by one
constexpr double kBiasRatio = 0.01; ///< relative: input scale x weight scale against the stored one
constexpr double kHarmfulBias = 0.01; ///< noise power over the output's
constexpr double kRuinousBias = 0.06;
constexpr size_t kSumBits = 32;
constexpr double kHarmfulCut = 1e-4; ///< the same of a bias whose codes saturate, which none has to
constexpr double kHarmfulBits = 1e-3; ///< of one that has fewer bits than sums have
constexpr double kMostBehind = 0.5; ///< share of what is off behind the node
constexpr double kBeyondRoundingDb = 20;

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
    if (row.params.scale.empty() || !row.offByMoreThanHalfStep || *row.offByMoreThanHalfStep <= 0)
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

void findChannelImbalance(const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        if (row.bias || !row.params.perTensor() || !row.perChannelSqnrDb || !row.similarity.sqnrDb || !row.rangeRatio
            || row.shape.size() < 2)
            continue;
        // A clipped range is another matter.
        const double gain
            = *row.perChannelSqnrDb - std::max(*row.similarity.sqnrDb, row.perTensorSqnrDb.value_or(-HUGE_VAL));
        // Weights that differ for another reason would not gain by another granularity.
        if (gain < kWorthwhileDb || row.offByMoreThanHalfStep.value_or(0) > kDifferingShare)
            continue;
        // The large channels hide in the sum how little is left of the others.
        const double typical = medianOf(row.channelSqnrDb).value_or(*row.similarity.sqnrDb);
        if (typical >= kAmpleWeightDb)
            continue;
        Finding f = weightFinding(c, i, Rule::ChannelImbalance);
        if (typical < kPoorWeightDb || *row.similarity.sqnrDb < kCoarseWeightDb)
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
        found.push_back(std::move(f));
    }
}

namespace {

/// Training changes most layers. Where a few alone have other weights, these were exchanged or damaged.
void blameFew(const Comparison& c, std::vector<Finding>& found)
{
    const auto retrained = [](const Finding& f) {
        return f.rule == Rule::WeightsDiffer && (f.cause == "retrained" || f.cause == "factors");
    };
    const auto differing = size_t(std::ranges::count_if(found, retrained));
    const auto all = size_t(std::ranges::count(c.weights, false, &WeightRow::bias));
    if (differing == 0 || kFewLayers * differing >= all)
        return;
    for (Finding& f : found)
        if (retrained(f)) {
            f.summary += fmt::format(" The other {} weights are as in the float model.", all - differing);
            f.remedy = "Quantize these weights anew from the float model's, and find out what changed them.";
            f.change = { RemedyKind::Requantize, f.node, f.tensor, 0, 0, 0 };
        }
}

} // namespace

namespace {

/// What is wrong with a weight that has one simple change.
std::string changeText(const WeightChange& change)
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
        return "with its scales along the other axis they would be the float model's, rounded: the axis is wrong";
    case WeightChange::Kind::Factors:
        return fmt::format("{} of the channels or blocks are the float model's times factors of their own, up to "
                           "{:.4g}, rounded: their scales are wrong or those of others{}",
            percentText(change.part), change.value, change.part > kMostElements ? ", or the weight was equalized" : "");
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
    case WeightOrder::Kind::Lines:
        return fmt::format("its {}s (axis {}) are the float model's, rounded, in another order: {}",
            lineName(shape, order.axis), order.axis, movedLinesText(order.from));
    case WeightOrder::Kind::Another:
        break;
    }
    return fmt::format("they are those of {} ({}), rounded", order.node, order.name);
}

/// What is wrong with a weight that is another one.
std::string otherWeightText(const WeightRow& row, bool elements, bool unrelated)
{
    if (row.otherRows)
        return otherRowsText(*row.otherRows, row.shape);
    if (elements)
        return fmt::format(
            "A few elements ({:.3f} %) are off by up to {:.0f} steps, all others are rounded well or clipped.",
            100 * *row.offByMoreThanHalfStep, row.mostStepsOff.value_or(0));
    return fmt::format("{} of the elements are off by more than half a step without being clipped: {}.",
        percentText(*row.offByMoreThanHalfStep),
        row.change      ? changeText(*row.change)
            : row.order ? orderText(*row.order, row.shape)
            : unrelated ? "other weights, or a scale or axis that is not theirs"
                        : "retrained (quantization-aware), equalized or other weights");
}

bool isChangedByRecipe(const ComparePair& pair) { return pair.provenance && pair.provenance->changesWeights(); }

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
        if (const WeightRow& row = c.weights[i]; row.equalized && !row.bias) {
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
    f.remedy = "Nothing has to be done; what is told of these weights and of the tensors between them compares other "
               "numbers.";
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

} // namespace

void findWeightsDiffer(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (isChangedByRecipe(pair))
        return tellChangedByRecipe(c, found);
    tellEqualized(c, found);
    const Graph& graph = pair.floatPlan->graph();
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        const NodeId maker = row.floatValue.valid() ? graph.value(row.floatValue).producer : NodeId();
        const bool rounded = maker.valid() && isDequantizeLinear(graph.node(maker)); // on a grid of its own
        const bool elements = hasWrongElements(row) || row.otherRows;
        const bool moved = c.network && c.network->rearranged && !elements; // together they are the same
        if (isTold(found, Rule::BrokenScale, {}, i))
            continue;
        if (row.bias || rounded || moved || row.equalized
            || (row.offByMoreThanHalfStep.value_or(0) <= kDifferingShare && !elements))
            continue;
        if (const Quantizer* first = roundedBefore(pair, row)) {
            found.push_back(quantizedTwice(pair, c, i, *first));
            continue;
        }
        if (isNearlyRounded(row))
            continue;
        const bool unrelated = row.similarity.sqnrDb.value_or(kUnrelatedDb) < kUnrelatedDb;
        Finding f = weightFinding(c, i, Rule::WeightsDiffer);
        // Equalization gives most channels factors, too.
        const bool meant
            = row.change && row.change->kind == WeightChange::Kind::Factors && row.change->part > kMostElements;
        const bool damaged = elements || (row.change && !meant) || row.order;
        f.cause = elements ? row.name : damaged ? "changed" : meant ? "factors" : unrelated ? "unrelated" : "retrained";
        if (elements)
            f.title = row.node + " has damaged weights";
        f.summary = otherWeightText(row, elements, unrelated);
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
        if (row.order && row.order->kind == WeightOrder::Kind::Transposed)
            f.title = row.node + " holds the float model's weight transposed";
        if (const WeightRow* right = rightReader(pair, c, row))
            tellRightReader(row, *right, f);
        found.push_back(std::move(f));
    }
    blameFew(c, found);
}

namespace {

/// Largest relative distance of the bias' scales from input scale x weight scale; nothing where these are not known.
std::optional<double> biasScaleDistance(const ComparePair& pair, const WeightRow& row)
{
    const auto& quantizers = pair.quantView->quantizers();
    const auto& units = pair.quantView->units();
    const auto unit = std::ranges::find(units, row.quantNode, &QuantUnit::node);
    if (unit == units.end())
        return std::nullopt;
    const QuantParams *input = nullptr, *weight = nullptr;
    for (uint32_t q : unit->inputs) {
        const QuantRole role = quantizers[q].role;
        if (role == QuantRole::Activation && !input)
            input = &quantizers[q].params;
        if (role == QuantRole::Weight && q != row.quantizer && !weight)
            weight = &quantizers[q].params;
    }
    if (!input || !weight || input->scale.size() != 1 || weight->scale.empty() || row.params.scale.empty())
        return std::nullopt;
    double distance = 0;
    for (size_t i = 0; i < std::max(weight->scale.size(), row.params.scale.size()); ++i) {
        const double product = double(input->scale[0]) * double(weight->scale[std::min(i, weight->scale.size() - 1)]);
        const double stored = row.params.scale[std::min(i, row.params.scale.size() - 1)];
        distance = std::max(distance, std::fabs(stored / product - 1));
    }
    return distance;
}

/// Runtimes have kernels on codes for products alone: a normalization dequantizes its bias as the file says.
bool addsToSums(const ComparePair& pair, const WeightRow& row)
{
    const std::string& type = row.quantNode.valid() ? pair.quantPlan->graph().node(row.quantNode).opType : row.opType;
    return !type.ends_with("Normalization");
}

/// Its node reads its input otherwise than it was written, and with it the bias: that is told already.
bool isMisread(const ComparePair& pair, const WeightRow& row, const std::vector<Finding>& found)
{
    if (!row.quantNode.valid())
        return false;
    const std::string& reader = pair.quantPlan->graph().node(row.quantNode).name;
    return std::ranges::any_of(found, [&](const Finding& f) {
        return f.rule == Rule::WrongZeroPoint && std::ranges::any_of(f.evidence, [&](const EvidenceItem& item) {
            return item.key == "reader" && item.text == reader;
        });
    });
}

/// Signal power behind a node of the float model.
double powerBehind(const Comparison& c, NodeId node)
{
    for (const ActivationRow& row : c.activations)
        if (row.floatNode == node && row.signalPower)
            return *row.signalPower;
    return 0;
}

/// Little of the output's power, but most of what is off there, and not by rounding. The mean tells whether it is off
/// by this bias: one that was corrected takes a mean error away.
bool makesMostNoise(const Comparison& c, const WeightRow& row)
{
    const double sqnr = row.similarity.sqnrDb.value_or(HUGE_VAL), mean = row.similarity.meanError.value_or(0);
    if (sqnr >= kUnrelatedDb || row.idealSqnrDb.value_or(0) < sqnr + kBeyondRoundingDb)
        return false;
    const bool retrained = std::ranges::any_of(c.weights, [&](const WeightRow& w) {
        return !w.bias && w.quantNode == row.quantNode && w.offByMoreThanHalfStep.value_or(0) > kDifferingShare;
    });
    return !retrained && std::ranges::any_of(c.activations, [&](const ActivationRow& a) {
        const double noise = a.accumulated.rmse.value_or(0), own = row.similarity.rmse.value_or(0);
        return a.floatNode == row.floatNode && row.floatNode.valid() && own * own >= kMostBehind * noise * noise
            && std::fabs(a.accumulated.meanError.value_or(0) - mean) <= kMostBehind * std::fabs(mean);
    });
}

/// What is off is all of it.
bool isAllZeros(const WeightRow& row)
{
    constexpr double kNothing = 1e-6; // dB
    return std::fabs(row.similarity.sqnrDb.value_or(HUGE_VAL)) < kNothing && !row.similarity.cosine;
}

} // namespace

void findWrongBiases(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (isChangedByRecipe(pair))
        return;
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        if (!row.bias || row.params.scale.empty() || (c.network && c.network->rearranged))
            continue;
        double power = powerBehind(c, row.floatNode);
        if (power <= 0) // nothing is compared right behind it: its own size
            power = row.channelAbsMax.empty() ? 0 : std::pow(std::ranges::max(row.channelAbsMax), 2);
        const double share = power > 0 ? std::pow(row.similarity.rmse.value_or(0), 2) / power : 0;
        const auto distance = biasScaleDistance(pair, row);
        const bool meant = row.equalized; // it has the factors of its channels
        const bool cut = !meant && row.clippedFraction.value_or(0) > 0 && share > kHarmfulCut;
        const bool coarse = !meant && dtypeBits(row.params.dtype) < kSumBits && share > kHarmfulBits;
        const bool most = !meant && share <= kHarmfulBias && makesMostNoise(c, row);
        const bool wrong = cut || coarse || most || (!meant && share > kHarmfulBias);
        const bool mismatched = addsToSums(pair, row) && distance && *distance > kBiasRatio;
        if ((!wrong && !mismatched) || isMisread(pair, row, found))
            continue;
        Finding f = weightFinding(c, i, Rule::WrongBiasScale);
        if (wrong && share > kRuinousBias)
            f.severity = Severity::Error;
        f.rank = meant ? 0 : share;
        f.cause = cut ? "cut" : wrong ? "wrong" : "own_scale";
        const bool lost = wrong && isAllZeros(row);
        if (lost) {
            f.title = "The bias of " + row.node + " is lost";
            f.remedy = "Quantize the bias anew from the float model's, and find out what lost it.";
        } else if (cut)
            f.title = "The bias of " + row.node + " is clipped";
        else if (!wrong)
            f.title = "The bias of " + row.node + " has a scale of its own";
        f.summary = wrong
            ? fmt::format("{} it is off by {:.4g} (root of the mean square), {} of the power of the output{}.",
                lost ? "It holds nothing but zeros:" : "Dequantized,", row.similarity.rmse.value_or(0),
                percentText(share), most ? " and most of what is off there" : "")
            : fmt::format("Its scale differs from input scale x weight scale by {}; integer kernels take the product, "
                          "so they would compute another bias than the file says.",
                percentText(*distance));
        if (row.clippedFraction.value_or(0) > 0)
            f.summary += fmt::format(" {} of its codes are saturated.", percentText(*row.clippedFraction));
        if (wrong && dtypeBits(row.params.dtype) < kSumBits)
            f.summary += fmt::format(
                " It has {} bits, and the sums that it is added to have {}.", row.params.bits(), kSumBits);
        f.evidence
            = { evidence("noise_over_output", share), evidence("sqnr_db", row.similarity.sqnrDb.value_or(0), "dB"),
                  evidence("scale_distance", distance.value_or(0)),
                  evidence("clipped_fraction", row.clippedFraction.value_or(0)) };
        f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
        found.push_back(std::move(f));
    }
}

} // namespace qs
