// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace qs {

/// A file descriptor that is closed with its owner.
class Descriptor {
public:
    explicit Descriptor(int fd = -1)
        : m_fd(fd)
    {
    }
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept
        : m_fd(std::exchange(other.m_fd, -1))
    {
    }
    Descriptor& operator=(Descriptor&& other) noexcept
    {
        std::swap(m_fd, other.m_fd);
        return *this;
    }
    int fd() const { return m_fd; }

private:
    int m_fd;
};

/// Windows that agents may attach to listen at a socket each. The sockets lie in a folder that only their user can
/// enter: `quantscope` in $XDG_RUNTIME_DIR, else in /run/user/UID, else /tmp/quantscope-UID.
struct WindowSocket {
    Descriptor listening;
    std::string path;
};
/// Issue: there is no such folder that is this user's alone, or no socket can be made.
Result<WindowSocket> makeWindowSocket();
/// Of windows that are there, the newest first. What others left behind is removed.
std::vector<std::string> windowSockets();
/// Issue: nobody listens there.
Result<Descriptor> connectToWindow(const std::string& path);

enum class Sending { Waits, AtOnce };
/// All of a line and its end; false: nobody reads, or not at once. Never raises a signal.
bool sendLine(int fd, const std::string& line, Sending sending = Sending::Waits);

} // namespace qs
