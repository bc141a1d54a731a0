// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <cassert>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// How the elements lie in memory. The logical shape is always the ONNX one (N, C, spatial...).
enum class Layout : uint8_t {
    Plain, ///< row-major over the logical shape
    ChannelsLast, ///< N, spatial..., C; only for rank >= 3 and types of whole bytes
};

/// More elements than can be counted or than a limit allows: a fact of the model, which may be told of one node. A
/// plain std::bad_alloc tells of this moment alone, so nothing is concluded from it.
class TensorTooLarge : public std::bad_alloc {
public:
    const char* what() const noexcept override { return "a tensor is too large"; }
};

/// An n-dimensional array: element type, logical shape, layout, shared storage. Copies share the storage. A tensor is
/// filled by whoever allocated it and never written after it was handed on.
class Tensor {
public:
    Tensor() = default;
    /// Uninitialized storage of its own, 64-byte aligned (strings: empty; containers: without items). Throws
    /// TensorTooLarge, and std::bad_alloc when there is not enough memory.
    static Tensor allocate(DType type, Shape shape, Layout layout = Layout::Plain);
    /// Storage owned by somebody else (a mapped file), kept alive by `owner`.
    static Tensor wrap(DType type, Shape shape, const std::byte* data, std::shared_ptr<const void> owner,
        Layout layout = Layout::Plain);
    /// Storage that was made for this tensor and may be written again when nobody else has it.
    static Tensor adopt(
        DType type, Shape shape, std::byte* data, std::shared_ptr<const void> owner, Layout layout = Layout::Plain);
    /// The same for storage that is not aligned for its elements; who reads it first (bytes, data) makes an aligned
    /// copy.
    static Tensor wrapUnaligned(DType type, Shape shape, const std::byte* data, std::shared_ptr<const void> owner);
    /// Of wrapUnaligned(): its bytes are read from a copy.
    bool copiesWhenRead() const { return m_deferred != nullptr; }
    /// Equal for tensors that share all their bytes; these are not looked at.
    const void* identity() const { return m_deferred ? static_cast<const void*>(m_deferred.get()) : m_data; }
    static Tensor strings(Shape shape, std::vector<std::string> values);
    template <class T> static Tensor of(Shape shape, const std::vector<T>& values);
    template <class T> static Tensor scalar(T value) { return of<T>({}, { value }); }

    bool valid() const { return m_type != DType::Undefined; }
    DType dtype() const { return m_type; }
    const Shape& shape() const { return m_shape; }
    size_t rank() const { return m_shape.size(); }
    int64_t dim(size_t i) const { return m_shape[i]; }
    Layout layout() const { return m_layout; }
    int64_t count() const { return m_count; } ///< elements
    size_t byteCount() const { return storageBytes(m_type, static_cast<size_t>(m_count)); }

    std::span<const std::byte> bytes() const { return { storage(), byteCount() }; }
    /// No other tensor has this storage, and it was allocated for tensors: it may serve for another value.
    bool soleOwner() const { return m_reusable && m_owner.use_count() == 1; }
    /// Elements in memory order; T must match the dtype (uint16_t serves float16 and bfloat16, uint8_t float8 and
    /// Bool).
    template <class T> std::span<const T> data() const
    {
        return { reinterpret_cast<const T*>(storage()), static_cast<size_t>(m_count) };
    }
    /// For the producer only, before the tensor is handed on.
    template <class T> std::span<T> fill()
    {
        return { reinterpret_cast<T*>(const_cast<std::byte*>(m_data)), static_cast<size_t>(m_count) };
    }
    const std::vector<std::string>& stringData() const { return *m_strings; }

    /// Same storage under another shape of equal element count; the tensor must be Plain.
    Tensor reshaped(Shape shape) const;
    /// Same storage seen as another type of equal element size (uint8 <-> int8 codes, float16 bits ...).
    Tensor reinterpreted(DType type) const;

private:
    struct Deferred;
    const std::byte* storage() const { return m_deferred ? alignedCopy() : m_data; }
    const std::byte* alignedCopy() const;

    DType m_type = DType::Undefined;
    Layout m_layout = Layout::Plain;
    bool m_reusable = false; ///< see soleOwner()
    Shape m_shape;
    int64_t m_count = 0;
    const std::byte* m_data = nullptr;
    std::shared_ptr<const void> m_owner;
    std::shared_ptr<Deferred> m_deferred; ///< set instead of m_data and m_owner by wrapUnaligned
    std::shared_ptr<const std::vector<std::string>> m_strings;
};

template <class T> Tensor Tensor::of(Shape shape, const std::vector<T>& values)
{
    Tensor t = allocate(dtypeOf<T>(), std::move(shape));
    assert(static_cast<size_t>(t.count()) == values.size());
    for (size_t i = 0; i < values.size(); ++i)
        t.fill<T>()[i] = values[i];
    return t;
}

} // namespace qs
