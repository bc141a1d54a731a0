// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/onnx_bytes.h"

namespace qs::test {

namespace {

std::string varint(uint64_t v)
{
    std::string out;
    for (; v >= 0x80; v >>= 7)
        out += static_cast<char>(v | 0x80);
    return out + static_cast<char>(v);
}

std::string number(uint32_t field, int64_t v) { return varint(field << 3) + varint(static_cast<uint64_t>(v)); }
std::string text(uint32_t field, const std::string& bytes)
{
    return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string valueInfo(const std::string& name, const std::vector<int64_t>& dims, int64_t type)
{
    std::string shape;
    for (int64_t d : dims)
        shape += text(1, d < 0 ? text(2, "N") : number(1, d));
    return text(1, name) + text(2, text(1, number(1, type) + text(2, shape)));
}

} // namespace

OnnxBytes& OnnxBytes::node(const std::string& type, const std::vector<std::string>& inputs,
    const std::vector<std::string>& outputs, const std::string& domain)
{
    std::string node;
    for (const std::string& in : inputs)
        node += text(1, in);
    for (const std::string& out : outputs)
        node += text(2, out);
    m_graph += text(1, node + text(4, type) + (domain.empty() ? "" : text(7, domain)));
    return *this;
}

OnnxBytes& OnnxBytes::input(const std::string& name, const std::vector<int64_t>& dims, int64_t type)
{
    m_graph += text(11, valueInfo(name, dims, type));
    return *this;
}

OnnxBytes& OnnxBytes::output(const std::string& name, const std::vector<int64_t>& dims)
{
    m_graph += text(12, valueInfo(name, dims, 1));
    return *this;
}

OnnxBytes& OnnxBytes::sequenceOutput(const std::string& name)
{
    const std::string element = text(1, number(1, 1)); // TypeProto of a float tensor
    m_graph += text(12, text(1, name) + text(2, text(4, text(1, element))));
    return *this;
}

OnnxBytes& OnnxBytes::floats(
    const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values)
{
    std::string tensor;
    for (int64_t d : dims)
        tensor += number(1, d);
    tensor += number(2, 1) + text(8, name);
    tensor += text(9, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
    m_graph += text(5, tensor);
    return *this;
}

OnnxBytes& OnnxBytes::externalFloats(
    const std::string& name, const std::vector<int64_t>& dims, const std::string& location)
{
    std::string tensor;
    for (int64_t d : dims)
        tensor += number(1, d);
    tensor += number(2, 1) + text(8, name);
    tensor += text(13, text(1, "location") + text(2, location)) + number(14, 1);
    m_graph += text(5, tensor);
    return *this;
}

std::string OnnxBytes::model(int64_t opset, int64_t irVersion) const
{
    return number(1, irVersion) + text(7, m_graph + text(2, "main")) + text(8, number(2, opset));
}

} // namespace qs::test
