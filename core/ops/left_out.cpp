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

constexpr const char* kNchwcDomain = "com.microsoft.nchwc";
constexpr const char* kForOneCpu = "its tensors and weights lie as the CPU needs them that the file was written on";
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
    LeftOutOperator { kMicrosoftDomain, "NhwcFusedConv", "it exists for half floats on ARM CPUs", kLowerLevel },
    LeftOutOperator { kNchwcDomain, "AveragePool", kForOneCpu, kLowerLevel },
    LeftOutOperator { kNchwcDomain, "Conv", kForOneCpu, kLowerLevel },
    LeftOutOperator { kNchwcDomain, "GlobalAveragePool", kForOneCpu, kLowerLevel },
    LeftOutOperator { kNchwcDomain, "GlobalMaxPool", kForOneCpu, kLowerLevel },
    LeftOutOperator { kNchwcDomain, "MaxPool", kForOneCpu, kLowerLevel },
    LeftOutOperator { kNchwcDomain, "ReorderInput", kForOneCpu, kLowerLevel },
    LeftOutOperator { kNchwcDomain, "ReorderOutput", kForOneCpu, kLowerLevel },
    LeftOutOperator { kNchwcDomain, "Upsample", kForOneCpu, kLowerLevel },
};

} // namespace

std::span<const LeftOutOperator> leftOutOperators() { return kLeftOut; }

const LeftOutOperator* leftOut(const Node& node)
{
    const auto it = std::ranges::find_if(kLeftOut, [&](const LeftOutOperator& o) { return node.is(o.type, o.domain); });
    return it == kLeftOut.end() ? nullptr : &*it;
}

} // namespace qs
