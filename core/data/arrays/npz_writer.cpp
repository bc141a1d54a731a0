// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/npz_writer.h"

#include "core/base/files/file_identity.h"
#include "core/base/files/neighbour.h"
#include "core/base/text/one_line.h"
#include "core/base/text/utf8.h"
#include "core/data/arrays/npy_writer.h"
#include "core/data/arrays/zip_target.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <unistd.h>

namespace qs {

namespace {

/// A tensor in a type that numpy has, plain order.
Tensor forNumpy(const Tensor& t)
{
    const Tensor plain = toPlain(t);
    if (dtypeBits(plain.dtype()) < 8 && isInteger(plain.dtype()))
        return unpacked(plain);
    if (npyTypeName(plain.dtype()).empty() && isFloat(plain.dtype()))
        return Tensor::of<float>(plain.shape(), toFloats(plain));
    return plain;
}

/// Shape of an array with one item a sample.
Shape stacked(const Shape& shape, size_t samples)
{
    Shape all { int64_t(samples) };
    all.insert(all.end(), shape.begin(), shape.end());
    return all;
}

/// Code points of a text in UTF-8; what is none becomes the replacement character.
std::u32string codePoints(const std::string& text)
{
    std::u32string out;
    forEachCharacter(text, [&](const Utf8Character& c) { out += c.point; });
    return out;
}

/// Of an archive's member: names of such files hold no control characters, so these are told by their codes (%1B).
std::string memberName(const std::string& name)
{
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7f)
            out += c;
        else
            out += { '%', kDigits[byte / 16], kDigits[byte % 16] };
    }
    return out + ".npy";
}

Issue writeIssue(const std::string& path, const std::string& why)
{
    return badInput("cannot be written: " + why, path, "give a path in a folder that exists and has room");
}

struct FilePart {
    int fd;
    uint64_t begin, length;
};

/// Its index, or -1. Nothing of it stays open then.
zip_int64_t addMember(zip_t* zip, const std::string& name, const FilePart& part)
{
    const int own = dup(part.fd);
    std::FILE* const reader = own >= 0 ? fdopen(own, "rb") : nullptr;
    if (!reader) {
        if (own >= 0)
            close(own);
        return -1;
    }
    zip_source_t* const source = zip_source_filep(zip, reader, part.begin, static_cast<zip_int64_t>(part.length));
    if (!source) {
        std::fclose(reader);
        return -1;
    }
    const zip_int64_t index = zip_file_add(zip, name.c_str(), source, ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE);
    if (index < 0)
        zip_source_free(source);
    return index;
}

} // namespace

struct NpzWriter::State {
    std::string path;
    std::vector<std::string> names;
    size_t samples = 0;
    std::FILE* temporary = nullptr;
    struct Region {
        DType type = DType::Undefined;
        Shape shape;
        std::string header;
        uint64_t begin = 0;
        size_t bytes = 0; ///< of one sample
        std::vector<Tensor> texts; ///< by sample: strings are laid out at the end, when the longest is known
    };
    std::mutex mutex;
    std::vector<Region> regions; ///< empty until the first sample

    ~State()
    {
        if (temporary)
            std::fclose(temporary);
    }
    uint64_t end = 0; ///< of what is laid out
    Status layOut(const std::vector<Tensor>& tensors);
    Status layOutTexts(Region& region);
    Status put(const void* data, size_t bytes, uint64_t at) const;
};

Status NpzWriter::State::put(const void* data, size_t bytes, uint64_t at) const
{
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t n = pwrite(fileno(temporary), from, bytes, static_cast<off_t>(at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return writeIssue(path, std::strerror(errno));
        from += n;
        at += static_cast<uint64_t>(n);
        bytes -= static_cast<size_t>(n);
    }
    return {};
}

Status NpzWriter::State::layOut(const std::vector<Tensor>& tensors)
{
    for (const Tensor& tensor : tensors) {
        Region r;
        r.type = tensor.dtype();
        r.shape = tensor.shape();
        if (r.type == DType::String) {
            r.texts.resize(samples);
        } else {
            r.header = npyHeader(npyTypeName(r.type), stacked(r.shape, samples));
            r.begin = end;
            r.bytes = tensor.byteCount();
            end += r.header.size() + uint64_t(r.bytes) * samples;
            QS_CHECK(put(r.header.data(), r.header.size(), r.begin));
        }
        regions.push_back(std::move(r));
    }
    return {};
}

Status NpzWriter::State::layOutTexts(Region& r)
{
    std::vector<std::vector<std::u32string>> texts(samples);
    size_t width = 1;
    for (size_t sample = 0; sample < samples; ++sample)
        if (r.texts[sample].valid())
            for (const std::string& text : r.texts[sample].stringData()) {
                texts[sample].push_back(codePoints(text));
                width = std::max(width, texts[sample].back().size());
            }
    r.header = npyHeader("<U" + std::to_string(width), stacked(r.shape, samples));
    r.begin = end;
    r.bytes = static_cast<size_t>(elementCount(r.shape).value_or(0)) * width * sizeof(char32_t);
    end += r.header.size() + uint64_t(r.bytes) * samples;
    QS_CHECK(put(r.header.data(), r.header.size(), r.begin));
    for (size_t sample = 0; sample < samples; ++sample) {
        std::u32string all;
        for (std::u32string& text : texts[sample]) {
            text.resize(width, U'\0');
            all += text;
        }
        QS_CHECK(
            put(all.data(), all.size() * sizeof(char32_t), r.begin + r.header.size() + uint64_t(r.bytes) * sample));
    }
    return {};
}

NpzWriter::NpzWriter(std::unique_ptr<State> state)
    : m_state(std::move(state))
{
}
NpzWriter::NpzWriter(NpzWriter&&) noexcept = default;
NpzWriter::~NpzWriter() = default;

Result<NpzWriter> NpzWriter::create(const std::string& path, std::vector<std::string> names, size_t samples)
{
    std::error_code none;
    if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none)
        && !std::filesystem::is_directory(path, none))
        return badInput("is no regular file", path, "give the path of an .npz file to write");
    QS_CHECK(canBeWritten(path));
    auto state = std::make_unique<State>();
    state->path = path;
    state->names = std::move(names);
    state->samples = samples;
    const int fd = makeUnnamedFile(std::filesystem::path(resolvedPath(path)).parent_path().string());
    if (fd < 0)
        return writeIssue(path, std::strerror(errno));
    state->temporary = fdopen(fd, "w+b");
    if (!state->temporary) {
        const int error = errno;
        close(fd);
        return writeIssue(path, std::strerror(error));
    }
    return NpzWriter(std::move(state));
}

Status NpzWriter::add(size_t sample, const std::vector<Tensor>& tensors)
{
    std::vector<Tensor> ready;
    for (const Tensor& t : tensors)
        ready.push_back(forNumpy(t));
    {
        const std::lock_guard lock(m_state->mutex);
        if (m_state->regions.empty())
            QS_CHECK(m_state->layOut(ready));
    }
    for (size_t i = 0; i < ready.size(); ++i) {
        State::Region& r = m_state->regions[i];
        if (ready[i].shape() != r.shape || ready[i].dtype() != r.type) {
            Issue issue = badInput("has shape " + shapeText(ready[i].shape()) + " for sample " + std::to_string(sample)
                    + " and " + shapeText(r.shape) + " for another, so the samples do not stack",
                {}, "use --limit 1");
            issue.tensor = m_state->names[i];
            return issue;
        }
        if (r.type == DType::String) {
            r.texts[sample] = ready[i];
            continue;
        }
        QS_CHECK(
            m_state->put(ready[i].bytes().data(), r.bytes, r.begin + r.header.size() + uint64_t(r.bytes) * sample));
    }
    return {};
}

Status NpzWriter::finish()
{
    QS_TRY(AtomicFile file, AtomicFile::create(m_state->path));
    for (State::Region& r : m_state->regions)
        if (r.type == DType::String)
            QS_CHECK(m_state->layOutTexts(r));
    std::fflush(m_state->temporary);
    std::vector<std::string> names;
    std::set<std::string> known;
    for (const std::string& name : m_state->names) {
        names.push_back(memberName(name));
        if (!known.insert(names.back()).second)
            return writeIssue(m_state->path, "two tensors are called alike there, '" + oneLine(name, 120) + "'");
    }
    ZipTarget target(file.fd());
    zip_t* zip = target.open();
    if (!zip)
        return writeIssue(m_state->path, "the archive could not be made");
    for (size_t i = 0; i < m_state->names.size(); ++i) {
        const State::Region& r = m_state->regions[i];
        const uint64_t length = r.header.size() + uint64_t(r.bytes) * m_state->samples;
        const zip_int64_t index = addMember(zip, names[i], { fileno(m_state->temporary), r.begin, length });
        if (index < 0) {
            const std::string why = zip_strerror(zip);
            zip_discard(zip);
            return writeIssue(m_state->path, "the archive could not be made (" + why + ")");
        }
        zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
        // Equal results are equal files, whenever they were made: 1 January 1980, the first day a zip file knows.
        zip_file_set_dostime(zip, static_cast<zip_uint64_t>(index), 0, (1 << 5) | 1, 0);
    }
    if (zip_close(zip) != 0) {
        const std::string why = zip_strerror(zip);
        zip_discard(zip);
        return target.error() != 0 ? file.writeIssue(target.error()) : writeIssue(m_state->path, why);
    }
    return file.commit();
}

} // namespace qs
