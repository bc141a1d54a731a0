// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/explanation/explanation.h"

#include <algorithm>

namespace qs {

int64_t elementOf(const Shape& shape, const Shape& at)
{
    int64_t element = 0;
    for (size_t i = 0; i < shape.size(); ++i)
        element = element * shape[i] + at[i];
    return element;
}

Shape placeOf(const Shape& shape, int64_t element)
{
    Shape at(shape.size());
    for (size_t i = shape.size(); i-- > 0; element /= std::max<int64_t>(shape[i], 1))
        at[i] = element % std::max<int64_t>(shape[i], 1);
    return at;
}

int64_t broadcastElement(const Shape& shape, int64_t element, const Shape& operand)
{
    const Shape at = placeOf(shape, element);
    int64_t found = 0;
    for (size_t i = 0; i < operand.size(); ++i)
        found = found * operand[i] + (operand[i] == 1 ? 0 : at[i + shape.size() - operand.size()]);
    return found;
}

} // namespace qs
