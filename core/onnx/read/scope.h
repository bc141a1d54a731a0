// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/node_origin.h"
#include "core/onnx/read/functions.h"

#include <map>
#include <string>
#include <unordered_map>

namespace qs {

struct Scope;

/// An attribute as written at a call, with the scope in which it was written (graphs in it read names from there).
struct BoundAttribute {
    const onnx::AttributeProto* proto = nullptr;
    const Scope* scope = nullptr;
};

/// What names and attribute references mean at one place of the file: in the main graph, in a subgraph (which sees the
/// names around it), or in the body of a function that is expanded for one call (which sees only its own).
struct Scope {
    const Scope* enclosing = nullptr; ///< null for the main graph and for function bodies
    const Scope* caller = nullptr; ///< of a function body
    const Function* function = nullptr; ///< whose body this is or lies in
    const OpsetImports* opsets = nullptr;
    std::string prefix; ///< "call/" in front of the names made in a function body, else empty
    std::unordered_map<std::string, std::string> names; ///< names defined here, and what they are called in the graph
    DerivationPtr calledBy; ///< of a function body: the call
    std::map<std::string, BoundAttribute> attributes; ///< of the call, when this is a function body

    /// Name in the built graph of a name in the file.
    std::string resolve(const std::string& name) const;
    /// The function body this scope is or lies in; null outside of functions.
    const Scope* body() const;
};

} // namespace qs
