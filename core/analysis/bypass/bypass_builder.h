// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/stored_ranges.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/pairs/node_partners.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/graph/draft.h"
#include "core/qdq/qlinear_signature.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// Makes the bypassed file out of a draft of the quantized one.
class BypassBuilder {
public:
    enum class Weights {
        OfFloatModel,
        Alike, ///< the same where the stored ones are like them: both files may fold other things into a weight
        Stored
    };

    BypassBuilder(const ComparePair& pair, const std::vector<PairPlan>& pairs, Weights weights,
        BypassedRanges ranges = BypassedRanges::AsPaired);
    /// The issue names what has no float counterpart here. Once.
    Result<GraphDraft> make();
    /// Constants without a float partner get errors, too, as large as rounding to their codes makes. Before make().
    void disturbOwn() { m_disturbsOwn = true; }
    /// Numbers near 1 that the file multiplies by and the float model does not stay, see addedFactors(). Before make().
    void keepFactors() { m_keepsFactors = true; }
    const std::vector<std::string>& ownConstants() const { return m_own; } ///< that no float partner was found for
    size_t unlikeConstants() const { return m_unlike; } ///< those of them whose partner is not like them

private:
    const std::string& nameOf(ValueId id) const { return m_plan.graph().value(id).name; }
    const Quantizer& quantizer(uint32_t q) const { return m_pair.quantView->quantizers()[q]; }
    DraftNode* makerOf(const std::string& value);
    PairActivation activationOf(uint32_t q) const;
    /// Some output depends on one of them, or on what the quantizer makes.
    bool isUsed(std::span<const ValueId> values) const;
    bool isUsed(uint32_t index) const;
    bool refuse(const Node& node, std::string why); ///< keeps the reason; false
    Status bypassAll();
    void leaveFactorsOut();
    bool isPaddedZero(const Quantizer& q, const Tensor& stored) const;
    void leaveOut(const std::set<size_t>& nodes); ///< and what reads them: no output depends on them
    Status refusedInside() const; ///< quantizers in subgraphs

    void shareActivations();
    bool bypassActivation(uint32_t index);
    bool bypassConstant(uint32_t index);
    /// Codes that operators only moved, from a stored constant on: that one holds reals of `type` then.
    bool bypassTable(ValueId codes, const QuantParams& params, DType type);
    /// What an operator on codes reads, where no quantizer made it.
    std::optional<std::string> tableInput(const Node& node, const CodeOperand& operand);
    /// Name of a constant with the values of the float partner, or of the codes where there is none or these are
    /// wanted; in the order of the codes.
    std::optional<std::string> constantFor(uint32_t index);
    std::optional<Tensor> valueFor(uint32_t index);
    const Tensor* floatPartner(uint32_t index, bool& transposed) const;
    /// The float model's values, in the order of the codes.
    std::optional<Tensor> floatValues(uint32_t index, const Tensor* codes) const;
    /// Places in Alignment::weights.
    std::span<const size_t> weightsOf(uint32_t index) const;
    /// Of a constant whose pairs take it apart or put it in another order.
    std::optional<Tensor> movedPartners(uint32_t index, const Tensor& codes) const;
    /// The node that made `value` passes on `source`, within bounds.
    bool become(const std::string& value, const std::string& source, const PairActivation& bounds);
    void setBounds(DraftNode& node, const std::string& value, const std::string& source, const PairActivation& bounds);
    void declareFloats(); ///< values that were codes hold reals now

    // Operators on codes: false where one has no float counterpart.
    bool bypassOperator(size_t at, const Node& node);
    bool bypassQLinear(size_t at, const Node& node);
    bool bypassSums(size_t at, const Node& node);
    bool bypassProduct(size_t at, const Node& node, size_t biasSlot);
    bool bypassBlocks(size_t at, const Node& node);
    bool bypassRecurrent(size_t at, const Node& node); ///< DynamicQuantizeLSTM
    bool bypassExperts(size_t at, const Node& node); ///< QMoE
    std::optional<std::string> expertsFor(const Node& node, size_t slot, size_t own);
    bool bypassCache(size_t at, const Node& node); ///< attention that keeps codes
    bool bypassAttention(size_t at, const Node& node);
    bool bypassMovedCodes(size_t at, const Node& node); ///< Gather, Transpose ... of codes
    bool bypassEmbedding(size_t at, const Node& node);
    /// What an operator reads in place of the codes in this slot.
    std::optional<std::string> floatInput(const Node& node, int slot);
    std::string plainInput(const Node& node, size_t slot) const; ///< its own; "" = none
    /// The float partner's weight, columns last, of a product whose weight is stored in blocks.
    std::optional<std::string> blockWeightFor(const Node& node);
    Tensor columnsOf(ValueId codes, const Tensor& rows) const;
    DType realType(ValueId value) const; ///< float16 and bfloat16 as they are, else float32
    DType realTypeOfCodes(ValueId codes) const;
    bool isSoftmaxByAxis(const Node& node) const;
    void channelsFirst(size_t at, size_t slot, size_t rank); ///< of the data in `slot` and of the result
    void computeFloat(size_t at, const std::string& type, const std::string& domain, std::vector<std::string> inputs);
    void addBehind(size_t at, const std::string& constant);
    bool bypassPad(size_t at, const Node& node);
    void bound(size_t at, const Node& node);

    const ComparePair& m_pair;
    const Plan& m_plan;
    const Weights m_weights;
    const BypassedRanges m_ranges;
    const FoldedConstants m_folded;
    std::unordered_map<uint32_t, std::vector<size_t>> m_weightsOf; ///< pairs of weights by quantizer
    const NodePartners m_partners;
    const std::vector<bool> m_used; ///< by value
    GraphDraft m_draft;
    std::map<uint32_t, PairActivation> m_activations; ///< by quantizer
    std::map<std::string, size_t> m_makers;
    std::set<uint32_t> m_taken; ///< constants that are replaced
    std::vector<std::string> m_own;
    size_t m_unlike = 0;
    bool m_disturbsOwn = false, m_keepsFactors = false;
    std::optional<Issue> m_refusal;
};

} // namespace qs
