// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/engine/lowered/content_key.h"
#include "core/engine/registry/registry.h"
#include "core/tensor/container.h"
#include "tests/engine/net.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

namespace {

using Ints = std::vector<int64_t>;
using Settings = std::vector<std::pair<std::string, AttributeValue>>;

Tensor ints(const Ints& values) { return Tensor::of<int64_t>({ int64_t(values.size()) }, values); }
Tensor one(int64_t value) { return Tensor::scalar<int64_t>(value); }
Tensor floatSequence(const std::vector<std::vector<float>>& items)
{
    std::vector<Tensor> tensors;
    for (const auto& item : items)
        tensors.push_back(floats(item));
    return makeSequence(std::move(tensors), DType::Float32);
}

/// Elements of a sequence, or of a tensor as the only one; "empty" for an optional without a value.
QString text(const Tensor& t)
{
    if (t.dtype() == DType::NoValue)
        return "empty";
    if (t.dtype() == DType::String) {
        QStringList words;
        for (const std::string& word : t.stringData())
            words << QString::fromStdString(word);
        return words.join(",");
    }
    if (t.dtype() == DType::Map)
        return "{" + text(itemsOf(t)[0]) + " to " + text(itemsOf(t)[1]) + "}";
    QStringList items;
    const Tensor self[] { t };
    for (const Tensor& item : t.dtype() == DType::Sequence ? itemsOf(t) : std::span<const Tensor>(self)) {
        if (item.dtype() == DType::Map) {
            items << text(item);
            continue;
        }
        QStringList values;
        for (const double value : toDoubles(item))
            values << QString::number(value);
        items << "[" + QString::fromStdString(item.rank() ? shapeText(item.shape()) : "") + "]:" + values.join(",");
    }
    return items.join(" ");
}

QString text(const Result<std::vector<Tensor>>& made)
{
    return made.ok() ? text((*made)[0]) : "issue: " + QString::fromStdString(issueText(made.issue()));
}

/// One node on inputs a, b, c of unknown types.
Result<std::vector<Tensor>> runOne(const std::string& type, const std::vector<Tensor>& inputs,
    const Settings& attributes = {}, const std::string& domain = {})
{
    Net net;
    net.domain(domain);
    Names names;
    for (size_t i = 0; i < inputs.size(); ++i) {
        names.emplace_back(1, char('a' + i));
        net.input(names.back(), DType::Undefined);
    }
    return runNet(net.op(type, names, { "y" }, attributes).output("y").plan(), inputs);
}

} // namespace

class SequenceTests : public QObject {
    Q_OBJECT
private slots:
    void operators_data();
    void operators();
    void maps();
    void containersAreEmptyTensors();
    void othersRefuseContainers();
    void factsOfElements();
    void anythingMayFollowASplit();
    void ifChoosesBetweenSequences();
    void loopBuildsASequence();
    void loopStartsWithAnEmptyOptional();
    void loopCannotStackSequences();
    void mapRunsItsBody();
    void keysTellSequencesApart();
    void flexAttentionSharesKeyHeads();
    void flexAttentionModifiesScores();
};

void SequenceTests::operators_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<std::vector<Tensor>>("inputs");
    QTest::addColumn<Settings>("attributes");
    QTest::addColumn<QString>("wanted");
    const auto row = [](const char* name, const char* type, const std::vector<Tensor>& inputs, const char* wanted,
                         const Settings& attributes = {}) {
        QTest::newRow(name) << QString(type) << inputs << attributes << QString(wanted);
    };
    const Tensor two = floatSequence({ { 1, 2 }, { 3 } });
    const Tensor matrix = Tensor::of<float>({ 2, 3 }, { 1, 2, 3, 4, 5, 6 });
    const Settings axis1 { { "axis", int64_t(1) } }, flat { { "axis", int64_t(1) }, { "keepdims", int64_t(0) } };
    row("construct", "SequenceConstruct", { floats({ 1 }), floats({ 2, 3 }) }, "[1]:1 [2]:2,3");
    row("construct mixed", "SequenceConstruct", { floats({ 1 }), ints({ 2 }) },
        "issue: net.onnx: node 'y': a sequence of float32 cannot hold a int64");
    row("construct nested", "SequenceConstruct", { two },
        "issue: net.onnx: node 'y': SequenceConstruct needs a tensor, but 'a' is a sequence");
    row("insert nested in an empty one", "SequenceInsert", { makeSequence({}, DType::Undefined), two },
        "issue: net.onnx: node 'y': an element of a sequence cannot be a sequence");
    row("split of a sequence", "SplitToSequence", { two },
        "issue: net.onnx: node 'y': SplitToSequence needs a tensor, but 'a' is a sequence");
    row("empty", "SequenceEmpty", {}, "");
    row("at", "SequenceAt", { two, one(1) }, "[1]:3");
    row("at from the end", "SequenceAt", { two, one(-2) }, "[2]:1,2");
    row("at outside", "SequenceAt", { two, one(2) },
        "issue: net.onnx: node 'y': position 2 is outside of a sequence of 2");
    row("at most negative", "SequenceAt", { two, one(INT64_MIN) },
        "issue: net.onnx: node 'y': position -9223372036854775808 is outside of a sequence of 2");
    row("at of a tensor", "SequenceAt", { matrix, one(0) },
        "issue: net.onnx: node 'y': its input 0 is float32, not a sequence");
    row("insert", "SequenceInsert", { two, floats({ 9 }) }, "[2]:1,2 [1]:3 [1]:9");
    row("insert at front", "SequenceInsert", { two, floats({ 9 }), one(0) }, "[1]:9 [2]:1,2 [1]:3");
    row("insert at end", "SequenceInsert", { two, floats({ 9 }), one(2) }, "[2]:1,2 [1]:3 [1]:9");
    row("insert before the last", "SequenceInsert", { two, floats({ 9 }), one(-1) }, "[2]:1,2 [1]:9 [1]:3");
    row("insert another type", "SequenceInsert", { two, ints({ 9 }) },
        "issue: net.onnx: node 'y': a sequence of float32 cannot hold a int64");
    row("erase", "SequenceErase", { two }, "[2]:1,2");
    row("erase the first", "SequenceErase", { two, one(0) }, "[1]:3");
    row("erase from nothing", "SequenceErase", { floatSequence({}) },
        "issue: net.onnx: node 'y': an empty sequence has nothing to erase");
    row("length", "SequenceLength", { two }, "[]:2");
    row("split in ones", "SplitToSequence", { matrix }, "[1x3]:1,2,3 [1x3]:4,5,6");
    row("split without axis", "SplitToSequence", { matrix }, "[2]:1,4 [2]:2,5 [2]:3,6", flat);
    row("split by two", "SplitToSequence", { matrix, one(2) }, "[2x2]:1,2,4,5 [2x1]:3,6", axis1);
    row("split by sizes", "SplitToSequence", { matrix, ints({ 1, 0, 2 }) }, "[2x1]:1,4 [2x0]: [2x2]:2,3,5,6", axis1);
    row("split keeps axes when sizes are given", "SplitToSequence", { matrix, ints({ 3 }) }, "[2x3]:1,2,3,4,5,6", flat);
    row("split sums", "SplitToSequence", { matrix, ints({ 1, 1 }) },
        "issue: net.onnx: node 'y': split adds up to 2, but the axis has 3", axis1);
    row("split by zero", "SplitToSequence", { matrix, one(0) },
        "issue: net.onnx: node 'y': split is 0, but parts need a size", axis1);
    row("split into too many", "SplitToSequence", { Tensor::of<float>({ 0, int64_t(1) << 40 }, {}) },
        "issue: net.onnx: node 'y': it would split an axis of 1099511627776 into more than 1048576 parts", axis1);
    row("concat", "ConcatFromSequence", { two }, "[3]:1,2,3", { { "axis", int64_t(0) } });
    row("stack", "ConcatFromSequence", { floatSequence({ { 1, 2 }, { 3, 4 } }) }, "[2x2]:1,3,2,4",
        { { "axis", int64_t(-1) }, { "new_axis", int64_t(1) } });
    row("stack of unlike", "ConcatFromSequence", { two },
        "issue: net.onnx: node 'y': its elements do not fit together: 2 and 1",
        { { "axis", int64_t(0) }, { "new_axis", int64_t(1) } });
    row("concat of nothing", "ConcatFromSequence", { floatSequence({}) },
        "issue: net.onnx: node 'y': an empty sequence cannot be concatenated: nothing says the shape");
    row("optional", "Optional", { two }, "[2]:1,2 [1]:3");
    row("empty optional", "Optional", {}, "empty");
    row("get", "OptionalGetElement", { matrix }, "[2x3]:1,2,3,4,5,6");
    row("get nothing", "OptionalGetElement", { makeNoValue() },
        "issue: net.onnx: node 'y': the optional is empty, so that there is no element to get");
    row("has", "OptionalHasElement", { two }, "[]:1");
    row("has none", "OptionalHasElement", { makeNoValue() }, "[]:0");
    row("has no input", "OptionalHasElement", {}, "[]:0");
    row("identity", "Identity", { two }, "[2]:1,2 [1]:3");
}

void SequenceTests::operators()
{
    QFETCH(QString, type);
    QFETCH(std::vector<Tensor>, inputs);
    QFETCH(Settings, attributes);
    QFETCH(QString, wanted);
    const QString got = text(runOne(type.toStdString(), inputs, attributes));
    QVERIFY2(got == wanted || (wanted.startsWith("issue") && got.startsWith(wanted)), qPrintable(got));
}

/// As ONNX Runtime computes them.
void SequenceTests::maps()
{
    const auto ml = [](const char* type, const Tensor& input, const Settings& attributes) {
        return text(runOne(type, { input }, attributes, "ai.onnx.ml"));
    };
    const std::vector<std::string> words { "a", "b" };
    QCOMPARE(ml("ZipMap", Tensor::of<float>({ 2, 2 }, { 1, 2, 3, 4 }), { { "classlabels_strings", words } }),
        QString("{a,b to [2]:1,2} {a,b to [2]:3,4}"));
    QCOMPARE(
        ml("ZipMap", floats({ 5, 6 }), { { "classlabels_int64s", Ints { 7, 8 } } }), QString("{[2]:7,8 to [2]:5,6}"));
    QVERIFY(ml("ZipMap", floats({ 5, 6, 7 }), { { "classlabels_strings", words } }).contains("2 class labels for 3"));

    const Tensor scores = makeMap(Tensor::strings({ 3 }, { "b", "z", "a" }), floats({ 1.5, 3, 2 }));
    QCOMPARE(ml("DictVectorizer", scores, { { "string_vocabulary", std::vector<std::string> { "a", "q", "b" } } }),
        QString("[1x3]:2,0,1.5"));
    QVERIFY(ml("DictVectorizer", scores, { { "int64_vocabulary", Ints { 1 } } }).contains("does not fit the keys"));
    QVERIFY(ml("DictVectorizer", floats({ 1 }), { { "int64_vocabulary", Ints { 1 } } }).contains("not a map"));

    const Tensor numbers = makeMap(ints({ 4, 1 }), floats({ 1.5, -2.75 }));
    const std::pair<std::string, AttributeValue> sparse { "map_form", std::string("SPARSE") },
        six { "max_map", int64_t(6) }, toInt { "cast_to", std::string("TO_INT64") },
        toText { "cast_to", std::string("TO_STRING") };
    QCOMPARE(ml("CastMap", numbers, {}), QString("[1x2]:-2.75,1.5"));
    QCOMPARE(ml("CastMap", numbers, { sparse, six }), QString("[1x6]:0,-2.75,0,0,1.5,0"));
    QCOMPARE(ml("CastMap", numbers, { toInt }), QString("[1x2]:-2,1"));
    QCOMPARE(ml("CastMap", numbers, { toText, sparse, six }), QString("0.f,-2.750000,0.f,0.f,1.500000,0.f"));
    QVERIFY(ml("CastMap", numbers, { sparse }).contains("key 1 is outside of 0..0"));
    const Tensor told = makeMap(ints({ 1, 2 }), Tensor::strings({ 2 }, { "2.5", "many" }));
    QVERIFY(ml("CastMap", told, {}).contains("'many' is no number"));
}

void SequenceTests::containersAreEmptyTensors()
{
    for (const Tensor& t : { floatSequence({ { 1 } }), makeNoValue(), makeMap(ints({ 1 }), floats({ 2 })) }) {
        QCOMPARE(t.count(), 0);
        QCOMPARE(t.byteCount(), size_t(0));
        QVERIFY(!isFloat(t.dtype()) && !isInteger(t.dtype()));
        QVERIFY(toDoubles(t).empty());
        QVERIFY(itemsOf(Tensor::allocate(t.dtype(), { 5 })).empty());
    }
}

void SequenceTests::othersRefuseContainers()
{
    // Known before the run, and found out in it.
    Net net;
    const auto plan = net.op("SequenceEmpty", {}, { "s" }).op("Relu", { "s" }, { "y" }).output("y").plan();
    QCOMPARE(plan->unsupported().size(), size_t(1));
    QVERIFY(plan->unsupported()[0].second.what.find("sequence") != std::string::npos);
    for (const auto& [key, lower] : loweringRegistry().all()) {
        if (key.second.find("Sequence") != std::string::npos || key.second.starts_with("Optional"))
            continue;
        Net other;
        for (const char* name : { "a", "b", "c" })
            other.input(name, DType::Undefined);
        const auto made = runNet(other.op(key.second, { "a", "b", "c" }, { "y" }).output("y").plan(),
            { floatSequence({ { 1 } }), floatSequence({}), makeNoValue() });
        QVERIFY2(!made.ok() || key.second == "Identity", key.second.c_str());
    }
}

void SequenceTests::factsOfElements()
{
    Net net;
    net.input("x", DType::Float16, Dims { { -1, "N" }, { 6, {} } }).constant("two", one(2)).constant("zero", one(0));
    net.op("SplitToSequence", { "x", "two" }, { "parts" }, { { "axis", int64_t(1) } });
    net.op("SequenceAt", { "parts", "zero" }, { "part" });
    net.op("SequenceInsert", { "parts", "x" }, { "more" });
    net.op("ConcatFromSequence", { "more" }, { "all" }, { { "axis", int64_t(0) } });
    const auto plan = net.output("all").output("part").plan();
    const auto factOf = [&](const char* name) { return plan->facts().of(plan->graph().findValue(name)); };
    QCOMPARE(factOf("parts").dtype, DType::Sequence);
    QCOMPARE(factOf("part").dtype, DType::Float16);
    QCOMPARE(dimsText(*factOf("part").dims), std::string("Nx2"));
    QCOMPARE(factOf("all").dtype, DType::Float16);
    QVERIFY(!(*factOf("all").dims)[1].known());
}

/// A tensor of a sequence is a tensor like any other, with fast kernels and in-place ones behind it.
void SequenceTests::anythingMayFollowASplit()
{
    Net net;
    net.input("x", DType::Float32, Dims { { 2, {} }, { 2, {} } }).constant("zero", one(0)).constant("last", one(-1));
    net.op("Neg", { "x" }, { "minus" }).op("SplitToSequence", { "minus" }, { "rows" });
    net.op("SequenceAt", { "rows", "zero" }, { "first" }).op("SequenceAt", { "rows", "last" }, { "second" });
    net.op("Abs", { "first" }, { "abs" }).op("Add", { "abs", "second" }, { "sum" });
    net.op("SequenceAt", { "rows", "zero" }, { "again" }).op("Add", { "sum", "again" }, { "y" }).output("y");
    QCOMPARE(text(runNet(net.plan(), { Tensor::of<float>({ 2, 2 }, { 1, 2, 3, 4 }) })), QString("[1x2]:-3,-4"));
}

void SequenceTests::ifChoosesBetweenSequences()
{
    const auto some = Net().outer({ "x" }).op("SequenceConstruct", { "x" }, { "s" }).output("s").graph();
    const auto none = Net().op("Optional", {}, { "n" }).output("n").graph();
    for (const bool taken : { true, false }) {
        Net net;
        net.input("x", DType::Float32).input("which", DType::Bool, Dims {});
        net.op("If", { "which" }, { "s" }, { { "then_branch", some }, { "else_branch", none } }, { "x" });
        net.op("OptionalHasElement", { "s" }, { "y" }).output("y").output("s");
        const auto made = runNet(net.plan(), { floats({ 5 }), truth(taken) });
        QVERIFY(made.ok());
        QCOMPARE(text((*made)[0]), taken ? "[]:1" : "[]:0");
        QCOMPARE(text((*made)[1]), taken ? "[1]:5" : "empty");
    }
}

void SequenceTests::loopBuildsASequence()
{
    Net inner;
    inner.input("i", DType::Int64, Dims {}).input("go", DType::Bool, Dims {}).input("so_far", DType::Sequence);
    const auto body = inner.op("SequenceInsert", { "so_far", "i" }, { "longer" }).output("go").output("longer").graph();
    for (const int64_t trips : { 0, 1, 5 }) {
        Net net;
        net.input("trips", DType::Int64, Dims {}).op("SequenceEmpty", {}, { "none" }, { { "dtype", int64_t(7) } });
        net.op("Loop", { "trips", "", "none" }, { "all" }, { { "body", body } });
        const auto plan = net.op("SequenceLength", { "all" }, { "y" }).output("y").plan();
        QVERIFY(plan->unsupported().empty());
        QCOMPARE(text(runNet(plan, { one(trips) })), "[]:" + QString::number(trips));
    }
}

/// As in ONNX's own example: the state is an optional in the first iteration and a sequence afterwards.
void SequenceTests::loopStartsWithAnEmptyOptional()
{
    const auto make = Net().outer({ "i" }).op("SequenceConstruct", { "i" }, { "fresh" }).output("fresh").graph();
    const auto extend = Net()
                            .outer({ "state", "i" })
                            .op("OptionalGetElement", { "state" }, { "had" })
                            .op("SequenceInsert", { "had", "i" }, { "longer" })
                            .output("longer")
                            .graph();
    Net inner;
    inner.input("i", DType::Int64, Dims {}).input("go", DType::Bool, Dims {}).input("state", DType::Undefined);
    inner.op("OptionalHasElement", { "state" }, { "has" });
    inner.op("If", { "has" }, { "next" }, { { "then_branch", extend }, { "else_branch", make } }, { "i", "state" });
    const auto body = inner.output("go").output("next").graph();
    for (const bool fromInput : { true, false }) {
        Net net;
        if (fromInput)
            net.input("none", DType::Undefined);
        else
            net.op("Optional", {}, { "none" });
        net.constant("trips", one(3)).op("Loop", { "trips", "", "none" }, { "y" }, { { "body", body } }).output("y");
        const auto made
            = runNet(net.plan(), fromInput ? std::vector<Tensor> { makeNoValue() } : std::vector<Tensor> {});
        QCOMPARE(text(made), QString("[]:0 []:1 []:2"));
    }
}

void SequenceTests::loopCannotStackSequences()
{
    Net inner;
    inner.input("i", DType::Int64, Dims {}).input("go", DType::Bool, Dims {});
    const auto body = inner.op("SequenceConstruct", { "i" }, { "s" }).output("go").output("s").graph();
    Net net;
    net.constant("trips", one(2)).op("Loop", { "trips", "" }, { "y" }, { { "body", body } }).output("y");
    QVERIFY(text(runNet(net.plan(), {})).contains("cannot be stacked"));
}

void SequenceTests::mapRunsItsBody()
{
    Net inner;
    inner.input("a", DType::Float32).input("b", DType::Float32).outer({ "shift" });
    const auto body = inner.op("Mul", { "a", "b" }, { "p" }).op("Add", { "p", "shift" }, { "q" }).output("q").graph();
    const auto mapped = [&](const Tensor& first, const Tensor& second) {
        Net net;
        net.input("s", DType::Undefined).input("t", DType::Undefined).constant("shift", floats({ 100 }));
        net.op("SequenceMap", { "s", "t" }, { "y" }, { { "body", body } }, { "shift" }).output("y");
        return text(runNet(net.plan(), { first, second }));
    };
    QCOMPARE(mapped(floatSequence({ { 1, 2 }, { 3 } }), floats({ 10 })), QString("[2]:110,120 [1]:130"));
    QCOMPARE(mapped(floatSequence({ { 1 }, { 3 } }), floatSequence({ { 2 }, { 5 } })), QString("[1]:102 [1]:115"));
    QCOMPARE(mapped(floatSequence({}), floats({ 10 })), QString());
    QVERIFY(mapped(floatSequence({ { 1 } }), floatSequence({})).contains("1 and 0 elements"));
}

void SequenceTests::keysTellSequencesApart()
{
    const Hash128 one = contentKey(floatSequence({ { 1 }, { 2 } })), same = contentKey(floatSequence({ { 1 }, { 2 } }));
    QVERIFY(one == same);
    QVERIFY(one != contentKey(floatSequence({ { 1 }, { 3 } })));
    QVERIFY(one != contentKey(floatSequence({ { 1 } })));
    QVERIFY(contentKey(floatSequence({})) != contentKey(makeNoValue()));
}

/// 1 batch, 2 query heads over 1 key head, 1 query, 2 keys, sizes 1.
Net flexNet(const Settings& attributes, const Names& captures = {})
{
    Net net;
    for (const char* name : { "q", "k", "v" })
        net.input(name, DType::Float32, Dims(4));
    net.opset(1).domain("ai.onnx.preview");
    net.op("FlexAttention", { "q", "k", "v" }, { "y" }, attributes, captures).output("y");
    return net;
}

const std::vector<Tensor>& flexInputs()
{
    static const std::vector<Tensor> inputs { Tensor::of<float>({ 1, 2, 1, 1 }, { 0, 1 }),
        Tensor::of<float>({ 1, 1, 2, 1 }, { 0, std::log(3.0f) }), Tensor::of<float>({ 1, 1, 2, 1 }, { 4, 8 }) };
    return inputs;
}

void SequenceTests::flexAttentionSharesKeyHeads()
{
    // Equal scores: the mean; scores 0 and log 3: a quarter and three quarters.
    const auto made = runNet(flexNet({}).plan(), flexInputs());
    QVERIFY2(made.ok(), qPrintable(text(made)));
    QCOMPARE((*made)[0].shape(), (Shape { 1, 2, 1, 1 }));
    QVERIFY(std::abs(toFloats((*made)[0])[0] - 6) < 1e-5 && std::abs(toFloats((*made)[0])[1] - 7) < 1e-5);
}

void SequenceTests::flexAttentionModifiesScores()
{
    const auto hide = Net()
                          .input("scores", DType::Float32)
                          .constant("mask", Tensor::of<float>({ 2 }, { 0, -1e30f }))
                          .op("Add", { "scores", "mask" }, { "out" })
                          .output("out")
                          .graph();
    QCOMPARE(text(runNet(flexNet({ { "score_mod", hide } }).plan(), flexInputs())), QString("[1x2x1x1]:4,4"));
    const auto twice = Net().input("p", DType::Float32).op("Add", { "p", "p" }, { "out" }).output("out").graph();
    QCOMPARE(text(runNet(flexNet({ { "score_mod", hide }, { "prob_mod", twice } }).plan(), flexInputs())),
        QString("[1x2x1x1]:8,8"));
    const auto shape = Net().input("p", DType::Float32).op("Shape", { "p" }, { "out" }).output("out").graph();
    QVERIFY(text(runNet(flexNet({ { "prob_mod", shape } }).plan(), flexInputs())).contains("prob_mod makes int64"));
}

int runSequenceTests(int argc, char** argv)
{
    SequenceTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "sequence_test.moc"
