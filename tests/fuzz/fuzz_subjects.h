// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/fuzz/cost_watch.h"
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

/// A subject of which one file was changed.
struct FuzzRound {
    std::string name;
    const FuzzSubject& subject;
    std::string floats, quantized; ///< bytes, one of them changed
    bool damagedQuantized;
    Arguments options; ///< with its data
};

/// Gives drawnCommands() to the program. Returns their exit codes; those of issues are -1 less their kind. An issue
/// that is the program's own fault is one of the watch's.
std::vector<int> carryOutRound(
    const FuzzRound& round, const FuzzFolder& folder, CostWatch& watch, ModelMutator& random);

/// ONNX's own node tests (QS_FUZZ_MODELS: another folder) and our models of other operators, the small ones of both.
std::vector<FuzzSubject> subjectModels();

} // namespace qs::test
