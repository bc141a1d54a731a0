// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/weight_lab.h"
#include "core/analysis/rows/weight_rows.h"
#include "core/match/graph/canonical.h"
#include "core/quant/params/weights.h"
#include "core/quant/write/quantizer.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"
#include "tests/analysis/comparing.h"
#include "tests/support/tensors.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

/// Two layers whose channels differ tenfold, with a Relu between.
Prepared twoLayers(const Tensor& first, const Tensor& second)
{
    return SmallModel("f")
        .input("x", { 1, 3, 4, 4 })
        .constant("w1", first)
        .constant("w2", second)
        .node("Conv", { "x", "w1" }, { "a" })
        .node("Relu", { "a" }, { "r" })
        .node("Conv", { "r", "w2" }, { "y" })
        .output("y")
        .finish();
}

WeightRow rowFor(const Prepared& model, const std::string& weight, int64_t axis)
{
    WeightRow row;
    row.floatValue = model.value(weight);
    row.floatNode = model.graph().value(row.floatValue).uses[0].node;
    row.name = weight;
    row.channelAxis = axis;
    return row;
}

double db(double signal, double noise) { return 10 * std::log10(signal / noise); }

} // namespace

class WeightLabTests : public QObject {
    Q_OBJECT
private slots:
    void trialsEqualTheQuantizer_data();
    void trialsEqualTheQuantizer();
    void blocksEqualANaiveLoop_data();
    void blocksEqualANaiveLoop();
    void blocksOfTheOperator();
    void storedForms();
    void reducedRange_data();
    void reducedRange();
    void channelsAndOutliers();
    void equalization();
    void nothingToTry();
    void normalizationIsFoldedFirst();
    void channelMajor();
    void zeroPointsBetweenCodes();
};

void WeightLabTests::trialsEqualTheQuantizer_data()
{
    QTest::addColumn<int>("axis");
    QTest::newRow("first axis") << 0;
    QTest::newRow("middle axis") << 1;
    QTest::newRow("last axis") << 2;
}

/// Every trial is the noise of the codes that the quantizer writes, element by element.
void WeightLabTests::trialsEqualTheQuantizer()
{
    QFETCH(int, axis);
    const Tensor weight = Tensor::of<float>({ 5, 7, 3 }, normals(105, 11));
    const Prepared model = twoLayers(weight, Tensor::of<float>({ 1, 5, 1, 1 }, normals(5, 3)));
    const auto lab = weightLab(FoldedConstants(model.plan), rowFor(model, "w1", axis));
    QVERIFY(lab);
    QCOMPARE(lab->trials.size(), size_t(8));
    const auto x = toFloats(weight);
    for (const WeightTrial& trial : lab->trials) {
        const ScaleRules rules { trial.type, DType::Float32, trial.symmetric, false, std::nullopt, false };
        const auto params = weightParams(weight, rules, trial.perChannel ? std::optional<int64_t>(axis) : std::nullopt);
        const auto y = dequantized(weightCodes(weight, *params), *params);
        double signal = 0, noise = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            signal += double(x[i]) * x[i];
            noise += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
        }
        QVERIFY2(close(trial.sqnrDb, db(signal, noise), 1e-4), weightTrialName(trial).c_str());
        QCOMPARE(trial.channelSqnrDb.size(), size_t(weight.dim(size_t(axis))));
    }
}

/// MatMulNBits stores [N, K] in blocks along K, and a symmetric scale is the value of largest magnitude over -8.
void WeightLabTests::blocksOfTheOperator()
{
    const size_t rows = 24, columns = 10, size = 16;
    const auto x = normals(rows * columns, 23);
    const Prepared model
        = twoLayers(Tensor::of<float>({ int64_t(rows), int64_t(columns) }, x), Tensor::of<float>({ 1, 1 }, { 1 }));
    WeightRow row = rowFor(model, "w1", 1);
    row.params = { DType::UInt4, { 1, 1 }, { 8, 8 }, 1, int64_t(size) };
    row.turned = true;
    const auto lab = weightLab(FoldedConstants(model.plan), row);
    QVERIFY(lab);
    const auto trial
        = std::ranges::find_if(lab->trials, [&](const WeightTrial& t) { return storesLike(t, row.params); });
    QVERIFY(trial != lab->trials.end());
    double signal = 0, noise = 0;
    for (size_t c = 0; c < columns; ++c)
        for (size_t from = 0; from < rows; from += size) {
            const size_t end = std::min(from + size, rows);
            float most = 0;
            for (size_t k = from; k < end; ++k)
                most = std::fabs(x[k * columns + c]) > std::fabs(most) ? x[k * columns + c] : most;
            const float scale = most / -8;
            for (size_t k = from; k < end; ++k) {
                const float v = x[k * columns + c];
                const double code = std::clamp(std::nearbyint(double(v / scale)), -8.0, 7.0);
                signal += double(v) * v;
                noise += (code * scale - v) * (code * scale - v);
            }
        }
    QVERIFY2(close(trial->sqnrDb, db(signal, noise), 0.02), qPrintable(QString::number(trial->sqnrDb.value_or(0))));
}

void WeightLabTests::blocksEqualANaiveLoop_data()
{
    QTest::addColumn<int>("axis");
    QTest::addColumn<int>("channelAxis");
    QTest::addColumn<int>("size");
    for (const int axis : { 0, 1 })
        for (const int channelAxis : { 0, 1 })
            for (const int size : { 1, 4, 9, 32 })
                QTest::addRow("axis %d channels %d size %d", axis, channelAxis, size) << axis << channelAxis << size;
}

/// Symmetric and not, in blocks along one axis of which the last one is shorter.
void WeightLabTests::blocksEqualANaiveLoop()
{
    QFETCH(int, axis);
    QFETCH(int, channelAxis);
    QFETCH(int, size);
    const int rows = 11, columns = 13;
    const auto x = normals(size_t(rows * columns), 17);
    const Prepared model = twoLayers(Tensor::of<float>({ rows, columns }, x), Tensor::of<float>({ 1, 1 }, { 1 }));
    WeightRow row = rowFor(model, "w1", channelAxis);
    row.params = { DType::UInt4, { 1, 1 }, { 8, 8 }, axis, size };
    const auto lab = weightLab(FoldedConstants(model.plan), row);
    QVERIFY(lab);
    QCOMPARE(lab->trials.size(), size_t(12));
    const auto at = [&](int along, int across) { // element by place on the axis of blocks, and on the other
        return size_t(axis == 0 ? along * columns + across : across * columns + along);
    };
    const int length = axis == 0 ? rows : columns, lines = axis == 0 ? columns : rows;
    for (size_t t = 8; t < 12; ++t) {
        const WeightTrial& trial = lab->trials[t];
        QCOMPARE(trial.blockSize, int64_t(size));
        const double high = trial.type == DType::UInt8 ? 255 : 15;
        std::vector<double> signal(size_t(channelAxis == 0 ? rows : columns)), noise(signal.size());
        for (int line = 0; line < lines; ++line)
            for (int from = 0; from < length; from += size) {
                const int end = std::min(from + size, length);
                double low = 0, most = 0;
                for (int i = from; i < end; ++i) {
                    low = std::min(low, double(x[at(i, line)]));
                    most = std::max(most, double(x[at(i, line)]));
                }
                if (trial.symmetric)
                    low = -(most = std::max(most, -low));
                const float scale = float(most - low) / float(high);
                const double zero = trial.symmetric ? (high + 1) / 2 : std::nearbyint(float(-low) / scale);
                for (int i = from; i < end; ++i) {
                    const size_t e = at(i, line), c = channelAxis == 0 ? e / columns : e % columns;
                    const double code = std::clamp(double(std::nearbyint(x[e] / scale)) + zero, 0.0, high);
                    signal[c] += double(x[e]) * x[e];
                    noise[c] += std::pow((code - zero) * double(scale) - x[e], 2);
                }
            }
        double allSignal = 0, allNoise = 0;
        for (size_t c = 0; c < signal.size(); ++c) {
            allSignal += signal[c];
            allNoise += noise[c];
        }
        if (size > 1) // else what is rounded exactly is a matter of the last bit
            QVERIFY2(close(trial.sqnrDb, db(allSignal, allNoise), 1e-2), weightTrialName(trial).c_str());
        QCOMPARE(trial.channelSqnrDb.size(), signal.size());
        const double kExact = 100; // dB: blocks of one value, where the last bit decides
        for (size_t c = 0; size > 1 && c < signal.size(); ++c)
            QVERIFY2(db(signal[c], noise[c]) > kExact ? trial.channelSqnrDb[c].value_or(HUGE_VAL) > kExact
                                                      : close(trial.channelSqnrDb[c], db(signal[c], noise[c]), 1e-2),
                qPrintable(QStringLiteral("%1 channel %2: %3, naive %4")
                               .arg(QString::fromStdString(weightTrialName(trial)))
                               .arg(c)
                               .arg(trial.channelSqnrDb[c].value_or(0))
                               .arg(db(signal[c], noise[c]))));
    }
}

void WeightLabTests::storedForms()
{
    const auto name = [](const QuantParams& stored) {
        const Prepared model
            = twoLayers(Tensor::of<float>({ 2, 6 }, normals(12, 5)), Tensor::of<float>({ 1, 1 }, { 1 }));
        WeightRow row = rowFor(model, "w1", 1);
        row.params = stored;
        std::string found;
        const auto lab = weightLab(FoldedConstants(model.plan), row);
        for (const WeightTrial& trial : lab->trials)
            if (storesLike(trial, stored))
                found += (found.empty() ? "" : " | ") + weightTrialName(trial);
        return found;
    };
    QCOMPARE(name({ DType::Int8, { 1 }, { 0 }, {}, 0 }), std::string("int8 symmetric, per tensor"));
    QCOMPARE(name({ DType::UInt4, { 1, 1 }, { 8, 7 }, 0, 0 }), std::string("uint4 asymmetric, per channel"));
    QCOMPARE(name({ DType::UInt4, { 1, 1 }, { 8, 8 }, 1, 3 }), std::string("uint4 symmetric, blocks of 3"));
    QCOMPARE(name({ DType::UInt4, { 1, 1 }, { 8, 7 }, 1, 3 }), std::string("uint4 asymmetric, blocks of 3"));
    QCOMPARE(name({ DType::Int4, { 1, 1 }, { 0, 0 }, 1, 3 }), std::string("int4 symmetric, blocks of 3"));
}

void WeightLabTests::reducedRange_data()
{
    QTest::addColumn<double>("steps"); // that the largest number of the weight, or of its channel, has
    QTest::addColumn<bool>("perChannel");
    QTest::addColumn<QString>("stored"); // the form that the file has
    QTest::newRow("all bits") << 127. << false << "int8 symmetric, per tensor";
    QTest::newRow("one bit less") << 64. << false << "int8 symmetric, 7 bits (reduced range), per tensor";
    QTest::newRow("one bit less, per channel") << 64. << true << "int8 symmetric, 7 bits (reduced range), per channel";
    QTest::newRow("another scale") << 90. << false << "int8 symmetric, per tensor";
}
/// The form that the file has tells what the file loses, also where it uses half of the codes.
void WeightLabTests::reducedRange()
{
    QFETCH(const double, steps);
    QFETCH(const bool, perChannel);
    QFETCH(const QString, stored);
    const auto x = normals(60, 5);
    const Prepared model = twoLayers(Tensor::of<float>({ 2, 30 }, x), Tensor::of<float>({ 1, 2 }, { 1, 1 }));
    WeightRow row = rowFor(model, "w1", 0);
    row.params = { DType::Int8, {}, {}, perChannel ? std::optional<int64_t>(0) : std::nullopt, 0 };
    double signal = 0, noise = 0;
    for (size_t c = 0; c < 2; ++c) {
        float most = 0;
        for (size_t i = perChannel ? c * 30 : 0; i < (perChannel ? c * 30 + 30 : x.size()); ++i)
            most = std::max(most, std::fabs(x[i]));
        const double scale = double(most) / steps;
        if (c == 0 || perChannel) {
            row.params.scale.push_back(float(scale));
            row.params.zeroPoint.push_back(0);
        }
        for (size_t i = c * 30; i < c * 30 + 30; ++i) {
            signal += double(x[i]) * double(x[i]);
            noise += std::pow(std::nearbyint(double(x[i]) / scale) * scale - double(x[i]), 2);
        }
    }
    const auto lab = weightLab(FoldedConstants(model.plan), row);
    QVERIFY(lab);
    std::vector<const WeightTrial*> found;
    for (const WeightTrial& trial : lab->trials)
        if (storesLike(trial, row.params) && trial.reduced == lab->reduced)
            found.push_back(&trial);
    QCOMPARE(found.size(), size_t(1));
    QCOMPARE(QString::fromStdString(weightTrialName(*found.front())), stored);
    if (steps != 90)
        QVERIFY(std::abs(*found.front()->sqnrDb - db(signal, noise)) < 0.01);
}

void WeightLabTests::channelsAndOutliers()
{
    std::vector<float> values(200, 0.01f);
    values[3] = -2;
    values[150] = 0.5f;
    const Prepared model = twoLayers(Tensor::of<float>({ 2, 100 }, values), Tensor::of<float>({ 1, 2 }, { 1, 1 }));
    WeightRow row = rowFor(model, "w1", 0);
    row.params = { DType::Int8, { 0.02f, 0.005f }, { 0, 0 }, 0, 0 };
    row.channelSqnrDb = { 30.0, std::nullopt };
    const auto lab = weightLab(FoldedConstants(model.plan), row);
    QVERIFY(lab);
    QCOMPARE(lab->channels.size(), size_t(2));
    QCOMPARE(float(lab->channels[0].lowest), -2.f);
    QCOMPARE(float(lab->channels[1].highest), 0.5f);
    QCOMPARE(float(*lab->channels[1].scale), 0.005f);
    QVERIFY(close(lab->channels[0].sqnrDb, 30));
    QVERIFY(!lab->channels[1].sqnrDb);
    QVERIFY(close(lab->outlierShare, 1.0 / 200));
    QVERIFY(close(lab->channels[1].outlierShare, 1.0 / 100));
    QVERIFY(lab->bulkRange < 0.02);
    QVERIFY(close(lab->rangeRatio, 2 / 1.25));
}

void WeightLabTests::equalization()
{
    auto first = normals(4 * 3, 1);
    for (size_t i = 0; i < 3; ++i)
        first[i] *= 50; // one channel far above the others
    const Prepared model
        = twoLayers(Tensor::of<float>({ 4, 3, 1, 1 }, first), Tensor::of<float>({ 2, 4, 1, 1 }, normals(8, 2)));
    const std::vector<WeightRow> rows { rowFor(model, "w1", 0), rowFor(model, "w2", 0) };
    const auto laboratory
        = weightLaboratory(FoldedConstants(model.plan), std::make_shared<const Model>(model.plan->model()), rows, 2);
    QVERIFY2(laboratory.note.empty(), laboratory.note.c_str());
    QCOMPARE(laboratory.preview.pairs, size_t(1));
    const WeightLab& lab = *laboratory.weights[0];
    QVERIFY(lab.equalized);
    QVERIFY(*lab.equalized->rangeRatio < *lab.rangeRatio / 2);
    QCOMPARE(lab.equalized->trials.size(), size_t(8));
    QVERIFY(*lab.equalized->trials[0].worstChannelDb > *lab.trials[0].worstChannelDb + 10);
}

void WeightLabTests::nothingToTry()
{
    const Prepared model
        = twoLayers(Tensor::of<float>({ 1, 3, 1, 1 }, { 1, HUGE_VALF, 2 }), Tensor::of<float>({ 1, 1, 1, 1 }, { 0 }));
    QVERIFY(!weightLab(FoldedConstants(model.plan), rowFor(model, "w1", 0)));
    const auto zeros = weightLab(FoldedConstants(model.plan), rowFor(model, "w2", 0));
    QVERIFY(zeros);
    QVERIFY(zeros->trials[0].exact);
    WeightRow bias = rowFor(model, "w2", 0);
    bias.bias = true;
    QVERIFY(!weightLab(FoldedConstants(model.plan), bias));
}

/// The laboratory looks at the weight that the table compares: with the normalization taken in.
void WeightLabTests::normalizationIsFoldedFirst()
{
    const auto w = normals(2 * 3, 5);
    const Prepared f = SmallModel("f")
                           .input("x", { 1, 3, 2, 2 })
                           .constant("w", Tensor::of<float>({ 2, 3, 1, 1 }, w))
                           .constant("scale", Tensor::of<float>({ 2 }, { 4, 0.25f }))
                           .constant("zero", Tensor::of<float>({ 2 }, { 0, 0 }))
                           .constant("one", Tensor::of<float>({ 2 }, { 1, 1 }))
                           .node("Conv", { "x", "w" }, { "c" })
                           .node("BatchNormalization", { "c", "scale", "zero", "zero", "one" }, { "y" })
                           .output("y")
                           .finish();
    std::vector<float> folded = w;
    for (size_t i = 0; i < folded.size(); ++i)
        folded[i] *= i < 3 ? 4 : 0.25f;
    SmallModel q("q");
    q.input("x", { 1, 3, 2, 2 }).weight("w", { 2, 3, 1, 1 }, symmetricCodes(folded, { 0.06f }), { 0.06f });
    const ComparePair pair = pairOf(f, q.node("Conv", { "x", "w" }, { "y" }).output("y").finish());
    const auto rows = compareWeights(pair, false, 1);
    QCOMPARE(rows.size(), size_t(1));
    const auto lab = weightLab(FoldedConstants(pair), rows[0]);
    QVERIFY(lab);
    for (size_t channel = 0; channel < 2; ++channel)
        QVERIFY(close(std::max(std::fabs(lab->channels[channel].lowest), std::fabs(lab->channels[channel].highest)),
            rows[0].channelAbsMax[channel]));
    const auto unfolded = weightLab(FoldedConstants(f.plan), rows[0]);
    QVERIFY(unfolded->channels[0].highest != lab->channels[0].highest);
    // One folded weight does not keep others from being remembered.
    QVERIFY(!FoldedConstants(pair).isOwn(pair.alignment->weights[0]));
}

void WeightLabTests::channelMajor()
{
    std::vector<float> x(200 * 3 * 2);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = float(i);
    const ChannelMajor rows(x, channelsOf({ 200, 3, 2 }, 1));
    QCOMPARE(rows.channels(), size_t(3));
    for (size_t c = 0; c < 3; ++c)
        for (size_t i = 0; i < 400; ++i)
            QCOMPARE(rows.channel(c)[i], float((i / 2) * 6 + c * 2 + i % 2));
}

/// Weights that hqq stored have rows like those of other blocks.
void WeightLabTests::zeroPointsBetweenCodes()
{
    constexpr size_t kDepth = 32, kColumns = 3, kBlock = 16, kBlocks = kDepth / kBlock;
    const Tensor weight = Tensor::of<float>({ kDepth, kColumns }, normals(kDepth * kColumns, 5));
    const Prepared f = SmallModel("f")
                           .input("x", { 2, kDepth })
                           .constant("w", weight)
                           .node("MatMul", { "x", "w" }, { "y" })
                           .output("y")
                           .finish();
    Recipe recipe;
    recipe.format = RecipeFormat::WeightOnly;
    recipe.weightType = DType::UInt4;
    recipe.weightOnly.algorithm = WeightOnlyAlgorithm::Hqq;
    recipe.weightOnly.blockSize = kBlock;
    const auto made = quantizeDraft(GraphDraft(std::make_shared<Model>(f.plan->model())), recipe, {});
    QVERIFY(made.ok());
    const auto built = made->draft.build();
    QVERIFY(built.ok());
    Prepared q;
    q.plan = Plan::make(*built);
    q.view = std::make_shared<const QuantView>(
        QuantView::of(q.graph(), [plan = q.plan](ValueId id) { return plan->constant(id); }));
    const auto rows = compareWeights(pairOf(f, q), false, 1);
    QCOMPARE(rows.size(), size_t(1));
    const auto bytes = made->draft.constant("w_Q4")->data<uint8_t>();
    const auto scales = made->draft.constant("w_scales")->data<float>();
    const auto zeros = made->draft.constant("w_zero_points")->data<float>();
    QVERIFY(std::ranges::any_of(zeros, [](float z) { return z != std::nearbyint(z); }));
    double signal = 0, noise = 0;
    for (size_t k = 0; k < kDepth; ++k)
        for (size_t c = 0; c < kColumns; ++c) {
            const size_t block = c * kBlocks + k / kBlock;
            const uint8_t byte = bytes[block * kBlock / 2 + k % kBlock / 2];
            const int code = k % 2 ? byte >> 4 : byte & 15;
            const double x = weight.data<float>()[k * kColumns + c];
            const double error = (code - double(zeros[block])) * double(scales[block]) - x;
            signal += x * x;
            noise += error * error;
        }
    QVERIFY(std::abs(*rows[0].similarity.sqnrDb - db(signal, noise)) < 1e-4);
    QCOMPARE(*rows[0].offByMoreThanHalfStep, 0.0);
    QCOMPARE(rows[0].params.zeroRest.size(), zeros.size());
}

QTEST_APPLESS_MAIN(WeightLabTests)
#include "weight_lab_test.moc"
