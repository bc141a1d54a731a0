// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/palette/palette.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/palette/palette_delegate.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QSettings>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

constexpr int kMostUsed = 12;
constexpr int kLines = 14; ///< at most, beside the field
constexpr int kLetters = 96; ///< average ones, as wide as it wants to be
const QString kUsedKey = QStringLiteral("palette/used");

} // namespace

Palette::Palette(QWidget* window)
    : QFrame(window)
    , m_model(new PaletteModel(this))
    , m_field(new QLineEdit(this))
    , m_list(new QListView(this))
    , m_note(new QLabel(this))
{
    setObjectName(QStringLiteral("palette"));
    setAccessibleName(tr("Palette"));
    m_field->setPlaceholderText(tr("Find an action, node, tensor, setting, sample…"));
    m_field->setAccessibleName(tr("Find an action, node, tensor, setting, finding or sample"));
    m_field->setClearButtonEnabled(true);
    m_list->setModel(m_model);
    m_list->setItemDelegate(new PaletteDelegate(m_list));
    m_list->setAccessibleName(tr("What matches"));
    m_list->setUniformItemSizes(true);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setFrameShape(QFrame::NoFrame);
    m_note->setObjectName(QStringLiteral("formNote"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 6);
    column->setSpacing(6);
    column->addWidget(m_field);
    column->addWidget(m_list, 1);
    column->addWidget(m_note);
    hide();
    m_field->installEventFilter(this);
    window->installEventFilter(this);
    connect(m_field, &QLineEdit::textChanged, m_model, &PaletteModel::setQuery);
    connect(m_model, &QAbstractItemModel::modelReset, this, &Palette::tell);
    connect(m_list, &QListView::clicked, this, &Palette::choose);
}

void Palette::setGroups(std::vector<PaletteGroupPtr> groups) { m_model->setGroups(std::move(groups)); }

void Palette::setComing(bool coming)
{
    m_coming = coming;
    tell();
}

void Palette::remember()
{
    m_remembers = true;
    m_used = QSettings().value(kUsedKey).toStringList();
    m_model->setUsed(m_used);
}

void Palette::open(const QString& typed)
{
    if (isHidden())
        m_before = QApplication::focusWidget();
    if (m_fill)
        m_fill();
    m_field->setText(typed);
    m_model->setQuery(typed);
    place();
    show();
    raise();
    qApp->installEventFilter(this); // a click elsewhere
    m_field->setFocus(Qt::ShortcutFocusReason);
}

void Palette::close()
{
    const bool focused = isAncestorOf(QApplication::focusWidget());
    hide();
    if (focused && m_before)
        m_before->setFocus(Qt::OtherFocusReason);
    m_before = nullptr;
}

void Palette::hideEvent(QHideEvent* event)
{
    qApp->removeEventFilter(this);
    QFrame::hideEvent(event);
}

bool Palette::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::MouseButtonPress && isVisible())
        if (auto* widget = qobject_cast<QWidget*>(watched); widget && widget != this && !isAncestorOf(widget))
            close();
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        place();
    if (watched != m_field)
        return QFrame::eventFilter(watched, event);
    if (event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const bool own = key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Up
            || key == Qt::Key_Down || key == Qt::Key_PageUp || key == Qt::Key_PageDown;
        if (own && event->type() == QEvent::ShortcutOverride) {
            event->accept(); // before the window's shortcuts
            return true;
        }
        return own && keyPressed(key);
    }
    if (event->type() == QEvent::FocusOut) {
        const auto reason = static_cast<QFocusEvent*>(event)->reason();
        if (reason != Qt::ActiveWindowFocusReason && reason != Qt::PopupFocusReason && isVisible())
            hide(); // the focus is elsewhere already
    }
    return QFrame::eventFilter(watched, event);
}

bool Palette::keyPressed(int key)
{
    const int rows = m_model->rowCount(), now = m_list->currentIndex().row();
    const int page = std::max(1, m_list->viewport()->height() / std::max(1, m_list->sizeHintForRow(0)) - 1);
    switch (key) {
    case Qt::Key_Escape:
        close();
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        choose(m_list->currentIndex());
        return true;
    default:
        break;
    }
    if (rows == 0)
        return true;
    const int to = key == Qt::Key_Up ? (now + rows - 1) % rows
        : key == Qt::Key_Down        ? (now + 1) % rows
        : key == Qt::Key_PageUp      ? std::max(0, now - page)
                                     : std::min(rows - 1, now + page);
    m_list->setCurrentIndex(m_model->index(to));
    return true;
}

void Palette::choose(const QModelIndex& index)
{
    if (!index.isValid() || !index.data(PaletteModel::WhyNotRole).toString().isEmpty())
        return;
    const QString id = index.data(PaletteModel::IdRole).toString();
    close(); // before, so that what is chosen acts on what had the focus, and may take it
    m_model->choose(index);
    noteUse(id);
}

void Palette::noteUse(const QString& id)
{
    m_used.removeAll(id);
    m_used.prepend(id);
    while (m_used.size() > kMostUsed)
        m_used.removeLast();
    m_model->setUsed(m_used);
    if (m_remembers)
        QSettings().setValue(kUsedKey, m_used);
}

/// The first line is current, and below stands how many match.
void Palette::tell()
{
    const int rows = m_model->rowCount();
    if (rows > 0)
        m_list->setCurrentIndex(m_model->index(0));
    m_list->setVisible(rows > 0);
    const QString typed = m_field->text().trimmed();
    const QString signs
        = tr("Begin with  >  for actions,  @  nodes,  #  tensors,  =  settings,  !  findings,  %  samples");
    if (rows == 0)
        m_note->setText(m_model->searching() || m_coming ? tr("Searching…") : tr("No match for “%1”").arg(typed));
    else if (!typed.isEmpty() && m_model->matches() > size_t(rows))
        m_note->setText(tr("The best %1 of %2").arg(rows).arg(countText(m_model->matches())));
    else
        m_note->setText(signs);
    m_note->setAccessibleName(m_note->text());
    if (isVisible())
        place();
}

/// In the middle of the window's upper part, as high as its lines need.
void Palette::place()
{
    const QWidget& window = *parentWidget();
    const QFontMetrics metrics(font());
    const int wide = std::min(window.width() - 2 * metrics.height(), kLetters * metrics.averageCharWidth());
    const int lines
        = std::min(m_model->rowCount(), kLines) * (metrics.height() * 3 / 2) + (m_model->rowCount() ? 4 : 0);
    m_list->setFixedHeight(lines);
    layout()->activate();
    const int high = std::min(window.height() - 2 * metrics.height(), sizeHint().height());
    setGeometry((window.width() - wide) / 2, std::min(window.height() / 10, window.height() - high), wide, high);
}

} // namespace qs

#include "moc_palette.cpp"
