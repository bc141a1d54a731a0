// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/recipe/recipe_view.h"

#include "core/quant/recipe/recipe_diff.h"
#include "core/quant/recipe/recipe_edit.h"
#include "widgets/models/base/formatting.h"

#include <algorithm>

namespace qs {

namespace {

/// Nodes of the model that the recipe is applied to; that of the float file where none was made yet.
std::vector<RecipeNode> nodesOf(const Snapshot& snapshot)
{
    if (snapshot.quantization)
        return recipeNodes(snapshot.quantization->prepared);
    return snapshot.floatModel && snapshot.floatModel->draft ? recipeNodes(*snapshot.floatModel->draft)
                                                             : std::vector<RecipeNode> {};
}

std::string recipeName(const Graph& graph, NodeId id)
{
    const Node& node = graph.node(id);
    if (!node.name.empty() || node.outputs.empty() || !node.outputs[0].valid())
        return node.name;
    return graph.value(node.outputs[0]).name;
}

} // namespace

QString nodeMarkText(NodeMark mark)
{
    switch (mark) {
    case NodeMark::Quantized:
        return {};
    case NodeMark::Float:
        return RecipeView::tr("left in float");
    case NodeMark::FloatInDraft:
        return RecipeView::tr("excluded in draft");
    case NodeMark::QuantizedInDraft:
        return RecipeView::tr("quantized in draft");
    }
    return {};
}

RecipeView::RecipeView(Session& session, QObject* parent)
    : QObject(parent)
    , m_session(session)
{
    connect(&session, &Session::snapshotChanged, this, &RecipeView::refresh);
    connect(&session.recipe(), &RecipeEdits::recipeChanged, this, &RecipeView::refresh);
    connect(&session.runs(), &RunList::changed, this, &RecipeView::refresh);
    refresh();
}

void RecipeView::refresh()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    const Model* model = snapshot->floatModel ? snapshot->floatModel->model.get() : nullptr;
    if (model != m_nodesOf || snapshot->quantization.get() != m_quantization) {
        m_nodesOf = model;
        m_quantization = snapshot->quantization.get();
        m_nodes = nodesOf(*snapshot);
        m_byName.clear();
        for (size_t n = 0; n < m_nodes.size(); ++n)
            m_byName.try_emplace(m_nodes[n].name, n);
    }
    const RunTree& runs = m_session.runs().tree();
    const RecipeRun* run = runs.find(runs.current());
    m_shown = run ? run->recipe : m_session.recipe().base();
    const RecipeBase base = m_session.recipe().recipeBase();
    m_now = nodeStates(m_session.recipe().recipe(), base, m_nodes);
    m_before = m_shown == m_session.recipe().recipe() ? m_now : nodeStates(m_shown, base, m_nodes);
    emit changed();
}

std::optional<size_t> RecipeView::find(const std::string& name) const
{
    const auto it = m_byName.find(name);
    return it == m_byName.end() ? std::nullopt : std::optional(it->second);
}

std::optional<NodeMark> RecipeView::mark(const std::string& name) const
{
    const auto node = find(name);
    if (!node || !m_session.recipe().editable())
        return std::nullopt;
    const bool now = m_now[*node].quantized, before = m_before[*node].quantized;
    if (now)
        return before ? NodeMark::Quantized : NodeMark::QuantizedInDraft;
    return before ? NodeMark::FloatInDraft : NodeMark::Float;
}

std::optional<size_t> RecipeView::nodeOf(const Place& place) const
{
    const SnapshotPtr snapshot = m_session.snapshot();
    const auto& model = place.side == Side::Float ? snapshot->floatModel : snapshot->quantModel;
    if (!model)
        return std::nullopt;
    const Graph& graph = model->graph();
    if (place.node.valid())
        if (const auto node = find(recipeName(graph, place.node)))
            return node;
    if (!place.value.valid())
        return std::nullopt;
    const NodeId producer = graph.value(place.value).producer;
    if (producer.valid())
        return find(recipeName(graph, producer));
    for (const Use& use : graph.value(place.value).uses)
        if (const auto node = find(recipeName(graph, use.node)))
            return node;
    return std::nullopt;
}

int RecipeView::changesNotRun() const
{
    return m_session.recipe().editable() ? int(recipeDiff(m_shown, m_session.recipe().recipe()).size()) : 0;
}

void RecipeView::setQuantized(std::span<const size_t> members, bool quantized, const QString& title)
{
    RecipeHistory& edits = m_session.recipe();
    if (!edits.editable() || members.empty())
        return;
    const QString text = quantized ? tr("Quantize %1").arg(title) : tr("Exclude %1").arg(title);
    edits.apply(text, withNodes(edits.recipe(), m_nodes, members, quantized));
}

void RecipeView::toggleAll(const std::vector<Place>& places)
{
    std::vector<size_t> members;
    for (const Place& place : places)
        if (const auto node = nodeOf(place))
            members.push_back(*node);
    toggleNodes(std::move(members));
}

void RecipeView::toggleNodes(std::vector<size_t> members)
{
    std::ranges::sort(members);
    members.erase(std::ranges::unique(members).begin(), members.end());
    if (members.empty())
        return;
    const bool any = std::ranges::any_of(members, [this](size_t n) { return m_now[n].quantized; });
    setQuantized(members, !any,
        members.size() == 1 ? toQt(m_nodes[members[0]].name) : tr("%1 nodes").arg(countText(members.size())));
}

} // namespace qs
