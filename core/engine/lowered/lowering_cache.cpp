// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lowered/lowering_cache.h"

#include "core/engine/lowered/content_key.h"
#include "core/engine/registry/registry.h"

#include <algorithm>

namespace qs {

namespace {

struct Owned {
    std::shared_ptr<const void> owner; ///< destroyed after the node
    LoweredNode lowered;
};

} // namespace

template <class T> std::shared_ptr<const T> LoweringCache::Entries<T>::find(Hash128 key) const
{
    const auto it = byKey.find(key);
    return it == byKey.end() ? nullptr : it->second.lock();
}

template <class T> std::shared_ptr<const T> LoweringCache::Entries<T>::add(Hash128 key, std::shared_ptr<const T> value)
{
    if (byKey.size() >= nextSweep) {
        std::erase_if(byKey, [](const auto& entry) { return entry.second.expired(); });
        nextSweep = std::max<size_t>(64, 2 * byKey.size());
    }
    auto& entry = byKey[key];
    if (auto earlier = entry.lock())
        return earlier;
    entry = value;
    return value;
}

std::shared_ptr<const LoweredNode> LoweringCache::find(Hash128 key) const
{
    const std::lock_guard lock(m_mutex);
    return m_lowered.find(key);
}

std::shared_ptr<const LoweredNode> LoweringCache::add(
    Hash128 key, LoweredNode lowered, std::shared_ptr<const void> owner)
{
    auto owned = std::make_shared<const Owned>(Owned { std::move(owner), std::move(lowered) });
    std::shared_ptr<const LoweredNode> node(owned, &owned->lowered);
    const std::lock_guard lock(m_mutex);
    return m_lowered.add(key, std::move(node));
}

std::shared_ptr<const FoldedNode> LoweringCache::findFolded(Hash128 key) const
{
    const std::lock_guard lock(m_mutex);
    return m_folded.find(key);
}

std::shared_ptr<const FoldedNode> LoweringCache::addFolded(Hash128 key, FoldedNode folded)
{
    auto node = std::make_shared<const FoldedNode>(std::move(folded));
    const std::lock_guard lock(m_mutex);
    return m_folded.add(key, std::move(node));
}

size_t LoweringCache::size() const
{
    const std::lock_guard lock(m_mutex);
    return static_cast<size_t>(
        std::ranges::count_if(m_lowered.byKey, [](const auto& entry) { return !entry.second.expired(); }));
}

Result<std::shared_ptr<const LoweredNode>> lowerShared(const LowerContext& context, LoweringCache* cache,
    std::shared_ptr<const void> owner, const ConstantKeyFn& constantKey)
{
    const LowerFn lower = loweringRegistry().find(context.node);
    if (!lower)
        return internalError("the operator " + context.node.opType + " is not there");
    const ArithmeticProfile profile
        = context.saturation == PairSaturation::None ? ArithmeticProfile::Simulated : ArithmeticProfile::IntegerAvx2;
    const bool shares = cache && !context.node.inputs.empty() && context.node.captures.empty(); // else it packs nothing
    const auto own = shares ? operatorKey(context.node, context.mode, profile) : std::nullopt;
    if (!own) {
        QS_TRY(LoweredNode lowered, lower(context));
        return std::make_shared<const LoweredNode>(std::move(lowered));
    }
    std::vector<std::optional<Hash128>> constants;
    for (size_t i = 0; i < context.constants.size(); ++i)
        constants.push_back(context.constants[i] ? std::optional(constantKey(i)) : std::nullopt);
    const Hash128 key = KeyBuilder()
                            .add(loweringKey(*own, context.node, context.inputTypes, constants))
                            .add(static_cast<int64_t>(context.saturation))
                            .add(static_cast<int64_t>(context.wideQuotients))
                            .add(context.channelBlock)
                            .key();
    if (auto known = cache->find(key))
        return known;
    QS_TRY(LoweredNode lowered, lower(context));
    return cache->add(key, std::move(lowered), std::move(owner));
}

} // namespace qs
