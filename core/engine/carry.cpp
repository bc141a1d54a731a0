// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/carry.h"

#include <algorithm>

namespace qs {

Result<std::vector<CarryLink>> findCarry(
    const Plan& plan, const std::vector<std::pair<std::string, std::string>>& names)
{
    std::vector<CarryLink> links;
    for (const auto& [out, in] : names) {
        const ValueId o = plan.graph().findValue(out), i = plan.graph().findValue(in);
        if (!o.valid() || !i.valid() || !plan.graph().isInput(i))
            return badInput("has no output '" + out + "' with an input '" + in + "' to carry it to", plan.model().path,
                "give --carry OUTPUT=INPUT with names of this model");
        links.push_back({ o, i });
    }
    return links;
}

Tensor initialState(const Plan& plan, const CarryLink& link)
{
    const ValueType& type = plan.graph().value(link.input).type;
    Shape shape;
    for (const Dim& d : type.dims.value_or(Dims {}))
        shape.push_back(d.known() ? d.value : 1);
    Tensor zero = Tensor::allocate(type.dtype, shape);
    std::fill_n(zero.fill<std::byte>().data(), zero.byteCount(), std::byte { 0 });
    return zero;
}

} // namespace qs
