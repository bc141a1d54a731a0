// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lowered/content_key.h"

#include "core/tensor/container.h"

#include <bit>

namespace qs {

KeyBuilder& KeyBuilder::add(Hash128 part)
{
    m_key = combine(m_key, part);
    return *this;
}

KeyBuilder& KeyBuilder::add(std::string_view text) { return add(hashText(text)); }

KeyBuilder& KeyBuilder::add(int64_t number) { return add(Hash128 { static_cast<uint64_t>(number), 1 }); }

namespace {

template <class T> KeyBuilder& addList(KeyBuilder& key, const std::vector<T>& values)
{
    key.add(static_cast<int64_t>(values.size()));
    return key.add(hashBytes(std::as_bytes(std::span(values))));
}

/// False for a value that holds a graph.
struct AttributeHasher {
    KeyBuilder& key;
    bool operator()(int64_t v) { return key.add(v), true; }
    bool operator()(float v) { return key.add(int64_t(std::bit_cast<uint32_t>(v))), true; }
    bool operator()(const std::string& v) { return key.add(v), true; }
    bool operator()(const Tensor& v) { return key.add(contentKey(v)), true; }
    bool operator()(const std::shared_ptr<const Graph>&) { return false; }
    bool operator()(const std::vector<int64_t>& v) { return addList(key, v), true; }
    bool operator()(const std::vector<float>& v) { return addList(key, v), true; }
    bool operator()(const std::vector<std::string>& v)
    {
        key.add(static_cast<int64_t>(v.size()));
        for (const std::string& text : v)
            key.add(text);
        return true;
    }
    bool operator()(const std::vector<Tensor>& v)
    {
        key.add(static_cast<int64_t>(v.size()));
        for (const Tensor& tensor : v)
            key.add(contentKey(tensor));
        return true;
    }
    bool operator()(const std::vector<std::shared_ptr<const Graph>>&) { return false; }
    bool operator()(const OpaqueAttribute& v) { return key.add(v.kind), true; }
};

bool isRandom(const Node& node)
{
    return node.opType.starts_with("Random") || node.opType == "Multinomial" || node.opType == "Bernoulli";
}

} // namespace

Hash128 contentKey(const Tensor& tensor)
{
    KeyBuilder key;
    key.add(int64_t(tensor.dtype())).add(int64_t(tensor.layout()));
    addList(key, tensor.shape());
    if (isContainer(tensor.dtype())) {
        for (const Tensor& item : itemsOf(tensor))
            key.add(contentKey(item));
        key.add(int64_t(itemsOf(tensor).size()));
    } else if (tensor.dtype() == DType::String)
        AttributeHasher { key }(tensor.stringData());
    else
        key.add(hashBytes(tensor.bytes()));
    return key.key();
}

Hash128 sampleKey(std::span<const Tensor> inputs)
{
    KeyBuilder key;
    for (const Tensor& t : inputs)
        key.add(t.valid() ? contentKey(t) : Hash128 {});
    return key.key();
}

std::optional<Hash128> operatorKey(const Node& node, KernelMode mode, ArithmeticProfile profile)
{
    if (isRandom(node))
        return std::nullopt;
    KeyBuilder key;
    key.add(node.domain).add(node.opType).add(int64_t(node.opset)).add(int64_t(mode)).add(int64_t(profile));
    for (const auto& [name, value] : node.attributes.all()) {
        key.add(name).add(static_cast<int64_t>(value.index()));
        if (!std::visit(AttributeHasher { key }, value))
            return std::nullopt;
    }
    return key.key();
}

Hash128 loweringKey(Hash128 operatorKey, const Node& node, std::span<const DType> types,
    std::span<const std::optional<Hash128>> constants)
{
    KeyBuilder key;
    key.add(operatorKey).add(static_cast<int64_t>(node.inputs.size()));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        key.add(int64_t(node.inputs[i].valid())).add(int64_t(types[i]));
        key.add(constants[i].value_or(Hash128 {}));
    }
    for (ValueId out : node.outputs)
        key.add(int64_t(out.valid()));
    return key.key();
}

} // namespace qs
