// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/docks/arrangement.h"

#include "widgets/models/base/translated.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace qs {

namespace {

constexpr int kWideWindow = 1700; ///< pixels: room for one more group below
constexpr int kLowLines = 50; ///< below it the panels at the right need some of the room below
constexpr int kLowBottom = 22; ///< percent that is left then
const std::vector<int> kLowRight { 34, 24 }; ///< the Inspector and what is below it
constexpr int kWhatIfLines = 58; ///< below it the recipe needs the height of all that stands above or below it
constexpr int kLeastLines = 49; ///< below it they stand behind each other, and what is below gets room for rows again
constexpr int kLeastBottom = 28; ///< percent

Arrangement inspectArrangement()
{
    Arrangement a;
    a.left = { { "findings", "what-if", "outline" } };
    a.right = { { "inspector" }, { "distribution", "values", "channels", "error-map" } };
    a.bottom = { { "layer-chart" },
        { "tensors", "weights", "weight-lab", "arithmetic", "outputs", "samples", "tokens", "matching", "jobs" } };
    a.leftWidth = 18, a.leftLeast = 230, a.rightWidth = 28, a.rightLeast = 320;
    a.rightHeights = { 28, 30 }, a.bottomWidths = { 30, 70 }, a.bottomHeight = 30;
    return a;
}

Arrangement compareArrangement(bool wide)
{
    Arrangement a;
    a.left = { { "graph-2" } };
    a.right = { { "inspector" }, { "distribution", "channels", "error-map" } };
    if (wide) {
        a.bottom = { { "layer-chart", "outputs", "samples", "tokens", "caches", "saturation" },
            { "tensors", "weights", "difference", "elements", "files", "ladder", "matching", "jobs" } };
        a.bottomWidths = { 34, 66 };
    } else {
        a.bottom = { { "tensors", "weights", "difference", "elements", "files", "ladder", "matching", "samples",
            "tokens", "caches" } };
    }
    a.leftWidth = 33, a.leftLeast = 260, a.rightWidth = 28, a.rightLeast = 300;
    a.rightHeights = { 28, 28 }, a.bottomHeight = 32;
    return a;
}

Arrangement whatIfArrangement()
{
    Arrangement a;
    a.left = { { "findings" }, { "what-if" } };
    a.right = { { "inspector" }, { "distribution", "channels", "error-map" } };
    a.bottom = { { "layer-chart" },
        { "tensors", "weights", "outputs", "samples", "tokens", "caches", "runs", "advisor", "jobs" } };
    a.leftWidth = 20, a.leftLeast = 300, a.rightWidth = 25, a.rightLeast = 300;
    a.leftHeights = { 26, 64 }, a.rightHeights = { 28, 30 }, a.bottomWidths = { 30, 70 }, a.bottomHeight = 30;
    return a;
}

/// Few things, large; what a step needs is in front.
Arrangement teachArrangement(const std::vector<std::string>& needed)
{
    static constexpr const char* kRight[] { "what-if", "findings", "channels", "error-map", "values", "outline" };
    static constexpr const char* kBelow[] { "arithmetic", "tensors", "weights", "samples", "tokens", "caches",
        "outputs", "weight-lab", "saturation", "advisor", "runs", "difference", "matching", "files", "layer-chart" };
    Arrangement a;
    a.left = { { "lesson" } };
    a.right = { { "inspector" }, {} };
    a.bottom = { {} };
    const auto take = [&](const auto& side, std::vector<const char*>& group) { // in the order of need
        for (const std::string& panel : needed)
            if (const auto at = std::ranges::find(side, panel); at != std::end(side))
                group.push_back(*at);
    };
    take(kRight, a.right[1]);
    take(kBelow, a.bottom[0]);
    a.right[1].push_back("distribution");
    if (a.bottom[0].empty()) {
        a.left[0].insert(a.left[0].end(), { "findings", "what-if" });
        if (std::ranges::find(a.right[1], std::string_view("channels")) == a.right[1].end())
            a.right[1].push_back("channels");
        a.bottom = { { "arithmetic" }, { "layer-chart" } };
        a.bottomWidths = { 68, 32 };
    }
    a.leftWidth = 30, a.leftLeast = 340, a.rightWidth = 27, a.rightLeast = 300;
    a.rightHeights = { 30, 32 }, a.bottomHeight = 30;
    return a;
}

Arrangement forHighWindow(LayoutName name, bool wide)
{
    switch (name) {
    case LayoutName::Inspect:
        return inspectArrangement();
    case LayoutName::Compare:
        return compareArrangement(wide);
    case LayoutName::WhatIf:
        return whatIfArrangement();
    case LayoutName::Teach:
        return teachArrangement({});
    }
    return {};
}

/// All groups as tabs of one, the first in front.
void joinGroups(Arrangement::Groups* groups, std::vector<int>* percent)
{
    for (size_t i = 1; i < groups->size(); ++i)
        groups->front().insert(groups->front().end(), (*groups)[i].begin(), (*groups)[i].end());
    groups->resize(1);
    percent->clear();
}

/// Puts the group of What-if in front of its neighbours, whose tabs follow it.
void joinWithWhatIf(Arrangement::Groups* groups, std::vector<int>* percent)
{
    const auto holds = [](const std::vector<const char*>& group) {
        return !group.empty() && std::string_view(group.front()) == "what-if";
    };
    const auto at = std::ranges::find_if(*groups, holds);
    if (at == groups->end() || groups->size() < 2)
        return;
    std::rotate(groups->begin(), at, at + 1);
    joinGroups(groups, percent);
}

} // namespace

QString layoutTitle(LayoutName name)
{
    switch (name) {
    case LayoutName::Inspect:
        return tr("Inspect");
    case LayoutName::Compare:
        return tr("Compare");
    case LayoutName::WhatIf:
        return tr("What-if");
    case LayoutName::Teach:
        return tr("Teach");
    }
    return {};
}

namespace {

Arrangement fitted(Arrangement a, int lines)
{
    if (lines < kWhatIfLines)
        joinWithWhatIf(&a.left, &a.leftHeights);
    joinWithWhatIf(&a.right, &a.rightHeights); // beside a lesson
    if (lines < kLeastLines) {
        a.bottomHeight = std::min(a.bottomHeight, kLeastBottom);
        joinGroups(&a.right, &a.rightHeights);
    } else if (lines < kLowLines) {
        a.bottomHeight = std::min(a.bottomHeight, kLowBottom);
        if (a.right.size() > 1)
            a.rightHeights = kLowRight;
    }
    return a;
}

/// Takes panels out of the groups of one side, which is never left empty: the first of `instead` comes in.
void leaveOut(const std::vector<std::string>& hidden, std::initializer_list<const char*> instead,
    Arrangement::Groups* groups, std::vector<int>* percent)
{
    const auto isHidden = [&](const char* panel) { return std::ranges::find(hidden, panel) != hidden.end(); };
    const size_t before = groups->size();
    for (auto& group : *groups)
        std::erase_if(group, isHidden);
    std::erase_if(*groups, [](const auto& group) { return group.empty(); });
    const auto* const shown = std::ranges::find_if_not(instead, isHidden);
    if (groups->empty())
        groups->push_back({ shown == instead.end() ? *(instead.end() - 1) : *shown });
    if (groups->size() != before)
        percent->clear();
}

} // namespace

Arrangement arrangementOf(LayoutName name, QSize window, int lines)
{
    return fitted(forHighWindow(name, window.width() >= kWideWindow), lines);
}

Arrangement teachArrangementWith(
    const std::vector<std::string>& panels, const std::vector<std::string>& hidden, int lines)
{
    Arrangement made = fitted(teachArrangement(panels), lines);
    for (auto& group : made.left)
        std::erase_if(group, [&](std::string_view panel) { return std::ranges::find(hidden, panel) != hidden.end(); });
    leaveOut(hidden, { "outline", "elements", "files" }, &made.right, &made.rightHeights);
    leaveOut(hidden, { "layer-chart", "matching", "jobs" }, &made.bottom, &made.bottomWidths);
    return made;
}

} // namespace qs
