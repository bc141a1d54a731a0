// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"

#include <memory>

namespace qs {

/// Some runs of a data source as a source of their own: `most` of them, evenly spread, or the first ones where each
/// goes on from the one before.
class SomeFeeds final : public DataSource {
public:
    SomeFeeds(std::shared_ptr<const DataSource> all, size_t most, bool firstOnes);
    Result<Feed> feed(size_t index) const override;

private:
    std::shared_ptr<const DataSource> m_all;
    bool m_firstOnes;
};

} // namespace qs
