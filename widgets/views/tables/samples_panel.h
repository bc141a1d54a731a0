// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/series.h"
#include "widgets/views/base/table_panel.h"

class QPushButton;
class QStackedWidget;

namespace qs {

class ChosenSample;
class LineChart;
class PointChart;
class SamplePictures;

/// The samples one by one: what both models say of each, the margins against each other, or along the positions of
/// sequences, and the chosen one with its input and outputs. Choosing one colours the graph for it alone.
class SamplesPanel : public TablePanel {
    Q_OBJECT
public:
    explicit SamplesPanel(Session& session, QWidget* parent = nullptr);
    PointChart& scatter() const { return *m_scatter; }
    LineChart& positions() const { return *m_positions; } ///< of sequences
    ChosenSample& chosen() const { return *m_chosen; }

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange(); ///< what there is room for beside the table
    void buildBeside();
    void applyTheme();
    void refresh();
    void followSample();
    void showPositions();
    void sortByTask();

    Session& m_session;
    SamplePictures* m_pictures;
    PointChart* m_scatter;
    LineChart* m_positions;
    QStackedWidget* m_charts; ///< one of the two
    ChosenSample* m_chosen;
    QWidget* m_single; ///< around it
    QPushButton* m_all;
    int m_sortedBy = -1; ///< column that was worst first last, by the task
};

/// Margins of the float model against those of the quantized one, and of a second one (B); one point a sample of the
/// comparison.
PointData marginData(const Snapshot& snapshot, const Theme& theme);

} // namespace qs
