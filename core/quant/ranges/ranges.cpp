// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/ranges/ranges.h"

namespace qs {

const TensorRange* Ranges::find(std::string_view name) const
{
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
}

} // namespace qs
