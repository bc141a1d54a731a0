// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/proved_preparation.h"

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/bypass/network_run.h"
#include "core/base/issue_text.h"
#include "core/quant/recipe/recipe_options.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

/// Outputs of a model: by sample, by output.
using Outputs = std::vector<std::vector<Tensor>>;

class OutputRuns {
public:
    OutputRuns(const DataSource& data, const WorkContext& work)
        : m_data(data)
        , m_work(work)
        , m_feeds(std::min(data.feeds(), kProofSamples))
    {
    }
    size_t samples() const { return m_feeds * (m_data.feeds() > 0 ? m_data.samples() / m_data.feeds() : 1); }

    Result<Outputs> of(const GraphDraft& draft) const
    {
        QS_TRY(const auto model, draft.build());
        const auto plan = Plan::make(model);
        std::vector<ValueId> wanted;
        for (const ValueId out : model->graph.outputs())
            if (plan->container(out).empty())
                wanted.push_back(out);
        Outputs all;
        for (size_t i = 0; i < m_feeds; ++i) {
            QS_TRY(const Feed feed, m_data.feed(i));
            QS_TRY(std::vector<Tensor> outputs, runNetwork(plan, plan, wanted, feed.inputs, m_work));
            for (Tensor& output : outputs)
                output = toPlain(output);
            all.push_back(std::move(outputs));
        }
        return all;
    }

private:
    const DataSource& m_data;
    const WorkContext& m_work;
    const size_t m_feeds;
};

double distanceOf(const Tensor& x, const Tensor& y)
{
    if (x.shape() != y.shape() || x.dtype() != y.dtype())
        return HUGE_VAL;
    return x.dtype() == DType::String ? 0 : relativeDistance(toFloats(x), toFloats(y));
}

double distanceOf(const Outputs& x, const Outputs& y)
{
    double largest = 0;
    for (size_t s = 0; s < x.size(); ++s)
        for (size_t o = 0; o < x[s].size(); ++o)
            largest = std::max(largest, distanceOf(x[s][o], y[s][o]));
    return largest;
}

/// Nodes that only one of the drafts has: told apart by what they make and what they are.
std::vector<NamedNode> nodesBeside(const GraphDraft& these, const GraphDraft& others)
{
    const auto made = [](const DraftNode& n) { return n.hasOutput(0) ? n.outputs[0] : std::string(); };
    const auto key = [&](const DraftNode& n) { return n.domain + ' ' + n.opType + ' ' + made(n); };
    std::map<std::string, size_t> known;
    for (const DraftNode& node : others.nodes)
        ++known[key(node)];
    std::vector<NamedNode> beside;
    for (const DraftNode& node : these.nodes)
        if (auto& left = known[key(node)]; left > 0)
            --left;
        else
            beside.push_back({ node.name.empty() ? made(node) : node.name, node.opType });
    return beside;
}

class PassByPass {
public:
    PassByPass(GraphDraft draft, OutputRuns runs)
        : m_done { std::move(draft), {}, 0 }
        , m_runs(runs)
    {
    }

    Result<ProvedPreparation> run(const std::vector<std::string>& passes, const WorkContext& work)
    {
        QS_TRY(m_before, m_runs.of(m_done.draft));
        m_done.samples = m_runs.samples();
        for (const std::string& name : preparationPasses()) {
            if (std::ranges::find(passes, name) == passes.end())
                continue;
            work.tell(name, m_done.passes.size(), passes.size());
            QS_CHECK(step(name, work));
        }
        return std::move(m_done);
    }

private:
    Status step(const std::string& name, const WorkContext& work)
    {
        GraphDraft next = m_done.draft;
        ProvedPass pass;
        pass.nodesBefore = pass.nodesAfter = next.nodes.size();
        QS_TRY(pass.report, runPreparationPass(name, next));
        if (pass.report.changes > 0) {
            pass.removed = nodesBeside(m_done.draft, next);
            pass.added = nodesBeside(next, m_done.draft);
            auto after = m_runs.of(next);
            if (work.cancel.cancelled())
                return cancelled();
            if (!after.ok() && after.issue().kind == IssueKind::NoMemory)
                return std::move(after).issue(); // says nothing of the pass
            if (after.ok())
                pass.distance = distanceOf(m_before, *after);
            pass.undone = !after.ok() || *pass.distance > kSameNetwork;
            if (!after.ok())
                pass.reason = issueText(after.issue());
            else if (pass.undone)
                pass.reason = fmt::format("an output moved by {:.2g} of its size", *pass.distance);
            if (!pass.undone) {
                m_done.draft = std::move(next);
                m_before = std::move(*after);
            }
        }
        pass.nodesAfter = m_done.draft.nodes.size();
        m_done.passes.push_back(std::move(pass));
        return {};
    }

    ProvedPreparation m_done;
    const OutputRuns m_runs;
    Outputs m_before;
};

} // namespace

std::vector<std::string> usualPreparation()
{
    const Recipe usual = quantscopeRecipe();
    std::vector<std::string> passes;
    for (const RecipeOption& pass : passOptions()) {
        const std::string name(pass.key());
        if ((pass.value.get(usual) == RecipeValue(true) && name != "keep_attention") || name == "fuse_gemm")
            passes.push_back(name);
    }
    return passes;
}

Result<ProvedPreparation> provedPreparation(const std::shared_ptr<const Model>& model,
    const std::vector<std::string>& passes, const DataSource& data, const WorkContext& work)
{
    if (data.feeds() == 0)
        return badInput("there are no samples to prove the preparation on", {}, "give at least one sample");
    return PassByPass(GraphDraft(model), OutputRuns(data, work)).run(passes, work);
}

} // namespace qs
