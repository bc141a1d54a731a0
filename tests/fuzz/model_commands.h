// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/fuzz/command_runner.h"
#include "tests/fuzz/model_mutator.h"

/// Commands as a person would give them of a model, or of a float and a quantized one.
namespace qs::test {

struct ModelFiles {
    std::string floats;
    std::string quantized; ///< "": none
    bool damagedQuantized = false; ///< which of both is asked about
    Arguments data; ///< --data and its kin
    const std::string& asked() const { return damagedQuantized ? quantized : floats; }
};

/// Random samples, with a size for each that the model leaves open.
Arguments samplesFor(const std::string& model);

/// Six commands with drawn options; what they write goes to the folder.
std::vector<Arguments> drawnCommands(const ModelFiles& files, const FuzzFolder& folder, ModelMutator& random);
/// The same with every arithmetic and every form of quantization, always in the same order: what was a crash once is
/// asked for again.
std::vector<Arguments> everyCommand(const ModelFiles& files, const FuzzFolder& folder);

} // namespace qs::test
