// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/definitions.h"

#include <fmt/format.h>

namespace qs {

std::string sentencesOf(const Definition& definition)
{
    return fmt::format(fmt::runtime(definition.text), definition.formula);
}

} // namespace qs
