// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/unit_kind.h"

namespace qs {

std::string_view unitKindName(UnitKind kind)
{
    return kind == UnitKind::Node ? "node" : kind == UnitKind::Tensor ? "tensor" : "type";
}

std::optional<UnitKind> unitKindOf(std::string_view name)
{
    for (const UnitKind kind : { UnitKind::Node, UnitKind::Tensor, UnitKind::Type })
        if (name == unitKindName(kind))
            return kind;
    return std::nullopt;
}

} // namespace qs
