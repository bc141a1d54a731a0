// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/docks/arrangement.h"

#include "widgets/models/base/translated.h"

namespace qs {

namespace {

constexpr int kWideWindow = 1700; ///< pixels: room for one more group below

Arrangement inspectArrangement()
{
    Arrangement a;
    a.left = { { "findings", "what-if", "outline" } };
    a.right = { { "inspector" }, { "distribution", "values", "channels", "error-map" } };
    a.bottom = { { "layer-chart" }, { "tensors", "weights", "weight-lab", "outputs", "samples", "matching", "jobs" } };
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
        a.bottom = { { "layer-chart", "outputs", "samples", "saturation" },
            { "tensors", "weights", "difference", "elements", "files", "ladder", "matching", "jobs" } };
        a.bottomWidths = { 34, 66 };
    } else {
        a.bottom = { { "tensors", "weights", "difference", "elements", "files", "ladder", "matching", "samples" } };
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
    a.bottom = { { "layer-chart" }, { "tensors", "weights", "outputs", "samples", "runs", "advisor", "jobs" } };
    a.leftWidth = 20, a.leftLeast = 300, a.rightWidth = 25, a.rightLeast = 300;
    a.leftHeights = { 26, 64 }, a.rightHeights = { 28, 30 }, a.bottomWidths = { 30, 70 }, a.bottomHeight = 30;
    return a;
}

/// Few things, large.
Arrangement teachArrangement()
{
    Arrangement a;
    a.left = { { "findings", "what-if" } };
    a.right = { { "inspector" }, { "distribution", "channels" } };
    a.bottom = { { "layer-chart" } };
    a.leftWidth = 22, a.leftLeast = 250, a.rightWidth = 36, a.rightLeast = 320;
    a.rightHeights = { 30, 32 }, a.bottomHeight = 26;
    return a;
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

Arrangement arrangementOf(LayoutName name, QSize window)
{
    const bool wide = window.width() >= kWideWindow;
    switch (name) {
    case LayoutName::Inspect:
        return inspectArrangement();
    case LayoutName::Compare:
        return compareArrangement(wide);
    case LayoutName::WhatIf:
        return whatIfArrangement();
    case LayoutName::Teach:
        return teachArrangement();
    }
    return {};
}

} // namespace qs
