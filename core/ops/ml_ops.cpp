// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"

/// Operators of ai.onnx.ml.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

Result<Facts> inferLabelEncoder(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Attributes& a = c.node.attributes;
    DType type = DType::String;
    if (const auto* tensor = a.get<Tensor>("values_tensor"))
        type = tensor->dtype();
    else if (a.has("values_int64s"))
        type = DType::Int64;
    else if (a.has("values_floats"))
        type = DType::Float32;
    return Facts { fact(type, c.input(0)->dims) };
}

Result<Facts> inferFeatures(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    std::optional<Dims> dims = c.input(0)->dims;
    if (dims && dims->empty())
        return inferIssue(c.node, "the input needs an axis");
    const auto& picked = c.input(1)->dims;
    if (dims && dims->size() == 1)
        dims->insert(dims->begin(), knownDim(1));
    if (dims) {
        const auto count = picked ? dimProduct(*picked) : std::nullopt;
        dims->back() = count ? knownDim(*count) : unknownDim();
    }
    return Facts { fact(c.input(0)->dtype, std::move(dims)) };
}

} // namespace

void registerMlOps(OpRegistry& r)
{
    r.add({ kMlDomain, "LabelEncoder", inferLabelEncoder, Tolerance::Exact });
    r.add({ kMlDomain, "ArrayFeatureExtractor", inferFeatures, Tolerance::Exact });
    r.add({ kMlDomain, "Binarizer", inferSame, Tolerance::Exact });
}

} // namespace qs
