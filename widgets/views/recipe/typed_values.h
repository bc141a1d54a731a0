// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

#include <QLocale>
#include <QString>

#include <optional>

namespace qs {

/// A number as people type it: digits with one decimal mark, a point or that of the locale ("0,5" in German), and an
/// exponent. Nothing for anything else, group separators too: what is one in a language is the decimal mark in another.
std::optional<double> typedNumber(const QString& text, const QLocale& locale);

/// What is wrong with two texts that belong together.
struct WrongPair {
    QString why; ///< one sentence; empty: nothing
    bool first = false, second = false; ///< which of them it is about
};

/// Why two texts are no range, or no scale and zero point of that type; nothing when they are, and when both are empty.
WrongPair wrongRange(const QString& lowest, const QString& highest, const QLocale& locale);
/// Why a text is no percentile; an empty one is none.
QString wrongPercentile(const QString& percentile, const QLocale& locale);
WrongPair wrongScale(const QString& scale, const QString& zeroPoint, DType type, const QLocale& locale);

} // namespace qs
