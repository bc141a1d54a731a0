// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/blame/value_cuts.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

bool isReal(const Plan& plan, ValueId id) { return isFloat(plan.facts().of(id).dtype); }

/// Values of a graph that an output depends on.
std::vector<bool> valuesBehind(const Plan& plan, ValueId output)
{
    std::vector<bool> found(plan.graph().values().size(), false);
    std::vector<ValueId> open { output };
    while (!open.empty()) {
        const ValueId id = open.back();
        open.pop_back();
        if (!id.valid() || plan.constant(id) || found[id.index()])
            continue;
        found[id.index()] = true;
        const NodeId producer = plan.graph().value(id).producer;
        if (!producer.valid())
            continue;
        const Node& node = plan.graph().node(producer);
        open.insert(open.end(), node.inputs.begin(), node.inputs.end());
        open.insert(open.end(), node.captures.begin(), node.captures.end());
    }
    return found;
}

/// Floating-point values of both that can take each other's place, by float value.
std::map<ValueId, ValueId> exchangeable(const ComparePair& pair, ValueId x, ValueId y)
{
    const std::vector<bool> forX = valuesBehind(*pair.floatPlan, x), forY = valuesBehind(*pair.quantPlan, y);
    const auto usable = [](const Plan& plan, ValueId id, const std::vector<bool>& behind) {
        return behind[id.index()] && isReal(plan, id) && !plan.hidden(id) && !plan.constant(id) && !plan.blocked(id)
            && plan.graph().value(id).producer.valid();
    };
    std::map<ValueId, ValueId> found;
    for (const ValuePair& values : pair.alignment->values)
        if (!values.unrounded.valid() && usable(*pair.floatPlan, values.floatValue, forX)
            && usable(*pair.quantPlan, values.quantValue, forY))
            found.emplace(values.floatValue, values.quantValue);
    return found;
}

/// The tasks of a schedule as they hang together.
class TaskGraph {
public:
    explicit TaskGraph(const Schedule& schedule)
        : m_schedule(schedule)
    {
        for (size_t t = 0; t < schedule.tasks().size(); ++t)
            for (const ValueId out : schedule.tasks()[t].outputs)
                if (out.valid())
                    m_makers[out] = t;
    }

    /// Tasks that these values depend on; what is behind `given` is not followed.
    std::set<size_t> behind(std::vector<ValueId> open, const std::set<ValueId>& given) const
    {
        std::set<size_t> tasks;
        while (!open.empty()) {
            const ValueId id = open.back();
            open.pop_back();
            const auto maker = id.valid() && !given.contains(id) ? m_makers.find(id) : m_makers.end();
            if (maker == m_makers.end() || !tasks.insert(maker->second).second)
                continue;
            const Schedule::Task& task = m_schedule.tasks()[maker->second];
            open.insert(open.end(), task.inputs.begin(), task.inputs.end());
            open.insert(open.end(), task.captures.begin(), task.captures.end());
        }
        return tasks;
    }

    /// It reads or makes real numbers that depend on the inputs.
    bool computes(size_t task) const
    {
        const Plan& plan = m_schedule.plan();
        const auto real = [&](ValueId id) { return id.valid() && !plan.constant(id) && isReal(plan, id); };
        const Schedule::Task& t = m_schedule.tasks()[task];
        return std::ranges::any_of(t.inputs, real) || std::ranges::any_of(t.outputs, real);
    }

private:
    const Schedule& m_schedule;
    std::map<ValueId, size_t> m_makers;
};

/// Whether the quantized model falls into two parts there, too.
bool cuts(const TaskGraph& graph, const ValueCut& cut, ValueId output)
{
    std::vector<ValueId> given;
    for (const auto& [x, y] : cut.values)
        given.push_back(y);
    const std::set<size_t> before = graph.behind(given, {});
    const std::set<size_t> after = graph.behind({ output }, { given.begin(), given.end() });
    return std::ranges::none_of(after, [&](size_t task) { return before.contains(task) && graph.computes(task); });
}

/// By value that a task of the float model makes: the last task that reads it.
std::map<ValueId, size_t> lastReaders(const Schedule& schedule, ValueId output)
{
    std::map<ValueId, size_t> last;
    const auto& tasks = schedule.tasks();
    for (size_t t = 0; t < tasks.size(); ++t)
        for (const auto list : { tasks[t].inputs, tasks[t].captures })
            for (const ValueId id : list)
                if (id.valid())
                    last[id] = t;
    last[output] = tasks.size();
    return last;
}

std::shared_ptr<const Schedule>& scheduleOf(CutModels& models, bool quantized)
{
    return quantized ? models.quantSchedule : models.floatSchedule;
}

} // namespace

Result<CutModels> cutModels(const ComparePair& pair, ValueId x, ValueId y)
{
    CutModels models;
    models.partners = exchangeable(pair, x, y);
    for (const bool quantized : { false, true }) {
        Demand demand { { quantized ? y : x }, {} };
        for (const auto& [a, b] : models.partners)
            demand.values.push_back(quantized ? b : a);
        QS_TRY(scheduleOf(models, quantized),
            Schedule::make(quantized ? pair.quantPlan : pair.floatPlan, std::move(demand)));
    }
    const Schedule& schedule = *models.floatSchedule;
    const std::map<ValueId, size_t> last = lastReaders(schedule, x);
    const TaskGraph quantGraph(*models.quantSchedule);
    std::set<ValueId> open; // made so far, and read later
    for (size_t t = 0; t + 1 < schedule.tasks().size(); ++t) {
        for (const ValueId out : schedule.tasks()[t].outputs)
            if (const auto reader = last.find(out); out.valid() && reader != last.end() && reader->second > t)
                open.insert(out);
        std::erase_if(open, [&](ValueId id) { return last.at(id) <= t; });
        ValueCut cut { t + 1, {} };
        bool whole = true;
        for (const ValueId id : open) {
            const auto partner = models.partners.find(id);
            if (partner != models.partners.end())
                cut.values.emplace_back(id, partner->second);
            else
                whole &= !isReal(*pair.floatPlan, id);
        }
        if (whole && !cut.values.empty() && cuts(quantGraph, cut, y))
            models.cuts.push_back(std::move(cut));
    }
    return models;
}

} // namespace qs
