// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/attach/attach_lines.h"

#include "core/base/files/json_text.h"
#include "core/base/text/one_line.h"
#include "core/base/version.h"

namespace qs {

namespace {

constexpr const char *kAttach = "quantscope_attach", *kAdmitted = "quantscope_admitted",
                     *kRefused = "quantscope_refused", *kFarewell = "quantscope_farewell";
constexpr size_t kLongestWord = 400;
const JsonLimits kAttachLimits { size_t(1) << 20, 10'000, 4 };

std::string textAt(const nlohmann::ordered_json& json, const char* key)
{
    const auto value = json.find(key);
    return value != json.end() && value->is_string() ? value->get<std::string>() : std::string();
}

std::string attachText(const nlohmann::ordered_json& json)
{
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

bool isAbsolute(const std::string& path) { return path.starts_with('/') && path.find('\0') == std::string::npos; }

Issue noRequest() { return badUse("this is no agent that wants to attach", "use quantscope-cli mcp --attach"); }

} // namespace

std::string attachLine(const AttachRequest& request)
{
    return attachText({ { kAttach, kVersion }, { "folder", request.folder }, { "allow", request.allow } });
}

Result<AttachRequest> readAttachLine(std::string_view line)
{
    const auto json = readJson(line, kAttachLimits);
    if (!json.ok() || !json->is_object() || textAt(*json, kAttach).empty())
        return noRequest();
    if (textAt(*json, kAttach) != kVersion)
        return badUse("the window is of version " + std::string(kVersion) + ", this is "
                + oneLine(textAt(*json, kAttach), kLongestWord),
            "use both of one version");
    AttachRequest request { textAt(*json, "folder"), {} };
    const auto allow = json->find("allow");
    if (!isAbsolute(request.folder) || allow == json->end() || !allow->is_array() || allow->empty())
        return noRequest();
    for (const auto& folder : *allow) {
        if (!folder.is_string() || !isAbsolute(folder.get<std::string>()))
            return noRequest();
        request.allow.push_back(folder.get<std::string>());
    }
    return request;
}

std::string admittedLine(const std::string& window) { return attachText({ { kAdmitted, window } }); }

std::string refusedLine(const Issue& why) { return attachText({ { kRefused, why.what }, { "remedy", why.remedy } }); }

Result<std::string> readAdmission(std::string_view line)
{
    const auto json = readJson(line, kAttachLimits);
    if (json.ok() && json->is_object() && json->contains(kAdmitted))
        return oneLine(textAt(*json, kAdmitted), kLongestWord);
    if (json.ok() && json->is_object() && json->contains(kRefused))
        return badInput(
            oneLine(textAt(*json, kRefused), kLongestWord), {}, oneLine(textAt(*json, "remedy"), kLongestWord));
    return badInput("the window does not answer as one does", {}, "start it again");
}

std::string farewellLine(const std::string& why) { return attachText({ { kFarewell, why } }); }

std::optional<std::string> readFarewell(std::string_view line)
{
    if (!line.starts_with("{\"" + std::string(kFarewell)))
        return std::nullopt;
    const auto json = readJson(line, kAttachLimits);
    return json.ok() ? std::optional(oneLine(textAt(*json, kFarewell), kLongestWord)) : std::nullopt;
}

} // namespace qs
