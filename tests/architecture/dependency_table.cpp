// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/architecture/dependency_table.h"

#include <QHash>
#include <QStringList>

namespace qs {

namespace {

/// What each part builds on directly.
const QHash<QString, QStringList>& table()
{
    static const QHash<QString, QStringList> parts {
        { "core/base", {} },
        { "core/tensor", { "core/base" } },
        { "core/graph", { "core/tensor" } },
        { "core/onnx", { "core/graph" } },
        { "core/ops", { "core/graph" } },
        { "core/qdq", { "core/ops" } },
        { "core/kernels", { "core/tensor" } },
        { "core/stats", { "core/kernels" } },
        { "core/data", { "core/tensor" } },
        { "core/layout", { "core/graph", "core/qdq" } },
        { "core/engine", { "core/ops", "core/qdq", "core/kernels" } },
        { "core/prepare", { "core/engine" } },
        { "core/match", { "core/prepare", "core/stats", "core/data" } },
        { "core/quant", { "core/prepare", "core/stats", "core/data" } },
        { "core/analysis", { "core/quant", "core/match" } },
        { "core/project", { "core/onnx", "core/analysis", "core/layout" } },
        { "core/report", { "core/project" } },
        { "widgets/models", { "core/project" } },
        { "widgets/session", { "widgets/models", "core/report" } },
        { "widgets/plots", { "widgets/session" } },
        { "widgets/views", { "widgets/session", "widgets/plots" } },
        { "app/cli", { "core/report" } },
        { "app/gui", { "widgets/views" } },
    };
    return parts;
}

void collect(const QString& part, QSet<QString>& into)
{
    if (into.contains(part))
        return;
    into.insert(part);
    for (const QString& below : table().value(part))
        collect(below, into);
}

} // namespace

QString partOf(const QString& path)
{
    const QStringList pieces = path.split('/');
    if (pieces.size() < 3 || (pieces[0] != "core" && pieces[0] != "widgets" && pieces[0] != "app"))
        return {};
    return pieces[0] + '/' + pieces[1];
}

QSet<QString> allowedParts(const QString& part)
{
    QSet<QString> parts;
    if (table().contains(part))
        collect(part, parts);
    return parts;
}

QString testedPart(const QString& testFolder)
{
    for (const QString& top : { QStringLiteral("core/"), QStringLiteral("widgets/") }) {
        if (table().contains(top + testFolder))
            return top + testFolder;
    }
    return {};
}

} // namespace qs
