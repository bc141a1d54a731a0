// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace qs {

/// Values of an enumeration with the names that files and options call them by, in the order to list them.
template <class T, size_t N> using NamedValues = std::array<std::pair<T, std::string_view>, N>;

/// Empty for a value that has no name.
template <class T, size_t N> constexpr std::string_view nameIn(const NamedValues<T, N>& values, T value)
{
    for (const auto& [known, name] : values)
        if (known == value)
            return name;
    return {};
}

template <class T, size_t N> constexpr std::optional<T> valueIn(const NamedValues<T, N>& values, std::string_view name)
{
    for (const auto& [value, known] : values)
        if (known == name)
            return value;
    return std::nullopt;
}

template <class T, size_t N> constexpr std::array<std::string_view, N> namesIn(const NamedValues<T, N>& values)
{
    std::array<std::string_view, N> names;
    for (size_t i = 0; i < N; ++i)
        names[i] = values[i].second;
    return names;
}

} // namespace qs
