// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the graph panel that decides what is drawn: scenes, groups, neighbourhoods, several boxes.
#include "widgets/models/base/formatting.h"
#include "widgets/models/values/row_of_value.h"
#include "widgets/models/words/error_text.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_numbers.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/graph/other_graph.h"
#include "widgets/views/graph/scene_loader.h"
#include "widgets/views/graph/view/around_bar.h"
#include "widgets/views/graph/view/graph_search_bar.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QMenu>

#include <algorithm>

namespace qs {

namespace {

/// What is selected, as every version of a graph names it.
std::string selectedName(const Snapshot& snapshot, const Place& place)
{
    const LoadedModel* model = modelOf(snapshot, place.side);
    if (model && place.inner.valid())
        return innerName(model->graph(), place.inner);
    if (snapshot.comparison && place.activation && *place.activation < snapshot.comparison->activations.size())
        return snapshot.comparison->activations[*place.activation].name;
    if (snapshot.comparison && place.weight && *place.weight < snapshot.comparison->weights.size())
        return snapshot.comparison->weights[*place.weight].name;
    if (model && place.value.valid())
        return model->graph().value(place.value).name;
    return model && place.node.valid() ? model->graph().node(place.node).name : std::string();
}

/// Adds boxes, or takes them out where all are in.
void toggle(std::set<uint32_t>& boxes, const std::vector<uint32_t>& members)
{
    const bool all = std::ranges::all_of(members, [&](uint32_t b) { return boxes.contains(b); });
    for (const uint32_t member : members) {
        if (all)
            boxes.erase(member);
        else
            boxes.insert(member);
    }
}

} // namespace

void GraphPanel::connectCanvas()
{
    connect(m_canvas, &GraphCanvas::boxChosen, this, &GraphPanel::chooseBox);
    connect(m_canvas, &GraphCanvas::edgeChosen, this, &GraphPanel::chooseEdge);
    connect(m_canvas, &GraphCanvas::boxToggled, this, &GraphPanel::toggleBox);
    connect(m_canvas, &GraphCanvas::boxAdded, this, &GraphPanel::addChosen);
    connect(m_canvas, &GraphCanvas::boxesChosen, this, &GraphPanel::chooseBoxes);
    connect(m_canvas, &GraphCanvas::groupOpened, this, &GraphPanel::openGroup);
    connect(m_canvas, &GraphCanvas::frameClosed, this, &GraphPanel::closeFrame);
    connect(m_loader, &SceneLoader::ready, this, &GraphPanel::showScene);
    connect(m_loader, &SceneLoader::failed, this, &GraphPanel::sceneFailed);
    connect(m_aroundBar, &AroundBar::changed, this, &GraphPanel::setAround);
    connect(m_aroundBar, &AroundBar::closed, this, [this] { setAround(std::nullopt); });
}

GraphPanel::Shows GraphPanel::shows() const
{
    const auto& floatModel = shown()->floatModel;
    return { floatModel ? floatModel->model.get() : nullptr, m_view.mode };
}

void GraphPanel::requestScene()
{
    if (resting())
        return;
    const SnapshotPtr snapshot = shown();
    const LoadedModel* model = modelOf(*snapshot, m_side);
    if (!model) {
        if (!snapshot->floatModel && !snapshot->quantModel) // the next network may have boxes of the same names
            m_view.around.reset();
        m_loader->stop();
        showScene(nullptr);
        m_canvas->setMessage(emptyText());
        return;
    }
    const GraphScene* now = m_canvas->scene();
    const bool sameGraph = now && m_sceneModel == model->model;
    if (const auto scene = m_loader->request(*model, m_view, font())) {
        if (scene.get() != now)
            showScene(scene);
        return;
    }
    if (sameGraph && now->mode() == m_view.mode)
        return; // another view of it: the one that is shown stays as it is meanwhile
    m_waiting = now && snapshot->floatModel && m_sceneShows == shows();
    if (!m_waiting)
        showScene(nullptr);
    m_canvas->setMessage(tr("Laying out %1 nodes…").arg(countText(model->graph().nodes().size())));
}

void GraphPanel::sceneFailed(const Issue& issue)
{
    m_waiting = false;
    showScene(nullptr);
    m_canvas->setMessage(issueHeadline(issue));
}

void GraphPanel::showScene(const std::shared_ptr<const GraphScene>& scene)
{
    const bool sameGraph = scene && m_canvas->scene() && m_sceneModel == scene->content()->model;
    const bool otherBoxes = sameGraph && m_canvas->scene()->content() != scene->content();
    const bool kept = m_waiting || (sameGraph && m_anchor);
    if (!sameGraph || otherBoxes)
        m_chosen.clear();
    m_edge.reset();
    m_waiting = false;
    m_sceneModel = scene ? scene->content()->model : nullptr;
    m_canvas->setScene(scene, kept ? GraphCanvas::FirstView::Kept : GraphCanvas::FirstView::Sensible);
    m_sceneShows = scene ? std::optional(shows()) : std::nullopt;
    if (scene && m_view.around && std::ranges::none_of(m_view.around->middle, [&](const auto& name) {
            return scene->content()->find(name).has_value();
        }))
        m_view.around.reset(); // of another network: all of this one is drawn
    if (scene && scene->boxCount() == 0)
        m_canvas->setMessage(tr("This graph has no nodes."));
    m_legend->setVisible(scene && scene->boxCount() > 0);
    const auto anchor = std::exchange(m_anchor, std::nullopt);
    if (const auto drawn = scene && anchor ? scene->drawn(anchor->box) : std::nullopt)
        m_canvas->moveTo(scene->box(*drawn).topLeft(), anchor->at);
    const QString middle
        = scene && m_view.around && !m_view.around->middle.empty() ? toQt(m_view.around->middle.front()) : QString();
    m_aroundBar->showAround(scene && m_view.around ? std::optional(m_view.around->wanted) : std::nullopt, middle);
    if (scene && !m_search->isHidden())
        findMatches();
    refreshLook();
    placeOverlays();
    if (m_toReveal && scene)
        revealSelection();
}

std::shared_ptr<const GraphContent> GraphPanel::content() const
{
    return m_canvas->scene() ? m_canvas->scene()->content() : nullptr;
}

const std::vector<BoxNumber>& GraphPanel::contentNumbers() const
{
    NumbersOf wanted { shown(), content(), m_side, metricShown(), sampleShown() };
    if (!(wanted == m_numbersOf)) {
        m_numbers = boxNumbers(*wanted.snapshot, m_side, wanted.content->whole, wanted.metric, wanted.sample);
        m_numbersOf = std::move(wanted);
    }
    return m_numbers;
}

std::optional<uint32_t> GraphPanel::selectedInContent() const
{
    if (!content())
        return std::nullopt;
    return boxOfPlace(*shown(), m_side, content()->whole, placeShown());
}

/// What is selected, chosen together and found: all that follows the selection where boxes and numbers stay.
void GraphPanel::markChosen(GraphLook& look) const
{
    const GraphScene* scene = m_canvas->scene();
    for (BoxLook& box : look.boxes)
        box.chosen = box.found = false;
    if (severalChosen())
        for (const uint32_t box : m_chosen)
            if (const auto drawn = scene->drawn(box))
                look.boxes[*drawn].chosen = true;
    look.searching = m_search->isVisible() && !m_search->text().isEmpty();
    for (const uint32_t b : m_matches)
        if (b < look.boxes.size())
            look.boxes[b].found = true;
    const auto selected = selectedInContent();
    look.selected = selected ? scene->drawn(*selected) : std::nullopt;
    look.selectedEdge = m_edge;
}

/// As refreshLook(), where nothing else can have changed.
void GraphPanel::refreshChosen()
{
    if (!upToDate() || resting())
        return;
    const GraphScene* scene = m_canvas->scene();
    if (!scene || m_canvas->look().boxes.size() != scene->boxCount() || m_lookSample != sampleShown()
        || m_lookOfSelected || otherTensorSelected())
        return refreshLook();
    GraphLook look = m_canvas->look();
    markChosen(look);
    m_canvas->setLook(std::move(look));
    emit selectionShown();
}

void GraphPanel::selectionMoved()
{
    m_edge.reset();
    std::string name = selectedName(*m_session.snapshot(), m_session.selection().current());
    const bool another = name != m_revealed; // a new snapshot only counts the same anew
    m_revealed = std::move(name);
    if (another && !m_choosing) {
        m_chosen.clear();
        m_toReveal = true;
    }
    refreshChosen();
    if (m_toReveal && m_canvas->scene() && upToDate())
        revealSelection();
}

/// Opens what the selection lies in, then shows it at a size at which it can be read.
void GraphPanel::revealSelection()
{
    const SnapshotPtr snapshot = shown();
    const LoadedModel* model = modelOf(*snapshot, m_side);
    if (!model || model->model != m_sceneModel)
        return; // what comes next will
    m_toReveal = false;
    const auto box = selectedInContent();
    if (!box)
        return;
    const bool away = m_view.around && !m_canvas->scene()->drawn(*box);
    if (away)
        m_view.around->middle = { content()->nameOf(*box) };
    if (away || (!m_view.around && m_view.openPathTo(*content(), *box))) {
        m_toReveal = true;
        requestScene();
    } else if (const auto drawn = m_canvas->scene()->drawn(*box)) {
        m_canvas->reveal(*drawn);
    }
}

void GraphPanel::chooseBoxOfContent(uint32_t box)
{
    if (content() && upToDate() && box < content()->whole.boxes.size())
        selectBoxOfContent(box);
}

void GraphPanel::selectBoxOfContent(uint32_t index)
{
    if (showsOther())
        return selectFromOther(m_session, content()->whole, index);
    const DisplayBox& box = content()->whole.boxes[index];
    Selection& selection = m_session.selection();
    if (const auto row = contentNumbers()[index].row)
        selection.selectActivation(*row);
    else if (box.kind == DisplayBox::Kind::Operator && box.mainNode().valid())
        selection.selectNode(m_side, box.mainNode());
    else if (box.mainValue().valid())
        selection.selectValue(m_side, box.mainValue());
    else if (box.inner.valid())
        selection.selectInner(m_side, box.inner);
    else if (m_view.openPathTo(*content(), index)) // what a body takes or gives: nothing to select
        requestScene();
}

void GraphPanel::chooseEdge(uint32_t edge)
{
    if (!m_canvas->scene() || !upToDate() || !m_canvas->scene()->graph().edges[edge].value.valid())
        return;
    const FoldedGraph& graph = m_canvas->scene()->graph();
    const ValueId value = graph.edges[edge].value;
    const auto& readers = graph.boxes[graph.edges[edge].to].nodes;
    const auto read = m_side == Side::Float ? rowOfRead(*m_session.snapshot(), value, readers) : std::nullopt;
    m_choosing = true;
    if (showsOther())
        selectFromOther(m_session, value);
    else if (read)
        m_session.selection().selectActivation(*read);
    else
        m_session.selection().selectValue(m_side, value);
    m_choosing = false;
    m_edge = edge;
    refreshChosen();
}

void GraphPanel::setGroupBy(GroupBy by)
{
    m_view.by = by;
    m_view.around.reset();
    m_toReveal = true;
    requestScene();
}

void GraphPanel::setAllClosed(bool closed)
{
    if (!content() || !upToDate())
        return;
    m_view.around.reset();
    m_view.setAllClosed(*content(), closed);
    requestScene();
}

void GraphPanel::setViewState(const QString& text)
{
    const auto view = GraphView::fromText(text);
    if (!view)
        return;
    m_view.by = view->by;
    m_view.opened = view->opened;
    m_view.closed = view->closed;
    requestScene();
}

void GraphPanel::setAround(const std::optional<Neighbourhood>& wanted)
{
    if (!content() || !upToDate())
        return;
    if (!wanted) {
        m_view.around.reset();
    } else {
        std::vector<std::string> middle;
        for (const uint32_t box : m_chosen)
            middle.push_back(content()->nameOf(box));
        if (m_view.around)
            middle = m_view.around->middle;
        else if (const auto box = selectedInContent(); box && middle.empty())
            middle = { content()->nameOf(*box) };
        if (middle.empty())
            return;
        m_view.around = { middle, *wanted };
    }
    m_toReveal = true;
    requestScene();
}

void GraphPanel::regroup(uint32_t group, bool closed, QPointF anchor)
{
    m_anchor = Anchor { content()->grouping.order[content()->grouping.groups[group].first], anchor };
    m_view.setClosed(*content(), group, closed);
    requestScene();
}

void GraphPanel::openGroup(uint32_t box)
{
    if (!upToDate() || m_canvas->scene()->graph().boxes[box].kind != DisplayBox::Kind::Group)
        return;
    regroup(
        m_canvas->scene()->graph().boxes[box].group, false, m_canvas->onWidget(m_canvas->scene()->box(box).topLeft()));
}

void GraphPanel::closeFrame(uint32_t frame)
{
    if (upToDate())
        regroup(m_canvas->scene()->graph().frames[frame].group, true,
            m_canvas->onWidget(m_canvas->scene()->frame(frame).topLeft()));
}

/// The innermost open group around the selected box.
void GraphPanel::closeAroundSelection()
{
    const auto box = m_canvas->look().selected;
    const FoldedGraph& graph = m_canvas->scene()->graph();
    if (!box || graph.frameOfBox.empty() || graph.frameOfBox[*box] == FoldedGraph::kNoBox)
        return m_canvas->zoomBy(false);
    const uint32_t group = graph.frames[graph.frameOfBox[*box]].group;
    if (upToDate())
        regroup(group, true, m_canvas->onWidget(m_canvas->scene()->box(*box).topLeft()));
}

void GraphPanel::openOrClose(bool open)
{
    if (!m_canvas->scene() || m_canvas->scene()->boxCount() == 0)
        return;
    const auto box = m_canvas->look().selected;
    if (!open)
        closeAroundSelection();
    else if (box && m_canvas->scene()->graph().boxes[*box].kind == DisplayBox::Kind::Group)
        openGroup(*box);
    else
        m_canvas->zoomBy(true);
}

void GraphPanel::addChosen(uint32_t box)
{
    if (!upToDate())
        return;
    if (m_chosen.empty())
        if (const auto selected = m_canvas->look().selected; selected && *selected != box)
            toggle(m_chosen, m_canvas->scene()->graph().boxes[*selected].members);
    toggle(m_chosen, m_canvas->scene()->graph().boxes[box].members);
    refreshChosen();
}

void GraphPanel::chooseBoxes(const std::vector<uint32_t>& boxes)
{
    if (!upToDate() || !m_canvas->scene() || (boxes.empty() && m_chosen.empty()))
        return;
    m_chosen.clear();
    for (const uint32_t box : boxes)
        m_chosen.insert(
            m_canvas->scene()->graph().boxes[box].members.begin(), m_canvas->scene()->graph().boxes[box].members.end());
    refreshChosen();
}

std::vector<NodeId> GraphPanel::chosenNodes() const
{
    std::set<uint32_t> boxes = m_chosen;
    if (const auto selected = m_canvas->look().selected; boxes.empty() && selected && upToDate()) {
        const auto& members = m_canvas->scene()->graph().boxes[*selected].members;
        boxes.insert(members.begin(), members.end());
    }
    std::vector<NodeId> nodes;
    for (const uint32_t box : boxes)
        for (const NodeId node : content()->whole.boxes[box].nodes)
            nodes.push_back(node);
    return nodes;
}

QString GraphPanel::namesOf(const std::set<uint32_t>& boxes) const
{
    const SnapshotPtr snapshot = shown();
    const LoadedModel* model = modelOf(*snapshot, m_side);
    const std::vector<BoxNumber>& numbers = contentNumbers();
    QString text;
    for (const uint32_t index : boxes) {
        const DisplayBox& box = content()->whole.boxes[index];
        const bool node = box.kind == DisplayBox::Kind::Operator && box.mainNode().valid();
        text += node ? toQt(model->graph().node(box.mainNode()).name) : toQt(box.title);
        text += QLatin1Char('\t') + (node ? toQt(model->graph().node(box.mainNode()).opType) : QString());
        text += QLatin1Char('\t') + numbers[index].text + QLatin1Char('\n');
    }
    return text;
}

void GraphPanel::copyChosen() const
{
    if (!content() || !upToDate())
        return;
    std::set<uint32_t> boxes = m_chosen;
    if (const auto selected = selectedInContent(); boxes.empty() && selected)
        boxes.insert(*selected);
    if (!boxes.empty())
        QApplication::clipboard()->setText(namesOf(boxes));
}

void GraphPanel::addChosenActions(QMenu& menu)
{
    menu.addAction(m_actions.copy);
    menu.addAction(tr("Choose none\tEsc"), this, [this] { chooseBoxes({}); });
    menu.addSeparator();
}

void GraphPanel::addViewActions(QMenu& menu)
{
    if (!content() || !upToDate())
        return;
    addGroupActions(menu);
    QMenu* around = menu.addMenu(tr("Neighbourhood only"));
    around->setEnabled(selectedInContent() || severalChosen());
    for (const uint32_t steps : { 1u, 2u, 3u, 5u, 10u })
        around->addAction(steps == 1 ? tr("±1 step") : tr("±%1 steps").arg(steps), this,
            [this, steps] { setAround(Neighbourhood { steps }); });
    around->addAction(tr("Everything it depends on"), this, [this] { setAround(Neighbourhood { 1, true }); });
    around->addAction(tr("Everything that depends on it"), this, [this] {
        setAround(Neighbourhood { 1, false, true });
    });
    if (m_view.around)
        menu.addAction(
            withKeys(tr("Show the whole graph"), *m_actions.around), this, [this] { setAround(std::nullopt); });
    menu.addSeparator();
}

void GraphPanel::addGroupActions(QMenu& menu)
{
    const FoldedGraph& graph = m_canvas->scene()->graph();
    const auto box = m_canvas->look().selected;
    if (box && graph.boxes[*box].kind == DisplayBox::Kind::Group)
        menu.addAction(withKeys(tr("Open %1").arg(toQt(graph.boxes[*box].title)), *m_actions.open), this,
            [this, at = *box] { openGroup(at); });
    if (box && !graph.frameOfBox.empty() && graph.frameOfBox[*box] != FoldedGraph::kNoBox)
        menu.addAction(withKeys(tr("Close %1").arg(toQt(graph.frames[graph.frameOfBox[*box]].title)), *m_actions.close),
            this, &GraphPanel::closeAroundSelection);
    const bool any = !content()->grouping.groups.empty();
    menu.addAction(tr("Open all groups"), this, [this] { setAllClosed(false); })->setEnabled(any);
    menu.addAction(tr("Close all groups"), this, [this] { setAllClosed(true); })->setEnabled(any);
    QMenu* by = menu.addMenu(tr("Group by"));
    auto* choice = new QActionGroup(by);
    for (const auto& [value, text] : { std::pair(GroupBy::Nothing, tr("Nothing")),
             { GroupBy::Blocks, tr("Repeated blocks") }, { GroupBy::Names, tr("Scopes of names, and blocks") } }) {
        QAction* action = by->addAction(text, this, [this, value = value] { setGroupBy(value); });
        action->setCheckable(true);
        action->setChecked(m_view.by == value);
        choice->addAction(action);
    }
}

} // namespace qs
