// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/byte_source.h"
#include "core/data/arrays/tensor_proto.h"
#include "core/data/forms.h"
#include "core/data/input_fit.h"
#include "core/data/natural_order.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kLargestTensorFile = uint64_t(1) << 33;

bool isInputFile(const std::string& name) { return name.starts_with("input_") && name.ends_with(".pb"); }

/// Names in a folder that pass, in natural order.
template <class Pass> std::vector<std::string> namesIn(const std::string& folder, Pass pass)
{
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (std::string name = it->path().filename().string(); pass(*it, name))
            names.push_back(std::move(name));
    std::sort(names.begin(), names.end(), naturalLess);
    return names;
}

std::vector<std::string> inputFiles(const std::string& folder)
{
    return namesIn(folder, [](const fs::directory_entry&, const std::string& name) { return isInputFile(name); });
}

std::vector<std::string> setFolders(const std::string& folder)
{
    return namesIn(folder, [](const fs::directory_entry& entry, const std::string& name) {
        std::error_code error;
        return name.starts_with("test_data_set_") && entry.is_directory(error);
    });
}

Result<Tensor> fitted(Tensor tensor, const InputSpec& input, const std::string& file)
{
    if (!convertible(tensor.dtype(), input.dtype))
        return dtypeIssue(input, tensor.dtype(), file);
    if (!fits(tensor.shape(), input))
        return shapeIssue(
            input, shapeText(tensor.shape()), file, "use test data made for this model, or a model for these data");
    return convertTo(std::move(tensor), input, file);
}

class TestData final : public DataSource {
public:
    TestData(std::vector<std::string> folders, std::vector<InputSpec> inputs)
        : m_folders(std::move(folders))
        , m_inputs(std::move(inputs))
    {
        m_samples = m_feeds = m_folders.size();
    }

    /// The files of a set in the order of the inputs: by the tensor's name where all are named, else by number.
    Result<Feed> feed(size_t index) const override
    {
        const std::string& folder = m_folders[index];
        QS_TRY(auto set, readSet(folder));
        auto& [tensors, files] = set;
        Feed feed;
        feed.firstSample = index;
        for (size_t i = 0; i < m_inputs.size(); ++i) {
            const size_t at = find(tensors, i);
            if (at >= tensors.size()) {
                Issue issue = badInput("there is no input_" + std::to_string(i) + ".pb for the input", folder,
                    "give one file for each of the model's inputs");
                issue.tensor = m_inputs[i].name;
                return issue;
            }
            QS_TRY(Tensor tensor, fitted(std::move(tensors[at].tensor), m_inputs[i], files[at]));
            feed.inputs.push_back(std::move(tensor));
        }
        return feed;
    }

    /// Of the first set, by name.
    Status readStates(const std::vector<InputSpec>& states)
    {
        if (states.empty())
            return {};
        QS_TRY(auto set, readSet(m_folders.front()));
        for (const InputSpec& state : states)
            for (size_t i = 0; i < set.tensors.size(); ++i)
                if (set.tensors[i].name == state.name) {
                    QS_TRY(Tensor tensor, fitted(std::move(set.tensors[i].tensor), state, set.files[i]));
                    m_initialStates.emplace(state.name, std::move(tensor));
                }
        return {};
    }

    std::string sampleName(size_t sample) const override { return fs::path(m_folders[sample]).filename().string(); }

private:
    struct Set {
        std::vector<NamedTensor> tensors;
        std::vector<std::string> files; ///< of each
    };
    static Result<Set> readSet(const std::string& folder)
    {
        Set set;
        for (const std::string& name : inputFiles(folder)) {
            set.files.push_back(folder + "/" + name);
            QS_TRY(const std::string bytes, readSmallFile(set.files.back(), kLargestTensorFile));
            QS_TRY(NamedTensor tensor, parseTensorProto(bytes, set.files.back()));
            set.tensors.push_back(std::move(tensor));
        }
        return set;
    }
    size_t find(const std::vector<NamedTensor>& tensors, size_t input) const
    {
        for (size_t i = 0; i < tensors.size(); ++i)
            if (tensors[i].name == m_inputs[input].name)
                return i;
        const bool inputTaken = input < tensors.size() && namesAnInput(tensors[input].name);
        return inputTaken ? tensors.size() : input;
    }
    bool namesAnInput(const std::string& name) const
    {
        return std::any_of(m_inputs.begin(), m_inputs.end(), [&](const InputSpec& i) { return i.name == name; });
    }

    std::vector<std::string> m_folders;
    std::vector<InputSpec> m_inputs;
};

} // namespace

bool isTestDataFolder(const std::string& path) { return !setFolders(path).empty() || !inputFiles(path).empty(); }

DataResult openTestData(
    const DataRequest& request, const std::vector<InputSpec>& inputs, const std::vector<InputSpec>& states)
{
    std::vector<std::string> folders;
    for (const std::string& name : setFolders(request.spec))
        folders.push_back(request.spec + "/" + name);
    if (folders.empty())
        folders.push_back(request.spec);
    if (request.limit)
        folders.resize(std::min(folders.size(), *request.limit));
    QS_CHECK(feedsFor(folders.size(), 1, request.spec));
    auto data = std::make_shared<TestData>(std::move(folders), inputs);
    QS_CHECK(data->readStates(states));
    QS_CHECK(data->feed(0)); // files that do not fit are found before any work
    return std::shared_ptr<DataSource>(data);
}

} // namespace qs
