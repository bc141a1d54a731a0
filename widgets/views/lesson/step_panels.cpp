// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/step_panels.h"

#include "widgets/models/base/formatting.h"

namespace qs {

namespace {

QString panelOfPick(const std::string& what)
{
    if (what == "channel")
        return QStringLiteral("channels");
    if (what == "node")
        return QStringLiteral("tensors");
    return toQt(what) + u's';
}

} // namespace

QStringList panelsOfStep(const LessonStep& step)
{
    QStringList panels;
    if (step.setup.layout == "compare")
        panels << QStringLiteral("difference");
    if (step.setup.layout == "what-if")
        panels << QStringLiteral("what-if") << QStringLiteral("runs");
    if (!step.setup.view.empty() && step.setup.view != "graph")
        panels << toQt(step.setup.view);
    if (step.question && step.question->pick)
        panels << panelOfPick(step.question->pick->what);
    if (step.question && step.question->condition)
        panels << QStringLiteral("what-if");
    if (panels.isEmpty())
        panels << QStringLiteral("tensors");
    panels.removeDuplicates();
    return panels;
}

} // namespace qs
