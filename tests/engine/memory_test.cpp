// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/memory_budget.h"
#include "tests/engine/net.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

/// What a run holds is counted before it is taken.
class MemoryTests : public QObject {
    Q_OBJECT
private slots:
    void sharesTheMemoryLimit();
    void plansLeaveWeightsAlone();
    void foldingHasALimit();
};

namespace {

std::shared_ptr<const Schedule> scheduleTo(const std::shared_ptr<const Plan>& plan, const std::string& name)
{
    const auto schedule = Schedule::make(plan, { { plan->graph().findValue(name) }, {} });
    return schedule.ok() ? *schedule : nullptr;
}

} // namespace

/// A weight that is copied when somebody looks at it.
void MemoryTests::plansLeaveWeightsAlone()
{
    const auto bytes = std::make_shared<std::vector<std::byte>>(4 * 160 * 160 + 1);
    const auto net = [&] {
        Net made;
        made.input("x", DType::Float32, toDims({ 1, 160 }));
        made.constant("w", Tensor::wrapUnaligned(DType::Float32, { 160, 160 }, bytes->data() + 1, bytes));
        made.op("MatMul", { "x", "w" }, { "a" });
        made.op("Gemm", { "a", "w" }, { "b" });
        made.output("b");
        return made;
    };
    const auto plan = net().plan({ .memoryLimit = 1 << 30 });
    QVERIFY(bytes.use_count() > 1); // nobody looked
    const std::shared_ptr<const Schedule> schedule[] { scheduleTo(plan, "b") };
    QCOMPARE(heldBytes(schedule), uint64_t(4) * 4 * 160 * 160); // in the file, copied, packed twice
    QVERIFY(checkConstants(*plan, 2 * 4 * 160 * 160).ok());
    QVERIFY(!checkConstants(*plan, 2 * 4 * 160 * 160 - 1).ok());
    QVERIFY(bytes.use_count() > 1);
    QVERIFY(runNet(plan, { Tensor::allocate(DType::Float32, { 1, 160 }) }).ok());
    Net folded = net();
    folded.op("Transpose", { "w" }, { "t" });
    folded.op("MatMul", { "b", "t" }, { "y" });
    folded.constant("one", Tensor::of<float>({ 1 }, { 1 }));
    folded.op("Neg", { "one" }, { "minus" });
    const auto looked = folded.plan({ .onlyLookedAt = true });
    const auto constant = [&](const char* name) { return looked->constant(looked->graph().findValue(name)); };
    QVERIFY(!constant("t") && constant("w") && constant("minus"));
    QVERIFY(looked->unsupported().empty());
    QVERIFY(bytes.use_count() > 1);
}

void MemoryTests::foldingHasALimit()
{
    const auto net = [] {
        Net made;
        made.input("x", DType::Float32, toDims({ 1, 100 }));
        made.constant("w", Tensor::allocate(DType::Float32, { 100, 100 }));
        made.op("Transpose", { "w" }, { "t" });
        made.op("Neg", { "t" }, { "n" });
        made.op("MatMul", { "x", "n" }, { "y" });
        return made;
    };
    QVERIFY(!net().plan({ .memoryLimit = 80'000 })->overLimit());
    const auto plan = net().plan({ .memoryLimit = 79'999 });
    QVERIFY(plan->overLimit() && plan->overLimit()->what.find("memory limit") != std::string::npos);
    QVERIFY(plan->constant(plan->graph().findValue("t")));
    QVERIFY(plan->blocked(plan->graph().findValue("y")));
    QVERIFY(!checkConstants(*plan, 1 << 30).ok());
}

void MemoryTests::sharesTheMemoryLimit()
{
    Net net;
    net.input("x", DType::Float32, toDims({ 1, 100 }));
    net.constant("w", Tensor::allocate(DType::Float32, { 100, 100 }));
    net.op("MatMul", { "x", "w" }, { "a" });
    net.op("MatMul", { "a", "w" }, { "y" });
    const std::shared_ptr<const Schedule> schedule[] { scheduleTo(net.plan(), "y") };
    QCOMPARE(schedule[0]->constantBytes(), uint64_t(40'000)); // read twice, held once
    QCOMPARE(heldBytes(schedule), uint64_t(120'000)); // and packed by both nodes
    QCOMPARE(schedule[0]->estimatedPeakBytes(), uint64_t(800));
    const auto each = memoryPerWorker(schedule, 130'000, 4);
    QVERIFY(each.ok());
    QCOMPARE(*each, uint64_t(2'500));
    const auto tooManyWorkers = memoryPerWorker(schedule, 122'000, 4);
    QVERIFY(!tooManyWorkers.ok() && tooManyWorkers.issue().what.find("one sample") != std::string::npos);
    const auto tooLarge = memoryPerWorker(schedule, 119'999, 1);
    QVERIFY(!tooLarge.ok() && tooLarge.issue().what.find("weights") != std::string::npos);
    QCOMPARE(tooLarge.issue().file, std::string("net.onnx"));
}

int runMemoryTests(int argc, char** argv)
{
    MemoryTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "memory_test.moc"
