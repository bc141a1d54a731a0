// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/inspector/derivation_text.h"

#include "core/graph/origin/exporter_origin.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/inspector/place_origin.h"

#include <QStringList>

namespace qs {

namespace {

constexpr int kMostNamed = 4;
constexpr int kMostListed = 30;

QString named(const SourceNode& node) { return QStringLiteral("%1 (%2)").arg(toQt(node.name), toQt(node.opType)); }

QString fusedText(const std::vector<SourceNode>& nodes)
{
    QStringList names;
    for (const SourceNode& node : nodes)
        if (names.size() < kMostNamed)
            names << named(node);
    const auto more = int(nodes.size()) - int(names.size());
    return more > 0 ? tr("made of %1 and %n more", more).arg(names.join(QStringLiteral(", ")))
                    : tr("made of %1").arg(names.join(QStringLiteral(", ")));
}

QString stepText(const Derivation& step)
{
    if (step.nodes.empty())
        return {};
    const SourceNode& node = step.nodes.front();
    switch (step.kind) {
    case Derivation::Kind::Call:
        return tr("in the function %1, called by %2").arg(toQt(node.opType), toQt(node.name));
    case Derivation::Kind::Branch:
        return tr("in the branch of %1 that is taken").arg(named(node));
    case Derivation::Kind::Iteration:
        return step.iteration ? tr("iteration %1 of %2").arg(QString::number(*step.iteration), named(node))
                              : tr("the same in all iterations of %1").arg(named(node));
    case Derivation::Kind::Fused:
        return fusedText(step.nodes);
    }
    return {};
}

} // namespace

QString derivationText(const Node& node)
{
    QStringList steps;
    for (DerivationPtr step = node.cameFrom ? node.cameFrom->derivation : nullptr; step; step = step->outer)
        steps << stepText(*step);
    return steps.join(QStringLiteral("; "));
}

QString fusedSourcesText(const Node& node)
{
    const DerivationPtr step = node.cameFrom ? node.cameFrom->derivation : nullptr;
    if (!step || step->kind != Derivation::Kind::Fused)
        return {};
    QStringList lines;
    for (const SourceNode& source : step->nodes) {
        if (lines.size() == kMostListed)
            break;
        const ExporterOrigin origin = exporterOrigin(source);
        QStringList parts { named(source) };
        for (const QString& part : { toQt(origin.path), sourceText(origin) })
            if (!part.isEmpty())
                parts << part;
        lines << parts.join(QStringLiteral(", "));
    }
    return lines.join(u'\n');
}

} // namespace qs
