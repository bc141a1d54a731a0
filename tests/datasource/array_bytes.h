// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

/// Makes small .npy and .npz files, byte by byte.
namespace qs::testing {

template <class T> std::string bytesOf(const std::vector<T>& values)
{
    std::string out(values.size() * sizeof(T), '\0');
    if (!values.empty())
        std::memcpy(out.data(), values.data(), out.size());
    return out;
}

/// `descr` as numpy writes it ("<f4"), `shape` as a Python tuple ("(2, 3)").
std::string npy(const std::string& descr, const std::string& shape, const std::string& data, bool fortran = false);

template <class T> std::vector<T> counting(size_t n)
{
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i)
        values[i] = static_cast<T>(i);
    return values;
}

enum class Packing { Stored, Deflated };
using Members = std::vector<std::pair<std::string, std::string>>; ///< name, bytes
void writeZip(const std::string& path, const Members& members, Packing packing = Packing::Stored);
void writeBytes(const std::string& path, const std::string& bytes);

} // namespace qs::testing
