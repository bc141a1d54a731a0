// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/quantized_constants.h"

#include "core/base/work/cancel_scope.h"

#include <type_traits>

namespace qs {

namespace {

class BytesKey {
public:
    template <class T> BytesKey& add(const T& value)
    {
        static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>);
        m_bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    template <class T> BytesKey& add(const std::vector<T>& values)
    {
        add(values.size());
        for (const T& value : values)
            add(value);
        return *this;
    }
    template <class T> BytesKey& add(const std::optional<T>& value)
    {
        add(value.has_value());
        return add(value.value_or(T()));
    }
    BytesKey& add(const Tensor& tensor) { return add(tensor.bytes().data()).add(tensor.shape()).add(tensor.dtype()); }
    const std::string& bytes() const { return m_bytes; }

private:
    std::string m_bytes;
};

} // namespace

Result<QuantParams> QuantizedConstants::params(
    const Tensor& constant, const ScaleRules& rules, std::optional<int64_t> axis)
{
    BytesKey key;
    key.add(constant).add(rules.type).add(rules.real).add(rules.symmetric).add(rules.reduced);
    key.add(rules.minimumRange).add(rules.restricted).add(rules.subnormalHalves).add(axis);
    {
        const std::lock_guard lock(m_mutex);
        if (const auto known = m_params.find(key.bytes()); known != m_params.end())
            return known->second.params;
    }
    if (stopAsked())
        return cancelled();
    QS_TRY(QuantParams made, weightParams(constant, rules, axis));
    const std::lock_guard lock(m_mutex);
    m_params.emplace(key.bytes(), Entry { constant, made, {} });
    return made;
}

Tensor QuantizedConstants::codes(const Tensor& constant, const QuantParams& params)
{
    BytesKey key;
    key.add(constant).add(params.dtype).add(params.scale).add(params.zeroPoint).add(params.axis).add(params.blockSize);
    {
        const std::lock_guard lock(m_mutex);
        if (const auto known = m_codes.find(key.bytes()); known != m_codes.end())
            return known->second.codes;
    }
    Tensor made = weightCodes(constant, params);
    const std::lock_guard lock(m_mutex);
    return m_codes.emplace(key.bytes(), Entry { constant, {}, std::move(made) }).first->second.codes;
}

} // namespace qs
