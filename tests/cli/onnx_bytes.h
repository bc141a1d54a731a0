// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Writes small ONNX files byte by byte: protobuf stays behind core/onnx.
namespace qs::test {

class OnnxBytes {
public:
    OnnxBytes& node(const std::string& type, const std::vector<std::string>& inputs,
        const std::vector<std::string>& outputs, const std::string& domain = {});
    /// A size below 0 is written as the name "N".
    OnnxBytes& input(const std::string& name, const std::vector<int64_t>& dims, int64_t type = 1);
    OnnxBytes& output(const std::string& name, const std::vector<int64_t>& dims);
    OnnxBytes& sequenceOutput(const std::string& name); ///< of float tensors
    OnnxBytes& floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values);
    /// The same in a file beside the model.
    OnnxBytes& externalFloats(const std::string& name, const std::vector<int64_t>& dims, const std::string& location);
    std::string model(int64_t opset = 17, int64_t irVersion = 8) const;

private:
    std::string m_graph;
};

} // namespace qs::test
