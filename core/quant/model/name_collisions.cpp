// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/name_collisions.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

/// Where each tensor of a draft comes from: how many nodes, constants and inputs make it.
std::map<std::string, int> origins(const GraphDraft& draft)
{
    std::map<std::string, int> made;
    for (const std::string& name : draft.constants())
        ++made[name];
    for (const std::string& name : draft.inputs())
        if (!draft.constant(name)) // old files list constants as inputs, too
            ++made[name];
    for (const DraftNode& node : draft.nodes)
        for (const std::string& name : node.outputs)
            if (!name.empty())
                ++made[name];
    return made;
}

/// The quantizer names its tensors after those of the model: by something behind their names.
bool isLonger(const std::string& name, const std::map<std::string, int>& tensors)
{
    for (size_t end = name.rfind('_'); end != std::string::npos && end > 0; end = name.rfind('_', end - 1))
        if (tensors.contains(name.substr(0, end)))
            return true;
    return false;
}

/// Nodes that make something else of a constant's name than what was made of that constant (a bias and its codes).
std::set<std::string> madeOfOthers(const GraphDraft& before, const GraphDraft& after)
{
    std::set<std::string> names;
    for (const DraftNode& node : after.nodes)
        for (const std::string& name : node.outputs)
            if (before.constant(name) && !(node.hasInput(0) && node.inputs[0].starts_with(name + "_")))
                names.insert(name);
    return names;
}

/// A float bias that was to get these values, not a tensor of the quantizer's own.
bool wasAskedFor(const KeptCodes* kept, const std::string& name, const Tensor& was, const Tensor& is)
{
    const auto entry = kept ? kept->find(name) : KeptCodes::const_iterator();
    if (!kept || entry == kept->end())
        return false;
    const Tensor codes = valuesOfBias(entry->second, was);
    const Tensor& asked = codes.valid() ? codes : entry->second.codes;
    return asked.dtype() == is.dtype() && std::ranges::equal(asked.bytes(), is.bytes());
}

} // namespace

std::vector<std::string> takenNames(const GraphDraft& before, const GraphDraft& after, const KeptCodes* kept)
{
    const std::map<std::string, int> given = origins(before), made = origins(after);
    std::set<std::string> others = madeOfOthers(before, after);
    for (const std::string& name : before.constants()) // codes that gave way to a node's output of their name
        if (!after.constant(name) && !before.constant(name + "_quantized"))
            others.insert(name + "_quantized");
    std::vector<std::string> taken;
    for (const auto& [name, count] : made) {
        if (!given.contains(name))
            continue;
        const Tensor *was = before.constant(name), *is = after.constant(name);
        const bool replaced
            = was && is && was->bytes().data() != is->bytes().data() && !wasAskedFor(kept, name, *was, *is);
        const bool hidden = !was && is && before.isInput(name);
        if (count > 1 || hidden || others.contains(name) || (replaced && isLonger(name, given)))
            taken.push_back(name);
    }
    return taken;
}

size_t renameDoubleNodes(GraphDraft& draft, const GraphDraft& after)
{
    std::map<std::string, int> known;
    for (const DraftNode& node : after.nodes)
        ++known[node.name];
    std::set<std::string> given;
    for (const DraftNode& node : draft.nodes)
        given.insert(node.name);
    size_t renamed = 0;
    for (const DraftNode& node : after.nodes) {
        if (node.origin.valid() || node.name.empty() || known[node.name] < 2 || !given.contains(node.name))
            continue;
        for (DraftNode& own : draft.nodes)
            if (own.name == node.name && own.origin.valid()) {
                for (int number = 1; known.contains(own.name); ++number)
                    own.name = node.name + "_" + std::to_string(number);
                ++renamed;
            }
    }
    return renamed;
}

Status renameTensor(GraphDraft& draft, const std::string& from, const std::string& to)
{
    if (draft.isInput(from) || draft.isOutput(from) || draft.isCaptured(from))
        return Issue { IssueKind::BadInput, "has a name that the quantizer gives to a tensor of its own",
            draft.source().path, {}, from, "call it otherwise in the float model" };
    if (const Tensor* constant = draft.constant(from)) {
        draft.setConstant(to, *constant);
        draft.removeConstant(from);
    }
    for (DraftNode& node : draft.nodes)
        for (auto* names : { &node.inputs, &node.outputs })
            std::ranges::replace(*names, from, to);
    if (auto type = draft.types.extract(from)) {
        type.key() = to;
        draft.types.insert(std::move(type));
    }
    return {};
}

std::string freeName(const GraphDraft& draft, const std::string& name)
{
    const std::map<std::string, int> taken = origins(draft);
    for (int number = 1;; ++number)
        if (std::string free = name + "_" + std::to_string(number); !taken.contains(free))
            return free;
}

} // namespace qs
