// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringView>

namespace qs {

/// Orders texts as people do: numbers in them by their value ("sample 2" before "sample 10"), letters without regard to
/// case. Below 0, 0 or above 0; 0 only for equal texts.
int naturalCompare(QStringView a, QStringView b);

} // namespace qs
