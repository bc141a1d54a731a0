// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/sensitivity/output_agreement.h"

#include "core/analysis/tasks/masks.h"
#include "core/analysis/tasks/scores.h"

namespace qs {

namespace {

/// A sequence of several positions; padding of prompts counts nowhere.
AgreementCounts positionCounts(const OutputTask& task, const OutputValues& x, const OutputValues& y, const Feed& feed)
{
    AgreementCounts counts;
    const auto rows = scoreRows(x.shape, feed.samples);
    if (!rows || rows->positions < 2)
        return counts;
    const auto prompts = task.tokens
        ? promptTokens(*task.tokens, feed.inputs, feed.samples, rows->positions, rows->classes)
        : std::vector<PromptTokens>();
    for (size_t s = 0; s < feed.samples; ++s)
        for (size_t p = 0; p < rows->positions; ++p) {
            if (!prompts.empty() && prompts[s].counts[p] == 0)
                continue;
            const size_t at = (s * rows->positions + p) * rows->classes;
            const int64_t best = argmax(y.values.data() + at, rows->classes);
            ++counts.parts;
            counts.agreeing += best >= 0 && best == argmax(x.values.data() + at, rows->classes);
        }
    return counts;
}

AgreementCounts pixelCounts(const OutputTask& task, const OutputValues& x, const OutputValues& y, const Feed& feed)
{
    AgreementCounts counts;
    const auto layout = maskLayout(x.shape, feed.samples, task.channelsLast, task.holdsClasses);
    if (!layout)
        return counts;
    const bool oneScore = layout->classes == 1 && !layout->holdsClasses;
    const size_t slice = x.values.size() / feed.samples;
    for (size_t s = 0; s < feed.samples; ++s) {
        const float *xs = x.values.data() + s * slice, *ys = y.values.data() + s * slice;
        const float threshold = oneScore ? maskThreshold(xs, layout->pixels, task.scores) : 0;
        PartCounts byClass;
        maskSums(maskOf(xs, *layout, threshold), maskOf(ys, *layout, threshold), !oneScore, byClass);
        counts.classes.merge(byClass);
    }
    return counts;
}

PictureSize fedPicture(const Feed& feed)
{
    for (const Tensor& input : feed.inputs)
        if (const PictureSize size = input.valid() ? pictureSize(input.shape()) : PictureSize {}; size.height > 0)
            return size;
    return {};
}

AgreementCounts boxCounts(const OutputTask& task, std::span<const OutputValues> x, std::span<const OutputValues> y,
    const Feed& feed, const BoxThresholds& limits)
{
    std::vector<BoxPart> xs, ys;
    for (const size_t part : task.parts) {
        xs.push_back({ x[part].values.data(), x[part].shape });
        ys.push_back({ y[part].values.data(), y[part].shape });
    }
    AgreementCounts counts;
    const PictureSize picture = fedPicture(feed);
    for (size_t s = 0; s < feed.samples; ++s) {
        const auto before = boxesOf(task.reading(), xs, picture, { s, feed.samples }, limits);
        const auto after = boxesOf(task.reading(), ys, picture, { s, feed.samples }, limits);
        if (!before || !after)
            continue;
        counts.agreeing += 2 * boxSums(*before, *after, limits.match).matched;
        counts.parts += double(before->size() + after->size());
    }
    return counts;
}

} // namespace

void AgreementCounts::merge(const AgreementCounts& other)
{
    agreeing += other.agreeing;
    parts += other.parts;
    classes.merge(other.classes);
}

Number AgreementCounts::share() const
{
    if (parts > 0)
        return agreeing / parts;
    double total = 0, occurring = 0;
    for (size_t c = 0; c < classes.all.size(); ++c)
        if (classes.all[c] > 0) {
            total += double(classes.same[c]) / double(classes.all[c]);
            ++occurring;
        }
    return occurring > 0 ? Number(total / occurring) : std::nullopt;
}

bool isCounted(const OutputTask& task)
{
    return task.what.kind == TaskKind::Sequence || task.what.kind == TaskKind::Mask
        || task.what.kind == TaskKind::Boxes;
}

AgreementCounts agreementCounts(const std::vector<OutputTask>& tasks, size_t index, std::span<const OutputValues> x,
    std::span<const OutputValues> y, const Feed& feed, const BoxThresholds& limits)
{
    const OutputTask& task = tasks[index];
    if (task.what.kind == TaskKind::Boxes)
        return task.primary == index && !task.parts.empty() ? boxCounts(task, x, y, feed, limits) : AgreementCounts();
    const size_t count = x[index].values.size();
    if (!isCounted(task) || feed.samples == 0 || count == 0 || count != y[index].values.size()
        || count % feed.samples != 0)
        return {};
    return task.what.kind == TaskKind::Mask ? pixelCounts(task, x[index], y[index], feed)
                                            : positionCounts(task, x[index], y[index], feed);
}

} // namespace qs
