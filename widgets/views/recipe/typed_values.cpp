// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/recipe/typed_values.h"

#include "core/tensor/quant_params.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <cmath>

namespace qs {

namespace {

struct TypedValues {
    Q_DECLARE_TR_FUNCTIONS(TypedValues)
};

/// Of one field; empty when it holds a number.
QString wrongNumber(const QString& name, const QString& text, const QLocale& locale)
{
    if (text.trimmed().isEmpty())
        return TypedValues::tr("Give %1, too.").arg(name);
    if (typedNumber(text, locale))
        return {};
    const QString mark = locale.decimalPoint();
    const QString example
        = mark == QStringLiteral(".") ? TypedValues::tr("0.5 or 1e-3") : TypedValues::tr("0.5, 0%15 or 1e-3").arg(mark);
    return TypedValues::tr("%1: “%2” is no number. Write digits with one decimal mark and no separators: %3.")
        .arg(name, text.trimmed(), example);
}

} // namespace

std::optional<double> typedNumber(const QString& text, const QLocale& locale)
{
    QString plain = text.trimmed();
    plain.replace(QStringLiteral("−"), QStringLiteral("-"));
    plain.replace(locale.decimalPoint(), QStringLiteral("."));
    static const QRegularExpression form(QStringLiteral("^[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?$"));
    if (!form.match(plain).hasMatch())
        return std::nullopt;
    bool ok = false;
    const double value = plain.toDouble(&ok);
    return ok && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

QString wrongRange(const QString& lowest, const QString& highest, const QLocale& locale)
{
    if (lowest.trimmed().isEmpty() && highest.trimmed().isEmpty())
        return {};
    for (const QString& wrong : { wrongNumber(TypedValues::tr("lowest"), lowest, locale),
             wrongNumber(TypedValues::tr("highest"), highest, locale) })
        if (!wrong.isEmpty())
            return wrong;
    return *typedNumber(highest, locale) > *typedNumber(lowest, locale)
        ? QString()
        : TypedValues::tr("highest must be above lowest.");
}

QString wrongScale(const QString& scale, const QString& zeroPoint, DType type, const QLocale& locale)
{
    if (scale.trimmed().isEmpty() && zeroPoint.trimmed().isEmpty())
        return {};
    for (const QString& wrong : { wrongNumber(TypedValues::tr("scale"), scale, locale),
             wrongNumber(TypedValues::tr("zero point"), zeroPoint, locale) })
        if (!wrong.isEmpty())
            return wrong;
    if (!(float(*typedNumber(scale, locale)) > 0))
        return TypedValues::tr("scale must be above 0.");
    const double zero = *typedNumber(zeroPoint, locale);
    const CodeRange codes = codeRange(type).value_or(CodeRange { 0, 0 });
    if (zero != std::floor(zero) || zero < double(codes.low) || zero > double(codes.high))
        return TypedValues::tr("zero point must be a whole number from %1 to %2, the codes of %3.")
            .arg(codes.low)
            .arg(codes.high)
            .arg(QString::fromStdString(std::string(dtypeName(type))));
    return {};
}

} // namespace qs
