// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/onnx/files/proto.h"

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace qs {

/// Versions by domain, "" = ai.onnx.
using OpsetImports = std::map<std::string, int64_t>;

OpsetImports opsetImportsOf(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

/// A model-local function with what newer formats added to it.
struct Function {
    const onnx::FunctionProto* proto = nullptr;
    std::string label; ///< "domain:name", for issues
    OpsetImports opsets; ///< its own imports, the model's for domains it does not import
    std::vector<onnx::AttributeProto> defaults;
    std::vector<onnx::ValueInfoProto> valueInfos;
};

/// The functions of a model by domain, name and overload.
class FunctionTable {
public:
    FunctionTable() = default;
    FunctionTable(const onnx::ModelProto& model, const OpsetImports& modelOpsets);
    /// Null when the node calls none of them.
    const Function* find(const onnx::NodeProto& node) const;

private:
    using Key = std::tuple<std::string, std::string, std::string>;
    std::map<Key, Function> m_functions;
};

} // namespace qs
