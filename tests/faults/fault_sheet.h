// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

/// What the test and the program that it disturbs share: a page of memory, mapped from the file that the environment
/// names in QS_FAULT_SHEET.
namespace qs::test {

/// What can fail, or be done by half.
enum class Fault : uint32_t {
    Memory, ///< operator new; malloc and its kin when our own code or libzip calls them
    Thread, ///< that one begins
    Open, ///< a file or a folder
    Read,
    ShortRead, ///< a part of what was asked for; of one byte all
    Map,
    Look, ///< stat and its kin, links that are resolved
    Write,
    ShortWrite,
    Interrupted, ///< opening, reading or writing, by a signal
    Sync, ///< fsync, ftruncate, close
    Name, ///< rename, link, unlink, mkdir, rmdir
};
inline constexpr std::array<const char*, 12> kFaultNames { "memory", "thread", "open", "read", "short-read", "map",
    "look", "write", "short-write", "interrupted", "sync", "name" };

struct FaultSheet {
    uint32_t fault = 0; ///< of Fault: which call fails
    uint64_t at = 0; ///< the how manieth call of it, from 1; 0: none
    int32_t error = 0; ///< errno of it
    uint32_t told = 0; ///< 1: where it was is written to stderr
    std::atomic<uint32_t> failed; ///< 1: it has failed
    std::array<std::atomic<uint64_t>, kFaultNames.size()> calls; ///< so far
};

} // namespace qs::test
