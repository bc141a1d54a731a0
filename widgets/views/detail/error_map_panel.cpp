// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/error_map_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/plots/heat_map.h"
#include "widgets/plots/line_chart.h"
#include "widgets/session/details/element_search.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/theme/plot_theme.h"

#include <QButtonGroup>
#include <QPushButton>
#include <QSplitter>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace qs {

namespace {

constexpr size_t kMostCells = 256; ///< rows or columns that are drawn
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
    , m_chips(new QButtonGroup(this))
{
    setShownPlace(&m_place);
    m_relative->setCheckable(true);
    m_relative->setProperty("chip", true);
    m_relative->setToolTip(tr("The error as a share of the values at the same place"));
    header()->addEndTool(m_relative);
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
        selectLargestError(m_session, m_place, { { -2, row, rows }, { -1, column, columns } });
    });
    connect(m_relative, &QPushButton::toggled, this, &ErrorMapPanel::refresh);
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
    const auto detail = m_details.now().detail(), other = m_details.now().otherDetail();
    for (QAbstractButton* chip : m_chips->buttons())
        chip->setVisible(other != nullptr);
    const Of of = other ? m_of : Of::A;
    m_bands->setVisible(detail != nullptr);
    m_relative->setVisible(detail != nullptr);
    if (!detail) {
        HeatData none;
        none.emptyText = m_details.now().hint();
        m_map->setData(none);
        header()->setInfo({});
        return;
    }
    const bool relative = m_relative->isChecked();
    m_map->setData(of == Of::Difference ? errorDifferenceData(*detail, *other, relative, m_session.theme())
                                        : errorMapData(of == Of::B ? *other : *detail, relative, m_session.theme()));
    m_bands->setData(magnitudeData(*detail, other.get(), m_session.theme()));
    const double high = m_map->data().high;
    header()->setInfo(toQt(m_place.activation()->name),
        tr("%1 · up to %2")
            .arg(m_details.now().samplesText(), m_relative->isChecked() ? percentText(high) : numberText(high)));
}

HeatData errorMapData(const PairDetail& detail, bool relative, const Theme& theme)
{
    const ErrorMap map = detail.map.reduced(kMostCells);
    HeatData data;
    data.rows = map.rows;
    data.columns = map.columns;
    data.rowStep = std::ceil(double(detail.map.rows) / double(std::max<size_t>(map.rows, 1)));
    data.columnStep = std::ceil(double(detail.map.columns) / double(std::max<size_t>(map.columns, 1)));
    const bool places = detail.shape.size() > 3; // else tokens or time, and features
    data.rowName = places ? ErrorMapPanel::tr("row") : ErrorMapPanel::tr("index");
    data.columnName = places ? ErrorMapPanel::tr("column") : ErrorMapPanel::tr("position");
    data.valueName = relative ? ErrorMapPanel::tr("error over value:") : ErrorMapPanel::tr("RMS error:");
    data.colour = [theme](double share) { return theme.magnitude(share); };
    data.emptyText = ErrorMapPanel::tr("This tensor has no elements.");
    for (size_t i = 0; i < map.error.size(); ++i) {
        const bool defined = !relative || map.signal[i] > 0;
        const double value = !relative ? map.error[i] : map.error[i] / map.signal[i];
        data.values.push_back(defined ? value : std::numeric_limits<double>::quiet_NaN());
    }
    data.high = 0;
    for (const double value : data.values)
        data.high = std::max(data.high, std::isnan(value) ? 0 : value);
    if (data.high <= 0)
        data.high = 1;
    return data;
}

HeatData errorDifferenceData(const PairDetail& a, const PairDetail& b, bool relative, const Theme& theme)
{
    HeatData data = errorMapData(b, relative, theme);
    const HeatData first = errorMapData(a, relative, theme);
    if (first.values.size() != data.values.size())
        return data;
    data.high = 0;
    for (size_t i = 0; i < data.values.size(); ++i) {
        data.values[i] -= first.values[i];
        if (!std::isnan(data.values[i]))
            data.high = std::max(data.high, std::abs(data.values[i]));
    }
    if (data.high <= 0)
        data.high = 1;
    data.low = -data.high;
    data.valueName = relative ? ErrorMapPanel::tr("error over value, B − A:") : ErrorMapPanel::tr("RMS error, B − A:");
    data.colour = [theme](double share) { return theme.difference(1 - 2 * share); };
    return data;
}

LineData magnitudeData(const PairDetail& detail, const PairDetail* other, const Theme& theme)
{
    LineData data;
    data.unit = QStringLiteral("dB");
    data.xLabel = ErrorMapPanel::tr("magnitude");
    data.emptyText = ErrorMapPanel::tr("This tensor has no elements.");
    LineSeries series { ErrorMapPanel::tr("SQNR, dB"), {}, theme.floatSeries, false, true };
    double all = 0;
    for (const MagnitudeBand& band : detail.bands)
        all += band.sums.ee;
    for (const MagnitudeBand& band : detail.bands) {
        const PartSums& sums = band.sums;
        data.items.push_back(ErrorMapPanel::tr("%1 … %2\n%3 values, RMS error %4\n%5 of the squared error")
                                 .arg(numberText(band.low), numberText(band.high), countText(sums.count),
                                     numberText(sums.rmse()), percentText(all > 0 ? Number(sums.ee / all) : Number())));
        series.values.push_back(sums.sqnrDb().value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    for (const MagnitudeBand& band : detail.bands)
        data.ticks.push_back(numberText(band.low, 2));
    data.series = { series };
    if (other && other->bands.size() == detail.bands.size()) {
        data.series.front().name = ErrorMapPanel::tr("A: SQNR, dB");
        LineSeries second { ErrorMapPanel::tr("B: SQNR, dB"), {}, theme.otherSeries, true, true };
        for (const MagnitudeBand& band : other->bands)
            second.values.push_back(band.sums.sqnrDb().value_or(std::numeric_limits<double>::quiet_NaN()));
        data.series.push_back(std::move(second));
    }
    return data;
}

} // namespace qs
