// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/common/float_work.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/text_ml/class_scores.h"

#include <string>
#include <vector>

/// What the lowerings of ai.onnx.ml share. They compute in double.
namespace qs {

/// The input as rows of features: a list is one row.
struct FeatureRows {
    Tensor values; ///< float64
    size_t count = 1, width = 0;
    const double* row(size_t i) const { return values.data<double>().data() + i * width; }
};
/// Issue unless the input is a list or rows of numbers with at least `needed` features.
Result<FeatureRows> featureRows(const StepContext& c, size_t needed);

/// Of the attribute `post_transform`, a name (or a number in newer operators).
Result<ScoreTransform> scoreTransform(const Node& node);

/// The classes' names: integers or strings; 0, 1 ... where the node has none.
class ClassLabels {
public:
    static ClassLabels of(const Node& node, const std::string& integers, const std::string& texts);
    size_t count() const { return m_texts.empty() ? m_integers.size() : m_texts.size(); }
    /// One label a row by index; beyond the list the index itself.
    Tensor pick(const StepContext& c, const std::vector<size_t>& indices) const;

private:
    std::vector<int64_t> m_integers;
    std::vector<std::string> m_texts;
};

/// How the score of one of two classes becomes two.
enum class SecondClass : uint8_t { None, Complement, Opposite };
/// The last step of a row of scores.
void finishScores(std::vector<double>& scores, ScoreTransform transform, SecondClass second);

/// Writes rows of equally many scores as output `slot` of type `type`.
Status setScores(StepContext& c, size_t slot, DType type, const std::vector<std::vector<double>>& rows, size_t width);

/// Attribute `name` as doubles: a list of floats, or a tensor called `name` or `name`_as_tensor.
std::vector<double> realList(const Attributes& a, const std::string& name);
/// Attribute `name` as integers: a list, or a tensor of integers.
std::vector<int64_t> integerList(const Attributes& a, const std::string& name);

void lowerMlTrees(LoweringRegistry& r);
void lowerMlLinear(LoweringRegistry& r);
void lowerMlVectors(LoweringRegistry& r);
void lowerMlFeatures(LoweringRegistry& r);

} // namespace qs
