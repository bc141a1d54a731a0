// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/details/place_details.h"
#include "widgets/views/base/panel.h"

class QButtonGroup;
class QPushButton;

namespace qs {

class HeatMap;
class LineChart;

/// Where in a tensor, the selected or the pinned one, the error lies, over its last two axes, and at which magnitudes;
/// of a weight over its output channels and what they sum up, block by block where scales are, with the scales.
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
    void showActivation(const PairDetail& detail, const PairDetail* other);
    void showWeight(const WeightMap& weight, const WeightMap* other);
    void showNothing();
    std::shared_ptr<const void> shown() const;
    void mark(qint64 row, qint64 rows, qint64 column, qint64 columns);
    void selectWorst(); ///< the block with the largest error, then the next one
    void selectCell(const WeightMap& weight, qint64 row, qint64 rows, qint64 column, qint64 columns);

    Session& m_session;
    ShownPlace m_place;
    PlaceDetails m_details;
    HeatMap* m_map;
    LineChart* m_bands;
    QPushButton *m_relative, *m_scales, *m_worst;
    QButtonGroup* m_chips; ///< shown where there is a second model
    Of m_of = Of::A;
    std::shared_ptr<const WeightMap> m_ranked; ///< whose worst blocks are gone through
    size_t m_rank = 0; ///< of the next one
    std::shared_ptr<const void> m_marked; ///< what a cell was chosen of
};

} // namespace qs
