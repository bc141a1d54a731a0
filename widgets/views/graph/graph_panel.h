// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/metric.h"
#include "widgets/models/base/place.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/graph/graph_legend.h"
#include "widgets/views/graph/graph_scene.h"

#include "core/project/snapshot/snapshot.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

class QButtonGroup;
class QCheckBox;
class QComboBox;
class QToolButton;

namespace qs {

class GraphCanvas;
class GraphSearchBar;
class Minimap;
class RecipeView;
struct GraphLook;
class Session;

/// One of the two graphs, Q/DQ folded into badges or raw, coloured by the session's metric.
class GraphPanel : public Panel {
    Q_OBJECT
public:
    /// The second pane shows a second quantized model where there is one, else the graph that the first does not.
    enum class Pane { First, Second };
    GraphPanel(Session& session, RecipeView& recipe, Pane pane = Pane::First, QWidget* parent = nullptr);
    ~GraphPanel() override;

    Side side() const { return m_side; }
    void setSide(Side side);
    FoldMode mode() const { return m_mode; }
    void setMode(FoldMode mode);
    GraphCanvas& canvas() const { return *m_canvas; }
    /// Quantizes what the chosen box stands for, or leaves it in float; false where the recipe says nothing of it.
    bool toggleSelected();
    /// Opens the search bar.
    void openSearch();
    /// Boxes that match the search, in the drawing's order.
    const std::vector<uint32_t>& matches() const { return m_matches; }
    bool exportTo(const QString& path) const;

signals:
    void sideChanged(qs::Side side);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    using SceneKey = std::pair<const Model*, FoldMode>;

    void buildHeader();
    void connectSession();
    void takeSnapshot(const SnapshotPtr& now);
    SnapshotPtr shown() const;
    bool showsOther() const;
    Place placeShown() const; ///< the selection, in what is shown
    Metric metricShown() const;
    void chooseSide();
    void refreshChips();
    void nameFold();
    void requestScene();
    void showScene(const std::shared_ptr<const GraphScene>& scene);
    void refreshLook();
    void placeOverlays();
    bool leavesSample(const QEvent& event) const;
    void search(const QString& text);
    void stepSearch(int step);
    void closeSearch();
    void chooseBox(uint32_t box);
    void chooseEdge(uint32_t edge);
    std::vector<size_t> recipeNodesOf(uint32_t box) const;
    void toggleBox(uint32_t box);
    void markRecipe(GraphLook& look) const;
    void showMenu(const QPoint& global);
    ColourLimits limits() const;
    QString emptyText() const;

    bool resting() const { return m_pane == Pane::Second && !lookedAt(); } ///< nobody sees it, so nothing is laid out
    std::optional<size_t> sampleShown() const; ///< that the colours are of; none: all

    Session& m_session;
    RecipeView& m_recipe;
    const Pane m_pane;
    const QString m_layoutTag; ///< of its jobs
    GraphCanvas* m_canvas;
    Minimap* m_minimap;
    GraphLegend* m_legend;
    GraphSearchBar* m_search;
    QButtonGroup* m_chips;
    QComboBox* m_which;
    QCheckBox* m_fold;
    Side m_side = Side::Quantized;
    bool m_sideChosen = false; ///< by the user
    std::optional<Side> m_sideBefore; ///< a second quantized model is shown in its place
    FoldMode m_mode = FoldMode::Folded;
    std::map<SceneKey, std::shared_ptr<const GraphScene>> m_scenes;
    std::optional<SceneKey> m_shown; ///< wanted
    /// What the scene shows: while the same of another recipe for that float model is laid out, it stays as a picture.
    struct Shows {
        const Model* floatModel = nullptr;
        Side side = Side::Quantized;
        FoldMode mode = FoldMode::Folded;
        bool operator==(const Shows&) const = default;
    };
    Shows shows() const;
    std::optional<Shows> m_sceneShows;
    bool m_waiting = false;
    std::map<Metric, ColourLimits> m_limits; ///< where the user changed them
    std::vector<uint32_t> m_matches;
    size_t m_match = 0;
    std::optional<uint32_t> m_edge; ///< chosen edge, while its box is selected
};

} // namespace qs
