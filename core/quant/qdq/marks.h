// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/model/float_model.h"

#include <set>

namespace qs {

/// What will become of one tensor in the Q/DQ form.
struct QdqMark {
    enum class Kind {
        Activation, ///< codes of the activation type (constants too: operands of Add ...)
        Weight, ///< codes of the weight type
    };
    Kind kind = Kind::Activation;
    DType real = DType::Float32;
    std::optional<int64_t> axis; ///< of a constant: per channel
    std::string provider; ///< the tensor whose parameters it shares; empty: its own
    std::string sharingNode; ///< node that shares them
};

struct BiasMark {
    std::string bias, input, weight;
    std::string node; ///< name of the reader
    float beta = 1;
};

/// Collects, node by node in graph order, what ONNX Runtime would quantize: its rules depend on what earlier nodes
/// marked. Rules are functions over this, one file a family (core/quant/qdq/*_rules.cpp).
class QdqMarks {
public:
    QdqMarks(FloatModel& floatModel, const Recipe& recipeToFollow)
        : model(floatModel)
        , recipe(recipeToFollow)
        , m_placedTensors(recipeToFollow.placement.tensors.begin(), recipeToFollow.placement.tensors.end())
        , m_placedNodes(recipeToFollow.placement.nodes.begin(), recipeToFollow.placement.nodes.end())
    {
    }
    FloatModel& model;
    const Recipe& recipe;

    void activation(const std::string& name);
    void activations(const std::vector<std::string>& names);
    /// With the weight type; per channel where the recipe, an override or the operator says so.
    void weight(const std::string& name, const DraftNode& reader, int64_t defaultAxis);
    void share(const std::string& name, const std::string& provider, const DraftNode& node);
    /// Input `slot` of the node.
    void bias(size_t node, size_t slot, const std::string& weight, float beta = 1);
    bool marked(const std::string& name) const { return m_marks.contains(name) || m_isBias.contains(name); }
    bool isConstant(const std::string& name) const { return model.draft.constant(name) != nullptr; }
    /// The node is no unit on codes, for that reason.
    void leave(size_t node, FloatReason reason) { model.stays(model.draft.nodes[node], std::move(reason)); }
    /// A rule that quantizes the node behind codes alone: its input `name` has none.
    void leaveBehindFloat(size_t node, const std::string& name);
    /// Notes the node where one of its values was to get codes and cannot.
    void noteRefused(size_t node);
    /// The recipe leaves outputs of that operator in float.
    bool skipsOutputs(const DraftNode& node) const;
    /// Lets the producer of the Relu's or Clip's input make its output, if the quantizer can do the clipping.
    bool absorbs(size_t node);

    /// A file says which of the node's values have quantizers (Recipe::placement).
    bool placed(const DraftNode& node) const { return m_placedNodes.contains(node.name); }
    /// Marks these alone. `rule`: of products and normalizations, which knows their weights and biases; may be null.
    void markPlaced(size_t node, void (*rule)(QdqMarks& marks, size_t node));

    const std::vector<std::string>& order() const { return m_order; }
    /// Null for what is not marked, and for biases.
    const QdqMark* find(const std::string& name) const
    {
        const auto it = m_marks.find(name);
        return it == m_marks.end() ? nullptr : &it->second;
    }
    const QdqMark& of(const std::string& name) const { return m_marks.at(name); }
    const std::vector<BiasMark>& biases() const { return m_biases; }
    const std::set<size_t>& removed() const { return m_removed; }

private:
    bool quantizable(const std::string& name);
    /// Whoever reads the output reads what the quantizer makes of it.
    bool quantizedForAll(const std::string& name);
    /// The output's quantizer does what the Relu or Clip does, and those that were left out before it.
    bool cutByRange(const DraftNode& clip);
    void add(const std::string& name, QdqMark mark, bool overwrite);
    /// Of the node that is being marked: its values outside the placement stay float.
    bool leftByFile(const std::string& name) const { return m_byFile && !m_placedTensors.contains(name); }
    std::optional<int64_t> channelAxis(const std::string& name, const DraftNode& reader, int64_t defaultAxis);

    std::vector<std::string> m_order;
    std::unordered_map<std::string, QdqMark> m_marks;
    std::vector<BiasMark> m_biases;
    std::set<std::string> m_isBias;
    std::set<size_t> m_removed;
    std::map<std::string, CutBounds> m_owed; ///< what the quantizer of a tensor has to do for removed nodes
    std::unordered_set<std::string> m_placedTensors, m_placedNodes;
    bool m_byFile = false; ///< while a placed node is marked
    std::set<std::string> m_warned;
    std::unordered_map<std::string, FloatReason> m_refused; ///< values that were to get codes
};

using MarkRule = void (*)(QdqMarks& marks, size_t node);
/// Marks the chosen nodes of the model in order.
QdqMarks markTensors(FloatModel& model, const Recipe& recipe);

// One a family.
std::map<std::string, MarkRule> productRules(); ///< Conv, ConvTranspose, Gemm, MatMul
std::map<std::string, MarkRule> movementRules(); ///< Reshape, Transpose, MaxPool, Resize, Split, Gather, Pad, Where ...
std::map<std::string, MarkRule> normRules(); ///< LayerNormalization, InstanceNormalization, BatchNormalization
std::map<std::string, MarkRule> clipRules(); ///< Relu, Clip

} // namespace qs
