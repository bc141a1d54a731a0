// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/theme/style.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

namespace qs::test {

/// What the program sets up before its first window; its settings go to this folder.
inline void setUpProgram(const QTemporaryDir& settings)
{
    QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
    QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    setUpApplication(*qApp);
}

} // namespace qs::test
