// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/output_row.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rules/findings.h"
#include "core/qdq/code_readers.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

/// Codes that are not used. Activations that use one half of them all over the file, as PyTorch's quantizers with
/// reduce_range leave them: quint8 from 0 to 127 (torch.ao.quantization, the default of get_default_qconfig("x86") and
/// "fbgemm"). Codes that a Clip takes away, though the scale was made for them.
namespace qs {

namespace {

constexpr size_t kFewest = 3; ///< tensors that tell
constexpr double kMostReduced = 0.9; ///< of them stay within the half
constexpr double kFilled = 0.7; ///< of the half that the median tensor uses: else its range is too wide anyway

/// The lowest and highest code that the float model's values get.
struct CodesUsed {
    double low, high;
};

CodesUsed codesUsed(const ActivationRow& row)
{
    const double scale = double(row.params.scale.front());
    const double zero = row.params.zeroPoint.empty() ? 0 : double(row.params.zeroPoint.front());
    return { zero + std::min(row.floatRange->first, 0.0) / scale,
        zero + std::max(row.floatRange->second, 0.0) / scale };
}

bool tells(const Comparison& c, size_t i)
{
    const ActivationRow& row = c.activations[i];
    return firstOfQuantizer(c, i) && hasOwnRange(row) && row.params.scale.size() == 1 && row.params.scale.front() > 0
        && isInteger(row.params.dtype) && dtypeBits(row.params.dtype) == 8;
}

/// The half that a quantizer with a reduced range makes codes of.
CodesUsed reducedHalf(DType type) { return isSigned(type) ? CodesUsed { -64, 63 } : CodesUsed { 0, 127 }; }

} // namespace

void findReducedRanges(const Comparison& c, std::vector<Finding>& found)
{
    std::vector<size_t> within;
    std::vector<double> filled;
    size_t telling = 0;
    for (size_t i = 0; i < c.activations.size(); ++i) {
        if (!tells(c, i))
            continue;
        ++telling;
        const ActivationRow& row = c.activations[i];
        const CodesUsed used = codesUsed(row), half = reducedHalf(row.params.dtype);
        const double slack
            = (half.high - half.low) / 4; // histogram calibrators cut rare values, whose codes lie beyond
        const double zero = row.params.zeroPoint.empty() ? 0 : double(row.params.zeroPoint.front());
        if (zero < half.low || zero > half.high || used.low < half.low - slack || used.high > half.high + slack)
            continue;
        within.push_back(i);
        filled.push_back((used.high - used.low) / (half.high - half.low));
    }
    if (within.size() < kFewest || double(within.size()) < kMostReduced * double(telling))
        return;
    const auto middle = filled.begin() + std::ptrdiff_t(filled.size() / 2);
    std::ranges::nth_element(filled, middle);
    if (*middle < kFilled)
        return;
    const auto ownNoise = [&](size_t i) { return ownNoiseShare(c.activations[i]); };
    const size_t worst = *std::ranges::max_element(within, {}, ownNoise);
    Finding f = activationFinding(c, worst, Rule::RangeTooLarge);
    f.severity = Severity::Note;
    f.cause = "reduced";
    f.title = "Activations use 7 of their 8 bits";
    f.summary
        = fmt::format("{} of {} activations stay within one half of their codes, as quantizers with a reduced range "
                      "(reduce_range) leave them. With all codes each would make 6 dB less noise of rounding.",
            within.size(), telling);
    f.evidence = { evidence("tensors", double(within.size())), evidence("quantizers", double(telling)) };
    f.remedy
        = "Quantize with the whole range, unless the file is for CPUs whose sums saturate in 16 bits (AVX2 without "
          "VNNI).";
    f.change = { RemedyKind::Recalibrate, {}, f.tensor, 0, 0, 0 };
    f.expectedGainDb = gainAtTensor(c.activations[worst], 20 * std::log10(2.0));
    found.push_back(std::move(f));
}

namespace {

constexpr double kCutDb = 3; ///< a cut that makes as much noise as rounding
constexpr double kFeltCutDb = 0.5;
constexpr double kRuinedByClipDb = 10; ///< of the worst output
constexpr double kStillCut = 0.5; ///< of what a Clip cuts off, beyond other bounds
constexpr double kWidestFit = 3; ///< times the data's width, of a range whose scale is right

/// A Clip on codes and what else is known of the quantizer.
struct CodeClip {
    NodeId node;
    CodeRange kept;
    DType type;
    int64_t zero;

    static std::optional<CodeClip> of(const ComparePair& pair, const Quantizer& q)
    {
        const NodeId clip = q.params.kept ? clipOfCodes(pair.quantPlan->graph(), q) : NodeId();
        if (!clip.valid() || q.dynamic || q.params.scale.empty())
            return std::nullopt;
        return CodeClip { clip, *q.params.kept, q.params.dtype, int64_t(q.params.zero(0)) };
    }
    bool within(const CodeRange& other) const
    {
        return other.low <= kept.low && other.high >= kept.high && (other.low < kept.low || other.high > kept.high);
    }
    /// As quantizers of few bits leave them: all codes of so many bits, around zero perhaps without the lowest one.
    bool isOfBits() const
    {
        const auto isPower = [](int64_t n) { return n > 1 && std::has_single_bit(uint64_t(n)); };
        const bool lowest = kept.low == codeRange(type)->low;
        if (isPower(kept.high - kept.low + 1))
            return lowest || !isSigned(type) || kept.low < zero;
        return isSigned(type) ? kept.low == -kept.high && isPower(kept.high + 1)
                              : kept.low == 1 && isPower(kept.high + 1);
    }
    /// The fewest bits whose codes hold these.
    CodeRange bitsFor(const CodeRange& codes) const
    {
        CodeRange range { isSigned(type) ? -1 : 0, isSigned(type) ? 0 : 1 };
        const int64_t most = codeRange(type)->high; // what is stored in another type may lie beyond
        while ((range.low > codes.low || range.high < codes.high) && range.high < most)
            range = { 2 * range.low, 2 * range.high + 1 };
        return range;
    }
};

/// Codes that most other quantizers of a kind leave, and how many of them do.
struct UsualCodes {
    CodeRange range { 0, 0 };
    size_t count = 0;
};

/// The Clips on codes of a file.
class CodeClips {
public:
    explicit CodeClips(const ComparePair& pair)
    {
        for (const Quantizer& q : pair.quantView->quantizers()) {
            m_clips.push_back(CodeClip::of(pair, q));
            if (const auto& clip = m_clips.back())
                count(q.role, *clip);
        }
    }
    const std::optional<CodeClip>& of(uint32_t quantizer) const { return m_clips[quantizer]; }

    /// What most others of that role and type leave, those of the same node left out.
    std::optional<UsualCodes> usual(QuantRole role, const CodeClip& clip) const
    {
        const auto counts = m_counts.find({ role, clip.type });
        if (counts == m_counts.end())
            return std::nullopt;
        const auto same = m_ofNode.find({ role, clip.type, clip.node });
        const size_t own = same == m_ofNode.end() ? 0 : same->second;
        size_t all = 0;
        for (const auto& [range, count] : counts->second)
            all += count;
        for (const auto& [range, count] : counts->second) {
            const bool ofClip = range.first == clip.kept.low && range.second == clip.kept.high;
            if (const size_t others = count - (ofClip ? own : 0); 2 * others > all - own)
                return UsualCodes { { range.first, range.second }, others };
        }
        return std::nullopt;
    }

private:
    using Range = std::pair<int64_t, int64_t>;
    void count(QuantRole role, const CodeClip& clip)
    {
        ++m_counts[{ role, clip.type }][{ clip.kept.low, clip.kept.high }];
        ++m_ofNode[{ role, clip.type, clip.node }];
    }

    std::vector<std::optional<CodeClip>> m_clips; ///< by quantizer
    std::map<std::pair<QuantRole, DType>, std::map<Range, size_t>> m_counts;
    std::map<std::tuple<QuantRole, DType, NodeId>, size_t> m_ofNode;
};

/// What the Clip should let pass, where it is not what others of the file do, or no codes of so many bits.
struct RightCodes {
    CodeRange range;
    size_t others = 0; ///< Clips that leave these
    std::string text() const
    {
        return fmt::format("{} … {}{}", range.low, range.high,
            others > 0 ? fmt::format(
                ", which {} other Clip{} of the file leave{}", others, others > 1 ? "s" : "", others > 1 ? "" : "s")
                       : std::string());
    }
};

std::optional<RightCodes> rightCodes(const CodeClips& clips, QuantRole role, const CodeClip& clip)
{
    const auto usual = clips.usual(role, clip);
    if (usual && clip.within(usual->range))
        return RightCodes { usual->range, usual->count };
    const bool isUsual = usual && usual->range.low == clip.kept.low && usual->range.high == clip.kept.high;
    const CodeRange bits = clip.bitsFor(clip.kept);
    return isUsual || clip.isOfBits() || !clip.within(bits) ? std::nullopt : std::optional(RightCodes { bits });
}

const std::string& clipName(const ComparePair& pair, const CodeClip& clip)
{
    return pair.quantPlan->graph().node(clip.node).name;
}

std::string openText(const RightCodes& right)
{
    return fmt::format("Let this Clip pass the codes {} … {}: the scale is right.", right.range.low, right.range.high);
}

/// The data need the codes that the Clip cuts off, and the scale fits them with these.
bool mendsRange(const ActivationRow& row, const CodeClip& clip, const CodeRange& right)
{
    const double scale = row.params.scale[0], low = std::min(row.floatRange->first, 0.0),
                 high = std::max(row.floatRange->second, 0.0);
    const auto beyond = [&](const CodeRange& codes) {
        return std::max(scale * double(codes.low - clip.zero) - low, 0.0)
            + std::max(high - scale * double(codes.high - clip.zero), 0.0);
    };
    return beyond(right) <= kStillCut * beyond(clip.kept)
        && scale * double(right.high - right.low) <= kWidestFit * (high - low);
}

void blameClip(
    const ComparePair& pair, const ActivationRow& row, const CodeClip& clip, const RightCodes& right, Finding& f)
{
    f.rule = Rule::RangeTooSmall;
    f.cause = "clip";
    f.title = "A Clip cuts the codes of " + placeName(row);
    f.summary
        = fmt::format("{} of the values are clipped: Clip '{}' leaves the codes {} … {}, which stand for {:.4g} … "
                      "{:.4g}, and the float data reach {:.4g} … {:.4g}. The scale fits them with the codes {}. "
                      "This quantizer alone leaves {:.1f} dB where its scale allows {:.1f} dB.",
            percentText(row.clippedFraction.value_or(0)), clipName(pair, clip), clip.kept.low, clip.kept.high,
            row.range->first, row.range->second, row.floatRange->first, row.floatRange->second, right.text(),
            *row.localSqnrDb, *row.idealSqnrDb);
    f.evidence.push_back({ "clip", std::nullopt, clipName(pair, clip), {} });
    f.remedy = openText(right);
    f.change = { RemedyKind::OpenClip, row.node, row.name, double(right.range.low), double(right.range.high), 0 };
    f.expectedGainDb = std::max(gainAtTensor(row, *row.idealSqnrDb - *row.localSqnrDb), 0.0);
}

/// Codes of a weight before its Clip; nothing where they are not known.
struct CodesBefore {
    CodeRange range { 0, 0 };
    double cut = 0; ///< share of them
    bool stored = false; ///< else QuantizeLinear makes them

    static std::optional<CodesBefore> of(const ComparePair& pair, const CodeClip& clip)
    {
        const Graph& graph = pair.quantPlan->graph();
        const ValueId value = graph.node(clip.node).inputs[0];
        const Tensor* codes = pair.quantPlan->constant(value);
        if (!codes || !isInteger(codes->dtype()) || codes->count() == 0)
            return std::nullopt;
        const std::vector<int64_t> all = toInts(*codes);
        const auto [low, high] = std::ranges::minmax(all);
        const auto cut
            = std::ranges::count_if(all, [&](int64_t code) { return code < clip.kept.low || code > clip.kept.high; });
        const NodeId maker = graph.value(value).producer;
        return CodesBefore { { low, high }, double(cut) / double(all.size()),
            !maker.valid() || !isQuantizeLinear(graph.node(maker)) };
    }
};

/// Whoever stores codes does not store what a Clip takes away again; what QuantizeLinear makes it cuts on purpose.
std::optional<RightCodes> rightCodesOfWeight(const CodeClips& clips, const CodeClip& clip, const CodesBefore& before)
{
    if (before.cut <= 0)
        return std::nullopt;
    if (const auto right = rightCodes(clips, QuantRole::Weight, clip))
        return right;
    return before.stored ? std::optional(RightCodes { clip.bitsFor(before.range) }) : std::nullopt;
}

std::optional<Finding> clippedWeightCodes(
    const ComparePair& pair, const Comparison& c, const CodeClips& clips, size_t index)
{
    const WeightRow& row = c.weights[index];
    if (row.bias || !row.floatValue.valid()) // in a body, which has quantizers of its own
        return std::nullopt;
    const auto& clip = clips.of(row.quantizer);
    const auto before = clip ? CodesBefore::of(pair, *clip) : std::nullopt;
    const auto right = before ? rightCodesOfWeight(clips, *clip, *before) : std::nullopt;
    const double lost = row.idealSqnrDb.value_or(0) - row.similarity.sqnrDb.value_or(HUGE_VAL);
    if (!right || !(lost >= kFeltCutDb))
        return std::nullopt;
    const OutputRow* worst = worstOutput(c.outputs);
    const bool ruined = worst && worst->similarity.sqnrDb.value_or(HUGE_VAL) < kRuinedByClipDb;
    Finding f = weightFinding(c, index, Rule::WeightsTooCoarse);
    f.severity = lost < kCutDb ? Severity::Note : ruined ? Severity::Error : Severity::Warning;
    f.cause = "clip";
    f.title = "A Clip cuts the codes of the weight of " + row.node;
    f.summary = fmt::format("Clip '{}' leaves the codes {} … {}, those that {} reach {} … {}: {} of them are cut off. "
                            "{:.1f} dB are left, where the scale allows {:.1f} dB with the codes {}.",
        clipName(pair, *clip), clip->kept.low, clip->kept.high, before->stored ? "are stored" : "QuantizeLinear makes",
        before->range.low, before->range.high, percentText(before->cut), *row.similarity.sqnrDb, *row.idealSqnrDb,
        right->text());
    f.evidence = { { "clip", std::nullopt, clipName(pair, *clip), {} }, evidence("clipped_fraction", before->cut),
        evidence("sqnr_db", *row.similarity.sqnrDb, "dB"), evidence("ideal_sqnr_db", *row.idealSqnrDb, "dB") };
    f.remedy = openText(*right);
    f.change = { RemedyKind::OpenClip, row.node, row.name, double(right->range.low), double(right->range.high), 0 };
    f.expectedGainDb = lost;
    return f;
}

} // namespace

void findClippedCodes(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const CodeClips clips(pair);
    for (Finding& f : found) {
        if ((f.rule != Rule::RangeTooSmall && f.rule != Rule::InputMismatch) || !f.activation)
            continue;
        const ActivationRow& row = c.activations[*f.activation];
        const bool measured = row.quantizer && row.params.perTensor() && row.floatRange && row.range && row.localSqnrDb
            && row.idealSqnrDb;
        const auto clip = measured ? clips.of(*row.quantizer) : std::nullopt;
        const auto right = clip ? rightCodes(clips, QuantRole::Activation, *clip) : std::nullopt;
        if (right && mendsRange(row, *clip, right->range))
            blameClip(pair, row, *clip, *right, f);
    }
    for (size_t i = 0; i < c.weights.size(); ++i) {
        auto f = clippedWeightCodes(pair, c, clips, i);
        if (!f)
            continue;
        std::erase_if(
            found, [&](const Finding& other) { return other.rule == Rule::WeightsTooCoarse && other.weight == i; });
        found.push_back(std::move(*f));
    }
}

} // namespace qs
