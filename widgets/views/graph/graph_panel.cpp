// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/graph_panel.h"

#include "widgets/models/base/error_text.h"
#include "widgets/plots/save_dialog.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/base/unit_actions.h"
#include "widgets/views/graph/box_nodes.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_export.h"
#include "widgets/views/graph/graph_numbers.h"
#include "widgets/views/graph/graph_search_bar.h"
#include "widgets/views/graph/minimap.h"
#include "widgets/views/graph/other_graph.h"

#include <QAction>
#include <QButtonGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr int kSearchMargin = 10;
constexpr int kHeaderSlack = 8; ///< pixels that stay free, so that the panel can be made narrower and the text shorter

bool contains(const std::string& text, const QString& wanted)
{
    return QString::fromStdString(text).contains(wanted, Qt::CaseInsensitive);
}

/// True when the name of the box, one of its nodes or one of its values holds the text.
bool boxMatches(const DisplayBox& box, const Graph& graph, const QString& wanted)
{
    return contains(box.title, wanted)
        || std::ranges::any_of(box.nodes, [&](NodeId id) { return contains(graph.node(id).name, wanted); })
        || std::ranges::any_of(box.values, [&](ValueId id) { return contains(graph.value(id).name, wanted); })
        || std::ranges::any_of(
            box.weights, [&](const BoxWeight& w) { return contains(graph.value(w.value).name, wanted); });
}

} // namespace

GraphPanel::GraphPanel(Session& session, RecipeView& recipe, Pane pane, QWidget* parent)
    : Panel(pane == Pane::First ? QStringLiteral("graph") : QStringLiteral("graph-2"),
        pane == Pane::First ? tr("Graph") : tr("Second graph"), parent)
    , m_session(session)
    , m_recipe(recipe)
    , m_pane(pane)
    , m_layoutTag(QStringLiteral("layout-") + objectName())
    , m_canvas(new GraphCanvas(this))
    , m_minimap(new Minimap(*m_canvas))
    , m_legend(new GraphLegend(this))
    , m_search(new GraphSearchBar(m_canvas))
    , m_chips(new QButtonGroup(this))
    , m_which(new QComboBox(this))
    , m_fold(new QCheckBox(tr("fold Q/DQ"), this))
{
    setContent(m_canvas);
    addFooter(m_legend);
    setFocusProxy(m_canvas);
    m_canvas->installEventFilter(this);
    m_canvas->setTips(
        [this](uint32_t box) {
            return m_waiting ? QString() : boxToolTip(*shown(), m_side, m_canvas->scene()->graph(), box);
        },
        [this](uint32_t edge) {
            return m_waiting ? QString() : edgeToolTip(*shown(), m_side, m_canvas->scene()->graph(), edge);
        });
    buildHeader();
    connect(m_canvas, &GraphCanvas::boxChosen, this, &GraphPanel::chooseBox);
    connect(m_canvas, &GraphCanvas::edgeChosen, this, &GraphPanel::chooseEdge);
    connect(m_canvas, &GraphCanvas::boxToggled, this, &GraphPanel::toggleBox);
    connect(&m_recipe, &RecipeView::changed, this, &GraphPanel::refreshLook);
    connect(m_search, &GraphSearchBar::edited, this, &GraphPanel::search);
    connect(m_search, &GraphSearchBar::stepped, this, &GraphPanel::stepSearch);
    connect(m_search, &GraphSearchBar::closed, this, &GraphPanel::closeSearch);
    connect(m_legend, &GraphLegend::limitsChanged, this, [this](Metric metric, ColourLimits limits) {
        m_limits[metric] = limits;
        refreshLook();
    });
    connect(
        m_legend, &GraphLegend::allSamplesWanted, this, [this] { m_session.selection().selectSample(std::nullopt); });
    connectSession();
    if (m_pane == Pane::Second)
        connect(this, &Panel::lookedAtChanged, this, [this](bool now) {
            if (now)
                takeSnapshot(m_session.snapshot());
        });
    takeSnapshot(m_session.snapshot());
}

GraphPanel::~GraphPanel() = default;

void GraphPanel::buildHeader()
{
    m_chips->setExclusive(true);
    for (const Metric metric :
        { Metric::Accumulated, Metric::Added, Metric::Increase, Metric::NodeAlone, Metric::OtherGain }) {
        if (m_pane == Pane::Second)
            break; // coloured as the first
        const MetricInfo info = metricInfo(metric);
        auto* chip = new QPushButton(info.title, this);
        chip->setCheckable(true);
        chip->setProperty("chip", true);
        chip->setToolTip(info.definition);
        chip->setVisible(false);
        m_chips->addButton(chip, static_cast<int>(metric));
        header()->addTool(chip);
    }
    connect(m_chips, &QButtonGroup::idClicked, this, [this](int id) { m_session.setMetric(static_cast<Metric>(id)); });

    m_which->addItem(tr("Quantized"), static_cast<int>(Side::Quantized));
    m_which->addItem(tr("Float"), static_cast<int>(Side::Float));
    m_which->setToolTip(tr("Which of the two graphs is drawn"));
    m_which->setAccessibleName(m_which->toolTip());
    connect(
        m_which, &QComboBox::activated, this, [this] { setSide(static_cast<Side>(m_which->currentData().toInt())); });
    header()->addEndTool(m_which);

    m_fold->setChecked(true);
    m_fold->setAccessibleName(tr("fold Q/DQ"));
    m_fold->setToolTip(tr("On: quantizers are badges on the edges, constants belong to their node. Off: every node."));
    connect(m_fold, &QCheckBox::toggled, this, [this](bool on) { setMode(on ? FoldMode::Folded : FoldMode::Raw); });
    header()->addEndTool(m_fold);

    const auto button = [this](const QString& symbol, const QString& tip) {
        auto* made = new QToolButton(this);
        made->setText(symbol);
        made->setToolTip(tip);
        made->setAccessibleName(tip);
        made->setAutoRaise(true);
        header()->addEndTool(made);
        return made;
    };
    connect(button(QStringLiteral("⤢"), tr("Fit the whole graph (Space)")), &QToolButton::clicked, m_canvas,
        &GraphCanvas::fit);
    QToolButton* more = button(QStringLiteral("⋯"), tr("Find, colour limits, save"));
    connect(
        more, &QToolButton::clicked, this, [this, more] { showMenu(more->mapToGlobal(QPoint(0, more->height()))); });
}

void GraphPanel::connectSession()
{
    connect(&m_session, &Session::snapshotChanged, this, [this](const SnapshotPtr& now) { takeSnapshot(now); });
    connect(&m_session, &Session::metricChanged, this, [this] {
        refreshChips();
        refreshLook();
    });
    connect(&m_session, &Session::themeChanged, this, &GraphPanel::refreshLook);
    connect(&m_session.numbers(), &NumbersAge::changed, this, &GraphPanel::refreshLook);
    connect(&m_session.selection(), &Selection::changed, this, [this] {
        m_edge.reset();
        refreshLook();
    });
}

/// The second pane shows a second quantized model where there is one.
SnapshotPtr GraphPanel::shown() const
{
    const SnapshotPtr other = m_pane == Pane::Second ? otherOf(*m_session.snapshot()) : nullptr;
    return other ? other : m_session.snapshot();
}

bool GraphPanel::showsOther() const { return shown() != m_session.snapshot(); }

Place GraphPanel::placeShown() const
{
    const Place& place = m_session.selection().current();
    return showsOther() ? placeInOther(*m_session.snapshot(), place) : place;
}

/// A second quantized model has accumulated numbers of its own in the place of the difference.
Metric GraphPanel::metricShown() const { return showsOther() ? Metric::Accumulated : m_session.metric(); }

void GraphPanel::takeSnapshot(const SnapshotPtr& now)
{
    std::erase_if(m_scenes, [&](const auto& entry) {
        const auto uses
            = [&](const std::optional<LoadedModel>& model) { return model && model->model.get() == entry.first.first; };
        return !uses(now->floatModel) && !uses(now->quantModel) && !uses(shown()->quantModel);
    });
    chooseSide();
    refreshChips();
    requestScene();
    refreshLook();
}

/// The quantized graph if there is one, unless the user asked for the other.
void GraphPanel::chooseSide()
{
    const SnapshotPtr snapshot = shown();
    const bool ofOther = showsOther();
    if (ofOther && !m_sideBefore)
        m_sideBefore = m_side;
    else if (!ofOther && m_sideBefore)
        m_side = *std::exchange(m_sideBefore, std::nullopt);
    const bool quantized
        = ofOther || (m_pane == Pane::First ? snapshot->quantModel.has_value() : !snapshot->floatModel);
    if (ofOther || !m_sideChosen || !modelOf(*snapshot, m_side))
        m_side = quantized ? Side::Quantized : Side::Float;
    m_which->setCurrentIndex(m_which->findData(static_cast<int>(m_side)));
    m_which->setVisible(m_pane == Pane::First && snapshot->floatModel && snapshot->quantModel);
    header()->setInfo(m_pane == Pane::First ? QString()
            : ofOther                       ? tr("B")
            : m_side == Side::Float         ? tr("float")
                                            : tr("quantized"));
}

void GraphPanel::refreshChips()
{
    const std::vector<Metric> available = availableMetrics(*m_session.snapshot());
    for (QAbstractButton* chip : m_chips->buttons()) {
        const auto metric = static_cast<Metric>(m_chips->id(chip));
        chip->setVisible(std::ranges::find(available, metric) != available.end());
        chip->setChecked(metric == m_session.metric());
    }
    nameFold();
}

void GraphPanel::setSide(Side side)
{
    (m_sideBefore ? *m_sideBefore : m_side) = side;
    m_sideChosen = true;
    chooseSide();
    requestScene();
    refreshLook();
    emit sideChanged(m_side);
}

void GraphPanel::setMode(FoldMode mode)
{
    m_mode = mode;
    m_fold->setChecked(mode == FoldMode::Folded);
    requestScene();
    refreshLook();
}

GraphPanel::Shows GraphPanel::shows() const
{
    const auto& floatModel = shown()->floatModel;
    return { floatModel ? floatModel->model.get() : nullptr, m_side, m_mode };
}

void GraphPanel::requestScene()
{
    if (resting())
        return;
    const SnapshotPtr snapshot = shown();
    const LoadedModel* model = modelOf(*snapshot, m_side);
    const std::optional<SceneKey> wanted = model ? std::optional(SceneKey(model->model.get(), m_mode)) : std::nullopt;
    if (!wanted) {
        m_session.jobs().cancelTag(m_layoutTag);
        m_shown.reset();
        showScene(nullptr);
        m_canvas->setMessage(emptyText());
        return;
    }
    if (m_shown == wanted)
        return;
    m_shown = wanted;
    if (const auto known = m_scenes.find(*wanted); known != m_scenes.end()) {
        m_session.jobs().cancelTag(m_layoutTag);
        showScene(known->second);
        return;
    }
    m_waiting = m_canvas->scene() && snapshot->floatModel && m_sceneShows == shows();
    if (!m_waiting)
        showScene(nullptr);
    m_canvas->setMessage(tr("Laying out %1 nodes…").arg(model->graph().nodes().size()));
    JobRequest job;
    job.tag = m_layoutTag;
    job.title = tr("Lay out the graph");
    job.visibility = Visibility::Hidden;
    job.process = [panel = QPointer(this), loaded = *model, key = *wanted, fonts = GraphFonts::of(font())](
                      const JobContext& context) -> Result<std::function<void()>> {
        QS_TRY(GraphScene made, GraphScene::make(loaded, key.second, fonts, context.cancel));
        auto scene = std::make_shared<const GraphScene>(std::move(made));
        return std::function<void()>([panel, key, scene] {
            if (!panel)
                return;
            panel->m_scenes[key] = scene;
            if (panel->m_shown == key)
                panel->showScene(scene);
        });
    };
    job.failed = [panel = QPointer(this)](const Issue& issue) {
        if (!panel)
            return;
        panel->m_waiting = false;
        panel->showScene(nullptr);
        panel->m_canvas->setMessage(issueHeadline(issue));
    };
    m_session.jobs().start(std::move(job));
}

void GraphPanel::showScene(const std::shared_ptr<const GraphScene>& scene)
{
    m_edge.reset();
    m_canvas->setScene(scene, m_waiting ? GraphCanvas::FirstView::Kept : GraphCanvas::FirstView::Sensible);
    m_waiting = false;
    m_sceneShows = scene ? std::optional(shows()) : std::nullopt;
    if (scene && scene->boxCount() == 0)
        m_canvas->setMessage(tr("This graph has no nodes."));
    m_legend->setVisible(scene && scene->boxCount() > 0);
    refreshLook();
    placeOverlays();
}

std::optional<size_t> GraphPanel::sampleShown() const
{
    const auto sample = m_session.selection().current().sample;
    const SnapshotPtr snapshot = shown();
    const bool known = snapshot->comparison && snapshot->data && metricShown() == Metric::Accumulated;
    return known && sample && *sample < snapshot->data->samples() ? sample : std::nullopt;
}

ColourLimits GraphPanel::limits() const
{
    const auto changed = m_limits.find(metricShown());
    if (changed != m_limits.end())
        return changed->second;
    const MetricScale scale = metricScale(metricShown());
    return { scale.low, scale.high };
}

void GraphPanel::refreshLook()
{
    const SnapshotPtr snapshot = shown();
    const LoadedModel* model = modelOf(*snapshot, m_side);
    const bool ofOther = m_shown && (!model || model->model.get() != m_shown->first); // takeSnapshot() is still to come
    if (m_waiting || ofOther || resting()) // the picture speaks of another graph than the snapshot
        return;
    const Metric metric = metricShown();
    GraphLook look;
    look.theme = m_session.theme();
    look.fonts = GraphFonts::of(font());
    const auto sample = sampleShown();
    look.stale = m_session.numbers().stale();
    m_legend->setScale(metric, limits(), look.theme,
        { sample ? QString::fromStdString(snapshot->data->sampleName(*sample)) : QString(), look.stale });
    m_legend->setVisible(m_canvas->scene() && !availableMetrics(*snapshot).empty());
    const GraphScene* scene = m_canvas->scene();
    if (!scene) {
        m_canvas->setLook(std::move(look));
        return;
    }
    const FoldedGraph& graph = scene->graph();
    const std::vector<BoxNumber> numbers = boxNumbers(*snapshot, m_side, graph, metric, sample);
    const double best = metricScale(metric).better == Better::Higher ? limits().second : limits().first;
    look.boxes.resize(numbers.size());
    for (size_t b = 0; b < numbers.size(); ++b) {
        const BoxNumber& number = numbers[b];
        look.boxes[b].number = number.text;
        look.boxes[b].hatched = number.blocked;
        if (number.exact || number.value)
            look.boxes[b].fill = metricColour(look.theme, metric, number.exact ? best : *number.value, limits());
    }
    markRecipe(look);
    look.searching = m_search->isVisible() && !m_search->text().isEmpty();
    for (const uint32_t b : m_matches)
        if (b < look.boxes.size())
            look.boxes[b].found = true;
    look.selected = boxOfPlace(*snapshot, m_side, graph, placeShown());
    look.selectedEdge = m_edge;
    m_canvas->setLook(std::move(look));
}

void GraphPanel::placeOverlays()
{
    m_search->adjustSize();
    m_search->move(m_canvas->width() - m_search->width() - kSearchMargin, kSearchMargin);
}

/// As long as there is room for.
void GraphPanel::nameFold()
{
    const QString whole = tr("fold Q/DQ"), brief = tr("fold");
    const QFontMetrics metrics(m_fold->font());
    const int needed = header()->sizeHint().width() + kHeaderSlack + metrics.horizontalAdvance(whole)
        - metrics.horizontalAdvance(m_fold->text());
    m_fold->setText(needed <= header()->width() ? whole : brief);
}

bool GraphPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_canvas && event->type() == QEvent::Resize) {
        placeOverlays();
        nameFold();
    }
    if (watched == m_canvas && event->type() == QEvent::ShortcutOverride && leavesSample(*event)) {
        event->accept(); // before the shortcut that cancels work
        return true;
    }
    if (watched == m_canvas && event->type() == QEvent::ContextMenu) {
        if (m_canvas->look().hovered)
            chooseBox(*m_canvas->look().hovered);
        showMenu(static_cast<QContextMenuEvent*>(event)->globalPos());
        return true;
    }
    return Panel::eventFilter(watched, event);
}

/// Esc, while one sample is shown.
bool GraphPanel::leavesSample(const QEvent& event) const
{
    return static_cast<const QKeyEvent&>(event).key() == Qt::Key_Escape && m_session.selection().current().sample;
}

void GraphPanel::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Find) || event->key() == Qt::Key_Slash)
        openSearch();
    else if (leavesSample(*event))
        m_session.selection().selectSample(std::nullopt);
    else
        Panel::keyPressEvent(event);
}

void GraphPanel::openSearch()
{
    m_search->open();
    placeOverlays();
    search(m_search->text());
}

void GraphPanel::closeSearch()
{
    m_search->hide();
    m_matches.clear();
    m_canvas->setFocus();
    refreshLook();
}

void GraphPanel::search(const QString& text)
{
    m_matches.clear();
    m_match = 0;
    const LoadedModel* model = modelOf(*shown(), m_side);
    if (model && m_canvas->scene() && !m_waiting && !text.isEmpty()) {
        const auto& boxes = m_canvas->scene()->graph().boxes;
        for (uint32_t b = 0; b < boxes.size(); ++b)
            if (boxMatches(boxes[b], model->graph(), text))
                m_matches.push_back(b);
    }
    m_search->showCount(m_match, m_matches.size());
    placeOverlays();
    refreshLook();
    if (!m_matches.empty())
        m_canvas->showBox(m_matches.front());
}

void GraphPanel::stepSearch(int step)
{
    if (m_matches.empty())
        return;
    const size_t count = m_matches.size();
    if (m_canvas->look().selected == m_matches[m_match])
        m_match = (m_match + (step > 0 ? 1 : count - 1)) % count;
    m_search->showCount(m_match, count);
    m_canvas->showBox(m_matches[m_match]);
    chooseBox(m_matches[m_match]);
}

void GraphPanel::chooseBox(uint32_t index)
{
    const GraphScene* scene = m_canvas->scene();
    if (!scene || m_waiting)
        return;
    if (showsOther())
        return selectFromOther(m_session, scene->graph(), index);
    const DisplayBox& box = scene->graph().boxes[index];
    const SnapshotPtr snapshot = shown();
    const auto numbers = boxNumbers(*snapshot, m_side, scene->graph(), m_session.metric());
    Selection& selection = m_session.selection();
    if (numbers[index].row)
        selection.selectActivation(*numbers[index].row);
    else if (box.kind == DisplayBox::Kind::Operator && box.mainNode().valid())
        selection.selectNode(m_side, box.mainNode());
    else if (box.mainValue().valid())
        selection.selectValue(m_side, box.mainValue());
}

void GraphPanel::markRecipe(GraphLook& look) const
{
    if (showsOther()) // which no edit changes
        return;
    const BoxNodes nodes(m_recipe, *m_session.snapshot(), m_side);
    const auto& boxes = m_canvas->scene()->graph().boxes;
    for (size_t b = 0; b < look.boxes.size(); ++b) {
        const std::vector<size_t> members = nodes.of(boxes[b]);
        look.boxes[b].quantized = m_recipe.state(members);
        look.boxes[b].note = boxNote(m_recipe, members);
    }
}

std::vector<size_t> GraphPanel::recipeNodesOf(uint32_t box) const
{
    return m_waiting || showsOther()
        ? std::vector<size_t>()
        : BoxNodes(m_recipe, *m_session.snapshot(), m_side).of(m_canvas->scene()->graph().boxes[box]);
}

void GraphPanel::toggleBox(uint32_t box) { m_recipe.toggleNodes(recipeNodesOf(box)); }

bool GraphPanel::toggleSelected()
{
    const auto box = m_canvas->scene() ? m_canvas->look().selected : std::nullopt;
    const std::vector<size_t> members = box ? recipeNodesOf(*box) : std::vector<size_t>();
    m_recipe.toggleNodes(members);
    return !members.empty();
}

void GraphPanel::chooseEdge(uint32_t edge)
{
    if (!m_canvas->scene() || m_waiting)
        return;
    const ValueId value = m_canvas->scene()->graph().edges[edge].value;
    if (showsOther())
        selectFromOther(m_session, value);
    else
        m_session.selection().selectValue(m_side, value);
    m_edge = edge;
    refreshLook();
}

void GraphPanel::showMenu(const QPoint& global)
{
    QMenu menu(this);
    if (const auto box = m_canvas->look().selected; box && m_canvas->scene())
        addUnitActions(menu, m_recipe, recipeNodesOf(*box));
    menu.addAction(tr("Find…"), QKeySequence(Qt::Key_Slash), this, &GraphPanel::openSearch);
    menu.addAction(tr("Fit"), QKeySequence(Qt::Key_Space), m_canvas, &GraphCanvas::fit);
    menu.addAction(tr("Show the selection"), QKeySequence(Qt::Key_F), m_canvas, &GraphCanvas::focusSelection);
    menu.addAction(tr("Colour limits…"), m_legend, &GraphLegend::editLimits);
    menu.addSeparator();
    for (const char* suffix : { "svg", "png", "pdf" }) {
        const QString ending = QString::fromLatin1(suffix);
        QAction* action = menu.addAction(tr("Save as %1…").arg(ending.toUpper()), this, [this, ending] {
            saveAs(this, tr("Save the graph as %1").arg(ending.toUpper()), ending,
                [this](const QString& path) { return exportTo(path); });
        });
        action->setEnabled(m_canvas->scene() && m_canvas->scene()->boxCount() > 0);
    }
    menu.exec(global);
}

bool GraphPanel::exportTo(const QString& path) const
{
    return m_canvas->scene() && exportGraph(*m_canvas->scene(), m_canvas->look(), path);
}

QString GraphPanel::emptyText() const
{
    return tr("No model is open.\nOpen a float and a quantized ONNX file, or drop files here.");
}

} // namespace qs
