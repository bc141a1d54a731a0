// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/qdq/name_tails.h"
#include "core/quant/model/float_model.h"
#include "core/tensor/quant_params.h"

#include <set>

namespace qs {

/// A value as codes: names of the codes and of the constants that say what they mean.
struct QOperand {
    std::string codes, scale, zeroPoint;
    DType type = DType::Int8;
    std::vector<float> scales;
    std::vector<int32_t> zeroPoints;
    std::optional<int64_t> axis
        = std::nullopt; ///< that the scales belong to, as it was asked for (negative: from the end)

    /// Made for one product: its weight's channels each have a scale, or it is its bias. No other operator on codes
    /// takes such.
    bool onlyForProducts() const { return scales.size() > 1 || type == DType::Int32; }
};

/// Rebuilds the graph node by node in graph order with operators on codes. Rules are functions over this, one file a
/// family (core/quant/qoperator/*_rules.cpp); a node without a rule, or whose values have no ranges, stays float and
/// its inputs are dequantized.
class QOperatorBuilder {
public:
    /// `outer`: of a subgraph, that of the graph around it, which takes what is made of its own values and constants.
    QOperatorBuilder(FloatModel& floatModel, const Recipe& recipeToFollow, QOperatorBuilder* outer = nullptr);
    FloatModel& model;
    const Recipe& recipe;
    /// Activations are quantized while the model runs.
    bool dynamic() const { return recipe.format == RecipeFormat::Dynamic; }
    DType activationType() const { return dynamic() ? DType::UInt8 : recipe.activationType; }

    /// Codes that a value has already and any operator on codes can read; null when it has none.
    const QOperand* find(const std::string& name) const;
    bool isConstant(const std::string& name) const { return model.constant(name) != nullptr; }
    /// Of the graph that has the value: this one or one around it.
    QOperatorBuilder& home(const std::string& name);
    bool hasRange(const std::string& name) const;

    /// Codes of the activation type: those that exist, a constant's, or those of a new QuantizeLinear. Nullopt: it has
    /// no range or is not float.
    Result<std::optional<QOperand>> activation(const std::string& name);
    Result<std::optional<std::vector<QOperand>>> activations(const std::vector<std::string>& names);
    /// Codes of the weight type; with `axis` (negative: from the end) per channel. What is no constant is quantized as
    /// an activation.
    Result<std::optional<QOperand>> weight(const std::string& name, std::optional<int64_t> axis, DType type);
    /// Name of the int32 codes of a constant bias.
    Result<std::string> bias(const std::string& name, const QOperand& input, const std::string& weightName, float beta);
    /// Codes that a node will make of its output, which has a range.
    Result<QOperand> output(const std::string& name);
    /// The same with these parameters.
    QOperand outputWith(const std::string& name, float scale, int32_t zeroPoint, DType type);
    /// From now on `name` exists as these codes.
    void remember(const std::string& name, const QOperand& codes) { m_values.insert_or_assign(name, codes); }

    void add(DraftNode node);
    /// The node as it is, behind DequantizeLinear where an input exists as codes alone.
    void keepFloat(const DraftNode& node);
    /// The same of a node that was to be quantized, and why it is not.
    Status leave(const DraftNode& node, FloatReason reason);
    /// Because one of these values has no codes and can get none.
    Status leaveWithout(const DraftNode& node, const std::vector<std::string>& names);
    /// A rule that passes on codes: the input has none.
    Status leaveBehindFloat(const DraftNode& node);
    /// Its inputs are dequantized, for a node that takes its place and reads floats.
    void needFloats(const DraftNode& node);
    /// `made` takes the place of `old` and is named after it.
    void replace(const DraftNode& old, DraftNode made);
    static std::string codesName(const std::string& value) { return value + tails::kCodes; }

    /// Moves the nodes into the model's draft; graph outputs are dequantized.
    void finish();

private:
    /// Of all codes, those that were made for one product included.
    const QOperand* known(const std::string& name) const;
    /// Whether a weight's codes do for a product that asks for this axis.
    bool fits(const std::string& name, const QOperand& weight, std::optional<int64_t> axis) const;
    std::optional<FloatReason> whyOnlyForProducts(const std::vector<std::string>& names) const;
    void dequantize(const std::string& name);
    QOperand store(const std::string& name, const QuantParams& params, const Shape& shape, DType real);
    Result<QOperand> constant(const std::string& name, DType type, bool asWeight, std::optional<int64_t> axis);

    QOperatorBuilder* m_outer; ///< null: this is the main graph
    std::unordered_set<std::string> m_own; ///< of a subgraph: its values
    std::vector<DraftNode> m_nodes;
    std::unordered_map<std::string, QOperand> m_values;
    std::unordered_map<std::string, QuantParams> m_weights; ///< parameters of quantized constants
    std::set<std::string> m_floats; ///< values that exist as floats
};

using QOperatorRule = Status (*)(QOperatorBuilder& builder, const DraftNode& node);
/// Rebuilds the graph by these rules; with Recipe::subgraphs the bodies of its nodes, too.
Status quantizeNodes(FloatModel& model, const Recipe& recipe, const std::map<std::string, QOperatorRule>& rules);
Status quantizeQOperator(FloatModel& model, const Recipe& recipe);

// One a family.
std::map<std::string, QOperatorRule> qoperatorProductRules(); ///< Conv, MatMul, Gemm
std::map<std::string, QOperatorRule>
qoperatorElementRules(); ///< Add, Mul, Sigmoid, LeakyRelu, Relu, Clip, Softmax, Where
std::map<std::string, QOperatorRule> qoperatorPoolRules(); ///< AveragePool, GlobalAveragePool, MaxPool, Resize
std::map<std::string, QOperatorRule> qoperatorMovementRules(); ///< Reshape, Transpose, Concat, Split, Pad, Gather ...

/// EmbedLayerNormalization becomes QEmbedLayerNormalization, but where it also returns the sum of the embeddings.
Status quantizeEmbedding(QOperatorBuilder& builder, const DraftNode& node);
/// The node works on codes as on floats and passes their meaning on; it stays float when its input is.
Status passCodesOn(QOperatorBuilder& builder, const DraftNode& node);

} // namespace qs
