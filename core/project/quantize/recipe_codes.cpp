// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/recipe_codes.h"

#include "core/onnx/import.h"
#include "core/quant/read_back/file_codes.h"

#include <filesystem>

namespace qs {

namespace {

std::string whereItIs(const FileCodes& wanted, const Model& floatModel)
{
    namespace fs = std::filesystem;
    std::error_code none;
    if (fs::exists(wanted.file, none))
        return wanted.file;
    const fs::path beside = fs::path(floatModel.path).parent_path() / fs::path(wanted.file).filename();
    return fs::exists(beside, none) ? beside.string() : wanted.file;
}

} // namespace

Result<std::shared_ptr<const KeptCodes>> recipeCodes(const QuantizeInputs& inputs)
{
    const FileCodes& wanted = inputs.recipe.codes;
    // Rounding by what it does to the outputs finds all codes itself.
    if (wanted.constants.empty() || !isStatic(inputs.recipe.format) || inputs.recipe.corrections.adaround)
        return std::shared_ptr<const KeptCodes>();
    const Quantization* earlier = inputs.earlier.get();
    if (earlier && earlier->fileCodes && earlier->recipe.codes == wanted)
        return earlier->fileCodes;
    const std::string path = whereItIs(wanted, *inputs.model);
    auto file = importModel(path);
    if (!file) {
        Issue issue = std::move(file).issue();
        issue.remedy = "the recipe takes codes from it: put it there, or leave codes out of the recipe";
        return issue;
    }
    QS_TRY(KeptCodes codes, readCodes(*file, wanted));
    return std::make_shared<const KeptCodes>(std::move(codes));
}

void warnOfNewCodes(const FileCodes& wanted, const CodeOrigins& codes, std::vector<std::string>& warnings)
{
    if (codes.anew.empty())
        return;
    constexpr size_t kShown = 3;
    std::string names;
    size_t shown = 0;
    for (const std::string& name : codes.anew)
        if (++shown <= kShown)
            names += (names.empty() ? "'" : ", '") + name + "'";
    if (codes.anew.size() > kShown)
        names += " and " + std::to_string(codes.anew.size() - kShown) + " more";
    warnings.push_back("the codes of " + names + " are computed anew: the values or the parameters are not those that "
        + wanted.file + " has codes for");
}

} // namespace qs
