// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/execution.h"

#include <algorithm>
#include <exception>
#include <new>

namespace qs {

bool Schedule::usesUnit(const FusedUnit& unit) const
{
    if (unit.when == FusedUnit::When::Always)
        return true;
    // Consumers come later in node order, so a demand is all that can be unknown here.
    return std::ranges::none_of(unit.inner, [&](ValueId id) { return m_reads[id.index()] > 0; })
        && std::ranges::none_of(unit.nodes, [&](NodeId id) { return m_unrounded[id.index()]; });
}

Result<std::shared_ptr<const Schedule>> Schedule::make(std::shared_ptr<const Plan> plan, Demand demand)
{
    auto schedule = std::make_shared<Schedule>();
    const Graph& graph = plan->graph();
    std::vector<bool> needed(graph.nodes().size(), false);
    schedule->m_reads.assign(graph.values().size(), 0);
    schedule->m_unrounded.assign(graph.nodes().size(), false);
    auto read = [&](ValueId id) {
        if (!id.valid() || plan->constant(id))
            return;
        ++schedule->m_reads[id.index()];
        if (const NodeId producer = graph.value(id).producer; producer.valid())
            needed[producer.index()] = true;
    };
    for (ValueId id : demand.values) {
        if (const Issue* issue = plan->blocked(id))
            return *issue;
        if (plan->hidden(id)) {
            Issue issue = badInput("lies inside a fused integer unit and is not computed", plan->model().path,
                "ask for the codes at the unit's border, or use simulated arithmetic");
            issue.tensor = graph.value(id).name;
            return issue;
        }
        if (plan->constant(id))
            ++schedule->m_reads[id.index()];
        read(id);
    }
    for (NodeId id : demand.unrounded) {
        if (const auto& issue = plan->step(id).blocked)
            return *issue;
        needed[id.index()] = true;
        schedule->m_unrounded[id.index()] = true;
    }
    for (size_t n = graph.nodes().size(); n-- > 0;) {
        const Plan::Step& step = plan->step(NodeId(n));
        if (!needed[n] || (step.folded && !schedule->m_unrounded[n]))
            continue;
        const Node& node = graph.nodes()[n];
        Task task { NodeId(n), NodeId(n), step.lowered.get(), node.inputs, step.captures, node.outputs };
        if (const FusedUnit* unit = plan->unit(NodeId(n)); unit && schedule->usesUnit(*unit)) {
            task.node = unit->node;
            task.lowered = &unit->lowered;
            task.inputs = unit->inputs;
        }
        std::ranges::for_each(task.inputs, read);
        std::ranges::for_each(task.captures, read);
        schedule->m_tasks.push_back(task);
    }
    std::ranges::reverse(schedule->m_tasks);
    schedule->m_plan = std::move(plan);
    schedule->m_demand = std::move(demand);
    return std::shared_ptr<const Schedule>(std::move(schedule));
}

namespace {

/// From inference; unknown sizes count as 1, what no memory holds as UINT64_MAX / 4.
uint64_t factBytes(const Fact& fact)
{
    uint64_t count = 1;
    for (const Dim& d : fact.dims.value_or(Dims {}))
        if (d.known() && __builtin_mul_overflow(count, static_cast<uint64_t>(d.value), &count))
            return UINT64_MAX / 4;
    return count > UINT64_MAX / 64 ? UINT64_MAX / 4 : storageBytes(fact.dtype, count);
}

uint64_t addBytes(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX / 2 - std::min(b, UINT64_MAX / 2) ? UINT64_MAX / 2 : a + b;
}

} // namespace

bool Schedule::keeps(const Task& task, CacheUse use) const
{
    return use == CacheUse::FindAndKeep
        || (use == CacheUse::FindAndKeepCodes && m_plan->graph().node(task.last).opType != "DequantizeLinear");
}

uint64_t Schedule::estimatedKeptBytes(CacheUse use) const
{
    uint64_t bytes = 0;
    for (const Task& task : m_tasks)
        for (const ValueId out : task.outputs)
            if (out.valid() && reads(out) && keeps(task, use))
                bytes = addBytes(bytes, factBytes(m_plan->facts().of(out)));
    return bytes;
}

uint64_t Schedule::estimatedPeakBytes() const
{
    const Graph& graph = m_plan->graph();
    const auto bytesOf = [&](ValueId id) { return factBytes(m_plan->facts().of(id)); };
    // A float result that its unit turns into codes is there while the unit runs.
    const auto withinBytes = [&](const Task& task) {
        const FusedUnit* unit = task.node == task.last ? nullptr : m_plan->unit(task.last);
        const bool codes
            = unit && unit->when == FusedUnit::When::Unobserved && graph.node(task.last).opType == "QuantizeLinear";
        return codes ? bytesOf(graph.node(task.last).inputs[0]) : 0;
    };
    std::vector<uint32_t> reads = m_reads;
    uint64_t live = 0, peak = 0;
    for (ValueId in : graph.inputs())
        live = addBytes(live, bytesOf(in));
    for (const Task& task : m_tasks) {
        for (ValueId out : task.outputs)
            if (out.valid())
                live = addBytes(live, bytesOf(out));
        peak = std::max(peak, addBytes(live, withinBytes(task)));
        for (auto list : { task.inputs, task.captures })
            for (ValueId in : list)
                if (in.valid() && !m_plan->constant(in) && reads[in.index()] > 0 && --reads[in.index()] == 0)
                    live -= std::min(live, bytesOf(in));
        for (ValueId out : task.outputs)
            if (out.valid() && reads[out.index()] == 0)
                live -= std::min(live, bytesOf(out));
    }
    return peak;
}

uint64_t Schedule::constantBytes() const
{
    std::vector<bool> seen(m_plan->graph().values().size(), false);
    uint64_t bytes = 0;
    for (const Task& task : m_tasks)
        for (ValueId in : task.inputs)
            if (const Tensor* t = in.valid() && !seen[in.index()] ? m_plan->constant(in) : nullptr) {
                seen[in.index()] = true;
                bytes += t->byteCount();
            }
    return bytes;
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

void Execution::set(ValueId id, Tensor value)
{
    if (m_reads[id.index()] > 0)
        m_values[id.index()] = std::move(value);
}

void Execution::useCache(ActivationCache& cache, Hash128 sample, CacheUse use)
{
    m_cache = use == CacheUse::Find ? nullptr : &cache;
    m_use = use;
    m_sample = sample;
    const Plan& plan = m_schedule->plan();
    const auto& tasks = m_schedule->tasks();
    m_passedOver.assign(tasks.size(), false);
    for (size_t t = tasks.size(); t-- > 0;) {
        const Schedule::Task& task = tasks[t];
        bool needed = m_schedule->m_unrounded[task.last.index()] || task.lowered->countsPairs;
        for (ValueId out : task.outputs)
            if (out.valid() && m_reads[out.index()] > 0 && !needed) {
                const Hash128* key = plan.key(out);
                Tensor known = key ? cache.find(*key, sample) : Tensor();
                needed = !known.valid();
                m_values[out.index()] = std::move(known);
            }
        if (needed)
            continue;
        m_passedOver[t] = true;
        for (auto list : { task.inputs, task.captures })
            for (ValueId in : list)
                if (in.valid() && !plan.constant(in))
                    consume(in);
    }
}

const Tensor* Execution::find(ValueId id) const
{
    const Tensor& t = m_values[id.index()];
    return t.valid() ? &t : m_schedule->plan().constant(id);
}

Issue Execution::located(const Schedule::Task& task, Issue issue) const
{
    const Plan& plan = m_schedule->plan();
    if (issue.file.empty())
        issue.file = plan.model().path;
    if (issue.node.empty())
        issue.node = plan.graph().node(task.node).name;
    return issue;
}

Status Execution::gather(const Schedule::Task& task)
{
    auto absent = [&](ValueId id) {
        Issue issue = badInput("has no value", {}, "give data for every input of the model");
        issue.tensor = m_schedule->plan().graph().value(id).name;
        return located(task, issue);
    };
    m_inputs.assign(task.inputs.size(), nullptr);
    m_converted.assign(task.inputs.size() + task.captures.size(), Tensor());
    m_captures.clear();
    auto plain = [&](const Tensor* t, size_t slot) {
        if (task.lowered->layouts != LayoutRule::Plain || t->layout() == Layout::Plain)
            return t;
        m_converted[slot] = m_pool.toLayout(*t, Layout::Plain);
        return static_cast<const Tensor*>(&m_converted[slot]);
    };
    for (size_t i = 0; i < task.inputs.size(); ++i) {
        if (!task.inputs[i].valid())
            continue;
        const Tensor* t = find(task.inputs[i]);
        if (!t)
            return absent(task.inputs[i]);
        if (isContainer(t->dtype()) && !task.lowered->takesContainers) {
            const Graph& graph = m_schedule->plan().graph();
            return located(task, containerRefused(graph.node(task.node), graph.value(task.inputs[i]).name, t->dtype()));
        }
        m_inputs[i] = plain(t, i);
    }
    for (ValueId id : task.captures) {
        const Tensor* t = id.valid() ? find(id) : nullptr;
        if (!t && id.valid())
            return absent(id);
        m_captures.push_back(t ? plain(t, task.inputs.size() + m_captures.size()) : nullptr);
    }
    return {};
}

/// Inputs that nodes made (what is bound may be somebody's) and that this task reads once and as the last one.
std::vector<bool> Execution::lastUses(const Schedule::Task& task) const
{
    std::vector<bool> last(task.inputs.size(), false);
    for (size_t i = 0; i < task.inputs.size(); ++i) {
        const ValueId id = task.inputs[i];
        last[i] = id.valid() && m_reads[id.index()] == 1 && m_inputs[i] == &m_values[id.index()]
            && m_schedule->plan().graph().value(id).producer.valid();
    }
    return last;
}

Status Execution::run(const Schedule::Task& task, const CancelToken* cancel)
{
    const std::string& type = m_schedule->plan().graph().node(task.node).opType;
    StepContext context(m_inputs, m_outputs, m_pool, m_captures, cancel);
    context.useTeam(m_team);
    if (task.lowered->replaces)
        context.tellLastUses(lastUses(task));
    Tensor unroundedValue;
    const bool wantsUnrounded = m_schedule->m_unrounded[task.last.index()] && task.lowered->offersUnrounded;
    if (wantsUnrounded)
        context.askUnrounded(&unroundedValue);
    if (task.lowered->countsPairs)
        context.askPairCounts(&m_pairCounts[task.last]);
    try {
        if (Status status = task.lowered->run(context); !status.ok())
            return located(task, std::move(status).issue());
    } catch (const TensorTooLarge&) {
        return located(task,
            noMemory("needs more memory than there is or the memory limit allows", {},
                "use smaller inputs or fewer threads"));
    } catch (const std::bad_alloc&) {
        throw; // whoever started the work ends it; a node that fails would be a fact about the model
    } catch (const MalformedNode& e) {
        return located(task, badInput(type + ": " + e.what(), {}, "export the model again"));
    } catch (const std::exception& e) {
        return located(task, internalError(type + " failed: " + e.what()));
    }
    if (wantsUnrounded)
        m_unrounded[task.last] = std::move(unroundedValue);
    return {};
}

/// A file may name more outputs of a node than its operator has.
Issue Execution::noOutput(const Schedule::Task& task, size_t i) const
{
    const Graph& graph = m_schedule->plan().graph();
    Issue issue = badInput(graph.node(task.node).opType + ": it makes no output " + std::to_string(i), {},
        "export the model again without it");
    issue.tensor = graph.value(task.outputs[i]).name;
    return located(task, std::move(issue));
}

Status Execution::step(const CancelToken* cancel)
{
    const Schedule::Task& task = m_schedule->tasks()[m_next];
    if (!m_passedOver.empty() && m_passedOver[m_next]) {
        ++m_next;
        return {};
    }
    m_outputs.assign(task.outputs.size(), Tensor());
    const bool keeps = m_cache && m_schedule->keeps(task, m_use);
    QS_CHECK(gather(task));
    QS_CHECK(run(task, cancel));
    if (cancel && cancel->cancelled())
        return cancelled();
    m_inputs.clear();
    m_captures.clear();
    m_converted.clear();
    for (size_t i = 0; i < task.outputs.size(); ++i) {
        const ValueId out = task.outputs[i];
        if (!out.valid() || m_reads[out.index()] == 0)
            continue;
        if (!m_outputs[i].valid())
            return noOutput(task, i);
        if (const Hash128* key = keeps ? m_schedule->plan().key(out) : nullptr; key)
            m_cache->keep(*key, m_sample, m_outputs[i]);
        m_values[out.index()] = std::move(m_outputs[i]);
    }
    m_outputs.clear();
    for (auto list : { task.inputs, task.captures })
        for (ValueId in : list)
            if (in.valid() && !m_schedule->plan().constant(in))
                consume(in);
    ++m_next;
    return {};
}

Status Execution::runAll(const CancelToken& cancel)
{
    while (!finished()) {
        if (cancel.cancelled())
            return cancelled();
        QS_CHECK(step(&cancel));
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
