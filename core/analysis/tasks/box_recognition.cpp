// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/box_recognition.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr int64_t kMostQueries = 1000; ///< of what needs no suppression

bool mayBe(int64_t size, int64_t wanted) { return size < 0 || size == wanted; }
bool mayEqual(int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; }
bool atLeast(int64_t size, int64_t least) { return size < 0 || size >= least; }

/// [N, K, 4], or [K, 4] of one sample.
bool areCorners(const OutputFacts& f)
{
    return f.real() && (f.rank() == 2 || f.rank() == 3) && f.size(f.rank() - 1) == 4;
}

/// One number for each of the boxes: [N, K], [N, K, 1]; [K] beside [K, 4].
bool isColumnOf(const OutputFacts& f, const OutputFacts& boxes)
{
    const bool flat = f.rank() + 1 == boxes.rank();
    const bool column = f.rank() == boxes.rank() && f.rank() == 3 && f.size(2) == 1;
    return (flat || column) && mayEqual(f.size(boxes.rank() - 2), boxes.size(boxes.rank() - 2));
}

/// Scores of classes for each of the boxes.
bool areScoresOf(const OutputFacts& f, const OutputFacts& boxes)
{
    const size_t rank = boxes.rank();
    return f.real() && f.rank() == rank && mayEqual(f.size(rank - 2), boxes.size(rank - 2))
        && atLeast(f.size(rank - 1), 2) && !f.named("box");
}

/// The one output that fits; nothing where none or several do.
template <class Fits>
std::optional<size_t> theOne(const ModelFacts& facts, const std::vector<size_t>& others, Fits fits)
{
    std::optional<size_t> found;
    for (size_t i = 0; i < facts.outputs().size(); ++i) {
        if (std::ranges::find(others, i) != others.end() || !fits(facts.at(i)))
            continue;
        if (found)
            return std::nullopt;
        found = i;
    }
    return found;
}

bool namesClasses(const OutputFacts& f) { return (f.named("class") || f.named("label")) && !f.named("score"); }

std::optional<std::vector<size_t>> listParts(const ModelFacts& facts, size_t boxes)
{
    const OutputFacts& b = facts.at(boxes);
    auto labels = theOne(
        facts, { boxes }, [&](const OutputFacts& f) { return isColumnOf(f, b) && (f.whole() || namesClasses(f)); });
    if (!labels)
        labels = theOne(facts, { boxes }, [&](const OutputFacts& f) { return isColumnOf(f, b) && namesClasses(f); });
    if (!labels)
        return std::nullopt;
    const auto fits = [&](const OutputFacts& f) { return f.real() && isColumnOf(f, b); };
    auto scores = theOne(facts, { boxes, *labels }, [&](const OutputFacts& f) { return fits(f) && f.named("score"); });
    if (!scores)
        scores = theOne(facts, { boxes, *labels }, fits);
    return scores ? std::optional(std::vector { boxes, *scores, *labels }) : std::nullopt;
}

std::optional<std::vector<size_t>> scoredParts(const ModelFacts& facts, size_t boxes)
{
    const OutputFacts& b = facts.at(boxes);
    const auto scores = theOne(facts, { boxes }, [&](const OutputFacts& f) { return areScoresOf(f, b); });
    return scores ? std::optional(std::vector { boxes, *scores }) : std::nullopt;
}

std::optional<std::vector<size_t>> selectedParts(const ModelFacts& facts, size_t indices)
{
    const auto boxes = theOne(facts, { indices }, [](const OutputFacts& f) { return areCorners(f) && f.rank() == 3; });
    if (!boxes)
        return std::nullopt;
    const auto scores = theOne(facts, { indices, *boxes }, [&](const OutputFacts& f) {
        return f.real() && f.rank() == 3 && mayEqual(f.size(2), facts.at(*boxes).size(1));
    });
    return scores ? std::optional(std::vector { indices, *boxes, *scores }) : std::nullopt;
}

/// Cells of a picture at these strides; 0 where its size is open or does not divide.
int64_t cellsOf(const PictureSize& picture, std::initializer_list<int64_t> strides)
{
    int64_t cells = 0;
    for (const int64_t s : strides) {
        if (picture.height <= 0 || picture.width <= 0 || picture.height % s != 0 || picture.width % s != 0)
            return 0;
        cells += (picture.height / s) * (picture.width / s);
    }
    return cells;
}

/// The forms of one tensor, by the number of its candidates. `alone`: nothing else comes out of the model.
BoxForm formOfOne(const ModelFacts& facts, const OutputFacts& f, bool alone)
{
    if (!f.real() || f.rank() != 3)
        return BoxForm::None;
    if (alone && f.size(2) == 6 && f.size(1) <= kMostQueries && facts.hasNode({ "TopK", "NonMaxSuppression" }))
        return BoxForm::EndToEnd;
    for (const int64_t cells :
        { cellsOf(facts.picture(), { 8, 16, 32 }), cellsOf(facts.picture(), { 8, 16, 32, 64 }) }) {
        if (cells == 0)
            continue;
        if (f.size(1) == 3 * cells && f.size(2) >= 6)
            return BoxForm::Yolov5;
        if (alone && f.size(2) == cells && f.size(1) >= 5)
            return BoxForm::Yolov8;
        // Softmax makes distances of YOLOv8's kin, which some turn around: then the first five numbers mean others.
        if (alone && f.size(1) == cells && f.size(2) >= 6 && !facts.hasNode({ "Softmax" }))
            return facts.hasNode({ "Exp" }) ? BoxForm::Yolov5 : BoxForm::Yolox;
    }
    return BoxForm::None;
}

/// The forms of several tensors, where this one has the boxes.
BoxForm formOfMany(const ModelFacts& facts, size_t index)
{
    const OutputFacts& f = facts.at(index);
    if (f.computedBy == "NonMaxSuppression" && boxParts(facts, index, BoxForm::Nms))
        return BoxForm::Nms;
    if (!areCorners(f))
        return BoxForm::None;
    if (boxParts(facts, index, BoxForm::List))
        return BoxForm::List;
    const auto parts = boxParts(facts, index, BoxForm::Ssd);
    if (!parts || !f.named("box"))
        return BoxForm::None;
    const ScoreKind scores = facts.at((*parts)[1]).scores;
    if (scores == ScoreKind::Probabilities)
        return BoxForm::Ssd;
    const bool queries = f.size(1) > 0 && f.size(1) <= kMostQueries && f.computedBy == "Sigmoid";
    if (scores != ScoreKind::Logits || !queries)
        return BoxForm::None;
    return facts.hasNode({ "TopK" }) ? BoxForm::DetrSigmoid : BoxForm::Detr;
}

} // namespace

std::optional<std::vector<size_t>> boxParts(const ModelFacts& facts, size_t primary, BoxForm form)
{
    const OutputFacts& f = facts.at(primary);
    const bool table = f.real() && (f.rank() == 2 || f.rank() == 3);
    const size_t last = std::max<size_t>(f.rank(), 2) - 1;
    const std::vector<size_t> alone { primary };
    switch (form) {
    case BoxForm::None:
        return std::nullopt;
    case BoxForm::Yolov5:
        return table && atLeast(f.size(last), 6) ? std::optional(alone) : std::nullopt;
    case BoxForm::Yolox: {
        const int64_t cells = cellsOf(facts.picture(), { 8, 16, 32 });
        const bool fits = facts.seesPictures() && (cells == 0 || mayBe(f.size(last - 1), cells));
        return table && fits && atLeast(f.size(last), 6) ? std::optional(alone) : std::nullopt;
    }
    case BoxForm::Yolov8:
        return table && atLeast(f.size(last - 1), 5) ? std::optional(alone) : std::nullopt;
    case BoxForm::EndToEnd:
        return table && mayBe(f.size(last), 6) ? std::optional(alone) : std::nullopt;
    case BoxForm::List:
        return areCorners(f) ? listParts(facts, primary) : std::nullopt;
    case BoxForm::Ssd:
    case BoxForm::Detr:
    case BoxForm::DetrSigmoid:
        return areCorners(f) ? scoredParts(facts, primary) : std::nullopt;
    case BoxForm::Nms:
        return f.whole() && f.rank() == 2 && mayBe(f.size(1), 3) ? selectedParts(facts, primary) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<BoxOutputs> recognizedBoxes(const ModelFacts& facts, const std::vector<bool>& free)
{
    if (!facts.seesPictures())
        return std::nullopt;
    const bool alone = facts.outputs().size() == 1;
    std::optional<BoxOutputs> found;
    for (size_t i = 0; i < facts.outputs().size(); ++i) {
        if (!free[i])
            continue;
        const BoxForm one = formOfOne(facts, facts.at(i), alone);
        const BoxForm form = one != BoxForm::None ? one : formOfMany(facts, i);
        auto parts = boxParts(facts, i, form);
        if (!parts || !std::ranges::all_of(*parts, [&](size_t part) { return free[part]; }))
            continue;
        if (found)
            return std::nullopt; // two answers are none
        found = BoxOutputs { form, std::move(*parts) };
    }
    return found;
}

} // namespace qs
