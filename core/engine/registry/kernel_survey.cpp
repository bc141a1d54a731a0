// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/registry/kernel_survey.h"

#include "core/engine/registry/registry.h"

#include <algorithm>
#include <span>

namespace qs {

namespace {

constexpr size_t kProbeInputs = 12; ///< more than any operator reads by place

Node probeNode(const std::string& domain, const std::string& type)
{
    Node node;
    node.name = "probe";
    node.domain = domain;
    node.opType = type;
    node.opset = domain.empty() ? 22 : 1;
    for (size_t i = 0; i < kProbeInputs; ++i)
        node.inputs.emplace_back(i);
    node.outputs.emplace_back(kProbeInputs);
    node.attributes.set("to", int64_t(DType::Float32));
    node.attributes.set("kernel_shape", std::vector<int64_t> { 3, 3 });
    node.attributes.set("equation", std::string("ij,jk"));
    node.attributes.set("blocksize", int64_t(2));
    return node;
}

/// Kernel that the lowering takes when every input has this type; empty with the reason when it refuses.
std::string probe(const Node& node, LowerFn lower, DType type, std::string& refusal)
{
    const std::vector<const Tensor*> constants(kProbeInputs, nullptr);
    const std::vector<DType> types(kProbeInputs, type);
    try {
        const auto lowered = lower({ node, constants, types, KernelMode::Fast });
        if (lowered.ok())
            return lowered->kernel;
        refusal = lowered.issue().what;
    } catch (const std::exception& e) {
        refusal = e.what();
    }
    return {};
}

/// Operators on codes are asked for codes only: what else they are given they would refuse when they run.
bool takesCodes(std::string_view type)
{
    return type.starts_with("QLinear") || type.starts_with("QGemm") || type.ends_with("Integer")
        || type.starts_with("MatMulIntegerTo") || type == "DequantizeLinear";
}

OperatorKernels surveyOne(const std::string& domain, const std::string& type, LowerFn lower)
{
    static const DType all[] = { DType::Float32, DType::Float16, DType::BFloat16, DType::Float64, DType::UInt8,
        DType::Int8, DType::UInt16, DType::Int16, DType::Int32, DType::Int64, DType::Bool, DType::String };
    static const DType codes[] = { DType::UInt8, DType::Int8 };
    const std::span<const DType> types = takesCodes(type) ? std::span<const DType>(codes) : std::span<const DType>(all);
    const Node node = probeNode(domain, type);
    OperatorKernels out { domain, type, {}, {} };
    for (const DType t : types) {
        std::string refusal;
        const std::string kernel = probe(node, lower, t, refusal);
        if (kernel.empty()) {
            out.refusal = out.refusal.empty() ? refusal : out.refusal;
            continue;
        }
        auto known = std::ranges::find(out.choices, kernel, &OperatorKernels::Choice::kernel);
        if (known == out.choices.end())
            known = out.choices.insert(out.choices.end(), { kernel, {} });
        known->types.push_back(t);
    }
    if (!out.choices.empty())
        out.refusal.clear();
    return out;
}

} // namespace

std::vector<OperatorKernels> surveyKernels(std::string_view opType)
{
    std::vector<OperatorKernels> out;
    for (const auto& [key, lower] : loweringRegistry().all())
        if (opType.empty() || key.second == opType)
            out.push_back(surveyOne(key.first, key.second, lower));
    return out;
}

std::string kernelMeaning(std::string_view kernel)
{
    if (kernel.starts_with("onednn"))
        return "oneDNN: machine code made for this CPU";
    if (kernel.starts_with("int8 dots"))
        return "dot products of four bytes in one instruction, exact";
    if (kernel.starts_with("int16"))
        return "products of 16 bits summed in pairs, exact; this CPU or this shape has no faster form";
    if (kernel.starts_with("reference"))
        return "plain loops in double or 64-bit integers: exact, but slow; there is no fast form for this type";
    if (kernel == "view" || kernel == "constant")
        return "moves no data";
    if (kernel == "copy")
        return "moves data, computes nothing: as fast as memory";
    if (kernel.starts_with("highway") || kernel.starts_with("element-wise"))
        return "vector loops, for float32 with the best instruction set of this CPU";
    return "loops of our own, vectorized by the compiler for any x86-64";
}

} // namespace qs
