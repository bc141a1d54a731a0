// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/prepare/expand_bodies.h"
#include "core/prepare/prepare.h"
#endif
#include "core/tensor/convert.h"
#include "tests/prepare/running.h"
#include "tests/support/body_parts.h"

#include <QtTest>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

/// All outputs, one after the other.
std::vector<double> run(const GraphDraft& draft, const std::vector<Tensor>& inputs)
{
    const auto model = draft.build();
    if (!model.ok())
        return {};
    const auto plan = Plan::make(*model);
    const auto& outputs = plan->graph().outputs();
    return valuesOf(plan, { outputs.begin(), outputs.end() }, inputs);
}

Names typesOf(const GraphDraft& draft)
{
    Names found;
    for (const DraftNode& node : draft.nodes)
        found.push_back(node.opType);
    return found;
}

bool makes(const GraphDraft& draft, const std::string& value)
{
    return std::ranges::any_of(draft.nodes,
        [&](const DraftNode& node) { return std::ranges::find(node.outputs, value) != node.outputs.end(); });
}

/// y = Relu(rate == 16000 ? -x : x * factor); the branches' outputs have one name, and one branch passes `x` on.
Part rated()
{
    const auto fast = Part().outer({ "x" }).op("Neg", { "x" }, { "inner" }).output({ "inner", "x" }).graph();
    const auto slow = Part()
                          .outer({ "x" })
                          .constant("factor", Tensor::scalar(3.0f))
                          .op("Mul", { "x", "factor" }, { "inner" })
                          .output({ "inner", "inner" })
                          .graph();
    Part net;
    net.input("x", DType::Float32, Dims { { 4, "" } })
        .constant("sixteen", Tensor::scalar<int64_t>(16000))
        .op("Equal", { "rate", "sixteen" }, { "is_fast" })
        .op("If", { "is_fast" }, { "a", "b" }, { { "then_branch", fast }, { "else_branch", slow } }, { "x" })
        .op("Relu", { "a" }, { "y" })
        .output({ "y", "b" });
    return net;
}

Part recurrent(const std::vector<std::pair<std::string, AttributeValue>>& more, const Shape& xShape)
{
    std::vector<std::pair<std::string, AttributeValue>> attributes { { "body", cell() },
        { "num_scan_inputs", int64_t(1) } };
    attributes.insert(attributes.end(), more.begin(), more.end());
    Part net;
    net.input("start", DType::Float32, toDims({ 1, 3 }))
        .input("x", DType::Float32, Dims { { -1, "" }, { -1, "" }, { -1, "" } })
        .constant("w", noise({ 3, 3 }, 4))
        .op("Scan", { "start", "x" }, { "last", "all" }, attributes, { "w" })
        .output({ "last", "all" });
    Q_UNUSED(xShape)
    return net;
}

} // namespace

class ExpandBodiesTests : public QObject {
    Q_OBJECT
private slots:
    void constantConditionIsFolded_data();
    void constantConditionIsFolded();
    void inputDecidesWhereItIsKnown();
    void branchesInBranches();
    void conditionOfShapes();
    void fixedInputKeepsTheInterface();
    void wrongNamesAndShapes();
    void scanIsUnrolled_data();
    void scanIsUnrolled();
    void loopIsUnrolled_data();
    void loopIsUnrolled();
    void whatCannotBeUnrolled_data();
    void whatCannotBeUnrolled();
    void modelsWithoutBodiesStay();
};

void ExpandBodiesTests::constantConditionIsFolded_data()
{
    QTest::addColumn<int>("rate");
    QTest::newRow("then") << 16000;
    QTest::newRow("else") << 8000;
}

void ExpandBodiesTests::constantConditionIsFolded()
{
    QFETCH(int, rate);
    const auto net = [&] { return rated().constant("rate", Tensor::scalar<int64_t>(rate)).draft(); };
    GraphDraft folded = net();
    const auto report = foldBranches(folded);
    QVERIFY(report.ok());
    QCOMPARE(report->pass, std::string("fold_branches"));
    QCOMPARE(report->changes, size_t(1));
    QCOMPARE(std::ranges::count(typesOf(folded), "If"), 0);
    const auto taken = std::ranges::count_if(folded.nodes, [](const DraftNode& node) {
        return node.cameFrom && node.cameFrom->derivation->kind == Derivation::Kind::Branch
            && node.cameFrom->derivation->nodes.front().opType == "If";
    });
    QVERIFY(taken > 0);
    const std::vector<Tensor> x { Tensor::of<float>({ 4 }, { 1, -2, 3, -4 }) };
    const auto before = run(net(), x);
    QVERIFY(!before.empty());
    QCOMPARE(run(folded, x), before);
    auto prepared = net();
    QVERIFY(prepareGraph(prepared).ok());
    QCOMPARE(run(prepared, x), before);
}

void ExpandBodiesTests::inputDecidesWhereItIsKnown()
{
    const auto net = [] { return rated().input("rate", DType::Int64, Dims {}).draft(); };
    GraphDraft open = net();
    const auto kept = expandBodies(open);
    QVERIFY(kept.ok());
    QCOMPARE(kept->branches, size_t(0));
    QCOMPARE(kept->kept.size(), size_t(1));
    QCOMPARE(kept->kept[0].reason, std::string("its condition depends on what 'rate' holds"));
    KnownInputs known;
    known.values["rate"] = Tensor::scalar<int64_t>(8000);
    GraphDraft folded = net();
    const auto made = expandBodies(folded, known);
    QVERIFY(made.ok());
    QCOMPARE(made->branches, size_t(1));
    QVERIFY(!makes(folded, "is_fast")); // nobody needs the condition
    QCOMPARE(made->behind.values, (std::set<std::string> { "rate" }));
    QCOMPARE(folded.inputs(), net().inputs()); // what is known decides, and stays an input
    const std::vector<Tensor> inputs { noise({ 4 }, 1), Tensor::scalar<int64_t>(8000) };
    QCOMPARE(run(folded, inputs), run(net(), inputs));
}

void ExpandBodiesTests::branchesInBranches()
{
    const auto deep = Part().outer({ "m" }).op("Abs", { "m" }, { "d" }).output({ "d" }).graph();
    const auto flat = Part().outer({ "m" }).op("Neg", { "m" }, { "d" }).output({ "d" }).graph();
    const auto outer = Part()
                           .outer({ "x", "no" })
                           .op("Exp", { "x" }, { "m" })
                           .op("If", { "no" }, { "z" }, { { "then_branch", deep }, { "else_branch", flat } }, { "m" })
                           .output({ "z" })
                           .graph();
    const auto net = [&] {
        return Part()
            .input("x", DType::Float32, toDims({ 3 }))
            .constant("yes", truth(true))
            .constant("no", truth(false))
            .op("Neg", { "x" }, { "m" }) // the branch has a value of this name, too
            .op("If", { "yes" }, { "y" }, { { "then_branch", outer }, { "else_branch", outer } }, { "x", "no" })
            .op("Add", { "y", "m" }, { "sum" })
            .output({ "sum" })
            .draft();
    };
    GraphDraft folded = net();
    const auto made = expandBodies(folded);
    QVERIFY(made.ok());
    QCOMPARE(made->branches, size_t(2));
    const std::vector<Tensor> x { noise({ 3 }, 2) };
    const auto before = run(net(), x);
    QVERIFY(!before.empty());
    QCOMPARE(run(folded, x), before);
}

void ExpandBodiesTests::conditionOfShapes()
{
    const auto yes = Part().outer({ "x" }).op("Neg", { "x" }, { "r" }).output({ "r" }).graph();
    const auto no = Part().outer({ "x" }).op("Abs", { "x" }, { "r" }).output({ "r" }).graph();
    const auto net = [&] {
        return Part()
            .input("x", DType::Float32, Dims { { -1, "" }, { 2, "" } })
            .constant("zero", Tensor::scalar<int64_t>(0))
            .constant("one", Tensor::scalar<int64_t>(1))
            .op("Shape", { "x" }, { "sizes" })
            .op("Gather", { "sizes", "zero" }, { "rows" })
            .op("Equal", { "rows", "one" }, { "single" })
            .op("If", { "single" }, { "y" }, { { "then_branch", yes }, { "else_branch", no } }, { "x" })
            .output({ "y" })
            .draft();
    };
    GraphDraft open = net(), folded = net();
    QCOMPARE(expandBodies(open)->kept[0].reason, std::string("its condition depends on the size of 'x'"));
    KnownInputs known;
    known.shapes["x"] = { 3, 2 };
    QCOMPARE(expandBodies(folded, known)->branches, size_t(1));
    QCOMPARE(std::ranges::count(typesOf(folded), "Abs"), 1);
    QCOMPARE(run(folded, { noise({ 3, 2 }, 3) }), run(net(), { noise({ 3, 2 }, 3) }));
}

void ExpandBodiesTests::fixedInputKeepsTheInterface()
{
    GraphDraft fixed = rated().input("rate", DType::Int64, Dims {}).draft();
    KnownInputs known;
    known.values["rate"] = Tensor::scalar<int64_t>(16000);
    QVERIFY(fixInputs(fixed, known).ok());
    QCOMPARE(fixed.inputs(), (Names { "x", "rate" }));
    QCOMPARE(foldBranches(fixed)->changes, size_t(1));
    const auto inputs = [](int64_t rate) {
        return std::vector<Tensor> { noise({ 4 }, 1), Tensor::scalar<int64_t>(rate) };
    };
    const auto given = run(rated().input("rate", DType::Int64, Dims {}).draft(), inputs(16000));
    QVERIFY(!given.empty());
    QCOMPARE(run(fixed, inputs(16000)), given);
    QCOMPARE(run(fixed, inputs(8000)), given); // whatever it is given
}

void ExpandBodiesTests::wrongNamesAndShapes()
{
    const GraphDraft net = rated().input("rate", DType::Int64, Dims {}).draft();
    KnownInputs unknown, type, rank;
    unknown.values["speed"] = Tensor::scalar<int64_t>(1);
    type.values["rate"] = Tensor::scalar(1.0f);
    rank.shapes["x"] = { 4, 1 };
    for (const auto& [known, what] :
        { std::pair(unknown, "is no input"), std::pair(type, "is int64"), std::pair(rank, "has shape") }) {
        const auto made = withKnownInputs(net, known);
        QVERIFY(!made.ok());
        QVERIFY2(QString::fromStdString(made.issue().what).contains(what), made.issue().what.c_str());
        QVERIFY(!made.issue().remedy.empty());
    }
}

void ExpandBodiesTests::scanIsUnrolled_data()
{
    QTest::addColumn<QVariantList>("axes"); // input axis, input direction, output axis, output direction
    QTest::newRow("plain") << QVariantList { 0, 0, 0, 0 };
    QTest::newRow("backwards") << QVariantList { 0, 1, 0, 0 };
    QTest::newRow("stacked backwards") << QVariantList { 0, 1, 0, 1 };
    QTest::newRow("axes") << QVariantList { 1, 0, 1, 0 };
    QTest::newRow("last axes") << QVariantList { -1, 0, -1, 1 };
}

void ExpandBodiesTests::scanIsUnrolled()
{
    QFETCH(QVariantList, axes);
    const auto one = [&](qsizetype i) { return std::vector<int64_t> { axes[i].toInt() }; };
    const int64_t axis = axes[0].toInt();
    Shape shape { 1, 3 };
    shape.insert(axis < 0 ? shape.end() : shape.begin() + axis, 4);
    const auto net = [&] {
        return recurrent({ { "scan_input_axes", one(0) }, { "scan_input_directions", one(1) },
                             { "scan_output_axes", one(2) }, { "scan_output_directions", one(3) } },
            shape)
            .draft();
    };
    GraphDraft unrolled = net();
    KnownInputs known;
    known.shapes["x"] = shape;
    const auto made = expandBodies(unrolled, known, { .loops = true });
    QVERIFY(made.ok());
    QCOMPARE(made->loops, size_t(1));
    const std::vector<Tensor> inputs { noise({ 1, 3 }, 7), noise(shape, 8) };
    const auto before = run(net(), inputs);
    QVERIFY(!before.empty());
    QCOMPARE(run(unrolled, inputs), before);
    for (const std::string value : { "n_last/0/s", "n_last/3/s", "n_last/2/next", "u", "last" })
        QVERIFY2(makes(unrolled, value), value.c_str());
    QCOMPARE(std::ranges::count(typesOf(unrolled), "Neg"), 1); // what no iteration changes
    for (const DraftNode& node : unrolled.nodes) {
        const auto iteration = node.name == "n_last/2/n_s" ? std::optional<int64_t>(2) : std::nullopt;
        if (!iteration && node.opType != "Neg")
            continue;
        QVERIFY(node.cameFrom);
        QCOMPARE(node.cameFrom->derivation->nodes.front().name, std::string("n_last"));
        QVERIFY(node.cameFrom->derivation->iteration == iteration);
    }
    const auto sums = std::ranges::count(made->values, std::string("s"), &IterationValue::inner);
    QCOMPARE(sums, 4);
}

void ExpandBodiesTests::loopIsUnrolled_data()
{
    QTest::addColumn<bool>("list"); // what the body declares for the number of the iteration and the condition
    QTest::newRow("scalars") << false;
    QTest::newRow("lists of one") << true;
}

void ExpandBodiesTests::loopIsUnrolled()
{
    QFETCH(bool, list);
    const Dims counted = list ? toDims({ 1 }) : Dims {};
    const auto body = Part()
                          .outer({ "x" })
                          .input("i", DType::Int64, counted)
                          .input("go", DType::Bool, counted)
                          .input("state", DType::Float32, toDims({ 2 }))
                          .input("kept", DType::Float32, toDims({ 2 }))
                          .op("Identity", { "go" }, { "still" })
                          .op("Cast", { "i" }, { "number" }, { { "to", int64_t(1) } })
                          .op("Mul", { "x", "number" }, { "part" })
                          .op("Add", { "state", "part" }, { "next" })
                          .op("Shape", { "i" }, { "shape" })
                          .output({ "still", "next", "kept", "part", "shape" })
                          .graph();
    const auto net = [&] {
        return Part()
            .input("x", DType::Float32, toDims({ 2 }))
            .constant("trips", Tensor::scalar<int64_t>(3))
            .constant("on", truth(true))
            .op("Loop", { "trips", "on", "x", "x" }, { "sum", "same", "parts", "shapes" }, { { "body", body } },
                { "x" })
            .output({ "sum", "same", "parts", "shapes" })
            .draft();
    };
    GraphDraft unrolled = net();
    const auto made = expandBodies(unrolled, {}, { .loops = true });
    QVERIFY(made.ok());
    QCOMPARE(made->loops, size_t(1));
    const std::vector<Tensor> x { noise({ 2 }, 9) };
    const auto before = run(net(), x);
    QCOMPARE(before.size(), size_t(list ? 13 : 10));
    QCOMPARE(run(unrolled, x), before);
}

void ExpandBodiesTests::whatCannotBeUnrolled_data()
{
    QTest::addColumn<int>("rows"); // of x; -1: not known
    QTest::addColumn<int>("most");
    QTest::addColumn<QString>("reason");
    QTest::newRow("unknown length") << -1 << 64 << "its number of iterations depends on the size of 'x'";
    QTest::newRow("too long") << 9 << 8 << "it runs 9 times, and more than 8 are not looked at one by one";
    QTest::newRow("nothing to do") << 0 << 64 << "it runs no iteration";
}

void ExpandBodiesTests::whatCannotBeUnrolled()
{
    QFETCH(int, rows);
    QFETCH(int, most);
    QFETCH(QString, reason);
    GraphDraft net = recurrent({}, {}).draft();
    KnownInputs known;
    if (rows >= 0)
        known.shapes["x"] = { rows, 1, 3 };
    const auto made = expandBodies(net, known, { .loops = true, .mostIterations = most });
    QVERIFY(made.ok());
    QCOMPARE(made->loops, size_t(0));
    QCOMPARE(made->kept.size(), size_t(1));
    QCOMPARE(QString::fromStdString(made->kept[0].reason), reason);
    QCOMPARE(typesOf(net), (Names { "Scan" }));
}

void ExpandBodiesTests::modelsWithoutBodiesStay()
{
    GraphDraft net = Part().input("x").op("Relu", { "x" }, { "y" }).output({ "y" }).draft();
    const auto made = expandBodies(net, {}, { .loops = true });
    QVERIFY(made.ok());
    QVERIFY(made->branches == 0 && made->loops == 0 && made->kept.empty());
    QCOMPARE(net.nodes.size(), size_t(1));
}

QTEST_GUILESS_MAIN(ExpandBodiesTests)
#include "expand_bodies_test.moc"
