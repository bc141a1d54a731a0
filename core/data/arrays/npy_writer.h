// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"
#include "core/tensor/tensor.h"

#include <functional>
#include <span>
#include <string>

namespace qs {

/// Python's str of a dtype in npy headers ("<f4"); empty when numpy has none.
std::string npyTypeName(DType type);
/// Magic and header of a .npy array, version 1.0, row-major.
std::string npyHeader(const std::string& typeName, const Shape& shape);

/// Fills a piece of the array's elements, from element `first` on: piece.size() is a multiple of the element's size.
using NpyFill = std::function<void(size_t first, std::span<std::byte> piece)>;
/// Writes one array, piece by piece; a file that was there stays as it was when this fails or is cancelled. `type` must
/// be one that numpy has, of whole bytes.
Status writeNpy(
    const std::string& path, DType type, const Shape& shape, const NpyFill& fill, const CancelToken& cancel = {});

} // namespace qs
