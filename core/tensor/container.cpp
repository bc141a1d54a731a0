// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/container.h"

namespace qs {

namespace {

struct Held {
    std::vector<Tensor> items;
    DType element = DType::Undefined;
};

Tensor holding(DType kind, Held held)
{
    const auto owner = std::make_shared<const Held>(std::move(held));
    return Tensor::wrap(kind, { 0 }, reinterpret_cast<const std::byte*>(owner.get()), owner);
}

const Held& heldBy(const Tensor& container)
{
    static const Held nothing;
    assert(isContainer(container.dtype()));
    const auto* held = reinterpret_cast<const Held*>(container.bytes().data());
    return held ? *held : nothing;
}

} // namespace

Tensor makeSequence(std::vector<Tensor> items, DType element)
{
    return holding(DType::Sequence, { std::move(items), element });
}

Tensor makeMap(Tensor keys, Tensor values)
{
    return holding(DType::Map, { { std::move(keys), std::move(values) }, DType::Undefined });
}

Tensor makeNoValue() { return Tensor::allocate(DType::NoValue, {}); }
std::span<const Tensor> itemsOf(const Tensor& container) { return heldBy(container).items; }
DType elementTypeOf(const Tensor& sequence) { return heldBy(sequence).element; }

} // namespace qs
