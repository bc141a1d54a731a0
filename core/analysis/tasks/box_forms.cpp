// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/box_forms.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

constexpr std::array<int64_t, 3> kStrides { 8, 16, 32 };
constexpr size_t kCorners = 4;

/// One sample's rows of a part: [rows, columns].
struct Table {
    const float* data = nullptr;
    size_t rows = 0, columns = 0;
    const float* row(size_t i) const { return data + i * columns; }
};

/// Of [N, rows, columns], or [rows, columns] where there is one sample.
std::optional<Table> tableOf(const BoxPart& part, const SampleOfRun& sample)
{
    const Shape& s = part.shape;
    const bool batched = s.size() == 3 && s[0] == int64_t(sample.samples);
    if (!batched && !(s.size() == 2 && sample.samples == 1))
        return std::nullopt;
    const auto rows = size_t(s[s.size() - 2]), columns = size_t(s.back());
    return Table { part.data + (batched ? sample.index * rows * columns : 0), rows, columns };
}

/// Of [N, K], [N, K, 1], or [K] where there is one sample: one column.
std::optional<Table> columnOf(const BoxPart& part, const SampleOfRun& sample)
{
    Shape s = part.shape;
    if (s.size() == 3 && s.back() == 1)
        s.pop_back();
    const bool batched = s.size() == 2 && s[0] == int64_t(sample.samples);
    if (!batched && !(s.size() == 1 && sample.samples == 1))
        return std::nullopt;
    const auto rows = size_t(s.back());
    return Table { part.data + (batched ? sample.index * rows : 0), rows, 1 };
}

Box fromCentre(float x, float y, float width, float height)
{
    return { x - width / 2, y - height / 2, x + width / 2, y + height / 2 };
}

Box fromCorners(const float* v) { return { v[0], v[1], v[2], v[3] }; }

/// The largest of `count` scores that lie `step` apart, with its index.
void setBest(Box& box, const float* scores, size_t count, size_t step = 1)
{
    size_t best = 0;
    for (size_t c = 1; c < count; ++c)
        if (scores[c * step] > scores[best * step] || std::isnan(scores[best * step]))
            best = c;
    box.score = scores[best * step];
    box.label = int64_t(best);
}

class Found {
public:
    explicit Found(double least)
        : m_least(least)
    {
    }
    void add(const Box& box)
    {
        if (double(box.score) >= m_least)
            m_boxes.push_back(box);
    }
    std::vector<Box> take() { return std::move(m_boxes); }

private:
    double m_least;
    std::vector<Box> m_boxes;
};

void addYolov5(const Table& t, Found& found)
{
    for (size_t i = 0; i < t.rows; ++i) {
        const float* v = t.row(i);
        Box box = fromCentre(v[0], v[1], v[2], v[3]);
        setBest(box, v + 5, t.columns - 5);
        box.score *= v[4];
        found.add(box);
    }
}

void addYolov8(const Table& t, Found& found)
{
    for (size_t i = 0; i < t.columns; ++i) {
        const auto at = [&](size_t row) { return t.data[row * t.columns + i]; };
        Box box = fromCentre(at(0), at(1), at(2), at(3));
        setBest(box, t.data + kCorners * t.columns + i, t.rows - kCorners, t.columns);
        found.add(box);
    }
}

/// Cells of stride 8 first, row by row. Source: YOLOX, demo_postprocess().
bool addYolox(const Table& t, const PictureSize& picture, Found& found)
{
    size_t cells = 0;
    for (const int64_t stride : kStrides)
        cells += size_t((picture.height / stride) * (picture.width / stride));
    if (cells != t.rows || cells == 0)
        return false;
    const float* v = t.data;
    for (const int64_t stride : kStrides)
        for (int64_t y = 0; y < picture.height / stride; ++y)
            for (int64_t x = 0; x < picture.width / stride; ++x, v += t.columns) {
                const auto s = float(stride);
                Box box
                    = fromCentre((v[0] + float(x)) * s, (v[1] + float(y)) * s, std::exp(v[2]) * s, std::exp(v[3]) * s);
                setBest(box, v + 5, t.columns - 5);
                box.score *= v[4];
                found.add(box);
            }
    return true;
}

void addEndToEnd(const Table& t, Found& found)
{
    for (size_t i = 0; i < t.rows; ++i) {
        Box box = fromCorners(t.row(i));
        box.score = t.row(i)[4];
        box.label = std::llround(t.row(i)[5]);
        found.add(box);
    }
}

void addList(const Table& boxes, const Table& scores, const Table& labels, Found& found)
{
    for (size_t i = 0; i < boxes.rows; ++i) {
        Box box = fromCorners(boxes.row(i));
        box.score = scores.data[i];
        box.label = std::llround(labels.data[i]);
        found.add(box);
    }
}

/// Class 0 is none.
void addSsd(const Table& boxes, const Table& scores, Found& found)
{
    for (size_t i = 0; i < boxes.rows; ++i)
        for (size_t c = 1; c < scores.columns; ++c) {
            Box box = fromCorners(boxes.row(i));
            box.score = scores.row(i)[c];
            box.label = int64_t(c);
            found.add(box);
        }
}

float softmaxOf(const float* logits, size_t count, size_t index)
{
    const float largest = *std::max_element(logits, logits + count);
    double sum = 0;
    for (size_t c = 0; c < count; ++c)
        sum += std::exp(double(logits[c]) - double(largest));
    return float(std::exp(double(logits[index]) - double(largest)) / sum);
}

void addDetr(const Table& boxes, const Table& logits, bool sigmoid, Found& found)
{
    const size_t classes = logits.columns - (sigmoid ? 0 : 1);
    for (size_t i = 0; i < boxes.rows; ++i) {
        const float *b = boxes.row(i), *l = logits.row(i);
        Box box = fromCentre(b[0], b[1], b[2], b[3]);
        setBest(box, l, classes);
        box.score
            = sigmoid ? float(1 / (1 + std::exp(-double(box.score)))) : softmaxOf(l, logits.columns, size_t(box.label));
        found.add(box);
    }
}

/// Rows of batch, class, box, as NonMaxSuppression writes them for all samples of a run.
bool addSelected(
    std::span<const BoxPart> parts, const Table& boxes, bool centres, const SampleOfRun& sample, Found& found)
{
    const BoxPart &indices = parts[0], &scores = parts[2];
    if (indices.shape.size() != 2 || indices.shape[1] != 3 || scores.shape.size() != 3
        || scores.shape[0] != int64_t(sample.samples) || scores.shape[2] != int64_t(boxes.rows))
        return false;
    const auto classes = scores.shape[1];
    for (int64_t i = 0; i < indices.shape[0]; ++i) {
        const float* at = indices.data + i * 3;
        const auto run = std::llround(at[0]), label = std::llround(at[1]), row = std::llround(at[2]);
        if (run != int64_t(sample.index))
            continue;
        if (label < 0 || label >= classes || row < 0 || row >= int64_t(boxes.rows))
            return false;
        const float* v = boxes.row(size_t(row));
        Box box = centres ? fromCentre(v[0], v[1], v[2], v[3]) : fromCorners(v);
        box.score = scores.data[(size_t(run) * size_t(classes) + size_t(label)) * boxes.rows + size_t(row)];
        box.label = label;
        found.add(box);
    }
    return true;
}

/// Corners may be given in either order.
Box ordered(Box b)
{
    if (b.left > b.right)
        std::swap(b.left, b.right);
    if (b.top > b.bottom)
        std::swap(b.top, b.bottom);
    return b;
}

bool addOne(BoxForm form, const Table& t, const PictureSize& picture, Found& found)
{
    const bool byRow = form == BoxForm::Yolov5 || form == BoxForm::Yolox;
    if ((byRow && t.columns < 6) || (form == BoxForm::Yolov8 && t.rows < 5)
        || (form == BoxForm::EndToEnd && t.columns != 6))
        return false;
    if (form == BoxForm::Yolov5)
        addYolov5(t, found);
    else if (form == BoxForm::Yolov8)
        addYolov8(t, found);
    else if (form == BoxForm::EndToEnd)
        addEndToEnd(t, found);
    return form != BoxForm::Yolox || addYolox(t, picture, found);
}

bool addMany(const BoxReading& reading, std::span<const BoxPart> parts, const SampleOfRun& sample, Found& found)
{
    const BoxForm form = reading.form;
    const size_t at = form == BoxForm::Nms ? 1 : 0;
    if (parts.size() < (form == BoxForm::List || form == BoxForm::Nms ? 3U : 2U))
        return false;
    const auto boxes = tableOf(parts[at], sample);
    if (!boxes || boxes->columns != kCorners)
        return false;
    if (form == BoxForm::Nms)
        return addSelected(parts, *boxes, reading.centres, sample, found);
    if (form == BoxForm::List) {
        const auto scores = columnOf(parts[1], sample), labels = columnOf(parts[2], sample);
        if (!scores || !labels || scores->rows != boxes->rows || labels->rows != boxes->rows)
            return false;
        addList(*boxes, *scores, *labels, found);
        return true;
    }
    const auto scores = tableOf(parts[1], sample);
    if (!scores || scores->rows != boxes->rows || scores->columns < (form == BoxForm::DetrSigmoid ? 1U : 2U))
        return false;
    if (form == BoxForm::Ssd)
        addSsd(*boxes, *scores, found);
    else
        addDetr(*boxes, *scores, form == BoxForm::DetrSigmoid, found);
    return true;
}

} // namespace

bool leavesSuppression(BoxForm form)
{
    return form == BoxForm::Yolov5 || form == BoxForm::Yolov8 || form == BoxForm::Yolox || form == BoxForm::Ssd;
}

PictureSize pictureSize(const Shape& input)
{
    constexpr int64_t kMostChannels = 4;
    if (input.size() != 4)
        return {};
    if (input[1] <= kMostChannels)
        return { input[2], input[3] };
    return input[3] <= kMostChannels ? PictureSize { input[1], input[2] } : PictureSize {};
}

std::optional<std::vector<Box>> boxesOf(const BoxReading& reading, std::span<const BoxPart> parts,
    const PictureSize& picture, const SampleOfRun& sample, const BoxThresholds& thresholds)
{
    const BoxForm form = reading.form;
    Found found(thresholds.score);
    const bool one
        = form == BoxForm::Yolov5 || form == BoxForm::Yolov8 || form == BoxForm::Yolox || form == BoxForm::EndToEnd;
    if (form == BoxForm::None || parts.empty())
        return std::nullopt;
    if (one) {
        const auto table = tableOf(parts[0], sample);
        if (!table || !addOne(form, *table, picture, found))
            return std::nullopt;
    } else if (!addMany(reading, parts, sample, found)) {
        return std::nullopt;
    }
    std::vector<Box> boxes = found.take();
    std::ranges::transform(boxes, boxes.begin(), ordered);
    return leavesSuppression(form) ? suppressed(std::move(boxes), thresholds.suppression) : std::move(boxes);
}

} // namespace qs
