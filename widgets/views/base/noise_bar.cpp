// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/noise_bar.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/formulas.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr std::array kLeastShares { 0.001, 0.01, 0.1 }; ///< that are named where there is not room for all
constexpr double kStaleNoiseOpacity = 0.4; ///< of colours that are not of the recipe as it is
constexpr int kNoiseMargin = 12, kNoiseBarHeight = 8, kNoiseGap = 3;

struct Part {
    QString name;
    Number value;
    bool rare = false; ///< is not spoken of where there is none
};

std::array<Part, kNoiseParts> partsOf(const NoiseSplit& split, bool kernelWithin)
{
    return { { { NoiseBar::tr("clipping"), split.clipping }, { NoiseBar::tr("rounding"), split.rounding },
        { NoiseBar::tr("weights"), split.weights }, { NoiseBar::tr("kernel"), split.kernel, true },
        { kernelWithin ? NoiseBar::tr("kernel and inputs") : NoiseBar::tr("inputs"), split.inherited } } };
}

double totalOf(const NoiseSplit& split)
{
    double total = 0;
    for (const Part& part : partsOf(split, false))
        total += part.value.value_or(0);
    return total;
}

} // namespace

void paintNoise(QPainter& painter, const QRect& bar, const NoiseParts& parts, const Theme& theme)
{
    const std::array<QColor, kNoiseParts> colours { theme.clipping, theme.rounding, theme.weights, theme.kernel,
        theme.inherited };
    const auto widths = noiseWidths(parts, bar.width());
    int left = bar.left();
    for (size_t i = 0; i < colours.size(); ++i) {
        painter.fillRect(left, bar.top(), widths[i], bar.height(), colours[i]);
        left += widths[i];
    }
}

std::array<int, kNoiseParts> noiseWidths(const NoiseParts& parts, int width)
{
    double total = 0;
    for (const double part : parts)
        total += std::max(0.0, part); // parts that cancel have no width
    std::array<int, kNoiseParts> widths {};
    if (!(total > 0))
        return widths;
    NoiseParts rests {};
    int left = width;
    for (size_t i = 0; i < parts.size(); ++i) {
        const double share = std::max(0.0, parts[i]) / total * width;
        widths[i] = int(share);
        rests[i] = share - widths[i];
        left -= widths[i];
    }
    for (; left > 0; --left) {
        const auto most = std::ranges::max_element(rests);
        ++widths[size_t(most - rests.begin())];
        *most = 0;
    }
    return widths;
}

NoiseBar::NoiseBar(QWidget* parent)
    : QWidget(parent)
{
    setToolTip(
        tr("Mean squared error by origin: values beyond the range, steps between codes, the node's own "
           "quantized weights (estimated), what integer kernels make, such as sums that saturate, and what came in "
           "with an error. Parts that cancel can be negative or exceed 100 %."));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void NoiseBar::setTheme(const Theme& theme)
{
    m_theme = theme;
    update();
}

void NoiseBar::setNoise(const NoiseSplit& split, const Number& sqnrDb, const QString& note, bool kernelWithin)
{
    m_split = split;
    m_kernelWithin = kernelWithin;
    m_sqnrDb = sqnrDb;
    m_note = note;
    setAccessibleName(text());
    update();
}

void NoiseBar::setStale(bool stale)
{
    m_stale = stale;
    update();
}

QString NoiseBar::text() const { return m_note + u' ' + text(0); }

QString NoiseBar::text(double leastShare) const
{
    QStringList words { decibelText(m_sqnrDb) };
    const double total = totalOf(m_split);
    const auto shareOf = [total](const Part& part) {
        return total > 0 && part.value ? Number(plainShare(*part.value / total)) : Number();
    };
    const auto parts = partsOf(m_split, m_kernelWithin);
    if (std::ranges::any_of(parts, [&](const Part& part) { return cancels(shareOf(part).value_or(0)); }))
        words << tr("parts cancel");
    for (const Part& part : parts) {
        const Number share = shareOf(part);
        if ((part.value || !part.rare) && std::abs(share.value_or(0)) >= leastShare)
            words << part.name + u' ' + percentText(share);
    }
    return words.join(QStringLiteral(" · "));
}

/// What matters least goes first: parts that are nearly nothing, then whether it is measured.
QString NoiseBar::textFor(int width) const
{
    QStringList lines { text(), m_note + u' ' + text(kLeastShares.front()) };
    for (const double least : kLeastShares)
        lines << text(least);
    for (const QString& line : lines)
        if (fontMetrics().horizontalAdvance(line) <= width)
            return line;
    return fontMetrics().elidedText(lines.last(), Qt::ElideRight, width);
}

QSize NoiseBar::sizeHint() const { return { 300, fontMetrics().height() + kNoiseBarHeight + 3 * kNoiseGap }; }

void NoiseBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const QRect area = rect().adjusted(kNoiseMargin, kNoiseGap, -kNoiseMargin, -kNoiseGap);
    const QRect bar(area.left(), area.top(), area.width(), kNoiseBarHeight);
    painter.fillRect(bar, m_theme.raised);
    painter.setOpacity(m_stale ? kStaleNoiseOpacity : 1);
    NoiseParts parts {};
    std::ranges::transform(
        partsOf(m_split, false), parts.begin(), [](const Part& part) { return part.value.value_or(0); });
    paintNoise(painter, bar, parts, m_theme);
    painter.setOpacity(1);
    painter.setPen(m_stale ? m_theme.muted : m_theme.text);
    const QRect line(area.left(), bar.bottom() + kNoiseGap, area.width(), fontMetrics().height());
    painter.drawText(line, Qt::AlignLeft, textFor(line.width()));
}

} // namespace qs

#include "moc_noise_bar.cpp"
