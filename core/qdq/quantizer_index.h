// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/qdq/quantizer.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace qs {

/// Quantizers and the values that lead to them. Of several quantizers with one value the first one has it.
class QuantizerIndex {
public:
    void add(Quantizer q);
    /// A further value on the quantized side of quantizer `index`.
    void addValue(ValueId id, uint32_t index) { m_byValue.try_emplace(id, index); }
    const std::vector<Quantizer>& all() const { return m_all; }
    Quantizer& at(uint32_t index) { return m_all[index]; }
    const Quantizer& at(uint32_t index) const { return m_all[index]; }
    /// Index of the quantizer that has this value as real, codes or dequantized value.
    std::optional<uint32_t> ofValue(ValueId id) const;
    /// The same, but only where the value is on the quantized side (codes or dequantized).
    std::optional<uint32_t> ofQuantized(ValueId id) const;

private:
    std::vector<Quantizer> m_all;
    std::unordered_map<ValueId, uint32_t> m_byValue; ///< codes and dequantized
    std::unordered_map<ValueId, uint32_t> m_byReal;
};

} // namespace qs
