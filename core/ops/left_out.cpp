// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/left_out.h"

#include "core/graph/domains.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr const char* kTraining = "it is an operator of training";
constexpr const char* kForInference = "export the model for inference";
constexpr const char* kOrdered = "its tensors are laid out for one kind of GPU";
constexpr const char* kForCpu = "quantize the model for the CPU";

constexpr const char* kSearch = "it searches for a text by running whole models again and again";
constexpr const char* kDecoderAlone = "open the decoder that is inside it as a file of its own";
constexpr const char* kLowerLevel = "let ONNX Runtime write the file at level ORT_ENABLE_EXTENDED or below";

constexpr std::array kLeftOut {
    LeftOutOperator { kTrainingDomain, "Adagrad", kTraining, kForInference },
    LeftOutOperator { kTrainingDomain, "Adam", kTraining, kForInference },
    LeftOutOperator { kTrainingDomain, "Gradient", kTraining, kForInference },
    LeftOutOperator { kTrainingDomain, "Momentum", kTraining, kForInference },
    LeftOutOperator { "", "ImageDecoder", "it reads the file of a picture, which is no arithmetic",
        "remove it from the model and give the decoded picture as input" },
    LeftOutOperator { kMicrosoftDomain, "DequantizeWithOrder", kOrdered, kForCpu },
    LeftOutOperator { kMicrosoftDomain, "QuantizeWithOrder", kOrdered, kForCpu },
    LeftOutOperator { kMicrosoftDomain, "QOrderedAttention", kOrdered, kForCpu },
    LeftOutOperator { kMicrosoftDomain, "QOrderedGelu", kOrdered, kForCpu },
    LeftOutOperator { kMicrosoftDomain, "QOrderedLayerNormalization", kOrdered, kForCpu },
    LeftOutOperator { kMicrosoftDomain, "QOrderedLongformerAttention", kOrdered, kForCpu },
    LeftOutOperator { kMicrosoftDomain, "QOrderedMatMul", kOrdered, kForCpu },
    LeftOutOperator { kMicrosoftDomain, "BeamSearch", kSearch, kDecoderAlone },
    LeftOutOperator { kMicrosoftDomain, "GreedySearch", kSearch, kDecoderAlone },
    LeftOutOperator { kMicrosoftDomain, "Sampling", kSearch, kDecoderAlone },
    LeftOutOperator { kMicrosoftDomain, "WhisperBeamSearch", kSearch, kDecoderAlone },
    LeftOutOperator { kMicrosoftDomain, "PagedAttention", "it exists for GPUs", "export the model for the CPU" },
    LeftOutOperator { kMicrosoftDomain, "NhwcFusedConv", "it exists for half floats on ARM CPUs", kLowerLevel },
};

constexpr const char* kComplex = "complex64, complex128";
constexpr const char* kOnlyMoved = "complex numbers are moved, not computed with";
constexpr const char* kNoNumbers = "texts are no numbers";

constexpr std::array kLeftOutTypes {
    LeftOutTypes { "", "Col2Im", kComplex, kOnlyMoved },
    LeftOutTypes { "", "Col2Im", "string", kNoNumbers },
    LeftOutTypes { "", "GridSample", kComplex, kOnlyMoved },
    LeftOutTypes { "", "GridSample", "string", kNoNumbers },
    LeftOutTypes { "", "Resize, Upsample (not nearest)", kComplex, kOnlyMoved },
    LeftOutTypes { "", "Resize, Upsample (not nearest)", "string", kNoNumbers },
    LeftOutTypes { "", "ScatterElements, ScatterND (reduction=mul)", "string", kNoNumbers },
    LeftOutTypes { "", "Unique", kComplex, "complex numbers have no order" },
};

constexpr const char* kSame = "auto_pad SAME_UPPER or SAME_LOWER with dilations";
constexpr const char* kSameSizes = "pads are those of a kernel without dilations, so that the output is smaller";

constexpr std::array kRuntimeRules {
    RuntimeRule {
        "", "Attention", "is_causal", "the causal mask lies at the lower right corner; the standard says upper left" },
    RuntimeRule { "", "Attention", "qk_matmul_output_mode", "what is masked out is the lowest float, not -infinity" },
    RuntimeRule { "", "AveragePool", kSame, kSameSizes },
    RuntimeRule { "", "LpPool", kSame, kSameSizes },
    RuntimeRule { "", "MaxPool", kSame, kSameSizes },
};

} // namespace

std::span<const RuntimeRule> runtimeRules() { return kRuntimeRules; }

std::span<const LeftOutOperator> leftOutOperators() { return kLeftOut; }

std::span<const LeftOutTypes> leftOutTypes() { return kLeftOutTypes; }

const LeftOutOperator* leftOut(const Node& node)
{
    const auto it = std::ranges::find_if(kLeftOut, [&](const LeftOutOperator& o) { return node.is(o.type, o.domain); });
    return it == kLeftOut.end() ? nullptr : &*it;
}

} // namespace qs
