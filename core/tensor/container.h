// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <span>
#include <vector>

/// Values that are no tensor but hold tensors. Each travels in a Tensor whose dtype says what it is and that has no
/// elements: slots, captures and states of loops hold it like any other value, and who does not know it sees nothing.
/// An optional that has a value is that value, so only the empty one is of a kind of its own. Containers are never
/// constants of a plan: nothing is folded to one.
namespace qs {

/// `element`: type of the items, Undefined where nothing says it; tensors or maps of one dtype.
Tensor makeSequence(std::vector<Tensor> items, DType element);
/// Keys (int64 or strings) and values, one a key, both of rank 1.
Tensor makeMap(Tensor keys, Tensor values);
Tensor makeNoValue();

/// Of a sequence its elements; of a map its keys and its values (none when it is empty).
std::span<const Tensor> itemsOf(const Tensor& container);
/// Type of a sequence's elements; Undefined where nothing said it.
DType elementTypeOf(const Tensor& sequence);

} // namespace qs
