// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/qdq/range_cut.h"
#include "core/quant/model/left_in_float.h"
#include "core/quant/params/kept_codes.h"
#include "core/quant/params/quantized_constants.h"
#include "core/quant/ranges/ranges.h"
#include "core/quant/recipe/recipe.h"

#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

/// A Relu or Clip that was left out, and what its quantizer lets pass beyond the bounds.
struct LostActivation {
    std::string node, tensor; ///< tensor: what it makes
    double low = 0, high = 0; ///< of what was seen before it and the quantizer can represent
};

/// Quantized constants that a file has codes of, by name.
struct CodeOrigins {
    std::set<std::string> kept; ///< with the file's codes
    std::set<std::string> anew; ///< with codes of their own, since the constant or its parameters are others
};

/// The float model that is being quantized: an editable copy, its element types, which nodes were chosen, and the
/// ranges of its activations. Node indices are those of `draft.nodes` when this was made.
struct FloatModel {
    GraphDraft draft;
    std::unordered_map<std::string, DType> types; ///< of every value whose type is known
    std::unordered_set<std::string> unstated; ///< static formats: values whose type ONNX Runtime's tools do not know
    std::unordered_map<std::string, std::vector<size_t>> readers; ///< node indices in order, one a slot
    std::unordered_map<std::string, size_t> producers;
    std::vector<bool> chosen; ///< by node index
    std::unordered_set<std::string> leftOut; ///< nodes of subgraphs that the recipe's patterns do not choose
    const FloatModel* outer = nullptr; ///< of a subgraph: the graph around it
    Ranges ranges; ///< as calibrated, edited by editRanges()
    std::unordered_map<std::string, TensorRange> replacedRanges; ///< those that editRanges() gave others
    bool keepExtremes = false; ///< Recipe::keepExtremeConstants
    std::vector<std::string> keptActivations; ///< Relu and Clip that ONNX Runtime's tools would have left out
    std::vector<LostActivation> lostActivations;
    /// Known from other quantizations of the same model; never null.
    std::shared_ptr<QuantizedConstants> constants = std::make_shared<QuantizedConstants>();
    std::shared_ptr<const KeptCodes> kept; ///< null: none
    CodeOrigins codes;
    std::vector<std::string> warnings;
    std::vector<LeftInFloat> left; ///< nodes that stay float, each once
    std::unordered_set<std::string> leftNames; ///< of these

    /// The node stays float; what was said of it before stands.
    void stays(const DraftNode& node, FloatReason reason);
    /// Why a value that has no range, or cannot be quantized, has no codes.
    FloatReason whyNoCodes(const std::string& name) const;
    /// The node takes codes from that version of ai.onnx on.
    FloatReason whyTooOld(const DraftNode& node, int64_t first) const;

    /// Issues: a pattern or an override that names nothing, a draft that does not fit together.
    static Result<FloatModel> make(GraphDraft draft, const Recipe& recipe, Ranges ranges);

    /// A subgraph of one of the outer model's nodes: nodes, constants, types and what is chosen alone.
    static FloatModel ofBody(const Graph& body, const Recipe& recipe, const FloatModel& outer);

    /// Of this graph or, for a subgraph, of one around it; null when there is none.
    const Tensor* constant(const std::string& name) const;
    DType typeOf(const std::string& name) const; ///< of this graph or one around it; Undefined where unknown
    /// Float32 or Float16 where the value can be quantized, else Undefined.
    DType realType(const std::string& name) const;
    /// It holds values beyond any useful scale, and the recipe keeps such tensors float.
    bool keptExtreme(const std::string& name) const;
    int64_t opset() const; ///< of ai.onnx
    const std::vector<size_t>& readersOf(const std::string& name) const;
};

/// The form quantizes nodes of subgraphs, too: ONNX Runtime's tools do so for weights in blocks, and for the dynamic
/// format where they are asked to (Recipe::subgraphs).
bool entersSubgraphs(const Recipe& recipe);
/// Names of all nodes of a graph and, where the recipe's form goes into them, of its subgraphs' nodes.
std::vector<std::string> nodeNames(const GraphDraft& draft, const Recipe& recipe);

/// What ONNX Runtime changes after calibration: the input of a Relu or Clip that alone reads it gets the range of the
/// output, and Softmax gets 0..1.
void editRanges(FloatModel& model);

} // namespace qs
