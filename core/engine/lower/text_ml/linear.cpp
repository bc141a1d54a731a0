// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/text_ml/ml_parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include <algorithm>

/// Linear models.
namespace qs {

namespace {

/// Scores of one row: products with rows of coefficients, one a target, and what is added. Features of data say how
/// long a row of coefficients is: where there are fewer than the coefficients have places for, ONNX Runtime takes the
/// first ones in a row, and the outputs of such files are what it gives (the standard leaves them open).
struct LinearModel {
    std::vector<double> coefficients, intercepts;
    size_t targets = 1, features = 0;

    std::vector<double> scores(const FeatureRows& rows, size_t index) const
    {
        const double* row = rows.row(index);
        const size_t width = std::min(features, rows.width);
        std::vector<double> out(targets);
        for (size_t t = 0; t < targets; ++t) {
            double sum = t < intercepts.size() ? intercepts[t] : 0;
            for (size_t i = 0; i < width; ++i)
                sum += coefficients[t * width + i] * row[i];
            out[t] = sum;
        }
        return out;
    }
};

Result<LinearModel> linearModel(const Attributes& a, size_t targets)
{
    LinearModel m { realList(a, "coefficients"), realList(a, "intercepts"), targets };
    if (targets == 0 || m.coefficients.empty() || m.coefficients.size() % targets != 0
        || (!m.intercepts.empty() && m.intercepts.size() != targets))
        return badInput("its " + std::to_string(m.coefficients.size()) + " coefficients and "
            + std::to_string(m.intercepts.size()) + " intercepts do not fit " + std::to_string(targets) + " targets");
    m.features = m.coefficients.size() / targets;
    return m;
}

Result<LoweredNode> lowerLinearRegressor(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    QS_TRY(const LinearModel model, linearModel(a, static_cast<size_t>(std::max<int64_t>(a.integer("targets", 1), 0))));
    QS_TRY(const ScoreTransform transform, scoreTransform(context.node));
    return LoweredNode { [model, transform](StepContext& c) -> Status {
                            QS_TRY(const FeatureRows rows, featureRows(c, 1));
                            std::vector<std::vector<double>> out;
                            for (size_t i = 0; i < rows.count; ++i) {
                                out.push_back(model.scores(rows, i));
                                finishScores(out.back(), transform, SecondClass::None);
                            }
                            return setScores(c, 0, DType::Float32, out, model.targets);
                        },
        "products" };
}

Result<LoweredNode> lowerLinearClassifier(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    const ClassLabels labels = ClassLabels::of(context.node, "classlabels_ints", "classlabels_strings");
    const size_t intercepts = realList(a, "intercepts").size();
    QS_TRY(const LinearModel model, linearModel(a, intercepts ? intercepts : std::max<size_t>(labels.count(), 1)));
    QS_TRY(const ScoreTransform transform, scoreTransform(context.node));
    const bool two = model.targets == 1 && labels.count() == 2;
    return LoweredNode { [=](StepContext& c) -> Status {
                            QS_TRY(const FeatureRows rows, featureRows(c, 1));
                            std::vector<std::vector<double>> out;
                            std::vector<size_t> classes;
                            for (size_t i = 0; i < rows.count; ++i) {
                                std::vector<double> scores = model.scores(rows, i);
                                const auto best = std::ranges::max_element(scores) - scores.begin();
                                classes.push_back(model.targets > 1 ? static_cast<size_t>(best) : scores[0] > 0);
                                finishScores(scores, transform, two ? SecondClass::Complement : SecondClass::None);
                                out.push_back(std::move(scores));
                            }
                            c.setOutput(0, labels.pick(c, classes));
                            return setScores(c, 1, DType::Float32, out, two ? 2 : model.targets);
                        },
        "products" };
}

} // namespace

void lowerMlLinear(LoweringRegistry& r)
{
    r.add(kMlDomain, "LinearRegressor", lowerLinearRegressor);
    r.add(kMlDomain, "LinearClassifier", lowerLinearClassifier);
}

} // namespace qs
