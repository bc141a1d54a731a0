// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string_view>

namespace qs {

/// What is quantized alone or left in float.
enum class UnitKind { Node, Tensor, Type };
std::string_view unitKindName(UnitKind kind); ///< "node", "tensor", "type"
std::optional<UnitKind> unitKindOf(std::string_view name);

} // namespace qs
