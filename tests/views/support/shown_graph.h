// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/views/support/small_session.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"

#include <QtTest>

#include <algorithm>

namespace qs::test {

/// A panel that is shown offscreen.
struct ShownGraph {
    SmallSession small;
    RecipeView recipe { small.session };
    GraphPanel panel { small.session, recipe };
    explicit ShownGraph(size_t blocks = 1)
        : small(blocks)
    {
        panel.resize(640, 480);
        panel.showHeaderInside();
        panel.show();
    }
    /// Until there is a layout; false when none comes.
    [[nodiscard]] bool load()
    {
        panel.activateWindow();
        panel.canvas().setFocus(); // its keys work there
        return QTest::qWaitForWindowActive(&panel) && small.load() && wait();
    }
    [[nodiscard]] bool wait()
    {
        return QTest::qWaitFor([this] { return panel.canvas().scene() && small.session.jobs().idle(); });
    }
    const GraphScene& scene() const { return *panel.canvas().scene(); }
    QPointF onScreen(uint32_t box) const
    {
        const QRectF seen = panel.canvas().visibleArea();
        return (scene().box(box).center() - seen.topLeft()) * panel.canvas().zoom();
    }
    /// Drawn box whose title is this; the first one with no box of that title.
    uint32_t titled(const std::string& title) const
    {
        const auto& boxes = scene().graph().boxes;
        const auto found = std::ranges::find(boxes, title, &DisplayBox::title);
        return found == boxes.end() ? 0 : static_cast<uint32_t>(found - boxes.begin());
    }
    /// Only the groups as one box each: input, group, output.
    [[nodiscard]] bool close()
    {
        panel.setAllClosed(true);
        return wait() && scene().boxCount() == 3;
    }
    void click(uint32_t box, Qt::KeyboardModifiers modifiers = {})
    {
        panel.canvas().centreOn(scene().box(box).center());
        QTest::mouseClick(&panel.canvas(), Qt::LeftButton, modifiers, onScreen(box).toPoint());
    }
    uint32_t boxOf(const char* value) const { return *scene().graph().box(small.quantGraph().findValue(value)); }
};

} // namespace qs::test
