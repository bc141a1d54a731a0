// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/scope.h"

namespace qs {

std::string Scope::resolve(const std::string& name) const
{
    if (name.empty())
        return {};
    for (const Scope* s = this; s; s = s->enclosing) {
        if (const auto it = s->names.find(name); it != s->names.end())
            return it->second;
        if (!s->enclosing)
            return s->prefix + safeText(name); // a name that nothing defines keeps its own spelling
    }
    return {};
}

const Scope* Scope::body() const
{
    if (!function)
        return nullptr;
    const Scope* s = this;
    while (s->enclosing)
        s = s->enclosing;
    return s;
}

} // namespace qs
