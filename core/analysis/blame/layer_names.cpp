// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/blame/layer_names.h"

#include <cctype>
#include <map>
#include <set>

namespace qs {

namespace {

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Ends of the scopes of a name that end with a number, without the node's own name.
std::vector<size_t> numberedScopes(const std::string& name)
{
    std::vector<size_t> ends;
    for (size_t slash = name.find('/', 1); slash != std::string::npos; slash = name.find('/', slash + 1))
        if (isDigit(name[slash - 1]))
            ends.push_back(slash);
    return ends;
}

std::string withoutNumber(std::string scope)
{
    while (!scope.empty() && isDigit(scope.back()))
        scope.pop_back();
    return scope;
}

} // namespace

std::vector<std::string> layersOf(const std::vector<std::string>& nodes)
{
    std::map<std::string, std::set<std::string>> siblings; // by what stands before the number
    for (const std::string& node : nodes)
        for (const size_t end : numberedScopes(node))
            siblings[withoutNumber(node.substr(0, end))].insert(node.substr(0, end));
    std::vector<std::string> layers;
    for (const std::string& node : nodes) {
        std::string layer;
        for (const size_t end : numberedScopes(node))
            if (layer.empty() && siblings[withoutNumber(node.substr(0, end))].size() > 1)
                layer = node.substr(0, end);
        layers.push_back(std::move(layer));
    }
    return layers;
}

} // namespace qs
