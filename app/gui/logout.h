// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QGuiApplication;

namespace qs {

class Autosave;
class MainWindow;

/// When the desktop's session ends, unsaved work is asked about where the desktop lets programs ask, and the logout is
/// called off where the user wants to go on working. Where nobody may be asked, or nobody answers, the work is kept for
/// the next start.
void keepWorkAtLogout(QGuiApplication& application, MainWindow& window, Autosave& autosave);

} // namespace qs
