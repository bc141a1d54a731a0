// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/open_data.h"

#include "core/data/forms.h"

#include <filesystem>

namespace qs {

namespace {

constexpr const char* kPositions = "positions"; ///< of a text, among the shapes of its request

enum class Form { Random, Array, TestData, Images, Text };

DataResult openForm(
    Form form, const DataRequest& request, const std::vector<InputSpec>& inputs, const std::vector<InputSpec>& states)
{
    switch (form) {
    case Form::Random:
        return openRandomData(request, inputs);
    case Form::Array:
        return openArrayData(request, inputs, states);
    case Form::TestData:
        return openTestData(request, inputs, states);
    case Form::Text:
        return openTextData(request, inputs);
    case Form::Images:
        break;
    }
    return openImageData(request, inputs);
}

Result<Form> formOf(const DataRequest& request)
{
    const std::string& spec = request.spec;
    if (spec.empty())
        return badUse("there are no data", "give --data with a .npz or .npy file, a folder, or random:N");
    if (spec.starts_with("random:"))
        return Form::Random;
    if (textPositions(request) > 0)
        return Form::Text;
    std::error_code error;
    const auto kind = std::filesystem::status(spec, error).type();
    if (kind == std::filesystem::file_type::not_found)
        return badInput("does not exist", spec, "give a .npz or .npy file, a folder, or random:N");
    if (kind != std::filesystem::file_type::directory)
        return Form::Array;
    return isTestDataFolder(spec) ? Form::TestData : Form::Images;
}

} // namespace

DataRequest textRequest(const std::string& text, const std::string& tokenizer, size_t positions)
{
    DataRequest request;
    request.spec = text;
    request.preprocess = tokenizer;
    request.shapes[kPositions] = { int64_t(positions) };
    return request;
}

size_t textPositions(const DataRequest& request)
{
    const auto positions = request.shapes.find(kPositions);
    const bool given = !request.preprocess.empty() && request.shapes.size() == 1 && positions != request.shapes.end()
        && positions->second.size() == 1 && positions->second[0] > 0;
    return given ? size_t(positions->second[0]) : 0;
}

Result<std::shared_ptr<const DataSource>> openData(
    const DataRequest& request, const std::vector<InputSpec>& inputs, const std::vector<InputSpec>& states)
{
    for (const InputSpec& input : inputs)
        if (isContainer(input.dtype)) {
            Issue issue = badInput("it is a " + std::string(dtypeName(input.dtype)) + ", which data files cannot hold",
                {}, "give a model whose inputs are tensors");
            issue.tensor = input.name;
            return issue;
        }
    QS_TRY(const Form form, formOf(request));
    QS_TRY(const auto data, openForm(form, request, inputs, states));
    if (form == Form::Text)
        return std::shared_ptr<const DataSource>(data);
    if (!request.preprocess.empty() && form != Form::Images)
        data->warn("--preprocess has no effect: it is for folders of pictures");
    if (!request.shapes.empty() && form != Form::Random)
        data->warn("--shape has no effect: it is for random data");
    return std::shared_ptr<const DataSource>(data);
}

} // namespace qs
