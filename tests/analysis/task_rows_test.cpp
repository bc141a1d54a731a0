// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/measure_models.h"
#include "core/analysis/measure/measured_state.h"
#include "core/analysis/measure/pair_memory.h"
#include "core/analysis/tasks/box_forms.h"
#include "core/analysis/tasks/masks.h"
#include "core/analysis/tasks/scores.h"
#include "tests/analysis/comparing.h"

#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

constexpr float kScale = 0.1F;
constexpr size_t kBoxes = 5 * 6, kSequence = 4 * 3, kMask = 3 * 8 * 8, kAll = kBoxes + kSequence + kMask;

/// One row of numbers in; boxes [1, 5, 6], a sequence [1, 4, 3] and a mask [1, 3, 8, 8] out. Quantized: the input is
/// rounded to tenths.
Prepared modelOfTasks(bool quantized)
{
    SmallModel model(quantized ? "q" : "f");
    model.input("x", { 1, int64_t(kAll) });
    if (quantized)
        model.qdq<uint8_t>("x", "x_DequantizeLinear_Output", kScale, 0);
    model.constant("sizes", Tensor::of<int64_t>({ 3 }, { int64_t(kBoxes), int64_t(kSequence), int64_t(kMask) }));
    model.node("Split", { quantized ? "x_DequantizeLinear_Output" : "x", "sizes" }, { "b0", "s0", "m0" },
        { { "axis", int64_t(1) } });
    const auto shaped = [&](const char* from, const char* to, const std::vector<int64_t>& shape) {
        const std::string name = to;
        model.constant(name + "_shape", Tensor::of<int64_t>({ int64_t(shape.size()) }, shape));
        model.node("Reshape", { from, name + "_shape" }, { name + "_0" });
        model.node("Abs", { name + "_0" }, { name }).output(name);
    };
    shaped("b0", "found", { 1, 5, 6 });
    shaped("s0", "letters", { 1, 4, 3 });
    shaped("m0", "pixels", { 1, 3, 8, 8 });
    return model.finish();
}

const TaskChoices kTold { { { "found", { TaskKind::Boxes, BoxForm::EndToEnd } }, { "pixels", { TaskKind::Mask } } },
    {} };

std::vector<std::vector<float>> samplesOfTasks()
{
    std::mt19937 random(11);
    std::uniform_real_distribution<float> corner(0, 10), side(4, 12), score(0, 1), value(0, 2);
    std::vector<std::vector<float>> samples;
    for (int s = 0; s < 7; ++s) {
        std::vector<float> v;
        for (int b = 0; b < 5; ++b) {
            const float left = corner(random), top = corner(random);
            const float right = left + side(random), bottom = top + side(random);
            for (const float number : { left, top, right, bottom, score(random), float(random() % 3) })
                v.push_back(number);
        }
        while (v.size() < kAll)
            v.push_back(value(random));
        samples.push_back(std::move(v));
    }
    return samples;
}

std::vector<float> rounded(std::vector<float> v)
{
    for (float& x : v)
        x = std::nearbyint(x / kScale) * kScale;
    return v;
}

FixedData dataOf(const std::vector<std::vector<float>>& samples)
{
    std::vector<Tensor> tensors;
    for (const auto& v : samples)
        tensors.push_back(Tensor::of<float>({ 1, int64_t(kAll) }, v));
    return FixedData(tensors);
}

ComparePair toldPair()
{
    ComparePair pair = pairOf(modelOfTasks(false), modelOfTasks(true));
    pair.tasks = kTold;
    return pair;
}

bool equal(const TaskRow& a, const TaskRow& b)
{
    const auto sums = [](const BoxSums& s) {
        return std::vector { s.samples, s.floatBoxes, s.quantBoxes, s.matched, s.reclassed, s.overlap, s.confidence };
    };
    bool same = a.what == b.what && a.agreement == b.agreement && a.differing == b.differing && a.parts == b.parts
        && a.partAgreement == b.partAgreement && a.commonStart == b.commonStart && a.counts.all == b.counts.all
        && a.counts.same == b.counts.same && sums(a.boxes) == sums(b.boxes) && a.samples.size() == b.samples.size();
    for (size_t i = 0; same && i < a.samples.size(); ++i)
        same = a.samples[i].agreement == b.samples[i].agreement
            && a.samples[i].firstDifference == b.samples[i].firstDifference
            && sums(a.samples[i].boxes) == sums(b.samples[i].boxes);
    return same;
}

} // namespace

class TaskRowsTests : public QObject {
    Q_OBJECT
private slots:
    void againstNaive();
    void shardsAndThreads();
    void rememberedRuns();
    void thresholdsCount();
    void notBoxesAfterAll();
    void nothingForValues();
};

void TaskRowsTests::againstNaive()
{
    const auto samples = samplesOfTasks();
    const FixedData data = dataOf(samples);
    const auto c = compareModels(toldPair(), data, {});
    QVERIFY(c.ok());
    QCOMPARE(c->outputs.size(), size_t(3));
    const TaskRow &boxes = c->outputs[0].task, &letters = c->outputs[1].task, &pixels = c->outputs[2].task;
    BoxSums expected;
    PartCounts byClass, byPosition;
    double start = 0, differing = 0;
    for (size_t s = 0; s < samples.size(); ++s) {
        const auto y = rounded(samples[s]);
        const auto read = [&](const std::vector<float>& v) {
            std::vector<Box> found;
            for (size_t b = 0; b < 5; ++b)
                if (const float* at = v.data() + b * 6; double(at[4]) >= 0.25)
                    found.push_back({ at[0], at[1], at[2], at[3], at[4], std::llround(at[5]) });
            return found;
        };
        const BoxSums here = boxSums(read(samples[s]), read(y), 0.5);
        QCOMPARE(boxes.samples[s].boxes.matched, here.matched);
        QCOMPARE(boxes.samples[s].differs, !here.same());
        expected.merge(here);
        std::optional<size_t> first;
        for (size_t p = 0; p < 4; ++p) {
            const float *a = samples[s].data() + kBoxes + p * 3, *b = y.data() + kBoxes + p * 3;
            const bool agrees = std::max_element(a, a + 3) - a == std::max_element(b, b + 3) - b;
            byPosition.add(p, 1, agrees);
            if (!agrees && !first)
                first = p;
        }
        start += double(first.value_or(4));
        differing += first.has_value();
        QCOMPARE(letters.samples[s].firstDifference, first ? Number(double(*first)) : Number());
        std::vector<int64_t> mx, my;
        for (size_t p = 0; p < 64; ++p)
            for (auto* mask : { &mx, &my }) {
                const float* v = (mask == &mx ? samples[s].data() : y.data()) + kBoxes + kSequence;
                int64_t best = 0;
                for (int64_t k = 1; k < 3; ++k)
                    if (v[size_t(k) * 64 + p] > v[size_t(best) * 64 + p])
                        best = k;
                mask->push_back(best);
            }
        const MaskSums mask = maskSums(mx, my, true, byClass);
        QCOMPARE(*pixels.samples[s].agreement, mask.overlap);
    }
    QVERIFY(boxes.told && boxes.boxes.samples == double(samples.size()));
    QCOMPARE(boxes.boxes.floatBoxes, expected.floatBoxes);
    QCOMPARE(boxes.boxes.matched, expected.matched);
    QVERIFY(std::abs(boxes.boxes.overlap - expected.overlap) < 1e-6);
    QCOMPARE(*boxes.agreement, 2 * expected.matched / (expected.floatBoxes + expected.quantBoxes));
    QVERIFY(letters.what.kind == TaskKind::Sequence && !letters.told);
    QVERIFY(letters.counts.all == byPosition.all && letters.counts.same == byPosition.same);
    QCOMPARE(*letters.commonStart, start / double(samples.size()));
    QCOMPARE(double(letters.differing), differing);
    QCOMPARE(*letters.agreement, *c->outputs[1].top1Agreement);
    QVERIFY(pixels.counts.all == byClass.all && pixels.counts.same == byClass.same);
    QVERIFY(!c->outputs[0].top1Agreement && !c->outputs[2].top1Agreement);
    QVERIFY(c->floatClass.empty());
    std::vector<size_t> flipped; // of the first output that counts them
    for (size_t s = 0; s < samples.size(); ++s)
        if (boxes.samples[s].differs)
            flipped.push_back(s);
    QCOMPARE(c->flipped, flipped);
}

void TaskRowsTests::shardsAndThreads()
{
    const ComparePair pair = toldPair();
    const FixedData data = dataOf(samplesOfTasks());
    const auto one = compareModels(pair, data, {}, WorkContext { {}, {}, 1 });
    const auto three = compareModels(pair, data, {}, WorkContext { {}, {}, 3 });
    QVERIFY(one.ok() && three.ok());
    const auto whole = emptyMeasured(pair, { 0, data.samples(), data.samples() }, false);
    for (const size_t part : { 3, 1, 2 }) {
        CompareOptions options;
        options.shard = { part, 3 };
        const auto measured = measureModels(pair, data, options, {}, {});
        QVERIFY(measured.ok());
        ByteWriter out;
        writeMeasured(**measured, out);
        ByteReader in(out.bytes());
        mergeMeasured(in, pair.floatPlan->graph(), pair.quantPlan->graph(), *whole);
        QVERIFY(in.ok() && in.atEnd());
    }
    const Comparison merged = summarize(pair, ArithmeticProfile::Simulated, *whole, {}, {});
    for (size_t o = 0; o < 3; ++o) {
        QVERIFY(equal(one->outputs[o].task, three->outputs[o].task));
        QVERIFY(equal(one->outputs[o].task, merged.outputs[o].task));
    }
    QCOMPARE(merged.flipped, one->flipped);
}

void TaskRowsTests::rememberedRuns()
{
    ComparePair pair = toldPair();
    const FixedData data = dataOf(samplesOfTasks());
    CompareOptions options;
    options.pairs = std::make_shared<PairMemory>();
    const auto first = compareModels(pair, data, options), again = compareModels(pair, data, options);
    QVERIFY(first.ok() && again.ok());
    for (size_t o = 0; o < 3; ++o)
        QVERIFY(equal(first->outputs[o].task, again->outputs[o].task));
    pair.tasks.told.erase("pixels"); // another task of the same values is measured anew
    const auto values = compareModels(pair, data, options);
    QVERIFY(values.ok() && values->outputs[2].task.what.kind == TaskKind::Values);
    QVERIFY(!values->outputs[2].task.agreement && values->outputs[2].similarity.sqnrDb);
    pair.tasks.boxes.score = 0.9;
    const auto sure = compareModels(pair, data, options);
    QVERIFY(sure.ok() && sure->outputs[0].task.boxes.floatBoxes < first->outputs[0].task.boxes.floatBoxes);
}

void TaskRowsTests::thresholdsCount()
{
    ComparePair pair = toldPair();
    const FixedData data = dataOf(samplesOfTasks());
    pair.tasks.boxes.match = 1;
    const auto strict = compareModels(pair, data, {});
    pair.tasks.boxes = { 2, 0.45, 0.5 };
    const auto none = compareModels(pair, data, {});
    QVERIFY(strict.ok() && none.ok());
    QCOMPARE(strict->outputs[0].task.boxes.matched, 0.0);
    QCOMPARE(none->outputs[0].task.boxes.floatBoxes, 0.0);
    QVERIFY(!none->outputs[0].task.agreement && none->flipped.empty());
}

void TaskRowsTests::notBoxesAfterAll()
{
    ComparePair pair = toldPair();
    pair.tasks.told["found"] = { TaskKind::Boxes, BoxForm::Yolox }; // there is no picture whose cells these are
    const FixedData data = dataOf(samplesOfTasks());
    const auto c = compareModels(pair, data, {});
    QVERIFY(c.ok()); // its type already tells, so the output stays what it is
    QVERIFY(c->outputs[0].task.what.kind != TaskKind::Boxes);
    QVERIFY(!checkTasks(*pair.floatPlan, pair.tasks).ok());
}

void TaskRowsTests::nothingForValues()
{
    ComparePair pair = toldPair();
    for (const char* name : { "found", "letters", "pixels" })
        pair.tasks.told[name] = {};
    const auto c = compareModels(pair, dataOf(samplesOfTasks()), {});
    QVERIFY(c.ok());
    for (const OutputRow& row : c->outputs)
        QVERIFY(!row.task.agreement && !row.top1Agreement && row.task.samples.empty() && row.similarity.sqnrDb);
    QVERIFY(c->flipped.empty());
}

QTEST_GUILESS_MAIN(TaskRowsTests)
#include "task_rows_test.moc"
