// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/sensitivity_inputs.h"
#include "core/quant/write/quantizer.h"

#include <span>

namespace qs {

/// Something that can be quantized or left in float by itself.
struct QuantizedUnit {
    std::string name; ///< of the node or tensor, or the operator type
    std::string opType; ///< of the node; of a tensor: "activation", "weight" or "bias"
    std::vector<std::string>
        members; ///< node names, by tensor: names of the quantized draft's DequantizeLinear outputs
    int64_t macs = 0;
};

/// A float model and its quantization by a recipe, taken apart into units. All units but those asked for can be left in
/// float.
class QuantizedUnits {
public:
    /// `sizes`: of the graph inputs in the samples. Issues: the recipe does not fit the model,
    /// or its format has no tensors of its own.
    static Result<QuantizedUnits> make(const SensitivityInputs& inputs, const OuterFacts& sizes);
    const std::vector<QuantizedUnit>& units() const { return m_units; }
    /// Of all nodes that have any, quantized or not.
    int64_t totalMacs() const { return m_totalMacs; }
    int64_t unitMacs() const; ///< of the units
    bool macsKnown() const { return m_macsKnown; }
    const GraphDraft& prepared() const { return m_prepared; }

    /// The model with these units quantized alone, or with all others quantized. Sorted unit indices.
    Result<GraphDraft> only(std::span<const size_t> units) const;
    Result<GraphDraft> without(std::span<const size_t> units) const;

private:
    explicit QuantizedUnits(GraphDraft prepared)
        : m_prepared(std::move(prepared))
    {
    }
    Status addNodes(const OuterFacts& sizes);
    Status addTensors();
    Result<QuantizedDraft> quantize(const Recipe& recipe) const;
    Result<GraphDraft> byRecipe(const std::vector<std::string>& include, const std::vector<std::string>& exclude) const;

    GraphDraft m_prepared;
    std::optional<GraphDraft> m_quantized; ///< by tensor: with all of them
    Recipe m_recipe;
    Ranges m_ranges;
    std::shared_ptr<const ReadyBlocks> m_blocks;
    std::shared_ptr<const KeptCodes> m_fileCodes;
    std::shared_ptr<QuantizedConstants> m_constants = std::make_shared<QuantizedConstants>();
    std::shared_ptr<MadeConstants> m_made = std::make_shared<MadeConstants>();
    UnitKind m_kind = UnitKind::Node;
    std::vector<QuantizedUnit> m_units;
    int64_t m_totalMacs = 0;
    bool m_macsKnown = true;
};

} // namespace qs
