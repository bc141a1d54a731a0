// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/explain_element.h"

#include "core/explain/difference/difference.h"
#include "core/explain/run/operand_codes.h"
#include "core/explain/run/unit_run.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int kMostBehind = 8;

/// The fused integer unit that makes a value; null: a node does.
const FusedUnit* unitOf(const Plan& plan, ValueId value)
{
    const NodeId id = plan.graph().value(value).producer;
    const FusedUnit* unit = id.valid() ? plan.unit(id) : nullptr;
    return unit && unit->when == FusedUnit::When::Always && unit->steps ? unit : nullptr;
}

bool sumsCodes(const Node& node) { return node.is("ConvInteger") || node.is("MatMulInteger"); }

const Node* producerOf(const Plan& plan, ValueId value)
{
    const NodeId id = value.valid() ? plan.graph().value(value).producer : NodeId();
    return id.valid() ? &plan.graph().node(id) : nullptr;
}

/// The operand by which sums of codes come, on their way to floats: Cast, Mul by the scales, Add of a bias.
ValueId scaledSumsIn(const Plan& plan, const Node& node, int depth = 0)
{
    if (node.is("Cast") && node.hasInput(0)) {
        const Node* made = producerOf(plan, node.inputs[0]);
        return made && sumsCodes(*made) ? node.inputs[0] : ValueId();
    }
    if (!node.is(depth == 0 ? "Add" : "Mul") && !node.is("Mul"))
        return {};
    for (const ValueId in : node.inputs) {
        const Node* made = producerOf(plan, in);
        const bool wanted = made && made->is(node.is("Add") ? "Mul" : "Cast");
        if (wanted && scaledSumsIn(plan, *made, depth + 1).valid())
            return in;
    }
    return {};
}

/// Some files cast codes between quantizing and dequantizing them, and clip them there.
bool handsOnCodes(const Plan& plan, const Node& node)
{
    const Node* made = node.is("Cast") && node.hasInput(0) ? producerOf(plan, node.inputs[0]) : nullptr;
    return made && (isQuantizeLinear(*made) || made->is("Clip") || handsOnCodes(plan, *made));
}

/// The operand that says how the element's number was made, where that is worth a look.
ValueId behind(const Plan& plan, ValueId value)
{
    const Node* node = producerOf(plan, value);
    if (!node || unitOf(plan, value))
        return {};
    const bool quantizes = isDequantizeLinear(*node) || isQuantizeLinear(*node)
        || (node->is("DynamicQuantizeLinear") && node->outputs[0] == value);
    ValueId next = scaledSumsIn(plan, *node);
    const bool one = quantizes || node->is("Relu") || node->is("Clip") || handsOnCodes(plan, *node);
    if (one && node->hasInput(0))
        next = node->inputs[0];
    return next.valid() && !plan.constant(next) && canBeRead(plan, next) && producerOf(plan, next) ? next : ValueId();
}

Issue hiddenIssue(const Plan& plan, ValueId value)
{
    const Graph& graph = plan.graph();
    Issue issue = badInput("is computed inside a fused integer unit and has no number of its own in this arithmetic",
        {}, "use the arithmetic simulated");
    issue.tensor = graph.value(value).name;
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
        const FusedUnit* unit = plan.unit(NodeId(n));
        if (!unit || unit->when != FusedUnit::When::Always
            || std::ranges::find(unit->inner, value) == unit->inner.end())
            continue;
        const auto& outputs = graph.node(unit->nodes.back()).outputs;
        issue.node = graph.node(unit->node).name;
        if (outputs.empty() || !outputs[0].valid())
            break;
        const bool alike = plan.facts().of(value).dims == plan.facts().of(outputs[0]).dims;
        issue.remedy = std::string("ask for ") + (alike ? "the same" : "an") + " element of '"
            + graph.value(outputs[0]).name + "', which the unit makes, or use the arithmetic simulated";
        break;
    }
    return issue;
}

/// All that is read of one model, and what is made of it.
class Explainer {
public:
    Explainer(const ExplainedModel& model, const ElementAt& place)
        : m_model(model)
        , m_plan(*model.plan)
        , m_codes(m_plan, model.view.get())
        , m_place(place)
    {
    }

    Status check() const
    {
        const Graph& graph = m_plan.graph();
        if (m_plan.hidden(m_place.value))
            return hiddenIssue(m_plan, m_place.value);
        if (const Issue* blocked = m_plan.blocked(m_place.value))
            return *blocked;
        if (const std::string container = m_plan.container(m_place.value); !container.empty()) {
            Issue issue = badInput("is a " + container + ", which has no elements to explain", {}, "choose a tensor");
            issue.tensor = graph.value(m_place.value).name;
            return issue;
        }
        return {};
    }

    std::vector<ValueId> needed() const
    {
        std::vector<ValueId> list;
        ValueId value = m_place.value;
        for (int i = 0; value.valid() && i <= kMostBehind; ++i, value = behind(m_plan, value))
            collect(value, list);
        return list;
    }

    Status read(const SampleRuns& runs, const WorkContext& work)
    {
        QS_TRY(m_values, SampleValues::read(m_model.plan, needed(), runs, m_place.sample, work));
        return {};
    }

    Status checkPlace() const
    {
        const Tensor& tensor = m_values.of(m_place.value);
        Issue issue;
        issue.tensor = m_plan.graph().value(m_place.value).name;
        issue.kind = IssueKind::BadUse;
        const std::string shape = tensor.valid() ? shapeText(tensor.shape()) : std::string();
        if (!tensor.valid() || dtypeBits(tensor.dtype()) == 0) {
            issue.kind = IssueKind::BadInput;
            issue.what = "holds no numbers";
            issue.remedy = "choose another tensor";
            return issue;
        }
        if (m_place.at.size() != tensor.rank()) {
            issue.what = "has the shape " + shape + ", so a place in it has " + std::to_string(tensor.rank())
                + " indices, not " + std::to_string(m_place.at.size());
            issue.remedy = "give one index for each axis, the batch included";
            return issue;
        }
        const bool part = m_place.withinSample && !m_plan.constant(m_place.value);
        for (size_t i = 0; i < m_place.at.size(); ++i)
            if (m_place.at[i] < 0 || m_place.at[i] >= (i == 0 && part ? m_values.rows(tensor) : tensor.dim(i))) {
                issue.what = "has the shape " + shape + ": index " + std::to_string(m_place.at[i]) + " of axis "
                    + std::to_string(i) + " is out of bounds";
                issue.remedy = "count from 0";
                return issue;
            }
        return {};
    }

    /// The element, and what is behind it.
    Result<std::vector<std::shared_ptr<ElementExplanation>>> explain() const
    {
        std::vector<std::shared_ptr<ElementExplanation>> chain;
        ValueId value = m_place.value;
        Shape at = m_place.at;
        if (m_place.withinSample && !m_plan.constant(value) && !at.empty())
            at[0] += m_values.firstRow(m_values.of(value));
        int64_t element = elementOf(shape(), at);
        for (int i = 0; value.valid() && m_values.of(value).valid() && i <= kMostBehind; ++i) {
            QS_TRY(auto e, explainOne(value, element));
            chain.push_back(e);
            value = behind(m_plan, value);
            std::optional<int64_t> from;
            forEachOperand(*e, [&](const Operand& operand) {
                if (e->sources[operand.source].value == value)
                    from = operand.element;
            });
            if (!from)
                break;
            element = *from;
        }
        noteOtherSample(*chain.front());
        return chain;
    }

private:
    /// A place in the whole batch may be another sample's than the one that was asked for.
    void noteOtherSample(ElementExplanation& e) const
    {
        const Tensor& tensor = m_values.of(m_place.value);
        const size_t samples = m_values.samples(), first = m_values.firstSample();
        const int64_t row = m_values.firstRow(tensor), rows = m_values.rows(tensor);
        if (m_place.withinSample || m_plan.constant(m_place.value) || samples < 2 || m_place.at.empty()
            || rows == tensor.dim(0) || (m_place.at[0] >= row && m_place.at[0] < row + rows))
            return;
        const std::string index = rows == 1
            ? "at index " + std::to_string(row)
            : "at the indices " + std::to_string(row) + " to " + std::to_string(row + rows - 1);
        e.addNote("samples " + std::to_string(first) + " to " + std::to_string(first + samples - 1)
            + " are run together and the place is one in all of them: if axis 0 is the batch, sample "
            + std::to_string(m_place.sample) + " is " + index + " of it");
    }

    const Shape& shape() const { return m_values.of(m_place.value).shape(); }

    Result<std::shared_ptr<ElementExplanation>> explainOne(ValueId value, int64_t element) const
    {
        auto e = std::make_shared<ElementExplanation>();
        const Tensor& tensor = m_values.of(value);
        e->tensor = m_plan.graph().value(value).name;
        e->value = value;
        e->shape = tensor.shape();
        e->at = placeOf(e->shape, element);
        e->dtype = tensor.dtype();
        e->profile = m_model.profile;
        e->stored = e->real = elementAsDouble(tensor, element);
        if (isInteger(tensor.dtype()) && dtypeBits(tensor.dtype()) == 64)
            e->whole = elementAsInt(tensor, element);
        QS_CHECK(fill(value, element, *e));
        finishCodes(value, element, *e);
        keepUsedSources(*e);
        return e;
    }

    void collect(ValueId value, std::vector<ValueId>& list) const
    {
        list.push_back(value);
        const NodeId id = m_plan.graph().value(value).producer;
        if (!id.valid())
            return;
        const FusedUnit* unit = unitOf(m_plan, value);
        const std::vector<ValueId>& inputs = unit ? unit->inputs : m_plan.graph().node(id).inputs;
        for (const ValueId in : inputs)
            if (in.valid()) {
                list.push_back(in);
                m_codes.collect(in, list);
            }
        m_codes.collect(value, list);
    }

    Status fill(ValueId value, int64_t element, ElementExplanation& e) const
    {
        const NodeId id = m_plan.graph().value(value).producer;
        if (!id.valid()) {
            e.note = m_plan.constant(value) ? "it is stored in the file" : "it is an input of the graph";
            return {};
        }
        const FusedUnit* unit = unitOf(m_plan, value);
        const Node& node = m_plan.graph().node(unit ? unit->node : id);
        e.nodeId = unit ? unit->node : id;
        e.node = node.name;
        e.opType = node.opType;
        e.domain = node.domain;
        if (node.is("Constant")) {
            e.note = "it is stored in the file";
            return {};
        }
        if (!unit)
            return fillNode(id, value, element, e);
        for (const NodeId member : unit->nodes)
            e.unitNodes.push_back(m_plan.graph().node(member).name);
        QS_TRY(const UnitRun run, UnitRun::make(*unit, m_plan.graph(), m_values));
        run.explain(element, e);
        return {};
    }

    Status fillNode(NodeId id, ValueId value, int64_t element, ElementExplanation& e) const
    {
        const Node& node = m_plan.graph().node(id);
        const auto slot = size_t(std::ranges::find(node.outputs, value) - node.outputs.begin());
        Operation op = operationOf(m_plan, id, slot, m_values);
        if (m_model.profile == ArithmeticProfile::IntegerAvx2)
            op.saturation = PairSaturation::AsTyped;
        for (size_t i = 0; i < op.inputs.size(); ++i) {
            OperandSource source;
            if (const ValueId in = node.inputs[i]; in.valid()) {
                source.name = m_plan.graph().value(in).name;
                source.value = in;
                source.constant = m_plan.constant(in) != nullptr;
            }
            source.operand = operandIndex(node, i);
            if (op.inputs[i].valid())
                source.shape = op.inputs[i].shape();
            e.sources.push_back(std::move(source));
        }
        explainOperation(op, element, e);
        return {};
    }

    /// Codes that the operator hands on keep the grid that the file gives them; operands get the codes behind them.
    void finishCodes(ValueId value, int64_t element, ElementExplanation& e) const
    {
        if (!e.code && isInteger(e.dtype) && dtypeBits(e.dtype) <= 16)
            if (const auto grid = m_codes.gridOf(value, element, m_values))
                setCode(e, elementAsInt(m_values.of(value), element), *grid);
        if (e.code && (e.relation == Relation::Copy || e.relation == Relation::Largest))
            e.kind = ElementExplanation::Kind::Integer;
        for (size_t i = 0; i < e.sources.size(); ++i)
            m_codes.add(i, m_values, e);
    }

    static void keepUsedSources(ElementExplanation& e)
    {
        const bool named = e.relation == Relation::None; // there the list is all that is known
        std::vector<size_t> places(e.sources.size(), SIZE_MAX);
        forEachOperand(e, [&](const Operand& operand) { places[operand.source] = 0; });
        std::vector<OperandSource> kept;
        for (size_t i = 0; i < e.sources.size(); ++i)
            if (places[i] != SIZE_MAX || (named && !e.sources[i].name.empty())) {
                places[i] = kept.size();
                kept.push_back(std::move(e.sources[i]));
            }
        e.sources = std::move(kept);
        forEachOperand(e, [&](Operand& operand) { operand.source = places[operand.source]; });
    }

    const ExplainedModel& m_model;
    const Plan& m_plan;
    OperandCodes m_codes;
    const ElementAt& m_place;
    SampleValues m_values;
};

} // namespace

Result<ElementExplanation> explainElement(
    const ExplainedModel& model, const ElementAt& place, const SampleRuns& runs, const WorkContext& work)
{
    Explainer explainer(model, place);
    QS_CHECK(explainer.check());
    QS_CHECK(explainer.read(runs, work));
    QS_CHECK(explainer.checkPlace());
    QS_TRY(const auto chain, explainer.explain());
    if (model.pair) {
        SampleRuns floatRuns = runs;
        floatRuns.activations = model.floatActivations;
        QS_CHECK(addDifferences(*model.pair, floatRuns, place.sample, work, chain));
    }
    if (work.cancel.cancelled())
        return cancelled();
    for (size_t i = chain.size(); i-- > 1;)
        chain[i - 1]->behind = chain[i];
    return *chain[0];
}

} // namespace qs
