// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/tensor.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace qs {

Tensor Tensor::allocate(DType type, Shape shape, Layout layout)
{
    if (type == DType::String) {
        const auto count = static_cast<size_t>(elementCount(shape).value_or(0));
        return strings(std::move(shape), std::vector<std::string>(count));
    }
    if (isContainer(type))
        return wrap(type, { 0 }, nullptr, nullptr);
    const auto count = elementCount(shape);
    if (!count)
        throw TensorTooLarge(); // more elements than can be counted
    const size_t bytes = (storageBytes(type, static_cast<size_t>(*count)) + 63) / 64 * 64;
    void* data = std::aligned_alloc(64, bytes ? bytes : 64);
    if (!data)
        throw std::bad_alloc();
    std::shared_ptr<const void> owner(data, std::free);
    return adopt(type, std::move(shape), static_cast<std::byte*>(data), std::move(owner), layout);
}

Tensor Tensor::adopt(DType type, Shape shape, std::byte* data, std::shared_ptr<const void> owner, Layout layout)
{
    Tensor t = wrap(type, std::move(shape), data, std::move(owner), layout);
    t.m_reusable = true;
    return t;
}

Tensor Tensor::wrap(DType type, Shape shape, const std::byte* data, std::shared_ptr<const void> owner, Layout layout)
{
    Tensor t;
    t.m_type = type;
    t.m_layout = layout;
    t.m_count = elementCount(shape).value_or(0);
    t.m_shape = std::move(shape);
    t.m_data = data;
    t.m_owner = std::move(owner);
    assert(layout == Layout::Plain || t.rank() >= 3);
    return t;
}

struct Tensor::Deferred {
    const std::byte* source;
    std::shared_ptr<const void> owner;
    std::once_flag once;
    Tensor copy;
};

Tensor Tensor::wrapUnaligned(DType type, Shape shape, const std::byte* data, std::shared_ptr<const void> owner)
{
    Tensor t = wrap(type, std::move(shape), nullptr, nullptr);
    t.m_deferred = std::make_shared<Deferred>();
    t.m_deferred->source = data;
    t.m_deferred->owner = std::move(owner);
    return t;
}

const std::byte* Tensor::alignedCopy() const
{
    std::call_once(m_deferred->once, [this] {
        Tensor copy = allocate(m_type, m_shape);
        std::memcpy(const_cast<std::byte*>(copy.m_data), m_deferred->source, byteCount());
        m_deferred->copy = std::move(copy);
        m_deferred->owner.reset();
    });
    return m_deferred->copy.m_data;
}

Tensor Tensor::strings(Shape shape, std::vector<std::string> values)
{
    Tensor t;
    t.m_type = DType::String;
    t.m_count = elementCount(shape).value_or(0);
    t.m_shape = std::move(shape);
    assert(static_cast<size_t>(t.m_count) == values.size());
    t.m_strings = std::make_shared<const std::vector<std::string>>(std::move(values));
    return t;
}

Tensor Tensor::reshaped(Shape shape) const
{
    assert(m_layout == Layout::Plain);
    Tensor t = *this;
    assert(elementCount(shape) == m_count);
    t.m_shape = std::move(shape);
    return t;
}

Tensor Tensor::reinterpreted(DType type) const
{
    assert(dtypeBits(type) == dtypeBits(m_type));
    Tensor t = *this;
    t.m_type = type;
    return t;
}

} // namespace qs
