// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/node_partners.h"
#include "core/analysis/rules/findings.h"
#include "core/qdq/code_readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

/// Nodes that read codes with another scale or zero point than they were written with.
namespace qs {

namespace {

constexpr double kMisreadDb = 20; ///< what is read has noise of 1 % of the signal: an error
constexpr double kHarmlessDb = 45; ///< less than what 8 bits round off

/// All readers of one quantizer that are off.
struct OddlyRead {
    uint32_t quantizer = 0;
    std::vector<OddReader> readers;
};

std::vector<OddlyRead> byQuantizer(std::vector<OddReader> readers)
{
    std::vector<OddlyRead> all;
    for (OddReader& reader : readers) {
        auto at = std::ranges::find(all, reader.quantizer, &OddlyRead::quantizer);
        if (at == all.end())
            at = all.insert(at, { reader.quantizer, {} });
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

/// Steps of the writer by which a code may be misread, at most.
double stepsOff(const QuantParams& written, const QuantParams& read)
{
    const auto off = [&](double code) {
        return std::fabs(
                   double(read.scale[0]) * (code - read.zero(0)) - double(written.scale[0]) * (code - written.zero(0)))
            / double(written.scale[0]);
    };
    const auto codes = written.codes();
    return std::max(off(double(codes.low)), off(double(codes.high)));
}

std::string paramsText(const QuantParams& p)
{
    return fmt::format("scale {:.6g} and zero point {}", p.scale[0], p.zeroPoint[0]);
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
    std::string text = fmt::format("{} reads {} with {}, but {} wrote it with {}: a code may stand for a value "
                                   "{:.3g} steps away.",
        graph.node(first.node).name, graph.value(q.codes).name, paramsText(first.read), graph.node(q.quantize).name,
        paramsText(q.params), stepsOff(q.params, first.read));
    if (nodes.size() > 1)
        text += fmt::format(" Nodes that read it otherwise than it was written: {}.", nodes.size());
    return text;
}

std::vector<EvidenceItem> readEvidence(const ComparePair& pair, const OddlyRead& odd)
{
    const QuantParams& written = pair.quantView->quantizers()[odd.quantizer].params;
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
        = misreadNoise(q.params, odd.readers[0].read, row ? c.activations[*row].signalPower : std::nullopt);
    const double db = noise && *noise > 0 ? 0.0 - 10 * std::log10(*noise) : kMisreadDb;
    f.severity = db < kMisreadDb ? Severity::Error : db > kHarmlessDb ? Severity::Note : Severity::Warning;
    f.rank = noise.value_or(0);
    f.summary = readSentence(pair, odd);
    f.evidence = readEvidence(pair, odd);
    if (noise && *noise > 0)
        f.evidence.push_back(evidence("read_sqnr_db", db, "dB"));
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

} // namespace

void findOddReaders(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.quantPlan->graph();
    const auto constants = [&](ValueId id) { return pair.quantPlan->constant(id); };
    for (const OddlyRead& odd : byQuantizer(oddReaders(graph, constants, *pair.quantView))) {
        const auto row = rowWrittenBy(pair, c, odd.quantizer);
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

} // namespace qs
