// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/coded_parameter.h"
#include "core/analysis/pairs/cache_pairs.h"
#include "core/analysis/pairs/node_partners.h"
#include "core/analysis/rounding/coarsest_between.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"
#include "core/match/graph/canonical.h"
#include "core/prepare/fitted_inputs.h"
#include "core/qdq/code_readers.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

/// Nodes that read codes with another scale or zero point than they were written with, and nodes that move elements
/// otherwise than in the float model.
namespace qs {

namespace {

constexpr double kMisreadDb = 20; ///< what is read has noise of 1 % of the signal: an error
constexpr double kHarmlessDb = 45; ///< less than what 8 bits round off

/// All readers of one quantizer that are off.
struct OddlyRead {
    uint32_t quantizer = 0;
    QuantParams written; ///< what is computed for each sample: as of a typical one
    std::vector<OddReader> readers;
};

std::vector<OddlyRead> byQuantizer(const QuantView& view, std::vector<OddReader> readers)
{
    std::vector<OddlyRead> all;
    for (OddReader& reader : readers) {
        auto at = std::ranges::find(all, reader.quantizer, &OddlyRead::quantizer);
        if (at == all.end())
            at = all.insert(at, { reader.quantizer, view.quantizers()[reader.quantizer].params, {} });
        at->readers.push_back(std::move(reader));
    }
    return all;
}

/// Noise power over the power of what was written: of what is off in proportion, and of what is shifted.
Number misreadNoise(const QuantParams& written, const QuantParams& read, const Number& signalPower)
{
    const double ratio = double(read.scale[0]) / double(written.scale[0]) - 1;
    const double shift = double(read.scale[0]) * (written.zero(0) - read.zero(0));
    if (shift == 0)
        return ratio * ratio;
    return signalPower && *signalPower > 0 ? Number(ratio * ratio + shift * shift / *signalPower) : std::nullopt;
}

std::string paramsText(const QuantParams& p, bool zeroAlone = false)
{
    return zeroAlone ? fmt::format("zero point {}", p.zeroPoint[0])
                     : fmt::format("scale {:.6g} and zero point {}", p.scale[0], p.zeroPoint[0]);
}

/// Whether what is read is another number than a typical sample's own; compared in that one's scale.
bool readsTypicalOtherwise(const ActivationRow& row, OddlyRead& odd)
{
    const auto typical = typicalParams(row);
    if (!typical)
        return false;
    odd.written = *typical;
    for (OddReader& reader : odd.readers)
        reader.read.scale = typical->scale;
    std::erase_if(odd.readers, [&](const OddReader& reader) { return reader.read.zeroPoint == typical->zeroPoint; });
    const Number noise = odd.readers.empty() ? Number() : misreadNoise(*typical, odd.readers[0].read, row.signalPower);
    return noise && 0.0 - 10 * std::log10(*noise) < kHarmlessDb;
}

/// The node of the float model that takes what is read; else the reader itself.
std::string readingPlace(const ComparePair& pair, const NodePartners& partners, NodeId reader)
{
    const Graph& graph = pair.quantPlan->graph();
    NodeId node = reader;
    if (const ValueId out = graph.node(reader).outputs[0]; isDequantizeLinear(graph.node(reader)) && out.valid())
        if (const auto& uses = graph.value(out).uses; !uses.empty())
            node = uses[0].node;
    const NodeId partner = node.valid() ? partners.of(node) : NodeId();
    return partner.valid() ? pair.floatPlan->graph().node(partner).name : graph.node(reader).name;
}

std::string readSentence(const ComparePair& pair, const OddlyRead& odd)
{
    const Graph& graph = pair.quantPlan->graph();
    const Quantizer& q = pair.quantView->quantizers()[odd.quantizer];
    const OddReader& first = odd.readers[0];
    std::set<NodeId> nodes;
    for (const OddReader& reader : odd.readers)
        nodes.insert(reader.node);
    std::string text = fmt::format("{} reads {} with {}, but {} wrote it with {}{}: a code may stand for a value "
                                   "{:.3g} steps away.",
        graph.node(first.node).name, graph.value(q.codes).name, paramsText(first.read, first.zeroAlone),
        graph.node(q.quantize).name, first.computed ? "one of each sample's own, about " : "",
        paramsText(odd.written, first.zeroAlone), stepsOff(odd.written, first.read));
    if (nodes.size() > 1)
        text += fmt::format(" Nodes that read it otherwise than it was written: {}.", nodes.size());
    return text;
}

std::vector<EvidenceItem> readEvidence(const ComparePair& pair, const OddlyRead& odd)
{
    const QuantParams& written = odd.written;
    const OddReader& first = odd.readers[0];
    return { { "reader", std::nullopt, pair.quantPlan->graph().node(first.node).name, {} },
        evidence("written_scale", written.scale[0]), evidence("read_scale", first.read.scale[0]),
        evidence("written_zero_point", written.zeroPoint[0]), evidence("read_zero_point", first.read.zeroPoint[0]),
        evidence("steps", stepsOff(written, first.read)) };
}

Finding oddlyRead(const ComparePair& pair, const Comparison& c, const OddlyRead& odd, std::optional<size_t> row)
{
    const Quantizer& q = pair.quantView->quantizers()[odd.quantizer];
    const std::string place = readingPlace(pair, NodePartners(pair), odd.readers[0].node);
    Finding f = makeFinding(Rule::WrongZeroPoint, place);
    f.node = place;
    f.tensor = row ? c.activations[*row].name : pair.quantPlan->graph().value(q.codes).name;
    f.activation = row;
    const Number noise
        = misreadNoise(odd.written, odd.readers[0].read, row ? c.activations[*row].signalPower : std::nullopt);
    const double db = noise && *noise > 0 ? 0.0 - 10 * std::log10(*noise) : kMisreadDb;
    f.severity = db < kMisreadDb ? Severity::Error : db > kHarmlessDb ? Severity::Note : Severity::Warning;
    f.rank = noise.value_or(0);
    f.summary = readSentence(pair, odd);
    f.evidence = readEvidence(pair, odd);
    if (noise && *noise > 0)
        f.evidence.push_back(evidence("read_sqnr_db", db, "dB"));
    if (const OddReader& first = odd.readers[0]; first.zeroAlone)
        f.remedy = fmt::format("Give {} the zero point of {}.", pair.quantPlan->graph().node(first.node).name,
            pair.quantPlan->graph().node(q.quantize).name);
    f.change = { RemedyKind::Requantize, f.node, f.tensor, 0, 0, 0 };
    return f;
}

std::string axisText(const QuantParams& p)
{
    return p.axis && p.scale.size() > 1 ? fmt::format("{} scales along axis {}{}", p.scale.size(), *p.axis,
               p.blockSize > 0 ? fmt::format(" in blocks of {}", p.blockSize) : std::string())
                                        : std::string("one scale");
}

/// Noise power of what is read over the power of what was written.
Number misreadNoise(const ComparePair& pair, const OddConstant& odd)
{
    const Quantizer& q = pair.quantView->quantizers()[odd.quantizer];
    const Tensor* const codes = storedCodes(*pair.quantPlan, q);
    if (!codes)
        return std::nullopt;
    const std::vector<float> written = dequantized(*codes, odd.written), read = dequantized(*codes, q.params);
    double signal = 0, noise = 0;
    for (size_t i = 0; i < written.size(); ++i) {
        signal += double(written[i]) * written[i];
        noise += (double(read[i]) - written[i]) * (double(read[i]) - written[i]);
    }
    return signal > 0 && std::isfinite(noise) ? Number(noise / signal) : std::nullopt;
}

/// Both sides of what disagrees.
void tellOddConstant(const ComparePair& pair, const OddConstant& odd, Finding& f)
{
    const Graph& graph = pair.quantPlan->graph();
    const Quantizer& q = pair.quantView->quantizers()[odd.quantizer];
    const std::string &reader = graph.node(odd.reader).name, &writer = graph.node(q.quantize).name;
    f.evidence = { { "reader", std::nullopt, reader, {} } };
    if (odd.otherAxis) {
        f.summary = fmt::format("{} reads {} with {}, but {} made it with {}.", reader, graph.value(q.codes).name,
            axisText(q.params), writer, axisText(odd.written));
        if (odd.written.axis && q.params.axis) {
            f.evidence.push_back(evidence("written_axis", double(*odd.written.axis)));
            f.evidence.push_back(evidence("read_axis", double(*q.params.axis)));
        }
        return;
    }
    const QuantParams written = ofChannel(odd.written, odd.channel), read = ofChannel(q.params, odd.channel);
    const size_t channels = std::max(odd.written.scale.size(), q.params.scale.size());
    f.summary = fmt::format("{} reads {} with {}, but {} made it with {}{}.", reader, graph.value(q.codes).name,
        paramsText(read), writer, paramsText(written),
        channels > 1 ? fmt::format(" in channel {}; {} of {} channels disagree", odd.channel, odd.differing, channels)
                     : std::string());
    f.evidence.push_back(evidence("written_scale", written.scale[0]));
    f.evidence.push_back(evidence("read_scale", read.scale[0]));
    f.evidence.push_back(evidence("written_zero_point", written.zeroPoint[0]));
    f.evidence.push_back(evidence("read_zero_point", read.zeroPoint[0]));
}

Finding oddConstant(const ComparePair& pair, const Comparison& c, const OddConstant& odd, std::optional<size_t> row)
{
    const Graph& graph = pair.quantPlan->graph();
    const Quantizer& q = pair.quantView->quantizers()[odd.quantizer];
    const std::string place = row ? c.weights[*row].node : graph.node(odd.reader).name;
    Finding f = makeFinding(Rule::WrongZeroPoint, place);
    f.cause = "constant";
    f.node = place;
    f.tensor = row ? c.weights[*row].name : graph.value(q.real).name;
    f.weight = row;
    f.title = fmt::format("Quantizing and dequantizing disagree at the weight of {}", place);
    tellOddConstant(pair, odd, f);
    const Number noise = misreadNoise(pair, odd);
    const double db = noise && *noise > 0 ? 0.0 - 10 * std::log10(*noise) : kMisreadDb;
    const Number stands = row ? c.weights[*row].similarity.sqnrDb : Number(); // either of both may be the right one
    f.severity = db > kHarmlessDb                        ? Severity::Note
        : std::max(db, stands.value_or(db)) < kMisreadDb ? Severity::Error
                                                         : Severity::Warning;
    f.rank = noise.value_or(0);
    if (stands) {
        f.summary += fmt::format(" What is read stands at {:.1f} dB of the float model's.", *stands);
        f.evidence.push_back(evidence("sqnr_db", *stands, "dB"));
    }
    f.remedy = "Give both the same scales, zero points and axis, or quantize this weight anew.";
    if (row)
        f.change = { RemedyKind::Requantize, f.node, f.tensor, 0, 0, 0 };
    return f;
}

/// The row of the quantizer, or of another one of the same float value.
std::optional<size_t> rowWrittenBy(const ComparePair& pair, const Comparison& c, uint32_t quantizer)
{
    const auto& all = pair.quantView->quantizers();
    std::optional<size_t> other;
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const auto q = c.activations[i].quantizer;
        if (q == quantizer)
            return i;
        if (q && !other && all[quantizer].real.valid() && all[*q].real == all[quantizer].real)
            other = i;
    }
    return other;
}

Finding misreadCache(const ComparePair& pair, const Comparison& c, const std::pair<std::string, std::string>& names,
    const OddReturn& odd)
{
    const Graph& graph = pair.quantPlan->graph();
    const Quantizer& q = pair.quantView->quantizers()[odd.quantizer];
    const auto row = rowWrittenBy(pair, c, odd.quantizer);
    const std::string &reader = graph.node(odd.reader).name, &writer = graph.node(q.quantize).name;
    Finding f = makeFinding(Rule::WrongZeroPoint, names.first);
    f.node = row ? c.activations[*row].node : writer;
    f.tensor = row ? c.activations[*row].name : names.first;
    f.activation = row;
    f.cause = "cache";
    f.title = fmt::format("The cache {} is read back otherwise than it is written", names.first);
    const Number noise = misreadNoise(odd.written, odd.read, row ? c.activations[*row].signalPower : std::nullopt);
    const double db = noise && *noise > 0 ? 0.0 - 10 * std::log10(*noise) : kMisreadDb;
    f.severity = db < kMisreadDb ? Severity::Error : db > kHarmlessDb ? Severity::Note : Severity::Warning;
    f.rank = noise.value_or(0);
    f.summary = fmt::format("{} writes {} with {}{}, and {} reads {}, which it becomes for the next tokens, with {}: a "
                            "code may stand for a value {:.3g} steps away. A prompt without a past does not show it.",
        writer, names.first, paramsText(odd.written),
        odd.channels > 1 ? fmt::format(" in channel {} of {}", odd.channel, odd.channels) : std::string(), reader,
        names.second, paramsText(odd.read), stepsOff(odd.written, odd.read));
    f.evidence = { { "reader", std::nullopt, reader, {} }, evidence("written_scale", odd.written.scale[0]),
        evidence("read_scale", odd.read.scale[0]), evidence("written_zero_point", odd.written.zeroPoint[0]),
        evidence("read_zero_point", odd.read.zeroPoint[0]), evidence("steps", stepsOff(odd.written, odd.read)) };
    if (noise && *noise > 0)
        f.evidence.push_back(evidence("read_sqnr_db", db, "dB"));
    f.remedy = fmt::format("Give {} the scale and zero point of {}.", reader, writer);
    return f;
}

} // namespace

void findMisreadCaches(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.quantPlan->graph();
    const auto constants = [&](ValueId id) { return pair.quantPlan->constant(id); };
    for (const auto& names : cachePairs(graph, true)) {
        if (!saysItIsCache(names.first) && !saysItIsCache(names.second))
            continue;
        const ValueId past = codesTaken(graph, graph.findValue(names.second));
        const auto odd = oddReturns(graph, constants, *pair.quantView, graph.findValue(names.first), past);
        if (!odd.empty())
            found.push_back(misreadCache(pair, c, names, odd[0]));
    }
}

void findOddReaders(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.quantPlan->graph();
    const auto constants = [&](ValueId id) { return pair.quantPlan->constant(id); };
    for (OddlyRead& odd : byQuantizer(*pair.quantView, oddReaders(graph, constants, *pair.quantView))) {
        const auto row = rowWrittenBy(pair, c, odd.quantizer);
        if (odd.readers[0].computed && (!row || !readsTypicalOtherwise(c.activations[*row], odd)))
            continue;
        if (isTold(found, Rule::BrokenScale, row, {}))
            continue; // numbers that are none are not equal to themselves
        // What was measured behind the first DequantizeLinear is told already: only why is missing.
        const auto told = std::ranges::find_if(
            found, [&](const Finding& f) { return row && f.rule == Rule::WrongZeroPoint && f.activation == row; });
        if (told == found.end()) {
            found.push_back(oddlyRead(pair, c, odd, row));
            continue;
        }
        told->summary += " " + readSentence(pair, odd);
        for (EvidenceItem& item : readEvidence(pair, odd))
            if (item.key != "steps")
                told->evidence.push_back(std::move(item));
    }
}

void findOddConstants(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const auto constants = [&](ValueId id) { return pair.quantPlan->constant(id); };
    for (const OddConstant& odd : oddConstants(pair.quantPlan->graph(), constants, *pair.quantView)) {
        std::optional<size_t> row;
        for (size_t i = 0; i < c.weights.size() && !row; ++i)
            if (c.weights[i].floatValue.valid() && c.weights[i].quantizer == odd.quantizer)
                row = i;
        if (!row || !isTold(found, Rule::BrokenScale, {}, row)) // numbers that are none are not equal to themselves
            found.push_back(oddConstant(pair, c, odd, row));
    }
}

namespace {

constexpr double kFallDb = 20; ///< at one operator that only moves
constexpr double kPoorPartDb = 30; ///< a part that is small beside the rest and better than this is fine
constexpr double kCoarsePartDb = 20;
constexpr double kBeyondInput = 2; ///< largest errors: what came in, with room for what interpolation makes of it
constexpr double kMostIsOwn = 0.5; ///< share of the noise that the tensor's own quantizer makes
constexpr double kFloatDb = 144.5; ///< of what float32 holds

bool onlyMoves(const Node& node)
{
    const bool selects = node.opType == "MaxPool" || node.opType == "GlobalMaxPool"; // by values that noise changes
    return (keepsParams(node) && !selects) || node.opType == "Concat";
}

/// All that goes in comes out, and nothing else.
bool keepsElements(const Node& node)
{
    static constexpr std::array<std::string_view, 6> types { "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze",
        "Identity" };
    return std::ranges::find(types, node.opType) != types.end();
}

/// What comes out is worse than all that goes in, by so many dB; nothing below kFallDb.
struct Fall {
    size_t input, output; ///< rows
    double db;
    bool beyondInput; ///< single elements are off by more than any that came in
};

/// How far rounding to the types that values of the quantized file take between these rows moves an element at most.
double roundedBetween(const ComparePair& pair, const ActivationRow& from, const ActivationRow& to)
{
    const auto coarsest = coarsestBetween(pair, from.quantValue, to.quantValue);
    if (!coarsest || !to.floatRange)
        return 0;
    return largestRounding(*coarsest, std::max(std::fabs(to.floatRange->first), std::fabs(to.floatRange->second)));
}

std::optional<Fall> fallAt(const ComparePair& pair, const Comparison& c, const RowOfValue& rows, size_t index)
{
    const Graph& graph = pair.floatPlan->graph();
    const ActivationRow& row = c.activations[index];
    if (!row.floatNode.valid() || !onlyMoves(graph.node(row.floatNode)) || !row.accumulated.sqnrDb
        || ownPartOfNoise(row).value_or(0) > kMostIsOwn)
        return std::nullopt;
    const Node& node = graph.node(row.floatNode);
    std::optional<Fall> worst;
    double most = 0, byType = 0;
    for (size_t slot = 0; slot < (node.opType == "Concat" ? node.inputs.size() : 1); ++slot) {
        const auto in = rows.find(node.inputs[slot], row.floatNode);
        if (!in)
            return std::nullopt;
        const Similarity& came = c.activations[*in].accumulated;
        if (keepsElements(node)
            && came.elements + came.nonFinite != row.accumulated.elements + row.accumulated.nonFinite)
            return std::nullopt; // padding counts in one of them
        const double fall = came.sqnrDb.value_or(kFloatDb) - *row.accumulated.sqnrDb;
        most = std::max(most, came.maxAbsError.value_or(0));
        byType = std::max(byType, roundedBetween(pair, c.activations[*in], row));
        if (!worst || fall < worst->db)
            worst = Fall { *in, index, fall, false };
    }
    if (!worst || worst->db < kFallDb)
        return std::nullopt;
    const double off = row.accumulated.maxAbsError.value_or(0);
    if (byType > most && off <= kBeyondInput * most + byType)
        return std::nullopt; // a Cast rounds them
    worst->beyondInput = off > kBeyondInput * most + byType;
    return worst;
}

/// A node's outputs are compared in this row.
std::optional<size_t> rowMadeBy(const Comparison& c, NodeId floatNode)
{
    const auto row = std::ranges::find(c.activations, floatNode, &ActivationRow::floatNode);
    return row == c.activations.end() ? std::nullopt : std::optional(size_t(row - c.activations.begin()));
}

std::string fallText(const Comparison& c, const Fall& fall)
{
    const Number before = c.activations[fall.input].accumulated.sqnrDb;
    return fmt::format(" What goes in {}, what comes out at {:.1f} dB.",
        before ? fmt::format("stands at {:.1f} dB", *before) : std::string("is exact"),
        *c.activations[fall.output].accumulated.sqnrDb);
}

void addFall(const Comparison& c, const Fall& fall, Finding& f)
{
    f.summary += fallText(c, fall);
    f.evidence.push_back(evidence("increase_db", fall.db, "dB"));
    f.evidence.push_back(evidence("sqnr_db", *c.activations[fall.output].accumulated.sqnrDb, "dB"));
    f.rank = std::pow(10.0, -*c.activations[fall.output].accumulated.sqnrDb / 10);
}

Finding codedFinding(const ComparePair& pair, const Comparison& c, NodeId floatNode, const CodedParameter& coded,
    const std::optional<Fall>& fall)
{
    const Node& node = pair.floatPlan->graph().node(floatNode);
    const QuantParams& params = pair.quantView->quantizers()[coded.quantizer].params;
    Finding f = makeFinding(Rule::MovesOtherwise, node.name);
    f.node = node.name;
    f.activation = rowMadeBy(c, floatNode);
    f.tensor = f.activation ? c.activations[*f.activation].name : std::string();
    f.cause = "codes";
    f.severity = fall ? Severity::Error : Severity::Note;
    f.title = fmt::format("{} of {} {} stored as codes", coded.parameter->name, node.name,
        coded.parameter->name.ends_with('s') ? "are" : "is");
    f.summary = fmt::format("Element {} of the {} of its {} is {:.9g}, in the float model {:.9g}: it comes from {} "
                            "codes{} and says which elements are taken.",
        coded.element, coded.elements, coded.parameter->name, coded.stored, coded.meant, dtypeName(params.dtype),
        params.perTensor() ? fmt::format(" of scale {:.6g}", params.scale[0]) : std::string());
    f.evidence = { evidence("stored_parameter", coded.stored), evidence("float_parameter", coded.meant) };
    if (fall)
        addFall(c, *fall, f);
    if (const std::string resized = resizedText(pair, floatNode, coded); !resized.empty()) {
        f.severity = Severity::Error;
        f.summary += resized;
        for (const OutputRow& out : c.outputs)
            if (out.similarity.elements == 0)
                f.summary += " " + out.name + " is not compared: it has other sizes, or no elements.";
        f.rank = std::max(f.rank, 1.0);
    }
    f.remedy = fmt::format(
        "Store the {} of {} as the numbers that they are, without quantizers.", coded.parameter->name, node.name);
    f.change = { RemedyKind::ExcludeNode, node.name, f.tensor, 0, 0, 0 };
    return f;
}

/// Its parameters follow from the data, and with these from what was rounded.
bool movesByData(const Plan& plan, const Node& node)
{
    return std::ranges::any_of(movingParameters(), [&](const MovingParameter& p) {
        return node.opType == p.type && node.hasInput(p.slot) && !plan.constant(node.inputs[p.slot]);
    });
}

Finding movedFinding(const ComparePair& pair, const Comparison& c, const Fall& fall)
{
    const ActivationRow& row = c.activations[fall.output];
    const bool byData = movesByData(*pair.floatPlan, pair.floatPlan->graph().node(row.floatNode));
    Finding f = activationFinding(c, fall.output, Rule::MovesOtherwise);
    f.cause = byData ? "data" : "";
    f.summary
        = fmt::format("It only moves elements, and they are off by up to {:.3g} behind it, before it by {:.3g}: {}.",
            row.accumulated.maxAbsError.value_or(0), c.activations[fall.input].accumulated.maxAbsError.value_or(0),
            byData ? "which ones it takes follows from values that were rounded"
                   : "it moves them otherwise, or the two are not partners");
    addFall(c, fall, f);
    if (byData)
        f.remedy = fmt::format("Leave in float what decides which elements {} takes.", row.node);
    f.confidence = row.confidence;
    return f;
}

Finding smallPartFinding(const Comparison& c, const Fall& fall)
{
    const ActivationRow &row = c.activations[fall.output], &whole = c.activations[fall.input];
    Finding f = activationFinding(c, fall.output, Rule::ScaleMismatchAtJoin);
    if (*row.accumulated.sqnrDb >= kCoarsePartDb)
        f.severity = Severity::Note;
    else
        f.severity = Severity::Warning;
    f.cause = "part";
    f.title = fmt::format("What {} takes is small beside the rest", row.node);
    f.summary = fmt::format("It is a part of {}, whose errors are as large in all its parts, and much smaller than the "
                            "others.",
        whole.name);
    addFall(c, fall, f);
    const std::string& place = whole.node.empty() ? row.node : whole.node;
    f.remedy = fmt::format("Leave {} in float, or scale its parts alike.", place);
    f.change = { RemedyKind::ExcludeNode, place, {}, 0, 0, 0 };
    return f;
}

/// How far the nodes of the float model are off that read codes for other numbers than were written, at most.
std::map<NodeId, double> misreadBy(const ComparePair& pair, const NodePartners& partners)
{
    const Graph& graph = pair.quantPlan->graph();
    std::map<NodeId, double> off;
    const auto note = [&](NodeId node, double most) {
        if (const NodeId partner = partners.of(node); partner.valid())
            off[partner] = std::max(off[partner], most);
    };
    const auto constants = [&](ValueId id) { return pair.quantPlan->constant(id); };
    for (const OddReader& reader : oddReaders(graph, constants, *pair.quantView)) {
        if (reader.computed)
            continue;
        const QuantParams& written = pair.quantView->quantizers()[reader.quantizer].params;
        const double most = stepsOff(written, reader.read) * double(written.scale[0]);
        note(reader.node, most);
        const ValueId out = graph.node(reader.node).outputs[0];
        if (isDequantizeLinear(graph.node(reader.node)) && out.valid())
            for (const Use& use : graph.value(out).uses)
                note(use.node, most);
    }
    return off;
}

/// Something is said of the tensor that the part is taken from, or of the part.
bool isToldOf(const std::vector<Finding>& found, const Comparison& c, const Fall& fall)
{
    const ActivationRow& whole = c.activations[fall.input];
    return std::ranges::any_of(found, [&](const Finding& f) {
        const bool there = f.activation == fall.input || f.activation == fall.output;
        return f.rule != Rule::Inherited && (there || (!whole.node.empty() && f.node == whole.node));
    });
}

} // namespace

void findMovedOtherwise(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const NodePartners partners(pair);
    const RowOfValue rows(c.activations);
    std::set<NodeId> told;
    const auto nodes = pair.quantPlan->graph().nodes();
    for (size_t n = 0; n < nodes.size(); ++n)
        for (const MovingParameter& parameter : movingParameters()) {
            const NodeId id(n);
            const NodeId partner = nodes[n].opType == parameter.type ? partners.of(id) : NodeId();
            const auto coded = partner.valid() ? codedParameter(pair, partners, id, parameter) : std::nullopt;
            if (!coded)
                continue;
            const auto row = rowMadeBy(c, partner);
            found.push_back(codedFinding(pair, c, partner, *coded, row ? fallAt(pair, c, rows, *row) : std::nullopt));
            told.insert(partner);
        }
    if (c.network && c.network->known() && !c.network->same()) // which says where and why
        return;
    const auto misread = misreadBy(pair, partners);
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        const auto fall = fallAt(pair, c, rows, i);
        if (!fall || told.contains(row.floatNode))
            continue;
        const auto read = misread.find(row.floatNode); // right elements, read wrongly, which is told
        if (read != misread.end() && kBeyondInput * read->second >= row.accumulated.maxAbsError.value_or(0))
            continue;
        if (fall->beyondInput)
            found.push_back(movedFinding(pair, c, *fall));
        else if (*row.accumulated.sqnrDb < kPoorPartDb && !isToldOf(found, c, *fall))
            found.push_back(smallPartFinding(c, *fall));
    }
}

} // namespace qs
