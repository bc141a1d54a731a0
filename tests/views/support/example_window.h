// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/real_build.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/session/session.h"
#include "widgets/views/window/main_window.h"

#include <QPushButton>
#include <QTest>
#include <QUndoStack>

namespace qs::test {

constexpr int kPatience = 60'000;

inline Inputs bundledExample(size_t samples = 60)
{
    const std::string folder = QS_SOURCE_DIR "/resources/examples/";
    Inputs inputs;
    inputs.floatPath.assign(folder).append("digits_float.onnx");
    inputs.quantPath.assign(folder).append("digits_qdq_narrow.onnx");
    inputs.data.spec.assign(folder).append("digits_samples.npz");
    inputs.data.limit = samples;
    return inputs;
}

/// A window with an example, compared.
struct ExampleWindow {
    Session session;
    MainWindow window { session, ThemeChoice::Light, WindowMemory::Fresh };

    explicit ExampleWindow(BuildFn build = realBuild(), const Inputs& inputs = bundledExample())
        : session(std::move(build))
    {
        window.resize(1600, 1000);
        window.show();
        session.openInputs(inputs);
    }

    bool ready()
    {
        return QTest::qWaitFor(
            [this] { return session.recipe().editable() && session.jobs().idle() && session.comparison(); }, kPatience);
    }

    bool settled()
    {
        return QTest::qWaitFor(
            [this] { return session.jobs().idle() && !session.needsRun() && window.recipe().changesNotRun() == 0; },
            kPatience);
    }

    double accuracy() const { return session.comparison()->accuracy->quantizedAccuracy; }
    QUndoStack& stack() { return session.recipe().stack(); }

    /// A tensor with a per-tensor range of its own.
    const ActivationRow* movableTensor()
    {
        for (const ActivationRow& row : session.comparison()->activations)
            if (row.quantizer && !row.node.empty() && row.params.perTensor()) {
                session.selection().selectByName(row.name);
                return &row;
            }
        return nullptr;
    }
};

inline QPushButton* buttonNamed(QWidget& parent, const QString& name)
{
    for (QPushButton* button : parent.findChildren<QPushButton*>())
        if (button->accessibleName() == name && button->isVisibleTo(&parent))
            return button;
    return nullptr;
}

} // namespace qs::test
