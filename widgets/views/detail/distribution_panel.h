// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/range_candidates.h"
#include "widgets/models/recipe/recipe_edits.h"
#include "widgets/plots/series.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/views/base/panel.h"

class QPushButton;

namespace qs {

class HistogramPlot;
class NoiseBar;

/// Histogram of a tensor or weight, the selected or the pinned one: float, dequantized, noise, with the quantizer's
/// range. The range of an activation can be dragged where the recipe can be changed: what it would do is predicted from
/// the histogram, and letting go is one edit. Ticks show where calibrators would put it.
class DistributionPanel : public Panel {
    Q_OBJECT
public:
    DistributionPanel(Session& session, RecipeEdits& edits, QWidget* parent = nullptr);
    HistogramPlot& plot() const { return *m_plot; }
    NoiseBar& noise() const { return *m_noise; }

private:
    void refresh();
    void applyTheme();
    void preview(const PlotRange& range);
    void setRange(const PlotRange& range, const QString& mergeKey);
    QString ticksTag() const;
    void requestTicks();
    void showTicks(const std::vector<RangeCandidate>& candidates);
    bool movable(const ActivationRow& row) const;
    std::optional<PlotRange> draftRange(const ActivationRow& row) const; ///< that the recipe asks for and no run has

    Session& m_session;
    ShownPlace m_place;
    RecipeEdits& m_edits;
    HistogramPlot* m_plot;
    NoiseBar* m_noise;
    QPushButton* m_logarithmic;
    std::string m_ticksOf; ///< tensor whose ticks are shown
};

} // namespace qs
