// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/saturation_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/base/cell_delegates.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/name_delegate.h"
#include "widgets/views/base/text/wrapped_text.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLabPadding = 9;
constexpr int kPagesShare = 45; ///< percent of the panel
constexpr int kLeastPages = 385; ///< font units

QString hintOf(const Snapshot& snapshot)
{
    if (!snapshot.comparison)
        return TablePanel::tr("Open a float and a quantized model and data to compare them.");
    if (snapshot.inputs.profile != ArithmeticProfile::IntegerAvx2)
        return TablePanel::tr("CPUs with AVX2 and without VNNI add pairs of products in 16 bits, where large ones do "
                              "not fit.\nRun the quantized model as such a CPU does to see where that happens.");
    return TablePanel::tr("No node of this model can saturate: no kernel multiplies unsigned with signed codes.");
}

/// The row of the float tensor of that name: what all the other panels show.
std::optional<size_t> activationNamed(const Snapshot& snapshot, const std::string& name)
{
    if (!snapshot.comparison || name.empty())
        return {};
    const auto& rows = snapshot.comparison->activations;
    const auto found = std::ranges::find(rows, name, &ActivationRow::name);
    return found == rows.end() ? std::nullopt : std::optional(size_t(found - rows.begin()));
}

TablePanel::Setup saturationSetup(Session& session)
{
    auto* model = new SaturationModel;
    TablePanel::Setup setup;
    setup.name = QStringLiteral("saturation");
    setup.title = TablePanel::tr("Saturation");
    setup.model = model;
    setup.worstColumn = model->columnOf(SaturationModel::Key::Share);
    const Session* owner = &session;
    setup.select = [model, owner](Selection& selection, int row) {
        const SaturatingNode& node = model->at(row);
        if (const auto value = activationNamed(*owner->snapshot(), node.value))
            return selection.selectActivation(*value);
        selection.selectNode(Side::Quantized, node.counts.quantNode);
    };
    setup.rowOf = [model, owner](const Place& place) -> std::optional<size_t> {
        const ActivationRow* chosen = owner->selectedActivation();
        for (int row = 0; row < model->rowCount(); ++row) {
            const SaturatingNode& node = model->at(row);
            const bool same = place.side == Side::Quantized && place.node == node.counts.quantNode;
            if (same || (chosen && !node.value.empty() && chosen->name == node.value))
                return size_t(row);
        }
        return {};
    };
    setup.info = [](const Snapshot& snapshot) {
        const size_t count = snapshot.comparison ? snapshot.comparison->saturation.size() : 0;
        return count == 0
            ? QString()
            : TablePanel::tr("%1 node(s) whose sums can saturate", nullptr, int(count)).arg(countText(count));
    };
    setup.emptyText = hintOf;
    setup.footer = [](const Theme&) {
        return TablePanel::tr(
            "sat.: pairs of products whose sum needs more than 16 bits · lost: dB, here and in nodes before");
    };
    return setup;
}

/// The two products, their sum, and what is kept of it.
QString pairHtml(const SaturatingNode& node)
{
    const SaturatedPair& p = node.counts.worst;
    if (p.lost() == 0)
        return SaturationPanel::tr("No pair of <b>%1</b> saturates over these samples.")
            .arg(toQt(node.counts.node).toHtmlEscaped());
    const auto row = [](const QString& name, const QString& codes, const QString& value) {
        return QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td align=right>%2&nbsp;</td><td align=right>%3</td></tr>")
            .arg(name, codes, value);
    };
    const auto product = [&](int64_t depth, int a, int w) {
        return row(SaturationPanel::tr("product %1").arg(depth),
            SaturationPanel::tr("%1 × %2 =").arg(a).arg(signedCount(w)), signedCount(a * w));
    };
    return QStringLiteral("<b>%1</b>, %2<table cellpadding=1>")
               .arg(toQt(node.counts.node).toHtmlEscaped(), SaturationPanel::tr("channel %1").arg(p.column))
        + product(2 * p.index, p.a0, p.w0) + product(2 * p.index + 1, p.a1, p.w1)
        + row(SaturationPanel::tr("sum"), {}, signedCount(p.sum()))
        + row(SaturationPanel::tr("kept in 16 bits"), {}, QStringLiteral("<b>%1</b>").arg(signedCount(p.kept())))
        + row(SaturationPanel::tr("lost"), {}, signedCount(p.lost())) + QStringLiteral("</table>");
}

} // namespace

SaturationPanel::SaturationPanel(Session& session, QWidget* parent)
    : TablePanel(session, saturationSetup(session), parent)
    , m_session(session)
    , m_table(session)
    , m_losses(session, m_table)
    , m_trials(session)
    , m_tabs(new QTabWidget(this))
    , m_pair(new QLabel(this))
    , m_note(new QLabel(this))
    , m_switch(new QPushButton(tr("Switch to integer-avx2"), this))
    , m_measure(new QPushButton(tr("Measure remedies"), this))
    , m_apply(new QPushButton(tr("Apply"), this))
    , m_channels(makeTable(m_channelModel, tr("Channels of the node")))
    , m_arithmetics(makeTable(m_arithmeticModel, tr("Values by each arithmetic")))
    , m_remedies(makeTable(m_trialModel, tr("Remedies and their price")))
{
    m_switch->setProperty("primary", true);
    m_switch->setToolTip(
        tr("Runs the quantized model with the 16-bit sums of such CPUs; Recipe ▸ Arithmetic leads back"));
    addToEmpty(m_switch);
    buildPages();
    addBeside(m_tabs, kPagesShare);
    connectAll();
    refresh();
}

QTableView* SaturationPanel::makeTable(ColumnModel& model, const QString& name)
{
    auto* made = new QTableView(this);
    made->setModel(&model);
    made->setAccessibleName(name);
    made->setObjectName(QStringLiteral("plainTable"));
    made->setShowGrid(false);
    made->setWordWrap(false);
    made->setTabKeyNavigation(false);
    made->setFrameShape(QFrame::NoFrame);
    made->setItemDelegateForColumn(0, new NameDelegate(made));
    made->setSelectionBehavior(QAbstractItemView::SelectRows);
    made->setSelectionMode(QAbstractItemView::SingleSelection);
    made->setEditTriggers(QAbstractItemView::NoEditTriggers);
    made->verticalHeader()->hide();
    made->verticalHeader()->setDefaultSectionSize(tableRow(fontMetrics()));
    made->horizontalHeader()->setHighlightSections(false);
    const QFontMetrics metrics = fontMetrics();
    for (int column = 0; column < model.columnCount(); ++column) {
        const ColumnSpec& spec = model.column(column);
        made->setColumnWidth(column,
            std::max(metrics.horizontalAdvance(spec.typical), metrics.horizontalAdvance(spec.title)) + kLabPadding);
    }
    made->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    return made;
}

void SaturationPanel::buildPages()
{
    m_tabs->setDocumentMode(true);
    m_tabs->setMinimumWidth(fontUnits(fontMetrics(), kLeastPages));
    wrapText(*m_pair);
    m_pair->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_pair->setMargin(10);
    m_pair->setAccessibleName(tr("Worst pair of codes"));
    m_pair->setToolTip(tr("The pair of products that loses most: activation code × weight code. Raw codes, before zero "
                          "points are taken off; signed activations + 128."));
    m_tabs->addTab(m_pair, tr("Pair"));
    m_tabs->addTab(m_channels, tr("Channels"));
    m_tabs->addTab(makeRemedies(), tr("Remedies"));
    m_tabs->addTab(m_arithmetics, tr("Values"));
}

QWidget* SaturationPanel::makeRemedies()
{
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(8, 4, 8, 2);
    m_note->setObjectName(QStringLiteral("findingMuted"));
    wrapText(*m_note);
    m_measure->setToolTip(
        tr("Makes each remedy, runs it under integer-avx2 over all samples, and says what it gives and costs"));
    m_apply->setToolTip(tr("Makes the chosen remedy one step of the recipe, which can be undone"));
    row->addWidget(m_note, 1);
    row->addWidget(m_apply);
    row->addWidget(m_measure);
    column->addLayout(row);
    column->addWidget(m_remedies, 1);
    return page;
}

void SaturationPanel::connectAll()
{
    connect(
        m_switch, &QPushButton::clicked, this, [this] { setArithmetic(m_session, ArithmeticProfile::IntegerAvx2); });
    connect(m_measure, &QPushButton::clicked, &m_trials, &ShownSaturationTrials::measure);
    connect(m_apply, &QPushButton::clicked, this, &SaturationPanel::applyTrial);
    connect(m_remedies, &QTableView::activated, this, &SaturationPanel::applyTrial);
    connect(
        m_remedies->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &SaturationPanel::refreshTrials);
    connect(
        m_channels->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
            const SaturatingNode* of = node();
            if (now.isValid() && of && m_session.selection().selectByName(of->value))
                m_session.selection().selectChannel(m_channelModel.at(now.row()).channel);
        });
    connect(
        m_arithmetics->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
            if (now.isValid())
                m_session.selection().selectByName(m_arithmeticModel.at(now.row()).name);
        });
    connect(&m_session, &Session::snapshotChanged, this, &SaturationPanel::refresh);
    connect(&m_session.selection(), &Selection::changed, this, &SaturationPanel::refreshNode);
    for (ShownCheck* check : { static_cast<ShownCheck*>(&m_table), static_cast<ShownCheck*>(&m_losses),
             static_cast<ShownCheck*>(&m_trials) })
        connect(this, &Panel::lookedAtChanged, check, &ShownCheck::watch);
    connect(&m_table, &ShownCheck::changed, this, &SaturationPanel::refresh);
    connect(&m_losses, &ShownCheck::changed, this, [this] { m_channelModel.setChannels(m_losses.channels()); });
    connect(&m_trials, &ShownCheck::changed, this, &SaturationPanel::refreshTrials);
    connect(&m_session.recipe(), &RecipeEdits::recipeChanged, this, &SaturationPanel::refreshTrials);
}

void SaturationPanel::resizeEvent(QResizeEvent* event)
{
    TablePanel::resizeEvent(event);
    shareWidth({ 100 }); // the pages have a least width of their own
}

const SaturatingNode* SaturationPanel::node() const
{
    const auto* nodes = static_cast<const SaturationModel*>(model());
    const auto chosen = chosenRows();
    if (!chosen.empty())
        return &nodes->at(chosen.front());
    const SaturatingNode* worst = nullptr;
    for (int row = 0; row < nodes->rowCount(); ++row)
        if (!worst || nodes->at(row).counts.share() > worst->counts.share())
            worst = &nodes->at(row);
    return worst;
}

void SaturationPanel::refresh()
{
    const Snapshot& now = *m_session.snapshot();
    static_cast<SaturationModel*>(model())->setTable(m_table.shared());
    m_arithmeticModel.setTable(m_table.table());
    const bool other = now.comparison && now.inputs.profile != ArithmeticProfile::IntegerAvx2;
    m_switch->setVisible(other);
    m_tabs->setVisible(model()->rowCount() > 0);
    refreshTexts();
    refreshNode();
    refreshTrials();
}

void SaturationPanel::refreshNode()
{
    const SaturatingNode* of = node();
    m_pair->setText(of ? pairHtml(*of) : QString());
    m_losses.setNode(of ? std::optional(of->counts) : std::nullopt);
    followValue();
}

/// Marks the selected value among all, without choosing it again.
void SaturationPanel::followValue()
{
    const ActivationRow* chosen = m_session.selectedActivation();
    const QSignalBlocker quiet(m_arithmetics->selectionModel());
    m_arithmetics->clearSelection();
    for (int row = 0; chosen && row < m_arithmeticModel.rowCount(); ++row)
        if (!m_arithmeticModel.at(row).output && m_arithmeticModel.at(row).name == chosen->name) {
            m_arithmetics->selectRow(row);
            m_arithmetics->scrollTo(m_arithmeticModel.index(row, 0));
            break;
        }
    m_arithmetics->viewport()->update();
}

void SaturationPanel::refreshTrials()
{
    const SaturationTrials* trials = m_trials.trials();
    m_trialModel.setTrials(trials);
    m_measure->setEnabled(m_trials.possible() && !m_trials.running());
    m_apply->setEnabled(trials && m_session.recipe().editable() && m_remedies->currentIndex().isValid());
    if (m_trials.running())
        m_note->setText(tr("Measuring… Esc cancels."));
    else if (!m_trials.problem().isEmpty())
        m_note->setText(m_trials.problem());
    else if (!m_trials.possible())
        m_note->setText(tr("Nothing saturates over these samples."));
    else if (!trials)
        m_note->setText(tr("What 7-bit weights, other types and floats give here, and what they cost."));
    else
        m_note->setText(
            (trials->asFile ? tr("Now: output %1, %2 of the pairs saturate.")
                            : tr("The recipe that comes closest to the file: output %1, %2 of the pairs "
                                 "saturate."))
                .arg(decibelText(trials->before.outputSqnrDb, trials->before.exact), percentText(trials->shareBefore)));
}

void SaturationPanel::applyTrial()
{
    if (const QModelIndex at = m_remedies->currentIndex(); at.isValid())
        m_trials.apply(m_trialModel.at(at.row()).trial);
}

QString SaturationPanel::worstPair() const { return m_pair->text(); }

} // namespace qs

#include "moc_saturation_panel.cpp"
