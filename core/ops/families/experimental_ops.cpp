// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/families/parts.h"

#include "core/ops/fact_tools.h"

/// Experimental operators of the standard's first years: written by converters from Core ML and Caffe2, without
/// a definition in the standard since its opset 10. What they compute is what ONNX Runtime does.
namespace qs {

namespace {

using Facts = std::vector<Fact>;

constexpr int kLastOpset = 9;

Status needOldOpset(const InferContext& c)
{
    if (c.node.opset > kLastOpset)
        return inferIssue(c.node,
            c.node.opType + " is experimental and ended with opset " + std::to_string(kLastOpset) + ", not "
                + std::to_string(c.node.opset));
    return {};
}

Result<Facts> inferLikeInput(const InferContext& c)
{
    QS_CHECK(needOldOpset(c));
    return inferSame(c);
}

Status needImages(const InferContext& c)
{
    QS_CHECK(needOldOpset(c));
    QS_CHECK(needInputs(c, 1));
    const auto& dims = c.input(0)->dims;
    if (dims && dims->size() != 4)
        return inferIssue(c.node, "the input must be batch x channels x height x width, not " + dimsText(*dims));
    return {};
}

Result<Facts> inferImageScaler(const InferContext& c)
{
    QS_CHECK(needImages(c));
    const auto count = static_cast<int64_t>(c.node.attributes.reals("bias").size());
    const Dim channels = dimOf(c.input(0), 1);
    if (channels.known() && channels.value != count)
        return inferIssue(
            c.node, std::to_string(count) + " biases do not fit " + std::to_string(channels.value) + " channels");
    return inferSame(c);
}

/// What is left of one axis behind `before` and in front of `after`, or `size` elements of it when that is >= 0.
Result<Dim> cropped(const InferContext& c, size_t axis, int64_t before, int64_t after, int64_t size)
{
    const Dim whole = dimOf(c.input(0), axis);
    if (!whole.known())
        return size < 0 ? unknownDim() : knownDim(size);
    const int64_t rest = whole.value - before, left = size < 0 ? rest - after : size;
    if (rest < left || left < 0)
        return inferIssue(c.node, "the borders leave nothing of axis " + std::to_string(axis));
    return knownDim(left);
}

Result<Facts> inferCrop(const InferContext& c)
{
    QS_CHECK(needImages(c));
    const std::vector<int64_t> border = c.node.attributes.integers("border"),
                               scale = c.node.attributes.integers("scale");
    if (border.size() != 4 || (!scale.empty() && scale.size() != 2))
        return inferIssue(c.node, "border needs four numbers (left, top, right, bottom), scale two or none");
    for (int64_t v : border)
        if (v < 0 || v > INT32_MAX)
            return inferIssue(c.node, "a border of " + std::to_string(v) + " is impossible");
    for (int64_t v : scale)
        if (v < 0)
            return inferIssue(c.node, "a size of " + std::to_string(v) + " is impossible");
    Dims out { dimOf(c.input(0), 0), dimOf(c.input(0), 1), {}, {} };
    QS_TRY(out[2], cropped(c, 2, border[1], border[3], scale.empty() ? -1 : scale[0]));
    QS_TRY(out[3], cropped(c, 3, border[0], border[2], scale.empty() ? -1 : scale[1]));
    return Facts { fact(c.input(0)->dtype, std::move(out)) };
}

/// Slice as it became in opset 10, without steps.
Result<Facts> inferDynamicSlice(const InferContext& c)
{
    QS_CHECK(needOldOpset(c));
    QS_CHECK(needInputs(c, 3));
    Node slice = c.node;
    slice.opType = "Slice";
    slice.opset = 10;
    return opRegistry().find(slice)->infer({ slice, c.inputs });
}

} // namespace

void registerExperimentalOps(OpRegistry& r)
{
    for (const char* type : { "Affine", "Scale" })
        r.add({ "", type, inferLikeInput, Tolerance::OneUlp });
    for (const char* type : { "ParametricSoftplus", "ScaledTanh" })
        r.add({ "", type, inferLikeInput, Tolerance::Elementary });
    r.add({ "", "ImageScaler", inferImageScaler, Tolerance::OneUlp });
    r.add({ "", "Crop", inferCrop, Tolerance::Exact });
    r.add({ "", "DynamicSlice", inferDynamicSlice, Tolerance::Exact });
}

} // namespace qs
