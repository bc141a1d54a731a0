// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/sample_model.h"

#include "core/analysis/rows/output_row.h"
#include "widgets/models/base/cells.h"
#include "widgets/models/tables/task_words.h"

namespace qs {

namespace {

Number finiteAt(const std::vector<double>& list, size_t i)
{
    return i < list.size() && std::isfinite(list[i]) ? Number(list[i]) : std::nullopt;
}

Number classAt(const std::vector<int64_t>& list, size_t i)
{
    return i < list.size() && list[i] >= 0 ? Number(double(list[i])) : std::nullopt;
}

/// The class that a model names, or that it names none.
Number guessAt(const std::vector<int64_t>& list, size_t i)
{
    return i < list.size() ? Number(double(list[i])) : std::nullopt;
}

QString classText(const ClassNames& names, const Number& number)
{
    return number ? toQt(className(names, int64_t(*number))) : absentText();
}

/// Of the float model, and of both where they differ.
QString classesText(const SampleRow& row, const ClassNames& names)
{
    const QString first = classText(names, row.floatClass);
    return row.flipped() ? first + QStringLiteral(" → ") + classText(names, row.quantClass) : first;
}

QString namedClasses(const SampleRow& row) { return classesText(row, *row.classNames); }

Number flippedFirst(const SampleRow& row) { return row.floatClass ? Number(row.flipped() ? 0 : 1) : std::nullopt; }

/// The classes with names and numbers; what the column means where they have no names.
std::function<QString(const SampleRow&)> classesTip(const QString& meaning)
{
    return [meaning](const SampleRow& row) {
        return row.classNames->empty() ? meaning
                                       : namedClasses(row) + QStringLiteral(" (") + classesText(row, {}) + u')';
    };
}

/// Who has another class than the float model.
QString whoFlips(const SampleRow& row)
{
    if (!row.otherClass)
        return absentText();
    if (row.flipped() && row.otherFlipped())
        return SampleModel::tr("A and B");
    return row.flipped() ? SampleModel::tr("A") : row.otherFlipped() ? SampleModel::tr("B") : SampleModel::tr("none");
}

/// Where A and B disagree first, then where both flip.
Number whoFlipsKey(const SampleRow& row)
{
    if (!row.otherClass)
        return {};
    return row.flipped() != row.otherFlipped() ? (row.flipped() ? 0 : 1) : row.flipped() ? 2 : 3;
}

QString otherClassName(const SampleRow& row) { return classText(*row.classNames, row.otherClass); }

/// SQNR of the worst output for one sample (an index of the comparison's own); infinite when all are exact.
Number sampleSqnrDb(const Comparison& comparison, size_t index)
{
    Number worst;
    for (const OutputRow* row : resultOutputs(comparison.outputs)) {
        if (index >= row->sampleSqnrDb.size())
            continue;
        const bool exact = !row->sampleSqnrDb[index] && index < row->sampleNoise.size() && row->sampleNoise[index] == 0
            && row->similarity.nonFinite == 0; // which the noise leaves out
        const Number db = exact ? Number(std::numeric_limits<double>::infinity()) : row->sampleSqnrDb[index];
        if (db && (!worst || *db < *worst))
            worst = db;
    }
    return worst;
}

} // namespace

SampleModel::SampleModel(QObject* parent)
    : SnapshotModel(parent)
{
    const QString classes = tr("Class with the largest value of the first output: of both models, or float → "
                               "quantized. Sorted: flipped ones first.");
    addColumns({
        { { tr("sample"), tr("File name or number of the sample"), QStringLiteral("n01440764_3198.png"), Text },
            words<R>(&R::name) },
        { { tr("class"), classes, QStringLiteral("888 → 888"), Word, kUp, true, Key::Class, false, hasClasses, true },
            words<R>(namedClasses, flippedFirst), classesTip(classes) },
        { { tr("agreement"), definitionText(definition::kTask) + u' ' + tr("Of this sample alone."),
              QStringLiteral("> 99.9 %"), Value, kUp, true, Key::Agreement, false, hasOtherTask },
            cell<R>([](const Number& share, TaskKind kind) { return agreementText(share, kind); },
                [](const Number& share, TaskKind) { return share; }, &R::agreement, &R::task) },
        { { tr("difference"),
              tr("What is not the same: the first position with another class or next token, boxes without their "
                 "counterpart. Sorted: samples that differ first."),
              QStringLiteral("2 missed, 1 extra"), Word, kUp, true, {}, false, hasOtherTask },
            words<R>([](const R& row) { return row.difference; },
                [](const R& row) { return Number(row.differs ? 0 : 1); }) },
        { { tr("flips"), tr("Which of the two quantized models has another class than the float model"),
              QStringLiteral("A and B"), Word, kUp, true, Key::Flips, true, hasClasses },
            words<R>(whoFlips, whoFlipsKey) },
        { { tr("class B"), tr("Class of the second quantized model"), QStringLiteral("888"), Word, kUp, true, {}, true,
              hasClasses },
            words<R>(otherClassName, &R::otherClass) },
        { { tr("margin B"), tr("The margin of the float model's class in the second quantized model"),
              QStringLiteral("−88.88"), Value, kUp, true, {}, true, hasClasses },
            numbers<R>(&R::otherMargin) },
        { { tr("B SQNR"), tr("SQNR of this sample's worst output in the second quantized model, dB"),
              QStringLiteral("−88.8"), Value, kUp, true, {}, true },
            numbers<R>(&R::otherSqnrDb,
                [](const Number& sqnrDb) { return decibelNumber(sqnrDb, sqnrDb && std::isinf(*sqnrDb)); }) },
        { { tr("margin"),
              tr("First output: the float model's class over the next best, in the quantized model. Below 0 the class "
                 "is another one."),
              QStringLiteral("−88.88"), Value, kUp, true, Key::QuantMargin, false, hasClasses },
            numbers<R>(&R::quantMargin) },
        { { tr("float margin"),
              tr("First output: the float model's class over the next best, in the float model. A small margin flips "
                 "easily."),
              QStringLiteral("−88.8"), Value, kUp, true, {}, false, hasClasses },
            numbers<R>(&R::floatMargin) },
        { { tr("output SQNR"),
              tr("SQNR of this sample's worst output, dB: 20·log10(‖x‖ / ‖x − y‖), x from the float model, y from the "
                 "quantized one, of this sample alone. Higher is better."),
              QStringLiteral("output SQNR88"), Bar, kUp, true, Key::Sqnr, false, nullptr, true },
            numbers<R>(&R::sqnrDb,
                [](const Number& sqnrDb) { return decibelNumber(sqnrDb, sqnrDb && std::isinf(*sqnrDb)); }) },
        { { tr("label"), tr("Class that the data say is right"), QStringLiteral("888"), Word, kUp, false, Key::Label },
            words<R>([](const R& row) { return classText(*row.classNames, row.label); }, &R::label) },
    });
}

RowList<SampleRow> SampleModel::rowsOf(const SnapshotPtr& snapshot) const
{
    std::vector<SampleRow> rows;
    if (!snapshot->comparison || !snapshot->data)
        return rows;
    const Comparison& c = *snapshot->comparison;
    const Comparison none, &b = snapshot->other ? *snapshot->other->snapshot->comparison : none;
    const OutputRow* telling = tellingOutput(c);
    for (size_t i = 0; i < c.samples; ++i) {
        const bool told = telling && i < telling->task.samples.size();
        const TaskSample of = told ? telling->task.samples[i] : TaskSample {};
        const size_t sample = c.firstSample + i;
        rows.push_back({ snapshot->data->sampleName(sample), snapshot->classNames.get(),
            classAt(snapshot->data->labels(), sample), guessAt(c.floatClass, i), guessAt(c.quantClass, i),
            finiteAt(c.floatMargin, i), finiteAt(c.quantMargin, i), told ? telling->task.what.kind : TaskKind::Values,
            of.agreement, told ? sampleDifference(telling->task, of) : QString(), of.differs, sampleSqnrDb(c, i),
            guessAt(b.quantClass, i), finiteAt(b.quantMargin, i), sampleSqnrDb(b, i) });
    }
    return rows;
}

QString SampleModel::filterText(const SampleRow& row) const
{
    return toQt(row.name) + u' ' + (row.flipped() || row.differs ? tr("flipped") : QString());
}

} // namespace qs

#include "moc_sample_model.cpp"
