// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/functions.h"

namespace qs {

OpsetImports opsetImportsOf(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports)
{
    OpsetImports found;
    for (const auto& import : imports)
        found.insert_or_assign(safeDomain(import.domain()), import.version());
    return found;
}

FunctionTable::FunctionTable(const onnx::ModelProto& model, const OpsetImports& modelOpsets)
{
    for (const auto& proto : model.functions()) {
        Function f;
        f.proto = &proto;
        const std::string domain = safeDomain(proto.domain());
        f.label = (domain.empty() ? "ai.onnx" : domain) + ":" + safeText(proto.name());
        f.opsets = opsetImportsOf(proto.opset_import());
        f.opsets.insert(modelOpsets.begin(), modelOpsets.end());
        f.defaults = attributeDefaults(proto);
        f.valueInfos = valueInfos(proto);
        m_functions.try_emplace({ domain, proto.name(), overloadOf(proto) }, std::move(f));
    }
}

const Function* FunctionTable::find(const onnx::NodeProto& node) const
{
    if (m_functions.empty())
        return nullptr;
    const auto it = m_functions.find({ safeDomain(node.domain()), node.op_type(), overloadOf(node) });
    return it == m_functions.end() ? nullptr : &it->second;
}

} // namespace qs
