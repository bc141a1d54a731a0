// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/external_data.h"

#include <algorithm>
#include <charconv>

namespace qs {

namespace fs = std::filesystem;

namespace {

bool isInside(const fs::path& file, const fs::path& folder)
{
    return !folder.empty() && std::ranges::mismatch(folder, file).in1 == folder.end();
}

std::optional<size_t> number(const std::string& text)
{
    size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

struct Reference {
    std::string location;
    size_t offset = 0;
    std::optional<size_t> length;
};

Result<Reference> reference(const onnx::TensorProto& tensor)
{
    Reference r;
    for (const auto& entry : tensor.external_data()) {
        if (entry.key() == "location") {
            r.location = entry.value();
            continue;
        }
        if (entry.key() != "offset" && entry.key() != "length")
            continue;
        const auto value = number(entry.value());
        if (!value)
            return badInput(
                "the " + entry.key() + " of its external data, '" + safeText(entry.value()) + "', is not a number", {},
                "export the model again");
        if (entry.key() == "offset")
            r.offset = *value;
        else
            r.length = value;
    }
    if (r.location.empty())
        return badInput("its external data has no file name", {}, "export the model again");
    return r;
}

} // namespace

ExternalData ExternalData::besideModel(const std::string& modelPath)
{
    std::error_code error;
    ExternalData data;
    const fs::path given = fs::absolute(fs::path(modelPath), error).parent_path();
    const fs::path linked = fs::canonical(fs::path(modelPath), error).parent_path();
    data.m_folders = { fs::weakly_canonical(given, error), linked };
    return data;
}

ExternalData ExternalData::inFolder(const std::string& folder)
{
    std::error_code error;
    ExternalData data;
    data.m_folders = { fs::weakly_canonical(fs::absolute(fs::path(folder.empty() ? "." : folder), error), error) };
    return data;
}

Result<fs::path> ExternalData::resolve(const std::string& location) const
{
    const fs::path relative(location);
    const std::string quoted = "its external data file '" + safeText(location) + "'";
    const bool escapes = std::ranges::find(relative, fs::path("..")) != relative.end();
    if (relative.is_absolute() || escapes || location.find('\0') != std::string::npos)
        return badInput(quoted + " may not be read, since it is named outside the model's folder", {},
            "keep external data beside the model and name it by a relative path without '..'");
    std::error_code error;
    for (const fs::path& folder : m_folders) {
        if (folder.empty())
            continue;
        const fs::path file = fs::canonical(folder / relative, error);
        if (error)
            continue;
        if (std::ranges::none_of(m_folders, [&](const fs::path& f) { return isInside(file, f); }))
            return badInput(quoted + " may not be read, since a link leads out of the model's folder", {},
                "put the file itself beside the model");
        return file;
    }
    return badInput(quoted + " is missing", {}, "put it into the folder of the model");
}

OpenedFiles ExternalData::files() const
{
    OpenedFiles files;
    for (const auto& [path, mapping] : m_mappings)
        if (mapping)
            files.push_back(mapping->file());
    return files;
}

Result<SharedBytes> ExternalData::read(const onnx::TensorProto& tensor, size_t needed)
{
    QS_TRY(const Reference r, reference(tensor));
    const std::string quoted = "its external data file '" + safeText(r.location) + "'";
    if (r.length && *r.length != needed)
        return badInput(
            "it needs " + std::to_string(needed) + " bytes, but its external data has " + std::to_string(*r.length), {},
            "export the model again");
    QS_TRY(const fs::path path, resolve(r.location));
    auto& mapping = m_mappings[path];
    if (!mapping) {
        auto opened = FileMapping::open(path.string());
        if (!opened)
            return badInput(quoted + " cannot be used: " + opened.issue().what, {}, opened.issue().remedy);
        mapping = std::move(opened).value();
    }
    const size_t size = mapping->bytes().size();
    if (r.offset > size || needed > size - r.offset)
        return badInput(quoted + " is too short: " + std::to_string(needed) + " bytes from " + std::to_string(r.offset)
                + " on are needed, it has " + std::to_string(size),
            {}, "copy or export the file again");
    return SharedBytes { mapping->bytes().subspan(r.offset, needed), mapping };
}

} // namespace qs
