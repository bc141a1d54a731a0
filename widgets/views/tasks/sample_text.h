// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/tasks/sample_overlay.h"

namespace qs {

/// All outputs of one sample of a quantized model beside those of the float one, and what their task says.
struct SampleSide {
    std::vector<SampleOutput> outputs; ///< in the order of the file
    SampleTask task;
};

/// What is to be read beside the picture of a sample, as rich text; with a second quantized model (B) what both say,
/// and which of them has another class than the float model.
QString sampleText(const SampleSide& a, const SampleSide* b, const ClassNames& names, const Theme& theme);

} // namespace qs
