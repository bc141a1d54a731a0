// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace qs {

/// One instruction set that a group of kernels was compiled for.
struct InstructionSet {
    std::string name; ///< "AVX2"
    bool runs = false; ///< this CPU has it
    bool chosen = false; ///< the kernels use it here
};

/// Kernels that exist in several forms, of which the best that this CPU runs is taken; best first.
struct KernelGroup {
    std::string name; ///< what the kernels' names have in common: "onednn", "element-wise"
    std::string purpose;
    std::vector<InstructionSet> sets;
};
std::vector<KernelGroup> kernelGroups();

/// The CPU is an x86 without dot products of bytes (VNNI), so ONNX Runtime's kernels for 8-bit codes add pairs of
/// products in 16 bits, which saturate.
bool addsPairsIn16Bits();

} // namespace qs
