// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/saved_values.h"

#include "core/data/arrays/array_file.h"
#include "core/data/arrays/byte_source.h"
#include "core/data/arrays/tensor_proto.h"
#include "core/data/natural_order.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

constexpr uint64_t kLargestSavedFile = uint64_t(1) << 33;

class SavedArrays final : public SavedValues::Source {
public:
    explicit SavedArrays(std::vector<ArrayFile> arrays)
        : m_arrays(std::move(arrays))
    {
    }
    Result<Tensor> read(size_t value, size_t first, size_t count) const override
    {
        return m_arrays[value].items(int64_t(first), int64_t(count));
    }

private:
    std::vector<ArrayFile> m_arrays;
};

/// One folder a sample, one file a value.
class SavedProtos final : public SavedValues::Source {
public:
    explicit SavedProtos(std::vector<std::vector<std::string>> files)
        : m_files(std::move(files))
    {
    }
    Result<Tensor> read(size_t value, size_t first, size_t) const override
    {
        QS_TRY(NamedTensor named, parse(m_files[first][value]));
        return std::move(named.tensor);
    }
    static Result<NamedTensor> parse(const std::string& file)
    {
        QS_TRY(const std::string bytes, readSmallFile(file, kLargestSavedFile));
        return parseTensorProto(bytes, file);
    }

private:
    std::vector<std::vector<std::string>> m_files;
};

/// Paths in a folder whose names begin and end so, in natural order.
std::vector<std::string> pathsIn(const std::string& folder, const char* begin, const char* end)
{
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), last; !error && it != last; it.increment(error))
        if (std::string name = it->path().filename().string(); name.starts_with(begin) && name.ends_with(end))
            names.push_back(std::move(name));
    std::ranges::sort(names, naturalLess);
    for (std::string& name : names)
        name.insert(0, folder + "/");
    return names;
}

Issue tooFew(const std::string& path, size_t held, size_t asked)
{
    return badInput("holds " + std::to_string(held) + " samples, but " + std::to_string(asked) + " are compared", path,
        "save all samples, or use --limit " + std::to_string(std::max<size_t>(held, 1)));
}

} // namespace

Result<SavedValues> SavedValues::open(const std::string& path, size_t samples)
{
    SavedValues saved;
    saved.m_path = path;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        auto folders = pathsIn(path, "test_data_set_", "");
        if (folders.empty())
            folders.push_back(path);
        if (folders.size() < samples)
            return tooFew(path, folders.size(), samples);
        std::vector<std::vector<std::string>> files;
        for (const std::string& folder : folders)
            files.push_back(pathsIn(folder, "output_", ".pb"));
        if (files.front().empty())
            return badInput("holds no output_K.pb", path, "give a folder of ONNX test data with outputs, or a .npz");
        if (std::ranges::any_of(files, [&](const auto& f) { return f.size() != files.front().size(); }))
            return badInput(
                "has folders with different numbers of outputs", path, "save the same outputs of each sample");
        for (size_t i = 0; i < files.front().size(); ++i) {
            QS_TRY(const NamedTensor first, SavedProtos::parse(files.front()[i]));
            saved.m_values.push_back({ first.name, i });
        }
        saved.m_source = std::make_shared<SavedProtos>(std::move(files));
        return saved;
    }
    QS_TRY(const ArrayArchive archive, ArrayArchive::open(path));
    std::vector<ArrayFile> arrays;
    for (const std::string& key : archive.keys()) {
        QS_TRY(ArrayFile array, archive.array(key));
        const size_t held = array.shape().empty() ? 0 : size_t(array.shape()[0]);
        if (held < samples) {
            Issue issue = tooFew(path, held, samples);
            issue.tensor = key;
            return issue;
        }
        QS_CHECK(array.prepare(int64_t(samples)));
        saved.m_values.push_back({ key, arrays.size() });
        arrays.push_back(std::move(array));
    }
    if (arrays.empty())
        return badInput("holds no array", path, "save one array for each output");
    saved.m_source = std::make_shared<SavedArrays>(std::move(arrays));
    return saved;
}

} // namespace qs
