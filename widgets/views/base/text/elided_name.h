// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

class QFontMetrics;

namespace qs {

/// The name, or as much of it as `room` pixels hold: names differ in their last parts and in the numbers of their
/// outermost blocks, so what all of them end with goes first, then what stands between: "layers.3/…tMul",
/// "layers.3…proj".
QString elidedName(const QString& name, const QFontMetrics& font, int room);
/// The same beside other names: where one of them would look alike, and not without their last parts, these go first;
/// else what differs from those stays: "…layers.1…conv/relu".
QString elidedName(const QString& name, const QStringList& beside, const QFontMetrics& font, int room);

/// A text, each name of which has at most so much room.
QString withNarrowNames(const QString& text, const QFontMetrics& font, int room);

} // namespace qs
