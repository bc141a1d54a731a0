// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/language/caches_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/language/cache_model.h"
#include "widgets/plots/heat_map.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/language/cache_map_data.h"
#include "widgets/views/theme/plot_theme.h"

#include <QAbstractProxyModel>
#include <QTableView>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLeastMap = 200; ///< font units
constexpr int kMapShare = 35; ///< percent of the width

QString cachesHint(const ShownCaches& shown, const Snapshot& snapshot)
{
    if (!snapshot.comparison)
        return whyNothingCompared(snapshot);
    if (!ShownCaches::possible(snapshot))
        return TablePanel::tr("The float model remembers no keys and values: a decoder has caches that go in and come "
                              "out, such as past_key_values.0.key and present.0.key.");
    if (!shown.problem().isEmpty())
        return shown.problem();
    return shown.found() ? TablePanel::tr("No rotary embedding was found in front of the keys.")
                         : TablePanel::tr("Looking at keys and values…");
}

QString cachesInfo(const ShownCaches& shown)
{
    const auto found = shown.found();
    if (!found)
        return {};
    size_t positions = 0;
    for (const CacheRow& row : found->rows)
        positions = std::max(positions, row.positions);
    return TablePanel::tr("prompts: %1 · positions: %2").arg(found->prompts).arg(positions);
}

TablePanel::Setup cachesSetup(const ShownCaches& shown, std::shared_ptr<std::optional<int>> chosen)
{
    auto* model = new CacheModel;
    TablePanel::Setup setup;
    setup.name = QStringLiteral("caches");
    setup.title = TablePanel::tr("Caches");
    setup.model = model;
    setup.select = [model, chosen](Selection& selection, int row) {
        *chosen = row; // before others hear of it
        selection.selectByName(model->at(row).name);
    };
    setup.rowOf
        = [chosen](const Place&) { return chosen->has_value() ? std::optional(size_t(**chosen)) : std::nullopt; };
    setup.info = [&shown](const Snapshot&) { return cachesInfo(shown); };
    setup.footer = [](const Theme&) {
        return TablePanel::tr("SQNR in dB of codes with a scale for the layer, each channel or each position");
    };
    setup.emptyText = [&shown](const Snapshot& snapshot) { return cachesHint(shown, snapshot); };
    return setup;
}

} // namespace

CachesPanel::CachesPanel(Session& session, QWidget* parent)
    : CachesPanel(session, new ShownCaches(session), std::make_shared<std::optional<int>>(), parent)
{
}

CachesPanel::CachesPanel(
    Session& session, ShownCaches* shown, std::shared_ptr<std::optional<int>> chosen, QWidget* parent)
    : TablePanel(session, cachesSetup(*shown, chosen), parent)
    , m_session(session)
    , m_chosen(std::move(chosen))
    , m_shown(*shown)
    , m_shownMap(session)
    , m_kinds(new ElidedCombo(this))
    , m_map(new HeatMap(this))
{
    shown->setParent(this);
    m_kinds->setAccessibleName(tr("What of the caches"));
    m_kinds->setToolTip(tr("Keys as they are cached, before rotary embedding turns them, or values"));
    m_kinds->addItem(tr("keys"), int(CacheKind::Key));
    m_kinds->addItem(tr("keys before rotary"), int(CacheKind::KeyBeforeRotary));
    m_kinds->addItem(tr("values"), int(CacheKind::Value));
    header()->addTool(m_kinds);
    m_map->setAccessibleName(tr("Largest magnitudes by channel and position"));
    m_map->setMinimumWidth(fontUnits(fontMetrics(), kLeastMap));
    addBeside(m_map, kMapShare);
    connect(m_kinds, &QComboBox::currentIndexChanged, this, &CachesPanel::refresh);
    connect(this, &Panel::lookedAtChanged, &m_shown, &ShownCheck::watch);
    connect(this, &Panel::lookedAtChanged, &m_shownMap, &ShownCheck::watch);
    connect(&m_shown, &ShownCheck::changed, this, &CachesPanel::refresh);
    connect(&m_shownMap, &ShownCheck::changed, this, &CachesPanel::refreshMap);
    connect(table()->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &CachesPanel::chooseRow);
    const auto applyTheme = [this] {
        m_map->setStyle(plotStyleOf(m_session.theme()));
        refreshMap();
    };
    connect(&m_session, &Session::themeChanged, this, applyTheme);
    applyTheme();
    refresh();
}

void CachesPanel::resizeEvent(QResizeEvent* event)
{
    TablePanel::resizeEvent(event);
    shareWidth({ 100 });
}

CacheModel& CachesPanel::rows() const { return *static_cast<CacheModel*>(model()); }

void CachesPanel::refresh()
{
    if (!m_shown.found())
        m_chosen->reset();
    rows().setReport(m_shown.found().get(), CacheKind(m_kinds->currentData().toInt()));
    m_kinds->setEnabled(m_shown.found() != nullptr);
    refreshTexts();
    const int row = m_chosen->value_or(-1);
    if (row >= 0 && row < rows().rowCount() && !table()->currentIndex().isValid()) // the same layer and head
        table()->setCurrentIndex(
            static_cast<const QAbstractProxyModel*>(table()->model())->mapFromSource(rows().index(row, 0)));
    chooseRow();
}

/// The row that somebody chose, else the first one.
void CachesPanel::chooseRow()
{
    const int row = m_chosen->value_or(0);
    if (row >= rows().rowCount())
        return m_shownMap.lookAtNothing();
    const CacheTableRow& chosen = rows().at(row);
    m_rowName = chosen.head ? tr("layer %1, head %2: channel").arg(chosen.layer).arg(*chosen.head)
                            : tr("layer %1: channel").arg(chosen.layer);
    m_shownMap.look(chosen.place, chosen.head);
    refreshMap();
}

void CachesPanel::refreshMap()
{
    HeatData data = cacheMapData(m_shownMap.map(), m_session.theme());
    data.rowName = m_rowName;
    if (!m_shownMap.map())
        data.emptyText = !m_shownMap.problem().isEmpty() ? m_shownMap.problem()
            : m_shown.found()                            ? tr("Looking at the channels…")
                                                         : QString();
    m_map->setData(data);
}

} // namespace qs

#include "moc_caches_panel.cpp"
