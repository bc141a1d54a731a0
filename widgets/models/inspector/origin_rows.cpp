// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/inspector/origin_rows.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/side_model.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/inspector/derivation_text.h"
#include "widgets/models/inspector/place_origin.h"
#include "widgets/models/inspector/stored_text.h"

#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

constexpr int kMostTraceLines = 40;

QString evidenceText(OriginEvidence by)
{
    switch (by) {
    case OriginEvidence::Metadata:
        return tr("From the exporter's metadata in the file.");
    case OriginEvidence::Documentation:
        return tr("From the documentation that the exporter wrote for the node.");
    case OriginEvidence::Name:
        return tr("From the scopes in the node's name.");
    case OriginEvidence::None:
        break;
    }
    return {};
}

/// `by`, whose words these are, and a line for each module.
QString moduleToolTip(const ExporterOrigin& origin)
{
    QStringList lines { evidenceText(origin.pathBy) };
    if (!origin.toldBy.empty())
        lines << tr("Written for %1, which the node was taken out of.").arg(toQt(origin.toldBy));
    for (const ModuleLevel& level : origin.modules)
        lines << (level.path.empty() ? tr("(the model itself)") : toQt(level.path))
                + (level.type.empty() ? QString() : QStringLiteral("  ") + toQt(level.type));
    if (!origin.operation.empty())
        lines << tr("operation %1").arg(toQt(origin.operation));
    return lines.join(u'\n');
}

QString traceToolTip(const ExporterOrigin& origin)
{
    const QString trace = toQt(traceText(origin.frames)).trimmed();
    QStringList lines = trace.split(u'\n');
    if (lines.size() > kMostTraceLines)
        lines = QStringList { QStringLiteral("…") } + lines.last(kMostTraceLines);
    return evidenceText(origin.frameBy) + u' ' + tr("The calls, outermost first:") + u'\n' + lines.join(u'\n');
}

/// `suffix`: of the other file, ", quantized".
void addProgram(InspectorRowList& rows, const ExporterOrigin& origin, const QString& suffix)
{
    const QString modules = moduleToolTip(origin);
    if (origin.pathBy != OriginEvidence::None)
        rows.add(tr("module") + suffix, origin.path.empty() ? tr("(the model itself)") : toQt(origin.path), modules);
    rows.add(tr("class") + suffix, toQt(origin.moduleType()), modules);
    rows.add(tr("source") + suffix, sourceText(origin), origin.frame ? traceToolTip(origin) : QString());
    rows.add(tr("rewritten by") + suffix, toQt(origin.rewrittenBy),
        tr("The rule of the exporter's optimizer that made the node. Module and source are those of one of the nodes "
           "that it "
           "stands for."));
    rows.add(tr("documentation") + suffix, toQt(origin.documentation), tr("What the file says of the node."));
}

/// The two files say another thing.
bool differs(const ExporterOrigin& a, const ExporterOrigin& b)
{
    const bool modules = b.pathBy != OriginEvidence::None && a.pathBy != OriginEvidence::None && a.path != b.path;
    const bool lines = b.shownFrame() && a.shownFrame() && *a.shownFrame() != *b.shownFrame();
    return modules || lines;
}

} // namespace

void addOrigin(InspectorRowList& rows, const Snapshot& snapshot, const Place& place)
{
    InspectorRowList own;
    const ExporterOrigin shown = placeOrigin(snapshot, place);
    addProgram(own, shown, {});
    const Node* node = nodeOfPlace(snapshot, place);
    const Node* partner = partnerOfPlace(snapshot, place);
    if (partner)
        if (const ExporterOrigin other = exporterOrigin(*partner); differs(shown, other))
            addProgram(own, other, tr(", quantized"));
    if (node && place.node.valid()) {
        const QString sources = fusedSourcesText(*node);
        own.add(tr("made from"), derivationText(*node),
            tr("How the node came out of the file, which has no such node.") + u'\n' + sources);
    }
    if (partner)
        own.add(tr("made from, quantized"), derivationText(*partner),
            tr("How the quantized file's node came out of nodes of the float file.") + u'\n'
                + fusedSourcesText(*partner));
    addStored(own, snapshot, place);
    rows.addSection(tr("Origin"), std::move(own));
}

} // namespace qs
