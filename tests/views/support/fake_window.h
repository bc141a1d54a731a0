// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/fake_snapshot.h"
#include "widgets/session/session.h"
#include "widgets/views/actions/action_registry.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/palette/palette.h"
#include "widgets/views/window/main_window.h"

#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

namespace qs::test {

inline Result<SnapshotPtr> fakeBuild(
    const Inputs& inputs, const SnapshotPtr&, const ProgressFn&, const CancelToken&, const PartialFn&)
{
    if (inputs.quantPath == "bad")
        return badInput("the file is truncated", "/models/bad.onnx", "copy it again");
    if (inputs.floatPath.empty())
        return SnapshotPtr(std::make_shared<Snapshot>());
    fake::Options options;
    options.tensors = 12;
    auto snapshot = std::make_shared<Snapshot>(*fake::comparison(options));
    snapshot->inputs = inputs;
    return SnapshotPtr(snapshot);
}

/// A window that has the focus, with a pair that was compared.
struct Shown {
    Session session { fakeBuild };
    MainWindow window;
    explicit Shown(WindowMemory memory = WindowMemory::Fresh)
        : window(session, ThemeChoice::Light, memory)
    {
        window.resize(1280, 800);
        window.show();
    }
    [[nodiscard]] bool open()
    {
        QSignalSpy settled(&session, &Session::settled);
        Inputs inputs;
        inputs.floatPath = "/models/micro_kws/float.onnx";
        inputs.quantPath = "/models/micro_kws/qdq.onnx";
        session.openInputs(inputs);
        return QTest::qWaitForWindowActive(&window) && QTest::qWaitFor([&settled] { return settled.count() > 0; })
            && QTest::qWaitFor([this] { return session.jobs().idle() && window.graph().canvas().scene(); });
    }
    ActionRegistry& actions() const { return window.actions(); }
    Palette& palette() const { return window.finder(); }
    QAction* action(const char* id) const
    {
        const ActionEntry* entry = window.actions().find(QString::fromLatin1(id));
        return entry ? entry->action() : nullptr;
    }
    [[nodiscard]] bool find(const QString& typed)
    {
        QTest::keyClick(&window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        if (!palette().isVisible())
            return false;
        QTest::keyClicks(palette().field(), typed);
        return QTest::qWaitFor([this] { return session.jobs().idle() && !palette().model().searching(); });
    }
    QStringList rows() const
    {
        QStringList texts;
        for (int row = 0; row < palette().model().rowCount(); ++row)
            texts << palette().model().index(row).data().toString();
        return texts;
    }
};

} // namespace qs::test
