// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/details/place_details.h"
#include "widgets/views/base/panel.h"

class QButtonGroup;
class QLabel;
class QPushButton;

namespace qs {

class ChannelChart;

/// Ranges and errors of the channels of a tensor, the selected or the pinned one, or of the weight that its node uses.
class ChannelsPanel : public Panel {
    Q_OBJECT
public:
    ChannelsPanel(Session& session, PairDetails& details, QWidget* parent = nullptr);
    ChannelChart& chart() const { return *m_chart; }
    QString summary() const;

private:
    enum class Of { Tensor, Weight };
    void buildChips();
    void refresh();
    void followSelection();

    Session& m_session;
    ShownPlace m_place;
    PlaceDetails m_details;
    ChannelChart* m_chart;
    QLabel* m_summary;
    QButtonGroup* m_chips;
    QPushButton* m_showOther; ///< B's strip, where there is a B
    Of m_of = Of::Tensor;
};

} // namespace qs
