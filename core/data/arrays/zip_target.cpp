// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/zip_target.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace qs {

ZipTarget::ZipTarget(int fd)
    : m_fd(fd)
{
    zip_error_init(&m_error);
}

ZipTarget::~ZipTarget() { zip_error_fini(&m_error); }

int ZipTarget::error() const { return zip_error_code_system(&m_error); }

zip_t* ZipTarget::open()
{
    zip_source_t* const source = zip_source_function_create(answer, this, nullptr);
    zip_t* const archive = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, nullptr) : nullptr;
    if (source && !archive)
        zip_source_free(source);
    return archive;
}

zip_int64_t ZipTarget::write(const void* data, zip_uint64_t length)
{
    const auto* from = static_cast<const char*>(data);
    for (zip_uint64_t done = 0; done < length;) {
        const ssize_t n = pwrite(m_fd, from + done, length - done, static_cast<off_t>(m_at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            zip_error_set(&m_error, ZIP_ER_WRITE, n < 0 ? errno : ENOSPC);
            return -1;
        }
        done += static_cast<zip_uint64_t>(n);
    }
    m_at += length;
    m_length = std::max(m_length, m_at);
    return static_cast<zip_int64_t>(length);
}

zip_int64_t ZipTarget::seek(void* data, zip_uint64_t length)
{
    const zip_int64_t at = zip_source_seek_compute_offset(m_at, m_length, data, length, &m_error);
    if (at < 0)
        return -1;
    m_at = static_cast<zip_uint64_t>(at);
    return 0;
}

zip_int64_t ZipTarget::answer(void* target, void* data, zip_uint64_t length, zip_source_cmd_t command)
{
    auto& self = *static_cast<ZipTarget*>(target);
    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
    case ZIP_SOURCE_STAT: // nothing is in it yet
        zip_stat_init(static_cast<zip_stat_t*>(data));
        static_cast<zip_stat_t*>(data)->size = 0;
        static_cast<zip_stat_t*>(data)->valid = ZIP_STAT_SIZE;
        return sizeof(zip_stat_t);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&self.m_error, data, length);
    case ZIP_SOURCE_WRITE:
        return self.write(data, length);
    case ZIP_SOURCE_SEEK_WRITE:
        return self.seek(data, length);
    case ZIP_SOURCE_TELL_WRITE:
        return static_cast<zip_int64_t>(self.m_at);
    default: // reading nothing, beginning and ending
        return 0;
    }
}

} // namespace qs
