// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/tensor_proto.h"

#include <bit>
#include <cstring>
#include <optional>

namespace qs {

static_assert(std::endian::native == std::endian::little, "raw tensor data are little-endian");

namespace {

/// Reads protobuf's wire format: varints and length-delimited fields.
class WireReader {
public:
    explicit WireReader(std::string_view bytes)
        : m_bytes(bytes)
    {
    }
    bool atEnd() const { return m_bytes.empty(); }
    std::optional<uint64_t> varint()
    {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !m_bytes.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(m_bytes[0]);
            m_bytes.remove_prefix(1);
            value |= uint64_t(byte & 0x7f) << shift;
            if (byte < 0x80)
                return value;
        }
        return {};
    }
    std::optional<std::string_view> take(uint64_t length)
    {
        if (length > m_bytes.size())
            return {};
        const std::string_view part = m_bytes.substr(0, static_cast<size_t>(length));
        m_bytes.remove_prefix(static_cast<size_t>(length));
        return part;
    }

private:
    std::string_view m_bytes;
};

enum WireType { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

struct Fields {
    Shape dims;
    uint64_t dataType = 0;
    std::string name;
    std::optional<std::string_view> raw;
    std::string floats; ///< little-endian bytes of float_data
    std::string doubles;
    std::vector<uint64_t> int32s, int64s, uint64s;
    std::vector<std::string> texts;
    bool foreign = false; ///< a segment or external data: not a plain tensor
};

bool addVarints(std::vector<uint64_t>& to, uint64_t type, WireReader& in)
{
    if (type == Varint) {
        const auto v = in.varint();
        if (v)
            to.push_back(*v);
        return v.has_value();
    }
    const auto length = in.varint();
    const auto part = type == Delimited && length ? in.take(*length) : std::nullopt;
    if (!part)
        return false;
    WireReader packed(*part);
    while (!packed.atEnd()) {
        const auto v = packed.varint();
        if (!v)
            return false;
        to.push_back(*v);
    }
    return true;
}

bool addFixed(std::string& to, uint64_t type, WireReader& in)
{
    std::optional<uint64_t> length = type == Fixed32 ? 4 : type == Fixed64 ? 8 : in.varint();
    const auto part = length && type != Varint ? in.take(*length) : std::nullopt;
    if (part)
        to.append(*part);
    return part.has_value();
}

bool skip(uint64_t type, WireReader& in)
{
    std::string ignored;
    return type == Varint ? in.varint().has_value() : type <= Fixed32 && addFixed(ignored, type, in);
}

bool readField(Fields& f, uint64_t field, uint64_t type, WireReader& in)
{
    std::vector<uint64_t> numbers;
    switch (field) {
    case 1: // dims
        if (!addVarints(numbers, type, in))
            return false;
        for (const uint64_t n : numbers)
            f.dims.push_back(static_cast<int64_t>(n));
        return true;
    case 4:
        return addFixed(f.floats, type, in);
    case 10:
        return addFixed(f.doubles, type, in);
    case 5:
        return addVarints(f.int32s, type, in);
    case 7:
        return addVarints(f.int64s, type, in);
    case 11:
        return addVarints(f.uint64s, type, in);
    case 2: // data_type
    case 14: // data_location
        if (type != Varint || !addVarints(numbers, type, in))
            return false;
        if (field == 2)
            f.dataType = numbers[0];
        else
            f.foreign |= numbers[0] != 0;
        return true;
    case 3: // segment; a sequence's or optional's element
        f.foreign = true;
        return skip(type, in);
    case 6:
    case 8:
    case 9: {
        const auto length = type == Delimited ? in.varint() : std::nullopt;
        const auto part = length ? in.take(*length) : std::nullopt;
        if (!part)
            return false;
        if (field == 6)
            f.texts.emplace_back(*part);
        else if (field == 8)
            f.name = *part;
        else
            f.raw = *part;
        return true;
    }
    default:
        return skip(type, in);
    }
}

std::optional<Fields> readFields(std::string_view bytes)
{
    Fields fields;
    WireReader in(bytes);
    while (!in.atEnd()) {
        const auto tag = in.varint();
        if (!tag || !readField(fields, *tag >> 3, *tag & 7, in))
            return {};
    }
    return fields;
}

/// The elements as raw_data would hold them.
std::string elementBytes(const Fields& f, DType type)
{
    if (f.raw)
        return std::string(*f.raw);
    switch (type) {
    case DType::Float32:
    case DType::Complex64:
        return f.floats;
    case DType::Float64:
    case DType::Complex128:
        return f.doubles;
    default:
        break;
    }
    const bool wide = type == DType::UInt32 || type == DType::UInt64;
    const auto& numbers = type == DType::Int64 ? f.int64s : wide ? f.uint64s : f.int32s;
    const size_t bytes = std::max<size_t>(dtypeBits(type) / 8, 1);
    std::string out(numbers.size() * bytes, '\0');
    for (size_t i = 0; i < numbers.size(); ++i)
        std::memcpy(&out[i * bytes], &numbers[i], bytes);
    return out;
}

} // namespace

Result<NamedTensor> parseTensorProto(std::string_view bytes, const std::string& file)
{
    const auto fields = readFields(bytes);
    if (!fields)
        return badInput("is no ONNX tensor, or is truncated", file, "create the test data again");
    if (fields->foreign)
        return badInput("holds a sequence or a tensor stored elsewhere; only plain tensors are read", file,
            "store the tensor itself in the file");
    const auto type = static_cast<DType>(fields->dataType <= static_cast<uint64_t>(DType::Int2) ? fields->dataType : 0);
    const auto count = elementCount(fields->dims);
    if (type == DType::Undefined || !count)
        return badInput("holds a tensor of unknown type or impossible shape", file, "create the test data again");
    const Issue wrongSize = badInput("holds less or more data than its shape " + shapeText(fields->dims) + " needs",
        file, "create the test data again");
    NamedTensor result { fields->name, {} };
    if (type == DType::String) {
        if (fields->texts.size() != static_cast<size_t>(*count))
            return wrongSize;
        result.tensor = Tensor::strings(fields->dims, fields->texts);
        return result;
    }
    const std::string data = elementBytes(*fields, type);
    if (*count > int64_t(bytes.size()) * 8 || data.size() != storageBytes(type, static_cast<size_t>(*count)))
        return wrongSize;
    result.tensor = Tensor::allocate(type, fields->dims);
    if (!data.empty())
        std::memcpy(result.tensor.fill<uint8_t>().data(), data.data(), data.size());
    return result;
}

} // namespace qs
