// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"

#include <algorithm>

/// Operators on strings.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

Status needText(const InferContext& c, size_t slot)
{
    const DType type = c.input(slot)->dtype;
    if (type != DType::String && type != DType::Undefined)
        return inferIssue(c.node, "input " + std::to_string(slot) + " must hold strings");
    return {};
}

Result<Facts> inferStringConcat(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    QS_CHECK(needText(c, 0));
    QS_CHECK(needText(c, 1));
    const Fact* both[] = { c.input(0), c.input(1) };
    QS_TRY(auto dims, broadcastDims(c.node, both));
    return Facts { fact(DType::String, std::move(dims)) };
}

Result<Facts> inferStringSplit(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    QS_CHECK(needText(c, 0));
    Facts out { fact(DType::String), fact(DType::Int64, c.input(0)->dims) };
    if (const auto& dims = c.input(0)->dims) {
        out[0].dims = dims;
        out[0].dims->push_back(unknownDim());
    }
    return out;
}

Result<Facts> inferNormalizer(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    QS_CHECK(needText(c, 0));
    std::optional<Dims> dims = c.input(0)->dims;
    if (dims && dims->size() != 1 && dims->size() != 2)
        return inferIssue(c.node, "the input needs rank 1 or 2");
    if (dims)
        dims->back() = unknownDim();
    return Facts { fact(DType::String, std::move(dims)) };
}

Result<Facts> inferMatch(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    QS_CHECK(needText(c, 0));
    return Facts { fact(DType::Bool, c.input(0)->dims) };
}

Result<Facts> inferTfIdf(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const auto columns = c.node.attributes.integers("ngram_indexes");
    const bool sound
        = !columns.empty() && std::ranges::all_of(columns, [](int64_t i) { return i >= 0 && i < INT32_MAX; });
    if (!sound)
        return inferIssue(c.node, "its ngram_indexes are missing or out of range");
    std::optional<Dims> dims = c.input(0)->dims;
    if (dims && dims->size() > 2)
        return inferIssue(c.node, "the input needs rank 1 or 2");
    if (dims) {
        dims->resize(std::max<size_t>(dims->size(), 1));
        dims->back() = knownDim(*std::ranges::max_element(columns) + 1);
    }
    return Facts { fact(DType::Float32, std::move(dims)) };
}

} // namespace

void registerTextOps(OpRegistry& r)
{
    r.add({ "", "StringConcat", inferStringConcat, Tolerance::Exact });
    r.add({ "", "StringSplit", inferStringSplit, Tolerance::Exact });
    r.add({ "", "StringNormalizer", inferNormalizer, Tolerance::Exact });
    r.add({ "", "RegexFullMatch", inferMatch, Tolerance::Exact });
    r.add({ "", "TfIdfVectorizer", inferTfIdf, Tolerance::OneUlp });
}

} // namespace qs
