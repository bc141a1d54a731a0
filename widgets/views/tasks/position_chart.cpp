// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tasks/position_chart.h"

#include "core/analysis/tasks/scores.h"
#include "widgets/models/base/formatting.h"

#include <QCoreApplication>

#include <algorithm>
#include <limits>

namespace qs {

namespace {

struct PositionChart {
    Q_DECLARE_TR_FUNCTIONS(PositionChart)
};

/// Scores of one model, and the class of the float model that they are asked about.
struct Scores {
    const float* values;
    size_t classes;
    int64_t best() const { return argmax(values, classes); }
    double marginOf(int64_t index) const
    {
        const double margin = qs::marginOf(values, classes, index);
        return std::isfinite(margin) ? margin : std::numeric_limits<double>::quiet_NaN();
    }
};

LineData emptyChart()
{
    LineData data;
    data.xLabel = PositionChart::tr("position");
    data.emptyText = PositionChart::tr("There are no scores by position.");
    return data;
}

void addItem(LineData& data, size_t position, const QString& classes)
{
    const QString number = QString::number(position);
    data.items.push_back(PositionChart::tr("position %1").arg(number)
        + (classes.isEmpty() ? QString() : QStringLiteral(": ") + classes));
    data.ticks.push_back(number);
}

LineSeries emptyLine(const QString& name, const QColor& colour) { return { name, {}, colour, false, false }; }

/// By the shape of one sample's scores.
std::optional<ScoreRows> positionRows(const SampleSide& side)
{
    if (side.task.kind != TaskKind::Sequence || side.task.output >= side.outputs.size())
        return std::nullopt;
    const SampleOutput& out = side.outputs[side.task.output];
    const auto rows = scoreRows(out.shape, 1);
    const bool whole = rows && rows->positions * rows->classes == out.x.size() && out.y.size() == out.x.size();
    return whole ? rows : std::nullopt;
}

} // namespace

LineData positionMargins(const SampleSide& a, const SampleSide* b, const ClassNames& names, const Theme& theme)
{
    LineData data = emptyChart();
    const auto rows = positionRows(a);
    if (!rows)
        return data;
    const SampleOutput& out = a.outputs[a.task.output];
    const auto same = b ? std::ranges::find(b->outputs, out.name, &SampleOutput::name) : a.outputs.end();
    const SampleOutput* other = b && same != b->outputs.end() && same->y.size() == out.x.size() ? &*same : nullptr;
    std::vector<LineSeries> lines { emptyLine(PositionChart::tr("margin, float"), theme.floatSeries),
        emptyLine(other ? PositionChart::tr("margin, A") : PositionChart::tr("margin, quantized"), theme.quantSeries) };
    if (other)
        lines.push_back(emptyLine(PositionChart::tr("margin, B"), theme.otherSeries));
    for (size_t i = 0; i < rows->positions; ++i) {
        const auto at = [&](const std::vector<float>& scores) {
            return Scores { scores.data() + i * rows->classes, rows->classes };
        };
        const int64_t best = at(out.x).best();
        QStringList classes { toQt(className(names, best)) };
        size_t model = 0;
        for (const std::vector<float>* scores : { &out.x, &out.y, other ? &other->y : nullptr }) {
            if (!scores)
                continue;
            lines[model++].values.push_back(at(*scores).marginOf(best));
            if (model > 1)
                classes << toQt(className(names, at(*scores).best()));
        }
        const bool kept = std::ranges::all_of(classes, [&](const QString& name) { return name == classes.front(); });
        addItem(data, i, kept ? classes.front() : classes.join(QStringLiteral(" → ")));
    }
    data.series = std::move(lines);
    return data;
}

LineData positionShares(const TaskRow& a, const TaskRow* b, const Theme& theme)
{
    LineData data = emptyChart();
    data.unit = QStringLiteral("%");
    const auto shares = [](const TaskRow& task, const QString& name, const QColor& colour) {
        LineSeries series = emptyLine(name, colour);
        for (size_t i = 0; i < task.counts.all.size(); ++i)
            series.values.push_back(shareOf(task.counts, i).value_or(std::numeric_limits<double>::quiet_NaN()) * 100);
        return series;
    };
    if (a.what.kind != TaskKind::Sequence || a.counts.all.empty())
        return data;
    for (size_t i = 0; i < a.counts.all.size(); ++i)
        addItem(data, i, {});
    const QString same = a.scored == ScoredToken::Next ? PositionChart::tr("same next token")
        : a.scored == ScoredToken::Own                 ? PositionChart::tr("same token")
                                                       : PositionChart::tr("same class");
    data.series.push_back(shares(a,
        b ? PositionChart::tr("%1, A").arg(same) : PositionChart::tr("%1, % of samples").arg(same), theme.quantSeries));
    if (b && b->what.kind == TaskKind::Sequence)
        data.series.push_back(shares(*b, PositionChart::tr("%1, B").arg(same), theme.otherSeries));
    return data;
}

} // namespace qs
