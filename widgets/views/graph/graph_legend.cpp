// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/graph_legend.h"

#include "widgets/models/base/formatting.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>

#include <algorithm>

namespace qs {

namespace {

constexpr int kWhoseWidth = 140; ///< pixels for the name of a sample
constexpr int kBlocks = 10;
constexpr int kNarrow = 420; ///< pixels of width below which the scale stands alone
constexpr int kLegendBar = 10, kScaleWidth = 160, kLegendMargin = 12, kGap = 8;

QDoubleSpinBox* limitBox(double value, const QString& unit, QWidget* parent)
{
    auto* box = new QDoubleSpinBox(parent);
    box->setRange(-1000, 1000);
    box->setDecimals(1);
    box->setSuffix(QLatin1Char(' ') + unit);
    box->setValue(value);
    return box;
}

} // namespace

QColor metricColour(const Theme& theme, Metric metric, double value, ColourLimits limits)
{
    const double span = limits.second - limits.first;
    const double position = span > 0 ? std::clamp((value - limits.first) / span, 0.0, 1.0) : 0;
    if (metric == Metric::OtherGain)
        return theme.difference(2 * position - 1);
    return theme.magnitude(metricScale(metric).better == Better::Higher ? 1 - position : position);
}

GraphLegend::GraphLegend(QWidget* parent)
    : QWidget(parent)
{
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(tr("Colour legend"));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void GraphLegend::setScale(Metric metric, ColourLimits limits, const Theme& theme, const QString& whose)
{
    m_whose = whose;
    m_metric = metric;
    m_limits = limits;
    m_theme = theme;
    setToolTip(metricInfo(metric).definition + QLatin1Char('\n') + tr("Click to change the limits."));
    update();
}

void GraphLegend::paintEvent(QPaintEvent*)
{
    const MetricInfo info = metricInfo(m_metric);
    const bool highIsGood = metricScale(m_metric).better == Better::Higher;
    const QString worse = tr("worse"), better = tr("better");
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.panel);
    painter.setPen(m_theme.grid);
    painter.drawLine(0, 0, width(), 0);
    painter.setPen(m_theme.muted);
    int x = kLegendMargin;
    const auto write = [&](const QString& text) {
        painter.drawText(QRect(x, 0, width(), height()), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += painter.fontMetrics().horizontalAdvance(text) + kGap;
    };
    const bool narrow = width() < kNarrow; // the name of the number is in the tool tip, too
    if (!narrow)
        write(QStringLiteral("%1, %2").arg(info.legend, info.unit));
    if (!m_whose.isEmpty() && !narrow)
        write(QStringLiteral("· ") + painter.fontMetrics().elidedText(m_whose, Qt::ElideMiddle, kWhoseWidth));
    x += narrow ? 0 : kGap;
    write(QStringLiteral("%1 ≤ %2").arg(highIsGood ? worse : better, numberText(m_limits.first)));
    const QString end = QStringLiteral("≥ %1 %2").arg(numberText(m_limits.second), highIsGood ? better : worse);
    const int room = width() - x - kGap - painter.fontMetrics().horizontalAdvance(end) - kLegendMargin;
    const int scale = std::clamp(room, kBlocks, kScaleWidth) / kBlocks * kBlocks;
    const int top = (height() - kLegendBar) / 2;
    for (int i = 0; i < kBlocks; ++i) {
        const double value = m_limits.first + (m_limits.second - m_limits.first) * (i + 0.5) / kBlocks;
        painter.fillRect(QRect(x + scale * i / kBlocks, top, scale / kBlocks, kLegendBar),
            metricColour(m_theme, m_metric, value, m_limits));
    }
    x += scale + kGap;
    write(end);
    const QString without = tr("no number");
    const int needed = kGap + 2 * kLegendBar + kGap + painter.fontMetrics().horizontalAdvance(without) + kLegendMargin;
    if (x + needed <= width()) {
        x += kGap;
        painter.setBrush(m_theme.raised);
        painter.setPen(m_theme.border);
        painter.drawRect(QRect(x, top, 2 * kLegendBar, kLegendBar));
        painter.setPen(m_theme.muted);
        x += 2 * kLegendBar + kGap;
        write(without);
    }
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(m_theme.accent, 2));
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void GraphLegend::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && rect().contains(event->pos()))
        editLimits();
}

void GraphLegend::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        editLimits();
    else
        QWidget::keyPressEvent(event);
}

void GraphLegend::editLimits()
{
    const MetricInfo info = metricInfo(m_metric);
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Colour limits"));
    auto* form = new QFormLayout(dialog);
    form->addRow(new QLabel(tr("Colours of %1").arg(info.legend), dialog));
    QDoubleSpinBox* low = limitBox(m_limits.first, info.unit, dialog);
    QDoubleSpinBox* high = limitBox(m_limits.second, info.unit, dialog);
    form->addRow(tr("From"), low);
    form->addRow(tr("To"), high);
    auto* buttons = new QDialogButtonBox(
        QDialogButtonBox::Ok | QDialogButtonBox::Cancel | QDialogButtonBox::RestoreDefaults, dialog);
    form->addRow(buttons);
    const auto check = [=] { buttons->button(QDialogButtonBox::Ok)->setEnabled(low->value() < high->value()); };
    connect(low, &QDoubleSpinBox::valueChanged, dialog, check);
    connect(high, &QDoubleSpinBox::valueChanged, dialog, check);
    connect(buttons->button(QDialogButtonBox::RestoreDefaults), &QPushButton::clicked, dialog,
        [low, high, metric = m_metric] {
            low->setValue(metricScale(metric).low);
            high->setValue(metricScale(metric).high);
        });
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, [this, dialog, low, high, metric = m_metric] {
        emit limitsChanged(metric, { low->value(), high->value() });
        dialog->accept();
    });
    dialog->open();
}

} // namespace qs
