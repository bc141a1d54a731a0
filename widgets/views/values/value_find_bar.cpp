// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/values/value_find_bar.h"

#include "widgets/models/base/true_minus.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/elided_label.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>

namespace qs {

namespace {

constexpr int kValueWidth = 80;

/// A typed number; the minus may be a true one, as numbers are shown.
std::optional<double> typedNumber(QString text)
{
    bool ok = false;
    const double value = withHyphens(text.trimmed()).toDouble(&ok);
    return ok ? std::optional(value) : std::nullopt;
}

bool takesNumber(FindWhat what)
{
    return what == FindWhat::Above || what == FindWhat::Below || what == FindWhat::Equal;
}

QToolButton* stepButton(QWidget* parent, Qt::ArrowType arrow, const QString& text)
{
    auto* button = new QToolButton(parent);
    button->setArrowType(arrow);
    button->setToolTip(text);
    button->setAccessibleName(text);
    return button;
}

} // namespace

ValueFindBar::ValueFindBar(QWidget* parent)
    : QWidget(parent)
    , m_what(new ElidedCombo(this))
    , m_value(new QLineEdit(this))
    , m_whole(new QCheckBox(tr("in all of it"), this))
    , m_said(new ElidedLabel(Qt::ElideRight, this))
{
    const std::pair<FindWhat, QString> choices[] { { FindWhat::Above, tr("larger than") },
        { FindWhat::Below, tr("smaller than") }, { FindWhat::Equal, tr("equal to") },
        { FindWhat::NotFinite, tr("NaN or infinite") }, { FindWhat::AtLimit, tr("at a limit of the codes") },
        { FindWhat::LargestDifference, tr("largest difference") }, { FindWhat::Lowest, tr("minimum") },
        { FindWhat::Highest, tr("maximum") } };
    for (const auto& [what, text] : choices)
        m_what->addItem(text, int(what));
    m_what->setAccessibleName(tr("What to find"));
    m_value->setAccessibleName(tr("Number to find"));
    m_value->setPlaceholderText(tr("number"));
    m_value->setFixedWidth(kValueWidth);
    m_whole->setToolTip(tr("Search the whole tensor; the slice goes to where the number is"));
    m_said->setObjectName(QStringLiteral("panelInfo"));
    auto* before = stepButton(this, Qt::UpArrow, tr("Previous one (Shift+F3)"));
    auto* next = stepButton(this, Qt::DownArrow, tr("Next one (F3)"));
    auto* column = new QVBoxLayout(this); // beside the rest there is no room in a narrow panel
    column->setContentsMargins(8, 0, 8, 4);
    column->setSpacing(2);
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    column->addLayout(row);
    column->addWidget(m_said);
    for (QWidget* widget : { static_cast<QWidget*>(m_what), static_cast<QWidget*>(m_value),
             static_cast<QWidget*>(before), static_cast<QWidget*>(next), static_cast<QWidget*>(m_whole) })
        row->addWidget(widget);
    row->addStretch(1);
    connect(before, &QToolButton::clicked, this, [this] { search(true); });
    connect(next, &QToolButton::clicked, this, [this] { search(false); });
    connect(m_value, &QLineEdit::returnPressed, this, [this] { search(false); });
    connect(m_value, &QLineEdit::textEdited, this, [this] { say({}); });
    connect(m_what, &QComboBox::currentIndexChanged, this, &ValueFindBar::refresh);
    refresh();
    hide();
}

FindWhat ValueFindBar::what() const { return FindWhat(m_what->currentData().toInt()); }

bool ValueFindBar::wholeTensor() const { return m_whole->isChecked(); }

void ValueFindBar::say(const QString& text)
{
    m_said->setText(text);
    m_said->setVisible(!text.isEmpty());
    m_said->setToolTip(text);
}

void ValueFindBar::refresh()
{
    m_value->setVisible(takesNumber(what()));
    say({});
}

void ValueFindBar::open()
{
    show();
    QWidget* first = m_value->isVisibleTo(this) ? static_cast<QWidget*>(m_value) : m_what;
    first->setFocus(Qt::OtherFocusReason);
    m_value->selectAll();
}

void ValueFindBar::search(bool backwards)
{
    ValueSearch search { what(), 0, backwards };
    if (takesNumber(search.what)) {
        const auto number = typedNumber(m_value->text());
        if (!number)
            return say(m_value->text().isEmpty() ? tr("Type a number.") : tr("This is no number."));
        search.value = *number;
    }
    say({});
    emit asked(search);
}

void ValueFindBar::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_F3)
        return search(event->modifiers().testFlag(Qt::ShiftModifier));
    if (event->key() != Qt::Key_Escape)
        return QWidget::keyPressEvent(event);
    hide();
    emit closed();
}

} // namespace qs

#include "moc_value_find_bar.cpp"
