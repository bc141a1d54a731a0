// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/base/profile.h"
#include "core/engine/step/kernel_mode.h"
#include "core/graph/graph.h"

#include <optional>
#include <span>
#include <string_view>

namespace qs {

/// Type, shape and elements (layout aside: the elements are hashed as they lie, with the layout).
Hash128 contentKey(const Tensor& tensor);

/// Of all inputs of a run, in the graph's order; absent ones may be invalid.
Hash128 sampleKey(std::span<const Tensor> inputs);

/// What a node computes, without what it reads: operator, opset, attributes, how it is computed. Nothing for nodes with
/// subgraphs and for random numbers, which follow from more than that.
std::optional<Hash128> operatorKey(const Node& node, KernelMode mode, ArithmeticProfile profile);

/// What a node is lowered from: operatorKey, which inputs and outputs it has, the types of the inputs, and the keys of
/// the constant ones (`constants`: one an input, nothing where it depends on data). Equal keys: the lowered nodes are
/// interchangeable.
Hash128 loweringKey(Hash128 operatorKey, const Node& node, std::span<const DType> types,
    std::span<const std::optional<Hash128>> constants);

/// Builds a key from parts in order.
class KeyBuilder {
public:
    KeyBuilder& add(Hash128 part);
    KeyBuilder& add(std::string_view text);
    KeyBuilder& add(int64_t number);
    Hash128 key() const { return m_key; }

private:
    Hash128 m_key;
};

} // namespace qs
