// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/origin/module_path.h"

#include "core/graph/origin/bounded_text.h"
#include "core/graph/origin/name_scopes.h"
#include "core/graph/origin/python_text.h"

#include <algorithm>

namespace qs {

namespace {

ModulePath ofLists(const std::vector<std::string>& scopes, const std::vector<std::string>& types)
{
    ModulePath path;
    const bool typed = types.size() == scopes.size();
    for (size_t i = 0; i + 1 < scopes.size(); ++i)
        path.levels.push_back({ boundedName(scopes[i]), typed ? boundedName(types[i]) : std::string() });
    if (typed && !types.empty())
        path.operation = boundedName(types.back());
    return path;
}

/// ": tiny.Net/stem: torch.nn.modules.conv.Conv2d/conv2d: aten.conv2d.default"
ModulePath ofNamespace(std::string_view text)
{
    std::vector<std::string> scopes, types;
    while (!text.empty()) {
        const size_t end = std::min(text.find('/'), text.size());
        const std::string_view level = text.substr(0, end);
        const size_t colon = level.find(": ");
        if (colon == std::string_view::npos)
            return {};
        scopes.emplace_back(level.substr(0, colon));
        types.emplace_back(level.substr(colon + 2));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return ofLists(scopes, types);
}

} // namespace

ModulePath modulePathOf(const Metadata& metadata)
{
    const auto entry = [&](std::string_view key) { return metadata.find(key).substr(0, kMostEntryBytes); };
    const std::vector<std::string> scopes = pythonStrings(entry("pkg.torch.onnx.name_scopes"));
    if (!scopes.empty())
        return ofLists(scopes, pythonStrings(entry("pkg.torch.onnx.class_hierarchy")));
    return ofNamespace(entry("namespace"));
}

std::vector<std::string> moduleScopes(const Node& node)
{
    std::vector<std::string> scopes = nameScopes(node.name);
    if (!scopes.empty() || !node.cameFrom)
        return scopes;
    std::shared_ptr<const Metadata> metadata = node.cameFrom->metadata;
    for (DerivationPtr way = node.cameFrom->derivation; !metadata && way; way = way->outer)
        metadata = way->nodes.empty() ? nullptr : way->nodes.front().metadata;
    const ModulePath path = metadata ? modulePathOf(*metadata) : ModulePath();
    return path.levels.empty() ? scopes : dottedParts(path.levels.back().path);
}

} // namespace qs
