// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/some_feeds.h"

#include <algorithm>

namespace qs {

SomeFeeds::SomeFeeds(std::shared_ptr<const DataSource> all, size_t most, bool firstOnes)
    : m_all(std::move(all))
    , m_firstOnes(firstOnes)
{
    m_initialStates = m_all->initialStates(); // the first feeds are taken where states are carried
    m_feeds = std::min(most, m_all->feeds());
    m_samples = m_feeds == 0 ? 0 : m_feeds * (m_all->samples() / m_all->feeds());
}

Result<Feed> SomeFeeds::feed(size_t index) const
{
    return m_all->feed(m_firstOnes ? index : index * m_all->feeds() / m_feeds);
}

} // namespace qs
