// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/formatting.h"

#include "core/base/text/distinct_names.h"
#include "core/base/text/share_text.h"
#include "widgets/models/base/true_minus.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>
#include <QTranslator>

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

template <class T> QString extentOf(const std::vector<T>& values)
{
    if (values.empty())
        return absentText();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*low == *high)
        return numberText(*low);
    return QStringLiteral("%1 … %2").arg(numberText(*low), numberText(*high));
}

/// The program speaks English: what is left to translate is the "(s)" of texts with a number.
class EnglishPlurals : public QTranslator {
public:
    using QTranslator::QTranslator;
    bool isEmpty() const override { return false; }
    QString translate(const char*, const char* text, const char*, int n) const override
    {
        return n < 0 ? QString()
                     : QString::fromUtf8(text).replace(QLatin1String("(s)"), QLatin1String(n == 1 ? "" : "s"));
    }
};

/// Translators that are installed later are asked first.
void speakEnglish()
{
    QCoreApplication* const application = QCoreApplication::instance();
    QCoreApplication::installTranslator(new EnglishPlurals(application));
}
Q_COREAPP_STARTUP_FUNCTION(speakEnglish)

} // namespace

QString absentText() { return QStringLiteral("–"); }

QString numberText(double value, int digits)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value < 0 ? withTrueMinus(QStringLiteral("-∞")) : QStringLiteral("∞");
    if (value == 0)
        return QStringLiteral("0");
    const double magnitude = std::abs(value);
    if (magnitude < 1e-4 || magnitude >= 1e6) {
        QString text = QString::number(value, 'e', digits - 1);
        text.replace(QLatin1String("e-0"), QLatin1String("e-")).replace(QLatin1String("e+0"), QLatin1String("e"));
        return withTrueMinus(text.replace(QLatin1String("e+"), QLatin1String("e")));
    }
    if (value == std::round(value) && magnitude < 1e6)
        return withTrueMinus(QString::number(value, 'f', 0));
    const int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
    return withTrueMinus(QString::number(value, 'f', std::clamp(digits - 1 - exponent, 0, 8)));
}

QString numberText(const Number& value, int digits) { return value ? numberText(*value, digits) : absentText(); }

QString decibelNumber(const Number& value, bool exact)
{
    if (exact)
        return QStringLiteral("exact");
    if (!value)
        return absentText();
    if (std::isinf(*value))
        return numberText(*value);
    const double rounded = std::round(*value * 10) / 10;
    return withTrueMinus(QString::number(rounded == 0 ? 0.0 : rounded, 'f', 1)); // no "-0.0"
}

QString decibelText(const Number& value, bool exact)
{
    return value && !exact ? decibelNumber(value) + QStringLiteral(" dB") : decibelNumber(value, exact);
}

QString signedDecibelText(double value)
{
    return (std::round(value * 10) > 0 ? QStringLiteral("+") : QString()) + decibelText(value);
}

QString percentText(const Number& fraction)
{
    if (!fraction)
        return absentText();
    if (!std::isfinite(*fraction))
        return numberText(*fraction) + QStringLiteral(" %");
    QString text = toQt(shareText(*fraction));
    for (const QChar than : { u'<', u'>' })
        text.replace(than, QString(than) + u' ');
    return withTrueMinus(text);
}

QString countText(quint64 count) { return QLocale(QLocale::English, QLocale::UnitedStates).toString(count); }

QString signedCount(qint64 number)
{
    return number < 0 ? u'−' + countText(~quint64(number) + 1) : countText(quint64(number));
}

QString samplesText(quint64 count)
{
    return QCoreApplication::translate("Counts", "%1 sample(s)", nullptr, int(count)).arg(countText(count));
}

QString bytesText(quint64 bytes)
{
    static constexpr std::array kUnits { "B", "kB", "MB", "GB" };
    double value = double(bytes);
    size_t unit = 0;
    while (value >= 1000 && unit + 1 < kUnits.size()) {
        value /= 1000;
        ++unit;
    }
    return numberText(value) + u' ' + QLatin1String(kUnits[unit]);
}

QString durationText(double milliseconds)
{
    if (milliseconds < 9.95)
        return QStringLiteral("%1 ms").arg(milliseconds, 0, 'f', 1);
    if (milliseconds < 999.5)
        return QStringLiteral("%1 ms").arg(milliseconds, 0, 'f', 0);
    if (milliseconds < 59950)
        return QStringLiteral("%1 s").arg(milliseconds / 1000, 0, 'f', 1);
    const auto seconds = static_cast<qint64>(std::llround(milliseconds / 1000));
    if (seconds < 3600)
        return QStringLiteral("%1 min %2 s").arg(seconds / 60).arg(seconds % 60, 2, 10, QLatin1Char('0'));
    return QStringLiteral("%1 h %2 min").arg(seconds / 3600).arg(seconds / 60 % 60, 2, 10, QLatin1Char('0'));
}

QString rangeText(const std::optional<std::pair<double, double>>& range)
{
    if (!range)
        return absentText();
    return QStringLiteral("[%1, %2]").arg(numberText(range->first), numberText(range->second));
}

QString shapeLabel(const Shape& shape)
{
    QStringList parts;
    for (const int64_t size : shape)
        parts << QString::number(size);
    return parts.isEmpty() ? QStringLiteral("scalar") : parts.join(u'×');
}

QString dimsLabel(const std::optional<Dims>& dims)
{
    if (!dims)
        return QStringLiteral("shape unknown");
    QStringList parts;
    for (const Dim& dim : *dims)
        parts << (dim.known()        ? QString::number(dim.value)
                : dim.symbol.empty() ? QStringLiteral("?")
                                     : toQt(dim.symbol));
    return parts.isEmpty() ? QStringLiteral("scalar") : parts.join(u'×');
}

QString granularityText(const QuantParams& params)
{
    const QString dtype = toQt(dtypeName(params.dtype));
    if (params.blockSize > 0)
        return QStringLiteral("%1 blocks of %2, axis %3").arg(dtype).arg(params.blockSize).arg(params.axis.value_or(0));
    if (params.axis && params.scale.size() > 1)
        return QStringLiteral("%1 per channel, axis %2").arg(dtype).arg(*params.axis);
    return QStringLiteral("%1 per tensor").arg(dtype);
}

QString extentText(const std::vector<float>& scales) { return extentOf(scales); }

QString extentText(const std::vector<int32_t>& zeroPoints) { return extentOf(zeroPoints); }

QString zeroPointText(const QuantParams& params)
{
    if (params.zeroRest.empty())
        return extentText(params.zeroPoint);
    std::vector<float> zeros;
    for (size_t s = 0; s < params.zeroPoint.size(); ++s)
        zeros.push_back(static_cast<float>(params.zero(s)));
    return extentText(zeros);
}

QString quantizerText(const QuantParams& params)
{
    if (params.scale.empty())
        return absentText();
    const QString dtype = toQt(dtypeName(params.dtype));
    if (params.perTensor()) {
        const int zeroPoint = params.zeroPoint.empty() ? 0 : params.zeroPoint.front();
        return QStringLiteral("%1 * (q %2 %3) %4, per tensor")
            .arg(numberText(params.scale.front()), QChar(zeroPoint < 0 ? u'+' : u'−'))
            .arg(std::abs(int64_t(zeroPoint)))
            .arg(dtype);
    }
    return QStringLiteral("s[c] * (q − z[c]) %1, %2 scales")
        .arg(granularityText(params))
        .arg(countText(params.scale.size()));
}

QString fileName(const std::string& path)
{
    const QString text = toQt(path);
    return text.mid(text.lastIndexOf(u'/') + 1);
}

std::pair<QString, QString> fileNames(const std::string& a, const std::string& b)
{
    const auto names = distinctFileNames(a, b);
    return { toQt(names.first), toQt(names.second) };
}

} // namespace qs
