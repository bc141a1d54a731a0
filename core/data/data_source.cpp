// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/data_source.h"

#include <atomic>

namespace qs {

namespace {

std::atomic<uint64_t> lastIdentity = 0;

} // namespace

DataSource::DataSource()
    : m_identity(++lastIdentity)
{
}

} // namespace qs
