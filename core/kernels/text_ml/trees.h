// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Decision trees over rows of features.
namespace qs {

enum class TreeRule : uint8_t { AtMost, Below, AtLeast, Above, Equal, NotEqual, Member, Leaf };

struct TreeNode {
    TreeRule rule = TreeRule::Leaf;
    bool missingIsTrue = false; ///< where NaN goes
    size_t feature = 0;
    double limit = 0;
    size_t whenTrue = 0; ///< of a leaf: its first vote
    size_t whenFalse = 0; ///< of a leaf: one past its last vote
    size_t set = 0; ///< of Member
};

struct TreeVote {
    size_t target = 0;
    double weight = 0;
};

struct Trees {
    std::vector<TreeNode> nodes;
    std::vector<TreeVote> votes;
    std::vector<std::vector<double>> sets; ///< of Member nodes
    std::vector<size_t> roots;
};

enum class VoteSum : uint8_t { Average, Sum, Least, Greatest };

/// Adds up what the leaves that a row reaches say of each target. `scores` and `seen` (any leaf spoke of it) have one
/// element a target and are overwritten. The trees have no cycles, and the row has every feature they ask for.
void sumVotes(const Trees& trees, const double* row, VoteSum how, size_t targets, double* scores, bool* seen) noexcept;

} // namespace qs
