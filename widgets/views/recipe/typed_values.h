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

/// Why two texts are no range, or no scale and zero point of that type, as one sentence; empty when they are, and when
/// both are empty.
QString wrongRange(const QString& lowest, const QString& highest, const QLocale& locale);
QString wrongScale(const QString& scale, const QString& zeroPoint, DType type, const QLocale& locale);

} // namespace qs
