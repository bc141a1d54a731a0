// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tokens/tokenizer_file.h"

#include "core/base/files/json_text.h"
#include "core/base/files/whole_file.h"

#include <nlohmann/json.hpp>

namespace qs {

Status readTokenizerFile(const std::string& path, const std::function<Status(const nlohmann::ordered_json&)>& take)
{
    constexpr const char* kRemedy = "give a tokenizer.json as Hugging Face's tokenizers library writes it";
    QS_TRY(const std::string text, readWholeFile(path, kRemedy));
    auto json = readJson(text);
    Status status;
    try {
        status = json.ok() ? take(*json) : Status(json.issue());
    } catch (const nlohmann::ordered_json::exception&) {
        status = badInput("is no tokenizer, or a damaged one");
    }
    if (status.ok())
        return status;
    Issue issue = std::move(status).issue();
    issue.file = path;
    if (issue.remedy.empty())
        issue.remedy = kRemedy;
    return issue;
}

} // namespace qs
