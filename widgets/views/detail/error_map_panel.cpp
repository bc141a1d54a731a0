// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/error_map_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/line_chart.h"
#include "widgets/session/details/element_search.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/detail/error_map_data.h"
#include "widgets/views/theme/plot_theme.h"

#include <QButtonGroup>
#include <QPushButton>
#include <QSplitter>

#include <algorithm>
#include <tuple>

namespace qs {

namespace {

constexpr int kLeastPlot = 150; ///< font units: both stand in a narrow panel

} // namespace

ErrorMapPanel::ErrorMapPanel(Session& session, PairDetails& details, QWidget* parent)
    : Panel(QStringLiteral("error-map"), tr("Error map"), parent)
    , m_session(session)
    , m_place(session)
    , m_details(session, details, m_place)
    , m_map(new HeatMap(this))
    , m_bands(new LineChart(this))
    , m_relative(new QPushButton(tr("relative"), this))
    , m_scales(new QPushButton(tr("scales"), this))
    , m_worst(new QPushButton(tr("Worst block"), this))
    , m_chips(new QButtonGroup(this))
{
    setShownPlace(&m_place);
    m_relative->setToolTip(tr("The error as a share of the values at the same place"));
    m_scales->setToolTip(tr("The scale of each block in place of its error"));
    m_worst->setToolTip(tr("Selects the largest error of the worst block; pressed again, of the next one"));
    for (QPushButton* chip : { m_relative, m_scales }) {
        chip->setCheckable(true);
        chip->setProperty("chip", true);
        connect(chip, &QPushButton::toggled, this, &ErrorMapPanel::refresh);
    }
    for (QPushButton* tool : { m_worst, m_scales, m_relative })
        header()->addEndTool(tool);
    connect(m_worst, &QPushButton::clicked, this, &ErrorMapPanel::selectWorst);
    buildChips();
    m_map->setAccessibleName(tr("Error over the last two axes"));
    m_bands->setAccessibleName(tr("Error against magnitude"));
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setChildrenCollapsible(false);
    for (PlotWidget* plot : { static_cast<PlotWidget*>(m_map), static_cast<PlotWidget*>(m_bands) })
        plot->setMinimumWidth(fontUnits(fontMetrics(), kLeastPlot));
    splitter->addWidget(m_map);
    splitter->addWidget(m_bands);
    setContent(splitter);
    setFocusProxy(m_map);
    connect(m_map, &HeatMap::cellChosen, this, [this](qint64 row, qint64 rows, qint64 column, qint64 columns) {
        if (const auto weight = m_details.now().weight())
            return selectCell(*weight, row, rows, column, columns);
        mark(row, rows, column, columns);
        selectLargestError(m_session, m_place, { { -2, row, rows }, { -1, column, columns } });
    });
    connect(this, &Panel::lookedAtChanged, this, [this](bool now) { m_details.watch(now); });
    connect(&m_details, &PlaceDetails::changed, this, &ErrorMapPanel::refresh);
    const auto applyTheme = [this] {
        m_map->setStyle(plotStyleOf(m_session.theme()));
        m_bands->setStyle(plotStyleOf(m_session.theme()));
        refresh();
    };
    connect(&m_session, &Session::themeChanged, this, applyTheme);
    applyTheme();
}

void ErrorMapPanel::buildChips()
{
    const std::tuple<Of, QString, QString> names[] { { Of::A, tr("A"), tr("The error of the quantized model") },
        { Of::B, tr("B"), tr("The error of the second quantized model") },
        { Of::Difference, tr("B − A"), tr("By how much the error of the second is larger") } };
    for (const auto& [of, name, tip] : names) {
        auto* chip = new QPushButton(name, this);
        chip->setCheckable(true);
        chip->setChecked(of == m_of);
        chip->setProperty("chip", true);
        chip->setToolTip(tip);
        m_chips->addButton(chip, int(of));
        header()->addTool(chip);
    }
    connect(m_chips, &QButtonGroup::idClicked, this, [this](int id) {
        m_of = Of(id);
        refresh();
    });
}

void ErrorMapPanel::refresh()
{
    const PairDetails& now = m_details.now();
    const auto detail = now.detail(), other = now.otherDetail();
    const auto weight = now.weight(), otherWeight = now.otherWeight();
    for (QAbstractButton* chip : m_chips->buttons())
        chip->setVisible(other || otherWeight);
    m_bands->setVisible(detail || weight);
    if (shown() != m_marked)
        m_map->mark({});
    const bool blocks = weight && weight->blocks;
    m_scales->setVisible(blocks);
    m_worst->setVisible(blocks);
    m_relative->setVisible((detail || weight) && !(blocks && m_scales->isChecked()));
    if (weight)
        showWeight(*weight, otherWeight.get());
    else if (detail)
        showActivation(*detail, other.get());
    else
        showNothing();
}

void ErrorMapPanel::showNothing()
{
    HeatData none;
    none.emptyText = m_details.now().hint();
    m_map->setData(none);
    header()->setInfo({});
}

void ErrorMapPanel::showActivation(const PairDetail& detail, const PairDetail* other)
{
    const Theme& theme = m_session.theme();
    const bool relative = m_relative->isChecked();
    const Of of = other ? m_of : Of::A;
    const HeatData map = errorMapData(of == Of::A ? detail : *other, relative, theme);
    m_map->setData(of == Of::Difference ? differenceData(errorMapData(detail, relative, theme), map, theme) : map);
    m_bands->setData(magnitudeData(detail.bands, other ? &other->bands : nullptr, theme));
    const double high = m_map->data().high;
    header()->setInfo(toQt(m_place.activation()->name),
        tr("%1 · up to %2").arg(m_details.now().samplesText(), relative ? percentText(high) : numberText(high)));
}

void ErrorMapPanel::showWeight(const WeightMap& weight, const WeightMap* other)
{
    const Theme& theme = m_session.theme();
    const Of of = other ? m_of : Of::A;
    const WeightMapOf what = weight.blocks && m_scales->isChecked() ? WeightMapOf::Scale
        : m_relative->isChecked()                                   ? WeightMapOf::Relative
                                                                    : WeightMapOf::Error;
    const HeatData map = weightMapData(of == Of::A ? weight : *other, what, theme);
    m_map->setData(of == Of::Difference ? differenceData(weightMapData(weight, what, theme), map, theme) : map);
    m_bands->setData(magnitudeData(weight.bands, other ? &other->bands : nullptr, theme));
    const WeightMap& drawn = of == Of::B ? *other : weight;
    const std::vector<size_t> worst = drawn.worst(1);
    QString info = granularityText(m_place.weight()->params);
    if (!worst.empty() && drawn.blocks && of != Of::Difference)
        info += tr(" · worst: channel %1, inputs from %2, %3")
                    .arg(worst[0] / drawn.map.columns)
                    .arg(worst[0] % drawn.map.columns * drawn.cellElements)
                    .arg(decibelText(drawn.sqnrDb(worst[0])));
    header()->setInfo(toQt(m_place.weight()->name), info);
}

/// The weight, else the activation, that the map is of.
std::shared_ptr<const void> ErrorMapPanel::shown() const
{
    if (const auto weight = m_details.now().weight())
        return weight;
    return m_details.now().detail();
}

/// The cell that was chosen.
void ErrorMapPanel::mark(qint64 row, qint64 rows, qint64 column, qint64 columns)
{
    m_marked = shown();
    m_map->mark(QRectF(double(column), double(row), double(columns), double(rows)));
}

/// Places of weights of more axes than two are not told as rows and columns of the tensor.
void ErrorMapPanel::selectCell(const WeightMap& weight, qint64 row, qint64 rows, qint64 column, qint64 columns)
{
    mark(row, rows, column, columns);
    if (!weight.matrix)
        return m_place.selection().selectChannel(size_t(row));
    const int rowAxis = weight.exchanged ? -1 : -2;
    selectLargestError(m_session, m_place, { { rowAxis, row, rows }, { -3 - rowAxis, column, columns } });
}

void ErrorMapPanel::selectWorst()
{
    const auto weight = m_details.now().weight();
    if (!weight)
        return;
    if (m_ranked != weight)
        m_rank = 0;
    m_ranked = weight;
    const std::vector<size_t> worst = weight->worst(m_rank + 1);
    if (worst.empty())
        return;
    const size_t cell = worst[std::min(m_rank, worst.size() - 1)];
    m_rank = m_rank < worst.size() ? m_rank + 1 : 0;
    selectCell(*weight, qint64(cell / weight->map.columns), 1,
        qint64(cell % weight->map.columns * weight->cellElements), qint64(weight->cellElements));
}

} // namespace qs

#include "moc_error_map_panel.cpp"
