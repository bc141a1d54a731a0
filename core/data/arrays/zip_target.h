// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <zip.h>

namespace qs {

/// Where libzip writes a new archive: an open file, from its beginning, and nothing beside it.
class ZipTarget {
public:
    explicit ZipTarget(int fd);
    ~ZipTarget();
    ZipTarget(const ZipTarget&) = delete;
    ZipTarget& operator=(const ZipTarget&) = delete;

    /// An empty archive; null when there is no memory. The target must live until it is closed.
    zip_t* open();
    int error() const; ///< errno of the first write that failed; 0: none did

private:
    static zip_int64_t answer(void* target, void* data, zip_uint64_t length, zip_source_cmd_t command);
    zip_int64_t write(const void* data, zip_uint64_t length);
    zip_int64_t seek(void* data, zip_uint64_t length);

    int m_fd;
    zip_error_t m_error;
    zip_uint64_t m_at = 0, m_length = 0;
};

} // namespace qs
