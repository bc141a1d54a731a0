// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ops/infer.h"

#include <QString>

/// Facts of single nodes, without a graph.
namespace qs::test {

inline Node makeNode(std::string type, size_t inputs, size_t outputs = 1, std::string domain = {}, int opset = 17)
{
    Node node;
    node.name = "node";
    node.opType = std::move(type);
    node.domain = std::move(domain);
    node.opset = opset;
    for (size_t i = 0; i < inputs; ++i)
        node.inputs.emplace_back(i);
    for (size_t i = 0; i < outputs; ++i)
        node.outputs.emplace_back(inputs + i);
    return node;
}

inline Result<std::vector<Fact>> infer(const Node& node, const std::vector<Fact>& inputs)
{
    const Op* op = opRegistry().find(node);
    return op ? op->infer({ node, inputs }) : Result<std::vector<Fact>>(internalError("unknown operator"));
}

inline Fact ofShape(Shape shape, DType type = DType::Float32) { return fact(type, toDims(shape)); }

inline Fact ints(const std::vector<int64_t>& values)
{
    return constantFact(Tensor::of<int64_t>({ static_cast<int64_t>(values.size()) }, values));
}

inline QString dims(const Result<std::vector<Fact>>& r, size_t i = 0)
{
    if (!r.ok())
        return "issue: " + QString::fromStdString(r.issue().what);
    return (*r)[i].dims ? QString::fromStdString(dimsText(*(*r)[i].dims)) : QString("unknown");
}

} // namespace qs::test
