// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/shown/selection.h"

#include "widgets/models/values/row_of_value.h"

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr size_t kHistoryLimit = 500;

const Graph* graphOf(const Snapshot& snapshot, Side side)
{
    const auto& model = side == Side::Float ? snapshot.floatModel : snapshot.quantModel;
    return model ? &model->graph() : nullptr;
}

/// First output of the node that is paired, else the first that exists.
ValueId mainOutput(const Snapshot& snapshot, Side side, const Node& node)
{
    ValueId first;
    for (const ValueId id : node.outputs) {
        if (!id.valid())
            continue;
        if (rowOfValue(snapshot, side, id))
            return id;
        first = first.valid() ? first : id;
    }
    return first;
}

/// Of the node, else of the value.
std::string nameIn(const Graph& graph, const Place& place)
{
    return place.node.valid() ? graph.node(place.node).name
        : place.value.valid() ? graph.value(place.value).name
                              : std::string();
}

/// What a quantized graph does not have any more may still be what the float one calls so.
Place inFloatModel(Place place, const std::string& name, const Snapshot& to)
{
    const Graph* graph = graphOf(to, Side::Float);
    if (!graph || name.empty())
        return place;
    Place there = place;
    there.side = Side::Float;
    there.node = graph->findNode(name);
    if (!there.node.valid())
        there.value = graph->findValue(name);
    return there.empty() ? place : there;
}

/// Of a tensor with several pairs of quantizers the row of the same pair.
std::optional<size_t> samePair(const Snapshot& from, const Snapshot& to, std::optional<size_t> row)
{
    if (!row || !from.comparison || !to.comparison || from.comparison->activations[*row].siblings == 0)
        return std::nullopt;
    const ActivationRow& before = from.comparison->activations[*row];
    const auto& rows = to.comparison->activations;
    const auto same = std::ranges::find_if(rows,
        [&](const ActivationRow& now) { return now.name == before.name && now.quantizedName == before.quantizedName; });
    return same == rows.end() ? std::nullopt : std::optional(size_t(same - rows.begin()));
}

/// The same place in another snapshot, found by names; empty when the name is gone.
Place translated(const Place& place, const Snapshot& from, const Snapshot& to)
{
    const Graph* before = graphOf(from, place.side);
    const Graph* now = graphOf(to, place.side);
    Place result;
    result.side = place.side;
    result.sample = place.sample;
    result.channel = place.channel;
    result.element = place.element;
    if (place.sample && (!to.data || *place.sample >= to.data->samples()))
        result.sample.reset();
    if (!before || !now)
        return {};
    if (place.value.valid())
        result.value = now->findValue(before->value(place.value).name);
    if (!result.value.valid() || (place.element && to.data && place.element->sample >= to.data->samples()))
        result.element.reset();
    if (place.node.valid())
        result.node = now->findNode(before->node(place.node).name);
    const InnerPlace inner { result.node, place.inner.steps };
    if (place.inner.valid() && innerName(*now, inner) == innerName(*before, place.inner))
        result.inner = inner;
    if (result.value.valid())
        result.activation = samePair(from, to, place.activation);
    if (place.weight && from.comparison && to.comparison) {
        const std::string& name = from.comparison->weights[*place.weight].name;
        const auto& rows = to.comparison->weights;
        const auto it = std::find_if(rows.begin(), rows.end(), [&](const WeightRow& row) { return row.name == name; });
        if (it != rows.end())
            result.weight = size_t(it - rows.begin());
    }
    if (result.empty() && place.side == Side::Quantized)
        result = inFloatModel(result, nameIn(*before, place), to);
    if (!result.empty())
        return result;
    Place sampleAlone;
    sampleAlone.sample = result.sample;
    return sampleAlone;
}

} // namespace

Selection::Selection(QObject* parent)
    : QObject(parent)
{
}

/// A node in a body stands for itself: its node in the graph is only where it lies.
Place Selection::completedInner(Place place) const
{
    const Graph* graph = graphOf(*m_snapshot, place.side);
    Place inside;
    inside.side = place.side;
    inside.node = graph && innerNode(*graph, place.inner) ? place.inner.owner : NodeId {};
    inside.inner = inside.node.valid() ? std::move(place.inner) : InnerPlace {};
    inside.sample = place.sample;
    return inside;
}

Place Selection::completed(Place place) const
{
    if (place.inner.valid())
        return completedInner(std::move(place));
    const Comparison* comparison = m_snapshot->comparison ? &*m_snapshot->comparison : nullptr;
    if (place.weight && (!comparison || *place.weight >= comparison->weights.size()))
        place.weight.reset();
    if (place.activation && (!comparison || *place.activation >= comparison->activations.size()))
        place.activation.reset();
    if (place.weight) {
        const WeightRow& row = comparison->weights[*place.weight];
        place.side = Side::Float;
        place.value = row.floatValue;
        place.node = row.floatNode;
        place.activation.reset();
        return place;
    }
    if (place.activation) {
        const ActivationRow& row = comparison->activations[*place.activation];
        place.side = Side::Float;
        place.value = row.floatValue;
        place.node = row.floatNode;
        return place;
    }
    const Graph* graph = graphOf(*m_snapshot, place.side);
    if (!graph)
        return {};
    if (place.node.valid() && place.node.index() >= graph->nodes().size())
        place.node = {};
    if (place.value.valid() && place.value.index() >= graph->values().size())
        place.value = {};
    if (!place.value.valid() && place.node.valid())
        place.value = mainOutput(*m_snapshot, place.side, graph->node(place.node));
    if (!place.node.valid() && place.value.valid())
        place.node = graph->value(place.value).producer;
    if (!place.value.valid())
        place.element.reset();
    place.activation = rowOfValue(*m_snapshot, place.side, place.value);
    return place.activation ? completed(place) : place; // a quantized value with a partner is named by the float graph
}

void Selection::select(const Place& wanted)
{
    const Place now = completed(wanted);
    const Place before = current();
    if (now == before)
        return;
    m_history.resize(m_position + 1);
    m_history.push_back(now);
    if (m_history.size() > kHistoryLimit)
        m_history.erase(m_history.begin());
    m_position = m_history.size() - 1;
    emit changed(now, before);
    emit historyChanged();
}

void Selection::selectActivation(size_t row)
{
    Place place;
    place.activation = row;
    place.sample = current().sample;
    select(place);
}

void Selection::selectWeight(size_t row)
{
    Place place;
    place.weight = row;
    place.sample = current().sample;
    select(place);
}

void Selection::selectNode(Side side, NodeId node)
{
    Place place;
    place.side = side;
    place.node = node;
    place.sample = current().sample;
    select(place);
}

void Selection::selectValue(Side side, ValueId value)
{
    Place place;
    place.side = side;
    place.value = value;
    place.sample = current().sample;
    select(place);
}

void Selection::selectInner(Side side, const InnerPlace& inner)
{
    Place place;
    place.side = side;
    place.inner = inner;
    place.sample = current().sample;
    select(place);
}

void Selection::selectSample(std::optional<size_t> sample)
{
    Place place = current();
    place.sample = sample;
    place.element.reset(); // it is of another sample
    select(place);
}

void Selection::selectChannel(std::optional<size_t> channel)
{
    Place place = current();
    place.channel = channel;
    place.element.reset();
    select(place);
}

void Selection::selectElement(std::optional<ChosenElement> element)
{
    Place place = current();
    place.element = element;
    select(place);
}

void Selection::clear() { select({}); }

void Selection::replace(const Place& wanted)
{
    const Place now = completed(wanted);
    const Place before = current();
    if (before.empty() || now.empty())
        return select(now);
    if (now == before)
        return;
    m_history[m_position] = now;
    emit changed(now, before);
    emit historyChanged();
}

bool Selection::selectByName(const std::string& name)
{
    for (const Side side : { Side::Float, Side::Quantized }) {
        const Graph* graph = graphOf(*m_snapshot, side);
        if (!graph)
            continue;
        if (const NodeId node = graph->findNode(name); node.valid()) {
            selectNode(side, node);
            return true;
        }
        const ValueId value = graph->findValue(name);
        if (!value.valid())
            continue;
        if (m_snapshot->comparison && side == Side::Float) {
            const auto& weights = m_snapshot->comparison->weights;
            const auto it = std::find_if(
                weights.begin(), weights.end(), [&](const WeightRow& row) { return row.floatValue == value; });
            if (it != weights.end()) {
                selectWeight(size_t(it - weights.begin()));
                return true;
            }
        }
        selectValue(side, value);
        return true;
    }
    return false;
}

void Selection::moveTo(size_t position)
{
    const Place before = current();
    m_position = position;
    emit changed(current(), before);
    emit historyChanged();
}

void Selection::goBack()
{
    if (canGoBack())
        moveTo(m_position - 1);
}

void Selection::goForward()
{
    if (canGoForward())
        moveTo(m_position + 1);
}

void Selection::rebind(const SnapshotPtr& snapshot)
{
    follow(snapshot);
    tell();
}

void Selection::follow(const SnapshotPtr& snapshot)
{
    const Place before = current();
    const SnapshotPtr old = m_snapshot;
    const QString name = nameOf(before);
    m_snapshot = snapshot;
    const Place now = completed(translated(before, *old, *snapshot));
    std::vector<Place> kept { Place {} };
    size_t position = 0;
    for (size_t i = 0; i < m_history.size(); ++i) {
        const Place place = i == m_position ? now : completed(translated(m_history[i], *old, *snapshot));
        if (!place.empty() && !(kept.back() == place))
            kept.push_back(place);
        if (i == m_position)
            position = now.empty() && kept.size() > 1 ? 0 : kept.size() - 1;
    }
    m_history = std::move(kept);
    m_position = position;
    const bool lost = now.empty() && snapshot->inputs.floatPath == old->inputs.floatPath;
    m_followed = Followed { before, lost ? name : QString() };
}

void Selection::tell()
{
    const auto followed = std::exchange(m_followed, std::nullopt);
    if (!followed)
        return;
    if (!(current() == followed->before))
        emit changed(current(), followed->before);
    emit historyChanged();
    if (!followed->lost.isEmpty())
        emit vanished(followed->lost);
}

QString Selection::nameOf(const Place& place) const
{
    const Graph* graph = place.empty() ? nullptr : graphOf(*m_snapshot, place.side);
    return graph ? QString::fromStdString(nameIn(*graph, place)) : QString();
}

} // namespace qs

#include "moc_selection.cpp"
