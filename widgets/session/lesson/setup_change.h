// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson.h"
#include "core/project/snapshot/inputs.h"

#include <QString>
#include <QStringList>

namespace qs {

class Session;

/// Makes the session show what a setup asks for: a step of undo where only the recipe differs, else other files.
void changeTo(Session& session, const Inputs& inputs, const QString& text);

/// What the recipe of the session changes in that of a setup, as a JSON merge patch; null: nothing.
LessonJson changesSince(const Recipe& setup, const Recipe& now);

/// The same for people, one a setting or tensor: "Reduce range: off → on", "image: highest 3, range by mse".
QStringList changesInWords(const Recipe& setup, const Recipe& now);

} // namespace qs
