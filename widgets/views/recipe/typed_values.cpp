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
        return TypedValues::tr("Give %1, too: a grey number only shows what holds now.").arg(name);
    if (typedNumber(text, locale))
        return {};
    const QString mark = locale.decimalPoint();
    const QString example
        = mark == QStringLiteral(".") ? TypedValues::tr("0.5 or 1e-3") : TypedValues::tr("0.5, 0%15 or 1e-3").arg(mark);
    return TypedValues::tr("%1: “%2” is no number. Write digits with one decimal mark and no separators: %3.")
        .arg(name, text.trimmed(), example);
}

/// Of a pair that nobody filled nothing is wrong.
WrongPair wrongNumbers(
    const QString& name, const QString& text, const QString& otherName, const QString& other, const QLocale& locale)
{
    if (text.trimmed().isEmpty() && other.trimmed().isEmpty())
        return {};
    const QString first = wrongNumber(name, text, locale), second = wrongNumber(otherName, other, locale);
    return { first.isEmpty() ? second : first, !first.isEmpty(), !second.isEmpty() };
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

WrongPair wrongRange(const QString& lowest, const QString& highest, const QLocale& locale)
{
    WrongPair wrong = wrongNumbers(TypedValues::tr("lowest"), lowest, TypedValues::tr("highest"), highest, locale);
    const auto low = typedNumber(lowest, locale), high = typedNumber(highest, locale);
    if (low && high && !(*high > *low))
        wrong = { TypedValues::tr("highest must be above lowest."), true, true };
    return wrong;
}

QString wrongPercentile(const QString& percentile, const QLocale& locale)
{
    const QString name = TypedValues::tr("percentile");
    if (const QString wrong = wrongNumber(name, percentile, locale); !wrong.isEmpty())
        return wrong;
    const double value = *typedNumber(percentile, locale);
    return value > 0 && value <= 100 ? QString() : TypedValues::tr("percentile must lie above 0 and at most at 100.");
}

WrongPair wrongScale(const QString& scale, const QString& zeroPoint, DType type, const QLocale& locale)
{
    WrongPair wrong = wrongNumbers(TypedValues::tr("scale"), scale, TypedValues::tr("zero point"), zeroPoint, locale);
    const auto step = typedNumber(scale, locale), zero = typedNumber(zeroPoint, locale);
    if (!step || !zero)
        return wrong;
    const CodeRange codes = codeRange(type).value_or(CodeRange { 0, 0 });
    wrong.first = !(float(*step) > 0);
    wrong.second = *zero != std::floor(*zero) || *zero < double(codes.low) || *zero > double(codes.high);
    if (wrong.first)
        wrong.why = TypedValues::tr("scale must be above 0.");
    else if (wrong.second)
        wrong.why = TypedValues::tr("zero point must be a whole number from %1 to %2, the codes of %3.")
                        .arg(codes.low)
                        .arg(codes.high)
                        .arg(QString::fromStdString(std::string(dtypeName(type))));
    return wrong;
}

} // namespace qs
