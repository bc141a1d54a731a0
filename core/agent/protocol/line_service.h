// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace qs {

/// What answers a client that is read line by line. No line ends it.
class LineService {
public:
    virtual ~LineService() = default;

    /// From one thread.
    virtual void receive(std::string_view line) = 0;
    /// A line that was longer than anything that is read.
    virtual void receiveTooLong() = 0;
    virtual bool idle() const = 0; ///< everything that came in was answered
    virtual bool gone() const = 0; ///< nobody reads the answers
    /// What runs is cancelled, what waits is left; returns when nothing runs.
    virtual void stop() = 0;
};

} // namespace qs
