// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

/// Members of a recipe and its parts in one form, whatever their type: what files, options and scripts are made from.
namespace qs {

/// A value as files and options say it: enumerators go by their names; monostate where an optional one says nothing.
using RecipeValue = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<std::string>,
    std::map<std::string, int64_t>, std::map<std::string, double>>;

enum class SettingKind { Switch, Whole, Real, Choice, Text, Texts, WholeByName, RealByName };

/// Which values a member takes.
struct SettingType {
    SettingKind kind = SettingKind::Switch;
    bool optional = false; ///< it may say nothing
    bool natural = false; ///< Whole: not negative
    std::span<const std::string_view> names {}; ///< Choice: all there are
};

/// A member of Owner, read and written by value. What is written must be of its type.
template <class Owner> struct Setting {
    SettingType type;
    RecipeValue (*get)(const Owner&) = nullptr;
    void (*set)(Owner&, const RecipeValue&) = nullptr;
    void (*copy)(Owner& to, const Owner& from) = nullptr; ///< whatever it is: a file may hold what nobody can ask for
};

namespace detail {

template <class E> struct Named;
template <> struct Named<RecipeFormat> {
    static constexpr auto values = kRecipeFormats;
};
template <> struct Named<DType> {
    static constexpr auto values = kCodeTypes;
};
template <> struct Named<Calibrator> {
    static constexpr auto values = kCalibrators;
};
template <> struct Named<OrtVersion> {
    static constexpr auto values = kOrtVersions;
};
template <> struct Named<WeightOnlyAlgorithm> {
    static constexpr auto values = kWeightOnlyAlgorithms;
};
template <class E> inline constexpr auto kNames = namesIn(Named<E>::values);

template <class T> inline constexpr bool kIsOptional = false;
template <class T> inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T> constexpr SettingType typeOf()
{
    if constexpr (kIsOptional<T>) {
        SettingType type = typeOf<typename T::value_type>();
        type.optional = true;
        return type;
    } else if constexpr (std::is_enum_v<T>) {
        return { SettingKind::Choice, false, false, kNames<T> };
    } else if constexpr (std::is_same_v<T, bool>) {
        return { SettingKind::Switch };
    } else if constexpr (std::is_integral_v<T>) {
        return { SettingKind::Whole, false, std::is_unsigned_v<T> };
    } else if constexpr (std::is_same_v<T, double>) {
        return { SettingKind::Real };
    } else if constexpr (std::is_same_v<T, std::string>) {
        return { SettingKind::Text };
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        return { SettingKind::Texts };
    } else if constexpr (std::is_same_v<T, std::map<std::string, int64_t>>) {
        return { SettingKind::WholeByName };
    } else {
        static_assert(std::is_same_v<T, std::map<std::string, double>>);
        return { SettingKind::RealByName };
    }
}

template <class T> RecipeValue valueOf(const T& member)
{
    if constexpr (kIsOptional<T>)
        return member ? valueOf(*member) : RecipeValue();
    else if constexpr (std::is_same_v<T, DType>)
        return std::string(dtypeName(member)); // what was read from a file may be a type that nobody can ask for
    else if constexpr (std::is_enum_v<T>)
        return std::string(nameIn(Named<T>::values, member));
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return static_cast<int64_t>(member);
    else
        return member;
}

template <class T> void assign(T& member, const RecipeValue& value)
{
    if constexpr (kIsOptional<T>) {
        member.reset();
        if (!std::holds_alternative<std::monostate>(value))
            assign(member.emplace(), value);
    } else if constexpr (std::is_enum_v<T>) {
        member = *valueIn(Named<T>::values, std::get<std::string>(value));
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        member = static_cast<T>(std::get<int64_t>(value));
    } else {
        member = std::get<T>(value);
    }
}

template <auto First, auto... Rest, class Owner> auto& memberOf(Owner& owner)
{
    if constexpr (sizeof...(Rest) == 0)
        return owner.*First;
    else
        return memberOf<Rest...>(owner.*First);
}

template <class Owner, class Member> Owner ownerOf(Member Owner::*);

} // namespace detail

/// The member that is reached by these pointers to members, one after the other.
template <auto First, auto... Rest> constexpr auto setting()
{
    using Owner = decltype(detail::ownerOf(First));
    using Member = std::remove_cvref_t<decltype(detail::memberOf<First, Rest...>(std::declval<Owner&>()))>;
    return Setting<Owner> { detail::typeOf<Member>(),
        [](const Owner& owner) { return detail::valueOf(detail::memberOf<First, Rest...>(owner)); },
        [](Owner& owner, const RecipeValue& value) { detail::assign(detail::memberOf<First, Rest...>(owner), value); },
        [](Owner& to, const Owner& from) {
            detail::memberOf<First, Rest...>(to) = detail::memberOf<First, Rest...>(from);
        } };
}

} // namespace qs
