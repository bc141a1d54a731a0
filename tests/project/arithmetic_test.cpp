// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/project/arithmetic/arithmetic_table.h"
#include "core/project/arithmetic/saturating_node.h"
#include "core/project/arithmetic/saturation_trials.h"

#include <QTest>

#include <algorithm>

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
