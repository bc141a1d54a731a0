// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/microsoft/attention.h"

#include <vector>

/// Keys and values that GroupQueryAttention remembers: how many there are, how they are stored, what is added.
namespace qs {

/// How the caches hold their elements.
struct CacheForm {
    int64_t bits = 0; ///< 8 or 4: codes of so many bits; 0: floats
    bool perChannel = false; ///< of codes: a scale for each head and channel, else one for all
    int64_t window = 0; ///< above 0: caches as long as this window or a little longer lose old tokens; 0: they keep all

    static Result<CacheForm> of(const Node& node);
    /// Element type of stored keys and values; floats are stored as `type`.
    DType stored(DType type) const { return bits == 8 ? DType::Int8 : bits == 4 ? DType::UInt8 : type; }
    bool slides() const { return window > 0; }
};

/// Of one sample: the line of keys is what is kept of the cache, and the new ones behind it.
struct GroupLine {
    int64_t first = 0; ///< position of the line's first key in the whole text
    int64_t kept = 0; ///< keys from the cache
    int64_t fresh = 0; ///< new keys that count, the first ones
    int64_t before = 0; ///< of the first query: how many keys of the line are before its own
    int64_t known = 0; ///< keys that count; what is behind them is padding
};

struct GroupLengths {
    int64_t batch = 0, queries = 0;
    int64_t fresh = 0; ///< new keys: as many as queries, or none where another layer's cache is read
    int64_t total = 0; ///< of the longest sample: tokens so far, the new ones among them
    int64_t line = 0; ///< rows of the lines
    int64_t present = 0; ///< rows of the caches behind the step
    bool prompt = false; ///< the text begins here
    bool padded = false; ///< query_seqlens says how many queries of each sample count
    std::vector<GroupLine> lines;
};

/// What seqlens_k, total_sequence_length, query_seqlens and the cache's length say; `fresh` new keys.
Result<GroupLengths> groupLengths(const StepContext& s, const CacheForm& form, int64_t fresh);

/// Keys or values: what the attention reads (batch x heads x line x size, in the type of computing), and what is
/// stored.
struct GroupCache {
    Tensor line, present;
};

/// Keys or values as they are before they become codes: the new ones, and behind codes of before what these stand for.
Tensor uncodedRows(
    const StepContext& s, const CacheForm& form, const GroupLengths& l, const GroupCache& made, const Tensor& fresh);

/// Two caches of one shape behind each other; none of two shapes.
Tensor stackedRows(const StepContext& s, const Tensor& first, const Tensor& second);

/// `cache`: what was stored so far, may be null; fresh: batch x heads x tokens x size in the type of computing; `scale`
/// of codes; `type` of stored floats; `name` for messages.
Result<GroupCache> extendedCache(const StepContext& s, const CacheForm& form, const GroupLengths& l,
    const Tensor* cache, const Tensor* scale, const Tensor& fresh, DType type, const char* name);

} // namespace qs
