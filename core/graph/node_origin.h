// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qs {

/// What a file says of a node or a value beside what it computes. The texts are as the file has them: of any length,
/// and perhaps not UTF-8. Those of a large model lie in the mapped file, so that they take no memory.
struct Metadata {
    std::string_view docString;
    std::vector<std::pair<std::string_view, std::string_view>> entries; ///< keys and values, in file order
    std::shared_ptr<const void> owner; ///< of the bytes

    /// The value of the first entry of that key; empty where there is none.
    std::string_view find(std::string_view key) const;
};

/// A node of the file that one or several of the graph came from.
struct SourceNode {
    std::string name, opType; ///< of a call "domain:function" as type
    std::shared_ptr<const Metadata> metadata;
};

/// How a node came into the graph that is none of the file's nodes as they stand.
struct Derivation {
    enum class Kind : uint8_t {
        Call, ///< from the body of a function; `nodes` is the call
        Branch, ///< from the branch of an If that is taken
        Iteration, ///< one iteration of a Loop or a Scan
        Fused, ///< stands for all of `nodes`, in the order of the graph
    };
    Kind kind = Kind::Fused;
    std::vector<SourceNode> nodes;
    std::optional<int64_t> iteration; ///< from 0; nothing: the same in all, which is computed once
    /// Of the call or the node with the body; of a fused node: how the nodes themselves came into the graph. Null: they
    /// are nodes of the file.
    std::shared_ptr<const Derivation> outer;
};

/// Where a node came from.
struct NodeOrigin {
    std::shared_ptr<const Metadata> metadata; ///< null: the file says nothing
    std::shared_ptr<const Derivation> derivation; ///< null: it is a node of the file
};
using NodeOriginPtr = std::shared_ptr<const NodeOrigin>; ///< null: nothing is known

using DerivationPtr = std::shared_ptr<const Derivation>;
/// Of a node that was taken out of a body: the metadata that is known, and how the body's node came out of it, `way`,
/// behind how it came into the body.
NodeOriginPtr derivedFrom(const NodeOriginPtr& known, const DerivationPtr& way);

struct OriginOf {
    const std::string& name;
    const std::string& opType;
    const NodeOriginPtr& cameFrom;
};
/// Of a node that stands for all of these, in the order of the graph, with the metadata of nodes[main].
NodeOriginPtr fusedOrigin(const std::vector<OriginOf>& nodes, size_t main);

} // namespace qs
