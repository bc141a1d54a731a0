// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/array_file.h"

#include <algorithm>
#include <cstring>

namespace qs {

namespace {

void swapBytes(std::span<std::byte> bytes, size_t itemBytes)
{
    for (size_t i = 0; i + itemBytes <= bytes.size(); i += itemBytes)
        std::reverse(bytes.begin() + static_cast<ptrdiff_t>(i), bytes.begin() + static_cast<ptrdiff_t>(i + itemBytes));
}

/// Row-major copy of `count` items whose own elements lie with their first axis fastest.
void itemsFromFortran(const std::byte* from, std::byte* to, const Shape& itemShape, int64_t count, size_t bytes)
{
    const size_t rank = itemShape.size();
    int64_t elements = 1;
    std::vector<int64_t> strides(rank);
    for (size_t axis = 0; axis < rank; ++axis) {
        strides[axis] = elements;
        elements *= itemShape[axis];
    }
    for (int64_t item = 0; item < count; ++item) {
        const std::byte* base = from + static_cast<size_t>(item * elements) * bytes;
        std::vector<int64_t> index(rank, 0);
        int64_t offset = 0;
        for (int64_t i = 0; i < elements; ++i, to += bytes) {
            std::memcpy(to, base + static_cast<size_t>(offset) * bytes, bytes);
            for (size_t axis = rank; axis-- > 0;) {
                offset += strides[axis];
                if (++index[axis] < itemShape[axis])
                    break;
                offset -= strides[axis] * itemShape[axis];
                index[axis] = 0;
            }
        }
    }
}

Issue wrongLength(const std::string& path, const std::string& key, const NpyHeader& header, uint64_t stored)
{
    Issue issue = badInput("the array's header promises " + std::to_string(header.storedBytes) + " bytes (shape "
            + shapeText(header.shape) + ", " + std::string(dtypeName(header.dtype)) + "), the file holds "
            + std::to_string(stored),
        path, "save the array again");
    issue.tensor = key;
    return issue;
}

} // namespace

int64_t ArrayFile::itemElements() const
{
    int64_t elements = 1;
    for (size_t i = 1; i < m_header.shape.size(); ++i)
        elements *= m_header.shape[i];
    return elements;
}

Status ArrayFile::prepare(int64_t items)
{
    const bool reorder = m_header.fortranOrder && m_header.shape.size() > 1;
    uint64_t wanted = m_header.storedBytes;
    if (!reorder && !m_header.shape.empty())
        wanted = m_header.dataOffset + static_cast<uint64_t>(items * itemElements()) * m_header.itemBytes;
    const Status got = source(wanted);
    QS_CHECK(m_opened->unchanged()); // which would be why
    QS_CHECK(got);
    m_start = m_header.dataOffset;
    if (reorder) {
        QS_TRY(m_source, itemsFirst(*m_source));
        m_start = 0;
    }
    return m_opened->unchanged();
}

Status ArrayFile::source(uint64_t wanted)
{
    if (m_archive) {
        QS_TRY(m_source, m_archive->bytes(m_member, wanted));
    } else {
        QS_TRY(m_source, openFileBytes(m_path));
    }
    return {};
}

/// A Fortran array holds element j of all items together; here each item's elements come together (still in the
/// array's own order inside the item). Works on a few MiB at a time.
Result<std::shared_ptr<const ByteSource>> ArrayFile::itemsFirst(const ByteSource& source) const
{
    const auto items = static_cast<uint64_t>(m_header.shape[0]);
    const auto elements = static_cast<uint64_t>(itemElements());
    const size_t bytes = m_header.itemBytes;
    QS_TRY(const auto scratch, ScratchBytes::create(items * elements * bytes));
    if (items == 0 || elements == 0)
        return std::shared_ptr<const ByteSource>(scratch);
    const uint64_t step = std::clamp<uint64_t>(ScratchBytes::kMemoryBytes / (items * bytes), 1, elements);
    std::vector<std::byte> block(static_cast<size_t>(step * items * bytes));
    std::vector<std::byte> piece(static_cast<size_t>(step * bytes));
    for (uint64_t j = 0; j < elements; j += step) {
        const uint64_t n = std::min(step, elements - j);
        const auto part = std::span(block).first(static_cast<size_t>(n * items * bytes));
        QS_CHECK(source.read(m_header.dataOffset + j * items * bytes, part));
        for (uint64_t item = 0; item < items; ++item) {
            for (uint64_t k = 0; k < n; ++k)
                std::memcpy(&piece[static_cast<size_t>(k * bytes)],
                    &part[static_cast<size_t>((k * items + item) * bytes)], bytes);
            QS_CHECK(
                scratch->write((item * elements + j) * bytes, std::span(piece).first(static_cast<size_t>(n * bytes))));
        }
    }
    return std::shared_ptr<const ByteSource>(scratch);
}

Result<Tensor> ArrayFile::items(int64_t first, int64_t count) const
{
    Shape shape = m_header.shape;
    if (!shape.empty())
        shape[0] = count;
    const uint64_t offset = m_start + static_cast<uint64_t>(first * itemElements()) * m_header.itemBytes;
    Tensor out = Tensor::allocate(m_header.dtype, shape);
    const std::span<std::byte> bytes(reinterpret_cast<std::byte*>(out.fill<uint8_t>().data()), out.byteCount());
    const bool reorder = m_header.fortranOrder && shape.size() > 1;
    std::vector<std::byte> stored(reorder ? bytes.size() : 0);
    const Status read = m_source->read(offset, reorder ? std::span(stored) : bytes);
    QS_CHECK(m_opened->unchanged()); // which would be why
    QS_CHECK(read);
    if (reorder)
        itemsFromFortran(stored.data(), bytes.data(), Shape(shape.begin() + 1, shape.end()), count, m_header.itemBytes);
    if (m_header.swapped) {
        const bool pairs = m_header.dtype == DType::Complex64 || m_header.dtype == DType::Complex128;
        swapBytes(bytes, pairs ? m_header.itemBytes / 2 : m_header.itemBytes);
    }
    if (m_header.dtype == DType::Bool)
        for (std::byte& b : bytes)
            b = b == std::byte(0) ? b : std::byte(1);
    return out;
}

Result<ArrayArchive> ArrayArchive::open(const std::string& path)
{
    ArrayArchive archive;
    archive.m_path = path;
    QS_TRY(const auto file, openFileBytes(path));
    QS_TRY(archive.m_opened, OpenedFile::at(path));
    std::byte magic[4] = {};
    if (file->size() >= sizeof magic)
        QS_CHECK(file->read(0, magic));
    if (std::memcmp(magic, "\x93NUM", 4) == 0) {
        archive.m_keys.emplace_back();
        archive.m_members.emplace_back();
        return archive;
    }
    if (std::memcmp(magic, "PK", 2) != 0)
        return badInput("is neither a .npz nor a .npy file", path,
            "give arrays saved with numpy.savez or numpy.save, a folder, or random:N");
    QS_TRY(ZipArchive zip, ZipArchive::open(path));
    archive.m_archive = std::make_shared<const ZipArchive>(std::move(zip));
    for (const ZipMember& member : archive.m_archive->members()) {
        constexpr std::string_view kEnding = ".npy";
        std::string key = member.name;
        if (key.size() > kEnding.size() && key.ends_with(kEnding))
            key.resize(key.size() - kEnding.size());
        if (archive.has(key)) {
            Issue issue = badInput("the archive holds two arrays of this name", path, "save it again with numpy.savez");
            issue.tensor = key;
            return issue;
        }
        archive.m_keys.push_back(std::move(key));
        archive.m_members.push_back(member);
    }
    return archive;
}

bool ArrayArchive::has(const std::string& key) const
{
    return std::find(m_keys.begin(), m_keys.end(), key) != m_keys.end();
}

Result<ArrayFile> ArrayArchive::array(const std::string& key) const
{
    const auto found = std::find(m_keys.begin(), m_keys.end(), key);
    if (found == m_keys.end())
        return internalError("array '" + key + "' was not looked up first");
    ArrayFile array;
    array.m_path = m_path;
    array.m_opened = m_opened;
    array.m_key = key;
    array.m_archive = m_archive;
    array.m_member = m_members[static_cast<size_t>(found - m_keys.begin())];
    if (m_archive) {
        QS_TRY(const auto prefix, m_archive->prefix(array.m_member, kNpyPrefix));
        QS_TRY(const size_t length, npyHeaderBytes(prefix, m_path, key));
        QS_TRY(const auto header, m_archive->prefix(array.m_member, length));
        QS_TRY(array.m_header, parseNpyHeader(header, m_path, key));
        if (array.m_header.storedBytes != array.m_member.size)
            return wrongLength(m_path, key, array.m_header, array.m_member.size);
        return array;
    }
    QS_TRY(const auto file, openFileBytes(m_path));
    std::vector<std::byte> header(static_cast<size_t>(std::min<uint64_t>(kNpyPrefix, file->size())));
    QS_CHECK(file->read(0, header));
    QS_TRY(const size_t length, npyHeaderBytes(header, m_path, key));
    header.resize(static_cast<size_t>(std::min<uint64_t>(length, file->size())));
    QS_CHECK(file->read(0, header));
    QS_TRY(array.m_header, parseNpyHeader(header, m_path, key));
    if (array.m_header.storedBytes != file->size())
        return wrongLength(m_path, key, array.m_header, file->size());
    return array;
}

} // namespace qs
