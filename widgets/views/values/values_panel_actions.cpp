// SPDX-License-Identifier: GPL-3.0-or-later
// What is done with the numbers of the panel: arranged, searched, copied, saved.
#include "widgets/models/base/formatting.h"
#include "widgets/plots/save_dialog.h"
#include "widgets/session/export/value_array.h"
#include "widgets/views/values/slice_field.h"
#include "widgets/views/values/value_find_bar.h"
#include "widgets/views/values/values_panel.h"

#include <QAction>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QRegularExpression>
#include <QTableView>

#include <algorithm>
#include <functional>

namespace qs {

namespace {

constexpr int kFewestDigits = 2, kMostDigits = 9;

/// One of several that can be checked.
void addChoice(QMenu& menu, const QString& text, bool chosen, QObject* context, std::function<void()> choose)
{
    QAction* action = menu.addAction(text);
    action->setCheckable(true);
    action->setChecked(chosen);
    QObject::connect(action, &QAction::triggered, context, std::move(choose));
}

} // namespace

std::optional<size_t> ValuesPanel::currentElement() const
{
    const QModelIndex now = m_table->currentIndex();
    return now.isValid() ? std::optional(m_model->grid().at(m_model->positionOf(now))) : std::nullopt;
}

/// Where an axis is fixed when it goes out of sight: at the current cell.
int64_t ValuesPanel::indexNow(size_t axis) const
{
    if (const auto element = currentElement())
        return indicesOf(*element, m_shown->values()->shape)[axis];
    return m_view.slice.axes[axis].first;
}

void ValuesPanel::arrange(const std::vector<size_t>& ranges, size_t across)
{
    const qs::Shape& shape = m_shown->values()->shape;
    TensorSlice slice = m_view.slice;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const bool range = std::ranges::count(ranges, axis) > 0;
        if (range && slice.axes[axis].fixed)
            slice.axes[axis] = { 0, shape[axis], 1, false };
        else if (!range && !slice.axes[axis].fixed && shape[axis] > 0)
            slice.axes[axis] = { indexNow(axis), 1, 1, true };
    }
    m_view.across = across;
    setSlice(slice);
}

/// A menu may be open while what it was made for gives way to something else.
bool ValuesPanel::hasAxis(size_t axis) const
{
    const auto& values = m_shown->values();
    return values && axis < values->shape.size();
}

void ValuesPanel::setAcross(size_t axis)
{
    if (!hasAxis(axis))
        return;
    std::vector<size_t> ranges;
    for (const size_t range : m_view.slice.ranges())
        if (range != m_view.across && range != axis)
            ranges.push_back(range);
    if (ranges.empty() && m_view.across && m_view.across != axis)
        ranges.push_back(*m_view.across);
    ranges.push_back(axis);
    arrange(ranges, axis);
}

void ValuesPanel::setDown(size_t axis)
{
    if (!hasAxis(axis))
        return;
    size_t across = m_view.across.value_or(axis);
    for (const size_t range : m_view.slice.ranges())
        if (across == axis && range != axis)
            across = range;
    arrange({ axis, across }, across);
}

void ValuesPanel::setDigits(int digits)
{
    m_view.digits = digits;
    showView();
}

void ValuesPanel::setHex(bool hex)
{
    m_view.hex = hex;
    showView();
}

void ValuesPanel::addView(QMenu& menu)
{
    const auto& values = m_shown->values();
    if (!values)
        return;
    const auto ranges = m_view.slice.ranges();
    const auto addAxes = [&](const QString& title, auto isChosen, void (ValuesPanel::*choose)(size_t)) {
        QMenu* axes = menu.addMenu(title);
        axes->setEnabled(values->shape.size() > 1);
        for (size_t axis = 0; axis < values->shape.size(); ++axis)
            addChoice(*axes, tr("axis %1 (%2)").arg(axis).arg(countText(quint64(values->shape[axis]))), isChosen(axis),
                this, [this, axis, choose] { (this->*choose)(axis); });
    };
    addAxes(
        tr("To the right"), [&](size_t axis) { return m_view.across == axis; }, &ValuesPanel::setAcross);
    addAxes(
        tr("Down"), [&](size_t axis) { return m_view.across != axis && std::ranges::count(ranges, axis) > 0; },
        &ValuesPanel::setDown);
    QMenu* digits = menu.addMenu(tr("Digits"));
    for (int n = kFewestDigits; n <= kMostDigits; ++n)
        addChoice(*digits, QString::number(n), n == m_view.digits, this, [this, n] { setDigits(n); });
    addChoice(menu, tr("Codes as hexadecimal"), m_view.hex, this, [this] { setHex(!m_view.hex); });
}

void ValuesPanel::fillMenu(QMenu& menu)
{
    menu.addAction(tr("Find…"), QKeySequence::Find, this, &ValuesPanel::openFind);
    menu.addAction(tr("Copy the chosen cells"), QKeySequence::Copy, this, &ValuesPanel::copyCells)
        ->setEnabled(m_table->selectionModel()->hasSelection());
    menu.addAction(tr("Show arithmetic"), this, &ValuesPanel::askForArithmetic)
        ->setEnabled(m_table->currentIndex().isValid());
    menu.addSeparator();
    addView(menu);
    menu.addSeparator();
    menu.addAction(tr("Save this slice as .npy…"), this, [this] { askToSave(false); });
    menu.addAction(tr("Save all as .npy…"), this, [this] { askToSave(true); });
    for (QAction* action : menu.actions())
        action->setEnabled(action->isEnabled() && m_shown->values());
}

/// Where does the number in the current cell come from?
void ValuesPanel::askForArithmetic()
{
    const auto element = currentElement();
    if (!element || !m_shown->values())
        return;
    const size_t sample = m_shown->values()->sample.value_or(0);
    m_place.selection().selectElement(ChosenElement { sample, int64_t(*element) });
    emit arithmeticAsked();
}

/// The selected number, where it is one of those that are shown.
void ValuesPanel::showChosen()
{
    const auto& values = m_shown->values();
    const auto& element = m_place.current().element;
    if (values && element && size_t(element->index) < values->count() && m_shown->isNow()
        && values->sample.value_or(element->sample) == element->sample)
        showElement(size_t(element->index));
}

void ValuesPanel::askToSave(bool whole)
{
    static const QRegularExpression kNotInNames(QStringLiteral("[^A-Za-z0-9._-]+"));
    const auto& values = m_shown->values();
    if (!values)
        return;
    QString name = toQt(values->name).replace(kNotInNames, QStringLiteral("_"));
    while (name.startsWith(u'_') || name.startsWith(u'.'))
        name.remove(0, 1);
    const Inputs& inputs = m_session.snapshot()->inputs;
    const QString open = toQt(inputs.floatPath.empty() ? inputs.quantPath : inputs.floatPath);
    const QString proposed = QFileInfo(open).absoluteDir().filePath(name + QStringLiteral(".npy"));
    askWhereToWrite(this, tr("Save values"), proposed, tr("numpy array (*.npy)"), QStringLiteral("npy"),
        [this, whole](const QString& path) { save(whole, path); });
}

void ValuesPanel::save(bool whole, const QString& path)
{
    if (const auto& values = m_shown->values())
        saveValues(
            m_session, values, m_model->view().kind, whole ? TensorSlice::whole(values->shape) : m_view.slice, path);
}

bool ValuesPanel::copyCells()
{
    QRect area;
    for (const QItemSelectionRange& range : m_table->selectionModel()->selection())
        area |= QRect(range.left(), range.top(), range.width(), range.height());
    if (area.isEmpty())
        return true;
    if (qint64(area.width()) * area.height() > kMostCopied) {
        say(tr("More than %1 cells are not copied; save them as .npy.").arg(countText(kMostCopied)));
        return false;
    }
    QString text;
    for (int row = area.top(); row <= area.bottom(); ++row) {
        for (int column = area.left(); column <= area.right(); ++column) {
            const QModelIndex cell = m_model->index(row, column);
            if (column > area.left())
                text += u'\t';
            if (m_table->selectionModel()->isSelected(cell))
                text += cell.data(ValueTableModel::CopyRole).toString();
        }
        text += u'\n';
    }
    QGuiApplication::clipboard()->setText(text);
    return true;
}

void ValuesPanel::openFind()
{
    if (m_shown->values())
        m_find->open();
}

void ValuesPanel::search(const ValueSearch& search)
{
    const auto& values = m_shown->values();
    if (!values)
        return;
    m_searchedWhole = m_find->wholeTensor();
    const SliceGrid grid
        = m_searchedWhole ? SliceGrid::inOrder(TensorSlice::whole(values->shape), values->shape) : m_model->grid();
    const auto element = currentElement();
    m_shown->find(m_model->view().kind, grid, search, element ? grid.positionOf(*element) : std::nullopt);
}

void ValuesPanel::goTo(std::optional<size_t> position)
{
    if (!position)
        return m_find->say(m_searchedWhole ? tr("There is none.") : tr("There is none in this slice."));
    showElement(m_searchedWhole ? *position : m_model->grid().at(*position));
    m_find->say({});
}

void ValuesPanel::showElement(size_t element)
{
    if (!m_model->grid().positionOf(element)) {
        TensorSlice slice = m_view.slice;
        const auto indices = indicesOf(element, m_shape);
        for (size_t axis = 0; axis < m_shape.size(); ++axis) {
            AxisSlice& part = slice.axes[axis];
            const int64_t from = indices[axis] - part.first;
            if (part.fixed)
                part.first = indices[axis];
            else if (from % part.step != 0 || from / part.step < 0 || from / part.step >= part.count)
                part = { 0, m_shape[axis], 1, false };
        }
        setSlice(slice);
    }
    const QModelIndex cell = m_model->reveal(*m_model->grid().positionOf(element));
    showPages();
    m_table->setCurrentIndex(cell);
    m_table->scrollTo(cell);
}

/// The chosen channel of the selected tensor, at the other indices that are shown now.
void ValuesPanel::showChannel(const Place& place)
{
    const auto& values = m_shown->values();
    if (!values || values->shape.size() < 2 || m_model->rowCount() == 0)
        return;
    const Snapshot& now = *m_session.snapshot();
    if (!place.weight && values->shape.size() == 3)
        return; // channels of sequences may come first or last
    const auto axis = place.weight ? size_t(now.comparison->weights[*place.weight].channelAxis) : size_t(1);
    if (axis >= values->shape.size() || int64_t(*place.channel) >= values->shape[axis])
        return;
    auto indices = indicesOf(currentElement().value_or(m_model->grid().at(0)), values->shape);
    indices[axis] = int64_t(*place.channel);
    size_t element = 0;
    for (size_t d = 0; d < indices.size(); ++d)
        element = element * size_t(values->shape[d]) + size_t(indices[d]);
    showElement(element);
}

void ValuesPanel::showPages()
{
    m_pages->setVisible(m_model->paged());
    if (!m_model->paged())
        return;
    const size_t row = m_model->firstRow(), column = m_model->firstColumn();
    QString text
        = tr("rows %1 to %2 of %3")
              .arg(countText(row), countText(row + size_t(m_model->rowCount()) - 1), countText(m_model->grid().rows()));
    if (m_model->grid().columns() > size_t(ValueTableModel::kMostColumns))
        text += tr(", columns %1 to %2 of %3")
                    .arg(countText(column), countText(column + size_t(m_model->columnCount()) - 1),
                        countText(m_model->grid().columns()));
    m_pageText->setText(text);
}

/// To the right first, then down; around the end.
void ValuesPanel::turnPage(int step)
{
    const auto pages = [](size_t all, int most) { return (all + size_t(most) - 1) / size_t(most); };
    const size_t across = pages(m_model->grid().columns(), ValueTableModel::kMostColumns),
                 all = across * pages(m_model->grid().rows(), ValueTableModel::kMostRows);
    const size_t now = m_model->firstRow() / size_t(ValueTableModel::kMostRows) * across
        + m_model->firstColumn() / size_t(ValueTableModel::kMostColumns);
    const size_t next = (now + (step > 0 ? 1 : all - 1)) % all;
    m_model->turnTo(
        next / across * size_t(ValueTableModel::kMostRows), next % across * size_t(ValueTableModel::kMostColumns));
    showPages();
}

bool ValuesPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_table && event->type() == QEvent::Resize)
        m_empty->setGeometry(m_table->rect());
    if (watched != m_table || (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride))
        return Panel::eventFilter(watched, event);
    auto* key = static_cast<QKeyEvent*>(event);
    const bool next = key->key() == Qt::Key_F3;
    if (!next && !key->matches(QKeySequence::Find) && !key->matches(QKeySequence::Copy))
        return Panel::eventFilter(watched, event);
    event->accept();
    if (event->type() == QEvent::ShortcutOverride)
        return true; // the window's menu must not take it
    if (next && m_find->isVisible())
        m_find->search(key->modifiers().testFlag(Qt::ShiftModifier));
    else if (next || key->matches(QKeySequence::Find))
        openFind();
    else
        copyCells();
    return true;
}

} // namespace qs
