// SPDX-License-Identifier: GPL-3.0-or-later
// Outputs that name the elements which were chosen, and those that hold other things beside scores.
#include "core/analysis/tasks/recognition.h"
#include "tests/analysis/comparing.h"

#include <functional>

using namespace qs;
using namespace qs::test;

namespace {

using Make = std::function<void(SmallModel&)>;

std::string tasksOf(const Prepared& model)
{
    std::string text;
    const auto outputs = model.plan->graph().outputs();
    for (const OutputTask& task : outputTasks(*model.plan, { outputs.begin(), outputs.end() }))
        text += (text.empty() ? "" : " ") + taskText(task.what);
    return text;
}

Prepared made(const Make& make)
{
    SmallModel m("net");
    m.input("x", { 1, 6 }).input("t", { 1, 4, 6 });
    m.constant("k", Tensor::of<int64_t>({ 1 }, { 3 })).constant("one", Tensor::of<float>({ 1 }, { 1 }));
    m.constant("stride", Tensor::of<float>({ 1 }, { 8 }));
    make(m);
    return m.finish();
}

const std::vector<SmallModel::Attribute> kLast { { "axis", int64_t(-1) } };

/// Scores and their TopK; the quantized one sees its input in steps of `scale`.
Prepared best(bool quantized, float scale)
{
    SmallModel m(quantized ? "q" : "f");
    m.input("x", { 1, 6 }).constant("k", Tensor::of<int64_t>({ 1 }, { 3 }));
    if (quantized)
        m.qdq<uint8_t>("x", "x_DequantizeLinear_Output", scale, 0);
    m.node("Sigmoid", { quantized ? "x_DequantizeLinear_Output" : "x" }, { "p" });
    return m.node("TopK", { "p", "k" }, { "v", "i" }).output("v").output("i").finish();
}

class ChosenElementsTests : public QObject {
    Q_OBJECT
private slots:
    void recognized_data()
    {
        QTest::addColumn<Make>("make");
        QTest::addColumn<QString>("tasks");
        const auto row
            = [](const char* tag, const Make& make, const char* tasks) { QTest::newRow(tag) << make << tasks; };
        row(
            "values and indices",
            [](SmallModel& m) {
                m.node("TopK", { "x", "k" }, { "v", "i" }).output("v").output("i");
            },
            "values classes");
        row(
            "a softmax of the best",
            [](SmallModel& m) {
                m.node("TopK", { "x", "k" }, { "v", "i" }).node("Softmax", { "v" }, { "p" }).output("p");
            },
            "values");
        row(
            "scores that are picked by rank",
            [](SmallModel& m) {
                m.node("Softmax", { "x" }, { "p" }).node("TopK", { "p", "k" }, { "v", "i" });
                m.node("GatherElements", { "p", "i" }, { "y" }, { { "axis", int64_t(1) } }).output("y");
            },
            "values");
        row(
            "positions that are picked",
            [](SmallModel& m) { // classes stay where they are
                m.node("TopK", { "t", "k" }, { "v", "i" }, { { "axis", int64_t(1) } })
                    .node("Softmax", { "v" }, { "y" });
                m.output("y");
            },
            "sequence");
        row(
            "indices of positions",
            [](SmallModel& m) {
                m.node("TopK", { "t", "k" }, { "v", "i" }).output("i");
            },
            "values");
        row(
            "the class itself",
            [](SmallModel& m) {
                m.node("ArgMax", { "x" }, { "y" }, { { "axis", int64_t(1) }, { "keepdims", int64_t(0) } }).output("y");
            },
            "classes");
        row(
            "a class for each position",
            [](SmallModel& m) {
                m.node("ArgMax", { "t" }, { "y" }, { { "axis", int64_t(2) } }).output("y");
            },
            "values");
        const auto head = [](SmallModel& m, const char* second) {
            m.node("Mul", { "t", "stride" }, { "xy" }).node(second, { "t" }, { "c" });
            m.node("Concat", { "xy", "c" }, { "y" }, kLast).output("y");
        };
        row(
            "boxes and probabilities", [=](SmallModel& m) { head(m, "Sigmoid"); }, "values");
        row(
            "two linear heads", [=](SmallModel& m) { head(m, "Neg"); }, "sequence");
        row(
            "boxes and probabilities, two scales",
            [](SmallModel& m) {
                for (const char* s : { "a", "b" }) {
                    const std::string n = s;
                    m.node("Mul", { "t", "stride" }, { "xy" + n }).node("Sigmoid", { "t" }, { "c" + n });
                    m.node("Concat", { "xy" + n, "c" + n }, { n }, kLast);
                }
                m.node("Concat", { "a", "b" }, { "y" }, { { "axis", int64_t(1) } }).output("y");
            },
            "values");
        row(
            "a probability and the rest of one",
            [](SmallModel& m) {
                m.node("Sigmoid", { "x" }, { "p" }).node("Sub", { "one", "p" }, { "n" });
                m.node("Concat", { "n", "p" }, { "y" }, kLast).output("y");
            },
            "classes");
        row(
            "probabilities of two scales",
            [](SmallModel& m) {
                m.node("Sigmoid", { "t" }, { "a" }).node("Sigmoid", { "t" }, { "b" });
                m.node("Concat", { "a", "b" }, { "y" }, { { "axis", int64_t(1) } }).output("y");
            },
            "sequence");
    }
    void recognized()
    {
        QFETCH(Make, make);
        QFETCH(QString, tasks);
        QCOMPARE(QString::fromStdString(tasksOf(made(make))), tasks);
    }

    void indicesAreCompared_data()
    {
        QTest::addColumn<float>("scale");
        QTest::addColumn<double>("first"); // samples with the same best one
        QTest::addColumn<double>("among"); // whose best one is among the quantized model's
        QTest::newRow("fine steps") << 0.01F << 1.0 << 1.0;
        QTest::newRow("coarse steps") << 1.0F << 0.5 << 0.75; // equal scores go by their index
    }
    void indicesAreCompared()
    {
        QFETCH(float, scale);
        QFETCH(double, first);
        QFETCH(double, among);
        const std::vector<std::vector<float>> samples { { 0.1F, 3, 1.2F, 0.3F, 2, 0.2F },
            { 2, 1, 0.2F, 0.1F, 0.3F, 0.4F }, { 0.6F, 0.1F, 1.4F, 0.2F, 0.3F, 0.7F },
            { 1.1F, 0.9F, 1.2F, 0.8F, 0.7F, 1.4F } };
        std::vector<Tensor> tensors;
        for (const auto& v : samples)
            tensors.push_back(Tensor::of<float>({ 1, 6 }, v));
        const Comparison c = compared(best(false, scale), best(true, scale), FixedData(tensors));
        QCOMPARE(c.outputs.size(), size_t(2));
        const OutputRow &values = c.outputs[0], &indices = c.outputs[1];
        QVERIFY(!values.top1Agreement && values.task.what.kind == TaskKind::Values && !values.choices);
        QVERIFY(indices.task.what.kind == TaskKind::Classes && indices.choices);
        QVERIFY(close(indices.top1Agreement, first) && close(indices.top5Agreement, among));
        QVERIFY(!indices.klMean);
        QCOMPARE(worstOutput(c.outputs), &values);
        QCOMPARE(double(c.flipped.size()), 4 * (1 - first));
    }
};

} // namespace

QTEST_GUILESS_MAIN(ChosenElementsTests)
#include "chosen_elements_test.moc"
