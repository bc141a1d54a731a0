// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"

#include <algorithm>

/// Operators of ai.onnx.ml.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

Result<Facts> inferLabelEncoder(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Attributes& a = c.node.attributes;
    DType type = DType::String;
    if (a.has("classes_strings"))
        type = c.input(0)->dtype == DType::String ? DType::Int64 : DType::String;
    else if (const auto* tensor = a.get<Tensor>("values_tensor"))
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

DType floatType(const InferContext& c) { return c.input(0) ? c.inputs[0].dtype : DType::Undefined; }

/// How many rows an input has: a list is one.
Dim rowsOf(const Fact& f)
{
    if (!f.dims || f.dims->empty() || f.dims->size() > 2)
        return unknownDim();
    return f.dims->size() == 1 ? knownDim(1) : (*f.dims)[0];
}

size_t listSize(const Attributes& a, const std::string& name)
{
    if (const auto* texts = a.get<std::vector<std::string>>(name))
        return texts->size();
    if (const auto* reals = a.get<std::vector<float>>(name))
        return reals->size();
    return a.integers(name).size();
}

/// Rows x targets.
Result<Facts> inferRegressor(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Attributes& a = c.node.attributes;
    const std::string count = c.node.opType == "LinearRegressor" ? "targets" : "n_targets";
    const DType type = c.node.opType == "TreeEnsemble" ? floatType(c) : DType::Float32;
    return Facts { fact(type, Dims { rowsOf(c.inputs[0]), knownDim(a.integer(count, 1)) }) };
}

/// A label for each row, and its scores.
Result<Facts> inferClassifier(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Attributes& a = c.node.attributes;
    const size_t texts = listSize(a, "classlabels_strings");
    const size_t classes = std::max({ texts, listSize(a, "classlabels_ints"), listSize(a, "classlabels_int64s") });
    const Dim rows = rowsOf(c.inputs[0]);
    const bool fixed = c.node.opType == "TreeEnsembleClassifier" && classes > 0;
    return Facts { fact(texts ? DType::String : DType::Int64, Dims { rows }),
        fact(DType::Float32, Dims { rows, fixed ? knownDim(static_cast<int64_t>(classes)) : unknownDim() }) };
}

/// Floats of the input's shape.
Result<Facts> inferFloats(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    return Facts { fact(DType::Float32, c.inputs[0].dims) };
}

Result<Facts> inferRowNormalizer(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& x = c.inputs[0];
    if (!x.dims || x.dims->empty())
        return Facts { fact(DType::Float32) };
    return Facts { fact(DType::Float32, Dims { rowsOf(x), x.dims->back() }) };
}

Result<Facts> inferHotCategories(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Attributes& a = c.node.attributes;
    std::optional<Dims> dims = c.inputs[0].dims;
    if (dims)
        dims->push_back(
            knownDim(static_cast<int64_t>(std::max(listSize(a, "cats_int64s"), listSize(a, "cats_strings")))));
    return Facts { fact(DType::Float32, std::move(dims)) };
}

Result<Facts> inferCategories(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const DType from = c.inputs[0].dtype;
    const DType type = from == DType::String ? DType::Int64 : from == DType::Int64 ? DType::String : DType::Undefined;
    return Facts { fact(type, c.inputs[0].dims) };
}

Result<Facts> inferFeatureVectors(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    int64_t width = 0;
    for (int64_t n : c.node.attributes.integers("inputdimensions"))
        if (n < 0 || __builtin_add_overflow(width, n, &width))
            return inferIssue(c.node, "its inputdimensions cannot be");
    return Facts { fact(DType::Float32, Dims { rowsOf(c.inputs[0]), knownDim(width) }) };
}

/// Products of rows with the coefficients (or the support vectors) of a model.
std::optional<int64_t> modelMacs(const InferContext& c, std::span<const Fact>)
{
    const Attributes& a = c.node.attributes;
    const auto factors = static_cast<int64_t>(std::max(listSize(a, "support_vectors"), listSize(a, "coefficients")));
    return dimProduct(Dims { rowsOf(c.inputs[0]), knownDim(factors) });
}

} // namespace

void registerMlOps(OpRegistry& r)
{
    r.add({ kMlDomain, "LabelEncoder", inferLabelEncoder, Tolerance::Exact });
    r.add({ kMlDomain, "ArrayFeatureExtractor", inferFeatures, Tolerance::Exact });
    r.add({ kMlDomain, "Binarizer", inferSame, Tolerance::Exact });
    r.add({ kMlDomain, "CategoryMapper", inferCategories, Tolerance::Exact });
    r.add({ kMlDomain, "FeatureVectorizer", inferFeatureVectors, Tolerance::Exact });
    r.add({ kMlDomain, "Imputer", inferSame, Tolerance::Exact });
    r.add({ kMlDomain, "LinearClassifier", inferClassifier, Tolerance::Accumulation, modelMacs });
    r.add({ kMlDomain, "LinearRegressor", inferRegressor, Tolerance::Accumulation, modelMacs });
    r.add({ kMlDomain, "Normalizer", inferRowNormalizer, Tolerance::Accumulation });
    r.add({ kMlDomain, "OneHotEncoder", inferHotCategories, Tolerance::Exact });
    r.add({ kMlDomain, "SVMClassifier", inferClassifier, Tolerance::Accumulation, modelMacs });
    r.add({ kMlDomain, "SVMRegressor", inferRegressor, Tolerance::Accumulation, modelMacs });
    r.add({ kMlDomain, "Scaler", inferFloats, Tolerance::OneUlp });
    for (const char* type : { "TreeEnsemble", "TreeEnsembleRegressor" })
        r.add({ kMlDomain, type, inferRegressor, Tolerance::Accumulation });
    r.add({ kMlDomain, "TreeEnsembleClassifier", inferClassifier, Tolerance::Accumulation });
}

} // namespace qs
