// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/instruction_sets.h"

#include "core/kernels/codes/code_product.h"
#include "core/kernels/cpu/highway_targets.h"
#include "core/kernels/cpu/onednn_tools.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace qs {

namespace {

/// What our loops were compiled for; Highway takes the best set that runs.
std::vector<InstructionSet> vectorSets()
{
    std::vector<InstructionSet> sets;
    bool found = false;
    for (int bit = 0; bit < 62; ++bit) { // best first
        const int64_t target = int64_t(1) << bit;
        if ((HWY_TARGETS & target) == 0)
            continue;
        const bool runs = (hwy::SupportedTargets() & target) != 0;
        sets.push_back({ hwy::TargetName(target), runs, runs && !found });
        found = found || runs;
    }
    return sets;
}

std::vector<InstructionSet> libraryBranches()
{
    struct Branch {
        dnnl::cpu_isa isa;
        const char* name;
    };
    static const Branch branches[] = { { dnnl::cpu_isa::avx512_core_amx, "AVX-512 with AMX" },
        { dnnl::cpu_isa::avx512_core_bf16, "AVX-512 with bfloat16" },
        { dnnl::cpu_isa::avx512_core_vnni, "AVX-512 with VNNI" }, { dnnl::cpu_isa::avx512_core, "AVX-512" },
        { dnnl::cpu_isa::avx2_vnni, "AVX2 with VNNI" }, { dnnl::cpu_isa::avx2, "AVX2" }, { dnnl::cpu_isa::avx, "AVX" },
        { dnnl::cpu_isa::sse41, "SSE4.1" } };
    const auto best = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    std::vector<InstructionSet> sets;
    for (const Branch& b : branches) {
        const auto isa = static_cast<unsigned>(b.isa);
        sets.push_back({ b.name, (best & isa) == isa, best == isa });
    }
    return sets;
}

} // namespace

std::vector<KernelGroup> kernelGroups()
{
    const dnnl_version_t& v = *dnnl::version();
    const std::string library = "oneDNN " + std::to_string(v.major) + "." + std::to_string(v.minor) + "."
        + std::to_string(v.patch) + ": float convolutions and products";
    const bool dots = hasDotProducts();
    return { { "onednn", library, libraryBranches() },
        { "highway", "vector loops of our own: element-wise functions, quantizers, sums of integers, statistics",
            vectorSets() },
        { "int8", "integer convolutions and products: dot products of bytes, else sums of pairs in 32 bits",
            { { "AVX-512 with VNNI", dots, dots }, { "pairs", true, !dots } } } };
}

bool addsPairsIn16Bits()
{
#if defined(__x86_64__) || defined(__i386__)
    const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    const auto has
        = [&](dnnl::cpu_isa set) { return (isa & static_cast<unsigned>(set)) == static_cast<unsigned>(set); };
    return !has(dnnl::cpu_isa::avx512_core_vnni) && !has(dnnl::cpu_isa::avx2_vnni);
#else
    return false;
#endif
}

} // namespace qs
