// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/faults/fault_sheet.h"

#include <filesystem>
#include <string>
#include <vector>

namespace qs::test {

/// The call that fails.
struct Disturbance {
    Fault fault = Fault::Memory;
    uint64_t at = 0; ///< counted from 1; 0: none
    int error = 0; ///< errno
    bool told = false; ///< where it was, on stderr
};

struct Ending {
    bool hung = false; ///< it took too long and was killed
    int signal = 0; ///< that it died of
    int code = 0; ///< otherwise
    bool disturbed = false; ///< the call was made, and failed
    std::string out, messages; ///< what it printed
    std::array<uint64_t, kFaultNames.size()> calls {}; ///< that could have failed
};

/// Runs programs with a call that fails. One at a time.
class Disturber {
public:
    /// `folder` is for its own files.
    explicit Disturber(const std::filesystem::path& folder);
    ~Disturber();
    Disturber(const Disturber&) = delete;
    Disturber& operator=(const Disturber&) = delete;

    /// `command`: the program and its arguments; `input`: a file for stdin; `temporary`: TMPDIR.
    Ending run(const std::vector<std::string>& command, const std::string& input, const std::string& temporary,
        const Disturbance& disturbance);

private:
    FaultSheet* m_sheet = nullptr;
    std::string m_sheetPath;
    int m_out = -1, m_messages = -1;
};

} // namespace qs::test
