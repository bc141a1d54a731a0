// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace qs {

/// The text of a number as people read it, with U+2212 for each hyphen. Files, what is copied and what is typed keep
/// '-'.
inline QString withTrueMinus(QString number) { return number.replace(u'-', QChar(0x2212)); }
/// The other way round, for what was typed or copied.
inline QString withHyphens(QString number) { return number.replace(QChar(0x2212), u'-'); }

} // namespace qs
