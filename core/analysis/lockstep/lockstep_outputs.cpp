// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/lockstep.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/tasks/box_forms.h"

#include <cmath>
#include <list>
#include <vector>

/// What a lockstep measures at the outputs: errors of any, and what their task asks for.
namespace qs {

namespace {

PictureSize pictureOf(const Feed& feed)
{
    for (const Tensor& input : feed.inputs)
        if (const PictureSize size = input.valid() ? pictureSize(input.shape()) : PictureSize {}; size.height > 0)
            return size;
    return {};
}

/// Tensors of one model as floats, with what holds them.
class BoxParts {
public:
    void add(const Tensor& tensor, const QuantParams* params)
    {
        m_buffers.emplace_back();
        m_kept.emplace_back();
        parts.push_back({ asFloats(tensor, Layout::Plain, params, m_buffers.back(), m_kept.back()), tensor.shape() });
    }
    std::vector<BoxPart> parts;

private:
    std::list<std::vector<float>> m_buffers;
    std::list<Tensor> m_kept;
};

} // namespace

const QuantParams* Lockstep::outputParams(const OutputPair& out) const
{
    return out.quantizer ? &m_shared.pair->quantView->quantizers()[*out.quantizer].params : nullptr;
}

void Lockstep::measureScores(size_t cell, const OutputPair& out, const float* x, const float* y, const ScoreRows& rows,
    const PromptTokens* prompt)
{
    Measured& m = *m_shared.measured;
    if (out.task.holdsClasses) {
        m.scores[cell] = chosenSums(x, y, rows);
        m.floatClass[cell] = std::llround(x[0]);
        m.quantClass[cell] = std::llround(y[0]);
        m.floatMargin[cell] = m.quantMargin[cell] = NAN;
        return;
    }
    PartCounts byPosition;
    const bool several = rows.positions > 1;
    std::vector<TokenScores> tokens;
    m.scores[cell] = scoreSums(
        x, y, rows, out.task.scores, { several ? &byPosition : nullptr, prompt, prompt ? &tokens : nullptr });
    m.tokens[cell] = std::move(tokens);
    if (several)
        return m.parts[cell / m.samples]->merge(byPosition);
    m.floatClass[cell] = argmax(x, rows.classes);
    m.quantClass[cell] = argmax(y, rows.classes);
    m.floatMargin[cell] = marginOf(x, rows.classes, m.floatClass[cell]);
    m.quantMargin[cell] = marginOf(y, rows.classes, m.floatClass[cell]);
}

void Lockstep::measureMask(size_t cell, const OutputPair& out, const float* x, const float* y, const MaskLayout& layout)
{
    Measured& m = *m_shared.measured;
    const bool oneScore = layout.classes == 1 && !layout.holdsClasses;
    const float threshold = oneScore ? maskThreshold(x, layout.pixels, out.task.scores) : 0;
    PartCounts byClass;
    m.masks[cell] = maskSums(maskOf(x, layout, threshold), maskOf(y, layout, threshold), !oneScore, byClass);
    m.parts[cell / m.samples]->merge(byClass);
}

void Lockstep::measureOutput(size_t index, const Tensor& xt, const Tensor& yt, const Feed& feed)
{
    Measured& m = *m_shared.measured;
    const OutputPair& out = m_shared.outputs[index];
    if (xt.count() != yt.count())
        return;
    Tensor keepX, keepY;
    const float* x = asFloats(xt, Layout::Plain, nullptr, m_x, keepX);
    const float* y = asFloats(yt, Layout::Plain, outputParams(out), m_y, keepY);
    const auto count = static_cast<size_t>(xt.count());
    const size_t slices = feed.slicesOf(count), slice = count / slices;
    const TaskKind kind = out.task.what.kind;
    const bool scored = (kind == TaskKind::Classes || kind == TaskKind::Sequence)
        && (out.task.told || !m_float.state().carries(out.x)) && slices == feed.samples;
    const auto rows = !scored   ? std::nullopt
        : out.task.holdsClasses ? chosenRows(xt.shape(), feed.samples)
                                : scoreRows(xt.shape(), feed.samples);
    const auto prompts = rows && out.task.tokens
        ? promptTokens(*out.task.tokens, feed.inputs, feed.samples, rows->positions, rows->classes)
        : std::vector<PromptTokens>();
    const auto mask = kind == TaskKind::Mask && slices == feed.samples
        ? maskLayout(xt.shape(), feed.samples, out.task.channelsLast, out.task.holdsClasses)
        : std::nullopt;
    for (size_t s = 0; s < slices; ++s) {
        const size_t cell = index * m.samples + feed.firstSample + s;
        const float *xs = x + s * slice, *ys = y + s * slice;
        for (const auto& [begin, end] : counted(out.x, xt.shape(), s, slice))
            addPairSums(m.outputSums[cell], xs + begin, ys + begin, nullptr, end - begin, nullptr, {});
        if (rows)
            measureScores(cell, out, xs, ys, *rows, prompts.empty() ? nullptr : &prompts[s]);
        if (mask)
            measureMask(cell, out, xs, ys, *mask);
    }
}

Status Lockstep::measureBoxes(size_t index, Execution& f, Execution& q, const Feed& feed, const CancelToken& cancel)
{
    const OutputTask& task = m_shared.outputs[index].task;
    if (task.parts.empty())
        return {};
    Measured& m = *m_shared.measured;
    BoxParts x, y;
    for (const size_t part : task.parts) {
        const OutputPair& out = m_shared.outputs[part];
        QS_CHECK(advance(f, out.x, cancel));
        QS_CHECK(advance(q, out.y, cancel));
        x.add(f.get(out.x), nullptr);
        y.add(q.get(out.y), outputParams(out));
    }
    const PictureSize picture = pictureOf(feed);
    const BoxThresholds& limits = m_shared.pair->tasks.boxes;
    for (size_t s = 0; s < feed.samples; ++s) {
        const SampleOfRun sample { s, feed.samples };
        const auto before = boxesOf(task.reading(), x.parts, picture, sample, limits);
        const auto after = boxesOf(task.reading(), y.parts, picture, sample, limits);
        if (before && after)
            m.boxes[index * m.samples + feed.firstSample + s] = boxSums(*before, *after, limits.match);
        else if (task.told)
            return badInput("output '" + m_shared.outputs[index].name + "' of shape "
                    + shapeText(f.get(m_shared.outputs[index].x).shape()) + " cannot be read as " + taskText(task.what),
                {}, "choose another form of boxes, or leave the task automatic");
    }
    return {};
}

} // namespace qs
