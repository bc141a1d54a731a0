// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/output_row.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>

/// Weights whose own rounding makes most of the error at their node.
namespace qs {

namespace {

constexpr double kPoorOutputDb = 20; ///< SQNR of the worst output from which on an error made somewhere matters
constexpr double kRuinedOutputDb = 10;
constexpr double kAccuracyLoss = 0.01;
constexpr double kFinerScalesDb = 3; ///< what another granularity of the same type gains: half the noise power
constexpr double kShareOfWorst = 0.1; ///< of the noise of the coarsest weight
constexpr double kFittingDb = 9; ///< the quantizer's own scale would give: one and a half bits more
constexpr double kFittingFewBitsDb = 5; ///< the same of less than 8 bits: scales that are searched for give no less
constexpr double kClippedDb = 3; ///< clipping makes as much noise as rounding, and a scale that fits would not
constexpr double kClippedInBlocksDb = 5; ///< in blocks, where scales that are searched for clip on purpose
constexpr double kVisibleDb = 35; ///< above it no scale is looked into, nor the output of few bits
constexpr double kTellingDb = 0.5; ///< less is not told
constexpr double kTogetherDb = 3; ///< at the worst output, by all scales that do not fit
constexpr double kGoodOutputDb = 40; ///< where they are worth a note
constexpr size_t kEightBits = 8;
constexpr size_t kCostliest = 5; ///< weights that are named where none stands out

double relativeNoise(const Number& db) { return db ? std::pow(10.0, -*db / 10) : 0; }

Number poorestOutputDb(const Comparison& c)
{
    const OutputRow* worst = worstOutput(c.outputs);
    return worst ? worst->similarity.sqnrDb : Number();
}

bool losesAccuracy(const Comparison& c)
{
    return c.accuracy && c.accuracy->floatAccuracy - c.accuracy->quantizedAccuracy > kAccuracyLoss;
}

/// What the weights of a comparison are like as a whole.
struct Surroundings {
    Number outputDb;
    bool accuracyLost = false;
    size_t usualBits = 0; ///< of most weights
    double worstNoise = 0; ///< relative, of the coarsest weight

    explicit Surroundings(const Comparison& c)
        : outputDb(poorestOutputDb(c))
        , accuracyLost(losesAccuracy(c))
    {
        std::map<size_t, size_t> counts;
        for (const WeightRow& row : c.weights) {
            if (row.bias)
                continue;
            ++counts[row.params.bits()];
            worstNoise = std::max(worstNoise, relativeNoise(row.similarity.sqnrDb));
        }
        size_t most = 0;
        for (const auto& [bits, count] : counts)
            if (count >= most) {
                most = count;
                usualBits = bits;
            }
    }
    bool outputMatters(bool roughest) const
    {
        return accuracyLost || (outputDb && *outputDb < (roughest ? kVisibleDb : kPoorOutputDb));
    }
    bool outputRuined() const { return accuracyLost || (outputDb && *outputDb < kRuinedOutputDb); }
};

/// Relative noise that the weight makes at its node; nothing where others make more, or where less of it arrives.
std::optional<double> dominatingNoise(const ComparePair& pair, const Comparison& c, const WeightRow& row)
{
    double noise = relativeNoise(row.similarity.sqnrDb), others = 0;
    const auto& inputs = pair.floatPlan->graph().node(row.floatNode).inputs;
    for (const ActivationRow& a : c.activations) {
        const bool made = a.floatNode.valid() && a.floatNode == row.floatNode;
        const bool read = std::ranges::find(inputs, a.floatValue) != inputs.end();
        if (made || read)
            others += ownNoiseShare(a);
        if (made && a.accumulated.sqnrDb)
            noise = std::min(noise, relativeNoise(a.accumulated.sqnrDb));
        if (made && a.nodeSqnrDb)
            noise = std::min(noise, relativeNoise(a.nodeSqnrDb));
    }
    for (const WeightRow& other : c.weights) // of a node with several, as experts are
        if (!other.bias && other.floatNode == row.floatNode && isOtherWeight(other))
            others += relativeNoise(other.similarity.sqnrDb);
    return noise > others ? std::optional(noise) : std::nullopt;
}

/// The quantizer's own choice at the granularity that the weight has.
Number fittingDb(const WeightRow& row)
{
    if (row.anew)
        return row.anew->sqnrDb;
    if (row.params.blockSize > 0 || row.part)
        return std::nullopt;
    return row.params.perTensor() ? row.perTensorSqnrDb : row.perChannelSqnrDb;
}

/// No weight that products are made with.
bool isOperand(const WeightRow& row)
{
    constexpr std::array<std::string_view, 8> kTypes { "Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Concat" };
    return std::ranges::find(kTypes, row.opType) != kTypes.end();
}

bool hasForeignScale(const WeightRow& row)
{
    const Number fitting = fittingDb(row);
    const double least = row.params.bits() < kEightBits && !isOperand(row) ? kFittingFewBitsDb : kFittingDb;
    return fitting && *fitting - *row.similarity.sqnrDb > least && *row.similarity.sqnrDb < kVisibleDb;
}

/// Its scale is too small for it: what it cuts off costs more than it gains by finer steps.
bool isClipped(const WeightRow& row)
{
    const Number fitting = fittingDb(row);
    const double least = row.params.blockSize > 0 ? kClippedInBlocksDb : kClippedDb;
    return row.clippedFraction.value_or(0) > 0 && fitting && row.idealSqnrDb
        && *row.idealSqnrDb - *row.similarity.sqnrDb >= kClippedDb && *fitting - *row.similarity.sqnrDb >= least;
}

std::string typeText(const QuantParams& params)
{
    const std::string type(dtypeName(params.dtype));
    return params.kept ? fmt::format("{} bits of {}", params.bits(), type) : type;
}

std::string granularityText(const QuantParams& params)
{
    if (params.blockSize > 0)
        return fmt::format("in blocks of {}", params.blockSize);
    return params.perTensor() ? "per tensor" : "per channel";
}

/// "per channel 19.3 dB", for what is known and better than what there is.
void addChoice(const WeightRow& row, std::string_view key, std::string_view name, const Number& db, Finding& f,
    std::vector<std::string>& told)
{
    if (!db || *db < *row.similarity.sqnrDb + kTellingDb)
        return;
    f.evidence.push_back(evidence(std::string(key), *db, "dB"));
    told.push_back(fmt::format("{} {:.1f} dB", name, *db));
}

void tellChoices(const WeightRow& row, std::string_view consequence, Finding& f)
{
    std::vector<std::string> told;
    const bool blocks = row.params.blockSize > 0;
    if (row.params.perTensor())
        addChoice(row, "per_channel_sqnr_db", "a scale per channel", row.perChannelSqnrDb, f, told);
    if (const auto& finer = row.finer) {
        if (!blocks)
            addChoice(row, "blocks_of_128_sqnr_db", "blocks of 128", finer->blocks128, f, told);
        if (!blocks || row.params.blockSize > 32)
            addChoice(row, "blocks_of_32_sqnr_db", "blocks of 32", finer->blocks32, f, told);
        addChoice(row, "one_more_bit_sqnr_db", "one more bit", finer->oneMoreBit, f, told);
        if (row.params.bits() < kEightBits) {
            addChoice(row, "eight_bits_sqnr_db", "8 bits", finer->eightBits, f, told);
            addChoice(row, "eight_bits_per_channel_sqnr_db", "8 bits per channel", finer->eightBitsPerChannel, f, told);
        }
    }
    f.summary = fmt::format("Rounded to {} {}, they keep {:.1f} dB, and {}.", typeText(row.params),
        granularityText(row.params), *row.similarity.sqnrDb, consequence);
    for (size_t i = 0; i < told.size(); ++i)
        f.summary += (i == 0 ? " With " : ", ") + told[i] + (i + 1 == told.size() ? "." : "");
}

void chooseRemedy(const WeightRow& row, Finding& f)
{
    const double now = *row.similarity.sqnrDb;
    const double channels = row.params.perTensor() && row.perChannelSqnrDb ? *row.perChannelSqnrDb : now;
    const bool fewBits = row.params.bits() < kEightBits && !isTableOfBlocks(row);
    if (!fewBits && channels - now >= kFinerScalesDb) {
        f.remedy = "Quantize this weight per channel.";
        f.change = { RemedyKind::PerChannel, row.node, row.name, 0, 0, row.channelAxis };
        f.expectedGainDb = channels - now;
    } else if (fewBits && row.finer && row.finer->eightBitsPerChannel) {
        f.remedy = "Quantize this weight to 8 bits.";
        f.change = { RemedyKind::EightBitWeight, row.node, row.name, 0, 0, row.channelAxis };
        const Number& db = row.params.blockSize > 0 ? row.finer->eightBits : row.finer->eightBitsPerChannel;
        f.expectedGainDb = db ? Number(*db - now) : Number();
    } else {
        f.remedy = "Leave this node in float.";
        f.change = { RemedyKind::ExcludeNode, row.node, row.name, 0, 0, 0 };
    }
}

/// Few bits and one scale: never the best of its kind.
bool isRoughest(const WeightRow& row)
{
    return row.params.perTensor() && row.params.blockSize == 0 && row.params.bits() < kEightBits;
}

Severity severityOf(const WeightRow& row, const Surroundings& around)
{
    const bool finerHelps
        = row.params.perTensor() && row.perChannelSqnrDb.value_or(-HUGE_VAL) - *row.similarity.sqnrDb >= kFinerScalesDb;
    const bool fewerThanUsual = row.params.bits() < around.usualBits;
    return isRoughest(row) || finerHelps || fewerThanUsual || around.outputRuined() ? Severity::Warning
                                                                                    : Severity::Note;
}

/// Codes of 8 bits that reach just as far as those of fewer bits, which may have been meant: how many bits; 0: they do
/// not. A scale that is too large by some power of two gives one code more.
size_t fewerBits(const WeightRow& row)
{
    if (row.params.bits() != kEightBits || !row.anew || !row.anew->used)
        return 0;
    const auto zero = int64_t(row.params.zero(0));
    const int64_t low = row.anew->used->low - zero, high = row.anew->used->high - zero;
    for (size_t bits = 2; bits < kEightBits; ++bits)
        if (const int64_t end = int64_t(1) << (bits - 1); high == end - 1 && (low == -end || low == 1 - end))
            return bits;
    return 0;
}

/// "The scale of the weights of n is too small"
std::string scaleTitle(const WeightRow& row, std::string_view what)
{
    if (isOperand(row))
        return fmt::format("The scale of the constant {}, which {} reads, is too {}", row.name, row.node, what);
    return row.params.perTensor() ? fmt::format("The scale of the weights of {} is too {}", row.node, what)
                                  : fmt::format("The scales of the weights of {} are too {}", row.node, what);
}

std::string anewText(const WeightRow& row)
{
    return fmt::format("Quantize this {} anew in the same type, by {}.", isOperand(row) ? "constant" : "weight",
        row.params.perTensor() ? "its own range" : "the ranges of its own elements");
}

/// "All scales are 4 times as large as these (median): the codes reach 6 … 10 of 0 … 15."
std::string factorText(const WeightRow& row, bool cut)
{
    const double share = !row.anew ? 0 : cut ? row.anew->narrowShare : row.anew->wideShare;
    if (share <= 0)
        return {};
    const double factor = cut ? row.anew->narrowFactor : row.anew->wideFactor;
    std::string text = row.params.perTensor() ? fmt::format(" It is {:.2g} times as large as that", factor)
                                              : fmt::format(" {} scales are {:.2g} times as large as these (median)",
                                                  share < 1 ? percentText(share) + " of the" : "All", factor);
    const CodeRange codes = row.params.codes();
    const auto& used = row.anew->used;
    if (!cut && used && 2 * (used->high - used->low + 1) <= codes.high - codes.low + 1)
        text += fmt::format(": the codes reach {} … {} of {} … {}", used->low, used->high, codes.low, codes.high);
    return text + ".";
}

/// Its scales are not those that its own elements ask for.
Finding wrongScales(const Comparison& c, size_t i, bool cut)
{
    const WeightRow& row = c.weights[i];
    const bool one = row.params.perTensor();
    Finding f = weightFinding(c, i, Rule::WeightsTooCoarse);
    f.cause = cut ? "clipped" : "scale";
    f.title = scaleTitle(row, cut ? "small" : "large");
    if (cut)
        f.summary = fmt::format("{} of the elements are clipped at the ends of the codes: they keep {:.1f} dB, where "
                                "the step alone would leave {:.1f} dB. ",
            percentText(*row.clippedFraction), *row.similarity.sqnrDb, *row.idealSqnrDb);
    else
        f.summary = fmt::format("{} {:.1f} dB. ", isOperand(row) ? "It keeps" : "They keep", *row.similarity.sqnrDb);
    f.summary += fmt::format("In the same type ({} {}), {} would keep {:.1f} dB.{}", typeText(row.params),
        granularityText(row.params), one ? "the scale that its own range asks for" : "scales of their own ranges",
        *fittingDb(row), factorText(row, cut));
    f.evidence = { evidence("sqnr_db", *row.similarity.sqnrDb, "dB"), evidence("ideal_sqnr_db", *row.idealSqnrDb, "dB"),
        evidence("fitting_sqnr_db", *fittingDb(row), "dB"),
        evidence("clipped_fraction", row.clippedFraction.value_or(0)) };
    if (const auto& anew = row.anew; anew && (cut ? anew->narrowShare : anew->wideShare) > 0) {
        f.evidence.push_back(evidence("weight_scale_factor", cut ? anew->narrowFactor : anew->wideFactor));
        f.evidence.push_back(evidence("scales_off", cut ? anew->narrowShare : anew->wideShare));
    }
    if (const size_t bits = cut ? 0 : fewerBits(row)) {
        f.summary += fmt::format(" These are all codes of {} bits: nothing is wrong where so few were meant.", bits);
        f.evidence.push_back(evidence("bits", double(bits)));
    }
    f.remedy = anewText(row);
    f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
    f.expectedGainDb = *fittingDb(row) - *row.similarity.sqnrDb;
    return f;
}

/// By what scales that fit would gain at the worst output, each and together: what single ones gain hides behind the
/// others. `weights`: those that make most of the error at their nodes.
void judgeScales(
    const ComparePair& pair, const Comparison& c, const std::vector<size_t>& weights, std::vector<Finding>& found)
{
    std::vector<size_t> told;
    for (size_t i = 0; i < found.size(); ++i)
        if (found[i].rule == Rule::WeightsTooCoarse && found[i].weight
            && std::ranges::find(weights, *found[i].weight) != weights.end())
            told.push_back(i);
    if (told.empty())
        return;
    const Number db = poorestOutputDb(c);
    const std::vector<double> shares = noiseShares(pair, c);
    std::vector<Number> gains;
    double all = 0;
    for (const size_t at : told) {
        gains.push_back(gainAtOutput(c, shares, c.weights[*found[at].weight], *found[at].expectedGainDb));
        all += gains.back() ? 1 - std::pow(10.0, -*gains.back() / 10) : 0;
    }
    const bool together = 1 - std::min(all, 1.0) <= std::pow(10.0, -kTogetherDb / 10);
    for (size_t k = 0; k < told.size(); ++k) {
        const bool felt = together || gains[k].value_or(HUGE_VAL) >= kTellingDb;
        found[told[k]].severity = db && *db >= kGoodOutputDb ? Severity::Note
            : db && *db < kRuinedOutputDb && together        ? Severity::Error
            : felt                                           ? Severity::Warning
                                                             : Severity::Note;
    }
}

/// A scale a channel mends it: that is said of the imbalance of its channels.
bool isImbalance(const WeightRow& row, const std::vector<Finding>& found)
{
    return row.params.bits() >= kEightBits && row.perChannelSqnrDb && *row.perChannelSqnrDb >= kCoarseWeightDb
        && std::ranges::any_of(
            found, [&](const Finding& f) { return f.rule == Rule::ChannelImbalance && f.tensor == row.name; });
}

/// What the weight's error is of the signal at its node's output: of several weights, in proportion to their errors.
double costOf(const Comparison& c, const WeightRow& row)
{
    double all = 0;
    for (const WeightRow& other : c.weights)
        if (!other.bias && other.floatNode == row.floatNode)
            all += relativeNoise(other.similarity.sqnrDb);
    const double share = all > 0 ? relativeNoise(row.similarity.sqnrDb) / all : 1;
    for (const ActivationRow& a : c.activations)
        if (row.floatNode.valid() && a.floatNode == row.floatNode && a.noise.weights && a.signalPower.value_or(0) > 0)
            return share * *a.noise.weights / *a.signalPower;
    return relativeNoise(row.similarity.sqnrDb);
}

/// What all quantizers of activations make of the signals at their places.
double costOfActivations(const Comparison& c)
{
    double sum = 0;
    for (size_t i = 0; i < c.activations.size(); ++i)
        if (firstOfQuantizer(c, i))
            sum += ownNoiseShare(c.activations[i]);
    return sum;
}

Finding costlyWeight(const Comparison& c, size_t i, double cost, const std::string& beside)
{
    const WeightRow& row = c.weights[i];
    Finding f = weightFinding(c, i, Rule::WeightsTooCoarse);
    f.severity = Severity::Note;
    f.cause = "costly";
    f.title = "The weights of " + row.node + " cost most";
    f.rank = cost;
    f.evidence = { evidence("bits", double(row.params.bits())), evidence("sqnr_db", *row.similarity.sqnrDb, "dB"),
        evidence("noise_over_signal", cost) };
    tellChoices(row, fmt::format("add noise of {} of the signal at this node; {}", percentText(cost), beside), f);
    chooseRemedy(row, f);
    return f;
}

/// Where weights of few bits make more noise than all else that is quantized and none stands out, those that cost most.
void findCostlyWeights(const Comparison& c, const Surroundings& around, std::vector<Finding>& found)
{
    if (!around.outputMatters(true)
        || std::ranges::any_of(found, [](const Finding& f) { return f.rule == Rule::WeightsTooCoarse; }))
        return;
    std::vector<std::pair<double, size_t>> costs;
    double sum = 0;
    for (size_t i = 0; i < c.weights.size(); ++i)
        if (const WeightRow& row = c.weights[i]; !row.bias && row.similarity.sqnrDb && row.shape.size() >= 2
            && row.params.bits() < kEightBits && !isOtherWeight(row) && !isTold(found, Rule::BrokenScale, {}, i))
            sum += costs.emplace_back(costOf(c, row), i).first;
    const bool alone = onlyWeightsQuantized(c);
    const double others = alone ? 0 : costOfActivations(c);
    if (sum <= others)
        return;
    std::ranges::stable_sort(costs, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [cost, i] : std::span(costs).first(std::min(costs.size(), kCostliest)))
        found.push_back(costlyWeight(c, i, cost,
            alone ? std::string("nothing but weights is quantized here")
                  : fmt::format("all quantizers of activations together add {}", percentText(others))));
}

} // namespace

void findCoarseWeights(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Surroundings around(c);
    std::vector<size_t> wrong;
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        if (row.bias || !row.similarity.sqnrDb || row.shape.size() < 2 || isOtherWeight(row)
            || isTold(found, Rule::BrokenScale, {}, i))
            continue;
        const bool foreign = hasForeignScale(row);
        const double limit = isRoughest(row) ? kFinerWeightsDb : kCoarseWeightDb;
        const bool coarse = *row.similarity.sqnrDb < limit && around.outputMatters(isRoughest(row));
        const bool clipped = isClipped(row);
        const auto noise = foreign || coarse || clipped ? dominatingNoise(pair, c, row) : std::nullopt;
        if (clipped && !foreign && !(coarse && noise)) {
            found.push_back(wrongScales(c, i, true));
            found.back().severity = Severity::Note;
            if (noise && *row.similarity.sqnrDb < kVisibleDb)
                wrong.push_back(i);
            continue;
        }
        if (!noise || (!isRoughest(row) && *noise < kShareOfWorst * around.worstNoise))
            continue;
        if (foreign) {
            found.push_back(wrongScales(c, i, clipped));
            found.back().severity = Severity::Note;
            if (clipped || fewerBits(row) == 0)
                wrong.push_back(i);
            continue;
        }
        if (10 * std::log10(1 / *noise) >= limit || isImbalance(row, found))
            continue;
        Finding f = weightFinding(c, i, Rule::WeightsTooCoarse);
        f.severity = severityOf(row, around);
        f.rank = *noise;
        f.evidence = { evidence("bits", double(row.params.bits())), evidence("sqnr_db", *row.similarity.sqnrDb, "dB"),
            evidence("ideal_sqnr_db", row.idealSqnrDb.value_or(0), "dB") };
        tellChoices(row, "that makes most of the error at this node", f);
        chooseRemedy(row, f);
        std::erase_if(found,
            [&](const Finding& other) { return other.rule == Rule::ChannelImbalance && other.tensor == row.name; });
        found.push_back(std::move(f));
    }
    judgeScales(pair, c, wrong, found);
    findCostlyWeights(c, around, found);
}

namespace {

constexpr double kLeastNormal = 0x1p-14; ///< of float16: smaller numbers have fewer bits
constexpr double kBelowAtLeast = 0.5; ///< of the elements that are not zero
constexpr double kCoarseRounding = 0.01; ///< twenty times what rounding normal numbers makes
constexpr double kOwnPart = 0.5; ///< of the noise behind the weight, in amplitude

/// Of the elements that are not zero.
double shareBelowNormal(const Plan& plan, const std::string& name)
{
    const ValueId id = plan.graph().findValue(name);
    const Tensor* const weight = id.valid() ? plan.constant(id) : nullptr;
    size_t below = 0, all = 0;
    for (const float v : weight ? toFloats(*weight) : std::vector<float>()) {
        all += v != 0;
        below += v != 0 && std::fabs(v) < kLeastNormal;
    }
    return all > 0 ? double(below) / double(all) : 0;
}

/// Noise over signal in amplitude; nothing where the value is not compared.
std::optional<double> noiseOf(const Comparison& c, const RowOfValue& rows, ValueId value)
{
    const auto row = rows.find(value);
    if (!row || c.activations[*row].accumulated.exact)
        return row ? std::optional(0.0) : std::nullopt;
    const Number& db = c.activations[*row].accumulated.sqnrDb;
    return db ? std::optional(std::pow(10.0, -*db / 20)) : std::nullopt;
}

Finding underflowFinding(const WeightRounding& r, double share, double noise, double before)
{
    const auto db = [](double amplitude) {
        return amplitude > 0 ? fmt::format("{:.1f} dB", -20 * std::log10(amplitude)) : std::string("no difference");
    };
    Finding f = makeFinding(Rule::WeightsDiffer, r.node);
    f.cause = "underflow";
    f.node = r.node;
    f.tensor = r.name;
    f.title = fmt::format("The weight of {} is too small for float16", r.node);
    f.summary = fmt::format("{} of the numbers of {} lie below 6.1e-05, where float16 has fewer bits the smaller they "
                            "are: rounded to it they are {:.2g} of their size off. What {} makes stands at {}, what it "
                            "reads at {}.",
        percentText(share), r.name, r.distance, r.node, db(noise), db(before));
    f.evidence = { evidence("weight_distance", r.distance), evidence("below_normal", share) };
    f.remedy = fmt::format("Leave {} in float32, use bfloat16, or scale this weight up and the values down again "
                           "behind it.",
        r.node);
    f.rank = noise * noise;
    return f;
}

} // namespace

void findUnderflow(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (!c.network)
        return;
    const Graph& graph = pair.floatPlan->graph();
    const RowOfValue rows(c.activations);
    for (const WeightRounding& r : c.network->step.roundings) {
        const ValueId weight = graph.findValue(r.name);
        if (r.precision != Precision::Float16 || !(r.distance > kCoarseRounding) || !weight.valid()
            || graph.value(weight).uses.empty())
            continue;
        const Node& node = graph.node(graph.value(weight).uses[0].node);
        const auto noise = node.hasOutput(0) ? noiseOf(c, rows, node.outputs[0]) : std::nullopt;
        double before = 0;
        for (const ValueId in : node.inputs)
            before = std::max(before, noiseOf(c, rows, in).value_or(0));
        const double share = shareBelowNormal(*pair.floatPlan, r.name);
        if (noise && *noise > kOwnPart * r.distance && before < kOwnPart * *noise && share >= kBelowAtLeast)
            found.push_back(underflowFinding(r, share, *noise, before));
    }
}

namespace {

constexpr double kLeastOfError = 0.95; ///< in amplitude, without these constants: a tenth of the noise power is theirs
constexpr double kMostOfError = 0.7; ///< half of it is
constexpr double kOfEightBits = 0.01; ///< relative: what rounding to 8 bits makes, or less
constexpr size_t kNamedConstants = 3;

std::string roundedList(const std::vector<const WeightRounding*>& rounded)
{
    std::string list;
    for (size_t i = 0; i < std::min(rounded.size(), kNamedConstants); ++i)
        list += fmt::format(
            "{}{} of {} ({:.2g} apart)", i > 0 ? ", " : "", rounded[i]->name, rounded[i]->node, rounded[i]->distance);
    return rounded.size() > kNamedConstants ? list + fmt::format(" and {} more", rounded.size() - kNamedConstants)
                                            : list;
}

} // namespace

void findRoundedConstants(const Comparison& c, std::vector<Finding>& found)
{
    if (!c.network || !c.network->roundedConstants || c.network->errorWithoutThem.value_or(1) > kLeastOfError)
        return;
    std::vector<const WeightRounding*> rounded;
    for (const WeightRounding& r : c.network->step.roundings)
        if (r.onGrid)
            rounded.push_back(&r);
    if (rounded.empty())
        return;
    std::ranges::stable_sort(rounded, std::greater {}, &WeightRounding::distance);
    if (rounded.front()->distance < kOfEightBits)
        return;
    const double without = *c.network->errorWithoutThem, share = 1 - without * without;
    const Number db = poorestOutputDb(c);
    Finding f = makeFinding(Rule::WeightsTooCoarse, rounded.front()->node);
    f.severity = without < kMostOfError && db && *db < kPoorOutputDb ? Severity::Warning : Severity::Note;
    f.cause = "rounded_floats";
    f.node = rounded.front()->node;
    f.tensor = rounded.front()->name;
    f.title = rounded.size() == 1
        ? fmt::format("{} is rounded to codes and stored in floats", f.tensor)
        : fmt::format("{} constants are rounded to codes and stored in floats", rounded.size());
    f.summary
        = fmt::format("No quantizer says so, but the quantized file holds the float model's values rounded to few "
                      "levels, in floats: {}. They move {} by {:.2g} of its size on one sample, and make about {} of "
                      "the noise {} on all that were tried.",
            roundedList(rounded), c.network->movedOutput, *c.network->roundedConstants, percentText(share),
            c.network->errorOutput.empty() ? "there" : "of " + c.network->errorOutput);
    f.evidence = { evidence("constants", double(rounded.size())),
        evidence("output_moved", *c.network->roundedConstants), evidence("noise_share", share) };
    f.rank = std::pow(*c.network->roundedConstants, 2);
    f.remedy = "Round them to more bits, or store the float model's values there.";
    for (const WeightRounding* r : rounded)
        f.together.push_back({ RemedyKind::StoreConstant, r->node, r->name, 0, 0, 0 });
    f.change = f.together.front();
    f.together.erase(f.together.begin());
    found.push_back(std::move(f));
}

} // namespace qs
