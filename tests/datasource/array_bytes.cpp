// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/datasource/array_bytes.h"

#include <cstdlib>
#include <fstream>
#include <zip.h>

namespace qs::testing {

std::string npy(const std::string& descr, const std::string& shape, const std::string& data, bool fortran)
{
    std::string header
        = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
    header.append(63 - (header.size() + 10) % 64, ' ');
    header += '\n';
    std::string out = "\x93NUMPY\x01";
    out += '\0';
    out += static_cast<char>(header.size() & 0xff);
    out += static_cast<char>(header.size() >> 8);
    return out + header + data;
}

void writeZip(const std::string& path, const Members& members, Packing packing)
{
    zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    if (!zip)
        std::abort();
    for (const auto& [name, bytes] : members) {
        zip_source_t* source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
        const zip_int64_t index = zip_file_add(zip, name.c_str(), source, 0);
        zip_set_file_compression(
            zip, static_cast<zip_uint64_t>(index), packing == Packing::Stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 0);
    }
    if (zip_close(zip) != 0)
        std::abort();
}

void writeBytes(const std::string& path, const std::string& bytes)
{
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

} // namespace qs::testing
