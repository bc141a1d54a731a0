// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/text_columns.h"

#include "core/base/text/utf8.h"

#include <utf8proc.h>

namespace qs {

size_t columnCount(std::string_view text)
{
    size_t columns = 0;
    forEachCharacter(text, [&](const Utf8Character& c) {
        columns += c.valid ? size_t(utf8proc_charwidth(utf8proc_int32_t(c.point))) : 1;
    });
    return columns;
}

} // namespace qs
