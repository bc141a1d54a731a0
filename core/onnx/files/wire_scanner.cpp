// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/wire_scanner.h"

#include <climits>

namespace qs {

namespace {

constexpr int kMaxDepth = 96; // protobuf itself stops at 100
constexpr size_t kLengthBytes = 5; // room for any length below 2 GiB, written as a padded varint
constexpr size_t kMaxStripped = INT_MAX; // protobuf's limit for a message

enum WireType : uint32_t { Varint = 0, Fixed64 = 1, LengthDelimited = 2, Fixed32 = 5 };

/// Kind of the sub-message in field `number`; nullopt when no tensor can lie in it.
std::optional<MessageKind> child(MessageKind kind, uint32_t number)
{
    using enum MessageKind;
    switch (kind) {
    case Model:
        return number == 7 ? std::optional(Graph)
            : number == 20 ? std::optional(Training)
            : number == 25 ? std::optional(Function)
                           : std::nullopt;
    case Training:
        return number == 1 || number == 2 ? std::optional(Graph) : std::nullopt;
    case Graph:
        return number == 1 ? std::optional(Node)
            : number == 5  ? std::optional(Tensor)
            : number == 15 ? std::optional(SparseTensor)
                           : std::nullopt;
    case Function:
        return number == 7 ? std::optional(Node) : number == 11 ? std::optional(Attribute) : std::nullopt;
    case Node:
        return number == 5 ? std::optional(Attribute) : std::nullopt;
    case Attribute:
        return number == 5 || number == 10 ? std::optional(Tensor)
            : number == 6 || number == 11  ? std::optional(Graph)
            : number == 22 || number == 23 ? std::optional(SparseTensor)
                                           : std::nullopt;
    case SparseTensor:
        return number == 1 || number == 2 ? std::optional(Tensor) : std::nullopt;
    case Sequence: // and the same numbers, each at most once, in an optional
    case Optional:
        return number == 3 ? std::optional(Tensor)
            : number == 4  ? std::optional(SparseTensor)
            : number == 5  ? std::optional(Sequence)
            : number == 6  ? std::optional(Map)
            : number == 7  ? std::optional(Optional)
                           : std::nullopt;
    case Map:
        return number == 5 ? std::optional(Sequence) : std::nullopt;
    case Tensor:
        break;
    }
    return std::nullopt;
}

constexpr uint32_t kRawData = 9;

bool hasPayload(MessageKind kind) { return kind == MessageKind::Tensor || kind == MessageKind::Node; }

bool isNote(MessageKind kind, uint32_t number)
{
    return kind == MessageKind::Node && (number == kNodeDocString || number == kNodeMetadata);
}

} // namespace

std::optional<StrippedMessage> WireScanner::strip(MessageKind kind)
{
    m_at = 0;
    m_noteEnd = SIZE_MAX;
    m_out = {};
    if (!message(kind, m_bytes.size(), 0))
        return std::nullopt;
    return std::move(m_out);
}

bool WireScanner::message(MessageKind kind, size_t end, int depth)
{
    if (depth > kMaxDepth)
        return fail(ScanError::Kind::TooDeep);
    while (m_at < end)
        if (!field(kind, end, depth))
            return false;
    return true;
}

bool WireScanner::field(MessageKind kind, size_t end, int depth)
{
    const size_t start = m_at;
    uint64_t tag = 0;
    if (!varint(tag, end))
        return false;
    const auto number = static_cast<uint32_t>(tag >> 3);
    if (tag > UINT32_MAX || number == 0)
        return fail(ScanError::Kind::Malformed);
    uint64_t ignored = 0;
    switch (tag & 7) {
    case Varint:
        if (!varint(ignored, end))
            return false;
        break;
    case Fixed64:
        if (!skip(8, end))
            return false;
        break;
    case Fixed32:
        if (!skip(4, end))
            return false;
        break;
    case LengthDelimited:
        return lengthDelimited(kind, number, start, end, depth);
    default:
        return fail(ScanError::Kind::Malformed); // groups, which ONNX never used, and numbers without meaning
    }
    if (!hasPayload(kind) || number != kPayloadField)
        copy(start, m_at);
    return m_out.bytes.size() <= kMaxStripped || fail(ScanError::Kind::TooLarge);
}

bool WireScanner::lengthDelimited(MessageKind kind, uint32_t number, size_t start, size_t end, int depth)
{
    const size_t tagEnd = m_at;
    uint64_t length = 0;
    if (!varint(length, end))
        return false;
    if (length > end - m_at)
        return fail(end == m_bytes.size() ? ScanError::Kind::Truncated : ScanError::Kind::Malformed);
    const size_t contentEnd = m_at + static_cast<size_t>(length);
    if (kind == MessageKind::Tensor && number == kRawData) {
        leaveOut(m_at, contentEnd);
        m_at = contentEnd;
        return true;
    }
    if (isNote(kind, number)) {
        leaveOutNote(start, contentEnd);
        m_at = contentEnd;
        return true;
    }
    const auto sub = child(kind, number);
    if (!sub) {
        if (!hasPayload(kind) || number != kPayloadField)
            copy(start, contentEnd);
        m_at = contentEnd;
        return m_out.bytes.size() <= kMaxStripped || fail(ScanError::Kind::TooLarge);
    }
    copy(start, tagEnd);
    const size_t lengthAt = m_out.bytes.size();
    m_out.bytes.append(kLengthBytes, '\0');
    m_noteEnd = SIZE_MAX;
    if (!message(*sub, contentEnd, depth + 1))
        return false;
    m_noteEnd = SIZE_MAX;
    size_t written = m_out.bytes.size() - lengthAt - kLengthBytes;
    if (written > kMaxStripped)
        return fail(ScanError::Kind::TooLarge);
    for (size_t i = 0; i < kLengthBytes; ++i, written >>= 7)
        m_out.bytes[lengthAt + i] = static_cast<char>((written & 0x7f) | (i + 1 < kLengthBytes ? 0x80 : 0));
    return true;
}

bool WireScanner::varint(uint64_t& value, size_t end)
{
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (m_at >= end)
            return fail(end == m_bytes.size() ? ScanError::Kind::Truncated : ScanError::Kind::Malformed);
        const auto byte = std::to_integer<uint64_t>(m_bytes[m_at++]);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return fail(ScanError::Kind::Malformed);
}

bool WireScanner::skip(size_t count, size_t end)
{
    if (count > end - m_at)
        return fail(end == m_bytes.size() ? ScanError::Kind::Truncated : ScanError::Kind::Malformed);
    m_at += count;
    return true;
}

bool WireScanner::fail(ScanError::Kind kind)
{
    m_error = { kind, m_at };
    return false;
}

void WireScanner::copy(size_t begin, size_t end)
{
    m_out.bytes.append(reinterpret_cast<const char*>(m_bytes.data()) + begin, end - begin);
}

void WireScanner::leaveOut(size_t begin, size_t end, bool isNote)
{
    appendVarint(uint64_t(kPayloadField) << 3 | Varint);
    appendVarint(m_out.payloads.size());
    m_out.payloads.push_back({ begin, end - begin, isNote });
}

/// Notes that follow each other are one payload.
void WireScanner::leaveOutNote(size_t begin, size_t end)
{
    if (begin == m_noteEnd)
        m_out.payloads.back().length += end - begin;
    else
        leaveOut(begin, end, true);
    m_noteEnd = end;
}

void WireScanner::appendVarint(uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        m_out.bytes.push_back(static_cast<char>(value | 0x80));
    m_out.bytes.push_back(static_cast<char>(value));
}

} // namespace qs
