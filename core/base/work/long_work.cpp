// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/long_work.h"

#include <atomic>

namespace qs {

namespace {

std::atomic<LongWorkObserver> longWorkObserver = nullptr;

}

void beginLongWork(std::string_view what)
{
    if (const LongWorkObserver observer = longWorkObserver)
        observer(what);
}

void observeLongWork(LongWorkObserver observer) { longWorkObserver = observer; }

} // namespace qs
