// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <onnx/onnx_pb.h>

#include <random>
#include <string>
#include <vector>

namespace qs::test {

/// Changes valid models into models that still parse but mean something else, or nothing.
class ModelMutator {
public:
    explicit ModelMutator(uint64_t seed, std::vector<std::string> opTypes)
        : m_random(seed)
        , m_opTypes(std::move(opTypes))
    {
    }
    /// One to three changes: attributes, inputs, types, sizes, operators, opset versions, stored values.
    void mutate(onnx::ModelProto& model);
    /// One to three changes of what is stored and how it is wired: constants cut, left out, moved to other files or
    /// read in place of others, nodes doubled, left out or exchanged, names made equal, long or strange.
    void rewire(onnx::ModelProto& model);
    /// One to three changes of what is said around the nodes and inside them: outputs too many, inputs and outputs of
    /// the graph, sizes by name, types of values in between, tensors in attributes, sparse constants, bodies,
    /// functions.
    void reframe(onnx::ModelProto& model);
    /// Some of all these; bytes that are no model stay as they are.
    std::string changed(const std::string& bytes);
    size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(m_random); }

private:
    int64_t anyInteger();
    float anyFloat();
    void mutateAttribute(onnx::NodeProto& node);
    void mutateInputs(onnx::NodeProto& node);
    void mutateType(onnx::ValueInfoProto& value);
    void mutateTensor(onnx::TensorProto& tensor);
    void mutateStorage(onnx::TensorProto& tensor);
    void mutateNodes(onnx::GraphProto& graph);
    std::string anyName(const onnx::GraphProto& graph);
    void mutateFrame(onnx::GraphProto& graph);
    void mutateInside(onnx::ModelProto& model, onnx::NodeProto& node);
    void makeSparse(onnx::GraphProto& graph);
    std::mt19937_64 m_random;
    std::vector<std::string> m_opTypes;
};

} // namespace qs::test
