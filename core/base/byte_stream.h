// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace qs {

/// Numbers, texts and lists one after another, as they lie in the memory of a little-endian machine.
class ByteWriter {
public:
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

private:
    std::string m_bytes;
};

/// Reads what a ByteWriter wrote. Past the end, or with a list longer than what is left, everything read is zero or
/// empty, and ok() says so: sizes are checked before memory is taken.
class ByteReader {
public:
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
