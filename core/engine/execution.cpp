// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/execution.h"

#include <algorithm>
#include <exception>
#include <new>

namespace qs {

Result<std::shared_ptr<const Schedule>> Schedule::make(std::shared_ptr<const Plan> plan, Demand demand)
{
    auto schedule = std::make_shared<Schedule>();
    const Graph& graph = plan->graph();
    std::vector<bool> needed(graph.nodes().size(), false);
    schedule->m_reads.assign(graph.values().size(), 0);
    schedule->m_unrounded.assign(graph.nodes().size(), false);
    for (ValueId id : demand.values) {
        if (const Issue* issue = plan->blocked(id))
            return *issue;
        ++schedule->m_reads[id.index()];
        if (const NodeId producer = graph.value(id).producer; producer.valid())
            needed[producer.index()] = true;
    }
    for (NodeId id : demand.unrounded) {
        if (const auto& issue = plan->step(id).blocked)
            return *issue;
        needed[id.index()] = true;
        schedule->m_unrounded[id.index()] = true;
    }
    for (size_t n = graph.nodes().size(); n-- > 0;) {
        if (!needed[n])
            continue;
        if (plan->step(NodeId(n)).folded && !schedule->m_unrounded[n]) {
            needed[n] = false;
            continue;
        }
        for (ValueId in : graph.nodes()[n].inputs)
            if (in.valid() && !plan->constant(in)) {
                ++schedule->m_reads[in.index()];
                if (const NodeId producer = graph.value(in).producer; producer.valid())
                    needed[producer.index()] = true;
            }
    }
    for (size_t n = 0; n < needed.size(); ++n)
        if (needed[n])
            schedule->m_order.emplace_back(n);
    schedule->m_plan = std::move(plan);
    schedule->m_demand = std::move(demand);
    return std::shared_ptr<const Schedule>(std::move(schedule));
}

uint64_t Schedule::estimatedPeakBytes() const
{
    const Graph& graph = m_plan->graph();
    auto bytesOf = [&](ValueId id) -> uint64_t {
        const Fact& f = m_plan->facts().of(id);
        uint64_t count = 1;
        for (const Dim& d : f.dims.value_or(Dims {}))
            if (d.known() && __builtin_mul_overflow(count, static_cast<uint64_t>(d.value), &count))
                return UINT64_MAX / 4;
        if (count > UINT64_MAX / 64)
            return UINT64_MAX / 4;
        return storageBytes(f.dtype, count);
    };
    auto add = [](uint64_t a, uint64_t b) {
        return a > UINT64_MAX / 2 - std::min(b, UINT64_MAX / 2) ? UINT64_MAX / 2 : a + b;
    };
    std::vector<uint32_t> reads = m_reads;
    uint64_t live = 0, peak = 0;
    for (ValueId in : graph.inputs())
        live = add(live, bytesOf(in));
    for (NodeId id : m_order) {
        const Node& node = graph.node(id);
        for (ValueId out : node.outputs)
            if (out.valid())
                live = add(live, bytesOf(out));
        peak = std::max(peak, live);
        for (ValueId in : node.inputs)
            if (in.valid() && !m_plan->constant(in) && reads[in.index()] > 0 && --reads[in.index()] == 0)
                live -= std::min(live, bytesOf(in));
        for (ValueId out : node.outputs)
            if (out.valid() && reads[out.index()] == 0)
                live -= std::min(live, bytesOf(out));
    }
    return peak;
}

Execution::Execution(std::shared_ptr<const Schedule> schedule, BufferPool& pool)
    : m_schedule(std::move(schedule))
    , m_pool(pool)
    , m_reads(m_schedule->m_reads)
    , m_values(m_schedule->plan().graph().values().size())
{
}

Status Execution::bind(std::span<const Tensor> inputs)
{
    const Plan& plan = m_schedule->plan();
    const Graph& graph = plan.graph();
    auto refuse = [&](ValueId id, std::string what, std::string remedy) -> Issue {
        return { IssueKind::BadInput, std::move(what), plan.model().path, {}, graph.value(id).name, std::move(remedy) };
    };
    if (inputs.size() != graph.inputs().size())
        return badInput(
            "needs " + std::to_string(graph.inputs().size()) + " inputs, got " + std::to_string(inputs.size()),
            plan.model().path);
    for (size_t i = 0; i < inputs.size(); ++i) {
        const ValueId id = graph.inputs()[i];
        const ValueType& type = graph.value(id).type;
        const Tensor& t = inputs[i];
        if (!t.valid())
            continue; // an input that nothing asked for
        if (type.dtype != DType::Undefined && type.dtype != t.dtype())
            return refuse(id,
                "the data are " + std::string(dtypeName(t.dtype())) + ", the input is "
                    + std::string(dtypeName(type.dtype)),
                "convert the data");
        bool fits = !type.dims || type.dims->size() == t.rank();
        for (size_t d = 0; fits && type.dims && d < t.rank(); ++d)
            fits = !(*type.dims)[d].known() || (*type.dims)[d].value == t.dim(d);
        if (!fits)
            return refuse(id,
                "the data have shape " + shapeText(t.shape()) + ", the input needs " + dimsText(*type.dims),
                "give data of that shape");
        if (m_reads[id.index()] > 0)
            m_values[id.index()] = t;
    }
    return {};
}

const Tensor* Execution::find(ValueId id) const
{
    const Tensor& t = m_values[id.index()];
    return t.valid() ? &t : m_schedule->plan().constant(id);
}

Status Execution::step()
{
    const Plan& plan = m_schedule->plan();
    const NodeId id = nextNode();
    const Node& node = plan.graph().node(id);
    const LoweredNode& lowered = *plan.step(id).lowered;
    m_inputs.assign(node.inputs.size(), nullptr);
    m_converted.assign(node.inputs.size(), Tensor());
    m_outputs.assign(node.outputs.size(), Tensor());
    auto located = [&](Issue issue) {
        if (issue.file.empty())
            issue.file = plan.model().path;
        if (issue.node.empty())
            issue.node = node.name;
        return issue;
    };
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i].valid())
            continue;
        const Tensor* t = find(node.inputs[i]);
        if (!t) {
            Issue issue = badInput("has no value", {}, "give data for every input of the model");
            issue.tensor = plan.graph().value(node.inputs[i]).name;
            return located(issue);
        }
        if (lowered.layouts == LayoutRule::Plain && t->layout() != Layout::Plain) {
            m_converted[i] = m_pool.toLayout(*t, Layout::Plain);
            t = &m_converted[i];
        }
        m_inputs[i] = t;
    }
    StepContext context(m_inputs, m_outputs, m_pool);
    Tensor unroundedValue;
    const bool wantsUnrounded = m_schedule->m_unrounded[id.index()] && lowered.offersUnrounded;
    if (wantsUnrounded)
        context.askUnrounded(&unroundedValue);
    try {
        if (Status status = lowered.run(context); !status.ok())
            return located(std::move(status).issue());
    } catch (const std::bad_alloc&) {
        return located(badInput(
            "needs more memory than there is or the memory limit allows", {}, "use smaller inputs or fewer threads"));
    } catch (const AbsentInput& e) {
        return located(badInput(node.opType + ": " + e.what(), {}, "export the model again"));
    } catch (const std::exception& e) {
        return located(internalError(node.opType + " failed: " + e.what()));
    }
    if (wantsUnrounded)
        m_unrounded[id] = std::move(unroundedValue);
    m_inputs.clear();
    m_converted.clear();
    for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i].valid() && m_reads[node.outputs[i].index()] > 0)
            m_values[node.outputs[i].index()] = std::move(m_outputs[i]);
    m_outputs.clear();
    for (ValueId in : node.inputs)
        if (in.valid() && !plan.constant(in))
            consume(in);
    ++m_next;
    return {};
}

Status Execution::runAll(const CancelToken& cancel)
{
    while (!finished()) {
        if (cancel.cancelled())
            return cancelled();
        QS_CHECK(step());
    }
    return {};
}

bool Execution::has(ValueId id) const { return find(id) != nullptr; }
const Tensor& Execution::get(ValueId id) const { return *find(id); }

const Tensor& Execution::unrounded(NodeId id) const
{
    static const Tensor none;
    const auto it = m_unrounded.find(id);
    return it == m_unrounded.end() ? none : it->second;
}

void Execution::release(ValueId id)
{
    if (m_values[id.index()].valid())
        consume(id);
}

void Execution::consume(ValueId id)
{
    if (--m_reads[id.index()] == 0)
        m_values[id.index()] = Tensor();
}

} // namespace qs
