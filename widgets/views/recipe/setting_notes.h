// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/read_back/setting_reach.h"
#include "widgets/session/session.h"

#include <QString>

#include <string>

namespace qs {

/// What can be done about a setting that does not reach all tensors.
enum class SettingWay { None, Recalibrate, Recompute, PlaceByRules, RoundAnew };

/// What stands below a setting of the recipe that does not reach all tensors.
struct SettingNote {
    QString text; ///< empty: nothing to say
    SettingWay way = SettingWay::None;
    bool unknown = false; ///< the setting does not show what the file was made with, which nobody knows
};

QuantizedNames quantizedNames(Session& session);
/// `path` as in recipeOptions(); `names` of what the session shows.
SettingNote settingNote(Session& session, const QuantizedNames& names, const std::string& path);
/// On where quantizers stand (Recipe::placement), and codes that are a file's (Recipe::codes).
SettingNote placementNote(Session& session);

QString wayText(SettingWay way); ///< "Recalibrate": name of the link; "" for None
/// One step of undo.
void take(Session& session, SettingWay way);

} // namespace qs
