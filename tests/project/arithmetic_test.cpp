// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/kernels/instruction_sets.h"
#include "core/project/arithmetic/arithmetic_table.h"
#include "core/project/arithmetic/saturating_node.h"
#include "core/project/arithmetic/saturation_trials.h"
#include "core/project/search/remedy_sentence.h"
#include "core/project/search/remedy_trials.h"
#include "core/project/search/remedy_verdict.h"
#include "core/project/search/tried_remedies.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace qs;

namespace {

const std::string kExamples = QS_SOURCE_DIR "/resources/examples/";

/// The bundled example; `recipe`: made of the float model in place of the file.
Inputs exampleInputs(ArithmeticProfile profile, const std::optional<Recipe>& recipe = {})
{
    Inputs inputs;
    inputs.floatPath = kExamples + "digits_float.onnx";
    inputs.data.spec = kExamples + "digits_samples.npz";
    inputs.data.limit = 40;
    inputs.profile = profile;
    if (recipe)
        return byRecipe(inputs, *recipe);
    inputs.quantPath = kExamples + "digits_qdq_narrow.onnx";
    return inputs;
}

SnapshotPtr built(const Inputs& inputs)
{
    auto made = buildSnapshot(inputs, nullptr, {}, {});
    if (!made.ok())
        qFatal("%s", issueText(made.issue()).c_str());
    return *made;
}

const SaturationTrial* trialOf(const SaturationTrials& trials, SaturationTrial::Kind kind)
{
    const auto found = std::ranges::find(trials.trials, kind, &SaturationTrial::kind);
    return found == trials.trials.end() ? nullptr : &*found;
}

} // namespace

class TestArithmetic : public QObject {
    Q_OBJECT
private slots:
    /// Whatever the arithmetic that it starts from, the table has what each gives alone.
    void tableIsEachArithmeticAlone_data()
    {
        QTest::addColumn<int>("start");
        for (const ArithmeticProfile profile : kArithmetics)
            QTest::newRow(profileName(profile).data()) << int(profile);
    }
    void tableIsEachArithmeticAlone()
    {
        QFETCH(int, start);
        const auto table = arithmeticTable(built(exampleInputs(ArithmeticProfile(start))), {}, {});
        QVERIFY(table.ok());
        for (size_t i = 0; i < kArithmetics.size(); ++i) {
            const SnapshotPtr alone = built(exampleInputs(kArithmetics[i]));
            QVERIFY(table->numbers[i] == runNumbers(*alone));
            for (const OutputRow& out : alone->comparison->outputs)
                QCOMPARE(table->find(out.name, true)->sqnrDb[i], out.similarity.sqnrDb);
            const ActivationRow& last = alone->comparison->activations.back();
            QCOMPARE(table->find(last.name)->sqnrDb[i], last.accumulated.sqnrDb);
        }
        QVERIFY(table->rows.front().output);
    }

    void channelsOfANode()
    {
        const SnapshotPtr snapshot = built(exampleInputs(ArithmeticProfile::IntegerAvx2));
        const auto table = arithmeticTable(snapshot, {}, {});
        QVERIFY(table.ok());
        const auto& rows = snapshot->comparison->saturation;
        const auto worst = std::ranges::max_element(rows, {}, &SaturationRow::saturatedPairs);
        QVERIFY(worst != rows.end() && worst->saturatedPairs() > 0);
        QVERIFY(worst->worst.lost() > 0);
        QVERIFY(worst->saturated[size_t(worst->worst.column)] > 0);
        std::vector<size_t> samples(40);
        for (size_t i = 0; i < samples.size(); ++i)
            samples[i] = i;
        const auto channels = channelLosses(*table, *worst, samples, {});
        QVERIFY(channels.ok());
        QCOMPARE(channels->size(), worst->saturated.size());
        double share = 0;
        for (const ChannelLoss& channel : *channels) {
            QCOMPARE(channel.saturated, worst->saturated[channel.channel]);
            share += channel.share / double(channels->size());
        }
        QVERIFY(std::abs(share - worst->share()) < 1e-12);
        QVERIFY(std::ranges::any_of(*channels, [](const ChannelLoss& c) { return c.lostDb().value_or(0) > 0; }));
    }

    void remediesAreMeasured_data()
    {
        QTest::addColumn<bool>("imported");
        QTest::newRow("the file") << true;
        QTest::newRow("a recipe") << false;
    }
    void remediesAreMeasured()
    {
        QFETCH(bool, imported);
        Recipe recipe = quantscopeRecipe();
        recipe.activationType = DType::UInt8;
        const auto inputs
            = exampleInputs(ArithmeticProfile::IntegerAvx2, imported ? std::nullopt : std::optional<Recipe>(recipe));
        const auto trials = trySaturationRemedies(built(inputs), 2, {}, {});
        QVERIFY2(trials.ok(), trials.ok() ? "" : issueText(trials.issue()).c_str());
        QVERIFY(trials->shareBefore > 0);
        using Kind = SaturationTrial::Kind;
        for (const Kind kind : { Kind::ReduceHere, Kind::Exclude, Kind::ReduceEverywhere, Kind::UnsignedWeights }) {
            const SaturationTrial* trial = trialOf(*trials, kind);
            QVERIFY2(trial, saturationTrialName(kind).data());
            QVERIFY2(trial->problem.empty(), trial->problem.c_str());
            const SnapshotPtr alone = built(byRecipe(measuredAlone(inputs), trial->recipe));
            QCOMPARE(trial->numbers.outputSqnrDb, runNumbers(*alone).outputSqnrDb);
            QCOMPARE(trial->share, saturatingShare(*alone->comparison));
            QVERIFY(trial->share < trials->shareBefore);
        }
        QCOMPARE(trialOf(*trials, Kind::ReduceEverywhere)->share, 0.0);
        QCOMPARE(trialOf(*trials, Kind::UnsignedWeights)->share, 0.0);
        QVERIFY(*trialOf(*trials, Kind::Exclude)->numbers.quantizedMacShare < *trials->before.quantizedMacShare);
        for (size_t i = 1; i < trials->trials.size(); ++i)
            QVERIFY(trials->trials[i - 1].numbers.outputSqnrDb.value_or(1e9)
                >= trials->trials[i].numbers.outputSqnrDb.value_or(-1e9));
    }

    void findingOffersTheBestOfThem_data()
    {
        QTest::addColumn<bool>("signedActivations");
        QTest::addColumn<bool>("symmetric");
        QTest::newRow("uint8") << false << false;
        QTest::newRow("uint8 with other ranges") << false << true;
        QTest::newRow("int8") << true << false;
    }
    /// The finding gains as much as the best of what is measured beside it, and is told of where its node gains most.
    void findingOffersTheBestOfThem()
    {
        QFETCH(bool, signedActivations);
        QFETCH(bool, symmetric);
        Recipe recipe = quantscopeRecipe();
        recipe.activationType = signedActivations ? DType::Int8 : DType::UInt8;
        recipe.symmetricActivations = symmetric;
        recipe.perChannel = true;
        const SnapshotPtr now = built(exampleInputs(ArithmeticProfile::IntegerAvx2, recipe));
        const auto trials = trySaturationRemedies(now, 8, {}, {});
        QVERIFY(trials.ok());
        using Kind = SaturationTrial::Kind;
        double best = 0, most = -1e9;
        std::string worst;
        for (const SaturationTrial& trial : trials->trials) {
            const double gain = trial.numbers.outputSqnrDb.value_or(144) - *trials->before.outputSqnrDb;
            if (trial.kind != Kind::ReduceHere && trial.kind != Kind::SignedActivations)
                best = std::max(best, gain);
            if (trial.kind == Kind::Exclude && gain > most) {
                most = gain;
                worst = trial.node;
            }
        }
        const auto made = withTriedRemedies(now, 8, {}, {});
        QVERIFY(made.ok());
        const auto& found = (*made)->comparison->findings;
        const auto f = std::ranges::find(found, Rule::SaturatingAccumulation, &Finding::rule);
        QVERIFY(f != found.end() && f->measuredGainDb);
        QVERIFY2(*f->measuredGainDb >= best - 1, qPrintable(QString::number(*f->measuredGainDb)));
        QVERIFY2(f->remedy.find("alone gains less") == std::string::npos, f->remedy.c_str());
        QVERIFY(!remedyOptions(changesOf(*f)).empty());
        if (f->places.empty())
            return;
        QCOMPARE(f->node, worst);
        QCOMPARE(f->places.front().node, worst);
        QVERIFY2(f->summary.starts_with("Worst at " + worst + ": "), f->summary.c_str());
    }

    void otherFormsAddAsTheCpuDoes_data()
    {
        QTest::addColumn<bool>("fromDynamic");
        QTest::addColumn<bool>("otherForm");
        QTest::addColumn<bool>("reduced");
        QTest::newRow("exact where the file has quantizers") << false << false << true;
        QTest::newRow("dynamic") << false << true << false;
        QTest::newRow("dynamic with 7 bits") << false << true << true;
        QTest::newRow("7 bits of a dynamic file") << true << false << true;
        QTest::newRow("static in place of dynamic") << true << true << false;
        QTest::newRow("static with 7 bits in place of dynamic") << true << true << true;
    }
    /// What operators on codes add is what this CPU adds, before and after a change.
    void otherFormsAddAsTheCpuDoes()
    {
        QFETCH(bool, fromDynamic);
        QFETCH(bool, otherForm);
        QFETCH(bool, reduced);
        Recipe recipe = quantscopeRecipe();
        recipe.activationType = DType::UInt8;
        if (fromDynamic)
            recipe.format = RecipeFormat::Dynamic;
        std::vector<Remedy> changes;
        if (otherForm)
            changes.push_back({ fromDynamic ? RemedyKind::StaticFormat : RemedyKind::DynamicFormat, {}, {}, 0, 0, 0 });
        if (reduced)
            changes.push_back({ RemedyKind::ReduceRange, {}, {}, 0, 0, 0 });
        const SnapshotPtr now = built(exampleInputs(ArithmeticProfile::Simulated, recipe));
        auto trials = RemedyTrials::make(now, {}, {});
        QVERIFY(trials.ok());
        QVERIFY(trials->measure({ changes }, 1).ok());
        const ArithmeticProfile adds = fromDynamic != otherForm && addsPairsIn16Bits() ? ArithmeticProfile::IntegerAvx2
                                                                                       : ArithmeticProfile::Simulated;
        const Recipe made = withRemedies(recipe, changes, *now->floatModel->draft);
        const double before = *runNumbers(*built(exampleInputs(adds, recipe))).outputSqnrDb,
                     after = *runNumbers(*built(exampleInputs(adds, made))).outputSqnrDb;
        QVERIFY2(std::abs(*trials->known(changes)->gainDb - (after - before)) < 0.05,
            qPrintable(QStringLiteral("%1, not %2").arg(*trials->known(changes)->gainDb).arg(after - before)));
        const bool fromSuchSums = fromDynamic && otherForm && !reduced && addsPairsIn16Bits(); // to exact ones
        QCOMPARE(!trials->arithmeticText(changes).empty(), adds == ArithmeticProfile::IntegerAvx2 || fromSuchSums);
    }

    void staticFormIsOfferedWhereItLosesNothing_data()
    {
        QTest::addColumn<double>("gain");
        QTest::addColumn<bool>("offered");
        QTest::newRow("gains") << 0.5 << true;
        QTest::newRow("the same") << 0.0 << true;
        QTest::newRow("hardly loses") << -0.05 << true;
        QTest::newRow("loses") << -0.9 << false;
    }
    void staticFormIsOfferedWhereItLosesNothing()
    {
        QFETCH(double, gain);
        Finding f;
        f.rule = Rule::RangeVaries;
        f.change = { RemedyKind::StaticFormat, {}, {}, 0, 0, 0 };
        f.measuredGainDb = gain;
        QTEST(helps(f), "offered");
    }

    void saysWhatHidesAndWhatDoesNot_data()
    {
        QTest::addColumn<bool>("hidden");
        QTest::addColumn<std::string>("said");
        QTest::newRow("each alone gains less") << true
                                               << std::string("Make 2 changes together; each alone gains less, since "
                                                              "the other causes hide it: use the dynamic format; "
                                                              "quantize all weights to uint8.");
        QTest::newRow("one gains most of it") << false
                                              << std::string("Make 2 changes together: use the dynamic format; "
                                                             "quantize all weights to uint8.");
    }
    void saysWhatHidesAndWhatDoesNot()
    {
        QFETCH(bool, hidden);
        QFETCH(std::string, said);
        const Remedy weights { RemedyKind::EightBitWeight, {}, {}, 0, 0, 0, Calibrator::MinMax, DType::UInt8 };
        QCOMPARE(remedySentence({ { RemedyKind::DynamicFormat, {}, {}, 0, 0, 0 }, weights }, hidden), said);
    }

    void cancelledAndWronglyAsked()
    {
        const SnapshotPtr snapshot = built(exampleInputs(ArithmeticProfile::IntegerAvx2));
        const CancelToken stop;
        stop.cancel();
        const auto stopped = trySaturationRemedies(snapshot, 2, {}, stop);
        QVERIFY(!stopped.ok() && stopped.issue().kind == IssueKind::Cancelled);
        const auto none = arithmeticTable(snapshot, {}, stop);
        QVERIFY(!none.ok() && none.issue().kind == IssueKind::Cancelled);
        const auto wrong = trySaturationRemedies(built(exampleInputs(ArithmeticProfile::Simulated)), 2, {}, {});
        QVERIFY(!wrong.ok());
    }
};

QTEST_GUILESS_MAIN(TestArithmetic)
#include "arithmetic_test.moc"
