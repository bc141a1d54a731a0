// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/text_ml/text_parts.h"
#include "core/engine/registry/registry.h"

#include "core/base/text/regex.h"
#include "core/kernels/elementwise/broadcast.h"
#include "core/kernels/text_ml/letter_case.h"

#include <algorithm>

namespace qs {

namespace {

using Words = std::vector<std::string>;

Status needText(const StepContext& s, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (s.in(i).dtype() != DType::String)
            return badInput(
                "input " + std::to_string(i) + " must hold strings, not " + std::string(dtypeName(s.in(i).dtype())));
    return {};
}

Status runConcat(const Node&, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    QS_CHECK(needText(s, 2));
    const auto shape = broadcastShapes(s.in(0).shape(), s.in(1).shape());
    if (!shape || !elementCount(*shape))
        return badInput(
            "texts of shape " + shapeText(s.in(0).shape()) + " and " + shapeText(s.in(1).shape()) + " do not fit");
    const Shape operands[] = { s.in(0).shape(), s.in(1).shape() };
    QS_TRY(const Tensor room, allocateTexts(s, *shape));
    const BroadcastLoop loop = makeBroadcastLoop(operands, *shape);
    const Words &a = s.in(0).stringData(), &b = s.in(1).stringData();
    Words out;
    forEachRun(loop, [&](std::span<const size_t> offsets, size_t) {
        for (size_t i = 0; i < loop.runLength(); ++i)
            out.push_back(a[offsets[0] + i * loop.innerStride(0)] + b[offsets[1] + i * loop.innerStride(1)]);
    });
    s.setOutput(0, Tensor::strings(*shape, std::move(out)));
    return {};
}

/// Parts between blanks (an empty delimiter; blanks at the ends do not count) or delimiters; `most` < 0: all.
Words partsOf(const std::string& text, const std::string& delimiter, int64_t most)
{
    static const char* const blanks = " \t\n\v\f\r";
    const bool byBlanks = delimiter.empty();
    const auto skip
        = [&](size_t from) { return byBlanks ? std::min(text.find_first_not_of(blanks, from), text.size()) : from; };
    Words parts;
    size_t at = skip(0);
    if (byBlanks && at == text.size())
        return parts;
    for (;;) {
        const size_t end = byBlanks ? text.find_first_of(blanks, at) : text.find(delimiter, at);
        const bool last = end == std::string::npos || (most >= 0 && static_cast<int64_t>(parts.size()) == most);
        const size_t next = last ? text.size() : skip(end + (byBlanks ? 1 : delimiter.size()));
        parts.push_back(text.substr(at, last ? std::string::npos : end - at));
        if (last || (byBlanks && next == text.size()))
            return parts;
        at = next;
    }
}

Status runStringSplit(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    QS_CHECK(needText(s, 1));
    const std::string delimiter = node.attributes.text("delimiter", "");
    const int64_t most = node.attributes.integer("maxsplit", -1);
    std::vector<Words> all;
    size_t widest = 0;
    Tensor counts = s.allocate(DType::Int64, s.in(0).shape());
    for (const std::string& text : s.in(0).stringData()) {
        all.push_back(partsOf(text, delimiter, most));
        counts.fill<int64_t>()[all.size() - 1] = static_cast<int64_t>(all.back().size());
        widest = std::max(widest, all.back().size());
    }
    Shape shape = s.in(0).shape();
    shape.push_back(static_cast<int64_t>(widest));
    QS_CHECK(allocateChecked(s, DType::UInt8, shape));
    Words out;
    for (Words& parts : all) {
        parts.resize(widest);
        out.insert(out.end(), parts.begin(), parts.end());
    }
    s.setOutput(0, Tensor::strings(shape, std::move(out)));
    if (s.outputCount() > 1)
        s.setOutput(1, std::move(counts));
    return {};
}

struct Normalizing {
    std::optional<LetterCase> wanted;
    bool caseSensitive;
    Words stopWords; ///< in lower case unless case counts

    bool stops(const std::string& word) const
    {
        return std::ranges::find(stopWords, caseSensitive ? word : inCase(word, LetterCase::Lower)) != stopWords.end();
    }
};

Status runNormalizer(const Normalizing& n, StepContext& s)
{
    QS_CHECK(needText(s, 1));
    const Shape& in = s.in(0).shape();
    if (in.size() != 1 && (in.size() != 2 || in[0] != 1))
        return badInput("an input of shape " + shapeText(in) + " is neither a list nor one row");
    Words out;
    for (const std::string& word : s.in(0).stringData())
        if (!n.stops(word))
            out.push_back(n.wanted ? inCase(word, *n.wanted) : word);
    if (out.empty())
        out.emplace_back();
    Shape shape = in;
    shape.back() = static_cast<int64_t>(out.size());
    s.setOutput(0, Tensor::strings(shape, std::move(out)));
    return {};
}

Result<LoweredNode> lowerNormalizer(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    const std::string action = a.text("case_change_action", "NONE");
    Normalizing n { {}, a.integer("is_case_sensitive", 0) != 0, {} };
    if (const auto* words = a.get<Words>("stopwords"))
        n.stopWords = *words;
    if (!n.caseSensitive)
        for (std::string& word : n.stopWords)
            word = inCase(word, LetterCase::Lower);
    if (action == "LOWER")
        n.wanted = LetterCase::Lower;
    else if (action == "UPPER")
        n.wanted = LetterCase::Upper;
    else if (action != "NONE")
        return badInput("the case change '" + action + "' is unknown");
    return LoweredNode { [n](StepContext& s) { return runNormalizer(n, s); }, "text" };
}

Result<LoweredNode> lowerMatch(const LowerContext& context)
{
    const std::string pattern = context.node.attributes.text("pattern", "");
    const Regex regex(pattern);
    if (!regex.fault().empty())
        return badInput("the pattern '" + pattern + "' is no regular expression: " + regex.fault());
    return LoweredNode { [regex](StepContext& s) -> Status {
                            QS_CHECK(needText(s, 1));
                            Tensor y = s.allocate(DType::Bool, s.in(0).shape());
                            std::ranges::transform(s.in(0).stringData(), y.fill<uint8_t>().begin(),
                                [&](const std::string& text) { return uint8_t(regex.matchesAll(text)); });
                            s.setOutput(0, std::move(y));
                            return {};
                        },
        "text" };
}

template <RunFn run> Result<LoweredNode> text(const LowerContext& context)
{
    QS_TRY(LoweredNode lowered, copying<run>(context));
    lowered.kernel = "text";
    return lowered;
}

} // namespace

void lowerText(LoweringRegistry& r)
{
    r.add("", "StringConcat", text<runConcat>);
    r.add("", "StringSplit", text<runStringSplit>);
    r.add("", "StringNormalizer", lowerNormalizer);
    r.add("", "RegexFullMatch", lowerMatch);
    lowerTfIdf(r);
}

} // namespace qs
