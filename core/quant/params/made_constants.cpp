// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/made_constants.h"

#include "core/base/work/cancel_scope.h"

namespace qs {

Result<std::vector<Tensor>> MadeConstants::of(const Tensor& constant, const std::string& how, const Make& make)
{
    const std::pair key(
        constant.identity(), std::string(dtypeName(constant.dtype())) + shapeText(constant.shape()) + how);
    {
        const std::lock_guard lock(m_mutex);
        if (const auto known = m_entries.find(key); known != m_entries.end())
            return known->second.made;
    }
    if (stopAsked())
        return cancelled();
    QS_TRY(std::vector<Tensor> made, make());
    const std::lock_guard lock(m_mutex);
    return m_entries.emplace(key, Entry { constant, std::move(made) }).first->second.made;
}

} // namespace qs
