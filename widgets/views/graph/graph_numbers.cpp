// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/graph_numbers.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/inspector/place_origin.h"
#include "widgets/models/values/row_of_value.h"
#include "widgets/models/words/error_text.h"
#include "widgets/session/shown/empty_texts.h"

#include <algorithm>
#include <unordered_map>

namespace qs {

namespace {

using RowOfValue = std::unordered_map<ValueId, size_t>;

RowOfValue rowsOf(const Comparison& comparison, Side side, Metric metric = Metric::Accumulated)
{
    RowOfValue rows;
    for (size_t i = 0; i < comparison.activations.size(); ++i) {
        const ActivationRow& row = comparison.activations[i];
        const auto [it, isNew] = rows.try_emplace(side == Side::Float ? row.floatValue : row.quantValue, i);
        if (!isNew)
            it->second = worseOfPairs(comparison, it->second, i, metric);
    }
    return rows;
}

/// The row that a box stands for: the tensor as the next box sees it, so one with a quantizer comes first, and of
/// several quantizers the worst.
std::optional<size_t> rowOfBox(
    const Comparison& comparison, const DisplayBox& box, const RowOfValue& rows, Metric metric = Metric::Accumulated)
{
    std::optional<size_t> found;
    for (const ValueId value : box.values) {
        const auto it = rows.find(value);
        if (it == rows.end())
            continue;
        if (!found || (!comparison.activations[*found].quantizer && comparison.activations[it->second].quantizer))
            found = it->second;
        else
            found = worseOfPairs(comparison, *found, it->second, metric);
    }
    return found;
}

const Issue* reasonOf(const Plan& plan, const DisplayBox& box)
{
    for (const NodeId node : box.nodes)
        if (const auto& blocked = plan.step(node).blocked)
            return &*blocked;
    return box.kind == DisplayBox::Kind::Output && box.mainValue().valid() ? plan.blocked(box.mainValue()) : nullptr;
}

QString numberOf(Metric metric, const ActivationRow& row)
{
    if (metricExact(metric, row))
        return tr("exact");
    const Number value = metricValue(metric, row);
    if (!value)
        return {};
    if (metric == Metric::Clipped)
        return percentText(*value / 100);
    return metric == Metric::Increase || metric == Metric::OtherGain ? signedDecibelText(*value) : decibelText(value);
}

BoxNumber numberOfRow(const Comparison& comparison, size_t index, Metric metric, std::optional<size_t> sample)
{
    const ActivationRow& row = comparison.activations[index];
    const bool ofOneSample = sample && metric == Metric::Accumulated;
    if (ofOneSample && *sample - comparison.firstSample < row.sampleSqnrDb.size()) {
        const Number value = row.sampleSqnrDb[*sample - comparison.firstSample];
        return { index, value, false, value ? decibelText(value) : QString() };
    }
    return { index, metricValue(metric, row), metricExact(metric, row), numberOf(metric, row) };
}

/// Lines "label: value" as a table.
class Tip {
public:
    explicit Tip(const QString& headline) { m_text = QStringLiteral("<b>%1</b>").arg(headline.toHtmlEscaped()); }
    void add(const QString& label, const QString& value)
    {
        if (!value.isEmpty())
            m_rows += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                          .arg(label.toHtmlEscaped(), value.toHtmlEscaped());
    }
    void paragraph(const QString& text) { m_end += QStringLiteral("<p>%1</p>").arg(text.toHtmlEscaped()); }
    QString html() const { return m_text + QStringLiteral("<table>%1</table>").arg(m_rows) + m_end; }

private:
    QString m_text, m_rows, m_end;
};

void addValue(Tip& tip, const LoadedModel& model, ValueId id)
{
    if (!id.valid())
        return;
    const Value& value = model.graph().value(id);
    const Fact& fact = model.plan->facts().of(id);
    tip.add(tr("value"), toQt(value.name));
    const DType type = fact.dtype != DType::Undefined ? fact.dtype : value.type.dtype;
    const auto& dims = fact.dims ? fact.dims : value.type.dims;
    if (type != DType::Undefined)
        tip.add(tr("type"), toQt(dtypeName(type)) + (dims ? QLatin1Char(' ') + dimsLabel(dims) : QString()));
}

void addNumbers(Tip& tip, const Snapshot& snapshot, const ActivationRow& row, Side side)
{
    tip.add(side == Side::Float ? tr("in the quantized model") : tr("in the float model"),
        toQt(side == Side::Float ? row.quantizedName : row.name));
    if (!row.params.scale.empty())
        tip.add(tr("quantizer"), quantizerText(row.params));
    for (const Metric metric : kMetrics)
        tip.add(metricInfo(metric).title, numberOf(metric, row));
    tip.add(tr("samples"), QString::number(snapshot.comparison->samples));
    if (row.equalized)
        tip.paragraph(tr("Its channels have factors that the next layers take away again (cross-layer equalization): "
                         "the float model's values are taken times these."));
}

/// The node of the other file that a value is inside; invalid where there is none.
NodeId aroundOf(const Snapshot& snapshot, Side side, ValueId value)
{
    if (!snapshot.alignment || !value.valid())
        return {};
    return nodeAround(side == Side::Float ? snapshot.alignment->insideFloat : snapshot.alignment->insideQuant, value);
}

void addPartnerless(Tip& tip, const Snapshot& snapshot, Side side, ValueId value)
{
    const LoadedModel* other = modelOf(snapshot, side == Side::Float ? Side::Quantized : Side::Float);
    if (const NodeId around = aroundOf(snapshot, side, value); around.valid() && other)
        tip.paragraph(tr("No number: the other model computes this value inside %1 (%2).")
                          .arg(toQt(other->graph().node(around).name), toQt(other->graph().node(around).opType)));
    else if (snapshot.comparison)
        tip.paragraph(tr("No number: this value has no partner in the other model."));
    else if (snapshot.floatModel && snapshot.quantModel)
        tip.paragraph(tr("No number yet. %1").arg(whyNothingCompared(snapshot)));
}

} // namespace

std::vector<BoxNumber> boxNumbers(
    const Snapshot& snapshot, Side side, const FoldedGraph& graph, Metric metric, std::optional<size_t> sample)
{
    std::vector<BoxNumber> numbers(graph.boxes.size());
    const LoadedModel* model = modelOf(snapshot, side);
    if (!model)
        return numbers;
    const RowOfValue rows = snapshot.comparison ? rowsOf(*snapshot.comparison, side, metric) : RowOfValue();
    for (size_t b = 0; b < numbers.size(); ++b) {
        const auto row
            = snapshot.comparison ? rowOfBox(*snapshot.comparison, graph.boxes[b], rows, metric) : std::nullopt;
        if (row)
            numbers[b] = numberOfRow(*snapshot.comparison, *row, metric, sample);
        numbers[b].blocked = reasonOf(*model->plan, graph.boxes[b]) != nullptr;
    }
    return numbers;
}

std::optional<BoxNumber> numberOfSelected(const Snapshot& snapshot, Side side, const DisplayBox& box,
    const BoxNumber& own, std::optional<size_t> selected, Metric metric, std::optional<size_t> sample)
{
    if (!snapshot.comparison || !selected || selected == own.row
        || *selected >= snapshot.comparison->activations.size())
        return std::nullopt;
    const ActivationRow& row = snapshot.comparison->activations[*selected];
    const ValueId value = side == Side::Float ? row.floatValue : row.quantValue;
    if (std::ranges::find(box.values, value) == box.values.end())
        return std::nullopt;
    BoxNumber number = numberOfRow(*snapshot.comparison, *selected, metric, sample);
    number.blocked = own.blocked;
    const bool ofOwnTensor = own.row && snapshot.comparison->activations[*own.row].floatValue == row.floatValue;
    if (!number.text.isEmpty() && !row.opType.empty() && !ofOwnTensor)
        number.text = toQt(row.opType) + u' ' + number.text;
    return number;
}

namespace {

QString bodyToolTip(const LoadedModel& model, const DisplayBox& box)
{
    const auto inner = innerNode(model.graph(), box.inner);
    Tip tip(inner ? toQt(inner->node->opType) : toQt(box.title));
    if (inner) {
        tip.add(tr("node"), toQt(innerName(model.graph(), box.inner)));
        tip.add(tr("from"), originLine(*inner->node));
    }
    tip.paragraph(tr("In the body of an If, Loop or Scan: its values have no numbers of their own; those of its "
                     "weights stand in the Inspector."));
    return tip.html();
}

QString groupToolTip(const DisplayBox& box)
{
    Tip tip(toQt(box.title));
    tip.add(tr("closed group"), toQt(box.subtitle));
    tip.add(tr("constants"), QString::number(box.weights.size()));
    tip.paragraph(tr("The number is that of its worst tensor; the strip shows all, from top to bottom, of "
                     "repeated blocks the worst of each. "
                     "+ or a double click opens the group."));
    return tip.html();
}

} // namespace

QString boxToolTip(const Snapshot& snapshot, Side side, const FoldedGraph& graph, uint32_t index)
{
    const LoadedModel* model = modelOf(snapshot, side);
    if (!model)
        return {};
    const DisplayBox& box = graph.boxes[index];
    const bool isNode = box.kind == DisplayBox::Kind::Operator && box.mainNode().valid();
    if (box.kind == DisplayBox::Kind::Group)
        return groupToolTip(box);
    if (!isNode && !box.mainValue().valid())
        return bodyToolTip(*model, box);
    const QString kind = box.kind == DisplayBox::Kind::Input ? tr("Model input") : tr("Model output");
    Tip tip(isNode ? toQt(model->graph().node(box.mainNode()).opType) : kind);
    if (isNode) {
        const Node& node = model->graph().node(box.mainNode());
        tip.add(tr("node"), toQt(node.name));
        if (!node.domain.empty())
            tip.add(tr("domain"), toQt(node.domain));
        tip.add(tr("from"), originLine(node));
    }
    addValue(tip, *model, box.mainValue());
    if (!box.weights.empty())
        tip.add(tr("constants"), QString::number(box.weights.size()));
    if (box.nodes.size() > 1)
        tip.add(tr("folded nodes"), QString::number(box.nodes.size() - 1));
    if (const Issue* reason = reasonOf(*model->plan, box))
        tip.paragraph(tr("Cannot run: %1").arg(issueHeadline(*reason)));
    else if (const auto row
        = snapshot.comparison ? rowOfBox(*snapshot.comparison, box, rowsOf(*snapshot.comparison, side)) : std::nullopt)
        addNumbers(tip, snapshot, snapshot.comparison->activations[*row], side);
    else
        addPartnerless(tip, snapshot, side, box.mainValue());
    return tip.html();
}

QString edgeToolTip(const Snapshot& snapshot, Side side, const FoldedGraph& graph, uint32_t index)
{
    const LoadedModel* model = modelOf(snapshot, side);
    if (!model)
        return {};
    const DisplayEdge& edge = graph.edges[index];
    Tip tip(tr("%1 → %2").arg(toQt(graph.boxes[edge.from].title), toQt(graph.boxes[edge.to].title)));
    addValue(tip, *model, edge.value);
    for (const uint32_t q : edge.quantizers) {
        const Quantizer& quantizer = model->quant->quantizers()[q];
        tip.add(tr("quantizer"),
            quantizer.dynamic ? tr("scale and zero point computed from the data") : quantizerText(quantizer.params));
    }
    return tip.html();
}

namespace {

/// A node that is drawn, where it is shown at all: no constant, no cast, nothing of a quantizer.
bool isDrawn(const LoadedModel& model, NodeId id)
{
    const Node& node = model.graph().node(id);
    return node.opType != "Cast" && !model.quant->isPlumbing(id)
        && std::ranges::any_of(node.outputs, [&](ValueId out) { return out.valid() && !model.plan->constant(out); });
}

/// Of one graph, as another shows it: by pairs, else by a name that no pair gives to anything else.
class Counterpart {
public:
    Counterpart(const Snapshot& snapshot, Side from, Side shown)
        : m_snapshot(snapshot)
        , m_from(from)
        , m_shown(shown)
    {
    }
    NodeId of(NodeId id) const
    {
        const LoadedModel &from = *modelOf(m_snapshot, m_from), &shown = *modelOf(m_snapshot, m_shown);
        if (m_from == m_shown)
            return id;
        for (const ValueId out : from.graph().node(id).outputs) {
            if (const ActivationRow* row = rowOf(m_from, out))
                return shown.graph().value(valueOf(m_shown, *row)).producer;
            if (const NodeId around = aroundOf(m_snapshot, m_from, out); around.valid())
                return around;
        }
        const NodeId named = shown.graph().findNode(from.graph().node(id).name);
        return named.valid() && isPaired(shown.graph().node(named)) ? NodeId() : named;
    }

    /// Of a value without a partner and a producer.
    ValueId of(ValueId id) const
    {
        const LoadedModel *from = modelOf(m_snapshot, m_from), *shown = modelOf(m_snapshot, m_shown);
        const ValueId named = from && shown ? shown->graph().findValue(from->graph().value(id).name) : ValueId();
        return named.valid() && !rowOf(m_shown, named) ? named : ValueId();
    }

private:
    static ValueId valueOf(Side side, const ActivationRow& row)
    {
        return side == Side::Float ? row.floatValue : row.quantValue;
    }
    const ActivationRow* rowOf(Side side, ValueId value) const
    {
        if (!m_snapshot.comparison || !value.valid())
            return nullptr;
        const auto& rows = m_snapshot.comparison->activations;
        const auto it = std::ranges::find_if(rows, [&](const ActivationRow& r) { return valueOf(side, r) == value; });
        return it == rows.end() ? nullptr : &*it;
    }
    bool isPaired(const Node& node) const
    {
        return std::ranges::any_of(node.outputs, [&](ValueId out) { return rowOf(m_shown, out) != nullptr; });
    }

    const Snapshot& m_snapshot;
    Side m_from, m_shown;
};

/// Box of the nearest reader of something that has no box of its own: a constant, a cast, a quantizer's parameter. In
/// another graph the readers end where something is computed: what comes behind it is something else.
std::optional<uint32_t> boxOfReader(const Snapshot& snapshot, const Place& place, Side side, const FoldedGraph& graph)
{
    const LoadedModel& model = *modelOf(snapshot, place.side);
    const Graph& from = model.graph();
    const Counterpart counterpart(snapshot, place.side, side);
    const bool elsewhere = place.side != side;
    const NodeId origin = place.value.valid() ? from.value(place.value).producer : place.node;
    if (elsewhere && (origin.valid() ? isDrawn(model, origin) : !model.plan->constant(place.value)))
        return {};
    std::vector<ValueId> open;
    std::vector<bool> seen(from.values().size());
    const auto reach = [&](ValueId id) {
        if (id.valid() && !seen[id.index()]) {
            seen[id.index()] = true;
            open.push_back(id);
        }
    };
    if (place.value.valid())
        reach(place.value);
    else
        std::ranges::for_each(from.node(place.node).outputs, reach);
    for (size_t i = 0; i < open.size(); ++i) {
        for (const Use& use : from.value(open[i]).uses) {
            const NodeId shown = counterpart.of(use.node);
            if (const auto box = shown.valid() ? graph.box(shown) : std::nullopt)
                return box;
            if (!elsewhere || !isDrawn(model, use.node))
                std::ranges::for_each(from.node(use.node).outputs, reach);
        }
    }
    return {};
}

} // namespace

std::optional<uint32_t> boxOfPlace(const Snapshot& snapshot, Side side, const FoldedGraph& graph, const Place& place)
{
    const auto inner = place.inner.valid() && place.side == side
        ? std::ranges::find(graph.boxes, place.inner, &DisplayBox::inner)
        : graph.boxes.end();
    if (inner != graph.boxes.end())
        return static_cast<uint32_t>(inner - graph.boxes.begin());
    ValueId value = place.side == side ? place.value : ValueId();
    NodeId node = place.side == side ? place.node : NodeId();
    const Comparison* comparison = snapshot.comparison ? &*snapshot.comparison : nullptr;
    if (comparison && place.weight && *place.weight < comparison->weights.size()) {
        const WeightRow& row = comparison->weights[*place.weight];
        node = side == Side::Float ? row.floatNode : row.quantNode;
        value = {};
    } else if (comparison && place.activation && *place.activation < comparison->activations.size()) {
        const ActivationRow& row = comparison->activations[*place.activation];
        value = side == Side::Float ? row.floatValue : row.quantValue;
    } else if (const NodeId around = aroundOf(snapshot, place.side, place.value);
               place.side != side && around.valid()) {
        node = around;
    } else if (place.side != side && place.node.valid()) {
        const LoadedModel* there = modelOf(snapshot, place.side);
        if (modelOf(snapshot, side) && there && place.node.index() < there->graph().nodes().size())
            node = Counterpart(snapshot, place.side, side).of(place.node);
    } else if (place.side != side && place.value.valid()) {
        value = Counterpart(snapshot, place.side, side).of(place.value);
    }
    if (value.valid())
        if (const auto box = graph.box(value))
            return box;
    if (node.valid())
        if (const auto box = graph.box(node))
            return box;
    const LoadedModel* here = modelOf(snapshot, side);
    const LoadedModel* there = modelOf(snapshot, place.side);
    if (place.empty() || place.activation || place.weight || !here || !there)
        return std::nullopt;
    return boxOfReader(snapshot, place, side, graph);
}

std::vector<Metric> availableMetrics(const Snapshot& snapshot)
{
    std::vector<Metric> found;
    for (const Metric metric :
        { Metric::Accumulated, Metric::Added, Metric::Increase, Metric::NodeAlone, Metric::OtherGain }) {
        const bool exists = snapshot.comparison
            && std::any_of(snapshot.comparison->activations.begin(), snapshot.comparison->activations.end(),
                [&](const ActivationRow& row) { return metricValue(metric, row) || metricExact(metric, row); });
        if (exists)
            found.push_back(metric);
    }
    return found;
}

} // namespace qs
