// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/view/around_bar.h"

#include "widgets/views/base/text/font_units.h"

#include <QCheckBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>

namespace qs {

namespace {

constexpr int kMostSteps = 99;
constexpr int kMiddleWidth = 150; ///< font units

} // namespace

AroundBar::AroundBar(QWidget* parent)
    : QFrame(parent)
    , m_middle(new QLabel(this))
    , m_steps(new QLabel(this))
    , m_inputs(new QCheckBox(tr("to inputs"), this))
    , m_outputs(new QCheckBox(tr("to outputs"), this))
{
    setObjectName(QStringLiteral("graphSearch")); // looks like the search bar
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setCursor(Qt::ArrowCursor);
    m_steps->setToolTip(tr("How many steps along the edges are shown, upwards and downwards"));
    m_inputs->setToolTip(tr("Everything that it depends on, up to the model's inputs"));
    m_outputs->setToolTip(tr("Everything that depends on it, down to the model's outputs"));
    QToolButton* less = button(QStringLiteral("−"), tr("One step less"));
    QToolButton* more = button(QStringLiteral("+"), tr("One step more"));
    QToolButton* close = button(QStringLiteral("✕"), tr("Show the whole graph (N)"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 4, 6, 4);
    for (QWidget* part : std::initializer_list<QWidget*> { m_middle, less, m_steps, more, m_inputs, m_outputs, close })
        row->addWidget(part);
    connect(less, &QToolButton::clicked, this, [this] { step(-1); });
    connect(more, &QToolButton::clicked, this, [this] { step(1); });
    connect(m_inputs, &QCheckBox::toggled, this, &AroundBar::tell);
    connect(m_outputs, &QCheckBox::toggled, this, &AroundBar::tell);
    connect(close, &QToolButton::clicked, this, &AroundBar::closed);
    hide();
}

QToolButton* AroundBar::button(const QString& symbol, const QString& tip)
{
    auto* made = new QToolButton(this);
    made->setText(symbol);
    made->setToolTip(tip);
    made->setAccessibleName(tip);
    made->setAutoRaise(true);
    return made;
}

void AroundBar::showAround(const std::optional<Neighbourhood>& wanted, const QString& middle)
{
    setVisible(wanted.has_value());
    if (!wanted)
        return;
    m_wanted = *wanted;
    const QSignalBlocker inputs(m_inputs), outputs(m_outputs);
    m_middle->setText(
        tr("Around %1").arg(fontMetrics().elidedText(middle, Qt::ElideMiddle, fontUnits(fontMetrics(), kMiddleWidth))));
    m_middle->setToolTip(middle);
    m_steps->setText(QStringLiteral("±%1").arg(wanted->steps));
    m_inputs->setChecked(wanted->toInputs);
    m_outputs->setChecked(wanted->toOutputs);
    adjustSize();
    raise();
}

void AroundBar::step(int by)
{
    m_wanted.steps = static_cast<uint32_t>(std::clamp(int(m_wanted.steps) + by, 1, kMostSteps));
    tell();
}

void AroundBar::tell()
{
    m_wanted.toInputs = m_inputs->isChecked();
    m_wanted.toOutputs = m_outputs->isChecked();
    emit changed(m_wanted);
}

} // namespace qs

#include "moc_around_bar.cpp"
