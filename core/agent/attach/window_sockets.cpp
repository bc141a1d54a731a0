// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/attach/window_sockets.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEnding = ".socket";

bool isOwnFolder(const std::string& path)
{
    struct stat info { };
    return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == getuid()
        && (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/// Where windows may listen, the first that there is.
std::vector<std::string> folders()
{
    const std::string user = std::to_string(getuid());
    if (const char* const runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime)
        return { std::string(runtime) + "/quantscope" };
    return { "/run/user/" + user + "/quantscope", "/tmp/quantscope-" + user };
}

Result<std::string> madeFolder()
{
    std::string last;
    for (const std::string& folder : folders()) {
        mkdir(folder.c_str(), S_IRWXU);
        if (isOwnFolder(folder))
            return folder;
        last = folder;
    }
    return badInput("agents cannot attach: this is no folder of this user alone", last,
        "set XDG_RUNTIME_DIR to a folder that only you can enter");
}

Result<sockaddr_un> addressOf(const std::string& path)
{
    sockaddr_un address {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return badInput("the path of the socket is too long", path, "set XDG_RUNTIME_DIR to a shorter one");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

/// Sorts by when it was made.
std::string newName()
{
    using namespace std::chrono;
    static std::atomic<int> made = 0;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    return std::to_string(now) + "-" + std::to_string(getpid()) + "-" + std::to_string(++made) + kEnding;
}

Issue failedAt(const std::string& what, const std::string& path)
{
    return badInput(what + ": " + std::strerror(errno), path, "see whether that folder can be written");
}

} // namespace

Descriptor::~Descriptor()
{
    if (m_fd >= 0)
        ::close(m_fd);
}

Result<WindowSocket> makeWindowSocket()
{
    QS_TRY(const std::string folder, madeFolder());
    const std::string path = folder + "/" + newName();
    const std::string deaf = path + ".new"; // until somebody listens: others would remove it
    QS_TRY(const sockaddr_un address, addressOf(deaf));
    Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (made.fd() < 0 || bind(made.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return failedAt("agents cannot attach, no socket can be made", path);
    if (chmod(deaf.c_str(), S_IRUSR | S_IWUSR) != 0 || listen(made.fd(), 8) != 0
        || rename(deaf.c_str(), path.c_str()) != 0) {
        Issue issue = failedAt("agents cannot attach, nobody can listen at the socket", path);
        unlink(deaf.c_str());
        return issue;
    }
    return WindowSocket { std::move(made), path };
}

Result<Descriptor> connectToWindow(const std::string& path)
{
    QS_TRY(const sockaddr_un address, addressOf(path));
    Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (made.fd() < 0 || connect(made.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return badInput("no window listens there any more", path, "start it again");
    return made;
}

std::vector<std::string> windowSockets()
{
    std::vector<std::string> found;
    for (const std::string& folder : folders()) {
        std::error_code error;
        if (!isOwnFolder(folder))
            continue;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
            const std::string path = entry.path().string();
            if (!path.ends_with(kEnding))
                continue;
            if (connectToWindow(path).ok())
                found.push_back(path);
            else if (errno == ECONNREFUSED)
                unlink(path.c_str()); // who listened is gone
        }
    }
    std::ranges::sort(
        found, std::ranges::greater {}, [](const std::string& path) { return fs::path(path).filename(); });
    return found;
}

bool sendLine(int fd, const std::string& line, Sending sending)
{
    const std::string bytes = line + "\n";
    const int flags = MSG_NOSIGNAL | (sending == Sending::AtOnce ? MSG_DONTWAIT : 0);
    for (size_t sent = 0; sent < bytes.size();) {
        const ssize_t now = send(fd, bytes.data() + sent, bytes.size() - sent, flags);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return false;
        sent += size_t(now);
    }
    return true;
}

} // namespace qs
