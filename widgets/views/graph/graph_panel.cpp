// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/graph_panel.h"

#include "widgets/models/words/error_text.h"
#include "widgets/plots/save_dialog.h"
#include "widgets/session/export/exports.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/text/menu_width.h"
#include "widgets/views/base/unit_actions.h"
#include "widgets/views/graph/box_nodes.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_export.h"
#include "widgets/views/graph/graph_numbers.h"
#include "widgets/views/graph/group_look.h"
#include "widgets/views/graph/minimap.h"
#include "widgets/views/graph/other_graph.h"
#include "widgets/views/graph/scene_loader.h"
#include "widgets/views/graph/view/around_bar.h"
#include "widgets/views/graph/view/graph_search_bar.h"
#include "widgets/views/graph/view/metric_choice.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLayout>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr int kSearchMargin = 10;

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
    , m_canvas(new GraphCanvas(this))
    , m_minimap(new Minimap(*m_canvas))
    , m_legend(new GraphLegend(this))
    , m_search(new GraphSearchBar(m_canvas))
    , m_metrics(new MetricChoice(this))
    , m_which(new ElidedCombo(this))
    , m_fold(new QCheckBox(tr("fold Q/DQ"), this))
    , m_loader(new SceneLoader(session.jobs(), QStringLiteral("layout-") + objectName(), this))
    , m_aroundBar(new AroundBar(m_canvas))
{
    setContent(m_canvas);
    addFooter(m_legend);
    setFocusProxy(m_canvas);
    m_canvas->installEventFilter(this);
    header()->installEventFilter(this);
    m_canvas->setTips(
        [this](uint32_t box) {
            return !upToDate() ? QString() : boxToolTip(*shown(), m_side, m_canvas->scene()->graph(), box);
        },
        [this](uint32_t edge) {
            return !upToDate() ? QString() : edgeToolTip(*shown(), m_side, m_canvas->scene()->graph(), edge);
        });
    addKeys();
    buildHeader();
    connectCanvas();
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

void GraphPanel::addKeys()
{
    GraphDeeds deeds;
    deeds.fit = [this] { m_canvas->fit(); };
    deeds.showSelection = [this] { m_canvas->focusSelection(); };
    deeds.toggleAround = [this] { setAround(m_view.around ? std::nullopt : std::optional(Neighbourhood())); };
    deeds.find = [this] { openSearch(); };
    deeds.copy = [this] { copyChosen(); };
    deeds.openOrClose = [this](bool open) { openOrClose(open); };
    deeds.zoom = [this](bool closer) {
        if (m_canvas->scene())
            m_canvas->zoomBy(closer);
    };
    deeds.goToEnd = [this](bool last) {
        const GraphScene* scene = m_canvas->scene();
        if (scene && scene->boxCount() > 0)
            m_canvas->centreOn(scene->box(last ? static_cast<uint32_t>(scene->boxCount() - 1) : 0).center());
    };
    m_actions = addGraphActions(*m_canvas, deeds);
}

void GraphPanel::buildHeader()
{
    m_metrics->setVisible(m_pane == Pane::First); // the second is coloured as the first
    header()->addTool(m_metrics);
    connect(m_metrics, &MetricChoice::chosen, this, [this](Metric metric) { m_session.setMetric(metric); });

    m_which->addItem(tr("Quantized"), static_cast<int>(Side::Quantized));
    m_which->addItem(tr("Float"), static_cast<int>(Side::Float));
    m_which->setMinimumContentsLength(6); // letters of the widest kind: the texts have room
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
    QToolButton* fit = button(QStringLiteral("⤢"), tr("Fit the whole graph"));
    setKeyTip(*fit, actionId(*m_actions.fit), fit->toolTip());
    connect(fit, &QToolButton::clicked, m_canvas, &GraphCanvas::fit);
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
    connect(&m_session.selection(), &Selection::changed, this, &GraphPanel::selectionMoved);
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
    std::vector<const Model*> models;
    for (const auto* model : { &now->floatModel, &now->quantModel, &shown()->quantModel })
        if (*model)
            models.push_back((*model)->model.get());
    m_loader->keepOnly(models);
    m_numbersOf = {};
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
    if (m_pane == Pane::First)
        m_metrics->offer(availableMetrics(*m_session.snapshot()), m_session.metric());
    fitHeader();
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
    m_view.mode = mode;
    m_view.around.reset();
    m_fold->setChecked(mode == FoldMode::Folded);
    requestScene();
    refreshLook();
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

bool GraphPanel::upToDate() const
{
    const SnapshotPtr snapshot = shown();
    const LoadedModel* model = modelOf(*snapshot, m_side);
    const bool ofOther = m_sceneModel && (!model || model->model != m_sceneModel); // takeSnapshot() is still to come
    return !m_waiting && !ofOther;
}

void GraphPanel::refreshLook()
{
    const SnapshotPtr snapshot = shown();
    if (!upToDate() || resting()) // the picture speaks of another graph than the snapshot
        return;
    const Metric metric = metricShown();
    GraphLook look;
    look.theme = m_session.theme();
    look.fonts = GraphFonts::of(font());
    const auto sample = m_lookSample = sampleShown();
    look.metric = metricInfo(metric).title;
    look.stale = m_session.numbers().stale();
    m_legend->setScale(metric, limits(), look.theme,
        { sample ? QString::fromStdString(snapshot->data->sampleName(*sample)) : QString(), look.stale });
    m_legend->setVisible(m_canvas->scene() && !availableMetrics(*snapshot).empty());
    const GraphScene* scene = m_canvas->scene();
    if (!scene) {
        m_canvas->setLook(std::move(look));
        emit refreshed();
        return;
    }
    const std::vector<BoxNumber>& whole = contentNumbers();
    std::vector<BoxNumber> numbers = drawnNumbers(whole, scene->graph(), metric);
    const auto selected = otherTensorSelected();
    m_lookOfSelected = selected.has_value();
    if (selected)
        numbers[selected->first] = selected->second;
    const double best = metricScale(metric).better == Better::Higher ? limits().second : limits().first;
    const auto colour = [&](const BoxNumber& number) {
        return metricColour(look.theme, metric, number.exact ? best : *number.value, limits());
    };
    look.boxes.resize(numbers.size());
    for (size_t b = 0; b < numbers.size(); ++b) {
        const BoxNumber& number = numbers[b];
        look.boxes[b].number = number.text;
        look.boxes[b].hatched = number.blocked;
        if (number.exact || number.value)
            look.boxes[b].fill = colour(number);
        const DisplayBox& box = scene->graph().boxes[b];
        if (box.kind != DisplayBox::Kind::Group)
            continue;
        const BoxGroup& group = scene->content()->grouping.groups[box.group];
        look.boxes[b].strip = stripOfGroup(group, box.members, whole, metric, colour);
    }
    markRecipe(look);
    markChosen(look);
    m_canvas->setLook(std::move(look));
    emit refreshed();
}

/// A drawn box of which another tensor is selected than the one that its number is of, and that tensor's number.
std::optional<std::pair<uint32_t, BoxNumber>> GraphPanel::otherTensorSelected() const
{
    const auto box = selectedInContent();
    const auto drawn = box ? m_canvas->scene()->drawn(*box) : std::nullopt;
    if (!drawn || m_canvas->scene()->graph().boxes[*drawn].kind == DisplayBox::Kind::Group)
        return std::nullopt;
    const auto number = numberOfSelected(*shown(), m_side, content()->whole.boxes[*box], contentNumbers()[*box],
        placeShown().activation, metricShown(), sampleShown());
    return number ? std::optional(std::pair(*drawn, *number)) : std::nullopt;
}

void GraphPanel::placeOverlays()
{
    m_aroundBar->adjustSize();
    m_aroundBar->move(kSearchMargin, kSearchMargin);
    m_search->adjustSize();
    const int left = m_canvas->width() - m_search->width() - kSearchMargin;
    const QRect bar = m_aroundBar->isHidden() ? QRect() : m_aroundBar->geometry();
    const bool beside = bar.isEmpty() || bar.right() + kSearchMargin <= left;
    m_search->move(left, beside ? kSearchMargin : bar.bottom() + kSearchMargin);
    const int ofSearch = m_search->isHidden() ? 0 : m_search->geometry().bottom() + 1;
    m_canvas->setCovered(bar.isEmpty() ? 0 : std::max(bar.bottom() + 1, ofSearch));
}

/// In as many words as there is room for: the box becomes shorter first, then a list stands for the chips, and last
/// the title of the graph in the middle of the window goes.
void GraphPanel::fitHeader()
{
    const QString whole = tr("fold Q/DQ"), brief = m_pane == Pane::First ? tr("fold") : QString(); // as the first says
    const QFontMetrics metrics(m_fold->font());
    header()->layout()->activate(); // its hints are those of what it holds now
    const int others = header()->sizeHint().width() - metrics.horizontalAdvance(m_fold->text())
        - (m_metrics->isHidden() ? 0 : m_metrics->sizeHint().width());
    const auto* title = header()->findChild<QLabel*>(QStringLiteral("panelTitle"));
    const int ofTitle = title->sizeHint().width() + header()->layout()->spacing();
    const int withTitle = others + (title->isHidden() && m_pane == Pane::First ? ofTitle : 0);
    const auto needed = [&](const QString& fold, bool list) {
        return withTitle + metrics.horizontalAdvance(fold) + (m_metrics->isHidden() ? 0 : m_metrics->widthFor(list));
    };
    const int least = needed(brief, true);
    header()->setLeastWidth(m_pane == Pane::First ? least - ofTitle : least);
    m_fold->setText(needed(whole, false) <= header()->width() ? whole : brief);
    m_metrics->setBrief(needed(brief, false) > header()->width());
    if (m_pane == Pane::First)
        header()->setTitleVisible(least <= header()->width());
}

bool GraphPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_canvas && event->type() == QEvent::Resize)
        placeOverlays();
    if (watched == header() && event->type() == QEvent::Resize)
        fitHeader();
    if (watched == m_canvas && event->type() == QEvent::ShortcutOverride) {
        const auto& key = static_cast<const QKeyEvent&>(*event);
        if (leavesSample(key) || leavesChosen(key)) {
            event->accept(); // before the shortcut that cancels work
            return true;
        }
    }
    if (watched == m_canvas && event->type() == QEvent::ContextMenu) {
        const auto hovered = m_canvas->look().hovered;
        if (hovered && !(severalChosen() && m_canvas->look().boxes[*hovered].chosen))
            chooseBox(*hovered);
        showMenu(static_cast<QContextMenuEvent*>(event)->globalPos());
        return true;
    }
    return Panel::eventFilter(watched, event);
}

/// Esc, while one sample is shown.
bool GraphPanel::leavesSample(const QKeyEvent& event) const
{
    return event.key() == Qt::Key_Escape && m_session.selection().current().sample;
}

/// Esc, while several boxes are chosen; a sample comes first.
bool GraphPanel::leavesChosen(const QKeyEvent& event) const
{
    return event.key() == Qt::Key_Escape && severalChosen() && !m_session.selection().current().sample;
}

void GraphPanel::keyPressEvent(QKeyEvent* event)
{
    if (leavesSample(*event))
        m_session.selection().selectSample(std::nullopt);
    else if (leavesChosen(*event))
        chooseBoxes({});
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
    placeOverlays();
    m_found.clear();
    m_matches.clear();
    m_canvas->setFocus();
    refreshChosen();
}

void GraphPanel::search(const QString& text)
{
    m_found.clear();
    m_match = 0;
    const LoadedModel* model = modelOf(*shown(), m_side);
    if (model && content() && upToDate() && !text.isEmpty()) {
        const auto& boxes = content()->whole.boxes;
        for (uint32_t b = 0; b < boxes.size(); ++b)
            if (boxMatches(boxes[b], model->graph(), text))
                m_found.push_back(b);
    }
    m_search->showCount(m_match, m_found.size());
    placeOverlays();
    findMatches();
    refreshChosen();
    if (!m_matches.empty())
        m_canvas->showBox(m_matches.front());
}

/// Where what was found is drawn now.
void GraphPanel::findMatches()
{
    m_matches.clear();
    for (const uint32_t box : m_found)
        if (const auto drawn = m_canvas->scene()->drawn(box);
            drawn && (m_matches.empty() || m_matches.back() != *drawn))
            m_matches.push_back(*drawn);
}

void GraphPanel::stepSearch(int step)
{
    if (m_found.empty() || !upToDate())
        return;
    const size_t count = m_found.size();
    if (selectedInContent() == m_found[m_match])
        m_match = (m_match + (step > 0 ? 1 : count - 1)) % count;
    m_search->showCount(m_match, count);
    selectBoxOfContent(m_found[m_match]);
}

void GraphPanel::chooseBox(uint32_t index)
{
    const GraphScene* scene = m_canvas->scene();
    if (!scene || !upToDate())
        return;
    const DisplayBox& box = scene->graph().boxes[index];
    m_chosen.clear();
    m_choosing = true;
    selectBoxOfContent(worstOf(box.members, contentNumbers(), metricShown()).value_or(box.members.front()));
    m_choosing = false;
    refreshChosen();
}

void GraphPanel::markRecipe(GraphLook& look) const
{
    if (showsOther()) // which no edit changes
        return;
    const BoxNodes nodes(m_recipe, *m_session.snapshot(), m_side);
    const auto& boxes = m_canvas->scene()->graph().boxes;
    for (size_t b = 0; b < look.boxes.size(); ++b) {
        const std::vector<size_t> members = nodes.of(content()->whole, boxes[b].members);
        look.boxes[b].quantized = m_recipe.state(members);
        if (m_recipe.isOfFile(members)) // which no box could change
            look.boxes[b].quantized.reset();
        if (boxes[b].kind != DisplayBox::Kind::Group || look.boxes[b].quantized != TriState::Some)
            look.boxes[b].note = drawnNote(boxNote(m_recipe, members)); // a group says how large it is
    }
}

/// Those of all boxes that are chosen together, else of the selected one.
std::vector<size_t> GraphPanel::chosenRecipeNodes() const
{
    if (!content() || !upToDate() || showsOther())
        return {};
    const auto selected = m_canvas->look().selected;
    std::vector<uint32_t> boxes;
    if (severalChosen())
        boxes.assign(m_chosen.begin(), m_chosen.end());
    else if (selected)
        boxes = m_canvas->scene()->graph().boxes[*selected].members;
    return BoxNodes(m_recipe, *m_session.snapshot(), m_side).of(content()->whole, boxes);
}

void GraphPanel::toggleBox(uint32_t box)
{
    if (!upToDate() || showsOther())
        return;
    if (severalChosen() && m_canvas->look().boxes[box].chosen)
        m_recipe.toggleNodes(chosenRecipeNodes());
    else
        m_recipe.toggleNodes(BoxNodes(m_recipe, *m_session.snapshot(), m_side)
                                 .of(content()->whole, m_canvas->scene()->graph().boxes[box].members));
}

bool GraphPanel::toggleSelected()
{
    const std::vector<size_t> members = chosenRecipeNodes();
    m_recipe.toggleNodes(members);
    return severalChosen() || !members.empty();
}

void GraphPanel::showMenu(const QPoint& global)
{
    QMenu menu(this);
    addUnitActions(menu, m_recipe, chosenRecipeNodes());
    menu.addActions(actions());
    if (severalChosen())
        addChosenActions(menu);
    addViewActions(menu);
    menu.addActions({ m_actions.find, m_actions.fit, m_actions.showSelection });
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
    keepNarrow(menu);
    menu.exec(global);
}

bool GraphPanel::exportTo(const QString& path) const
{
    return m_canvas->scene() && OpenWork(m_session).mayWrite(path).ok()
        && exportGraph(*m_canvas->scene(), m_canvas->look(), path);
}

QString GraphPanel::emptyText() const
{
    return tr("No model is open.\nOpen a float and a quantized ONNX file, or drop files here.");
}

} // namespace qs

#include "moc_graph_panel.cpp"
