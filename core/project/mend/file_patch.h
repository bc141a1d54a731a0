// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/base/result.h"
#include "core/graph/draft.h"
#include "core/quant/params/scale.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qs {

/// Changes quantizers of a file in Q/DQ form, and the parameters of operators on codes; all else in it stays as it is.
/// Quantizers go by their index in the QuantView of the pair. Issues: it is not known who reads the quantizer's
/// parameters.
class FilePatch {
public:
    explicit FilePatch(const ComparePair& pair);

    /// An activation's scale and zero point hold this range of real values, in the type and symmetry that it has;
    /// quantizers that only pass its elements on, or read them back out of a cache, keep equal parameters, for all
    /// ranges that are set of them.
    Status setRange(uint32_t quantizer, double low, double high);
    /// A weight or bias is quantized anew from its float partner, in the type that it has; with `axis` (of the float
    /// constant) one scale for each index of it. Issue: there is no partner.
    Status requantize(uint32_t quantizer, std::optional<int64_t> axis = {}, bool reduced = false);
    /// The same of a weight that operators hold in blocks, perhaps with 8 bits in place of fewer; all else that these
    /// say stays.
    Status requantizeBlocks(uint32_t quantizer, bool eightBits);
    /// A weight becomes int8 or uint8 along `axis` (of the float constant), by its float partner: codes of fewer bits
    /// that the file stores, behind a Clip or in a packed type, or blocks of an operator.
    Status widen(uint32_t quantizer, int64_t axis);
    /// A constant that is no codes gets the values of the float file's.
    Status storeFloat(const std::string& name, const std::string& floatName);
    /// ConvInteger and MatMulInteger read its codes: the scale is multiplied in behind them, where it is not changed.
    bool isSummed(uint32_t quantizer) const { return !sums(quantizer).empty(); }
    /// These take the writer's own zero point.
    Status readAsWritten(uint32_t quantizer);
    /// The Clip on its codes lets these pass. Issue: there is none.
    Status openClip(uint32_t quantizer, int64_t low, int64_t high);
    /// Takes it out: readers see the float values, cut by the activation that the quantizer replaces.
    Status bypass(uint32_t quantizer);
    /// Whether some quantizer serves the node.
    bool servesQuantized(NodeId id) const;
    /// A node and all quantizers that serve it: its inputs for itself alone, its constants, its output.
    Status bypassNode(NodeId node);
    /// The quantizer whose output stands behind a node; nothing where it has none.
    std::optional<uint32_t> outputQuantizer(NodeId node) const;

    /// The changed file. Biases lie on the grid of their layer's sums again where they did before. Once.
    Result<GraphDraft> take();

private:
    const std::string& nameOf(ValueId id) const;
    const Quantizer& quantizer(uint32_t q) const { return m_pair.quantView->quantizers()[q]; }
    const QuantParams& params(uint32_t q) const;
    Status refuse(uint32_t q, std::string_view why) const;
    /// Where a node of the file reads codes and what they mean.
    struct Place {
        NodeId node;
        std::optional<size_t> codes, scale, zeroPoint; ///< inputs
    };
    std::vector<Place> places(uint32_t q) const;
    std::vector<std::pair<NodeId, size_t>> sums(uint32_t q) const; ///< their inputs for its zero point
    bool isPair(uint32_t q) const; ///< of QuantizeLinear (if any) and DequantizeLinear
    bool isChangeable(uint32_t q) const; ///< such a pair, or read and made by nodes that say what the codes mean
    bool isCached(uint32_t q) const; ///< its codes leave the file, which reads them back itself
    bool isMoved(uint32_t q) const;
    /// It, and those with equal parameters that quantize its value for other readers, pass its elements on, or write or
    /// read the same cache.
    std::set<uint32_t> sharing(uint32_t q) const;
    std::optional<uint32_t> passedFrom(uint32_t q) const;
    std::vector<uint32_t> passedTo(uint32_t q) const;
    QuantParams rangeParams(uint32_t q, double low, double high) const;
    Status setParams(uint32_t q, const QuantParams& params);
    void setInput(DraftNode& node, size_t slot, const std::string& name);
    Status setWeight(uint32_t q, const Tensor& value, std::optional<int64_t> axis, ScaleRules rules);
    void setCodes(const Quantizer& q, const std::string& name, bool kept);
    Status setBias(uint32_t q, const Tensor& value);
    std::vector<size_t> blockReaders(uint32_t q) const; ///< nodes of the draft that hold it in blocks
    Status setProduct(uint32_t q, size_t reader, const Tensor& value, bool eightBits);
    Status setTable(uint32_t q, size_t reader, const Tensor& value, bool eightBits);
    void setBlockInput(DraftNode& node, size_t slot, const std::string& name, const Tensor& value);
    Status bypassBlocks(NodeId node);
    std::optional<Tensor> partner(uint32_t q) const; ///< float constant in the order of the codes
    std::optional<Tensor> dequantizedOf(uint32_t q) const; ///< as the file has it
    Status alignBias(const QuantUnit& unit);
    Tensor alignedBias(uint32_t bias, Tensor stored, const std::vector<float>& scales) const;
    std::optional<std::string> floatSource(uint32_t q);
    void pass(DraftNode& node, const std::string& source, const PairActivation& bounds);

    const ComparePair m_pair;
    const Plan& m_plan;
    const FoldedConstants m_folded;
    GraphDraft m_draft;
    std::map<uint32_t, PairActivation> m_activations;
    std::map<uint32_t, QuantParams> m_params; ///< that were changed
    std::map<uint32_t, std::pair<double, double>> m_ranges; ///< that were set
    std::set<uint32_t> m_bypassed;
    std::vector<std::pair<uint32_t, uint32_t>> m_caches; ///< quantizers of what is written and read back
};

} // namespace qs
