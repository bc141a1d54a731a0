// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/noise_bar.h"

#include "widgets/models/formatting.h"

#include <QPainter>

#include <array>
#include <cmath>

namespace qs {

namespace {

constexpr int kNoiseMargin = 12, kNoiseBarHeight = 8, kNoiseGap = 4;

struct Part {
    QString name;
    Number value;
};

std::array<Part, 3> partsOf(const NoiseSplit& split)
{
    return { { { NoiseBar::tr("clipping"), split.clipping }, { NoiseBar::tr("rounding"), split.rounding },
        { NoiseBar::tr("inherited"), split.inherited } } };
}

double totalOf(const NoiseSplit& split)
{
    return split.clipping.value_or(0) + split.rounding.value_or(0) + split.inherited.value_or(0);
}

} // namespace

NoiseBar::NoiseBar(QWidget* parent)
    : QWidget(parent)
{
    setToolTip(tr("Mean squared error by origin: values beyond the range, steps between codes, and what came in with "
                  "an error. Parts that cancel can be negative or exceed 100 %."));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void NoiseBar::setTheme(const Theme& theme)
{
    m_theme = theme;
    update();
}

void NoiseBar::setNoise(const NoiseSplit& split, const Number& sqnrDb, const QString& note)
{
    m_split = split;
    m_sqnrDb = sqnrDb;
    m_note = note;
    setAccessibleName(text());
    update();
}

QString NoiseBar::text() const
{
    QStringList words { m_note + u' ' + decibelText(m_sqnrDb) };
    const double total = totalOf(m_split);
    for (const Part& part : partsOf(m_split))
        words << part.name + u' ' + percentText(total > 0 && part.value ? Number(*part.value / total) : Number());
    return words.join(QStringLiteral(" · "));
}

QSize NoiseBar::sizeHint() const { return { 300, fontMetrics().height() + kNoiseBarHeight + 3 * kNoiseGap }; }

void NoiseBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const QRect area = rect().adjusted(kNoiseMargin, kNoiseGap, -kNoiseMargin, -kNoiseGap);
    const QRect bar(area.left(), area.top(), area.width(), kNoiseBarHeight);
    painter.fillRect(bar, m_theme.raised);
    double positive = 0;
    for (const Part& part : partsOf(m_split))
        positive += std::max(0.0, part.value.value_or(0));
    const std::array<QColor, 3> colours { m_theme.clipping, m_theme.rounding, m_theme.inherited };
    double at = 0;
    for (size_t i = 0; positive > 0 && i < colours.size(); ++i) {
        const double next = at + std::max(0.0, partsOf(m_split)[i].value.value_or(0)) / positive;
        const int left = bar.left() + int(std::lround(at * bar.width()));
        painter.fillRect(
            left, bar.top(), bar.left() + int(std::lround(next * bar.width())) - left, bar.height(), colours[i]);
        at = next;
    }
    painter.setPen(m_theme.text);
    const QRect line(area.left(), bar.bottom() + kNoiseGap, area.width(), fontMetrics().height());
    painter.drawText(line, Qt::AlignLeft, fontMetrics().elidedText(text(), Qt::ElideRight, line.width()));
}

} // namespace qs
