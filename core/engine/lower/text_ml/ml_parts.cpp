// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/text_ml/ml_parts.h"

#include "core/engine/lower/common/movement.h"

#include <algorithm>
#include <array>

namespace qs {

Result<FeatureRows> featureRows(const StepContext& c, size_t needed)
{
    const Tensor& x = c.in(0);
    if (!isNumeric(x.dtype()))
        return unsupportedType(x.dtype());
    if (x.rank() == 0 || x.rank() > 2)
        return badInput("its input must be rows of features, not of shape " + shapeText(x.shape()));
    FeatureRows rows;
    rows.values = asWork<double>(c, x);
    rows.count = x.rank() == 1 ? 1 : static_cast<size_t>(x.dim(0));
    rows.width = static_cast<size_t>(x.shape().back());
    if (rows.width < needed)
        return badInput(
            "it needs " + std::to_string(needed) + " features, but a row has " + std::to_string(rows.width));
    return rows;
}

Result<ScoreTransform> scoreTransform(const Node& node)
{
    static constexpr std::array<std::string_view, 5> names { "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT" };
    const int64_t* number = node.attributes.get<int64_t>("post_transform");
    const std::string text = node.attributes.text("post_transform", "NONE");
    const auto index = number ? *number : std::ranges::find(names, text) - names.begin();
    if (index < 0 || index >= std::ssize(names))
        return badInput("post_transform " + (number ? std::to_string(*number) : text) + " does not exist");
    return static_cast<ScoreTransform>(index);
}

ClassLabels ClassLabels::of(const Node& node, const std::string& integers, const std::string& texts)
{
    ClassLabels labels;
    if (const auto* list = node.attributes.get<std::vector<std::string>>(texts))
        labels.m_texts = *list;
    labels.m_integers = node.attributes.integers(integers);
    return labels;
}

Tensor ClassLabels::pick(const StepContext& c, const std::vector<size_t>& indices) const
{
    const Shape shape { static_cast<int64_t>(indices.size()) };
    if (!m_texts.empty()) {
        std::vector<std::string> out;
        for (size_t i : indices)
            out.push_back(i < m_texts.size() ? m_texts[i] : std::to_string(i));
        return Tensor::strings(shape, std::move(out));
    }
    Tensor out = c.allocate(DType::Int64, shape);
    std::ranges::transform(indices, out.fill<int64_t>().begin(),
        [&](size_t i) { return i < m_integers.size() ? m_integers[i] : static_cast<int64_t>(i); });
    return out;
}

void finishScores(std::vector<double>& scores, ScoreTransform transform, SecondClass second)
{
    if (scores.size() != 1 || transform == ScoreTransform::Probit)
        return transformScores(transform, scores.data(), scores.size());
    const double s = scores[0];
    if (second != SecondClass::None && transform == ScoreTransform::Logistic)
        scores = { logistic(-s), logistic(s) };
    else if (second == SecondClass::Complement)
        scores = { 1 - s, s };
    else if (second == SecondClass::Opposite)
        scores = { -s, s };
}

Status setScores(StepContext& c, size_t slot, DType type, const std::vector<std::vector<double>>& rows, size_t width)
{
    QS_TRY(Tensor out,
        allocateChecked(c, DType::Float64, { static_cast<int64_t>(rows.size()), static_cast<int64_t>(width) }));
    double* to = out.fill<double>().data();
    for (const auto& row : rows) {
        std::fill_n(to, width, 0.0);
        std::copy_n(row.begin(), std::min(width, row.size()), to);
        to += width;
    }
    c.setOutput(slot, fromWork<double>(c, std::move(out), type));
    return {};
}

std::vector<double> realList(const Attributes& a, const std::string& name)
{
    for (const std::string& key : { name, name + "_as_tensor" })
        if (const auto* t = a.get<Tensor>(key))
            return toDoubles(*t);
    const std::vector<float> list = a.reals(name);
    return { list.begin(), list.end() };
}

std::vector<int64_t> integerList(const Attributes& a, const std::string& name)
{
    if (const auto* t = a.get<Tensor>(name))
        return toInts(*t);
    return a.integers(name);
}

} // namespace qs
