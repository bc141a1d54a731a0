// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/matching_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/open_dialogs.h"
#include "widgets/views/tables/link_dialog.h"

#include <QAction>
#include <QTableView>
#include <QToolButton>

namespace qs {

namespace {

QString matchingInfo(const Snapshot& snapshot)
{
    if (!snapshot.alignment)
        return {};
    const Alignment& found = *snapshot.alignment;
    const size_t inside = found.insideFloat.size() + found.insideQuant.size();
    const QString pairs = TablePanel::tr("%1 pairs").arg(countText(found.values.size()))
        + (inside > 0 ? TablePanel::tr(" · %1 inside operators").arg(countText(inside)) : QString());
    if (found.unmatchedFloat.empty() && found.unmatchedQuant.empty())
        return TablePanel::tr("%1, none left over").arg(pairs);
    return TablePanel::tr("%1 · left over: %2 float, %3 quantized")
        .arg(pairs, countText(found.unmatchedFloat.size()), countText(found.unmatchedQuant.size()));
}

TablePanel::Setup matchingSetup()
{
    auto* model = new MatchModel;
    TablePanel::Setup setup;
    setup.name = QStringLiteral("matching");
    setup.title = TablePanel::tr("Matching");
    setup.model = model;
    setup.worstColumn = model->columnOf(MatchModel::Key::Match);
    setup.select = [model](Selection& selection, int row) {
        const MatchRow& chosen = model->at(row);
        Place place;
        place.side = chosen.floatValue.valid() ? Side::Float : Side::Quantized;
        place.value = chosen.floatValue.valid() ? chosen.floatValue : chosen.quantValue;
        selection.select(place);
    };
    setup.rowOf = [model](const Place& place) -> std::optional<size_t> {
        for (int row = 0; place.value.valid() && !place.weight && row < model->rowCount(); ++row) {
            const MatchRow& entry = model->at(row);
            if ((place.side == Side::Float ? entry.floatValue : entry.quantValue) == place.value)
                return size_t(row);
        }
        return {};
    };
    setup.emptyText
        = [](const Snapshot&) { return TablePanel::tr("Open a float and a quantized model to match their tensors."); };
    setup.info = matchingInfo;
    return setup;
}

} // namespace

MatchingPanel::MatchingPanel(Session& session, QWidget* parent)
    : TablePanel(session, matchingSetup(), parent)
    , m_session(session)
    , m_link(new QAction(tr("Link…"), this))
    , m_unlink(new QAction(tr("Unlink"), this))
    , m_export(new QAction(tr("Export…"), this))
{
    buildActions();
    connect(table()->selectionModel(), &QItemSelectionModel::selectionChanged, this, &MatchingPanel::refreshActions);
    connect(&session, &Session::snapshotChanged, this, &MatchingPanel::refreshActions);
    refreshActions();
}

void MatchingPanel::buildActions()
{
    nameAction(*m_link, QStringLiteral("matching.link"), header()->title());
    nameAction(*m_unlink, QStringLiteral("matching.unlink"), header()->title());
    nameAction(*m_export, QStringLiteral("matching.export"), header()->title());
    m_link->setShortcut(QKeySequence(Qt::Key_L));
    m_link->setToolTip(
        tr("Pair the chosen tensor with one of the other file; with one of each file chosen (Ctrl+click), those two"));
    m_unlink->setShortcut(QKeySequence::Delete);
    m_unlink->setToolTip(tr("These two are not the same tensor"));
    m_export->setToolTip(tr("Write the links made by hand to a map file, which can be read again"));
    for (QAction* action : { m_link, m_unlink }) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        addAction(action); // also in the context menu
    }
    for (QAction* action : { m_link, m_unlink, m_export }) {
        auto* button = new QToolButton(this);
        button->setDefaultAction(action);
        header()->addTool(button);
    }
    connect(m_link, &QAction::triggered, this, &MatchingPanel::linkChosen);
    connect(m_unlink, &QAction::triggered, this, &MatchingPanel::unlinkChosen);
    connect(m_export, &QAction::triggered, this, [this] { askForLinksFile(m_session, this); });
}

/// A quantized model that a recipe made is paired by what made it.
bool MatchingPanel::editable() const
{
    const SnapshotPtr snapshot = m_session.snapshot();
    return snapshot->alignment && !snapshot->inputs.recipe;
}

std::optional<std::pair<QString, QString>> MatchingPanel::chosenPair() const
{
    const std::vector<int> rows = chosenRows();
    if (rows.size() != 2)
        return std::nullopt;
    for (const auto& [first, second] : { std::pair(rows[0], rows[1]), std::pair(rows[1], rows[0]) }) {
        const MatchRow &one = matches().at(first), &other = matches().at(second);
        if (one.floatName().isEmpty() || !one.quantName().isEmpty() || other.quantName().isEmpty())
            continue;
        const auto all = linkCandidates(*m_session.snapshot(), Side::Float, one.floatValue);
        const auto wanted = std::ranges::find(all, other.quantValue, &LinkCandidate::value);
        if (wanted != all.end() && wanted->fits)
            return std::pair(one.floatName(), other.quantName());
    }
    return std::nullopt;
}

void MatchingPanel::refreshActions()
{
    const std::vector<int> rows = chosenRows();
    const bool links = !m_session.recipe().links().empty();
    const QString fixed = tr("What a recipe made is paired by what made it");
    enable(*m_link, editable() && (rows.size() == 1 || chosenPair()),
        editable() ? tr("Choose a row of the matching panel, or one tensor of each file, of one size") : fixed);
    enable(*m_unlink, editable() && rows.size() == 1 && matches().at(rows[0]).pair,
        editable() ? tr("Choose a pair in the matching panel") : fixed);
    enable(*m_export, links, tr("No links were made by hand"));
}

void MatchingPanel::link(const QString& floatName, const QString& quantName)
{
    RecipeHistory& history = m_session.recipe();
    history.applyLinks(
        tr("Link %1").arg(floatName), withLink(history.links(), floatName.toStdString(), quantName.toStdString()));
}

void MatchingPanel::linkChosen()
{
    if (const auto pair = chosenPair())
        return link(pair->first, pair->second);
    const std::vector<int> rows = chosenRows();
    if (rows.size() == 1)
        askForPartner(rows[0]);
}

void MatchingPanel::askForPartner(int row)
{
    const MatchRow entry = matches().at(row);
    const Side from = entry.floatValue.valid() ? Side::Float : Side::Quantized;
    const QString name = from == Side::Float ? entry.floatName() : entry.quantName();
    auto* dialog = new LinkDialog(
        *m_session.snapshot(), from, from == Side::Float ? entry.floatValue : entry.quantValue, name, this);
    connect(dialog, &LinkDialog::chosen, this, [this, from, name](const QString& partner) {
        if (from == Side::Float)
            link(name, partner);
        else
            link(partner, name);
    });
    dialog->open();
}

void MatchingPanel::unlinkChosen()
{
    const std::vector<int> rows = chosenRows();
    if (rows.size() != 1 || !matches().at(rows[0]).pair)
        return;
    const QString floatName = matches().at(rows[0]).floatName(), quantName = matches().at(rows[0]).quantName();
    RecipeHistory& history = m_session.recipe();
    history.applyLinks(
        tr("Unlink %1").arg(floatName), withoutLink(history.links(), floatName.toStdString(), quantName.toStdString()));
}

} // namespace qs

#include "moc_matching_panel.cpp"
