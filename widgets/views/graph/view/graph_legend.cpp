// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/view/graph_legend.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/theme/focus_ring.h"

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

constexpr int kWhoseWidth = 140, kLeastWhose = 50; ///< font units for the name of a sample
constexpr double kStaleScaleOpacity = 0.4; ///< of colours that are not of the recipe as it is
constexpr int kBlocks = 10;
constexpr int kLegendBar = 10, kScaleWidth = 160, kLeastScale = 40, kLegendMargin = 12, kLegendGap = 8;

QDoubleSpinBox* limitBox(double value, const QString& unit, QWidget* parent)
{
    auto* box = new Ringed<QDoubleSpinBox>(parent);
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
    , m_sample(new QPushButton(this))
{
    m_sample->setProperty("chip", true);
    m_sample->setObjectName(QStringLiteral("sampleChip"));
    m_sample->setCursor(Qt::ArrowCursor);
    m_sample->hide();
    connect(m_sample, &QPushButton::clicked, this, &GraphLegend::allSamplesWanted);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(tr("Colour legend"));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void GraphLegend::setScale(Metric metric, ColourLimits limits, const Theme& theme, const Numbers& numbers)
{
    m_numbers = numbers;
    m_metric = metric;
    m_limits = limits;
    m_theme = theme;
    setToolTip((numbers.stale ? tr("The recipe was changed since; these are the numbers before.") + QLatin1Char('\n')
                              : QString())
        + metricInfo(metric).definition + QLatin1Char('\n') + tr("Click to change the limits."));
    const QString meaning
        = tr("Colours and numbers are of %1 alone. Click, or press Esc in the graph, for all samples.")
              .arg(numbers.sample);
    m_sample->setToolTip(meaning);
    m_sample->setAccessibleName(meaning);
    m_sample->setVisible(!numbers.sample.isEmpty());
    placeSample();
    update();
}

/// At the right end; as much of the name as there is room for beside the shortest of the texts.
void GraphLegend::placeSample()
{
    const QFontMetrics metrics = fontMetrics();
    const int least = fontUnits(metrics, kLeastWhose);
    int room = std::clamp(width() / 3, least, fontUnits(metrics, kWhoseWidth));
    room = std::min(room, metrics.horizontalAdvance(m_numbers.sample));
    const auto place = [&] {
        m_sample->setText(tr("%1  ✕").arg(metrics.elidedText(m_numbers.sample, Qt::ElideMiddle, room)));
        m_sample->adjustSize();
        const int high = std::min(m_sample->height(), height() - 4);
        m_sample->setGeometry(
            width() - m_sample->width() - kLegendGap, (height() - high) / 2 + 1, m_sample->width(), high);
    };
    place();
    if (const int missing = widthOf(wordings().back()) - end(); missing > 0 && room > least) {
        room = std::max(least, room - missing);
        place();
    }
}

int GraphLegend::end() const { return m_numbers.sample.isEmpty() ? width() : m_sample->x(); }

/// What goes first is in the tool tip, too.
std::vector<GraphLegend::Wording> GraphLegend::wordings() const
{
    const MetricInfo info = metricInfo(m_metric);
    const bool highIsGood = metricScale(m_metric).better == Better::Higher;
    const QString worse = tr("worse"), better = tr("better");
    const QString low = QStringLiteral("≤ %1").arg(numberText(m_limits.first));
    const QString high = QStringLiteral("≥ %1").arg(numberText(m_limits.second));
    const QString lowWord = (highIsGood ? worse : better) + u' ' + low;
    const QString highWord = high + u' ' + (highIsGood ? better : worse);
    QStringList number { QStringLiteral("%1, %2").arg(info.legend, info.unit) };
    if (m_numbers.stale)
        number << tr("· before the changes");
    std::vector<Wording> all { { number, lowWord, highWord } };
    if (m_numbers.stale)
        for (const QString& before : { tr("before the changes"), tr("old numbers") })
            all.push_back({ { before }, lowWord, highWord });
    all.push_back({ {}, lowWord, highWord });
    all.push_back({ {}, low, high });
    return all;
}

int GraphLegend::widthOf(const Wording& wording) const
{
    const QFontMetrics metrics = fontMetrics();
    int wide = kLegendMargin + metrics.horizontalAdvance(wording.low) + kLegendGap + kLeastScale + kLegendGap
        + metrics.horizontalAdvance(wording.high) + kLegendMargin;
    for (const QString& text : wording.before)
        wide += metrics.horizontalAdvance(text) + kLegendGap;
    return wording.before.isEmpty() ? wide : wide + kLegendGap;
}

GraphLegend::Line GraphLegend::line() const
{
    const QFontMetrics metrics = fontMetrics();
    const int end = this->end(), top = (height() - kLegendBar) / 2;
    const std::vector<Wording> all = wordings();
    const auto fitting = std::ranges::find_if(all, [&](const Wording& one) { return widthOf(one) <= end; });
    const Wording& wording = fitting == all.end() ? all.back() : *fitting;
    Line line;
    int x = kLegendMargin;
    const auto write = [&](const QString& text) {
        const int wide = metrics.horizontalAdvance(text);
        if (x + wide <= end)
            line.texts.push_back({ QRect(x, 0, wide, height()), text });
        x += wide + kLegendGap;
    };
    for (const QString& text : wording.before)
        write(text);
    x += wording.before.isEmpty() ? 0 : kLegendGap;
    write(wording.low);
    const int room = end - x - kLegendGap - metrics.horizontalAdvance(wording.high) - kLegendMargin;
    line.scale = QRect(x, top, std::clamp(room, 0, kScaleWidth) / kBlocks * kBlocks, kLegendBar);
    x += line.scale.width() + kLegendGap;
    write(wording.high);
    const QString without = tr("no number");
    if (x + 4 * kLegendGap + 2 * kLegendBar + metrics.horizontalAdvance(without) <= end) {
        x += kLegendGap;
        line.noNumber = QRect(x, top, 2 * kLegendBar, kLegendBar);
        x += 2 * kLegendBar + kLegendGap;
        write(without);
    }
    return line;
}

void GraphLegend::resizeEvent(QResizeEvent* event)
{
    placeSample();
    QWidget::resizeEvent(event);
}

void GraphLegend::paintEvent(QPaintEvent*)
{
    const Line line = this->line();
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.panel);
    painter.setPen(m_theme.grid);
    painter.drawLine(0, 0, width(), 0);
    painter.setPen(m_theme.muted);
    for (const auto& [place, text] : line.texts)
        painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, text);
    painter.setOpacity(m_numbers.stale ? kStaleScaleOpacity : 1);
    const int block = line.scale.width() / kBlocks;
    for (int i = 0; i < kBlocks; ++i) {
        const double value = m_limits.first + (m_limits.second - m_limits.first) * (i + 0.5) / kBlocks;
        painter.fillRect(QRect(line.scale.x() + i * block, line.scale.y(), block, kLegendBar),
            metricColour(m_theme, m_metric, value, m_limits));
    }
    painter.setOpacity(1);
    if (!line.noNumber.isNull()) {
        painter.setBrush(m_theme.raised);
        painter.setPen(m_theme.border);
        painter.drawRect(line.noNumber);
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

#include "moc_graph_legend.cpp"
