// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/engine/step/kernel_mode.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// One of ONNX's backend tests: a folder with model.onnx and test_data_set_*/{input,output}_K.pb.
struct BackendTest {
    std::string name; ///< folder relative to where the search began
    std::filesystem::path folder;
};

/// All tests below a folder, sorted by name.
std::vector<BackendTest> findBackendTests(const std::filesystem::path& top);

struct BackendOutcome {
    enum class Kind {
        Passed,
        Failed, ///< a wrong result, or none at all without a word
        Skipped, ///< it cannot be run; the reason says why
    };
    Kind kind = Kind::Passed;
    std::string reason;
    bool late = false; ///< skipped only when it ran with its data: neither the importer nor the plan objected
};

std::string_view outcomeName(BackendOutcome::Kind kind);

/// Runs all data sets of a test. Equal means: type and shape equal, integers and strings equal, floats within
/// 1e-3 relative + 1e-7 absolute, NaN equal to NaN.
BackendOutcome runBackendTest(const BackendTest& test, KernelMode mode, const CancelToken& cancel = {});

} // namespace qs
