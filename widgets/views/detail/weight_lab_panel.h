// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/weight_lab.h"
#include "widgets/models/tables/weight_lab_model.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/views/base/panel.h"

class QLabel;
class QSplitter;
class QTableView;

namespace qs {

class ChannelChart;

/// What other ways of storing the weight that is selected, or pinned, would give: per tensor and per channel, symmetric
/// and not, 8 and 4 bits, and after equalization with its neighbours.
class WeightLabPanel : public Panel {
    Q_OBJECT
public:
    explicit WeightLabPanel(Session& session, QWidget* parent = nullptr);
    const WeightLabModel& model() const { return m_model; }
    QString summary() const;

private:
    void buildTable();
    QString labTag() const; ///< of this panel alone
    void request();
    void show(const std::optional<WeightLab>& lab);
    void showHint(const QString& text);
    void showSummary(); ///< where there is one
    void showWholeTable();

    Session& m_session;
    ShownPlace m_place;
    WeightLabModel m_model;
    ChannelChart* m_chart;
    QTableView* m_table;
    QLabel* m_summary;
    QSplitter* m_splitter;
    /// What is shown, or asked for.
    struct Shown {
        const Snapshot* snapshot = nullptr;
        const WeightRow* row = nullptr; ///< of the snapshot
        bool operator==(const Shown&) const = default;
    };
    std::optional<Shown> m_shown;
    /// The equalization of the snapshot that was looked at last, which all its weights share.
    std::shared_ptr<const EqualizationPreview> m_preview;
    std::weak_ptr<const Snapshot> m_previewOf;
};

} // namespace qs
