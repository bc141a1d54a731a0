// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/fuzz/model_commands.h"

#include <string>
#include <vector>

namespace qs::test {

/// Bytes of a float model and, where there is one, of a quantized file of it.
struct FuzzSubject {
    std::string name;
    Arguments data; ///< options
    std::string floats, quantized; ///< `quantized`: "" where there is none
    bool pair() const { return !quantized.empty(); }
};

/// The example and a small model, each quantized in every form; a small one thrice, as it takes a tenth of the time.
/// What a constant's external data may be lies in the folder, too.
std::vector<FuzzSubject> subjectPairs(const FuzzFolder& folder);

/// ONNX's own node tests (QS_FUZZ_MODELS: another folder) and our models of other operators, the small ones of both.
std::vector<FuzzSubject> subjectModels();

} // namespace qs::test
