// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/recipe/recipe_view.h"

#include "core/quant/recipe/recipe_diff.h"
#include "core/quant/recipe/recipe_edit.h"
#include "widgets/models/base/formatting.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace qs {

namespace {

constexpr size_t kFarthest = 64; ///< nodes that are looked at to find the one that took another in

/// The model that the recipe is applied to; that of the float file where none was made yet. Null: none is open.
const GraphDraft* draftOf(const Snapshot& snapshot)
{
    if (snapshot.quantization)
        return &snapshot.quantization->prepared;
    return snapshot.floatModel ? snapshot.floatModel->draft.get() : nullptr;
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
    case NodeMark::StaysFloat:
        return RecipeView::tr("stays in float");
    case NodeMark::OfFile:
        return RecipeView::tr("as in the file");
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
        takeNodes(*snapshot);
    }
    takePairs(*snapshot);
    const RunTree& runs = m_session.runs().tree();
    const RecipeRun* run = runs.find(runs.current());
    m_shown = run ? run->recipe : m_session.recipe().base();
    const RecipeBase base = m_session.recipe().recipeBase();
    m_now = nodeStates(m_session.recipe().recipe(), base, m_nodes);
    m_before = m_shown == m_session.recipe().recipe() ? m_now : nodeStates(m_shown, base, m_nodes);
    takeFloatNodes(*snapshot);
    takeFileNodes(*snapshot);
    m_units = nodeUnits(*snapshot, m_clips, m_now);
    emit changed();
}

void RecipeView::takeNodes(const Snapshot& snapshot)
{
    const GraphDraft* draft = draftOf(snapshot);
    m_nodes = draft ? recipeNodes(*draft) : std::vector<RecipeNode> {};
    m_clips = draft ? clipsBehind(*draft, m_nodes) : std::vector<ClipBehind> {};
    m_byName.clear();
    m_byOutput.clear();
    for (size_t n = 0; n < m_nodes.size(); ++n)
        m_byName.try_emplace(m_nodes[n].name, n);
    if (!draft)
        return;
    for (const DraftNode& node : draft->nodes)
        if (const auto known = m_byName.find(node.name); known != m_byName.end())
            for (const std::string& output : node.outputs)
                if (!output.empty())
                    m_byOutput.try_emplace(output, known->second);
}

void RecipeView::takePairs(const Snapshot& snapshot)
{
    if (snapshot.alignment == m_pairsOf)
        return;
    m_pairsOf = snapshot.alignment;
    m_pairs.clear();
    if (!snapshot.alignment || !snapshot.floatModel)
        return;
    for (const ValuePair& pair : snapshot.alignment->values)
        m_pairs.try_emplace(pair.quantValue, snapshot.floatModel->graph().value(pair.floatValue).name);
}

/// A wish is no fact: an operator set may be too old for codes, a range unknown.
void RecipeView::takeFloatNodes(const Snapshot& snapshot)
{
    if (!snapshot.comparison)
        return;
    for (const FloatNodeRow& row : snapshot.comparison->floatNodes) {
        const FloatCause cause = row.reason.cause;
        const bool hasCodes = cause == FloatCause::Output || cause == FloatCause::Unfused;
        if (const auto node = find(row.node); node && !hasCodes)
            m_now[*node].staysFloat = m_now[*node].quantized && m_before[*node].quantized;
    }
}

/// A pooling that another exporter wrote as a mean has no rule in a recipe, and computes with codes in the file. One
/// that was excluded since is none of these.
void RecipeView::takeFileNodes(const Snapshot& snapshot)
{
    if (!snapshot.comparison || snapshot.inputs.quantPath.empty()
        || m_session.recipe().baseOrigin() != ValueOrigin::Imported)
        return;
    std::unordered_set<std::string_view> inFloat;
    for (const FloatNodeRow& row : snapshot.comparison->floatNodes)
        inFloat.insert(row.node);
    for (size_t n = 0; n < m_nodes.size(); ++n)
        m_now[n].ofFile = !m_now[n].quantized && !m_before[n].quantized && !inFloat.contains(m_nodes[n].name);
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
        return !before                ? NodeMark::QuantizedInDraft
            : m_now[*node].staysFloat ? NodeMark::StaysFloat
                                      : NodeMark::Quantized;
    return before ? NodeMark::FloatInDraft : m_now[*node].ofFile ? NodeMark::OfFile : NodeMark::Float;
}

std::optional<TriState> RecipeView::state(std::span<const size_t> members) const
{
    return members.empty() || !m_session.recipe().editable() ? std::nullopt : std::optional(triState(m_now, members));
}

bool RecipeView::isOfFile(std::span<const size_t> members) const
{
    return !members.empty()
        && std::ranges::all_of(members, [&](size_t member) { return mark(m_nodes[member].name) == NodeMark::OfFile; });
}

/// By the tensor itself; in the quantized file, whose names are its own, by the one that is paired with it.
std::optional<size_t> RecipeView::makerOf(Side side, const Graph& graph, ValueId value) const
{
    const auto pair = side == Side::Quantized ? m_pairs.find(value) : m_pairs.end();
    const auto made = m_byOutput.find(pair == m_pairs.end() ? graph.value(value).name : pair->second);
    return made == m_byOutput.end() ? std::nullopt : std::optional(made->second);
}

/// Tools number nodes as they go, so two files may have one name for different nodes: what it makes, which is paired
/// behind its quantizer, says which it is.
bool RecipeView::standsForOther(Side side, const Graph& graph, NodeId node, size_t named) const
{
    if (side == Side::Float || graph.node(node).outputs.empty())
        return false;
    ValueId value = graph.node(node).outputs.front();
    for (const char* behind : { "QuantizeLinear", "DequantizeLinear" }) {
        if (!value.valid() || m_pairs.contains(value))
            break;
        const auto& uses = graph.value(value).uses;
        const auto next
            = std::ranges::find_if(uses, [&](const Use& use) { return graph.node(use.node).opType == behind; });
        value = next == uses.end() ? ValueId() : graph.node(next->node).outputs.front();
    }
    if (!value.valid() || !m_pairs.contains(value))
        return false;
    const auto maker = makerOf(side, graph, value);
    const std::vector<size_t>& unit = m_units.of(named);
    return maker && std::ranges::find(unit, *maker) == unit.end();
}

/// The node that stands for one of another graph: under its name, as the maker of its tensor, or, where it was put into
/// another, as the first one behind it.
std::optional<size_t> RecipeView::whereItWent(Side side, const Graph& graph, NodeId node) const
{
    const auto named = find(recipeName(graph, node));
    if (named && !standsForOther(side, graph, node, *named))
        return named;
    std::vector<NodeId> open { node };
    for (size_t i = 0; i < open.size() && i < kFarthest; ++i)
        for (const ValueId output : graph.node(open[i]).outputs) {
            if (!output.valid())
                continue;
            if (const auto maker = makerOf(side, graph, output))
                return maker;
            for (const Use& use : graph.value(output).uses) {
                if (const auto reader = find(recipeName(graph, use.node)))
                    return reader;
                if (std::ranges::find(open, use.node) == open.end())
                    open.push_back(use.node);
            }
        }
    return std::nullopt;
}

std::optional<size_t> RecipeView::nodeOf(const Place& place) const
{
    const SnapshotPtr snapshot = m_session.snapshot();
    const auto& model = place.side == Side::Float ? snapshot->floatModel : snapshot->quantModel;
    if (!model || place.inner.valid())
        return std::nullopt; // the recipe has no settings of single nodes in bodies
    const Graph& graph = model->graph();
    if (place.node.valid())
        if (const auto node = whereItWent(place.side, graph, place.node))
            return node;
    if (!place.value.valid())
        return std::nullopt;
    const Value& value = graph.value(place.value);
    if (value.producer.valid())
        return whereItWent(place.side, graph, value.producer);
    if (!value.initializer)
        return std::nullopt; // what reads an input is not what was clicked
    for (const Use& use : value.uses)
        if (const auto node = whereItWent(place.side, graph, use.node))
            return node;
    return std::nullopt;
}

std::vector<size_t> RecipeView::membersOf(std::span<const Place> places) const
{
    std::vector<size_t> nodes;
    for (const Place& place : places)
        if (const auto node = nodeOf(place))
            nodes.push_back(*node);
    return m_units.whole(nodes);
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

void RecipeView::toggleAll(const std::vector<Place>& places) { toggleExactly(membersOf(places)); }

void RecipeView::toggleNodes(const std::vector<size_t>& nodes) { toggleExactly(m_units.whole(nodes)); }

void RecipeView::togglePart(size_t node) { toggleExactly({ &node, 1 }); }

void RecipeView::toggleExactly(std::span<const size_t> members)
{
    setQuantized(members, triState(m_now, members) == TriState::None, title(members));
}

QString RecipeView::toggleText(std::span<const size_t> members) const
{
    const bool none = triState(m_now, members) == TriState::None;
    return (none ? tr("Quantize %1") : tr("Exclude %1")).arg(title(members));
}

} // namespace qs

#include "moc_recipe_view.cpp"
