// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/engine/step/lower_context.h"

#include <map>
#include <memory>
#include <mutex>

namespace qs {

/// Outputs of a node all of whose inputs are constant, with the contentKey of each.
struct FoldedNode {
    std::vector<Tensor> outputs;
    std::vector<Hash128> keys;
};

/// Lowered nodes by their loweringKey, and what constant nodes gave: plans that are made with the same cache share
/// kernels and packed weights where their nodes are equal. Keeps nothing alive: an entry ends with the last plan that
/// uses it. Thread-safe.
class LoweringCache {
public:
    /// Null when no plan that lives has it.
    std::shared_ptr<const LoweredNode> find(Hash128 key) const;
    /// `owner` lives as long as the lowered node is used (steps may point into the graph that they were lowered from).
    std::shared_ptr<const LoweredNode> add(Hash128 key, LoweredNode lowered, std::shared_ptr<const void> owner);
    /// The same for folded nodes, by operator and inputs.
    std::shared_ptr<const FoldedNode> findFolded(Hash128 key) const;
    std::shared_ptr<const FoldedNode> addFolded(Hash128 key, FoldedNode folded);
    /// Lowered nodes that are alive.
    size_t size() const;

private:
    template <class T> struct Entries {
        std::map<Hash128, std::weak_ptr<const T>> byKey;
        size_t nextSweep = 64; ///< entries at which dead ones are dropped
        std::shared_ptr<const T> find(Hash128 key) const;
        std::shared_ptr<const T> add(Hash128 key, std::shared_ptr<const T> value);
    };
    mutable std::mutex m_mutex;
    Entries<LoweredNode> m_lowered;
    Entries<FoldedNode> m_folded;
};

/// contentKey of a constant input of the node that is lowered.
using ConstantKeyFn = std::function<Hash128(size_t input)>;

/// Lowers a node with the kernel that is registered for it, or takes it from the cache (which may be null).
Result<std::shared_ptr<const LoweredNode>> lowerShared(const LowerContext& context, LoweringCache* cache,
    std::shared_ptr<const void> owner, const ConstantKeyFn& constantKey);

} // namespace qs
