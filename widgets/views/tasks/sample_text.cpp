// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tasks/sample_text.h"

#include "core/analysis/agreement/task_row.h"
#include "core/analysis/tasks/masks.h"
#include "core/analysis/tasks/scores.h"
#include "widgets/models/base/formatting.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qs {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(Texts)
};

constexpr size_t kMostRows = 10, kMostLargest = 5;

QString labelOf(const ClassNames& names, int64_t label) { return toQt(className(names, label)); }

QString textPart(const QString& text) { return QStringLiteral("<p>%1</p>").arg(text); }

QString tableOf(const QStringList& heads, const std::vector<QStringList>& rows)
{
    QString text = QStringLiteral("<table cellspacing=0 cellpadding=1><tr>");
    for (const QString& head : heads)
        text += QStringLiteral("<td><b>%1</b>&nbsp;&nbsp;</td>").arg(head.toHtmlEscaped());
    for (const QStringList& row : rows) {
        text += QStringLiteral("</tr><tr>");
        for (const QString& cell : row)
            text += QStringLiteral("<td>%1&nbsp;&nbsp;</td>").arg(cell.toHtmlEscaped());
    }
    return text + QStringLiteral("</tr></table>");
}

QString andMore(size_t all)
{
    return all > kMostRows ? textPart(Texts::tr("and %1 more").arg(countText(all - kMostRows))) : QString();
}

/// Those that differ first: without counterpart, with another class, matched.
std::vector<QStringList> boxRows(const SampleBoxes& b, const ClassNames& names)
{
    std::vector<QStringList> rows;
    const QString none = absentText();
    const auto x = matchedOf(b.matches.same, b.x.size(), false), y = matchedOf(b.matches.same, b.y.size(), true);
    auto seenX = x, seenY = y;
    std::vector<QStringList> changed, matched;
    for (const auto& [i, j] : b.matches.reclassed) {
        seenX[i] = seenY[j] = true;
        changed.push_back({ labelOf(names, b.x[i].label) + QStringLiteral(" → ") + labelOf(names, b.y[j].label),
            numberText(double(b.x[i].score)), numberText(double(b.y[j].score)),
            numberText(overlapOf(b.x[i], b.y[j])) });
    }
    for (const auto& [i, j] : b.matches.same)
        matched.push_back({ labelOf(names, b.x[i].label), numberText(double(b.x[i].score)),
            numberText(double(b.y[j].score)), numberText(overlapOf(b.x[i], b.y[j])) });
    for (size_t i = 0; i < b.x.size(); ++i)
        if (!seenX[i])
            rows.push_back({ labelOf(names, b.x[i].label), numberText(double(b.x[i].score)), none, none });
    for (size_t j = 0; j < b.y.size(); ++j)
        if (!seenY[j])
            rows.push_back({ labelOf(names, b.y[j].label), none, numberText(double(b.y[j].score)), none });
    rows.insert(rows.end(), changed.begin(), changed.end());
    rows.insert(rows.end(), matched.begin(), matched.end());
    return rows;
}

QString boxLegend(const Theme& theme)
{
    const auto line = [](const QColor& colour, const QString& sign, const QString& text) {
        return QStringLiteral("<span style='color:%1'><b>%2</b></span> %3").arg(colour.name(), sign, text);
    };
    return textPart(line(theme.floatSeries, QStringLiteral("╌╌"), Texts::tr("float")) + QStringLiteral("&nbsp; ")
        + line(theme.quantSeries, QStringLiteral("━━"), Texts::tr("quantized")));
}

QString boxesText(const SampleBoxes& boxes, const ClassNames& names)
{
    auto rows = boxRows(boxes, names);
    if (rows.empty())
        return textPart(Texts::tr("No boxes above %1 in either model.").arg(QString::number(boxes.least)));
    const size_t all = rows.size();
    rows.resize(std::min(all, kMostRows));
    return tableOf({ Texts::tr("class"), Texts::tr("float"), Texts::tr("quantized"), Texts::tr("IoU") }, rows)
        + andMore(all);
}

QString maskText(const SampleMasks& masks, const ClassNames& names)
{
    PartCounts counts;
    maskSums(masks.x, masks.y, true, counts);
    std::vector<QStringList> rows;
    size_t differing = 0;
    for (size_t i = 0; i < masks.x.size(); ++i)
        differing += masks.x[i] != masks.y[i];
    for (size_t c = 0; c < counts.all.size(); ++c)
        if (const Number overlap = shareOf(counts, c))
            rows.push_back({ labelOf(names, int64_t(c)), numberText(overlap), countText(counts.all[c]) });
    std::ranges::stable_sort(rows, {}, [](const QStringList& row) { return row[1].toDouble(); });
    const size_t all = rows.size();
    rows.resize(std::min(all, kMostRows));
    return textPart(
               Texts::tr("%1 of %2 pixels have another class.").arg(countText(differing), countText(masks.x.size())))
        + tableOf({ Texts::tr("class"), Texts::tr("IoU"), Texts::tr("pixels") }, rows) + andMore(all);
}

/// What one model says after the other, under a heading each where there are two.
template <class Part>
QString ofEach(const SampleSide& a, const SampleSide* b, std::optional<Part> SampleTask::*part, const auto& text)
{
    const auto of = [&](const SampleSide& side) {
        return side.task.*part ? text(*(side.task.*part)) : textPart(Texts::tr("Its outputs cannot be read so."));
    };
    if (!b)
        return of(a);
    const auto heading = [](const QString& name) { return textPart(QStringLiteral("<b>%1</b>").arg(name)); };
    return heading(QStringLiteral("A")) + of(a) + heading(QStringLiteral("B")) + of(*b);
}

const SampleOutput* sameOutput(const std::vector<SampleOutput>& outputs, const SampleOutput& as)
{
    const auto it = std::ranges::find(outputs, as.name, &SampleOutput::name);
    return it != outputs.end() && it->y.size() == as.x.size() ? &*it : nullptr;
}

/// Heads of columns with what the quantized models say.
QStringList withModels(QStringList heads, bool both)
{
    heads << (both ? QStringList { QStringLiteral("A"), QStringLiteral("B") } : QStringList { Texts::tr("quantized") });
    return heads;
}

QString sequenceText(const SampleOutput& out, const SampleOutput* other, const ClassNames& names, ScoredToken scored)
{
    const auto rows = scoreRows(out.shape, 1);
    if (!rows || rows->positions * rows->classes != out.x.size() || out.y.size() != out.x.size())
        return {};
    std::vector<QStringList> list;
    size_t ofA = 0, ofB = 0, all = 0;
    for (size_t i = 0; i < rows->positions; ++i) {
        const auto at = [&](const std::vector<float>& scores) {
            return argmax(scores.data() + i * rows->classes, rows->classes);
        };
        const int64_t x = at(out.x), y = at(out.y), z = other ? at(other->y) : x;
        ofA += x != y;
        ofB += x != z;
        if ((x == y && x == z) || ++all > kMostRows)
            continue;
        QStringList cells { QString::number(i), labelOf(names, x), labelOf(names, y) };
        if (other)
            cells << labelOf(names, z);
        list.push_back(cells);
    }
    const QString positions = countText(rows->positions);
    if (list.empty())
        return textPart(scored == ScoredToken::Next ? Texts::tr("Every position has the same next token.")
                : scored == ScoredToken::Own        ? Texts::tr("Every position has the same token.")
                                                    : Texts::tr("Every position has the same class."));
    const QString what = scored == ScoredToken::Next ? Texts::tr("another next token")
        : scored == ScoredToken::Own                 ? Texts::tr("another token")
                                                     : Texts::tr("another class");
    return textPart(other ? Texts::tr("Of %1 positions %2 have %4 in A, %3 in B.")
                                .arg(positions, countText(ofA), countText(ofB), what)
                          : Texts::tr("%1 of %2 positions have %3.").arg(countText(ofA), positions, what))
        + tableOf(withModels({ Texts::tr("position"), Texts::tr("float") }, other != nullptr), list) + andMore(all);
}

/// The elements to show: the largest of the float model, and those that the quantized models choose instead.
std::vector<size_t> largest(const SampleOutput& out, const std::vector<size_t>& chosen)
{
    std::vector<size_t> order(out.x.size());
    std::iota(order.begin(), order.end(), size_t(0));
    const size_t shown = std::min(order.size(), kMostLargest);
    const auto byFloat = [&](size_t a, size_t b) { return out.x[a] > out.x[b]; };
    std::ranges::partial_sort(order, order.begin() + ptrdiff_t(shown), byFloat);
    order.resize(shown);
    std::vector<size_t> missing;
    for (const size_t i : chosen)
        if (std::ranges::find(order, i) == order.end() && std::ranges::find(missing, i) == missing.end())
            missing.push_back(i);
    for (size_t i = 0; i < missing.size() && i + 1 < order.size(); ++i)
        order[order.size() - missing.size() + i] = missing[i];
    return order;
}

/// Which of the two models flips.
QString flipText(const QString& who, size_t x, size_t y, const ClassNames& names, const Theme& theme)
{
    if (x == y)
        return Texts::tr("%1: the float model's class").arg(who);
    return QStringLiteral("<span style='color:%1'><b>%2</b></span>")
        .arg(theme.clipping.name(),
            Texts::tr("%1 flips: %2 → %3")
                .arg(who, labelOf(names, int64_t(x)).toHtmlEscaped(), labelOf(names, int64_t(y)).toHtmlEscaped()));
}

/// The classes that whole numbers name, the best one first.
QString namedText(const SampleOutput& out, const SampleOutput* other, const ClassNames& names)
{
    const size_t shown = std::min(out.x.size(), kMostLargest);
    std::vector<QStringList> list;
    for (size_t i = 0; i < shown && out.y.size() == out.x.size(); ++i) {
        const auto name = [&](float v) { return labelOf(names, std::llround(v)); };
        list.push_back({ QString::number(i + 1), name(out.x[i]), name(out.y[i]) });
        if (other)
            list.back() << name(other->y[i]);
    }
    return textPart(toQt(out.name).toHtmlEscaped())
        + tableOf(withModels({ Texts::tr("place"), Texts::tr("float") }, other != nullptr), list);
}

/// The largest values of the first output.
QString outputsText(const SampleSide& a, const SampleSide* b, const ClassNames& names, const Theme& theme)
{
    const auto first = std::ranges::find_if(
        a.outputs, [](const SampleOutput& out) { return !out.x.empty() && out.y.size() == out.x.size(); });
    if (first == a.outputs.end())
        return {};
    const SampleOutput& out = *first;
    const SampleOutput* other = b ? sameOutput(b->outputs, out) : nullptr;
    const auto top
        = [](const std::vector<float>& values) { return size_t(std::ranges::max_element(values) - values.begin()); };
    std::vector<size_t> chosen { top(out.y) };
    if (other)
        chosen.push_back(top(other->y));
    const std::vector<size_t> order = largest(out, chosen);
    QString text = textPart(toQt(out.name).toHtmlEscaped())
        + QStringLiteral("<table cellspacing=0 cellpadding=1><tr><td>%1&nbsp;&nbsp;</td>")
              .arg(out.x.size() > 1 ? Texts::tr("class") : Texts::tr("element"));
    for (const QString& head : withModels({ Texts::tr("float") }, other != nullptr))
        text += QStringLiteral("<td align=right>%1&nbsp;&nbsp;</td>").arg(head);
    const auto nameOf = [&](size_t i) {
        const QString name = labelOf(names, int64_t(i)), number = QString::number(i);
        return name == number ? number : number + QStringLiteral(" ") + name.toHtmlEscaped();
    };
    for (const size_t i : order) {
        const auto cell = [&](float value, bool best) {
            const QString number = numberText(double(value));
            return QStringLiteral("<td align=right>%1&nbsp;&nbsp;</td>")
                .arg(best ? QStringLiteral("<b>%1</b>").arg(number) : number);
        };
        text += QStringLiteral("</tr><tr><td>%1&nbsp;&nbsp;</td>").arg(nameOf(i));
        text += cell(out.x[i], i == order.front()) + cell(out.y[i], i == chosen[0]);
        text += other ? cell(other->y[i], i == chosen[1]) : QString();
    }
    text += QStringLiteral("</tr></table>");
    if (other && a.task.kind == TaskKind::Classes)
        text += textPart(flipText(QStringLiteral("A"), order.front(), chosen[0], names, theme) + QStringLiteral("<br>")
            + flipText(QStringLiteral("B"), order.front(), chosen[1], names, theme));
    return text;
}

} // namespace

QString sampleText(const SampleSide& a, const SampleSide* b, const ClassNames& names, const Theme& theme)
{
    const SampleTask& task = a.task;
    if (task.boxes)
        return boxLegend(theme)
            + ofEach(a, b, &SampleTask::boxes, [&](const SampleBoxes& boxes) { return boxesText(boxes, names); });
    if (task.masks)
        return ofEach(a, b, &SampleTask::masks, [&](const SampleMasks& masks) { return maskText(masks, names); })
            + textPart(Texts::tr("Striped: class 0 in the quantized model alone; filled: another class."));
    if (task.kind == TaskKind::Sequence && task.output < a.outputs.size()) {
        const SampleOutput& out = a.outputs[task.output];
        return sequenceText(out, b ? sameOutput(b->outputs, out) : nullptr, names, task.scored);
    }
    if (task.kind == TaskKind::Classes && task.named && task.output < a.outputs.size()) {
        const SampleOutput& out = a.outputs[task.output];
        return namedText(out, b ? sameOutput(b->outputs, out) : nullptr, names);
    }
    return outputsText(a, b, names, theme);
}

} // namespace qs
