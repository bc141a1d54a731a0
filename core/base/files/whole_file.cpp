// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/whole_file.h"

#include "core/base/files/regular_file.h"

#include <algorithm>
#include <vector>

namespace qs {

namespace {

constexpr size_t kPiece = size_t(1) << 24;

Result<RegularFile> opened(const std::string& path, const std::string& remedy)
{
    auto file = RegularFile::open(path);
    if (file || remedy.empty())
        return file;
    Issue issue = std::move(file).issue();
    issue.remedy = remedy;
    return issue;
}

Issue endsEarly(const std::string& path, const std::string& remedy)
{
    return badInput("cannot be read to its end", path, remedy);
}

} // namespace

Result<std::string> readWholeFile(const std::string& path, const std::string& remedy)
{
    QS_TRY(const RegularFile file, opened(path, remedy));
    std::string bytes(static_cast<size_t>(file.size()), '\0');
    if (!file.read(0, std::as_writable_bytes(std::span(bytes))))
        return endsEarly(path, remedy);
    return bytes;
}

Result<std::string> readBeginning(const std::string& path, size_t bytes, const std::string& remedy)
{
    QS_TRY(const RegularFile file, opened(path, remedy));
    std::string begin(static_cast<size_t>(std::min<uint64_t>(file.size(), bytes)), '\0');
    if (!file.read(0, std::as_writable_bytes(std::span(begin))))
        return endsEarly(path, remedy);
    return begin;
}

Result<Hash128> hashFile(const std::string& path, const std::string& remedy)
{
    QS_TRY(const RegularFile file, opened(path, remedy));
    const uint64_t size = file.size();
    std::vector<char> piece(static_cast<size_t>(std::min<uint64_t>(size, kPiece)));
    Hash128 hash = hashText(std::to_string(size));
    for (uint64_t done = 0; done < size;) {
        const auto n = static_cast<size_t>(std::min<uint64_t>(size - done, kPiece));
        if (!file.read(done, std::as_writable_bytes(std::span(piece).first(n))))
            return endsEarly(path, remedy);
        hash = combine(hash, hashText({ piece.data(), n }));
        done += n;
    }
    return hash;
}

} // namespace qs
