// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/text_ml/ml_parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include <algorithm>
#include <cmath>
#include <map>

/// Operators that make features ready for a model.
namespace qs {

namespace {

/// Element `i` of a list that has one element for all or one for each feature.
template <class List> auto ofFeature(const List& list, size_t i) { return list.size() == 1 ? list[0] : list[i]; }

/// Elements of rows of numbers as fn(element, feature), computed as W; the output has type `type`.
template <class W, class Fn> Status eachFeature(StepContext& c, DType type, Fn fn)
{
    const Tensor in = asWork<W>(c, c.in(0));
    Tensor out = c.allocate(dtypeOf<W>(), in.shape());
    const auto width = static_cast<size_t>(in.rank() ? in.shape().back() : 1);
    for (size_t i = 0; i < static_cast<size_t>(in.count()); ++i)
        out.fill<W>()[i] = fn(in.data<W>()[i], i % width);
    c.setOutput(0, fromWork<W>(c, std::move(out), type));
    return {};
}

Status needLength(size_t length, const StepContext& c, const char* what)
{
    const Tensor& x = c.in(0);
    const auto width = static_cast<size_t>(x.rank() ? x.shape().back() : 1);
    if (length == 1 || length == width)
        return {};
    return badInput("it has " + std::to_string(length) + " " + what + " for " + std::to_string(width) + " features");
}

Result<LoweredNode> lowerScaler(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    const std::vector<float> offset = a.reals("offset", { 0.0f }), scale = a.reals("scale", { 1.0f });
    return LoweredNode { [offset, scale](StepContext& c) -> Status {
                            QS_CHECK(needLength(offset.size(), c, "offsets"));
                            QS_CHECK(needLength(scale.size(), c, "scales"));
                            return eachFeature<double>(c, DType::Float32, [&](double x, size_t i) {
                                return (x - double(ofFeature(offset, i))) * double(ofFeature(scale, i));
                            });
                        },
        "element-wise" };
}

Result<LoweredNode> lowerImputer(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    const std::vector<float> reals = a.reals("imputed_value_floats");
    const std::vector<int64_t> integers = a.integers("imputed_value_int64s");
    const float missing = a.real("replaced_value_float", 0);
    const int64_t missingInteger = a.integer("replaced_value_int64", 0);
    if (reals.empty() && integers.empty())
        return badInput("it has no imputed values");
    return LoweredNode { [=](StepContext& c) -> Status {
                            const Tensor& x = c.in(0);
                            if (isInteger(x.dtype()) && !integers.empty()) {
                                QS_CHECK(needLength(integers.size(), c, "imputed values"));
                                return eachFeature<int64_t>(c, x.dtype(), [&](int64_t v, size_t i) {
                                    return v == missingInteger ? ofFeature(integers, i) : v;
                                });
                            }
                            if (reals.empty() || !isFloat(x.dtype()))
                                return badInput("its imputed values do not fit elements of type "
                                    + std::string(dtypeName(x.dtype())));
                            QS_CHECK(needLength(reals.size(), c, "imputed values"));
                            return eachFeature<double>(c, x.dtype(), [&](double v, size_t i) {
                                const bool replace = std::isnan(missing) ? std::isnan(v) : v == double(missing);
                                return replace ? double(ofFeature(reals, i)) : v;
                            });
                        },
        "element-wise" };
}

enum class RowNorm { Greatest, Absolute, Euclidean };

Result<LoweredNode> lowerRowNormalizer(const LowerContext& context)
{
    static const std::map<std::string, RowNorm> names { { "MAX", RowNorm::Greatest }, { "L1", RowNorm::Absolute },
        { "L2", RowNorm::Euclidean } };
    const auto norm = names.find(context.node.attributes.text("norm", "MAX"));
    if (norm == names.end())
        return badInput("its norm must be MAX, L1 or L2");
    return LoweredNode { [norm = norm->second](StepContext& c) -> Status {
                            QS_TRY(const FeatureRows rows, featureRows(c, 0));
                            std::vector<std::vector<double>> out;
                            for (size_t i = 0; i < rows.count; ++i) {
                                std::vector<double> row(rows.row(i), rows.row(i) + rows.width);
                                double size = row.empty() ? 0 : norm == RowNorm::Greatest ? row[0] : 0;
                                for (double v : row)
                                    size = norm == RowNorm::Greatest ? std::max(size, v)
                                        : norm == RowNorm::Absolute  ? size + std::abs(v)
                                                                     : size + v * v;
                                size = norm == RowNorm::Euclidean ? std::sqrt(size) : size;
                                for (double& v : row)
                                    v = size != 0 ? v / size : v;
                                out.push_back(std::move(row));
                            }
                            return setScores(c, 0, DType::Float32, out, rows.width);
                        },
        "rows" };
}

Status runHotCategories(const Node& node, KernelMode, StepContext& c)
{
    const auto* texts = node.attributes.get<std::vector<std::string>>("cats_strings");
    const std::vector<int64_t> integers = node.attributes.integers("cats_int64s");
    const Tensor& x = c.in(0);
    const size_t categories = texts ? texts->size() : integers.size();
    if (categories == 0 || (x.dtype() == DType::String) != (texts != nullptr))
        return badInput("its categories do not fit elements of type " + std::string(dtypeName(x.dtype())));
    Shape shape = x.shape();
    shape.push_back(static_cast<int64_t>(categories));
    QS_TRY(Tensor out, allocateChecked(c, DType::Float32, shape));
    std::ranges::fill(out.fill<float>(), 0.0f);
    const Tensor numbers = texts ? x : asWork<int64_t>(c, x);
    for (size_t i = 0; i < static_cast<size_t>(x.count()); ++i) {
        const size_t at = texts
            ? static_cast<size_t>(std::ranges::find(*texts, x.stringData()[i]) - texts->begin())
            : static_cast<size_t>(std::ranges::find(integers, numbers.data<int64_t>()[i]) - integers.begin());
        if (at < categories)
            out.fill<float>()[i * categories + at] = 1;
        else if (node.attributes.integer("zeros", 1) == 0)
            return badInput("element " + std::to_string(i) + " is none of its categories");
    }
    c.setOutput(0, std::move(out));
    return {};
}

/// Joins rows of several inputs; each takes as many places as `inputdimensions` says, filled up with zeros.
Status runFeatureVectors(const Node& node, KernelMode, StepContext& c)
{
    const std::vector<int64_t> sizes = node.attributes.integers("inputdimensions");
    if (sizes.size() != c.inputCount() || sizes.empty() || std::ranges::any_of(sizes, [](int64_t n) { return n < 0; }))
        return badInput("its inputdimensions do not fit " + std::to_string(c.inputCount()) + " inputs");
    int64_t width = 0;
    for (int64_t n : sizes)
        if (__builtin_add_overflow(width, n, &width))
            return badInput("its inputdimensions are too large");
    const auto rowsOf = [](const Tensor& t) { return t.rank() < 2 ? int64_t(1) : t.dim(0); };
    const int64_t rows = rowsOf(c.in(0));
    QS_TRY(Tensor out, allocateChecked(c, DType::Float32, { rows, width }));
    std::ranges::fill(out.fill<float>(), 0.0f);
    int64_t first = 0;
    for (size_t k = 0; k < sizes.size(); first += sizes[k++]) {
        const Tensor x = asWork<float>(c, c.in(k));
        if (rowsOf(x) != rows)
            return badInput("its inputs have " + std::to_string(rows) + " and " + std::to_string(rowsOf(x)) + " rows");
        const int64_t each = rows ? x.count() / rows : 0;
        for (int64_t i = 0; i < rows; ++i)
            std::copy_n(x.data<float>().data() + i * each, std::min(each, sizes[k]),
                out.fill<float>().data() + i * width + first);
    }
    c.setOutput(0, std::move(out));
    return {};
}

} // namespace

void lowerMlFeatures(LoweringRegistry& r)
{
    r.add(kMlDomain, "Scaler", lowerScaler);
    r.add(kMlDomain, "Imputer", lowerImputer);
    r.add(kMlDomain, "Normalizer", lowerRowNormalizer);
    r.add(kMlDomain, "OneHotEncoder", copying<runHotCategories>);
    r.add(kMlDomain, "FeatureVectorizer", copying<runFeatureVectors>);
}

} // namespace qs
