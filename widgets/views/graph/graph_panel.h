// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/metric.h"
#include "widgets/models/base/place.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/graph/graph_scene.h"
#include "widgets/views/graph/view/graph_actions.h"
#include "widgets/views/graph/view/graph_legend.h"

#include "core/project/snapshot/snapshot.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

class QCheckBox;
class QComboBox;
class QKeyEvent;
class QMenu;
class QToolButton;

namespace qs {

class AroundBar;
class GraphCanvas;
class GraphSearchBar;
class MetricChoice;
class Minimap;
struct BoxNumber;
class RecipeView;
class SceneLoader;
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
    FoldMode mode() const { return m_view.mode; }
    void setMode(FoldMode mode);
    GroupBy groupBy() const { return m_view.by; }
    void setGroupBy(GroupBy by);
    void setAllClosed(bool closed); ///< every group
    /// Draws what is around the selection alone; nullopt: the whole graph again.
    void setAround(const std::optional<Neighbourhood>& wanted);
    const GraphView& view() const { return m_view; }
    QString viewState() const { return m_view.toText(); } ///< for a project file
    void setViewState(const QString& text); ///< as viewState() gave it; anything else is left out of account
    GraphCanvas& canvas() const { return *m_canvas; }
    /// Quantizes what the selected box, or all boxes that are chosen together, stand for, or leaves it in float: one
    /// step of undo. False where a single box is selected and the recipe says nothing of it.
    bool toggleSelected();
    /// Opens the search bar.
    void openSearch();
    /// Boxes that match the search, in the drawing's order.
    const std::vector<uint32_t>& matches() const { return m_matches; }
    bool exportTo(const QString& path) const;

    /// Nodes of the boxes that are chosen together, in the drawing's order; those of the selected box where no others
    /// are chosen.
    std::vector<NodeId> chosenNodes() const;
    bool severalChosen() const { return m_chosen.size() > 1; }
    void copyChosen() const; ///< a line each: name, operator, number

    /// What is drawn is of what is open: false while another graph is laid out. What follows is to be asked only then.
    bool upToDate() const;
    /// All that can be drawn of the graph; null without a scene.
    std::shared_ptr<const GraphContent> content() const;
    const std::vector<BoxNumber>& contentNumbers() const; ///< one a box of the content; until the next call
    Metric metricShown() const; ///< that they are of
    bool showsOther() const; ///< a second quantized model, which no edit changes
    std::optional<uint32_t> selectedInContent() const;
    void chooseBoxOfContent(uint32_t box); ///< as a click on it does

signals:
    void sideChanged(qs::Side side);
    void refreshed(); ///< other boxes, numbers or marks are shown
    void selectionShown(); ///< another selection is, of the same boxes

protected:
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildHeader();
    void connectCanvas();
    void addKeys();
    void connectSession();
    void takeSnapshot(const SnapshotPtr& now);
    SnapshotPtr shown() const;
    Place placeShown() const; ///< the selection, in what is shown
    void chooseSide();
    void refreshChips();
    void fitHeader();
    void requestScene();
    void showScene(const std::shared_ptr<const GraphScene>& scene);
    void sceneFailed(const Issue& issue);
    void selectionMoved();
    void revealSelection();
    void openGroup(uint32_t box);
    void closeFrame(uint32_t frame);
    void closeAroundSelection();
    void openOrClose(bool open);
    void regroup(uint32_t group, bool closed, QPointF anchor);
    void addChosen(uint32_t box);
    void chooseBoxes(const std::vector<uint32_t>& boxes);
    void selectBoxOfContent(uint32_t box);
    void addViewActions(QMenu& menu);
    void addGroupActions(QMenu& menu);
    void addChosenActions(QMenu& menu);
    QString namesOf(const std::set<uint32_t>& boxes) const;
    void refreshLook();
    std::optional<std::pair<uint32_t, BoxNumber>> otherTensorSelected() const;
    void refreshChosen();
    void markChosen(GraphLook& look) const;
    void placeOverlays();
    bool leavesSample(const QKeyEvent& event) const;
    bool leavesChosen(const QKeyEvent& event) const;
    void search(const QString& text);
    void findMatches();
    void stepSearch(int step);
    void closeSearch();
    void chooseBox(uint32_t box);
    void chooseEdge(uint32_t edge);
    std::vector<size_t> chosenRecipeNodes() const;
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
    GraphCanvas* m_canvas;
    GraphActions m_actions; ///< that have keys
    Minimap* m_minimap;
    GraphLegend* m_legend;
    GraphSearchBar* m_search;
    MetricChoice* m_metrics;
    QComboBox* m_which;
    QCheckBox* m_fold;
    Side m_side = Side::Quantized;
    bool m_sideChosen = false; ///< by the user
    std::optional<Side> m_sideBefore; ///< a second quantized model is shown in its place
    SceneLoader* m_loader;
    AroundBar* m_aroundBar;
    GraphView m_view; ///< wanted
    std::shared_ptr<const Model> m_sceneModel; ///< that the scene draws
    struct Anchor {
        uint32_t box = 0; ///< of the content
        QPointF at; ///< where it stays on the canvas
    };
    std::optional<Anchor> m_anchor;
    bool m_choosing = false; ///< the selection changes by a click here: nothing opens and nothing moves
    std::string m_revealed; ///< name of what is selected
    bool m_toReveal = false; ///< the selection, as soon as there is a scene
    std::set<uint32_t> m_chosen; ///< boxes of the content that are chosen together
    /// What the scene shows: while the other side, or the same of another recipe for that float model, is laid out, it
    /// stays as a picture.
    struct Shows {
        const Model* floatModel = nullptr;
        FoldMode mode = FoldMode::Folded;
        bool operator==(const Shows&) const = default;
    };
    Shows shows() const;
    std::optional<Shows> m_sceneShows;
    bool m_waiting = false;
    /// What the numbers of all boxes follow from: they are found once for each.
    struct NumbersOf {
        SnapshotPtr snapshot;
        std::shared_ptr<const GraphContent> content;
        Side side = Side::Quantized;
        Metric metric = Metric::Accumulated;
        std::optional<size_t> sample;
        bool operator==(const NumbersOf&) const = default;
    };
    mutable NumbersOf m_numbersOf;
    mutable std::vector<BoxNumber> m_numbers;
    bool m_lookOfSelected = false; ///< a box has the number of the selected tensor in place of its own
    std::optional<size_t> m_lookSample; ///< that the picture's numbers are of
    std::map<Metric, ColourLimits> m_limits; ///< where the user changed them
    std::vector<uint32_t> m_found; ///< boxes of the content that match the search
    std::vector<uint32_t> m_matches; ///< the same as drawn
    size_t m_match = 0; ///< of those found
    std::optional<uint32_t> m_edge; ///< chosen edge, while its box is selected
};

} // namespace qs
