// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace qs {

class Graph;

/// Attribute of a node. Kinds nobody computes with (sparse tensors, types) import as OpaqueAttribute.
struct OpaqueAttribute {
    std::string kind;
};
using AttributeValue = std::variant<int64_t, float, std::string, Tensor, std::shared_ptr<const Graph>,
    std::vector<int64_t>, std::vector<float>, std::vector<std::string>, std::vector<Tensor>,
    std::vector<std::shared_ptr<const Graph>>, OpaqueAttribute>;

/// Attributes of one node by name, with typed access and defaults.
class Attributes {
public:
    static constexpr int64_t kFarthest = int64_t(1) << 31;
    void set(std::string name, AttributeValue value) { m_values.insert_or_assign(std::move(name), std::move(value)); }
    bool empty() const { return m_values.empty(); }
    bool has(const std::string& name) const { return m_values.count(name) != 0; }
    const AttributeValue* find(const std::string& name) const
    {
        const auto it = m_values.find(name);
        return it == m_values.end() ? nullptr : &it->second;
    }
    template <class T> const T* get(const std::string& name) const
    {
        const AttributeValue* v = find(name);
        return v ? std::get_if<T>(v) : nullptr;
    }
    /// An axis, a size, a count or a choice. Beyond ±kFarthest it is that: no tensor here is as long, and what is made
    /// of two of them overflows nothing. Who wants a number of the data as it stands asks get().
    int64_t integer(const std::string& name, int64_t fallback) const
    {
        return std::clamp(valueOr<int64_t>(name, fallback), -kFarthest, kFarthest);
    }
    float real(const std::string& name, float fallback) const { return valueOr<float>(name, fallback); }
    std::string text(const std::string& name, std::string fallback) const { return valueOr(name, std::move(fallback)); }
    std::vector<int64_t> integers(const std::string& name, std::vector<int64_t> fallback = {}) const
    {
        return valueOr(name, std::move(fallback));
    }
    std::vector<float> reals(const std::string& name, std::vector<float> fallback = {}) const
    {
        return valueOr(name, std::move(fallback));
    }
    const std::map<std::string, AttributeValue>& all() const { return m_values; }

private:
    template <class T> T valueOr(const std::string& name, T fallback) const
    {
        const T* v = get<T>(name);
        return v ? *v : std::move(fallback);
    }
    std::map<std::string, AttributeValue> m_values;
};

} // namespace qs
