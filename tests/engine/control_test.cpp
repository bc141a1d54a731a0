// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/net.h"

#include <QTest>

#include <chrono>
#include <thread>

using namespace qs;
using namespace qs::test;

namespace {

/// y = condition ? x + x : -x
Net choice()
{
    const auto yes = Net().outer({ "x" }).op("Add", { "x", "x" }, { "sum" }).output("sum").graph();
    const auto no = Net().outer({ "x" }).op("Neg", { "x" }, { "minus" }).output("minus").graph();
    Net net;
    net.input("x", DType::Float32, Dims { { -1, "N" } });
    net.op("If", { "condition" }, { "y" }, { { "then_branch", yes }, { "else_branch", no } }, { "x" }).output("y");
    return net;
}

/// A loop's body over one state of floats: next = state `type` with; the condition goes through.
std::shared_ptr<const Graph> body(const std::string& type, const std::string& with)
{
    Net net;
    net.input("i", DType::Int64, Dims {}).input("go", DType::Bool, Dims {}).input("state", DType::Float32);
    if (with != "state")
        net.outer({ with });
    std::vector<std::pair<std::string, AttributeValue>> attributes;
    if (type == "Concat")
        attributes = { { "axis", int64_t(0) } };
    return net.op(type, { "state", with }, { "next" }, attributes)
        .op("Identity", { "next" }, { "seen" })
        .output("go")
        .output("next")
        .output("seen")
        .graph();
}

} // namespace

class ControlTests : public QObject {
    Q_OBJECT
private slots:
    void ifTakesABranch();
    void ifWithConstantConditionNeedsOneBranchOnly();
    void ifOfConstantsIsFolded();
    void branchesSeeTheirOwnNamesFirst();
    void capturesThroughTwoLevels();
    void innerNodeThatCannotRunIsNamed();
    void waitingForTheOuterGraphIsNoReasonOfItsOwn();
    void branchesThatAgreeAreInferred();
    void loopCarriesAndStacks();
    void loopWithoutIterations();
    void loopStateMayChangeItsShape();
    void stackedValuesMayNot();
    void loopEndsEarly();
    void loopCountsInTheDeclaredShape_data();
    void loopCountsInTheDeclaredShape();
    void loopConditionMustBeOneBool();
    void endlessLoopIsCancelled();
    void loopIsNotFolded();
    void loopFacts();
    void scanDirectionsAndAxes();
    void scanOfOpset8();
    void scanLengthsMustAgree();
};

void ControlTests::ifTakesABranch()
{
    const auto plan = choice().input("condition", DType::Bool, Dims {}).plan();
    QVERIFY(plan->unsupported().empty());
    const Tensor x = floats({ 1, -3 });
    QCOMPARE(numbers(runNet(plan, { x, truth(true) })), (std::vector<float> { 2, -6 }));
    QCOMPARE(numbers(runNet(plan, { x, truth(false) })), (std::vector<float> { -1, 3 }));
    Tensor two = Tensor::allocate(DType::Bool, { 2 });
    two.fill<uint8_t>()[0] = two.fill<uint8_t>()[1] = 1;
    const auto many = runNet(choice().input("condition", DType::Bool).plan(), { x, two });
    QVERIFY(!many.ok());
}

void ControlTests::ifWithConstantConditionNeedsOneBranchOnly()
{
    const auto good = Net().outer({ "x" }).op("Neg", { "x" }, { "minus" }).output("minus").graph();
    const auto bad = Net().outer({ "lost" }).op("Frobnicate", { "lost" }, { "strange" }).output("strange").graph();
    for (const bool value : { true, false }) {
        Net net;
        net.input("x", DType::Float32).constant("condition", truth(value));
        net.op("Frobnicate", { "x" }, { "lost" }); // what only the other branch reads may be missing
        net.op("If", { "condition" }, { "y" }, { { "then_branch", good }, { "else_branch", bad } }, { "lost", "x" });
        const auto plan = net.output("y").plan();
        QCOMPARE(plan->blocked(plan->graph().findValue("y")) == nullptr, value);
        if (value)
            QCOMPARE(numbers(runNet(plan, { floats({ 4 }) })), (std::vector<float> { -4 }));
    }
}

void ControlTests::ifOfConstantsIsFolded()
{
    const auto inner = Net().outer({ "c" }).op("Neg", { "c" }, { "minus" }).output("minus").graph();
    Net net;
    net.constant("c", floats({ 5 })).constant("condition", truth(true));
    net.op("If", { "condition" }, { "y" }, { { "then_branch", inner }, { "else_branch", inner } }, { "c" }).output("y");
    const auto plan = net.plan();
    QVERIFY(plan->constant(plan->graph().findValue("y")));
    QCOMPARE(numbers(runNet(plan, {})), (std::vector<float> { -5 }));
}

void ControlTests::branchesSeeTheirOwnNamesFirst()
{
    // `x` is the outer one in one branch, and the other branch's own constant in the other.
    const auto outerX = Net().outer({ "x" }).op("Neg", { "x" }, { "a" }).output("a").graph();
    const auto ownX = Net().constant("x", floats({ 7 })).op("Neg", { "x" }, { "b" }).output("b").graph();
    Net net;
    net.input("x", DType::Float32).input("condition", DType::Bool, Dims {});
    net.op("If", { "condition" }, { "y" }, { { "then_branch", outerX }, { "else_branch", ownX } }, { "x" }).output("y");
    const auto plan = net.plan();
    QCOMPARE(numbers(runNet(plan, { floats({ 1 }), truth(true) })), (std::vector<float> { -1 }));
    QCOMPARE(numbers(runNet(plan, { floats({ 1 }), truth(false) })), (std::vector<float> { -7 }));
}

void ControlTests::capturesThroughTwoLevels()
{
    // main: x, k; outer branch: m = x * k; inner branch: m + x + k
    const auto deep = Net()
                          .outer({ "m", "x", "k" })
                          .op("Add", { "m", "x" }, { "t" })
                          .op("Add", { "t", "k" }, { "deep" })
                          .output("deep")
                          .graph();
    const auto middle = Net()
                            .outer({ "x", "k", "condition" })
                            .op("Mul", { "x", "k" }, { "m" })
                            .op("If", { "condition" }, { "z" }, { { "then_branch", deep }, { "else_branch", deep } },
                                { "m", "x", "k" })
                            .output("z")
                            .graph();
    Net net;
    net.input("x", DType::Float32).input("condition", DType::Bool, Dims {}).constant("k", floats({ 10 }));
    net.op("If", { "condition" }, { "y" }, { { "then_branch", middle }, { "else_branch", middle } },
           { "condition", "k", "x" })
        .output("y");
    QCOMPARE(numbers(runNet(net.plan(), { floats({ 2, 3 }), truth(true) })), (std::vector<float> { 32, 43 }));
}

void ControlTests::innerNodeThatCannotRunIsNamed()
{
    const auto fine = Net().outer({ "x" }).op("Neg", { "x" }, { "a" }).output("a").graph();
    const auto bad = Net()
                         .outer({ "x" })
                         .op("Frobnicate", { "x" }, { "strange" })
                         .op("Neg", { "strange" }, { "b" })
                         .output("b")
                         .graph();
    Net net;
    net.input("x", DType::Float32).input("condition", DType::Bool, Dims {});
    net.op("If", { "condition" }, { "y" }, { { "then_branch", fine }, { "else_branch", bad } }, { "x" });
    const auto plan = net.op("Neg", { "y" }, { "z" }).output("z").plan();
    const auto unsupported = plan->unsupported();
    QCOMPARE(unsupported.size(), size_t(1));
    const std::string& what = unsupported[0].second.what;
    QVERIFY2(what.find("else_branch") != std::string::npos && what.find("'strange'") != std::string::npos
            && what.find("Frobnicate") != std::string::npos,
        what.c_str());
    const auto& plans = plan->step(plan->graph().findNode("y")).subPlans;
    QCOMPARE(plans.size(), size_t(2));
    QVERIFY(plans[0]->unsupported().empty());
    QCOMPARE(plans[1]->unsupported().size(), size_t(1));
    QCOMPARE(plans[1]->unsupported()[0].second.node, std::string("strange"));
    QVERIFY(!runNet(plan, { floats({ 1 }), truth(true) }).ok());
}

void ControlTests::waitingForTheOuterGraphIsNoReasonOfItsOwn()
{
    const auto inner = Net().outer({ "lost" }).op("Neg", { "lost" }, { "a" }).output("a").graph();
    Net net;
    net.input("x", DType::Float32).input("condition", DType::Bool, Dims {}).op("Frobnicate", { "x" }, { "lost" });
    net.op("If", { "condition" }, { "y" }, { { "then_branch", inner }, { "else_branch", inner } }, { "lost" });
    const auto plan = net.output("y").plan();
    QCOMPARE(plan->unsupported().size(), size_t(1));
    const Issue* issue = plan->blocked(plan->graph().findValue("y"));
    QVERIFY(issue && issue->what.find("node 'lost'") != std::string::npos);
}

void ControlTests::branchesThatAgreeAreInferred()
{
    const auto plan = choice().input("condition", DType::Bool, Dims {}).plan();
    const Fact& y = plan->facts().of(plan->graph().findValue("y"));
    QCOMPARE(y.dtype, DType::Float32);
    QVERIFY(y.dims && y.dims->size() == 1 && y.dims->front().symbol == "N");
}

void ControlTests::loopCarriesAndStacks()
{
    Net net;
    net.input("x", DType::Float32).input("trips", DType::Int64, Dims {}).constant("k", floats({ 2 }));
    net.op("Loop", { "trips", "", "x" }, { "last", "all" }, { { "body", body("Mul", "k") } }, { "k" });
    const auto plan = net.output("last").output("all").plan();
    const auto made = runNet(plan, { floats({ 1, 3 }), Tensor::scalar<int64_t>(3) });
    QCOMPARE(numbers(made), (std::vector<float> { 8, 24 }));
    QCOMPARE(numbers(made, 1), (std::vector<float> { 2, 6, 4, 12, 8, 24 }));
    QCOMPARE((*made)[1].shape(), (Shape { 3, 2 }));
}

void ControlTests::loopWithoutIterations()
{
    Net net;
    net.input("x", DType::Float32, toDims({ 2 })).input("trips", DType::Int64, Dims {}).constant("k", floats({ 2 }));
    net.op("Loop", { "trips", "", "x" }, { "last", "all" }, { { "body", body("Mul", "k") } }, { "k" });
    const auto plan = net.output("last").output("all").plan();
    for (int64_t trips : { 0, -5 }) {
        const auto made = runNet(plan, { floats({ 1, 3 }), Tensor::scalar<int64_t>(trips) });
        QCOMPARE(numbers(made), (std::vector<float> { 1, 3 }));
        QCOMPARE((*made)[1].dim(0), int64_t(0));
        QCOMPARE((*made)[1].dtype(), DType::Float32);
    }
}

void ControlTests::loopStateMayChangeItsShape()
{
    Net net;
    net.input("x", DType::Float32, toDims({ 1 })).constant("k", floats({ 9 }));
    const auto grow = Net()
                          .input("i", DType::Int64, Dims {})
                          .input("go", DType::Bool, Dims {})
                          .input("state", DType::Float32)
                          .outer({ "k" })
                          .op("Concat", { "state", "k" }, { "next" }, { { "axis", int64_t(0) } })
                          .output("go")
                          .output("next")
                          .graph();
    net.constant("trips", Tensor::scalar<int64_t>(3));
    net.op("Loop", { "trips", "", "x" }, { "last" }, { { "body", grow } }, { "k" }).output("last");
    const auto plan = net.plan();
    QCOMPARE(numbers(runNet(plan, { floats({ 1 }) })), (std::vector<float> { 1, 9, 9, 9 }));
    const Fact& last = plan->facts().of(plan->graph().findValue("last"));
    QVERIFY(last.dtype == DType::Float32 && !last.dims);
}

void ControlTests::stackedValuesMayNot()
{
    Net net;
    net.input("x", DType::Float32).constant("k", floats({ 9 })).constant("trips", Tensor::scalar<int64_t>(3));
    net.op("Loop", { "trips", "", "x" }, { "last", "all" }, { { "body", body("Concat", "k") } }, { "k" });
    const auto made = runNet(net.output("all").plan(), { floats({ 1 }) });
    QVERIFY(!made.ok() && made.issue().what.find("between iterations") != std::string::npos);
    QCOMPARE(made.issue().node, std::string("last"));
}

void ControlTests::loopEndsEarly()
{
    // Goes on while the state is below a limit of the outer graph.
    const auto until = Net()
                           .input("i", DType::Int64, Dims {})
                           .input("go", DType::Bool, Dims {})
                           .input("state", DType::Float32)
                           .outer({ "limit" })
                           .op("Add", { "state", "state" }, { "next" })
                           .op("Less", { "next", "limit" }, { "again" })
                           .output("again")
                           .output("next")
                           .output("i")
                           .graph();
    Net net;
    net.input("x", DType::Float32, Dims {}).input("limit", DType::Float32, Dims {}).input("go", DType::Bool, Dims {});
    net.op("Loop", { "", "go", "x" }, { "last", "steps" }, { { "body", until } }, { "limit" });
    const auto plan = net.output("last").output("steps").plan();
    const auto made = runNet(plan, { Tensor::scalar(1.0f), Tensor::scalar(10.0f), truth(true) });
    QCOMPARE(numbers(made), (std::vector<float> { 16 }));
    QCOMPARE(toInts((*made)[1]), (std::vector<int64_t> { 0, 1, 2, 3 }));
    QCOMPARE(numbers(runNet(plan, { Tensor::scalar(1.0f), Tensor::scalar(10.0f), truth(false) })),
        (std::vector<float> { 1 }));
}

void ControlTests::loopCountsInTheDeclaredShape_data()
{
    QTest::addColumn<bool>("list");
    QTest::newRow("scalar") << false;
    QTest::newRow("list of one") << true;
}

/// As ONNX Runtime: the number of the iteration and the condition have the rank that the body declares for them.
void ControlTests::loopCountsInTheDeclaredShape()
{
    QFETCH(bool, list);
    const Dims dims = list ? toDims({ 1 }) : Dims {};
    Net counting;
    counting.opset(11).input("i", DType::Int64, dims).input("go", DType::Bool, dims).outer({ "data" });
    if (list)
        counting.op("Squeeze", { "i" }, { "row" }, { { "axes", std::vector<int64_t> { 0 } } });
    counting.op("Gather", { "data", list ? "row" : "i" }, { "taken" }).op("Identity", { "go" }, { "on" });
    const auto inner = counting.output("go").output("taken").output("i").output("on").graph();
    Net net;
    net.input("data", DType::Float32, toDims({ 3, 2 })).constant("trips", Tensor::scalar<int64_t>(2));
    net.op("Loop", { "trips", "" }, { "rows", "numbers", "conditions" }, { { "body", inner } }, { "data" });
    const auto plan = net.output("rows").output("numbers").output("conditions").plan();
    QVERIFY(plan->unsupported().empty());
    const auto made = runNet(plan, { Tensor::of<float>({ 3, 2 }, { 1, 2, 3, 4, 5, 6 }) });
    QCOMPARE(numbers(made), (std::vector<float> { 1, 2, 3, 4 }));
    const Shape counted = list ? Shape { 2, 1 } : Shape { 2 };
    QCOMPARE((*made)[1].shape(), counted);
    QCOMPARE((*made)[2].shape(), counted);
    for (const char* name : { "numbers", "conditions" })
        QCOMPARE(plan->facts().of(plan->graph().findValue(name)).dims->size(), counted.size());
}

void ControlTests::loopConditionMustBeOneBool()
{
    const auto wrong = Net()
                           .input("i", DType::Int64, Dims {})
                           .input("go", DType::Bool, Dims {})
                           .op("Identity", { "i" }, { "again" })
                           .output("again")
                           .graph();
    Net net;
    net.input("trips", DType::Int64, Dims {}).op("Loop", { "trips", "" }, { "nothing" }, { { "body", wrong } });
    const auto plan = net.output("nothing").plan();
    QVERIFY(plan->blocked(plan->graph().findValue("nothing"))); // more outputs than the body has
}

void ControlTests::endlessLoopIsCancelled()
{
    Net net;
    net.input("x", DType::Float32).constant("k", floats({ 1 }));
    net.constant("trips", Tensor::scalar<int64_t>(int64_t(1) << 62));
    net.op("Loop", { "trips", "", "x" }, { "last" }, { { "body", body("Mul", "k") } }, { "k" }).output("last");
    const auto plan = net.plan();
    const CancelToken cancel;
    std::thread stopper([&cancel] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        cancel.cancel();
    });
    const auto made = runNet(plan, { floats({ 1 }) }, cancel);
    stopper.join();
    QVERIFY(!made.ok());
    QCOMPARE(made.issue().kind, IssueKind::Cancelled);
}

void ControlTests::loopIsNotFolded()
{
    // Planning would never end.
    Net net;
    net.constant("x", floats({ 1 })).constant("k", floats({ 1 }));
    net.constant("trips", Tensor::scalar<int64_t>(int64_t(1) << 62));
    net.op("Loop", { "trips", "", "x" }, { "last" }, { { "body", body("Mul", "k") } }, { "k" }).output("last");
    const auto plan = net.plan();
    QVERIFY(!plan->constant(plan->graph().findValue("last")) && plan->unsupported().empty());
}

void ControlTests::loopFacts()
{
    Net net;
    net.input("x", DType::Float32, toDims({ 2, 3 })).constant("k", Tensor::scalar(2.0f));
    net.input("trips", DType::Int64, Dims {});
    net.op("Loop", { "trips", "", "x" }, { "last", "all" }, { { "body", body("Mul", "k") } }, { "k" });
    const auto plan = net.output("last").output("all").plan();
    QCOMPARE(dimsText(*plan->facts().of(plan->graph().findValue("last")).dims), std::string("2x3"));
    QCOMPARE(dimsText(*plan->facts().of(plan->graph().findValue("all")).dims), std::string("?x2x3"));
}

/// Body: sum = state + row; outputs sum, and sum again to stack.
std::shared_ptr<const Graph> runningSum()
{
    return Net()
        .input("state", DType::Float32)
        .input("row", DType::Float32)
        .op("Add", { "state", "row" }, { "sum" })
        .op("Identity", { "sum" }, { "seen" })
        .output("sum")
        .output("seen")
        .graph();
}

void ControlTests::scanDirectionsAndAxes()
{
    const Tensor x = Tensor::of<float>({ 2, 3 }, { 1, 2, 3, 10, 20, 30 }); // scanned along axis 1
    const auto run = [&](int64_t inDirection, int64_t outDirection, int64_t outAxis) {
        Net net;
        net.input("start", DType::Float32, toDims({ 2 })).input("x", DType::Float32, toDims({ 2, 3 }));
        net.op("Scan", { "start", "x" }, { "last", "all" },
            { { "body", runningSum() }, { "num_scan_inputs", int64_t(1) },
                { "scan_input_axes", std::vector<int64_t> { -1 } },
                { "scan_input_directions", std::vector<int64_t> { inDirection } },
                { "scan_output_axes", std::vector<int64_t> { outAxis } },
                { "scan_output_directions", std::vector<int64_t> { outDirection } } });
        return runNet(net.output("last").output("all").plan(), { floats({ 0, 0 }), x });
    };
    QCOMPARE(numbers(run(0, 0, 0)), (std::vector<float> { 6, 60 }));
    QCOMPARE(numbers(run(0, 0, 0), 1), (std::vector<float> { 1, 10, 3, 30, 6, 60 }));
    QCOMPARE(numbers(run(0, 0, 1), 1), (std::vector<float> { 1, 3, 6, 10, 30, 60 }));
    QCOMPARE(numbers(run(1, 0, -1), 1), (std::vector<float> { 3, 5, 6, 30, 50, 60 }));
    QCOMPARE(numbers(run(1, 1, 1), 1), (std::vector<float> { 6, 5, 3, 60, 50, 30 }));
    QVERIFY(!run(0, 0, 5).ok());
}

void ControlTests::scanOfOpset8()
{
    Net net;
    net.opset(8).input("lengths", DType::Int64).input("start", DType::Float32).input("x", DType::Float32);
    net.op("Scan", { "lengths", "start", "x" }, { "last", "all" },
        { { "body", runningSum() }, { "num_scan_inputs", int64_t(1) }, { "directions", std::vector<int64_t> { 1 } } });
    const auto plan = net.output("last").output("all").plan();
    const Tensor start = Tensor::of<float>({ 2, 1 }, { 0, 100 });
    const Tensor x = Tensor::of<float>({ 2, 3, 1 }, { 1, 2, 3, 4, 5, 6 });
    const auto made = runNet(plan, { Tensor::of<int64_t>({ 2 }, { 3, 2 }), start, x });
    QCOMPARE(numbers(made), (std::vector<float> { 6, 109 }));
    QCOMPARE(numbers(made, 1), (std::vector<float> { 3, 5, 6, 105, 109, 0 }));
    QVERIFY(!runNet(plan, { Tensor::of<int64_t>({ 2 }, { 3, 4 }), start, x }).ok());
}

void ControlTests::scanLengthsMustAgree()
{
    const auto add = Net()
                         .input("a", DType::Float32)
                         .input("b", DType::Float32)
                         .op("Add", { "a", "b" }, { "c" })
                         .output("c")
                         .graph();
    Net net;
    net.input("x", DType::Float32).input("y", DType::Float32);
    net.op("Scan", { "x", "y" }, { "z" }, { { "body", add }, { "num_scan_inputs", int64_t(2) } });
    const auto plan = net.output("z").plan();
    QCOMPARE(numbers(runNet(plan, { floats({ 1, 2 }), floats({ 3, 4 }) })), (std::vector<float> { 4, 6 }));
    const auto made = runNet(plan, { floats({ 1, 2 }), floats({ 3 }) });
    QVERIFY(!made.ok() && made.issue().what.find("lengths") != std::string::npos);
}

int runControlTests(int argc, char** argv)
{
    ControlTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "control_test.moc"
