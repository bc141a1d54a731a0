// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// Messages of the ONNX format in which tensors can lie.
enum class MessageKind : uint8_t {
    Model,
    Training,
    Graph,
    Function,
    Node,
    Attribute,
    SparseTensor,
    Tensor,
    Sequence,
    Map,
    Optional,
};

/// Place in the scanned bytes of what is left out: a TensorProto's raw_data, or a node's notes.
struct Payload {
    size_t offset = 0;
    size_t length = 0;
    bool isNote = false;
};

/// A serialized message without the raw_data of its tensors and without the notes of its nodes (doc_string and
/// metadata_props, whole fields with their tags). Each such tensor has, instead, an unknown field kPayloadField that
/// holds an index into `payloads`; a node has one for each stretch of notes.
struct StrippedMessage {
    std::string bytes;
    std::vector<Payload> payloads;
};

/// Why the bytes are no message of that kind.
struct ScanError {
    enum class Kind : uint8_t { Truncated, Malformed, TooDeep, TooLarge } kind = Kind::Malformed;
    size_t offset = 0; ///< where it was found
};

/// NodeProto.doc_string and NodeProto.metadata_props (IR version 10).
inline constexpr uint32_t kNodeDocString = 6, kNodeMetadata = 9;

/// Outside the numbers that ONNX uses; a field of this number in the scanned bytes is dropped.
inline constexpr uint32_t kPayloadField = 400'000'001;

/// Walks the protobuf wire format of `bytes` once, in linear time and bounded depth, and copies all but the payloads,
/// so that parsing the result never copies weights.
class WireScanner {
public:
    explicit WireScanner(std::span<const std::byte> bytes)
        : m_bytes(bytes)
    {
    }
    std::optional<StrippedMessage> strip(MessageKind kind);
    const ScanError& error() const { return m_error; }

private:
    bool message(MessageKind kind, size_t end, int depth);
    bool field(MessageKind kind, size_t end, int depth);
    bool lengthDelimited(MessageKind kind, uint32_t number, size_t start, size_t end, int depth);
    bool varint(uint64_t& value, size_t end);
    bool skip(size_t count, size_t end);
    bool fail(ScanError::Kind kind);
    void copy(size_t begin, size_t end);
    void appendVarint(uint64_t value);
    void leaveOut(size_t begin, size_t end, bool isNote = false);
    void leaveOutNote(size_t begin, size_t end);

    std::span<const std::byte> m_bytes;
    size_t m_at = 0;
    size_t m_noteEnd = SIZE_MAX; ///< of the last note, in the node that is being walked
    StrippedMessage m_out;
    ScanError m_error;
};

} // namespace qs
