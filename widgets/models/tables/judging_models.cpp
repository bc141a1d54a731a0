// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/judging_models.h"

#include "widgets/models/base/cells.h"

#include <algorithm>

namespace qs {

namespace {

QString fileRoleText(const FileFacts& facts)
{
    if (facts.role == "a" || facts.role == "b")
        return toQt(facts.role).toUpper();
    return facts.role == "float" ? FileModel::tr("float") : FileModel::tr("quantized");
}

QString fileText(const FileFacts& facts)
{
    return facts.path.empty() ? FileModel::tr("by the recipe") : fileName(facts.path);
}

Number fileBytes(const FileFacts& facts) { return facts.bytes ? Number(double(*facts.bytes)) : Number(); }

QString fileBytesText(const Number& bytes) { return bytes ? bytesText(quint64(*bytes)) : absentText(); }

Number fileMacs(const FileFacts& facts) { return facts.macs ? Number(double(*facts.macs)) : Number(); }

QString fileMacsText(const Number& number) { return number ? countText(quint64(*number)) : absentText(); }

Number medianOf(const FileFacts& facts) { return facts.time ? Number(facts.time->medianMs) : Number(); }

QString medianText(const Number& ms) { return ms ? durationText(*ms) : absentText(); }

QString medianTip(const FileFacts& facts)
{
    if (!facts.time)
        return FileModel::tr("Not measured yet: “Measure time” does it.");
    return FileModel::tr("Median of %1 runs on %2 thread(s), from %3 to %4, %5 arithmetic, in this program's engine; "
                         "another runtime may take another time.")
        .arg(facts.time->runs)
        .arg(facts.time->threads)
        .arg(durationText(facts.time->minMs), durationText(facts.time->maxMs),
            facts.role == "float" ? FileModel::tr("float") : toQt(profileName(facts.profile)));
}

QString elementPlaceText(const ElementRow& row)
{
    if (!row.first)
        return absentText();
    QStringList at;
    for (const int64_t i : row.first->at)
        at << QString::number(i);
    return ElementModel::tr("sample %1, [%2]").arg(row.first->sample).arg(at.join(QStringLiteral(", ")));
}

/// One side of the first element beyond the tolerance.
auto elementOf(double ElementPlace::*side)
{
    return [side](const ElementRow& row) { return row.first ? Number((*row.first).*side) : Number(); };
}

QString sixDigits(const Number& number) { return numberText(number, 6); }

QString elementNameText(const ElementRow& row)
{
    return row.output ? ElementModel::tr("%1 (output)").arg(toQt(row.name)) : toQt(row.name);
}

QString ladderStepText(const LadderRow& row)
{
    return toQt(ladderStepName(row.step)).replace(QStringLiteral("->"), QStringLiteral("→"));
}

QString agreesText(const LadderRow& row) { return row.agrees ? LadderModel::tr("yes") : LadderModel::tr("no"); }

QString ladderAccuracyText(const LadderRow& row)
{
    return row.accuracyAfter
        ? QStringLiteral("%1 → %2").arg(percentText(row.accuracyBefore), percentText(row.accuracyAfter))
        : absentText();
}

QString ladderRuleText(const LadderRow& row) { return toQt(row.rule); }

} // namespace

FileModel::FileModel(QObject* parent)
    : RowModel(parent)
{
    addColumns({
        { { tr("model"), tr("Float, or a quantized one"), QStringLiteral("quantized"), Text }, words<R>(fileRoleText) },
        { { tr("file"), tr("Where it lies"), QStringLiteral("digits_qdq_narrow.onnx"), Text }, words<R>(fileText),
            [](const R& row) { return row.path.empty() ? tr("Made by the recipe") : toQt(row.path); } },
        { { tr("size"), tr("Of the file, external data included. Lower is better."), QStringLiteral("123.4 MB"), Value,
              kDown },
            numbers<R>(fileBytes, fileBytesText) },
        { { tr("parameters"), tr("Elements of float or dequantized constants"), QStringLiteral("123,456,789"), Value,
              kDown },
            counts<R>([](const R& row) { return uint64_t(row.parameters); }) },
        { { tr("MACs"), tr("Multiply-accumulates of one run"), QStringLiteral("1,234,567,890"), Value, kDown },
            numbers<R>(fileMacs, fileMacsText) },
        { { tr("on codes"),
              tr("Share of the multiply-accumulates whose factors are both codes. Higher is "
                 "better."),
              QStringLiteral("on codes"), Value, kUp },
            percents<R>(&R::codeShare) },
        { { tr("output SQNR"), tr("Of the worst output, dB. Higher is better."), QStringLiteral("output SQNR"), Value,
              kUp },
            decibels<R>(&R::outputSqnrDb, &R::exact) },
        { { tr("top-1"), tr("Share of samples with the float model's class; of the worst output. Higher is better."),
              QStringLiteral("100 %"), Value, kUp },
            percents<R>(&R::top1Agreement) },
        { { tr("accuracy"), tr("Share of samples with the right class. Higher is better."), QStringLiteral("accuracy"),
              Value, kUp },
            percents<R>(&R::accuracy) },
        { { tr("time"), tr("Of one run, measured turn by turn in this program's engine. Lower is better."),
              QStringLiteral("123.4 ms"), Value, kDown },
            numbers<R>(medianOf, medianText), medianTip },
    });
}

ElementModel::ElementModel(QObject* parent)
    : RowModel(parent)
{
    addColumns({
        { { tr("value"), tr("Name in the float file"), QStringLiteral("features/conv_2_output"), Text },
            words<R>(elementNameText) },
        { { tr("beyond"), tr("Share of the elements beyond the tolerance. Lower is better."), QStringLiteral("beyond"),
              Value, kDown, true, Key::Share },
            percents<R>([](const R& row) { return Number(row.share()); }) },
        { { tr("elements"), tr("Compared over all samples"), QStringLiteral("123,456,789"), Value, kDown, false },
            counts<R>(&R::elements) },
        { { tr("largest difference"), tr("Of finite elements, in the value's own unit. Lower is better."), {}, Value,
              kDown },
            numbers<R>([](const R& row) { return Number(row.largest); }) },
        { { tr("first beyond"), tr("Sample, and place in the tensor, of the first element beyond the tolerance"),
              QStringLiteral("sample 123, [0, 12, 14]"), Text },
            words<R>(elementPlaceText) },
        { { tr("A there"), tr("The element of A"), QStringLiteral("−0.123456"), Value, kDown },
            numbers<R>(elementOf(&ElementPlace::a), sixDigits) },
        { { tr("B there"), tr("The element of B"), QStringLiteral("−0.123456"), Value, kDown },
            numbers<R>(elementOf(&ElementPlace::b), sixDigits) },
        { { tr("in A"), tr("Name in the first file"), QStringLiteral("features/conv_2_output"), Text, kUp, false },
            words<R>(&R::aName) },
        { { tr("in B"), tr("Name in the second file"), QStringLiteral("features/conv_2_output"), Text, kUp, false },
            words<R>(&R::bName) },
    });
}

QString ElementModel::filterText(const ElementRow& row) const
{
    return toQt(row.name) + u' ' + toQt(row.aName) + u' ' + toQt(row.bName);
}

LadderModel::LadderModel(QObject* parent)
    : RowModel(parent)
{
    addColumns({
        { { tr("step"), tr("The later side against the earlier one"), QStringLiteral("simulated → integer"), Text },
            words<R>(ladderStepText) },
        { { tr("value"), tr("Name in the file"), QStringLiteral("features/conv_2"), Text }, words<R>(&R::name) },
        { { tr("agrees"), tr("By the rule of this step"), QStringLiteral("agrees"), Text }, words<R>(agreesText) },
        { { tr("rule"), tr("What this step is asked for"), QStringLiteral("accuracy within 1 point, at most"), Text },
            words<R>(ladderRuleText), ladderRuleText },
        { { tr("relative error"), tr("Norm of the difference over norm of the value. Lower is better."),
              QStringLiteral("1.23e-06"), Value, kDown },
            numbers<R>(&R::relative) },
        { { tr("SQNR"), tr("Of the later side against the earlier one, dB. Higher is better."), QStringLiteral("exact"),
              Value, kUp },
            decibels<R>(in(&R::similarity, &Similarity::sqnrDb), in(&R::similarity, &Similarity::exact)) },
        { { tr("accuracy"), tr("Share of samples with the right class, before and after the step"),
              QStringLiteral("98.7 % → 97.6 %"), Text },
            words<R>(ladderAccuracyText) },
        { { tr("top-1"), tr("Share of samples with the same class on both sides. Higher is better."),
              QStringLiteral("100 %"), Value, kUp },
            percents<R>(&R::top1Agreement) },
        { { tr("beyond a step"), tr("Share of the elements more than one quantization step apart. Lower is better."),
              QStringLiteral("12.3 %"), Value, kDown },
            percents<R>(&R::beyondStep) },
        { { tr("max error"), tr("Largest difference. Lower is better."), QStringLiteral("0.00123"), Value, kDown,
              false },
            numbers<R>([](const R& row) { return Number(row.similarity.maxAbsError); }) },
    });
}

QString LadderModel::filterText(const LadderRow& row) const
{
    return toQt(row.name) + u' ' + ladderStepText(row) + u' ' + agreesText(row);
}

QString elementsText(const ElementDifferences& found)
{
    const auto apart = std::ranges::count_if(found.rows, [](const ElementRow& r) { return r.beyond > 0; });
    const QString count = countText(found.rows.size());
    return apart == 0
        ? ElementModel::tr("all elements of %1 values are within the tolerance").arg(count)
        : ElementModel::tr("%1 of %2 values have elements beyond the tolerance").arg(countText(quint64(apart)), count);
}

QString ladderText(const Ladder& ladder)
{
    if (!ladder.firstApart)
        return LadderModel::tr("every step agrees with the one before it");
    const LadderRow& row = ladder.rows[*ladder.firstApart];
    return LadderModel::tr("agreement ends at %1, value %2").arg(ladderStepText(row), toQt(row.name));
}

} // namespace qs

#include "moc_judging_models.cpp"
