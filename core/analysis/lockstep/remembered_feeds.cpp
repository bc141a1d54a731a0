// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/remembered_feeds.h"

#include "core/engine/lowered/content_key.h"

namespace qs {

Result<Feed> rememberedFeed(const DataSource& data, size_t index, size_t inputs, ActivationCache* cache)
{
    if (!cache)
        return data.feed(index);
    const Hash128 feedKey = KeyBuilder().add("feed").add(int64_t(data.identity())).add(int64_t(index)).key();
    const auto inputKey = [](size_t input) { return KeyBuilder().add("input").add(int64_t(input)).key(); };
    Feed known;
    known.samples = data.feeds() > 0 ? data.samples() / data.feeds() : 1;
    known.firstSample = index * known.samples;
    for (size_t i = 0; i < inputs; ++i)
        if (Tensor tensor = cache->find(inputKey(i), feedKey); tensor.valid())
            known.inputs.push_back(std::move(tensor));
    if (known.inputs.size() == inputs)
        return known;
    QS_TRY(Feed feed, data.feed(index));
    for (size_t i = 0; i < feed.inputs.size(); ++i)
        cache->keep(inputKey(i), feedKey, feed.inputs[i]);
    return feed;
}

} // namespace qs
