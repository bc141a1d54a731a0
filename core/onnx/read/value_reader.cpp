// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/value_reader.h"

#include "core/tensor/container.h"

namespace qs {

Result<Tensor> ValueReader::tensor(const onnx::TensorProto& proto)
{
    QS_TRY(Tensor tensor, m_tensors.read(proto));
    if (!tensor.valid())
        return badInput("has the unknown element type " + std::to_string(proto.data_type()), {}, "store another type");
    return tensor;
}

Result<Tensor> ValueReader::sequence(const onnx::SequenceProto& proto)
{
    std::vector<Tensor> items;
    const auto addAll = [&](const auto& list, auto&& read) -> Status {
        for (const auto& one : list) {
            QS_TRY(Tensor item, read(one));
            items.push_back(std::move(item));
        }
        return {};
    };
    QS_CHECK(addAll(proto.tensor_values(), [&](const auto& p) { return tensor(p); }));
    QS_CHECK(addAll(proto.sparse_tensor_values(), [&](const auto& p) { return m_tensors.readSparse(p); }));
    QS_CHECK(addAll(proto.sequence_values(), [&](const auto& p) { return sequence(p); }));
    QS_CHECK(addAll(proto.map_values(), [&](const auto& p) { return map(p); }));
    QS_CHECK(addAll(proto.optional_values(), [&](const auto& p) { return optional(p); }));
    const DType type = items.empty() ? DType::Undefined : items[0].dtype();
    for (const Tensor& item : items)
        if (item.dtype() != type && proto.optional_values_size() == 0)
            return badInput("stores a sequence of both " + std::string(dtypeName(type)) + " and "
                    + std::string(dtypeName(item.dtype())),
                {}, "store elements of one type");
    return makeSequence(std::move(items), type);
}

Result<Tensor> ValueReader::optional(const onnx::OptionalProto& proto)
{
    if (proto.has_tensor_value())
        return tensor(proto.tensor_value());
    if (proto.has_sparse_tensor_value())
        return m_tensors.readSparse(proto.sparse_tensor_value());
    if (proto.has_sequence_value())
        return sequence(proto.sequence_value());
    if (proto.has_map_value())
        return map(proto.map_value());
    if (proto.has_optional_value())
        return optional(proto.optional_value());
    return makeNoValue();
}

Result<Tensor> ValueReader::map(const onnx::MapProto& proto)
{
    const auto& words = proto.string_keys();
    const auto& numbers = proto.keys();
    Tensor keys = words.empty()
        ? Tensor::of<int64_t>({ numbers.size() }, std::vector<int64_t>(numbers.begin(), numbers.end()))
        : Tensor::strings({ words.size() }, std::vector<std::string>(words.begin(), words.end()));
    // The values are a sequence: one tensor with all of them, or one tensor each.
    QS_TRY(const Tensor values, sequence(proto.values()));
    const auto items = itemsOf(values);
    if (items.size() == 1 && items[0].count() == keys.count() && !isContainer(items[0].dtype()))
        return makeMap(std::move(keys), items[0].reshaped({ items[0].count() }));
    return badInput("stores a map whose values are not one for each key", {}, "store the values as one tensor");
}

} // namespace qs
