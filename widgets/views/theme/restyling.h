// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace qs {

/// Has every widget take its colours from the style sheet anew, after the application's palette changed: a few widgets
/// an event, so that the window stays responsive. Windows are painted again when all of them that are seen are done, so
/// that nobody sees two themes; hidden ones follow.
void restyleWidgets();
/// While some widgets still have the colours before.
bool restyling();
/// Sets a property that the style sheet asks for; the widget takes its colours anew where it changed.
void setStyled(QWidget& widget, const char* property, bool on);

} // namespace qs
