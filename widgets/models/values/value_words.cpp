// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/values/value_words.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"

#include <QStringList>

#include <algorithm>
#include <climits>

namespace qs {

namespace {

constexpr int kToolTipDigits = 6;

QString exactText(double value) { return numberText(value, kToolTipDigits); }

/// A number behind a sign.
QString inBrackets(const QString& number) { return number[0].isDigit() ? number : QStringLiteral("(%1)").arg(number); }

QString limitText(const Elements& side, size_t element)
{
    const int limit = side.atLimit(element);
    if (limit == 0)
        return {};
    return limit < 0 ? tr("▼ the lowest code: what lies below is clipped to it")
                     : tr("▲ the highest code: what lies above is clipped to it");
}

void addSide(const QString& title, const Elements& side, const Elements* reference, size_t element, QStringList* lines)
{
    const double real = side.real(element);
    *lines << title + u' ' + exactText(real);
    if (side.hasCodes()) {
        *lines << QStringLiteral("    ") + dequantizedText(side, element);
        if (const QString limit = limitText(side, element); !limit.isEmpty())
            *lines << QStringLiteral("    ") + limit;
    }
    if (reference)
        *lines << QStringLiteral("    ")
                + tr("difference from float %1").arg(exactText(real - reference->real(element)));
}

} // namespace

QString kindTitle(ValueKind kind, bool two)
{
    switch (kind) {
    case ValueKind::Float:
        return tr("Float");
    case ValueKind::Quantized:
        return two ? tr("A") : tr("Quantized");
    case ValueKind::Codes:
        return two ? tr("Codes of A") : tr("Codes");
    case ValueKind::Difference:
        return two ? tr("A − float") : tr("Quantized − float");
    case ValueKind::Relative:
        return two ? tr("(A − float) / |float|") : tr("(Quantized − float) / |float|");
    case ValueKind::Other:
        return tr("B");
    case ValueKind::OtherCodes:
        return tr("Codes of B");
    case ValueKind::OtherDifference:
        return tr("B − float");
    case ValueKind::Between:
        return tr("B − A");
    }
    return {};
}

QString codeText(int64_t code, DType type, bool hex)
{
    if (!hex)
        return numberText(double(code), 12);
    const size_t bits = dtypeBits(type);
    const uint64_t mask = bits < 64 ? (uint64_t(1) << bits) - 1 : ~uint64_t(0);
    return QString::number(uint64_t(code) & mask, 16).toUpper().rightJustified(qsizetype((bits + 3) / 4), u'0');
}

QString dequantizedText(const Elements& side, size_t element)
{
    const QuantParams& params = side.params();
    const size_t s = side.scaleIndex(element);
    const double zero = s < params.zeroPoint.size() ? params.zeroPoint[s] : 0;
    const QString code = exactText(double(side.code(element)));
    const QString steps
        = zero == 0 ? inBrackets(code) : QStringLiteral("(%1 − %2)").arg(code, inBrackets(exactText(zero)));
    if (params.scale.empty())
        return code;
    return QStringLiteral("%1 × %2 = %3").arg(exactText(params.scale[s]), steps, exactText(side.real(element)));
}

QString elementText(const TensorValues& values, size_t element)
{
    QStringList indices;
    for (const int64_t index : indicesOf(element, values.shape))
        indices << QString::number(index);
    QStringList lines { QStringLiteral("[%1]").arg(indices.join(QStringLiteral(", "))) };
    const Elements* reference = values.reference ? &*values.reference : nullptr;
    if (reference)
        addSide(tr("float"), *reference, nullptr, element, &lines);
    if (values.quantized)
        addSide(values.other ? tr("A") : tr("quantized"), *values.quantized, reference, element, &lines);
    if (values.other)
        addSide(tr("B"), *values.other, reference, element, &lines);
    return lines.join(u'\n');
}

QString statisticsText(const ValueStatistics& s, int digits)
{
    QStringList parts { tr("%1 value(s)", int(std::min<uint64_t>(s.count, INT_MAX))).arg(countText(s.count)) };
    if (s.finite > 0) {
        parts << tr("min %1").arg(numberText(s.lowest, digits)) << tr("max %1").arg(numberText(s.highest, digits))
              << tr("mean %1").arg(numberText(s.mean, digits)) << tr("std %1").arg(numberText(s.deviation, digits))
              << tr("%1 zero(s)", int(std::min<uint64_t>(s.zeros, INT_MAX))).arg(countText(s.zeros));
    }
    if (s.nans > 0)
        parts << tr("%1 NaN").arg(countText(s.nans));
    if (s.infinities > 0)
        parts << tr("%1 infinite").arg(countText(s.infinities));
    if (s.distinctCodes)
        parts << tr("%1 code(s) used", int(*s.distinctCodes)).arg(countText(*s.distinctCodes));
    if (s.atLimits)
        parts << tr("%1 at the limits").arg(percentText(s.atLimits));
    if (s.exact)
        parts << tr("equal");
    else if (s.sqnrDb)
        parts << tr("SQNR %1").arg(decibelText(s.sqnrDb));
    return parts.join(QStringLiteral(" · "));
}

} // namespace qs
