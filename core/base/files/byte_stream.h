// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace qs {

/// A function `archive(Stream& stream, Archived<Stream, Thing>& thing)` says once how a thing lies in a file: with
/// item() and size(), which a writer and a reader both have.
template <class Stream, class Thing> using Archived = std::conditional_t<Stream::kReads, Thing, const Thing>;

/// Numbers, texts and lists one after another, as they lie in the memory of a little-endian machine.
class ByteWriter {
public:
    static constexpr bool kReads = false;
    template <class T> void number(T value)
    {
        static_assert(std::is_arithmetic_v<T>);
        m_bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(std::string_view value)
    {
        number<uint64_t>(value.size());
        m_bytes.append(value);
    }
    template <class T> void numbers(const std::vector<T>& values)
    {
        static_assert(std::is_arithmetic_v<T>);
        number<uint64_t>(values.size());
        m_bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    }
    const std::string& bytes() const { return m_bytes; }

    template <class T> void item(const T& value)
    {
        if constexpr (std::is_enum_v<T>)
            number(static_cast<std::underlying_type_t<T>>(value));
        else
            number(value);
    }
    void item(const std::string& value) { text(value); }
    template <class T> void item(const std::vector<T>& values) { numbers(values); }
    /// The number of things in a list, which are to follow.
    template <class T> void size(const std::vector<T>& list, size_t /*bytesEach*/) { number<uint64_t>(list.size()); }

private:
    std::string m_bytes;
};

/// Reads what a ByteWriter wrote. Past the end, or with a list longer than what is left, everything read is zero or
/// empty, and ok() says so: sizes are checked before memory is taken.
class ByteReader {
public:
    static constexpr bool kReads = true;
    explicit ByteReader(std::string_view bytes)
        : m_rest(bytes)
    {
    }
    template <class T> T number()
    {
        static_assert(std::is_arithmetic_v<T>);
        T value {};
        const std::string_view bytes = take(sizeof value);
        if (!bytes.empty())
            std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    std::string text() { return std::string(take(number<uint64_t>())); }
    template <class T> std::vector<T> numbers()
    {
        const size_t count = this->count(sizeof(T));
        std::vector<T> values(count);
        const std::string_view bytes = take(count * sizeof(T));
        if (!bytes.empty())
            std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    /// A number of things of at least `bytesEach` bytes that follow; 0 when there cannot be so many.
    size_t count(size_t bytesEach)
    {
        const auto n = number<uint64_t>();
        if (n > m_rest.size() / bytesEach) {
            fail();
            return 0;
        }
        return static_cast<size_t>(n);
    }
    template <class T> void item(T& value)
    {
        if constexpr (std::is_enum_v<T>)
            value = static_cast<T>(number<std::underlying_type_t<T>>());
        else if constexpr (std::is_same_v<T, bool>)
            value = number<uint8_t>() != 0;
        else
            value = number<T>();
    }
    void item(std::string& value) { value = text(); }
    template <class T> void item(std::vector<T>& values) { values = numbers<T>(); }
    /// Gives the list that many things of at least `bytesEach` bytes.
    template <class T> void size(std::vector<T>& list, size_t bytesEach) { list.resize(count(bytesEach)); }
    void fail()
    {
        m_ok = false;
        m_rest = {};
    }
    bool ok() const { return m_ok; }
    bool atEnd() const { return m_rest.empty(); }

private:
    std::string_view take(uint64_t n)
    {
        if (n > m_rest.size()) {
            fail();
            return {};
        }
        const std::string_view bytes = m_rest.substr(0, static_cast<size_t>(n));
        m_rest.remove_prefix(static_cast<size_t>(n));
        return bytes;
    }

    std::string_view m_rest;
    bool m_ok = true;
};

} // namespace qs
