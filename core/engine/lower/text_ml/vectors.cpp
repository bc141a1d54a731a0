// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/text_ml/ml_parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include <algorithm>
#include <array>
#include <numeric>

/// Support vector machines.
namespace qs {

namespace {

using Reals = std::vector<double>;

Result<VectorKernelParameters> kernelParameters(const Attributes& a)
{
    static constexpr std::array<std::string_view, 4> names { "LINEAR", "POLY", "RBF", "SIGMOID" };
    const std::string name = a.text("kernel_type", "LINEAR");
    const auto kind = std::ranges::find(names, name) - names.begin();
    if (kind == std::ssize(names))
        return badInput("kernel_type " + name + " does not exist");
    Reals p = realList(a, "kernel_params");
    p.resize(3);
    return VectorKernelParameters { static_cast<VectorKernel>(kind), p[0], p[1], p[2] };
}

/// What regression and classification have in common.
struct SupportVectors {
    VectorKernelParameters kernel;
    Reals vectors, coefficients, rho;
    size_t count = 0; ///< 0: coefficients are rows of a linear model
    size_t features = 0;
    ScoreTransform transform = ScoreTransform::None;

    /// Products of a row with all support vectors.
    Reals products(const double* row) const
    {
        Reals out(count);
        for (size_t v = 0; v < count; ++v)
            out[v] = kernelProduct(kernel, row, vectors.data() + v * features, features);
        return out;
    }
    double linear(const double* row, size_t target) const
    {
        const VectorKernelParameters plain {};
        return kernelProduct(plain, row, coefficients.data() + target * features, features);
    }
};

Result<SupportVectors> supportVectors(const Node& node, int64_t count)
{
    const Attributes& a = node.attributes;
    SupportVectors s;
    QS_TRY(s.kernel, kernelParameters(a));
    QS_TRY(s.transform, scoreTransform(node));
    s.vectors = realList(a, "support_vectors");
    s.coefficients = realList(a, "coefficients");
    s.rho = realList(a, "rho");
    if (count < 0 || s.rho.empty()
        || (count > 0 && (s.vectors.empty() || s.vectors.size() % static_cast<size_t>(count))))
        return badInput("its support vectors or rho are missing or do not fit their number");
    s.count = static_cast<size_t>(count);
    s.features = s.count ? s.vectors.size() / s.count : 0;
    return s;
}

Result<LoweredNode> lowerSvmRegressor(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    QS_TRY(SupportVectors s, supportVectors(context.node, a.integer("n_supports", 0)));
    if (s.count ? s.coefficients.size() < s.count : s.coefficients.empty())
        return badInput("it has too few coefficients");
    if (!s.count)
        s.features = s.coefficients.size();
    const bool oneClass = a.integer("one_class", 0) != 0;
    return LoweredNode { [s, oneClass](StepContext& c) -> Status {
                            QS_TRY(const FeatureRows rows, featureRows(c, s.features));
                            std::vector<Reals> out;
                            for (size_t i = 0; i < rows.count; ++i) {
                                double sum = s.rho[0];
                                if (s.count) {
                                    const Reals products = s.products(rows.row(i));
                                    sum = std::inner_product(
                                        products.begin(), products.end(), s.coefficients.begin(), sum);
                                } else {
                                    sum += s.linear(rows.row(i), 0);
                                }
                                out.push_back({ oneClass ? (sum > 0 ? 1.0 : -1.0) : sum });
                                finishScores(out.back(), s.transform, SecondClass::None);
                            }
                            return setScores(c, 0, DType::Float32, out, 1);
                        },
        "support vectors" };
}

/// Decides by pairs of classes.
class VectorClassifier {
public:
    VectorClassifier(SupportVectors s, const Attributes& a, size_t classes)
        : m_vectors(std::move(s))
        , m_perClass(a.integers("vectors_per_class"))
        , m_probA(realList(a, "prob_a"))
        , m_probB(realList(a, "prob_b"))
        , m_classes(classes)
        , m_takesSecond(classes == 2 && m_probA.empty() && a.has("classlabels_ints")
              && std::ranges::all_of(m_vectors.coefficients, [](double v) { return v >= 0; }))
    {
    }

    Status check() const
    {
        const SupportVectors& s = m_vectors;
        const size_t pairs = m_classes * (m_classes - 1) / 2;
        const bool fits = s.count ? s.coefficients.size() >= (m_classes - 1) * s.count && s.rho.size() >= pairs
                && m_perClass.size() == m_classes
                                  : s.coefficients.size() == m_classes * s.features;
        if (m_classes == 0 || !fits || m_probA.size() != m_probB.size()
            || (!m_probA.empty() && m_probA.size() != pairs))
            return badInput(
                "its coefficients, rho or probabilities do not fit " + std::to_string(m_classes) + " classes");
        return {};
    }
    size_t features() const { return m_vectors.features; }
    /// How many scores a row has.
    size_t width() const
    {
        if (!m_vectors.count || !m_probA.empty())
            return m_classes;
        return m_classes == 2 ? 2 : m_classes * (m_classes - 1) / 2;
    }

    /// The class of a row, and its scores.
    size_t decide(const double* row, Reals& scores) const
    {
        size_t best = 0;
        if (!m_vectors.count) {
            for (size_t t = 0; t < m_classes; ++t)
                scores.push_back(m_vectors.linear(row, t) + m_vectors.rho[0]);
            best = argmax(scores);
        } else {
            std::vector<double> votes(m_classes);
            scores = pairScores(m_vectors.products(row), votes);
            if (!m_probA.empty())
                scores = probabilities(scores);
            best = argmax(votes);
            if (m_takesSecond)
                best = 1;
        }
        finishScores(scores, m_vectors.transform, SecondClass::Opposite);
        return best;
    }

private:
    static size_t argmax(const Reals& v) { return static_cast<size_t>(std::ranges::max_element(v) - v.begin()); }

    Reals pairScores(const Reals& products, Reals& votes) const
    {
        const SupportVectors& s = m_vectors;
        std::vector<size_t> first(m_classes + 1);
        for (size_t i = 0; i < m_classes; ++i)
            first[i + 1] = first[i] + static_cast<size_t>(m_perClass[i]);
        Reals scores;
        const auto part = [&](size_t of, size_t against) {
            const double* weights = s.coefficients.data() + (against - (against > of)) * s.count;
            return std::inner_product(products.begin() + std::ptrdiff_t(first[of]),
                products.begin() + std::ptrdiff_t(first[of + 1]), weights + first[of], 0.0);
        };
        for (size_t i = 0; i < m_classes; ++i)
            for (size_t j = i + 1; j < m_classes; ++j) {
                const double sum = s.rho[scores.size()] + part(i, j) + part(j, i);
                scores.push_back(sum);
                ++votes[sum > 0 ? i : j];
            }
        return scores;
    }

    Reals probabilities(const Reals& scores) const
    {
        Reals pairs(m_classes * m_classes), work(m_classes * (m_classes + 1)), out(m_classes);
        size_t k = 0;
        for (size_t i = 0; i < m_classes; ++i)
            for (size_t j = i + 1; j < m_classes; ++j, ++k) {
                const double p = std::clamp(1 - logistic(scores[k] * m_probA[k] + m_probB[k]), 1e-7, 1 - 1e-7);
                pairs[i * m_classes + j] = p;
                pairs[j * m_classes + i] = 1 - p;
            }
        coupleProbabilities(pairs.data(), m_classes, work.data(), out.data());
        return out;
    }

    SupportVectors m_vectors;
    std::vector<int64_t> m_perClass;
    Reals m_probA, m_probB;
    size_t m_classes;
    bool
        m_takesSecond; ///< as ONNX Runtime and the reference of ONNX do with integer labels where no weight is negative
};

Result<LoweredNode> lowerSvmClassifier(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    const ClassLabels labels = ClassLabels::of(context.node, "classlabels_ints", "classlabels_strings");
    const std::vector<int64_t> perClass = a.integers("vectors_per_class");
    int64_t vectors = 0;
    for (int64_t n : perClass) {
        if (n < 0 || n > (int64_t(1) << 32))
            return badInput("a class has " + std::to_string(n) + " support vectors");
        vectors += n;
    }
    QS_TRY(SupportVectors s, supportVectors(context.node, vectors));
    const size_t classes = labels.count();
    if (!s.count && classes)
        s.features = s.coefficients.size() / classes;
    const auto model = std::make_shared<const VectorClassifier>(std::move(s), a, classes);
    QS_CHECK(model->check());
    return LoweredNode { [labels, model](StepContext& c) -> Status {
                            QS_TRY(const FeatureRows rows, featureRows(c, model->features()));
                            std::vector<Reals> out(rows.count);
                            std::vector<size_t> chosen;
                            for (size_t i = 0; i < rows.count; ++i)
                                chosen.push_back(model->decide(rows.row(i), out[i]));
                            c.setOutput(0, labels.pick(c, chosen));
                            return setScores(c, 1, DType::Float32, out, model->width());
                        },
        "support vectors" };
}

} // namespace

void lowerMlVectors(LoweringRegistry& r)
{
    r.add(kMlDomain, "SVMRegressor", lowerSvmRegressor);
    r.add(kMlDomain, "SVMClassifier", lowerSvmClassifier);
}

} // namespace qs
