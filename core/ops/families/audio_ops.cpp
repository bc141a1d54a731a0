// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"

/// Spectra, windows and mel weights.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

/// An integer input: its value where it is known.
std::optional<int64_t> knownInt(const Fact* f)
{
    const auto values = knownInts(f);
    return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
}

Dim halfOf(const Dim& length) { return length.known() ? knownDim(length.value / 2 + 1) : unknownDim(); }

/// The last axis of a signal holds one real or the two parts of a complex number.
Status needParts(const InferContext& c, const Dims& dims)
{
    if (dims.back().known() && dims.back().value != 1 && dims.back().value != 2)
        return inferIssue(
            c.node, "its input has shape " + dimsText(dims) + ", but the last axis must hold 1 or 2 numbers");
    return {};
}

Result<Facts> inferDft(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const Fact& x = *c.input(0);
    if (!x.dims)
        return Facts { fact(x.dtype) };
    if (x.dims->size() < 2)
        return inferIssue(c.node, "its input needs a signal axis and an axis for the parts of complex numbers");
    QS_CHECK(needParts(c, *x.dims));
    const Attributes& a = c.node.attributes;
    const bool newer = c.node.opset >= 20;
    std::optional<int64_t> axis = newer ? -2 : a.integer("axis", 1);
    if (newer && c.input(2))
        axis = knownInt(c.input(2));
    if (!axis)
        return Facts { fact(x.dtype, Dims(x.dims->size())) };
    QS_TRY(const size_t at, axisArgument(c.node, *axis, x.dims->size()));
    const bool onesided = a.integer("onesided", 0) != 0, inverse = a.integer("inverse", 0) != 0;
    Dim length = (*x.dims)[at];
    if (onesided && inverse && length.known())
        length = productOf(knownDim(length.value - 1), 2);
    else if (onesided && inverse)
        length = unknownDim();
    if (c.input(1)) {
        const auto given = knownInt(c.input(1));
        length = given && *given > 0 ? knownDim(*given) : unknownDim();
    }
    Dims out = *x.dims;
    out[at] = onesided && !inverse ? halfOf(length) : length;
    out.back() = knownDim(onesided && inverse ? 1 : 2);
    return Facts { fact(x.dtype, std::move(out)) };
}

Result<Facts> inferStft(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact& x = *c.input(0);
    if (x.dims && x.dims->size() != 3 && x.dims->size() != 2)
        return inferIssue(c.node, "its signal has shape " + dimsText(*x.dims) + ", but needs rank 2 or 3");
    Dims out { unknownDim(), unknownDim(), unknownDim(), knownDim(2) };
    if (!x.dims)
        return Facts { fact(x.dtype, std::move(out)) };
    if (x.dims->size() == 3)
        QS_CHECK(needParts(c, *x.dims));
    out[0] = (*x.dims)[0];
    Dim length = (*x.dims)[1];
    if (const Fact* window = c.input(2); window)
        length = window->dims && window->dims->size() == 1 ? window->dims->front() : unknownDim();
    if (c.input(3)) {
        const auto given = knownInt(c.input(3));
        length = given && *given > 0 ? knownDim(*given) : unknownDim();
    }
    out[2] = c.node.attributes.integer("onesided", 1) != 0 ? halfOf(length) : length;
    const auto hop = knownInt(c.input(1));
    const Dim& samples = (*x.dims)[1];
    if (hop && *hop > 0 && samples.known() && length.known() && length.value <= samples.value)
        out[1] = knownDim(1 + (samples.value - length.value) / *hop);
    return Facts { fact(x.dtype, std::move(out)) };
}

DType madeType(const Node& node) { return static_cast<DType>(node.attributes.integer("output_datatype", 1)); }

Result<Facts> inferWindow(const InferContext& c)
{
    QS_CHECK(needInputs(c, 1));
    const auto size = knownInt(c.input(0));
    if (size && *size < 0)
        return inferIssue(c.node, "its size is negative");
    return Facts { fact(madeType(c.node), Dims { size ? knownDim(*size) : unknownDim() }) };
}

Result<Facts> inferMelWeightMatrix(const InferContext& c)
{
    QS_CHECK(needInputs(c, 5));
    const auto bands = knownInt(c.input(0)), length = knownInt(c.input(1));
    Dims out { length && *length > 0 ? knownDim(*length / 2 + 1) : unknownDim(),
        bands && *bands > 0 ? knownDim(*bands) : unknownDim() };
    return Facts { fact(madeType(c.node), std::move(out)) };
}

} // namespace

void registerAudioOps(OpRegistry& r)
{
    r.add({ "", "DFT", inferDft, Tolerance::Accumulation });
    r.add({ "", "STFT", inferStft, Tolerance::Accumulation });
    for (const char* type : { "HannWindow", "HammingWindow", "BlackmanWindow" })
        r.add({ "", type, inferWindow, Tolerance::Elementary });
    r.add({ "", "MelWeightMatrix", inferMelWeightMatrix, Tolerance::Elementary });
}

} // namespace qs
