// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/carry.h"
#include "core/tensor/convert.h"

#include <QTest>

using namespace qs;

class CarryTests : public QObject {
    Q_OBJECT
private slots:
    void stateGoesFromSampleToSample();
    void unknownNamesAreToldOff();
};

namespace {

/// sum = state + x, with the state between two inputs of data.
std::shared_ptr<const Plan> runningSum()
{
    GraphBuilder builder;
    const auto input = [&](const char* name, Dims dims) {
        builder.setType(builder.value(name), { DType::Float32, std::move(dims), {} });
        builder.addInput(builder.value(name));
    };
    input("x", toDims({ 2 }));
    input("state", { { -1, "N" }, { 2, {} } });
    input("factor", toDims({ 1 }));
    const auto node = [&](const char* type, const char* a, const char* b, const char* out) {
        Node n;
        n.name = out;
        n.opType = type;
        n.opset = 17;
        n.inputs = { builder.value(a), builder.value(b) };
        n.outputs = { builder.value(out) };
        builder.addNode(std::move(n));
    };
    node("Mul", "x", "factor", "scaled");
    node("Add", "state", "scaled", "sum");
    builder.addOutput(builder.value("sum"));
    auto graph = std::move(builder).finish();
    if (!graph.ok())
        return nullptr;
    auto model = std::make_shared<Model>();
    model->path = "net.onnx";
    model->graph = std::move(*graph);
    return Plan::make(model);
}

} // namespace

void CarryTests::stateGoesFromSampleToSample()
{
    const auto plan = runningSum();
    const CarryNames names { { "sum", "state" } };
    QVERIFY(isCarried(names, "state") && !isCarried(names, "sum"));
    auto made = CarriedState::make(plan, names);
    QVERIFY(made.ok());
    CarriedState& state = *made;
    const ValueId sum = plan->graph().findValue("sum");
    QVERIFY(state.carries(sum) && !state.carries(plan->graph().findValue("scaled")));
    QCOMPARE(state.outputs(), (std::vector<ValueId> { sum }));
    QCOMPARE(state.fed(), (std::vector<std::string> { "x", "factor" }));
    QVERIFY(!state.empty() && CarriedState(plan).empty());
    const auto schedule = Schedule::make(plan, { { sum }, {} });
    QVERIFY(schedule.ok());
    BufferPool pool;
    std::vector<float> last;
    for (float factor : { 1.0f, 10.0f, 100.0f }) {
        Execution run(*schedule, pool);
        const std::vector<Tensor> data { Tensor::of<float>({ 2 }, { 1, 2 }), Tensor::of<float>({ 1 }, { factor }) };
        QVERIFY(run.bind(state.inputs(data)).ok() && run.runAll().ok());
        state.keep(run);
        last = toFloats(run.get(sum));
    }
    QCOMPARE(last, (std::vector<float> { 111, 222 }));
}

void CarryTests::unknownNamesAreToldOff()
{
    const auto plan = runningSum();
    for (const auto& [out, in] : std::vector<std::pair<std::string, std::string>> {
             { "sum", "nobody" }, { "nobody", "state" }, { "sum", "scaled" } }) {
        const auto state = CarriedState::make(plan, { { out, in } });
        QVERIFY(!state.ok() && state.issue().what.find(out) != std::string::npos);
    }
}

int runCarryTests(int argc, char** argv)
{
    CarryTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "carry_test.moc"
