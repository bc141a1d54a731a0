// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/params/weights.h"

#include <map>
#include <mutex>
#include <string>

namespace qs {

/// Parameters and codes of constants, found once for many quantizations of one model. Constants are told apart by their
/// storage, which is kept alive. Thread-safe.
class QuantizedConstants {
public:
    /// As weightParams().
    Result<QuantParams> params(const Tensor& constant, const ScaleRules& rules, std::optional<int64_t> axis);
    /// As weightCodes().
    Tensor codes(const Tensor& constant, const QuantParams& params);

private:
    struct Entry {
        Tensor constant;
        QuantParams params;
        Tensor codes;
    };
    std::mutex m_mutex;
    std::map<std::string, Entry> m_params, m_codes; ///< by the bytes of what they follow from
};

} // namespace qs
