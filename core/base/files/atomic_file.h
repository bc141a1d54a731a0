// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace qs {

/// Temporary neighbour of `path` for a file that is written first and renamed when complete. Removed when it goes out
/// of scope without commit(), so that a failed run leaves no half file and an existing file as it was. Symbolic links
/// are followed; devices and pipes are written to directly.
class AtomicFile {
public:
    static Result<AtomicFile> create(const std::string& path);
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&&) = delete;
    ~AtomicFile();
    int fd() const { return m_fd; }
    const std::string& temporaryPath() const { return m_temporary; }
    Status write(std::string_view bytes);
    Status commit();
    /// Removes all temporary files of this process: for a signal handler that ends it (async-signal-safe).
    static void removeTemporaries() noexcept;

private:
    AtomicFile() = default;
    void remember();
    void forget();
    Issue failed(const std::string& what) const;
    std::string m_path, m_temporary;
    int m_fd = -1;
    int m_slot = -1; ///< where removeTemporaries() finds the path; -1 = nowhere
};

/// The whole file, or what was there before.
Status writeFile(const std::string& path, std::string_view bytes);

} // namespace qs
