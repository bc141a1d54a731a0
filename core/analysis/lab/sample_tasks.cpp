// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/sample_tasks.h"

#include "core/analysis/pairs/pair_plan.h"
#include "core/analysis/tasks/masks.h"

#include <algorithm>

namespace qs {

namespace {

constexpr float kMostOfShares = 2; ///< corners within it are shares of the picture's sides, not pixels

/// The shape of one sample, whose elements may be those of a part of the run.
Shape shapeOfOne(const SampleOutput& out, size_t elements)
{
    Shape shape = out.shape;
    if (!shape.empty() && elementCount(shape) != int64_t(elements))
        shape[0] = 1;
    return shape;
}

/// Shares of the sides become pixels where both models' corners are shares.
void toPixels(SampleBoxes& boxes, const PictureSize& picture)
{
    const auto inside = [](const Box& b) { return std::max(b.right, b.bottom) <= kMostOfShares; };
    if (!std::ranges::all_of(boxes.x, inside) || !std::ranges::all_of(boxes.y, inside))
        return;
    const auto width = float(picture.width), height = float(picture.height);
    for (auto* list : { &boxes.x, &boxes.y })
        for (Box& b : *list)
            b = { b.left * width, b.top * height, b.right * width, b.bottom * height, b.score, b.label };
}

} // namespace

std::optional<SampleBoxes> sampleBoxes(
    const ComparePair& pair, const std::vector<SampleOutput>& outputs, const PictureSize& picture)
{
    const auto pairs = pairOutputs(pair);
    const auto found = std::ranges::find_if(pairs, [](const OutputPair& out) { return !out.task.parts.empty(); });
    if (found == pairs.end() || outputs.size() != pairs.size())
        return std::nullopt;
    std::vector<BoxPart> x, y;
    for (const size_t part : found->task.parts) {
        const SampleOutput& out = outputs[part];
        x.push_back({ out.x.data(), shapeOfOne(out, out.x.size()) });
        y.push_back({ out.y.data(), shapeOfOne(out, out.y.size()) });
        if (elementCount(x.back().shape) != int64_t(out.x.size()) || out.x.size() != out.y.size())
            return std::nullopt;
    }
    const BoxReading reading = found->task.reading();
    auto before = boxesOf(reading, x, picture, {}, pair.tasks.boxes),
         after = boxesOf(reading, y, picture, {}, pair.tasks.boxes);
    if (!before || !after)
        return std::nullopt;
    SampleBoxes boxes { std::move(*before), std::move(*after), {}, pair.tasks.boxes.score };
    boxes.matches = matchedBoxes(boxes.x, boxes.y, pair.tasks.boxes.match);
    toPixels(boxes, picture);
    return boxes;
}

std::optional<SampleMasks> sampleMasks(const ComparePair& pair, const std::vector<SampleOutput>& outputs)
{
    const auto pairs = pairOutputs(pair);
    const auto found
        = std::ranges::find(pairs, TaskKind::Mask, [](const OutputPair& out) { return out.task.what.kind; });
    if (found == pairs.end() || outputs.size() != pairs.size())
        return std::nullopt;
    const SampleOutput& out = outputs[size_t(found - pairs.begin())];
    const OutputTask& task = found->task;
    const Shape shape = shapeOfOne(out, out.x.size());
    const auto layout = maskLayout(shape, 1, task.channelsLast, task.holdsClasses);
    if (!layout || layout->classes * layout->pixels != out.x.size() || out.x.size() != out.y.size())
        return std::nullopt;
    const size_t first = shape.size() == 4 && !task.channelsLast ? 2 : 1;
    const float threshold = maskThreshold(out.x.data(), out.x.size(), task.scores);
    return SampleMasks { size_t(shape[first]), size_t(shape[first + 1]), maskOf(out.x.data(), *layout, threshold),
        maskOf(out.y.data(), *layout, threshold) };
}

} // namespace qs
