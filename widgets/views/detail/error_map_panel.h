// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/series.h"
#include "widgets/session/details/place_details.h"
#include "widgets/views/base/panel.h"

class QPushButton;

namespace qs {

class HeatMap;
class LineChart;

/// Where in a tensor, the selected or the pinned one, the error lies, over its last two axes, and at which magnitudes.
class ErrorMapPanel : public Panel {
    Q_OBJECT
public:
    ErrorMapPanel(Session& session, PairDetails& details, QWidget* parent = nullptr);
    HeatMap& map() const { return *m_map; }
    LineChart& bands() const { return *m_bands; }

private:
    void refresh();

    Session& m_session;
    ShownPlace m_place;
    PlaceDetails m_details;
    HeatMap* m_map;
    LineChart* m_bands;
    QPushButton* m_relative;
};

/// The error in the tensor's unit, or in shares of the values there.
HeatData errorMapData(const PairDetail& detail, bool relative, const Theme& theme);
LineData magnitudeData(const PairDetail& detail, const Theme& theme);

} // namespace qs
