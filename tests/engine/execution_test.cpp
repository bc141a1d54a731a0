// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/parallel.h"
#include "core/engine/run/execution.h"
#include "core/tensor/convert.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

/// A graph under construction, with nodes named after their first outputs.
struct Net {
    GraphBuilder builder;

    ValueId input(const std::string& name, DType type, std::optional<Dims> dims)
    {
        const ValueId id = builder.value(name);
        builder.setType(id, { type, std::move(dims), {} });
        builder.addInput(id);
        return id;
    }
    void constant(const std::string& name, Tensor tensor)
    {
        builder.setInitializer(builder.value(name), std::move(tensor));
    }
    Node& op(const std::string& type, const std::vector<std::string>& inputs, const std::string& output)
    {
        Node node;
        node.name = output;
        node.opType = type;
        node.opset = 17;
        for (const std::string& name : inputs)
            node.inputs.push_back(builder.value(name));
        node.outputs = { builder.value(output) };
        nodes.push_back(std::move(node));
        return nodes.back();
    }
    std::shared_ptr<const Plan> plan(const std::vector<std::string>& outputs, KernelMode mode = KernelMode::Fast)
    {
        for (Node& node : nodes)
            builder.addNode(std::move(node));
        for (const std::string& name : outputs)
            builder.addOutput(builder.value(name));
        auto graph = std::move(builder).finish();
        if (!graph.ok())
            return nullptr;
        auto model = std::make_shared<Model>();
        model->path = "net.onnx";
        model->graph = std::move(*graph);
        return Plan::make(model, { mode });
    }
    std::vector<Node> nodes;
};

ValueId valueOf(const Plan& plan, const char* name) { return plan.graph().findValue(name); }

Demand demandOf(const Plan& plan, const std::vector<const char*>& names)
{
    Demand demand;
    for (const char* name : names)
        demand.values.push_back(valueOf(plan, name));
    return demand;
}

std::shared_ptr<const Schedule> scheduleOf(
    const std::shared_ptr<const Plan>& plan, const std::vector<const char*>& names)
{
    auto schedule = Schedule::make(plan, demandOf(*plan, names));
    return schedule.ok() ? *schedule : nullptr;
}

Dims unknown(size_t rank) { return Dims(rank); }

/// x -> a = Relu -> b = Neg -> c = Abs -> y = Add(c, a)
Net chain()
{
    Net net;
    net.input("x", DType::Float32, Dims { { -1, "N" }, { 4, {} } });
    net.op("Relu", { "x" }, "a");
    net.op("Neg", { "a" }, "b");
    net.op("Abs", { "b" }, "c");
    net.op("Add", { "c", "a" }, "y");
    return net;
}

/// A small convolutional network with a residual join; the same weights each time.
Net convNet()
{
    std::mt19937 random(42);
    Net net;
    net.input("x", DType::Float32, Dims { { -1, "N" }, { 3, {} }, { 13, {} }, { 11, {} } });
    net.constant("w1", normalFloats(random, { 8, 3, 3, 3 }, 0.2f));
    net.constant("b1", normalFloats(random, { 8 }, 0.1f));
    net.constant("w2", normalFloats(random, { 8, 1, 3, 3 }, 0.3f));
    net.constant("w3", normalFloats(random, { 8, 8, 1, 1 }, 0.3f));
    net.constant("fc", normalFloats(random, { 8, 5 }, 0.3f));
    net.constant("bias", normalFloats(random, { 5 }));
    Node& first = net.op("Conv", { "x", "w1", "b1" }, "conv1");
    first.attributes.set("pads", std::vector<int64_t> { 1, 0, 1, 2 });
    first.attributes.set("strides", std::vector<int64_t> { 2, 1 });
    net.op("Relu", { "conv1" }, "relu1");
    Node& depthwise = net.op("Conv", { "relu1", "w2" }, "conv2");
    depthwise.attributes.set("group", int64_t(8));
    depthwise.attributes.set("pads", std::vector<int64_t> { 1, 1, 1, 1 });
    net.op("Sigmoid", { "conv2" }, "gate");
    net.op("Conv", { "gate", "w3" }, "conv3");
    net.op("Add", { "conv3", "relu1" }, "join");
    Node& pool = net.op("MaxPool", { "join" }, "pool");
    pool.attributes.set("kernel_shape", std::vector<int64_t> { 2, 2 });
    pool.attributes.set("strides", std::vector<int64_t> { 2, 2 });
    net.op("GlobalAveragePool", { "pool" }, "gap");
    net.op("Flatten", { "gap" }, "flat");
    net.op("Gemm", { "flat", "fc", "bias" }, "logits");
    net.op("Softmax", { "logits" }, "y");
    return net;
}

} // namespace

class ExecutionTests : public QObject {
    Q_OBJECT
private slots:
    void foldsConstants();
    void foldsKnownSizes();
    void keepsUnfoldable();
    void unsupportedBlocksWhatDependsOnIt();
    void nodesWithoutOutputsAreBlocked();
    void attributesThatDoNotFitBlock();
    void runsOnlyWhatIsDemanded();
    void demandDoesNotChangeBits();
    void dropsValuesAfterTheirLastUse();
    void valueDemandedTwiceIsReleasedTwice();
    void constantsAndInputsOnDemand();
    void bindNamesTheTensor();
    void missingInputNamesTheTensor();
    void kernelErrorsNameNodeAndFile();
    void tooLargeResultsAreAnIssue();
    void stopsWhenCancelled();
    void leavesPiecesOutWhenCancelled();
    void estimatesPeak();
    void steadyMemory();
    void referenceAgreesWithFast();
    void workersShareOnePlan();
    void outputsThatNoOperatorHas();
};

void ExecutionTests::foldsConstants()
{
    Net net;
    net.input("x", DType::Float32, unknown(1));
    net.constant("two", Tensor::of<float>({ 1 }, { 2 }));
    net.op("Constant", {}, "three").attributes.set("value", Tensor::of<float>({ 1 }, { 3 }));
    net.op("Mul", { "two", "three" }, "six");
    net.op("Neg", { "six" }, "minus");
    net.op("Add", { "x", "minus" }, "y");
    const auto plan = net.plan({ "y", "minus" });
    QCOMPARE(toFloats(*plan->constant(valueOf(*plan, "minus"))), (std::vector<float> { -6 }));
    QCOMPARE(toFloats(*plan->constant(valueOf(*plan, "two"))), (std::vector<float> { 2 }));
    QVERIFY(!plan->constant(valueOf(*plan, "x")) && !plan->constant(valueOf(*plan, "y")));
    QVERIFY(plan->step(plan->graph().findNode("six")).folded && !plan->step(plan->graph().findNode("y")).folded);
    const auto schedule = scheduleOf(plan, { "y", "minus" });
    QCOMPARE(schedule->tasks().size(), size_t(1));
    QCOMPARE(schedule->tasks()[0].node, plan->graph().findNode("y"));
    BufferPool pool;
    Execution run(schedule, pool);
    QVERIFY(run.bind(std::vector { Tensor::of<float>({ 2 }, { 1, 10 }) }).ok());
    QVERIFY(run.runAll().ok());
    QCOMPARE(toFloats(run.get(valueOf(*plan, "y"))), (std::vector<float> { -5, 4 }));
    QCOMPARE(toFloats(run.get(valueOf(*plan, "minus"))), (std::vector<float> { -6 }));
}

/// Sizes that the file says are constants, and so is what follows from them; others wait for the data.
void ExecutionTests::foldsKnownSizes()
{
    Net net;
    net.input("x", DType::Float32, Dims { Dim { -1, "batch" }, Dim { 2, {} } });
    net.constant("at", Tensor::scalar<int64_t>(1));
    net.constant("first", Tensor::scalar<int64_t>(0));
    net.constant("table", Tensor::of<float>({ 4 }, { 5, 6, 7, 8 }));
    net.op("Shape", { "x" }, "shape");
    net.op("Gather", { "shape", "at" }, "columns");
    net.op("Gather", { "shape", "first" }, "rows");
    net.op("Shape", { "x" }, "last").attributes.set("start", int64_t(-1));
    net.op("Shape", { "x" }, "all").attributes.set("start", int64_t(0));
    net.op("Gather", { "last", "first" }, "last_columns");
    net.op("Gather", { "all", "at" }, "all_columns");
    net.op("Gather", { "table", "columns" }, "of_columns");
    net.op("Gather", { "table", "rows" }, "of_rows");
    net.op("NonZero", { "x" }, "places");
    net.op("Shape", { "places" }, "sizes");
    net.op("Gather", { "sizes", "at" }, "found");
    // Left over in the file from before it was changed: nothing is computed from that.
    net.builder.setType(net.builder.value("places"), { DType::Int64, Dims { Dim { 2, {} }, Dim { 3, {} } }, {} });
    const auto plan = net.plan({ "of_columns", "of_rows", "columns", "last_columns", "all_columns", "found" });
    QVERIFY(!plan->constant(valueOf(*plan, "sizes")) && !plan->constant(valueOf(*plan, "found")));
    for (const char* name : { "columns", "last_columns", "all_columns" })
        QCOMPARE(plan->constant(valueOf(*plan, name))->data<int64_t>()[0], int64_t(2));
    QVERIFY(plan->constant(valueOf(*plan, "of_columns")) && plan->constant(valueOf(*plan, "columns")));
    QVERIFY(!plan->constant(valueOf(*plan, "of_rows")) && !plan->constant(valueOf(*plan, "shape")));
    BufferPool pool;
    Execution run(scheduleOf(plan, { "of_columns", "of_rows", "columns", "found" }), pool);
    QVERIFY(run.bind(std::vector { Tensor::of<float>({ 3, 2 }, { 1, 2, 3, 4, 5, 6 }) }).ok());
    QVERIFY(run.runAll().ok());
    QCOMPARE(toFloats(run.get(valueOf(*plan, "of_columns"))), (std::vector<float> { 7 }));
    QCOMPARE(toFloats(run.get(valueOf(*plan, "of_rows"))), (std::vector<float> { 8 }));
    QCOMPARE(run.get(valueOf(*plan, "columns")).data<int64_t>()[0], int64_t(2));
    QCOMPARE(run.get(valueOf(*plan, "found")).data<int64_t>()[0], int64_t(6));
}

void ExecutionTests::keepsUnfoldable()
{
    Net net;
    net.constant("huge", Tensor::of<int64_t>({ 2 }, { 1 << 20, 1 << 20 }));
    net.constant("a", Tensor::of<float>({ 2 }, { 1, 2 }));
    net.constant("b", Tensor::of<float>({ 3 }, { 1, 2, 3 }));
    net.op("ConstantOfShape", { "huge" }, "terabytes");
    net.op("Add", { "a", "b" }, "clash");
    const auto plan = net.plan({ "terabytes", "clash" });
    QVERIFY(!plan->constant(valueOf(*plan, "terabytes")) && !plan->constant(valueOf(*plan, "clash")));
    BufferPool pool;
    Execution run(scheduleOf(plan, { "clash" }), pool);
    const Status status = run.runAll(); // the trouble is told when the node runs
    QVERIFY(!status.ok());
    QCOMPARE(status.issue().node, std::string("clash"));
}

/// A chain that began with one was joined to what its missing output is not read by.
void ExecutionTests::nodesWithoutOutputsAreBlocked()
{
    Net net;
    net.input("x", DType::Float32, unknown(1));
    net.op("Neg", { "x" }, "y");
    net.op("Relu", { "x" }, "nothing").outputs = { ValueId() };
    const auto plan = net.plan({ "y" });
    const auto unsupported = plan->unsupported();
    QCOMPARE(unsupported.size(), size_t(1));
    QCOMPARE(unsupported[0].second.node, std::string("nothing"));
    QVERIFY(!plan->constant(ValueId())); // an input that is absent
    QVERIFY(!plan->blocked(valueOf(*plan, "y")));
}

void ExecutionTests::unsupportedBlocksWhatDependsOnIt()
{
    Net net;
    net.input("x", DType::Float32, unknown(1));
    net.op("Relu", { "x" }, "fine");
    Node& strange = net.op("Frobnicate", { "fine" }, "strange");
    strange.domain = "acme";
    net.op("Neg", { "strange" }, "after");
    net.op("Abs", { "after" }, "later");
    net.op("Neg", { "fine" }, "side");
    const auto plan = net.plan({ "later", "side" });
    const auto unsupported = plan->unsupported();
    QCOMPARE(unsupported.size(), size_t(1));
    QCOMPARE(unsupported[0].second.node, std::string("strange"));
    QCOMPARE(unsupported[0].second.file, std::string("net.onnx"));
    QVERIFY(unsupported[0].second.what.find("acme.Frobnicate") != std::string::npos);
    QVERIFY(!plan->blocked(valueOf(*plan, "side")) && !plan->blocked(valueOf(*plan, "x")));
    for (const char* name : { "after", "later" }) {
        const Issue* issue = plan->blocked(valueOf(*plan, name));
        QVERIFY(issue);
        QVERIFY(issue->what.find("node 'strange'") != std::string::npos);
        QVERIFY(!plan->step(plan->graph().findNode(name)).ownReason);
        QVERIFY(!Schedule::make(plan, demandOf(*plan, { name })).ok());
    }
    QVERIFY(!Schedule::make(plan, { {}, { plan->graph().findNode("strange") } }).ok());
    BufferPool pool;
    Execution run(scheduleOf(plan, { "side" }), pool);
    QVERIFY(run.bind(std::vector { Tensor::of<float>({ 2 }, { -1, 2 }) }).ok() && run.runAll().ok());
    QCOMPARE(toFloats(run.get(valueOf(*plan, "side"))), (std::vector<float> { 0, -2 }));
}

void ExecutionTests::attributesThatDoNotFitBlock()
{
    Net net;
    net.input("x", DType::Complex64, unknown(1));
    net.op("Relu", { "x" }, "y");
    const auto plan = net.plan({ "y" });
    QCOMPARE(plan->unsupported().size(), size_t(1));
    QVERIFY(plan->unsupported()[0].second.what.find("complex64") != std::string::npos);
}

void ExecutionTests::runsOnlyWhatIsDemanded()
{
    const auto plan = chain().plan({ "y" });
    QCOMPARE(scheduleOf(plan, { "b" })->tasks().size(), size_t(2));
    QCOMPARE(scheduleOf(plan, { "y", "b" })->tasks().size(), size_t(4));
    QVERIFY(scheduleOf(plan, { "x" })->tasks().empty());
    QVERIFY(scheduleOf(plan, {})->tasks().empty());
}

void ExecutionTests::demandDoesNotChangeBits()
{
    std::mt19937 random(5);
    const auto plan = convNet().plan({ "y" });
    QVERIFY(plan->unsupported().empty());
    const std::vector<Tensor> inputs { normalFloats(random, { 2, 3, 13, 11 }) };
    BufferPool pool;
    Execution outputOnly(scheduleOf(plan, { "y" }), pool);
    QVERIFY(outputOnly.bind(inputs).ok() && outputOnly.runAll().ok());
    const std::vector<const char*> names { "y", "conv1", "relu1", "conv2", "gate", "join", "pool", "logits" };
    Execution everything(scheduleOf(plan, names), pool);
    QVERIFY(everything.bind(inputs).ok() && everything.runAll().ok());
    QVERIFY(sameBits(toPlain(outputOnly.get(valueOf(*plan, "y"))), toPlain(everything.get(valueOf(*plan, "y")))));
    for (const char* name : names) {
        Execution alone(scheduleOf(plan, { name }), pool);
        QVERIFY(alone.bind(inputs).ok() && alone.runAll().ok());
        QVERIFY2(
            sameBits(toPlain(alone.get(valueOf(*plan, name))), toPlain(everything.get(valueOf(*plan, name)))), name);
    }
}

void ExecutionTests::dropsValuesAfterTheirLastUse()
{
    const auto plan = chain().plan({ "y" });
    BufferPool pool;
    Execution run(scheduleOf(plan, { "y", "b" }), pool);
    QVERIFY(run.bind(std::vector { Tensor::of<float>({ 1, 4 }, { -1, 1, 2, 3 }) }).ok());
    auto alive = [&] {
        QString names;
        for (const char* name : { "x", "a", "b", "c", "y" })
            if (run.has(valueOf(*plan, name)))
                names += name;
        return names;
    };
    QCOMPARE(alive(), QString("x"));
    for (const char* expected : { "a", "ab", "abc", "by" }) {
        QVERIFY(!run.finished());
        QVERIFY(run.step().ok());
        QCOMPARE(alive(), QString(expected));
    }
    QVERIFY(run.finished());
    run.release(valueOf(*plan, "b"));
    run.release(valueOf(*plan, "b"));
    QCOMPARE(alive(), QString("y"));
    QCOMPARE(toFloats(run.get(valueOf(*plan, "y"))), (std::vector<float> { 0, 2, 4, 6 }));
}

void ExecutionTests::valueDemandedTwiceIsReleasedTwice()
{
    const auto plan = chain().plan({ "y" });
    BufferPool pool;
    Execution run(scheduleOf(plan, { "y", "y" }), pool);
    QVERIFY(run.bind(std::vector { Tensor::of<float>({ 1, 4 }, { 1, 2, 3, 4 }) }).ok() && run.runAll().ok());
    run.release(valueOf(*plan, "y"));
    QVERIFY(run.has(valueOf(*plan, "y")));
    run.release(valueOf(*plan, "y"));
    QVERIFY(!run.has(valueOf(*plan, "y")));
}

void ExecutionTests::constantsAndInputsOnDemand()
{
    Net net = chain();
    net.constant("w", Tensor::scalar(3.0f));
    const auto plan = net.plan({ "y" });
    BufferPool pool;
    Execution run(scheduleOf(plan, { "x", "w" }), pool);
    const Tensor x = Tensor::of<float>({ 1, 4 }, { 1, 2, 3, 4 });
    QVERIFY(run.bind(std::vector { x }).ok() && run.finished());
    QCOMPARE(run.get(valueOf(*plan, "x")).bytes().data(), x.bytes().data());
    run.release(valueOf(*plan, "w"));
    QCOMPARE(toFloats(run.get(valueOf(*plan, "w"))), (std::vector<float> { 3 }));
}

void ExecutionTests::bindNamesTheTensor()
{
    const auto plan = chain().plan({ "y" });
    BufferPool pool;
    Execution run(scheduleOf(plan, { "y" }), pool);
    const Tensor wrong[] = { Tensor::of<double>({ 1, 4 }, { 1, 2, 3, 4 }), Tensor::of<float>({ 4 }, { 1, 2, 3, 4 }),
        Tensor::of<float>({ 1, 3 }, { 1, 2, 3 }) };
    for (const Tensor& t : wrong) {
        const Status status = run.bind(std::vector { t });
        QVERIFY(!status.ok());
        QCOMPARE(status.issue().tensor, std::string("x"));
        QCOMPARE(status.issue().file, std::string("net.onnx"));
    }
    QVERIFY(run.bind(std::vector { wrong[0] }).issue().what.find("float64") != std::string::npos);
    QVERIFY(run.bind(std::vector { wrong[2] }).issue().what.find("Nx4") != std::string::npos);
    QVERIFY(!run.bind({}).ok());
    QVERIFY(run.bind(std::vector { Tensor::of<float>({ 7, 4 }, std::vector<float>(28)) }).ok()); // any N
}

void ExecutionTests::missingInputNamesTheTensor()
{
    const auto plan = chain().plan({ "y" });
    BufferPool pool;
    Execution run(scheduleOf(plan, { "y" }), pool);
    QVERIFY(run.bind(std::vector { Tensor() }).ok());
    const Status status = run.runAll();
    QVERIFY(!status.ok());
    QCOMPARE(status.issue().tensor, std::string("x"));
    QCOMPARE(status.issue().node, std::string("a"));
}

void ExecutionTests::kernelErrorsNameNodeAndFile()
{
    Net net;
    net.input("p", DType::Float32, std::nullopt);
    net.input("q", DType::Float32, std::nullopt);
    net.op("Add", { "p", "q" }, "sum");
    const auto plan = net.plan({ "sum" });
    BufferPool pool;
    Execution run(scheduleOf(plan, { "sum" }), pool);
    QVERIFY(run.bind(std::vector { Tensor::of<float>({ 2 }, { 1, 2 }), Tensor::of<float>({ 3 }, { 1, 2, 3 }) }).ok());
    const Status status = run.runAll();
    QVERIFY(!status.ok());
    QCOMPARE(status.issue().kind, IssueKind::BadInput);
    QCOMPARE(status.issue().node, std::string("sum"));
    QCOMPARE(status.issue().file, std::string("net.onnx"));
}

void ExecutionTests::tooLargeResultsAreAnIssue()
{
#ifdef __SANITIZE_ADDRESS__
    QSKIP("the address sanitizer ends the process at such sizes");
#endif
    Net net;
    net.input("shape", DType::Int64, Dims { { 2, {} } });
    net.constant("one", Tensor::of<float>({ 1 }, { 1 }));
    net.op("Expand", { "one", "shape" }, "y");
    const auto plan = net.plan({ "y" });
    for (int64_t size : { int64_t(1) << 28, int64_t(1) << 31, int64_t(1) << 40, int64_t(-5) }) {
        BufferPool pool;
        Execution run(scheduleOf(plan, { "y" }), pool);
        QVERIFY(run.bind(std::vector { Tensor::of<int64_t>({ 2 }, { size, int64_t(1) << 31 }) }).ok());
        const Status status = run.runAll();
        QVERIFY(!status.ok());
        QCOMPARE(status.issue().kind, IssueKind::BadInput);
        QCOMPARE(status.issue().node, std::string("y"));
    }
}

void ExecutionTests::stopsWhenCancelled()
{
    const auto plan = chain().plan({ "y" });
    BufferPool pool;
    Execution run(scheduleOf(plan, { "y", "b" }), pool); // several steps
    QVERIFY(run.bind(std::vector { Tensor::of<float>({ 1, 4 }, { 1, 2, 3, 4 }) }).ok());
    QVERIFY(run.step().ok());
    const CancelToken cancel;
    cancel.cancel();
    const Status status = run.runAll(cancel);
    QVERIFY(!status.ok());
    QCOMPARE(status.issue().kind, IssueKind::Cancelled);
    QVERIFY(run.runAll().ok()); // nothing was lost
    QCOMPARE(toFloats(run.get(valueOf(*plan, "y"))), (std::vector<float> { 2, 4, 6, 8 }));
}

void ExecutionTests::leavesPiecesOutWhenCancelled()
{
    for (size_t threads : { 1, 3 }) {
        BufferPool pool;
        WorkerTeam team(threads);
        const CancelToken cancel;
        StepContext step({}, {}, pool, {}, &cancel);
        step.useTeam(&team);
        std::atomic<size_t> done = 0;
        step.parallel(1000, [&](size_t, size_t) {
            if (++done == 5)
                cancel.cancel();
        });
        QVERIFY(done < 1000);
        QVERIFY(threads > 1 || done == 5);
    }
}

void ExecutionTests::estimatesPeak()
{
    Net net;
    net.input("x", DType::Float32, toDims({ 1, 1000 }));
    net.op("Relu", { "x" }, "a");
    net.op("Neg", { "a" }, "b");
    net.op("Abs", { "b" }, "c");
    net.op("Add", { "c", "a" }, "y");
    const auto plan = net.plan({ "y" });
    // One pass from x to y.
    QCOMPARE(scheduleOf(plan, { "y" })->estimatedPeakBytes(), uint64_t(2 * 4000));
    // a, b and c are alive while c is made; then a, c and y.
    QCOMPARE(scheduleOf(plan, { "y", "c" })->estimatedPeakBytes(), uint64_t(3 * 4000));
    QCOMPARE(scheduleOf(plan, { "y", "b" })->estimatedPeakBytes(), uint64_t(4 * 4000));
    QCOMPARE(scheduleOf(plan, { "a" })->estimatedPeakBytes(), uint64_t(2 * 4000));
    const auto open = chain().plan({ "y" });
    QCOMPARE(scheduleOf(open, { "y" })->estimatedPeakBytes(), uint64_t(2 * 16)); // N counts as 1
    Net huge;
    huge.input("x", DType::Float32, toDims({ int64_t(1) << 40, int64_t(1) << 40 }));
    huge.op("Relu", { "x" }, "y");
    QVERIFY(scheduleOf(huge.plan({ "y" }), { "y" })->estimatedPeakBytes() > uint64_t(1) << 60);
}

void ExecutionTests::steadyMemory()
{
    std::mt19937 random(8);
    const auto plan = convNet().plan({ "y" });
    const auto schedule = scheduleOf(plan, { "y", "relu1" });
    BufferPool pool;
    size_t peak = 0;
    for (int sample = 0; sample < 6; ++sample) {
        Execution run(schedule, pool);
        QVERIFY(run.bind(std::vector { normalFloats(random, { 1, 3, 13, 11 }) }).ok() && run.runAll().ok());
        if (sample == 1)
            peak = pool.peakBytes();
    }
    QCOMPARE(pool.peakBytes(), peak);
}

void ExecutionTests::referenceAgreesWithFast()
{
    const unsigned seed = 2024;
    qInfo("seed %u", seed);
    std::mt19937 random(seed);
    const std::vector<Tensor> inputs { normalFloats(random, { 2, 3, 13, 11 }) };
    const std::vector<const char*> names { "conv1", "relu1", "conv2", "gate", "conv3", "join", "pool", "gap", "logits",
        "y" };
    const auto fast = convNet().plan({ "y" }, KernelMode::Fast);
    const auto reference = convNet().plan({ "y" }, KernelMode::Reference);
    BufferPool pool;
    Execution f(scheduleOf(fast, names), pool), r(scheduleOf(reference, names), pool);
    QVERIFY(f.bind(inputs).ok() && r.bind(inputs).ok() && f.runAll().ok() && r.runAll().ok());
    for (const char* name : names) {
        const Tensor& a = f.get(valueOf(*fast, name));
        const Tensor& b = r.get(valueOf(*reference, name));
        QCOMPARE(a.shape(), b.shape());
        QCOMPARE(toDims(a.shape()).size(), fast->facts().of(valueOf(*fast, name)).dims->size());
        const auto x = toDoubles(a), y = toDoubles(b);
        for (size_t i = 0; i < x.size(); ++i)
            QVERIFY2(std::fabs(x[i] - y[i]) <= 1e-5 * (1 + std::fabs(y[i])), name);
    }
}

void ExecutionTests::workersShareOnePlan()
{
    std::mt19937 random(3);
    const auto plan = convNet().plan({ "y" });
    const auto schedule = scheduleOf(plan, { "y" });
    std::vector<Tensor> inputs, expected(12), got(12);
    for (int i = 0; i < 12; ++i) // sizes differ, so that steps made for one size meet another
        inputs.push_back(normalFloats(random, { 1 + i % 3, 3, 13, 11 }));
    for (size_t threads : { 1, 4 }) {
        auto& results = threads == 1 ? expected : got;
        std::vector<BufferPool> pools(threads);
        parallelFor(inputs.size(), threads, [&](size_t i, size_t worker) {
            Execution run(schedule, pools[worker]);
            if (run.bind(std::span(&inputs[i], 1)).ok() && run.runAll().ok())
                results[i] = run.get(valueOf(*plan, "y"));
        });
    }
    for (size_t i = 0; i < inputs.size(); ++i)
        QVERIFY(sameBits(toPlain(expected[i]), toPlain(got[i])));
}

/// A file may name more outputs than the operator makes.
void ExecutionTests::outputsThatNoOperatorHas()
{
    Net net;
    net.input("x", DType::Float32, unknown(1));
    net.op("Relu", { "x" }, "y").outputs.push_back(net.builder.value("z"));
    net.op("Neg", { "z" }, "w");
    const auto plan = net.plan({ "y", "z", "w" });
    const std::vector<Tensor> inputs { Tensor::of<float>({ 2 }, { -1, 2 }) };
    for (const char* wanted : { "z", "w" }) {
        BufferPool pool;
        Execution run(scheduleOf(plan, { wanted }), pool);
        QVERIFY(run.bind(inputs).ok());
        const Status status = run.runAll();
        QVERIFY(!status.ok());
        QCOMPARE(status.issue().kind, IssueKind::BadInput);
        QCOMPARE(status.issue().node, std::string("y"));
        QCOMPARE(status.issue().tensor, std::string("z"));
    }
    BufferPool pool;
    Execution run(scheduleOf(plan, { "y" }), pool);
    QVERIFY(run.bind(inputs).ok() && run.runAll().ok());
}

int runExecutionTests(int argc, char** argv)
{
    ExecutionTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "execution_test.moc"
