// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/pair_detail.h"
#include "core/data/images/picture.h"
#include "widgets/plots/series.h"
#include "widgets/views/base/table_panel.h"

class QLabel;
class QPushButton;

namespace qs {

struct SampleTask;
class PointChart;
class SamplePictures;

/// The samples one by one: what both models say of each, the margins against each other, and the chosen one with its
/// input and outputs. Choosing one colours the graph for it alone.
class SamplesPanel : public TablePanel {
    Q_OBJECT
public:
    explicit SamplesPanel(Session& session, QWidget* parent = nullptr);
    PointChart& scatter() const { return *m_scatter; }
    QString detailText() const;

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange(); ///< what there is room for beside the table
    void buildBeside();
    void refresh();
    void followSample();
    void requestDetail();
    void showDetail(
        size_t sample, const Picture& picture, const std::vector<SampleOutput>& outputs, const SampleTask& task);
    void sortByTask();

    Session& m_session;
    SamplePictures* m_pictures;
    PointChart* m_scatter;
    QWidget* m_single; ///< the chosen sample
    QLabel* m_picture;
    QLabel* m_detail;
    QPushButton* m_all;
    /// What the detail shows, or will.
    struct Shown {
        const Snapshot* snapshot = nullptr;
        std::optional<size_t> sample;
        bool operator==(const Shown&) const = default;
    };
    Shown m_shown;
    int m_sortedBy = -1; ///< column that was worst first last, by the task
};

/// Margins of the float model against those of the quantized one; one point a sample of the comparison.
PointData marginData(const Snapshot& snapshot);
/// The largest values of the first output of both models, as rich text.
QString outputsText(const std::vector<SampleOutput>& outputs, const ClassNames& names);

} // namespace qs
