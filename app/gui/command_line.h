// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/project/about/climbed_ladder.h"
#include "core/project/about/element_check.h"
#include "core/project/snapshot/snapshot.h"
#include "widgets/session/shown/theme.h"

#include <QCommandLineOption>
#include <QSize>
#include <QStringList>

#include <optional>

namespace qs {

/// What the user asked for.
struct GuiOptions {
    Inputs inputs;
    SavedFiles saved; ///< for the ladder
    std::optional<ElementTolerance> tolerance; ///< elements are compared
    std::optional<ThemeChoice> theme;
    QString session; ///< a project file
    QStringList files; ///< of any role, beside `inputs`; else empty
    QString view;
    QString select;
    QString lessons; ///< a folder of them; empty: those of the program
    QString lesson; ///< id of the one to take
    QString screenshot;
    QSize size { 1440, 900 };
    bool sizeGiven = false;
    bool serve = false; ///< agents may attach
    bool help = false, version = false;
    QString completion; ///< a shell: what completes this program there is printed
};

Result<GuiOptions> parseCommandLine(const QStringList& arguments);
QString helpText();
/// All that there are.
QList<QCommandLineOption> windowOptions();
/// The words that an option takes; empty where it takes others, or none.
QStringList wordsOfOption(const QString& name);

} // namespace qs
