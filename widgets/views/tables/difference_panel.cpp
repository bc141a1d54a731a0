// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/difference_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/tables/difference_model.h"
#include "widgets/models/tables/output_model.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/shown/compared_names.h"
#include "widgets/views/base/open_dialogs.h"

#include <QMenu>
#include <QToolButton>

#include <algorithm>

namespace qs {

namespace {

QString namesOf(const Session& session)
{
    const ComparedNames names = comparedNames(*session.snapshot(), session.runs().tree());
    return session.snapshot()->other ? TablePanel::tr("A %1 · B %2").arg(names.a, names.b) : QString();
}

QString differenceInfo(const Snapshot& snapshot)
{
    if (!snapshot.other)
        return {};
    const auto& all = snapshot.other->differences;
    const auto count = std::ranges::count_if(all, [](const ParameterDifference& d) { return !d.same; });
    return TablePanel::tr("%1 of %2 tensors differ").arg(countText(quint64(count)), countText(all.size()));
}

/// The output of both, which the differences lead to.
QString outcomeText(const Session& session)
{
    const SnapshotPtr snapshot = session.snapshot();
    if (!snapshot->other || !snapshot->comparison)
        return TablePanel::tr("dB: what B's quantizer gives at that tensor over A's");
    QStringList parts;
    const auto add = [&parts](const QString& name, const Comparison& comparison) {
        QStringList items;
        for (const SummaryItem& item : outcomeSummary(comparison))
            items << item.label + u' ' + item.value;
        parts << QStringLiteral("<b>%1</b> %2").arg(name, items.join(QStringLiteral(", ")).toHtmlEscaped());
    };
    add(TablePanel::tr("A"), *snapshot->comparison);
    add(TablePanel::tr("B"), *snapshot->other->snapshot->comparison);
    return parts.join(QStringLiteral(" · "));
}

TablePanel::Setup differenceSetup(Session& session)
{
    auto* model = new DifferenceModel;
    TablePanel::Setup setup;
    setup.name = QStringLiteral("difference");
    setup.title = TablePanel::tr("Parameter difference");
    setup.model = model;
    setup.worstColumn = model->columnOf(DifferenceModel::Key::Gain);
    setup.select = [model](Selection& selection, int row) { selection.selectByName(model->at(row).name); };
    const Session* owner = &session;
    setup.rowOf = [model, owner](const Place& place) -> std::optional<size_t> {
        const auto& floatModel = owner->snapshot()->floatModel;
        if (place.side != Side::Float || !place.value.valid() || !floatModel
            || place.value.index() >= floatModel->graph().values().size())
            return {};
        const std::string& name = floatModel->graph().value(place.value).name;
        for (int row = 0; row < model->rowCount(); ++row)
            if (model->at(row).name == name)
                return size_t(row);
        return {};
    };
    setup.names = [owner](const Snapshot&) { return namesOf(*owner); };
    setup.info = differenceInfo;
    setup.footer = [owner](const Theme&) { return outcomeText(*owner); };
    setup.emptyText = [](const Snapshot& snapshot) {
        return snapshot.comparison
            ? TablePanel::tr("Choose a second quantized file, or another run, with “Compare with”.")
            : TablePanel::tr("Open a float and a quantized model and data first.");
    };
    return setup;
}

} // namespace

DifferencePanel::DifferencePanel(Session& session, QWidget* parent)
    : TablePanel(session, differenceSetup(session), parent)
    , m_session(session)
    , m_choose(new QToolButton(this))
{
    m_choose->setText(tr("Compare with"));
    m_choose->setProperty("outlined", true);
    m_choose->setToolTip(tr("The second quantized model (B): a file, or a run"));
    m_choose->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(m_choose);
    m_choose->setMenu(menu);
    header()->addTool(m_choose);
    connect(menu, &QMenu::aboutToShow, this, &DifferencePanel::fillMenu);
    connect(&session, &Session::snapshotChanged, this,
        [this](const SnapshotPtr& now) { m_choose->setEnabled(now->comparison.has_value()); });
    m_choose->setEnabled(session.comparison());
}

void DifferencePanel::fillMenu()
{
    QMenu* menu = m_choose->menu();
    menu->clear();
    menu->addAction(tr("Quantized file…"), this, [this] { askForOther(m_session, this); });
    const SnapshotPtr snapshot = m_session.snapshot();
    for (const RecipeRun& run : m_session.runs().tree().runs()) {
        const OtherQuantized other = quantizedOf(m_session, run);
        QAction* action = menu->addAction(toQt(run.name), this, [this, other] { openOther(m_session, other); });
        action->setEnabled(run.id != m_session.runs().tree().current());
        action->setCheckable(true);
        action->setChecked(snapshot->inputs.other == other);
    }
    menu->addSeparator();
    menu->addAction(tr("Swap A and B"), this, [this] { swapWithOther(m_session); })
        ->setEnabled(snapshot->other != nullptr);
    menu->addAction(tr("Nothing"), this, [this] { openOther(m_session, {}); })
        ->setEnabled(snapshot->inputs.other.given());
}

} // namespace qs

#include "moc_difference_panel.cpp"
