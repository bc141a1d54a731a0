// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/outline/graph_accessibility.h"

#include "widgets/views/graph/outline/canvas_accessible.h"

#include <QAccessible>

namespace qs {

namespace {

QAccessibleInterface* makeInterface(const QString& className, QObject* object)
{
    auto* canvas = className == QLatin1String("qs::GraphCanvas") ? qobject_cast<GraphCanvas*>(object) : nullptr;
    return canvas ? new CanvasAccessible(*canvas) : nullptr;
}

} // namespace

void installGraphAccessibility() { QAccessible::installFactory(makeInterface); }

} // namespace qs
