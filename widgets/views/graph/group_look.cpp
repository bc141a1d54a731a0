// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/group_look.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kStripParts = 48;

/// Less is worse.
std::pair<int, double> badness(const BoxNumber& number, bool higherIsBetter)
{
    if (number.exact)
        return { 1, 0 };
    return { 0, higherIsBetter ? *number.value : -*number.value };
}

} // namespace

std::optional<uint32_t> worstOf(
    const std::vector<uint32_t>& boxes, const std::vector<BoxNumber>& numbers, Metric metric)
{
    const bool higher = metricScale(metric).better == Better::Higher;
    std::optional<uint32_t> worst;
    for (const uint32_t box : boxes) {
        const BoxNumber& number = numbers[box];
        if (!number.exact && !number.value)
            continue;
        if (!worst || badness(number, higher) < badness(numbers[*worst], higher))
            worst = box;
    }
    return worst;
}

std::vector<BoxNumber> drawnNumbers(const std::vector<BoxNumber>& ofContent, const FoldedGraph& drawn, Metric metric)
{
    std::vector<BoxNumber> numbers(drawn.boxes.size());
    for (size_t b = 0; b < numbers.size(); ++b) {
        const DisplayBox& box = drawn.boxes[b];
        if (box.kind != DisplayBox::Kind::Group) {
            numbers[b] = ofContent[box.members.front()];
            continue;
        }
        if (const auto worst = worstOf(box.members, ofContent, metric))
            numbers[b] = ofContent[*worst];
        numbers[b].blocked = std::ranges::any_of(box.members, [&](uint32_t m) { return ofContent[m].blocked; });
    }
    return numbers;
}

std::vector<QColor> stripOf(const std::vector<uint32_t>& boxes, const std::vector<BoxNumber>& numbers, Metric metric,
    const std::function<QColor(const BoxNumber&)>& colour)
{
    std::vector<uint32_t> known;
    std::ranges::copy_if(
        boxes, std::back_inserter(known), [&](uint32_t b) { return numbers[b].exact || numbers[b].value; });
    const size_t parts = std::min(known.size(), kStripParts);
    std::vector<QColor> strip;
    for (size_t part = 0; part < parts; ++part) {
        const auto at = [&](size_t p) { return known.begin() + static_cast<ptrdiff_t>(p * known.size() / parts); };
        strip.push_back(colour(numbers[*worstOf({ at(part), at(part + 1) }, numbers, metric)]));
    }
    return strip;
}

std::vector<QColor> stripOfBlocks(const std::vector<uint32_t>& boxes, size_t blocks,
    const std::vector<BoxNumber>& numbers, Metric metric, const std::function<QColor(const BoxNumber&)>& colour)
{
    const size_t parts = std::min(blocks, kStripParts), each = boxes.size() / blocks;
    std::vector<QColor> strip;
    for (size_t part = 0; part < parts; ++part) {
        const auto at = [&](size_t p) { return boxes.begin() + static_cast<ptrdiff_t>(p * blocks / parts * each); };
        const auto worst = worstOf({ at(part), at(part + 1) }, numbers, metric);
        strip.push_back(worst ? colour(numbers[*worst]) : QColor());
    }
    return strip;
}

std::vector<QColor> stripOfGroup(const BoxGroup& group, const std::vector<uint32_t>& boxes,
    const std::vector<BoxNumber>& numbers, Metric metric, const std::function<QColor(const BoxNumber&)>& colour)
{
    return group.kind == BoxGroup::Kind::Run ? stripOfBlocks(boxes, group.blocks, numbers, metric, colour)
                                             : stripOf(boxes, numbers, metric, colour);
}

} // namespace qs
