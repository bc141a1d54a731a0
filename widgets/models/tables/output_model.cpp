// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/output_model.h"

#include "core/analysis/rows/output_row.h"
#include "widgets/models/base/formulas.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/other_columns.h"
#include "widgets/models/tables/task_words.h"

#include <algorithm>

namespace qs {

namespace {

bool hasScores(const Comparison& comparison)
{
    return std::ranges::any_of(comparison.outputs, [](const OutputRow& row) { return row.positions > 0; });
}

bool hasTokens(const Comparison& comparison)
{
    return std::ranges::any_of(comparison.outputs, [](const OutputRow& row) { return row.language.has_value(); });
}

/// Float → quantized; empty for other outputs than a language model's.
QString perplexityText(const OutputRow& row)
{
    if (!row.language || !row.language->floatLoss)
        return {};
    return numberText(row.language->floatPerplexity(), 4) + QStringLiteral(" → ")
        + numberText(row.language->quantPerplexity(), 4);
}

QString languageTip(const OutputRow& row)
{
    const LanguageRow& l = *row.language;
    const QString leftOut = l.withoutNumbers > 0
        ? OutputModel::tr("\nPositions left out, whose scores are infinite or NaN: %1.")
              .arg(countText(l.withoutNumbers))
        : QString();
    if (l.scored == ScoredToken::Own)
        return OutputModel::tr("Scores at a position follow from the tokens behind it, too, so they are of the token "
                               "in that place: there is no perplexity of a next one.\n"
                               "KL divergence of the scores over %1 prompts of %2 positions: %3 on average, %4 at the "
                               "99th percentile, %5 at most.")
                   .arg(countText(l.prompts), countText(l.positions), numberText(l.klMean), numberText(l.klP99),
                       numberText(l.klMax))
            + leftOut;
    return OutputModel::tr(
               "exp of the loss, the mean of −log p(next token): %1 → %2, over %3 prompts of %4 positions.\n"
               "KL divergence of the next token: %5 on average, %6 at the 99th percentile, %7 at most.")
               .arg(numberText(l.floatLoss, 5), numberText(l.quantLoss, 5), countText(l.prompts),
                   countText(l.positions), numberText(l.klMean), numberText(l.klP99), numberText(l.klMax))
        + leftOut;
}

/// The first output whose task has a number; null: none has.
const OutputRow* agreeingOutput(const Comparison& comparison)
{
    const auto it
        = std::ranges::find_if(comparison.outputs, [](const OutputRow& row) { return row.task.agreement.has_value(); });
    return it == comparison.outputs.end() ? nullptr : &*it;
}

} // namespace

OutputModel::OutputModel(QObject* parent)
    : SnapshotModel(parent)
{
    const auto similarity = [](auto part) { return in(&R::similarity, part); };
    const QString task = tr("What the output is for, which decides the numbers of its agreement: recognized by types, "
                            "operators and names, or told.");
    const auto taskTip = [task](const R& row) {
        const QString name = agreementName(row.task), details = taskDetails(row.task);
        const QString first = row.task.agreement ? name + u' ' + agreementText(row.task) : task;
        return details.isEmpty() ? first : first + u'\n' + details;
    };
    addColumns({
        { { tr("output"), tr("Name in the float file"), QStringLiteral("probabilities"), Text }, words<R>(&R::name) },
        { { tr("SQNR, dB"), metricInfo(Metric::Accumulated).definition, QStringLiteral("SQNR, dB123456"), Bar, kUp,
              true, Key::Sqnr },
            decibels<R>(similarity(&Similarity::sqnrDb), similarity(&Similarity::exact)),
            [this](const R& row) { return sqnrFormula(row.similarity, *snapshot()->comparison); } },
        { { tr("B, dB"), tr("SQNR of the second quantized model. Higher is better."), QStringLiteral("−88.8"), Value,
              kUp, true, {}, true },
            otherSqnrCell<R>() },
        { { tr("B − A"),
              tr("What B gives over A at this output, dB. Above 0 B is better. Taken before either is rounded."),
              QStringLiteral("−88.8"), Value, kUp, true, {}, true },
            otherGainCell<R>(similarity(&Similarity::sqnrDb)) },
        { { tr("cosine"), definitionText(definition::kCosine), QStringLiteral("0.999999"), Value, kUp },
            cosines<R>(similarity(&Similarity::cosine)) },
        { { tr("RMSE"), definitionText(definition::kRmse), QStringLiteral("0.00123"), Value, kDown },
            numbers<R>(similarity(&Similarity::rmse)) },
        { { tr("max error"), definitionText(definition::kMaxError), QStringLiteral("max error"), Value, kDown },
            numbers<R>(similarity(&Similarity::maxAbsError)) },
        { { tr("task"), task, QStringLiteral("boxes: YOLOv8, v9 or 11"), Text },
            words<R>([](const R& row) { return taskRowText(row.task); }), taskTip },
        { { tr("agreement"), definitionText(definition::kTask), QStringLiteral("> 99.9 %"), Value, kUp },
            cell<R>([](const Number& share, TaskKind kind) { return agreementText(share, kind); },
                [](const Number& share, TaskKind) { return share; }, in(&R::task, &TaskRow::agreement),
                [](const R& row) { return row.task.what.kind; }),
            taskTip },
        { { tr("top-5"), definitionText(definition::kTop5), QStringLiteral("> 99.9 %"), Value, kUp, true, {}, false,
              hasScores },
            percents<R>(&R::top5Agreement) },
        { { tr("KL"), definitionText(definition::kKl), QStringLiteral("0.00123"), Value, kDown, true, {}, false,
              hasScores },
            numbers<R>(&R::klMean) },
        { { tr("perplexity"),
              tr("Of the next token, float → quantized. Lower is better. Empty where scores are of the token in their "
                 "own place."),
              QStringLiteral("29.16 → 29.81"), Text, kDown, true, {}, false, hasTokens },
            words<R>(perplexityText), [](const R& row) { return row.language ? languageTip(row) : QString(); } },
        { { tr("quantized name"), tr("Name in the quantized file"), QStringLiteral("probabilities"), Text, kUp, false },
            words<R>(&R::quantizedName) },
    });
}

RowList<OutputRow> OutputModel::rowsOf(const SnapshotPtr& snapshot) const
{
    return comparisonRows(snapshot, &Comparison::outputs);
}

QString OutputModel::filterText(const OutputRow& row) const { return toQt(row.name) + u' ' + toQt(row.quantizedName); }

std::vector<SummaryItem> outcomeSummary(const Comparison& comparison)
{
    std::vector<SummaryItem> items;
    if (const OutputRow* worst = worstOutput(comparison.outputs)) {
        const QString label = resultOutputs(comparison.outputs).size() == 1 ? OutputModel::tr("Output SQNR")
                                                                            : OutputModel::tr("Worst output SQNR");
        items.push_back({ label, decibelText(worst->similarity.sqnrDb, worst->similarity.exact),
            toQt(worst->name) + u'\n' + sqnrFormula(worst->similarity, comparison) });
    }
    if (comparison.accuracy) {
        const Accuracy& accuracy = *comparison.accuracy;
        QString from = percentText(accuracy.floatAccuracy);
        from.chop(from.endsWith(QStringLiteral(" %")) ? 2 : 0);
        items.push_back({ OutputModel::tr("Accuracy"),
            from + QStringLiteral(" → ") + percentText(accuracy.quantizedAccuracy),
            OutputModel::tr("Share of right classes over %1 labels, float → quantized. %2 samples change their class.")
                .arg(countText(accuracy.labels), countText(comparison.flipped.size())) });
    } else if (const OutputRow* told = agreeingOutput(comparison)) {
        const QString details = taskDetails(told->task);
        if (const QString perplexity = perplexityText(*told); !perplexity.isEmpty())
            items.push_back({ OutputModel::tr("Perplexity"), perplexity, languageTip(*told) });
        items.push_back({ agreementName(told->task), agreementText(told->task),
            OutputModel::tr("%1 Over %2.").arg(definitionText(definition::kTask), provenanceText(comparison))
                + (details.isEmpty() ? QString() : u'\n' + details) });
    }
    return items;
}

std::vector<SummaryItem> outcomeSummary(const Snapshot& snapshot)
{
    if (!snapshot.comparison)
        return {};
    std::vector<SummaryItem> items = outcomeSummary(*snapshot.comparison);
    if (!snapshot.other)
        return items;
    const std::vector<SummaryItem> others = outcomeSummary(*snapshot.other->snapshot->comparison);
    for (SummaryItem& item : items)
        for (const SummaryItem& other : others)
            if (other.label == item.label) {
                const auto last = other.value.lastIndexOf(QStringLiteral("→ ")); // the float model is the same
                item.value += OutputModel::tr(" · B %1").arg(last < 0 ? other.value : other.value.mid(last + 2));
                item.toolTip += u'\n' + OutputModel::tr("B: %1").arg(other.toolTip);
            }
    return items;
}

} // namespace qs

#include "moc_output_model.cpp"
