// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/common/element_types.h"

namespace qs {

/// Issue unless every input that is there holds numbers. Only they convert to work types.
inline Status needNumericInputs(const StepContext& c)
{
    for (size_t i = 0; i < c.inputCount(); ++i)
        if (c.input(i) && !isNumeric(c.in(i).dtype()))
            return unsupportedType(c.in(i).dtype());
    return {};
}

} // namespace qs
