// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe.h"

#include <QString>

#include <vector>

namespace qs {

/// A difference of two recipes in words: "Excluded 14 nodes: a, b, c …".
struct SettingChange {
    QString text;
    QString whole; ///< with all names; the same where none is left out
};
/// One a setting; tensors with settings of their own, and constants with a file's codes, are told of together.
std::vector<SettingChange> settingChanges(const Recipe& before, const Recipe& after);

} // namespace qs
