// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/match/graph_pair.h"
#include "core/qdq/moved_elements.h"

namespace qs {

/// A constant of the quantized file as a node reads it: stored codes behind their quantizer, or moved on their way from
/// there (transposed, cut in parts, put together from several).
struct StoredOperand {
    Shape shape; ///< as the node reads it
    std::vector<uint32_t> quantizers; ///< with known scales, weights and biases
    std::optional<MovedElements> moved; ///< sources in the order of `quantizers`; nothing: the codes as they are
};
/// Nothing where `id` depends on data or is not made of stored codes alone.
std::optional<StoredOperand> storedOperand(const GraphPair& g, ValueId id);
/// Its values in plain order, float32.
std::vector<float> operandValues(const GraphPair& g, ValueId id, const StoredOperand& operand);

/// Which elements of a float constant and of an operand are the same ones, in the order of `shape`.
struct SameElements {
    Shape shape;
    bool exchanged = false; ///< the operand has the last two axes exchanged; of whole weights
    std::vector<uint32_t> floats, operand; ///< of a part; empty: all of them in order
};
/// Whether the rows of a constant matrix that is this input of the operator are its outputs, and not its columns; of
/// kernels of convolutions always. Nothing for operators that may read it either way.
std::optional<bool> outputsInRows(
    const std::string& opType, const std::string& floatType, const Attributes& attributes, size_t slot);

/// For each quantizer of the operand: how its codes pair with the float constant. `transposed` and `places` are filled
/// in, nothing else of a pair but the quantizer.
std::vector<WeightPair> pairElements(const GraphPair& g, const StoredOperand& operand, const SameElements& same);

/// Where the element i of `shape` stands when its last two axes are exchanged.
inline size_t exchangedPlace(const Shape& shape, size_t i)
{
    const auto rows = static_cast<size_t>(shape[shape.size() - 2]), columns = static_cast<size_t>(shape.back());
    return (i / (rows * columns) * columns + i % columns) * rows + i / columns % rows;
}

} // namespace qs
