// SPDX-License-Identifier: GPL-3.0-or-later
// What is done with a term: followed to where its operands come from, copied.
#include "widgets/models/base/formatting.h"
#include "widgets/views/arithmetic/arithmetic_panel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QSortFilterProxyModel>
#include <QTableView>

#include <algorithm>

namespace qs {

namespace {

/// Numbers are counted within a sample, operands in the whole run, which may hold several samples.
int64_t withinSample(const ShownElement::Found& found, const OperandSource& source, int64_t element)
{
    const int64_t run = elementCount(found.explanation->shape).value_or(0);
    const int64_t one = elementCount(found.shape).value_or(0);
    const int64_t all = elementCount(source.shape).value_or(0);
    const int64_t samples = one > 0 ? run / one : 1;
    return source.constant || samples < 2 || all % samples != 0 ? element : element % (all / samples);
}

/// The row of a weight whose elements lie in the same order in both files.
std::optional<size_t> weightRow(const Snapshot& snapshot, const std::string& name)
{
    if (!snapshot.comparison || !snapshot.alignment || name.empty())
        return std::nullopt;
    const ValueId value = snapshot.floatModel->graph().findValue(name);
    const auto& pairs = snapshot.alignment->weights;
    const auto pair = std::ranges::find(pairs, value, &WeightPair::floatValue);
    const auto& rows = snapshot.comparison->weights;
    const auto row = std::ranges::find(rows, value, &WeightRow::floatValue);
    if (!value.valid() || pair == pairs.end() || pair->transposed || pair->places || row == rows.end())
        return std::nullopt;
    return size_t(row - rows.begin());
}

} // namespace

void ArithmeticPanel::showLargestError() { selectLargestError(m_session, m_place, {}); }

void ArithmeticPanel::follow(const Operand& operand)
{
    const auto& found = m_shown->found();
    const auto& shown = m_terms->explanation();
    if (!found || !shown)
        return;
    const OperandSource& source = shown->sources[operand.source];
    const Snapshot& now = *m_session.snapshot();
    Place place;
    place.sample = m_place.current().sample;
    place.element = ChosenElement { found->element.sample, withinSample(*found, source, operand.element) };
    if (source.constant)
        place.weight = weightRow(now, m_shown->model() == ShownElement::Model::Float ? source.name : source.twin);
    if (m_shown->model() == ShownElement::Model::Other) { // its graph is not the one that is shown
        place.value = now.floatModel ? now.floatModel->graph().findValue(source.twin) : ValueId {};
    } else {
        place.side = m_shown->model() == ShownElement::Model::Float || !now.quantModel ? Side::Float : Side::Quantized;
        place.value = source.value;
    }
    if (place.value.valid() || place.weight)
        m_place.selection().select(place);
}

void ArithmeticPanel::followRow(const QModelIndex& index)
{
    const int row = m_sorted->mapToSource(index).row();
    if (row < 0 || row >= m_terms->rowCount())
        return;
    const ElementTerm& term = m_terms->term(row);
    const bool second = TermModel::isSecond(index.column()) && term.b;
    follow(second ? *term.b : term.a);
}

QString ArithmeticPanel::copiedTerms(bool all) const
{
    std::vector<int> columns;
    for (int column = 0; column < TermModel::ColumnCount; ++column)
        if (m_terms->used(column))
            columns.push_back(column);
    QStringList line;
    for (const int column : columns)
        line << m_terms->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    QString text = line.join(u'\t') + u'\n';
    const QItemSelectionModel* chosen = m_termTable->selectionModel();
    for (int row = 0; row < m_sorted->rowCount(); ++row) {
        if (!all && !chosen->isRowSelected(row))
            continue;
        line.clear();
        for (const int column : columns) {
            const QVariant value = m_sorted->index(row, column).data(TermModel::CopyRole);
            line << (value.typeId() == QMetaType::Double ? QString::number(value.toDouble(), 'g', 17)
                                                         : value.toString());
        }
        text += line.join(u'\t') + u'\n';
    }
    return text;
}

void ArithmeticPanel::fillMenu(QMenu& menu, int row)
{
    const auto offer = [&](const QString& text, const Operand& operand) {
        menu.addAction(text, this, [this, operand, of = m_terms->explanation()] {
            if (of == m_terms->explanation())
                follow(operand);
        });
    };
    if (row >= 0 && row < m_terms->rowCount()) {
        const ElementTerm& term = m_terms->term(row);
        const auto name = [&](const Operand& operand) {
            return toQt(m_terms->explanation()->sources[operand.source].name).replace(u'&', QStringLiteral("&&"));
        };
        offer(tr("Where does %1 come from?").arg(name(term.a)), term.a);
        if (term.b)
            offer(tr("Where does %1 come from?").arg(name(*term.b)), *term.b);
        menu.addSeparator();
    }
    const auto copy = [this](bool all) { QGuiApplication::clipboard()->setText(copiedTerms(all)); };
    menu.addAction(tr("Copy the chosen terms"), QKeySequence::Copy, this, [copy] { copy(false); })
        ->setEnabled(m_termTable->selectionModel()->hasSelection());
    menu.addAction(tr("Copy all terms"), this, [copy] { copy(true); })->setEnabled(m_terms->rowCount() > 0);
}

bool ArithmeticPanel::eventFilter(QObject* watched, QEvent* event)
{
    const bool key = event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
    if (watched != m_termTable || !key || !static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy))
        return Panel::eventFilter(watched, event);
    event->accept();
    if (event->type() == QEvent::KeyPress)
        QGuiApplication::clipboard()->setText(copiedTerms(false));
    return true;
}

} // namespace qs
