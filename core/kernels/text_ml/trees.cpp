// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/text_ml/trees.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

bool holds(const Trees& trees, const TreeNode& node, double x)
{
    switch (node.rule) {
    case TreeRule::AtMost:
        return x <= node.limit;
    case TreeRule::Below:
        return x < node.limit;
    case TreeRule::AtLeast:
        return x >= node.limit;
    case TreeRule::Above:
        return x > node.limit;
    case TreeRule::Equal:
        return x == node.limit;
    case TreeRule::NotEqual:
        return x != node.limit;
    case TreeRule::Member:
        return std::ranges::find(trees.sets[node.set], x) != trees.sets[node.set].end();
    case TreeRule::Leaf:
        break;
    }
    return false;
}

const TreeNode& leafOf(const Trees& trees, size_t root, const double* row)
{
    const TreeNode* node = &trees.nodes[root];
    while (node->rule != TreeRule::Leaf) {
        const double x = row[node->feature];
        const bool yes = holds(trees, *node, x) || (node->missingIsTrue && std::isnan(x));
        node = &trees.nodes[yes ? node->whenTrue : node->whenFalse];
    }
    return *node;
}

double merged(VoteSum how, double a, double b)
{
    return how == VoteSum::Least ? std::min(a, b) : how == VoteSum::Greatest ? std::max(a, b) : a + b;
}

} // namespace

void sumVotes(const Trees& trees, const double* row, VoteSum how, size_t targets, double* scores, bool* seen) noexcept
{
    std::fill_n(scores, targets, 0.0);
    std::fill_n(seen, targets, false);
    for (size_t root : trees.roots) {
        const TreeNode& leaf = leafOf(trees, root, row);
        for (size_t i = leaf.whenTrue; i < leaf.whenFalse; ++i) {
            const auto [target, weight] = trees.votes[i];
            scores[target] = seen[target] ? merged(how, scores[target], weight) : weight;
            seen[target] = true;
        }
    }
    if (how == VoteSum::Average)
        for (size_t i = 0; i < targets; ++i)
            scores[i] /= double(trees.roots.size());
}

} // namespace qs
