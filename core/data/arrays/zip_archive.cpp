// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/zip_archive.h"

#include "core/base/files/regular_file.h"

#include <algorithm>
#include <mutex>
#include <zip.h>

namespace qs {

namespace {

struct CloseZip {
    void operator()(zip_t* zip) const { zip_discard(zip); }
};
struct CloseMember {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using ZipHandle = std::unique_ptr<zip_t, CloseZip>;
using MemberHandle = std::unique_ptr<zip_file_t, CloseMember>;

/// An open archive with one member open in it; used by one thread at a time.
struct MemberReader {
    ZipHandle archive;
    MemberHandle member;
};

Issue damaged(const std::string& path, const std::string& member)
{
    Issue issue
        = badInput("the archive member is damaged or shorter than the archive says", path, "save the file again");
    issue.tensor = member;
    return issue;
}

Result<ZipHandle> openZip(const std::string& path)
{
    QS_CHECK(RegularFile::open(path)); // the library would wait for what a pipe has to say
    int code = 0;
    ZipHandle zip(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (zip)
        return zip;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (code == ZIP_ER_MEMORY)
        return noMemory("needs more memory than there is", path, "close other programs");
    return badInput("cannot be opened as an .npz archive (" + text + ")", path, "save it again with numpy.savez");
}

Result<MemberReader> openMember(const std::string& path, const ZipMember& member)
{
    QS_TRY(ZipHandle archive, openZip(path));
    MemberHandle file(zip_fopen_index(archive.get(), member.index, 0));
    if (!file && zip_error_code_zip(zip_get_error(archive.get())) == ZIP_ER_MEMORY)
        return noMemory("needs more memory than there is", path, "close other programs");
    if (!file) {
        Issue issue = badInput(std::string("the archive member cannot be read (") + zip_strerror(archive.get()) + ")",
            path, "save the file again with numpy.savez");
        issue.tensor = member.name;
        return issue;
    }
    return MemberReader { std::move(archive), std::move(file) };
}

bool readAll(zip_file_t* file, std::span<std::byte> out)
{
    while (!out.empty()) {
        const zip_int64_t n = zip_fread(file, out.data(), out.size());
        if (n <= 0)
            return false;
        out = out.subspan(static_cast<size_t>(n));
    }
    return true;
}

/// A member that is not compressed; each thread that reads at the same time gets a handle of its own.
class StoredBytes final : public ByteSource {
public:
    StoredBytes(std::string path, ZipMember member)
        : m_path(std::move(path))
        , m_member(std::move(member))
    {
    }
    uint64_t size() const override { return m_member.size; }
    Status read(uint64_t offset, std::span<std::byte> out) const override
    {
        QS_TRY(MemberReader reader, take());
        if (zip_fseek(reader.member.get(), static_cast<zip_int64_t>(offset), SEEK_SET) != 0
            || !readAll(reader.member.get(), out))
            return damaged(m_path, m_member.name);
        const std::lock_guard lock(m_mutex);
        m_idle.push_back(std::move(reader));
        return {};
    }

private:
    Result<MemberReader> take() const
    {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_idle.empty()) {
                MemberReader reader = std::move(m_idle.back());
                m_idle.pop_back();
                return reader;
            }
        }
        return openMember(m_path, m_member);
    }

    std::string m_path;
    ZipMember m_member;
    mutable std::mutex m_mutex;
    mutable std::vector<MemberReader> m_idle;
};

} // namespace

Result<ZipArchive> ZipArchive::open(const std::string& path)
{
    QS_TRY(const ZipHandle zip, openZip(path));
    ZipArchive archive;
    archive.m_path = path;
    const zip_int64_t count = zip_get_num_entries(zip.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
        zip_stat_t info;
        const auto index = static_cast<zip_uint64_t>(i);
        constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_COMP_SIZE;
        if (zip_stat_index(zip.get(), index, 0, &info) != 0 || (info.valid & kNeeded) != kNeeded)
            return badInput("the archive's directory is damaged", path, "save it again with numpy.savez");
        const bool stored = info.comp_method == ZIP_CM_STORE && info.encryption_method == ZIP_EM_NONE;
        if (stored && info.comp_size != info.size)
            return damaged(path, info.name);
        archive.m_members.push_back({ info.name, index, info.size, stored });
    }
    return archive;
}

Result<std::vector<std::byte>> ZipArchive::prefix(const ZipMember& member, size_t bytes) const
{
    QS_TRY(const MemberReader reader, openMember(m_path, member));
    std::vector<std::byte> out(static_cast<size_t>(std::min<uint64_t>(bytes, member.size)));
    if (!readAll(reader.member.get(), out))
        return damaged(m_path, member.name);
    return out;
}

Result<std::shared_ptr<const ByteSource>> ZipArchive::bytes(const ZipMember& member, uint64_t bytes) const
{
    if (member.stored)
        return std::shared_ptr<const ByteSource>(std::make_shared<StoredBytes>(m_path, member));
    const uint64_t wanted = std::min(bytes, member.size);
    QS_TRY(const auto scratch, ScratchBytes::create(wanted));
    QS_TRY(const MemberReader reader, openMember(m_path, member));
    std::vector<std::byte> block(static_cast<size_t>(std::min<uint64_t>(wanted, uint64_t(1) << 20)));
    for (uint64_t at = 0; at < wanted; at += block.size()) {
        const auto part = std::span(block).first(static_cast<size_t>(std::min<uint64_t>(block.size(), wanted - at)));
        if (!readAll(reader.member.get(), part))
            return damaged(m_path, member.name);
        QS_CHECK(scratch->write(at, part));
    }
    return std::shared_ptr<const ByteSource>(scratch);
}

} // namespace qs
