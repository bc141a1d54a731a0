// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/expand_bodies.h"

#include "core/base/work/cancel_scope.h"
#include "core/engine/plan/plan.h"
#include "core/prepare/needed_nodes.h"
#include "core/prepare/unrolled_loop.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int kDeepest = 100; ///< subgraphs in subgraphs

bool hasBody(const DraftNode& node, bool loops)
{
    return node.is("If") || (loops && (node.is("Loop") || node.is("Scan")));
}

/// "its condition depends on the input 'sr' and on the sizes of 'x'"
std::string dependsText(const std::string& what, const InputsBehind& behind)
{
    const auto list = [](const std::set<std::string>& names) {
        std::string text;
        for (const std::string& name : names)
            text += (text.empty() ? "'" : ", '") + name + "'";
        return text;
    };
    if (behind.values.empty() && behind.shapes.empty())
        return what + " is computed while the model runs";
    const std::string values = behind.values.empty() ? "" : "what " + list(behind.values) + " holds";
    const std::string sizes = behind.shapes.empty() ? "" : "the size of " + list(behind.shapes);
    return what + " depends on " + values + (values.empty() || sizes.empty() ? "" : " and ") + sizes;
}

/// What follows from constants, and from sizes that are known; null where nothing is known of the value.
const Tensor* knownValue(const Plan& plan, ValueId id)
{
    if (const Tensor* constant = plan.constant(id))
        return constant;
    const auto& value = plan.facts().of(id).value;
    return value ? &*value : nullptr;
}

/// Takes nodes away whose outputs are known, which become constants; how many.
size_t takeKnown(GraphDraft& draft, const Plan& plan)
{
    constexpr size_t kLargest = size_t(1) << 20; // conditions and numbers of iterations follow from less
    return std::erase_if(draft.nodes, [&](const DraftNode& node) {
        std::vector<const Tensor*> made;
        for (const std::string& out : node.outputs) {
            const ValueId id = draft.isOutput(out) ? ValueId() : plan.graph().findValue(out);
            made.push_back(id.valid() ? knownValue(plan, id) : nullptr);
            if (!made.back() || made.back()->byteCount() > kLargest)
                return false;
        }
        for (size_t i = 0; i < made.size(); ++i)
            draft.setConstant(node.outputs[i], *made[i]);
        return !made.empty();
    });
}

class Expander {
public:
    Expander(GraphDraft& draft, const KnownInputs& known, const ExpandOptions& options)
        : m_draft(draft)
        , m_known(known)
        , m_options(options)
    {
    }

    Result<Expansion> run()
    {
        const auto any = [&] {
            return std::ranges::any_of(
                m_draft.nodes, [&](const DraftNode& node) { return hasBody(node, m_options.loops); });
        };
        if (!any())
            return std::move(m_made);
        const std::set<std::string> idle = idleValues();
        for (int depth = 0; any() && depth < kDeepest; ++depth) {
            if (stopAsked())
                return cancelled();
            QS_TRY(const bool changed, round());
            if (!changed)
                break;
        }
        if (m_made.branches + m_made.loops > 0)
            dropIdle(idle);
        return std::move(m_made);
    }

private:
    /// What no output depends on.
    std::set<std::string> idleValues() const
    {
        std::set<std::string> idle;
        const std::vector<bool> needed = neededNodes(m_draft);
        for (size_t n = 0; n < needed.size(); ++n)
            if (!needed[n])
                idle.insert(m_draft.nodes[n].outputs.begin(), m_draft.nodes[n].outputs.end());
        return idle;
    }
    /// What computed conditions and numbers of iterations goes, but for what was idle before.
    void dropIdle(const std::set<std::string>& before)
    {
        const std::set<std::string> now = idleValues();
        std::erase_if(m_draft.nodes, [&](const DraftNode& node) {
            return std::ranges::all_of(
                node.outputs, [&](const std::string& out) { return now.contains(out) && !before.contains(out); });
        });
        m_draft.noteCaptures();
    }

    /// Nodes of the main graph, not those that come with them.
    Result<bool> round()
    {
        QS_TRY(m_plan, planOfKnown(m_draft, m_known, m_lowered));
        m_made.kept.clear();
        FreeNames names(m_draft);
        std::vector<DraftNode> nodes;
        BodyTarget target { m_draft, names, nodes };
        bool changed = false;
        for (const DraftNode& node : std::vector(m_draft.nodes)) {
            bool expanded = false;
            if (node.is("If")) {
                QS_TRY(expanded, branch(node, target));
            } else if (hasBody(node, m_options.loops)) {
                QS_TRY(expanded, loop(node, target));
            }
            changed |= expanded;
            if (!expanded)
                nodes.push_back(node);
        }
        if (changed) {
            m_draft.nodes = std::move(nodes);
            m_draft.noteCaptures();
        }
        return changed;
    }

    Result<bool> branch(const DraftNode& node, BodyTarget& target)
    {
        const Tensor* condition = node.hasInput(0) ? constant(node.inputs[0]) : nullptr;
        if (!condition || condition->dtype() != DType::Bool || condition->count() != 1)
            return keep(node, dependsText("its condition", behind(node, { 0 })));
        const std::string taken = elementAsInt(*condition, 0) != 0 ? "then_branch" : "else_branch";
        const auto* body = node.attributes.get<std::shared_ptr<const Graph>>(taken);
        if (!body || !*body || (*body)->outputs().size() < node.outputs.size())
            return keep(node, "its " + taken + " has fewer outputs than the node");
        note(node, { 0 });
        if (const InputsBehind inputs = behind(node, { 0 }); !inputs.values.empty() || !inputs.shapes.empty())
            m_made.untaken.push_back({ node.name, taken == "else_branch", nullptr });
        target.way = wayOutOf(node, Derivation::Kind::Branch);
        NewNames names;
        nameOutputs(**body, 0, node.outputs, names);
        copyConstants(**body, names, target);
        for (const Node& inner : (*body)->nodes())
            QS_CHECK(copyNode(**body, inner, "", names, target));
        finishOutputs(**body, 0, node.outputs, node.name, names, target);
        ++m_made.branches;
        return true;
    }

    Result<bool> loop(const DraftNode& node, BodyTarget& target)
    {
        const LoopShape shape = loopShape(node, *m_plan);
        if (!shape.reason.empty())
            return keep(node,
                shape.known ? shape.reason : dependsText(shape.reason, behind(node, shape.follows, shape.bySize)));
        if (shape.trips > m_options.mostIterations)
            return keep(node,
                "it runs " + std::to_string(shape.trips) + " times, and more than "
                    + std::to_string(m_options.mostIterations) + " are not looked at one by one");
        const size_t before = target.nodes.size();
        const size_t added = static_cast<size_t>(shape.trips) * shape.body->nodes().size();
        if (m_added + added > m_options.mostNodes)
            return keep(node,
                "its iterations would make " + std::to_string(added) + " nodes, and no more than "
                    + std::to_string(m_options.mostNodes) + " are added");
        note(node, shape.follows, shape.bySize);
        QS_CHECK(unrollLoop(node, shape, target, m_made.values));
        m_added += target.nodes.size() - before;
        ++m_made.loops;
        return true;
    }

    const Tensor* constant(const std::string& name) const
    {
        const ValueId id = m_plan->graph().findValue(name);
        return id.valid() ? m_plan->constant(id) : nullptr;
    }
    InputsBehind behind(const DraftNode& node, const std::vector<size_t>& slots, bool bySize = false) const
    {
        InputsBehind all;
        for (size_t slot : slots)
            if (node.hasInput(slot)) {
                InputsBehind one = inputsBehind(m_draft, node.inputs[slot], bySize);
                all.values.merge(one.values);
                all.shapes.merge(one.shapes);
            }
        return all;
    }
    void note(const DraftNode& node, const std::vector<size_t>& slots, bool bySize = false)
    {
        InputsBehind some = behind(node, slots, bySize);
        m_made.behind.values.merge(some.values);
        m_made.behind.shapes.merge(some.shapes);
    }
    bool keep(const DraftNode& node, std::string reason)
    {
        m_made.kept.push_back({ node.name, node.opType, std::move(reason) });
        return false;
    }

    GraphDraft& m_draft;
    const KnownInputs& m_known;
    const ExpandOptions& m_options;
    std::shared_ptr<LoweringCache> m_lowered = std::make_shared<LoweringCache>();
    std::shared_ptr<const Plan> m_plan; ///< of the last round, known inputs being constants
    Expansion m_made;
    size_t m_added = 0;
};

} // namespace

Result<std::shared_ptr<const Plan>> planOfKnown(
    const GraphDraft& draft, const KnownInputs& known, const std::shared_ptr<LoweringCache>& lowered)
{
    QS_TRY(GraphDraft fixed, withKnownInputs(draft, known));
    std::shared_ptr<const Plan> plan;
    constexpr int kTurns = 8; // sizes follow from constants and constants from sizes
    for (int turn = 0; turn < kTurns; ++turn) {
        QS_TRY(const auto model, fixed.build());
        plan = Plan::make(model, { KernelMode::Fast, ArithmeticProfile::Simulated, lowered });
        if (stopAsked())
            return cancelled();
        if (takeKnown(fixed, *plan) == 0)
            break;
    }
    return plan;
}

Result<Expansion> expandBodies(GraphDraft& draft, const KnownInputs& known, const ExpandOptions& options)
{
    return Expander(draft, known, options).run();
}

} // namespace qs
