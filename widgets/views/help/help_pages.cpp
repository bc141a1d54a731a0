// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/help/help_pages.h"

#include "widgets/models/base/metric.h"
#include "widgets/models/base/translated.h"
#include "widgets/views/actions/action_registry.h"
#include "widgets/views/actions/named_action.h"

#include <QAction>
#include <QFile>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

/// Panels and their sections in views.md.
constexpr std::pair<const char*, const char*> kPanels[] { { "graph", "Graph" }, { "graph-2", "Second graph" },
    { "outline", "Outline" }, { "findings", "Findings" }, { "inspector", "Inspector" },
    { "distribution", "Distribution" }, { "values", "Values" }, { "arithmetic", "Arithmetic" },
    { "channels", "Channels" }, { "error-map", "Error map" }, { "layer-chart", "Layer chart" },
    { "tensors", "Tensors" }, { "weights", "Weights" }, { "weight-lab", "Weight lab" }, { "outputs", "Outputs" },
    { "samples", "Samples" }, { "tokens", "Tokens" }, { "caches", "Caches" }, { "matching", "Matching" },
    { "difference", "Difference" }, { "elements", "Elements" }, { "files", "Models" }, { "ladder", "Ladder" },
    { "saturation", "Saturation" }, { "what-if", "What-if" }, { "runs", "Runs" }, { "advisor", "Advisor" },
    { "jobs", "Jobs" }, { "lesson", "Lesson" } };

QString resource(const char* name)
{
    QFile file(QStringLiteral(":/help/") + QLatin1String(name) + QStringLiteral(".md"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QString text = QString::fromUtf8(file.readAll());
    return text.mid(text.indexOf(QStringLiteral("# "))); // behind the licence line
}

/// Of Markdown: what stands in the text is no markup.
QString plain(QString text)
{
    for (const QChar c : { u'\\', u'|', u'*', u'_', u'`', u'<', u'[' })
        text.replace(c, QString(u'\\') + c);
    return text;
}

QString allNumbers()
{
    QString text;
    const auto add = [&](const QString& title, const QString& unit, const QString& definition) {
        text += QStringLiteral("\n**%1**%2: %3\n")
                    .arg(plain(title), unit.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(plain(unit)),
                        plain(definition));
    };
    for (const Metric metric : kMetrics) {
        const MetricInfo info = metricInfo(metric);
        add(info.title, info.unit, info.definition);
    }
    add(tr("Noise"), {}, definitionText(definition::kNoise));
    return text;
}

QString shortcuts(const ActionRegistry* actions)
{
    QString text = tr("# Shortcuts\n");
    const QString head = tr("\n| Action | Keys |\n|---|---|\n");
    QString title;
    const auto begin = [&](const QString& next) {
        if (next != title)
            text += QStringLiteral("\n## %1\n").arg(plain(next)) + head;
        title = next;
    };
    text += tr("\n*Edit ▸ Keyboard shortcuts…* changes them.\n");
    for (const ActionEntry& entry : actions ? actions->entries() : std::vector<ActionEntry>()) {
        const QString keys = keysText(entry.keys());
        if (keys.isEmpty() || !entry.action()->isVisible())
            continue;
        begin(entry.path.section(QStringLiteral(" ▸ "), 0, 0));
        const bool elsewhere = !entry.scope.isEmpty() && entry.scope != entry.path;
        const QString what = elsewhere ? tr("%1 (in %2)").arg(entry.text(), entry.scope) : entry.text();
        text += QStringLiteral("| %1 | %2 |\n").arg(plain(what), plain(keys));
    }
    begin(tr("In the graph, always"));
    const std::pair<QString, QString> graph[] { { tr("Along the edges"), tr("Arrow keys") },
        { tr("With a click: choose several boxes. Shift and drag: all within a rectangle"),
            QStringLiteral("Shift, Ctrl") } };
    for (const auto& [what, key] : graph)
        text += QStringLiteral("| %1 | %2 |\n").arg(what, key);
    return text;
}

/// The title, and the sections with their texts; the first one is the page's beginning.
std::vector<std::pair<QString, QString>> sections(const HelpPage& page)
{
    std::vector<std::pair<QString, QString>> parts { { QString(), QString() } };
    for (const QString& line : page.markdown.split(u'\n')) {
        if (line.startsWith(QStringLiteral("## ")))
            parts.emplace_back(line.mid(3).trimmed(), QString());
        else
            parts.back().second += line + u'\n';
    }
    return parts;
}

} // namespace

std::vector<HelpPage> helpPages(const ActionRegistry* actions)
{
    return { { QStringLiteral("start"), tr("First steps"), resource("start") },
        { QStringLiteral("files"), tr("Files"), resource("files") },
        { QStringLiteral("data"), tr("Data"), resource("data") },
        { QStringLiteral("views"), tr("Views"), resource("views") },
        { QStringLiteral("numbers"), tr("Numbers"), resource("numbers") + allNumbers() },
        { QStringLiteral("words"), tr("Words"), resource("words") },
        { QStringLiteral("shortcuts"), tr("Shortcuts"), shortcuts(actions) } };
}

std::vector<HelpPlace> searchHelp(const std::vector<HelpPage>& pages, const QString& query)
{
    const QStringList words = query.split(u' ', Qt::SkipEmptyParts);
    if (words.isEmpty())
        return {};
    const auto holds = [&](const QString& text) {
        return std::ranges::all_of(words, [&](const QString& w) { return text.contains(w, Qt::CaseInsensitive); });
    };
    std::vector<HelpPlace> titles, texts;
    for (const HelpPage& page : pages)
        for (const auto& [title, text] : sections(page)) {
            if (holds(title.isEmpty() ? page.title : title))
                titles.push_back({ page.name, title });
            else if (holds(title + u' ' + text))
                texts.push_back({ page.name, title });
        }
    titles.insert(titles.end(), texts.begin(), texts.end());
    return titles;
}

HelpPlace helpOfPanel(const QString& panel)
{
    for (const auto& [name, section] : kPanels)
        if (panel == QLatin1String(name))
            return { QStringLiteral("views"), QLatin1String(section) };
    return { QStringLiteral("views"), {} };
}

} // namespace qs
