// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/cache_layout.h"
#include "core/engine/plan/plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qs {

/// What a tensor of an attention's memory holds.
enum class CacheKind {
    Key, ///< as it is cached
    Value,
    KeyBeforeRotary, ///< the same keys before they are turned by their positions
};
/// "key", "value", "key_before_rotary".
std::string_view cacheKindName(CacheKind kind);

/// One kind of tensor of one layer.
struct CachePlace {
    size_t layer = 0; ///< as the tensor's name numbers it, else counted
    CacheKind kind = CacheKind::Key;
    std::string name; ///< of the cache, an output of the graph
    ValueId value; ///< where its elements are found
    size_t past = 0; ///< index of the input that the cache becomes
    CacheLayout layout;
    std::optional<RotaryPairs> rotary; ///< of keys: how they were turned, where that is known
};

/// A cache that is not looked at, and why.
struct LeftOutCache {
    std::string name, reason;
};

struct CachePlaces {
    std::vector<CachePlace> places; ///< by layer: keys, keys before rotary, values
    std::vector<LeftOutCache> leftOut;
};

/// Keys and values among the caches (an output, and the index of the input that it becomes): outputs of
/// GroupQueryAttention, SparseAttention, MultiHeadAttention, DecoderMaskedMultiHeadAttention, Attention of
/// com.microsoft and of ONNX; else by their names. An Issue where an attention stores codes, which are rounded already.
Result<CachePlaces> cachePlaces(const Plan& plan, const std::vector<std::pair<ValueId, size_t>>& caches);

} // namespace qs
