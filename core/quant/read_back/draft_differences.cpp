// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/draft_differences.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// All that tells two quantized nodes apart.
std::string keyOf(const DraftNode& node)
{
    // A file without names goes by the first outputs.
    const bool unnamed = !node.outputs.empty() && node.name == node.outputs.front();
    std::string key = node.opType + '\n' + node.domain + '\n' + (unnamed ? std::string() : node.name);
    const auto add = [&](const std::vector<std::string>& names) {
        size_t used = names.size();
        while (used > 0 && names[used - 1].empty())
            --used;
        key += '\n' + std::to_string(used);
        for (size_t i = 0; i < used; ++i)
            key += '\n' + names[i];
    };
    add(node.inputs);
    add(node.outputs);
    for (const char* attribute : { "axis", "block_size", "bits", "accuracy_level", "opset" })
        key += '\n' + std::to_string(node.attributes.integer(attribute, INT64_MIN));
    return key;
}

std::map<std::string, const DraftNode*> keysOf(const GraphDraft& draft)
{
    std::map<std::string, const DraftNode*> keys;
    for (const DraftNode& node : draft.nodes)
        keys.emplace(keyOf(node), &node);
    return keys;
}

bool equal(const Tensor& a, const Tensor& b)
{
    if (a.dtype() != b.dtype() || a.shape() != b.shape())
        return false;
    if (a.dtype() == DType::String)
        return a.stringData() == b.stringData();
    const Tensor x = toPlain(a), y = toPlain(b);
    return std::ranges::equal(x.bytes(), y.bytes());
}

} // namespace

DraftDifferences draftDifferences(const GraphDraft& a, const GraphDraft& b)
{
    DraftDifferences found;
    std::set<std::string> names;
    const auto ours = keysOf(a), theirs = keysOf(b);
    for (const auto& [mine, other] : { std::pair(&ours, &theirs), std::pair(&theirs, &ours) })
        for (const auto& [key, node] : *mine)
            if (!other->contains(key))
                names.insert(node->name);
    found.nodes.assign(names.begin(), names.end());
    for (const std::string& name : a.constants()) {
        const Tensor* other = b.constant(name);
        if (!other)
            found.lackingConstants.push_back(name);
        else if (!equal(*a.constant(name), *other))
            found.changedConstants.push_back(name);
    }
    for (const std::string& name : b.constants())
        if (!a.constant(name))
            found.lackingConstants.push_back(name);
    return found;
}

} // namespace qs
