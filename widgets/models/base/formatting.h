// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

#include <QString>

#include <optional>
#include <utility>

/// The one place where numbers become text. A true minus sign, a point as decimal mark, groups of three with a comma,
/// units after a space; what does not exist is an en dash. Programs that are linked with this write plurals of texts
/// in Qt's way: tr("%1 node(s)", nullptr, n).
namespace qs {

QString absentText(); ///< "–"
/// `digits` significant digits, no exponent between 1e-4 and 1e6: "0.0239", "19.74", "3.10e−7".
QString numberText(double value, int digits = 3);
QString numberText(const Number& value, int digits = 3);
/// One decimal: "−5.4". With the unit: "−5.4 dB"; "exact" for equal tensors.
QString decibelNumber(const Number& value, bool exact = false);
QString decibelText(const Number& value, bool exact = false);
/// "+2.1 dB", "−3.0 dB": for differences.
QString signedDecibelText(double value);
/// Of a fraction 0..1: "11.8 %", "< 0.1 %", "100 %".
QString percentText(const Number& fraction);
QString countText(quint64 count); ///< "1,234,567"
QString signedCount(qint64 number); ///< "−32,768"
QString samplesText(quint64 count); ///< "1 sample", "1,234 samples"
QString bytesText(quint64 bytes); ///< "3.4 MB"
QString durationText(double milliseconds); ///< "0.4 ms", "350 ms", "1.2 s", "2 min 05 s"
QString rangeText(const std::optional<std::pair<double, double>>& range); ///< "[0, 6.10]"
QString shapeLabel(const Shape& shape); ///< "1×32×25×20", "scalar"
QString dimsLabel(const std::optional<Dims>& dims); ///< the same with names for dynamic sizes
/// "0.0239 * (q + 128) int8, per tensor"; "64 scales, axis 0" where there are many.
QString quantizerText(const QuantParams& params);
/// "int8 per tensor", "int8 per channel, axis 0", "int4 blocks of 32, axis 1".
QString granularityText(const QuantParams& params);
/// "0.0239", or "0.0031 … 0.0120" over channels.
QString extentText(const std::vector<float>& scales);
QString extentText(const std::vector<int32_t>& zeroPoints);
QString zeroPointText(const QuantParams& params); ///< the same of its zero points, whole or not

inline QString toQt(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}
QString fileName(const std::string& path); ///< last part of a path
/// Of two files, with as many folders as tell them apart.
std::pair<QString, QString> fileNames(const std::string& a, const std::string& b);

} // namespace qs
