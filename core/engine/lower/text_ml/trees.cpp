// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/text_ml/trees.h"
#include "core/engine/lower/text_ml/ml_parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

/// Ensembles of decision trees.
namespace qs {

namespace {

using Reals = std::vector<double>;
using Integers = std::vector<int64_t>;

/// Trees with what is made of their votes.
struct Ensemble {
    Trees trees;
    size_t features = 0; ///< that rows must have
    size_t targets = 1;
    VoteSum how = VoteSum::Sum;
    Reals base; ///< added to the sums, one a target; or empty
    ScoreTransform transform = ScoreTransform::None;
};

std::optional<TreeRule> ruleOf(const std::string& mode)
{
    static const std::map<std::string, TreeRule> rules { { "BRANCH_LEQ", TreeRule::AtMost },
        { "BRANCH_LT", TreeRule::Below }, { "BRANCH_GTE", TreeRule::AtLeast }, { "BRANCH_GT", TreeRule::Above },
        { "BRANCH_EQ", TreeRule::Equal }, { "BRANCH_NEQ", TreeRule::NotEqual }, { "LEAF", TreeRule::Leaf } };
    const auto it = rules.find(mode);
    return it == rules.end() ? std::nullopt : std::optional(it->second);
}

template <class List> typename List::value_type elementOr(const List& list, size_t i)
{
    return i < list.size() ? list[i] : typename List::value_type {};
}

/// Issue when a node is reached twice from the roots, which no tree allows, or one of the first `needed` not at all.
Status needTrees(const Trees& trees, size_t needed)
{
    std::vector<bool> reached(trees.nodes.size());
    std::vector<size_t> open = trees.roots;
    while (!open.empty()) {
        const size_t i = open.back();
        open.pop_back();
        if (reached[i])
            return badInput("its nodes form no trees: node " + std::to_string(i) + " is reached twice");
        reached[i] = true;
        const TreeNode& node = trees.nodes[i];
        if (node.rule != TreeRule::Leaf)
            open.push_back(node.whenTrue);
        if (node.rule != TreeRule::Leaf && node.whenFalse != node.whenTrue)
            open.push_back(node.whenFalse);
    }
    for (size_t i = 0; i < needed; ++i)
        if (!reached[i])
            return badInput("its nodes form no trees: no root leads to node " + std::to_string(i));
    return {};
}

/// Places of (tree, node) pairs.
using NodePlaces = std::map<std::pair<int64_t, int64_t>, size_t>;

Result<size_t> nodePlace(const NodePlaces& places, int64_t tree, int64_t node)
{
    const auto it = places.find({ tree, node });
    if (it == places.end())
        return badInput("tree " + std::to_string(tree) + " has no node " + std::to_string(node));
    return it->second;
}

/// The nodes of the operators that name nodes by tree and number.
Result<NodePlaces> readNodes(const Attributes& a, Ensemble& e)
{
    const Integers treeIds = integerList(a, "nodes_treeids"), ids = integerList(a, "nodes_nodeids");
    const Integers features = integerList(a, "nodes_featureids"), yes = integerList(a, "nodes_truenodeids"),
                   no = integerList(a, "nodes_falsenodeids"),
                   missing = integerList(a, "nodes_missing_value_tracks_true");
    const Reals values = realList(a, "nodes_values");
    const auto* modes = a.get<std::vector<std::string>>("nodes_modes");
    const size_t count = ids.size();
    if (!modes || treeIds.size() != count || modes->size() != count || features.size() != count || yes.size() != count
        || no.size() != count || values.size() != count)
        return badInput("its lists of nodes differ in length");
    NodePlaces places;
    for (size_t i = 0; i < count; ++i)
        places.emplace(std::pair(treeIds[i], ids[i]), i);
    if (places.size() != count)
        return badInput("a tree has two nodes of one number");
    std::vector<bool> isChild(count);
    for (size_t i = 0; i < count; ++i) {
        const auto rule = ruleOf((*modes)[i]);
        if (!rule || features[i] < 0)
            return badInput("node " + std::to_string(ids[i]) + " of tree " + std::to_string(treeIds[i])
                + (rule ? " has a negative feature" : " has the unknown mode " + (*modes)[i]));
        TreeNode node { *rule, elementOr(missing, i) != 0, static_cast<size_t>(features[i]), values[i] };
        if (*rule != TreeRule::Leaf) {
            QS_TRY(node.whenTrue, nodePlace(places, treeIds[i], yes[i]));
            QS_TRY(node.whenFalse, nodePlace(places, treeIds[i], no[i]));
            isChild[node.whenTrue] = isChild[node.whenFalse] = true;
            e.features = std::max(e.features, node.feature + 1);
        }
        e.trees.nodes.push_back(node);
    }
    for (size_t i = 0; i < count; ++i)
        if (!isChild[i])
            e.trees.roots.push_back(i);
    QS_CHECK(needTrees(e.trees, count));
    return places;
}

/// The votes of the leaves; lists called `what`_ids, `what`_nodeids, `what`_treeids, `what`_weights.
Status readVotes(const Attributes& a, const std::string& what, const NodePlaces& places, Ensemble& e)
{
    const Integers targets = integerList(a, what + "_ids"), nodes = integerList(a, what + "_nodeids"),
                   treeIds = integerList(a, what + "_treeids");
    const Reals weights = realList(a, what + "_weights");
    if (nodes.size() != targets.size() || treeIds.size() != targets.size() || weights.size() != targets.size())
        return badInput("its lists of leaves differ in length");
    std::map<size_t, std::vector<TreeVote>> byLeaf;
    for (size_t i = 0; i < targets.size(); ++i) {
        if (targets[i] < 0 || static_cast<size_t>(targets[i]) >= e.targets)
            return badInput(
                "a leaf speaks of target " + std::to_string(targets[i]) + " of " + std::to_string(e.targets));
        QS_TRY(const size_t leaf, nodePlace(places, treeIds[i], nodes[i]));
        if (e.trees.nodes[leaf].rule != TreeRule::Leaf)
            continue; // ONNX Runtime, too, reads the weights of leaves only
        byLeaf[leaf].push_back({ static_cast<size_t>(targets[i]), weights[i] });
    }
    for (const auto& [leaf, votes] : byLeaf) {
        e.trees.nodes[leaf].whenTrue = e.trees.votes.size();
        e.trees.votes.insert(e.trees.votes.end(), votes.begin(), votes.end());
        e.trees.nodes[leaf].whenFalse = e.trees.votes.size();
    }
    return {};
}

Status readBase(const Attributes& a, Ensemble& e, bool anyTwo)
{
    e.base = realList(a, "base_values");
    if (!e.base.empty() && e.base.size() != e.targets && !(anyTwo && e.targets == 2 && e.base.size() == 1))
        return badInput("it has " + std::to_string(e.base.size()) + " base values for " + std::to_string(e.targets));
    return {};
}

Result<VoteSum> voteSum(const std::string& name)
{
    static const std::map<std::string, VoteSum> all { { "SUM", VoteSum::Sum }, { "AVERAGE", VoteSum::Average },
        { "MIN", VoteSum::Least }, { "MAX", VoteSum::Greatest } };
    const auto it = all.find(name);
    if (it == all.end())
        return badInput("aggregate_function " + name + " does not exist");
    return it->second;
}

/// Calls finish(scores, seen) for each row of the input.
template <class Fn> Status forEachRow(const Ensemble& e, const StepContext& c, Fn finish)
{
    QS_TRY(const FeatureRows rows, featureRows(c, e.features));
    Reals scores(e.targets);
    const auto seen = std::make_unique<bool[]>(e.targets);
    for (size_t i = 0; i < rows.count; ++i) {
        sumVotes(e.trees, rows.row(i), e.how, e.targets, scores.data(), seen.get());
        finish(scores, seen.get());
    }
    return {};
}

LoweredNode regression(std::shared_ptr<const Ensemble> shared, std::optional<DType> type)
{
    return { [e = std::move(shared), type](StepContext& c) -> Status {
                std::vector<Reals> out;
                QS_CHECK(forEachRow(*e, c, [&](Reals scores, const bool*) {
                    for (size_t t = 0; t < e->base.size(); ++t)
                        scores[t] += e->base[t];
                    finishScores(scores, e->transform, SecondClass::None);
                    out.push_back(std::move(scores));
                }));
                return setScores(c, 0, type.value_or(c.in(0).dtype()), out, e->targets);
            },
        "trees" };
}

Result<LoweredNode> lowerTreeRegressor(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    auto e = std::make_shared<Ensemble>();
    if (const int64_t targets = a.integer("n_targets", 1); targets > 0 && targets <= (1 << 24))
        e->targets = static_cast<size_t>(targets);
    else
        return badInput("it has " + std::to_string(targets) + " targets");
    QS_TRY(e->how, voteSum(a.text("aggregate_function", "SUM")));
    QS_TRY(e->transform, scoreTransform(context.node));
    QS_TRY(const NodePlaces places, readNodes(a, *e));
    QS_CHECK(readVotes(a, "target", places, *e));
    QS_CHECK(readBase(a, *e, false));
    return regression(std::move(e), DType::Float32);
}

/// A classifier's scores become those of all classes; returns the class.
class ClassDecision {
public:
    ClassDecision(const Ensemble& e, const Attributes& a)
        : m_ensemble(e)
    {
        std::set<size_t> spokenOf;
        for (const TreeVote& vote : e.trees.votes) {
            spokenOf.insert(vote.target);
            m_allPositive &= vote.weight >= 0;
        }
        m_oneSpoken = e.targets == 2 && spokenOf.size() == 1 && a.has("nodes_modes");
    }

    size_t finish(Reals& scores, const bool* seen) const
    {
        return scores.size() == 2 ? finishTwo(scores, seen) : finishMany(scores, seen);
    }

private:
    size_t finishMany(Reals& scores, const bool* seen) const
    {
        const Reals& base = m_ensemble.base;
        size_t best = 0;
        bool any = false;
        for (size_t i = 0; i < scores.size(); ++i) {
            scores[i] += elementOr(base, i);
            if ((seen[i] || !base.empty()) && (!any || scores[i] > scores[best])) {
                best = i;
                any = true;
            }
        }
        finishScores(scores, m_ensemble.transform, SecondClass::None);
        return best;
    }

    /// Where all leaves speak of one class its score stands for both.
    size_t finishTwo(Reals& scores, const bool* seen) const
    {
        const Reals& base = m_ensemble.base;
        bool both = seen[1];
        if (base.size() == 2 && both) {
            scores[1] = base[1] + scores[0];
            scores[0] = -scores[1];
        } else if (base.size() == 2) {
            scores[1] += base[1];
            scores[0] += base[0];
            both = seen[0];
        } else if (base.size() == 1) {
            scores[0] += base[0];
        }
        if (!both)
            scores.pop_back();
        const double weight = scores.back();
        const bool second = weight > (m_oneSpoken && m_allPositive ? 0.5 : 0);
        const SecondClass form = !m_oneSpoken ? SecondClass::None
            : m_allPositive                   ? SecondClass::Complement
                                              : SecondClass::Opposite;
        finishScores(scores, m_ensemble.transform, form);
        return second ? 1 : 0;
    }

    const Ensemble& m_ensemble;
    bool m_allPositive = true, m_oneSpoken = false;
};

Result<LoweredNode> lowerTreeClassifier(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    auto e = std::make_shared<Ensemble>();
    const ClassLabels labels = ClassLabels::of(context.node, "classlabels_int64s", "classlabels_strings");
    e->targets = labels.count();
    if (e->targets == 0)
        return badInput("it has no class labels");
    QS_TRY(e->transform, scoreTransform(context.node));
    QS_TRY(const NodePlaces places, readNodes(a, *e));
    QS_CHECK(readVotes(a, "class", places, *e));
    QS_CHECK(readBase(a, *e, true));
    const ClassDecision decision(*e, a);
    return LoweredNode { [e, labels, decision](StepContext& c) -> Status {
                            std::vector<Reals> out;
                            std::vector<size_t> classes;
                            QS_CHECK(forEachRow(*e, c, [&](Reals scores, const bool* seen) {
                                classes.push_back(decision.finish(scores, seen));
                                out.push_back(std::move(scores));
                            }));
                            c.setOutput(0, labels.pick(c, classes));
                            return setScores(c, 1, DType::Float32, out, e->targets);
                        },
        "trees" };
}

/// The newest form: nodes and leaves in lists of their own.
class TreeReader {
public:
    explicit TreeReader(const Attributes& a)
        : m_features(integerList(a, "nodes_featureids"))
        , m_yes(integerList(a, "nodes_truenodeids"))
        , m_no(integerList(a, "nodes_falsenodeids"))
        , m_yesLeaf(integerList(a, "nodes_trueleafs"))
        , m_noLeaf(integerList(a, "nodes_falseleafs"))
        , m_modes(integerList(a, "nodes_modes"))
        , m_missing(integerList(a, "nodes_missing_value_tracks_true"))
        , m_leafTargets(integerList(a, "leaf_targetids"))
        , m_roots(integerList(a, "tree_roots"))
        , m_splits(realList(a, "nodes_splits"))
        , m_leafWeights(realList(a, "leaf_weights"))
        , m_members(realList(a, "membership_values"))
    {
    }

    Status read(Ensemble& e) const
    {
        const size_t count = m_features.size(), leaves = m_leafTargets.size();
        for (size_t size :
            { m_yes.size(), m_no.size(), m_yesLeaf.size(), m_noLeaf.size(), m_modes.size(), m_splits.size() })
            if (size != count)
                return badInput("its lists of nodes differ in length");
        if (m_leafWeights.size() != leaves)
            return badInput("its lists of leaves differ in length");
        QS_CHECK(readSets(e));
        for (size_t i = 0, sets = 0; i < count; ++i)
            QS_CHECK(readNode(e, i, sets));
        for (size_t i = 0; i < leaves; ++i) {
            if (m_leafTargets[i] < 0 || static_cast<size_t>(m_leafTargets[i]) >= e.targets)
                return badInput("leaf " + std::to_string(i) + " speaks of target " + std::to_string(m_leafTargets[i])
                    + " of " + std::to_string(e.targets));
            e.trees.nodes.push_back({ .whenTrue = i, .whenFalse = i + 1 });
            e.trees.votes.push_back({ static_cast<size_t>(m_leafTargets[i]), m_leafWeights[i] });
        }
        for (int64_t root : m_roots) {
            if (root < 0 || static_cast<size_t>(root) >= count)
                return badInput("there is no node " + std::to_string(root) + " to be a root");
            e.trees.roots.push_back(static_cast<size_t>(root));
        }
        return needTrees(e.trees, 0);
    }

private:
    /// Sets lie one after another, each ended by NaN.
    Status readSets(Ensemble& e) const
    {
        std::vector<double> set;
        for (double v : m_members)
            if (std::isnan(v))
                e.trees.sets.push_back(std::exchange(set, {}));
            else
                set.push_back(v);
        if (!set.empty())
            e.trees.sets.push_back(std::move(set));
        if (e.trees.sets.size() < static_cast<size_t>(std::ranges::count(m_modes, 6)))
            return badInput("a node asks for a set of members that does not exist");
        return {};
    }

    Status readNode(Ensemble& e, size_t i, size_t& sets) const
    {
        const auto child = [&](int64_t to, bool leaf) -> Result<size_t> {
            const size_t first = leaf ? m_features.size() : 0, end = leaf ? m_leafTargets.size() : m_features.size();
            if (to < 0 || static_cast<size_t>(to) >= end)
                return badInput(
                    "node " + std::to_string(i) + " leads to " + std::to_string(to) + ", which does not exist");
            return first + static_cast<size_t>(to);
        };
        if (m_modes[i] < 0 || m_modes[i] > 6 || m_features[i] < 0)
            return badInput("node " + std::to_string(i) + " has an unknown mode or a negative feature");
        TreeNode node { static_cast<TreeRule>(m_modes[i]), elementOr(m_missing, i) != 0,
            static_cast<size_t>(m_features[i]), m_splits[i] };
        QS_TRY(node.whenTrue, child(m_yes[i], m_yesLeaf[i] != 0));
        QS_TRY(node.whenFalse, child(m_no[i], m_noLeaf[i] != 0));
        if (node.rule == TreeRule::Member)
            node.set = sets++;
        e.features = std::max(e.features, node.feature + 1);
        e.trees.nodes.push_back(node);
        return {};
    }

    Integers m_features, m_yes, m_no, m_yesLeaf, m_noLeaf, m_modes, m_missing, m_leafTargets, m_roots;
    Reals m_splits, m_leafWeights, m_members;
};

Result<LoweredNode> lowerTreeEnsemble(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    auto e = std::make_shared<Ensemble>();
    const int64_t targets = a.integer("n_targets", 1), how = a.integer("aggregate_function", 1);
    if (targets <= 0 || targets > (1 << 24) || how < 0 || how > 3)
        return badInput("its number of targets or its aggregate_function cannot be");
    e->targets = static_cast<size_t>(targets);
    e->how = static_cast<VoteSum>(how);
    QS_TRY(e->transform, scoreTransform(context.node));
    QS_CHECK(TreeReader(a).read(*e));
    return regression(std::move(e), std::nullopt);
}

} // namespace

void lowerMlTrees(LoweringRegistry& r)
{
    r.add(kMlDomain, "TreeEnsemble", lowerTreeEnsemble);
    r.add(kMlDomain, "TreeEnsembleRegressor", lowerTreeRegressor);
    r.add(kMlDomain, "TreeEnsembleClassifier", lowerTreeClassifier);
}

} // namespace qs
