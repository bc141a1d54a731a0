// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rules/findings.h"
#include "core/match/graph/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

/// Biases: of codes that several nodes read, each in a scale of its own, and such as are wrong by themselves.
namespace qs {

namespace {

constexpr double kAlike = 0.01; ///< of two scales
constexpr double kHarmful = 1e-4; ///< power of the shift over the power of the output: -40 dB
constexpr double kRuinous = 0.01; ///< an error from here on

/// Of the float model's output behind a unit of the quantized one.
const ActivationRow* rowBehind(const Comparison& c, const QuantUnit& unit)
{
    const auto row = std::ranges::find_if(c.activations, [&](const ActivationRow& r) {
        const bool made = r.quantizer && std::ranges::find(unit.outputs, *r.quantizer) != unit.outputs.end();
        return (made || r.quantNode == unit.node) && r.signalPower;
    });
    return row == c.activations.end() ? nullptr : &*row;
}

/// One of the nodes that read a bias of which only codes are stored.
struct BiasReader {
    NodeId node;
    std::string name; ///< of the float model's node
    double scale = 0; ///< of its products, the largest channel's
    double error = 0; ///< of the bias that it adds, mean square
    const ActivationRow* behind = nullptr;
};

/// All readers of such a bias, by what each of them adds.
std::vector<BiasReader> readersOfBias(
    const ComparePair& pair, const Comparison& c, const FoldedConstants& folded, const WeightRow& bias)
{
    const Graph& graph = pair.quantPlan->graph();
    const auto& weights = pair.alignment->weights;
    const auto wp = std::ranges::find_if(weights, [&](const WeightPair& w) {
        return w.quantizer == bias.quantizer && w.floatValue == bias.floatValue && w.quantNode == bias.quantNode;
    });
    const Tensor* codes = storedCodes(*pair.quantPlan, pair.quantView->quantizers()[bias.quantizer]);
    const Tensor* constant = wp == weights.end() ? nullptr : folded.of(*wp);
    if (!codes || !constant)
        return {};
    const Tensor floats = floatElements(*constant, *wp);
    const auto x = floats.data<float>();
    std::vector<BiasReader> readers;
    for (const QuantUnit& unit : pair.quantView->units()) {
        if (std::ranges::find(unit.inputs, bias.quantizer) == unit.inputs.end())
            continue;
        const QuantParams params = paramsRead(pair, bias.quantizer, unit.node);
        const std::vector<float> y = storedElements(*codes, params, *wp);
        BiasReader reader { unit.node, {}, std::ranges::max(params.scale), 0, rowBehind(c, unit) };
        if (y.size() != x.size())
            return {};
        for (size_t i = 0; i < y.size(); ++i)
            reader.error += std::pow(double(y[i]) - x[i], 2) / double(y.size());
        reader.name = reader.behind && !reader.behind->node.empty() ? reader.behind->node : graph.node(unit.node).name;
        readers.push_back(std::move(reader));
    }
    return readers;
}

std::optional<Finding> misreadBias(const WeightRow& bias, const BiasReader& reader, const BiasReader& owner)
{
    if (!reader.behind || *reader.behind->signalPower <= 0 || std::fabs(reader.scale / owner.scale - 1) <= kAlike)
        return std::nullopt;
    const double share = reader.error / *reader.behind->signalPower;
    if (share <= kHarmful)
        return std::nullopt;
    Finding f = makeFinding(Rule::WrongBiasScale, reader.name);
    f.severity = share > kRuinous ? Severity::Error : Severity::Warning;
    f.node = reader.name;
    f.tensor = bias.name;
    f.title = "The bias of " + reader.name + " is stored in another node's scale";
    f.summary = fmt::format("The codes of {} are stored once, in the scale of {} ({:.4g}). This node reads them, too, "
                            "with its own input scale x weight scale ({:.4g}), so it adds {:.3g} times the bias.",
        bias.quantizedName, owner.name, owner.scale, reader.scale, reader.scale / owner.scale);
    f.evidence = { evidence("noise_over_output", share), evidence("stored_scale", owner.scale),
        evidence("read_scale", reader.scale) };
    f.rank = share;
    f.cause = "shared";
    f.remedy = "Give each node a bias of its own in the float model before it is quantized, or quantize it in the QDQ "
               "format.";
    return f;
}

} // namespace

void findSharedBiases(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    std::set<uint32_t> seen;
    std::optional<FoldedConstants> folded; // the same for all, and none where no bias is shared
    for (const WeightRow& bias : c.weights) {
        const Quantizer& codes = pair.quantView->quantizers()[bias.quantizer];
        const auto reads = [&](const QuantUnit& unit) {
            return std::ranges::find(unit.inputs, bias.quantizer) != unit.inputs.end();
        };
        if (!bias.bias || !bias.floatValue.valid() || bias.params.scale.empty() || !codes.dequantize.empty()
            || !seen.insert(bias.quantizer).second // a DequantizeLinear says the scale to all
            || std::ranges::count_if(pair.quantView->units(), reads) < 2)
            continue;
        if (!folded)
            folded.emplace(pair, FoldedConstants::Factors::Fitted);
        const std::vector<BiasReader> readers = readersOfBias(pair, c, *folded, bias);
        // The codes say themselves whose scale they are in: that in which they are the float model's bias.
        const auto owner = std::ranges::min_element(readers, {}, &BiasReader::error);
        for (const BiasReader& reader : readers)
            if (auto f = owner->scale > 0 ? misreadBias(bias, reader, *owner) : std::nullopt)
                found.push_back(std::move(*f));
    }
}

namespace {

constexpr double kMostBehind = 0.5; ///< share of what is off behind the node

/// What the channels behind a bias that is another one were measured to be off by; null where they were not.
const BiasShift* shiftBehind(const Comparison& c, const WeightRow& row)
{
    if (!c.network)
        return nullptr;
    const auto& shifts = c.network->biasShifts;
    const auto found = std::ranges::find_if(
        shifts, [&](const BiasShift& s) { return s.quantizer == row.quantizer && s.floatValue == row.floatValue; });
    return found == shifts.end() ? nullptr : &*found;
}

} // namespace

bool correctsMeans(const Comparison& c, const WeightRow& row)
{
    const BiasShift* shift = shiftBehind(c, row);
    return shift && shift->apart <= shift->left;
}

namespace {

constexpr double kBiasRatio = 0.01; ///< relative: input scale x weight scale against the stored one
constexpr double kHarmfulBias = 0.01; ///< noise power over the output's
constexpr double kRuinousBias = 0.06;
constexpr size_t kSumBits = 32;
constexpr double kHarmfulCut = 1e-4; ///< the same of a bias whose codes saturate, which none has to
constexpr double kHarmfulBits = 1e-3; ///< of one that has fewer bits than sums have
constexpr double kBeyondRoundingDb = 20;

/// A bias' scales over input scale x weight scale.
struct BiasScale {
    uint32_t input = 0; ///< the quantizer of the node's input
    double lowest = 0, highest = 0; ///< of all channels
    size_t channels = 1; ///< with scales of their own
    double distance() const { return std::max(std::fabs(lowest - 1), std::fabs(highest - 1)); }
    bool isOneFactor() const { return highest <= lowest * (1 + kBiasRatio); }
};

/// Nothing where these are not known.
std::optional<BiasScale> biasScale(const ComparePair& pair, const WeightRow& row)
{
    const auto& quantizers = pair.quantView->quantizers();
    const auto& units = pair.quantView->units();
    const auto unit = std::ranges::find(units, row.quantNode, &QuantUnit::node);
    if (unit == units.end())
        return std::nullopt;
    std::optional<uint32_t> input, weight;
    for (uint32_t q : unit->inputs) {
        const QuantRole role = quantizers[q].role;
        if (role == QuantRole::Activation && !input)
            input = q;
        if (role == QuantRole::Weight && q != row.quantizer && !weight)
            weight = q;
    }
    if (!input || !weight || row.params.scale.empty())
        return std::nullopt;
    const auto &x = quantizers[*input].params.scale, &w = quantizers[*weight].params.scale;
    if (x.size() != 1 || w.empty())
        return std::nullopt;
    BiasScale found { *input, HUGE_VAL, 0, std::set(w.begin(), w.end()).size() };
    for (size_t i = 0; i < std::max(w.size(), row.params.scale.size()); ++i) {
        const double product = double(x[0]) * double(w[std::min(i, w.size() - 1)]);
        const double ratio = double(row.params.scale[std::min(i, row.params.scale.size() - 1)]) / product;
        found.lowest = std::min(found.lowest, ratio);
        found.highest = std::max(found.highest, ratio);
    }
    return found;
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

/// The weights beside it are others, too: it was trained with them.
bool isRetrained(const Comparison& c, const WeightRow& row)
{
    return std::ranges::any_of(c.weights, [&](const WeightRow& w) {
        return !w.bias && w.quantNode == row.quantNode && w.offByMoreThanHalfStep.value_or(0) > kDifferingShare;
    });
}

/// Little of the output's power, but most of what is off there, and not by rounding. The mean tells whether it is off
/// by this bias: one that was corrected takes a mean error away.
bool makesMostNoise(const Comparison& c, const WeightRow& row)
{
    const double sqnr = row.similarity.sqnrDb.value_or(HUGE_VAL), mean = row.similarity.meanError.value_or(0);
    if (sqnr >= kUnrelatedDb || row.idealSqnrDb.value_or(0) < sqnr + kBeyondRoundingDb)
        return false;
    return !isRetrained(c, row) && std::ranges::any_of(c.activations, [&](const ActivationRow& a) {
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

/// Zeros in place of what its scales hold well, however little that is of the output: no rounding makes these. Where
/// less than that is off behind the node, something else adds it.
bool isLost(const Comparison& c, const WeightRow& row)
{
    const double own = row.similarity.rmse.value_or(0);
    return isAllZeros(row) && row.idealSqnrDb.value_or(0) >= kBeyondRoundingDb && !isRetrained(c, row)
        && std::ranges::none_of(c.activations, [&](const ActivationRow& a) {
               return a.floatNode == row.floatNode && row.floatNode.valid()
                   && std::pow(a.accumulated.rmse.value_or(HUGE_VAL), 2) < kMostBehind * own * own;
           });
}

/// What is told of a bias by itself.
struct BiasFault {
    double share = 0; ///< noise power over the output's
    std::optional<BiasScale> scale;
    const BiasShift* shift = nullptr; ///< what it does to the means behind it, where that was measured
    bool meant = false; ///< it has the factors of its channels, or takes errors of the means away
    size_t cutBits = 0; ///< of the narrower type at whose end its codes were cut
    bool cut = false, most = false, wrong = false, mismatched = false;
    bool shifts = false; ///< it makes the errors of the means
    bool narrow = false; ///< no sums are added to it as it is stored, so its scale may be any
};

BiasFault faultOf(const ComparePair& pair, const Comparison& c, const WeightRow& row)
{
    double power = powerBehind(c, row.floatNode);
    if (power <= 0) // nothing is compared right behind it: its own size
        power = row.channelAbsMax.empty() ? 0 : std::pow(std::ranges::max(row.channelAbsMax), 2);
    BiasFault fault;
    fault.share = power > 0 ? std::pow(row.similarity.rmse.value_or(0), 2) / power : 0;
    fault.scale = biasScale(pair, row);
    fault.shift = shiftBehind(c, row);
    fault.meant = row.equalized || correctsMeans(c, row);
    fault.cutBits = bitsOfCutBias(row);
    fault.cut = !fault.meant && (row.clippedFraction.value_or(0) > 0 || fault.cutBits > 0) && fault.share > kHarmfulCut;
    fault.most = !fault.meant && fault.share <= kHarmfulBias && makesMostNoise(c, row);
    fault.shifts
        = !fault.meant && !isRetrained(c, row) && fault.shift && fault.shift->left <= kMostBehind * fault.shift->apart;
    const bool coarse = !fault.meant && dtypeBits(row.params.dtype) < kSumBits && fault.share > kHarmfulBits;
    fault.wrong = fault.cut || coarse || fault.most || fault.shifts
        || (!fault.meant && (fault.share > kHarmfulBias || isLost(c, row)));
    fault.mismatched = addsToSums(pair, row) && fault.scale && fault.scale->distance() > kBiasRatio;
    fault.narrow = dtypeBits(row.params.dtype) < kSumBits;
    return fault;
}

/// An activation that has another scale than all biases behind it were quantized for.
struct MovedScale {
    uint32_t quantizer = 0;
    double factor = 1; ///< of the scale then over that now
    size_t row = 0; ///< of the activation
    std::vector<size_t> biases; ///< rows
    size_t channels = 1; ///< of the one with most scales
};

/// The row of a quantizer, of another one of the same value, or of the one before it.
std::optional<size_t> rowOfQuantizer(const ComparePair& pair, const Comparison& c, uint32_t quantizer)
{
    constexpr size_t kMost = 8; // in a row
    const auto& all = pair.quantView->quantizers();
    for (size_t step = 0; step < kMost; ++step) {
        const ValueId real = all[quantizer].real;
        for (const bool own : { true, false })
            for (size_t i = 0; i < c.activations.size(); ++i) {
                const auto& q = c.activations[i].quantizer;
                if (own ? q == quantizer : q && real.valid() && all[*q].real == real)
                    return i;
            }
        const auto before = real.valid() ? pair.quantView->ofQuantized(real) : std::nullopt;
        if (!before || *before == quantizer)
            return std::nullopt;
        quantizer = *before;
    }
    return std::nullopt;
}

/// By how many doublings a scale is away from the one that the float data ask for.
double doublingsOff(const QuantParams& params, double scale, const std::pair<double, double>& data)
{
    const int64_t middle = middleCode(params);
    const bool symmetric = params.zero(0) == middle || params.zero(0) == middle - 1;
    const double width = symmetric ? 2 * std::max(std::fabs(data.first), std::fabs(data.second)) : widthWithZero(data);
    const double codes = double(params.codes().high) - double(params.codes().low);
    return width > 0 ? std::fabs(std::log2(scale * codes / width)) : HUGE_VAL;
}

/// The biases are the float model's, in what their scales say, and all of one factor, as they are behind a scale that
/// was changed later; and the float data say so, too. One scale alone may be any, so these have to say it clearly.
bool isMoved(const ComparePair& pair, const Comparison& c, const MovedScale& moved)
{
    constexpr double kNear = 0.6; // doublings: half as wide again
    const QuantParams& params = pair.quantView->quantizers()[moved.quantizer].params;
    const ActivationRow& row = c.activations[moved.row];
    if (!isInteger(params.dtype) || !params.perTensor() || !row.floatRange
        || row.floatRange->first > row.floatRange->second)
        return false;
    const double now = doublingsOff(params, params.scale[0], *row.floatRange);
    const double then = doublingsOff(params, moved.factor * params.scale[0], *row.floatRange);
    return then < now && (then < kNear || moved.channels > 1);
}

/// Those by the biases of all their readers.
std::vector<MovedScale> movedScales(
    const ComparePair& pair, const Comparison& c, const std::map<size_t, BiasFault>& all)
{
    std::map<uint32_t, MovedScale> found;
    std::set<uint32_t> others; // some bias says otherwise
    for (const auto& [i, fault] : all) {
        if (!fault.scale || fault.narrow) // which is quantized by its own range: that of the activation says nothing
            continue;
        const WeightRow& bias = c.weights[i];
        MovedScale& moved = found[fault.scale->input];
        if (moved.biases.empty())
            moved = { fault.scale->input, fault.scale->lowest, 0, {}, 1 };
        moved.biases.push_back(i);
        moved.channels = std::max(moved.channels, fault.scale->channels);
        const bool right = fault.mismatched && !fault.wrong && !fault.meant && !isOtherWeight(bias);
        const bool alike = std::fabs(fault.scale->lowest / moved.factor - 1) <= kBiasRatio;
        const bool otherWeight = std::ranges::any_of(c.weights,
            [&](const WeightRow& w) { return !w.bias && w.quantNode == bias.quantNode && isOtherWeight(w); });
        if (!right || !alike || !fault.scale->isOneFactor() || otherWeight)
            others.insert(fault.scale->input);
    }
    std::vector<MovedScale> list;
    for (auto& [quantizer, moved] : found)
        if (const auto row = rowOfQuantizer(pair, c, quantizer); row && !others.contains(quantizer)) {
            moved.row = *row;
            if (isMoved(pair, c, moved))
                list.push_back(std::move(moved));
        }
    return list;
}

/// What the tensor's range was, where its zero point is still that of then: it holds the data; else what they need.
std::pair<double, double> rangeBefore(const QuantParams& params, double factor, const std::pair<double, double>& data)
{
    constexpr double kMissed = 0.25; // of the data's width, which a calibrator may cut off
    const std::pair<double, double> then { factor * params.low(), factor * params.high() };
    const double room = kMissed * widthWithZero(data);
    if (then.first <= data.first + room && then.second >= data.second - room
        && then.first >= std::min(data.first, 0.0) - widthWithZero(data))
        return then;
    return { std::min(data.first, 0.0), std::max(data.second, 0.0) };
}

std::string movedText(const Comparison& c, const MovedScale& moved, double scale)
{
    const size_t more = moved.biases.size() - 1;
    return fmt::format(
        "The biases behind it ({}{}) are stored in {:.3g} times input scale x weight scale, in all "
        "channels: the scale here was {:.4g} when they were quantized and is {:.4g} now. Integer kernels "
        "take the product, so they would add {:.3g} times these biases.",
        c.weights[moved.biases[0]].node, more > 0 ? fmt::format(" and {} more", more) : std::string(), moved.factor,
        moved.factor * scale, scale, 1 / moved.factor);
}

/// At the activation: in what is told of its range, where something is.
void tellMoved(const ComparePair& pair, const Comparison& c, const MovedScale& moved, std::vector<Finding>& found)
{
    const QuantParams& params = pair.quantView->quantizers()[moved.quantizer].params;
    const ActivationRow& row = c.activations[moved.row];
    auto at = std::ranges::find_if(found, [&](const Finding& f) {
        return f.activation == moved.row
            && (f.rule == Rule::InputMismatch || f.rule == Rule::RangeTooSmall || f.rule == Rule::RangeTooLarge);
    });
    if (at == found.end()) {
        Finding f = activationFinding(c, moved.row, moved.factor > 1 ? Rule::RangeTooSmall : Rule::RangeTooLarge);
        f.summary = fmt::format("The range is {:.4g} … {:.4g}, the float data reach {:.4g} … {:.4g}.", params.low(),
            params.high(), row.floatRange->first, row.floatRange->second);
        at = found.insert(found.end(), std::move(f));
    }
    Finding& f = *at;
    f.severity = std::min(f.severity, Severity::Warning);
    f.summary += " " + movedText(c, moved, params.scale[0]);
    f.evidence.push_back(evidence("bias_scale_factor", moved.factor));
    if (f.rule == Rule::InputMismatch)
        return;
    const auto [low, high] = rangeBefore(params, moved.factor, *row.floatRange);
    f.cause = kMovedScale;
    f.title = fmt::format("The scale at {} was changed after the biases were quantized", placeName(row));
    f.remedy = fmt::format("Give this tensor the range {:.4g} … {:.4g} and quantize the model anew.", low, high);
    f.change = { RemedyKind::SetRange, row.node, row.name, low, high, 0 };
    const double step = moved.factor * params.scale[0];
    if (row.quantizer == moved.quantizer && row.signalPower.value_or(0) > 0 && row.localSqnrDb)
        f.expectedGainDb = std::max(
            gainAtTensor(row, 10 * std::log10(*row.signalPower / (step * step / 12)) - *row.localSqnrDb), 0.0);
}

/// Its codes are in the scale of another node, which is told.
bool isToldAsShared(const std::vector<Finding>& found, const WeightRow& row)
{
    return std::ranges::any_of(found, [&](const Finding& f) {
        return f.rule == Rule::WrongBiasScale && f.cause == "shared" && f.tensor == row.name && f.node == row.node;
    });
}

/// Of one that is right as the file says it.
std::string narrowText(const WeightRow& row)
{
    return fmt::format("It is {} with a scale of its own{}. Kernels on codes add int32 in input scale x weight scale: "
                       "ONNX Runtime adds this one in float, as the file says.",
        dtypeName(row.params.dtype),
        row.similarity.sqnrDb ? fmt::format(", which keeps {:.1f} dB", *row.similarity.sqnrDb) : std::string());
}

/// What was cut of a bias that is stored in more bits than it was given, and what it needs: a sentence.
std::string cutText(const WeightRow& row, size_t bits)
{
    double needed = 0;
    for (size_t i = 0; i < row.channelAbsMax.size(); ++i)
        if (const double scale = std::fabs(row.params.scale[std::min(i, row.params.scale.size() - 1)]); scale > 0)
            needed = std::max(needed, row.channelAbsMax[i] / scale);
    return fmt::format(" Its codes end at {:.0f}, where those of {} bits do, though {} bits are stored; the float "
                       "model's bias needs codes up to {:.0f}.",
        std::fabs(row.change->value), bits, row.params.bits(), needed);
}

/// What the means of the channels tell of it: a sentence.
std::string shiftText(const BiasFault& fault)
{
    return fault.shifts
        ? fmt::format(" Behind it the means of the channels are off by {:.4g}, with the float model's by {:.4g}.",
            std::sqrt(fault.shift->apart), std::sqrt(fault.shift->left))
        : std::string();
}

void addMeans(const BiasFault& fault, Finding& f)
{
    if (!fault.shifts)
        return;
    f.evidence.push_back(evidence("channel_means_off", std::sqrt(fault.shift->apart)));
    f.evidence.push_back(evidence("left_with_float_bias", std::sqrt(fault.shift->left)));
}

Finding biasFinding(const Comparison& c, size_t index, const BiasFault& fault)
{
    const WeightRow& row = c.weights[index];
    const double distance = fault.scale ? fault.scale->distance() : 0;
    Finding f = weightFinding(c, index, Rule::WrongBiasScale);
    if (fault.wrong && fault.share > kRuinousBias)
        f.severity = Severity::Error;
    f.rank = fault.meant ? 0 : fault.share;
    const bool narrow = !fault.wrong && fault.narrow;
    const bool lost = fault.wrong && isAllZeros(row);
    // Its scale is right, nothing is cut, and it is off by more than rounding makes: its codes are of another bias.
    const bool other = fault.wrong && !fault.cut && !lost && fault.scale && !fault.mismatched
        && fault.scale->distance() <= kBiasRatio && dtypeBits(row.params.dtype) >= kSumBits
        && row.clippedFraction.value_or(0) == 0 && row.similarity.rmse.value_or(0) > std::ranges::max(row.params.scale);
    f.cause = fault.cut ? "cut" : other ? "other" : fault.wrong ? "wrong" : narrow ? "narrow" : "own_scale";
    if (narrow)
        f.severity = Severity::Note;
    if (lost) {
        f.title = "The bias of " + row.node + " is lost";
        f.remedy = "Quantize the bias anew from the float model's, and find out what lost it.";
    } else if (other) {
        f.title = "The bias of " + row.node + " has other values";
        f.remedy = "Quantize the float model anew, or find out who changed the bias: scale and type are right.";
    } else if (fault.cut)
        f.title = "The bias of " + row.node + " is clipped";
    else if (narrow)
        f.title = fmt::format("The bias of {} is stored in {} bits", row.node, dtypeBits(row.params.dtype));
    else if (!fault.wrong)
        f.title = "The bias of " + row.node + " has a scale of its own";
    f.summary = narrow ? narrowText(row)
        : fault.wrong
        ? fmt::format("{} it is off by {:.4g} (root of the mean square), {} of the power of the output{}.",
            lost ? "It holds nothing but zeros:" : "Dequantized,", row.similarity.rmse.value_or(0),
            percentText(fault.share), fault.most ? " and most of what is off there" : "")
        : fmt::format("Its scale differs from input scale x weight scale by {}; integer kernels take the product, "
                      "so they would compute another bias than the file says.",
            percentText(distance));
    if (row.clippedFraction.value_or(0) > 0 && !narrow)
        f.summary += fmt::format(" {} of its codes are saturated.", percentText(*row.clippedFraction));
    if (other)
        f.summary += " Its scale is input scale x weight scale: its codes are those of another bias.";
    f.summary += shiftText(fault);
    if (fault.cut && fault.cutBits > 0)
        f.summary += cutText(row, fault.cutBits);
    if (fault.wrong && dtypeBits(row.params.dtype) < kSumBits)
        f.summary
            += fmt::format(" It has {} bits, and the sums that it is added to have {}.", row.params.bits(), kSumBits);
    f.evidence
        = { evidence("noise_over_output", fault.share), evidence("sqnr_db", row.similarity.sqnrDb.value_or(0), "dB"),
              evidence("scale_distance", distance), evidence("clipped_fraction", row.clippedFraction.value_or(0)) };
    addMeans(fault, f);
    if (fault.cut && fault.cutBits > 0)
        f.evidence.push_back(evidence("cut_at_code", row.change->value));
    f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
    return f;
}

} // namespace

void findWrongBiases(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (isChangedByRecipe(pair) || (c.network && c.network->rearranged))
        return;
    findBiasesWithoutFactors(pair, c, found);
    std::map<size_t, BiasFault> faults; // by row
    for (size_t i = 0; i < c.weights.size(); ++i)
        if (const WeightRow& row = c.weights[i]; row.bias && !row.params.scale.empty())
            faults.emplace(i, faultOf(pair, c, row));
    const std::vector<MovedScale> moved = movedScales(pair, c, faults);
    for (const auto& [i, fault] : faults) {
        const WeightRow& row = c.weights[i];
        const bool told = fault.scale && !fault.wrong
            && std::ranges::find(moved, fault.scale->input, &MovedScale::quantizer) != moved.end();
        if ((fault.wrong || fault.mismatched) && !told && !isMisread(pair, row, found) && !isToldAsShared(found, row))
            found.push_back(biasFinding(c, i, fault));
    }
    for (const MovedScale& one : moved)
        if (!isMisread(pair, c.weights[one.biases[0]], found))
            tellMoved(pair, c, one, found);
}

} // namespace qs
