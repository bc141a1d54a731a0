// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/series.h"
#include "widgets/session/details/place_details.h"
#include "widgets/views/base/panel.h"

class QButtonGroup;
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
    /// Of the quantized model, of a second one, or by how much the second one's is larger.
    enum class Of { A, B, Difference };
    void buildChips();
    void refresh();

    Session& m_session;
    ShownPlace m_place;
    PlaceDetails m_details;
    HeatMap* m_map;
    LineChart* m_bands;
    QPushButton* m_relative;
    QButtonGroup* m_chips; ///< shown where there is a second model
    Of m_of = Of::A;
};

/// The error in the tensor's unit, or in shares of the values there.
HeatData errorMapData(const PairDetail& detail, bool relative, const Theme& theme);
/// The error of `b` less that of `a`, both of one tensor.
HeatData errorDifferenceData(const PairDetail& a, const PairDetail& b, bool relative, const Theme& theme);
/// `other`: the same of a second quantized model (B); null: none.
LineData magnitudeData(const PairDetail& detail, const PairDetail* other, const Theme& theme);

} // namespace qs
