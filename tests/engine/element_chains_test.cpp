// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/worker_team.h"
#include "core/engine/run/execution.h"
#include "core/tensor/convert.h"
#include "tests/support/helper_call.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <functional>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

/// A graph under construction; values are named after what makes them.
class ChainNet {
public:
    explicit ChainNet(uint32_t seed)
        : random(seed)
    {
    }
    std::string input(const Shape& shape)
    {
        const std::string name = "input" + std::to_string(inputs.size());
        const ValueId id = m_builder.value(name);
        m_builder.setType(id, { DType::Float32, toDims(shape), {} });
        m_builder.addInput(id);
        inputs.push_back(floats(shape, 2));
        return name;
    }
    std::string constant(const Shape& shape, float spread = 0.5f)
    {
        const std::string name = "constant" + std::to_string(m_constants++);
        m_builder.setInitializer(m_builder.value(name), floats(shape, spread));
        return name;
    }
    std::string number(float value) { return scalar(value); }
    template <class T> std::string scalar(T value)
    {
        const std::string name = "constant" + std::to_string(m_constants++);
        m_builder.setInitializer(m_builder.value(name), Tensor::scalar(value));
        return name;
    }
    /// What codes of a type make of a value.
    template <class T> std::string coded(const std::string& x, float scale, T zeroPoint)
    {
        const std::string s = scalar(scale), z = scalar(zeroPoint);
        return op("DequantizeLinear", { op("QuantizeLinear", { x, s, z }), s, z });
    }
    std::string op(const std::string& type, const std::vector<std::string>& from, Attributes attributes = {})
    {
        Node node;
        node.opType = type;
        node.opset = 17;
        node.name = type + std::to_string(m_nodes++);
        node.attributes = std::move(attributes);
        for (const std::string& name : from)
            node.inputs.push_back(m_builder.value(name));
        node.outputs = { m_builder.value(node.name) };
        m_builder.addNode(node);
        return node.name;
    }
    std::shared_ptr<const Plan> plan(const std::string& output)
    {
        m_builder.addOutput(m_builder.value(output));
        auto graph = std::move(m_builder).finish();
        if (!graph.ok())
            qFatal("the test's graph is wrong");
        auto model = std::make_shared<Model>();
        model->graph = std::move(*graph);
        return Plan::make(model);
    }
    Tensor floats(const Shape& shape, float spread) { return normalFloats(random, shape, spread); }
    std::mt19937 random;
    std::vector<Tensor> inputs;

private:
    GraphBuilder m_builder;
    int m_constants = 0, m_nodes = 0;
};

struct Ran {
    Tensor output;
    size_t tasks = 0;
};

/// The first graph output; `everything`: all values are asked for, so that nothing is fused.
Ran execute(const std::shared_ptr<const Plan>& plan, const std::vector<Tensor>& inputs, bool everything, size_t threads)
{
    const Graph& graph = plan->graph();
    Demand demand { { graph.outputs()[0] }, {} };
    for (const Node& node : graph.nodes())
        if (everything)
            demand.values.push_back(node.outputs[0]);
    auto schedule = Schedule::make(plan, demand);
    if (!schedule.ok())
        qFatal("no schedule: %s", schedule.issue().what.c_str());
    BufferPool pool;
    WorkerTeam team(threads);
    Execution run(*schedule, pool);
    run.useTeam(&team);
    Status status = run.bind(inputs);
    if (status.ok())
        status = run.runAll();
    if (!status.ok())
        qFatal("%s", status.issue().what.c_str());
    return { toPlain(run.get(graph.outputs()[0])), (*schedule)->tasks().size() };
}

Attributes convAttributes(int64_t groups, int64_t stride, std::vector<int64_t> pads, int64_t dilation = 1)
{
    Attributes a;
    a.set("group", groups);
    a.set("strides", std::vector<int64_t> { stride, stride });
    a.set("pads", std::move(pads));
    a.set("dilations", std::vector<int64_t> { dilation, dilation });
    return a;
}

/// A pool that keeps the size.
Attributes poolAttributes()
{
    Attributes a;
    a.set("kernel_shape", std::vector<int64_t> { 3, 3 });
    a.set("pads", std::vector<int64_t> { 1, 1, 1, 1 });
    return a;
}

struct ConvCase {
    const char* name;
    int64_t batch, channels, filters, height, width, kernel, groups, stride, dilation;
    std::vector<int64_t> pads;
};

const std::vector<ConvCase>& convCases()
{
    static const std::vector<ConvCase> cases {
        { "1x1", 1, 7, 24, 61, 67, 1, 1, 1, 1, { 0, 0, 0, 0 } },
        { "3x3", 1, 5, 17, 70, 67, 3, 1, 1, 1, { 1, 1, 1, 1 } },
        { "3x3 stride 2, asymmetric pads", 2, 3, 32, 71, 90, 3, 1, 2, 1, { 0, 1, 1, 0 } },
        { "depthwise", 1, 24, 24, 61, 67, 3, 24, 1, 1, { 1, 1, 1, 1 } },
        { "depthwise 5x5 stride 2", 2, 48, 48, 61, 67, 5, 48, 2, 1, { 2, 2, 2, 2 } },
        { "groups", 1, 12, 18, 50, 80, 3, 3, 1, 1, { 1, 1, 1, 1 } },
        { "dilated", 1, 6, 20, 60, 60, 3, 1, 1, 2, { 2, 2, 2, 2 } },
        { "small", 1, 3, 5, 6, 5, 3, 1, 1, 1, { 1, 1, 1, 1 } },
        { "many small images", 9, 3, 16, 11, 12, 3, 1, 1, 1, { 0, 0, 0, 0 } },
        { "large weights", 1, 512, 96, 9, 8, 3, 1, 1, 1, { 1, 1, 1, 1 } },
    };
    return cases;
}

/// What may follow a value of a shape: appends nodes and gives the last one's name.
using Follow = std::function<std::string(ChainNet&, const std::string& x, const Shape& shape)>;

std::string hardSwish(ChainNet& n, const std::string& x)
{
    const std::string shifted = n.op("Add", { x, n.number(3) });
    const std::string clipped = n.op("Clip", { shifted, n.number(0), n.number(6) });
    return n.op("Div", { n.op("Mul", { x, clipped }), n.number(6) });
}

Shape channelShape(const Shape& shape) { return { 1, shape[1], 1, 1 }; }

const std::vector<std::pair<const char*, Follow>>& follows()
{
    static const std::vector<std::pair<const char*, Follow>> list {
        { "Relu", [](ChainNet& n, const auto& x, const Shape&) { return n.op("Relu", { x }); } },
        { "x sigmoid(x)",
            [](ChainNet& n, const auto& x, const Shape&) {
                return n.op("Mul", { x, n.op("Sigmoid", { x }) });
            } },
        { "scale, shift, hard swish",
            [](ChainNet& n, const auto& x, const Shape&) {
                return hardSwish(n, n.op("Add", { n.op("Mul", { n.number(0.7f), x }), n.number(-0.1f) }));
            } },
        { "channels",
            [](ChainNet& n, const auto& x, const Shape& s) {
                const std::string scaled = n.op("Mul", { x, n.constant(channelShape(s)) });
                return n.op(
                    "PRelu", { n.op("Sub", { n.constant(channelShape(s)), scaled }), n.constant({ s[1], 1, 1 }) });
            } },
        { "residual",
            [](ChainNet& n, const auto& x, const Shape& s) {
                return n.op("Relu", { n.op("Add", { n.input(s), x }) });
            } },
        { "gate of another shape",
            [](ChainNet& n, const auto& x, const Shape& s) {
                const std::string gate = n.op("HardSigmoid", { n.input({ s[0], s[1], 1, 1 }) });
                return n.op("Add", { x, n.op("Mul", { x, gate }) });
            } },
        { "broadcast along the width",
            [](ChainNet& n, const auto& x, const Shape& s) {
                return n.op("Max", { n.op("Add", { x, n.constant({ s[3] }) }), n.number(0) });
            } },
        { "Gelu",
            [](ChainNet& n, const auto& x, const Shape&) {
                const std::string e = n.op("Erf", { n.op("Div", { x, n.number(1.41421356f) }) });
                return n.op("Mul", { n.op("Mul", { x, n.op("Add", { e, n.number(1) }) }), n.number(0.5f) });
            } },
    };
    return list;
}

class ElementChainsTests : public QObject {
    Q_OBJECT
private slots:
    void sumsInTheirAddendsPlace_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("groups");
        for (int groups : { 1, 2 }) { // the second has kernels that take no tail
            QTest::addRow("addend dies, %d groups", groups) << 0 << groups;
            QTest::addRow("addend is also the input of the head, %d groups", groups) << 1 << groups;
            QTest::addRow("addend is read later, %d groups", groups) << 2 << groups;
            QTest::addRow("addend is a view, %d groups", groups) << 3 << groups;
            QTest::addRow("addend is the graph's input, %d groups", groups) << 4 << groups;
            QTest::addRow("nothing but element-wise nodes, %d groups", groups) << 5 << groups;
        }
    }

    void sumsInTheirAddendsPlace()
    {
        QFETCH(const int, kind);
        QFETCH(const int, groups);
        ChainNet net(uint32_t(40 + kind));
        const Shape shape { 1, 32, 23, 21 };
        const std::string x = net.input(shape);
        const auto conv = [&](const std::string& from) {
            return net.op("Conv", { from, net.constant({ 32, 32 / groups, 3, 3 }, 0.1f) },
                convAttributes(groups, 1, { 1, 1, 1, 1 }));
        };
        std::string a = net.op("Relu", { conv(x) });
        for (int block = 0; block < 4; ++block) {
            const std::string before = a;
            std::string addend = kind == 4 ? x : a;
            if (kind == 3)
                addend = net.op("Identity", { a });
            const std::string b = kind == 1 ? a : net.op("Relu", { conv(a) });
            std::string sum;
            if (kind == 5)
                sum = net.op("Mul", { net.op("Add", { net.op("MaxPool", { a }, poolAttributes()), addend }), x });
            else
                sum = block % 2 ? net.op("Add", { addend, conv(b) }) : net.op("Add", { conv(b), addend });
            a = net.op("Relu", { sum });
            if (kind == 2)
                a = net.op("Add", { net.op("MaxPool", { a }, poolAttributes()), before });
        }
        const auto plan = net.plan(a);
        const Tensor given = Tensor::of<float>(shape, toFloats(net.inputs[0]));
        const Ran alone = execute(plan, net.inputs, true, 1);
        for (size_t threads : { 1, 3 }) {
            const Ran fused = execute(plan, net.inputs, false, threads);
            QVERIFY(fused.tasks < alone.tasks);
            QVERIFY(sameBits(fused.output, alone.output));
            QVERIFY(sameBits(net.inputs[0], given)); // what was bound is nobody's to write
        }
    }

    void convolutions_data();
    void convolutions();
    void products_data();
    void products();
    void withoutHead();
    void specialValues();
    void transposed();
    void valuesReadElsewhereStayOut();
    void bands_data();
    void bands();
    void codes_data();
    void codes();
    void codesOfOtherResults();
    void realsReadElsewhereAreMade();
    void tablesOfCodes_data();
    void tablesOfCodes();
    void noTableWhereMoreThanOneValueVaries();
};

/// Fused or not, on one thread or several: equal bits. `fused`: fewer tasks are expected.
void compareRuns(ChainNet& net, const std::string& last, bool fused = true)
{
    const auto plan = net.plan(last);
    const Ran reference = execute(plan, net.inputs, true, 1);
    for (const size_t threads : { 1, 2, 5 }) {
        const Ran ran = execute(plan, net.inputs, false, threads);
        QVERIFY2(sameBits(ran.output, reference.output), qPrintable(QString::number(threads) + " threads"));
        QVERIFY(!fused || ran.tasks < reference.tasks);
        QVERIFY(sameBits(execute(plan, net.inputs, true, threads).output, reference.output));
    }
}

void ElementChainsTests::convolutions_data()
{
    QTest::addColumn<int>("conv");
    QTest::addColumn<int>("follow");
    for (size_t c = 0; c < convCases().size(); ++c)
        for (size_t f = 0; f < follows().size(); ++f)
            QTest::addRow("%s, %s", convCases()[c].name, follows()[f].first) << int(c) << int(f);
}

/// Of an input; `shape`: of the result.
std::string convolution(ChainNet& net, const ConvCase& c, Shape& shape)
{
    const std::string x = net.input({ c.batch, c.channels, c.height, c.width });
    const std::string w = net.constant({ c.filters, c.channels / c.groups, c.kernel, c.kernel }, 0.3f);
    const auto out = [&](int64_t in, size_t axis) {
        return (in + c.pads[axis] + c.pads[axis + 2] - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
    };
    shape = { c.batch, c.filters, out(c.height, 0), out(c.width, 1) };
    return net.op(
        "Conv", { x, w, net.constant({ c.filters }) }, convAttributes(c.groups, c.stride, c.pads, c.dilation));
}

void ElementChainsTests::convolutions()
{
    QFETCH(int, conv);
    QFETCH(int, follow);
    ChainNet net(uint32_t(100 * conv + follow));
    Shape shape;
    const std::string y = convolution(net, convCases()[size_t(conv)], shape);
    QS_HELPER(compareRuns(net, follows()[size_t(follow)].second(net, y, shape)));
}

void ElementChainsTests::products_data()
{
    QTest::addColumn<std::vector<int64_t>>("a");
    QTest::addColumn<std::vector<int64_t>>("b");
    QTest::addColumn<bool>("constant");
    QTest::newRow("one row") << Shape { 1, 40 } << Shape { 40, 33 } << true;
    QTest::newRow("blocks of rows") << Shape { 130, 200 } << Shape { 200, 600 } << true;
    QTest::newRow("large B") << Shape { 1, 129, 384 } << Shape { 384, 1100 } << true;
    QTest::newRow("computed B") << Shape { 150, 96 } << Shape { 96, 700 } << false;
    QTest::newRow("batch") << Shape { 2, 3, 17, 8 } << Shape { 2, 3, 8, 21 } << false;
    QTest::newRow("broadcast batch") << Shape { 2, 1, 17, 8 } << Shape { 3, 8, 21 } << false;
}

void ElementChainsTests::products()
{
    QFETCH(std::vector<int64_t>, a);
    QFETCH(std::vector<int64_t>, b);
    QFETCH(bool, constant);
    const int64_t columns = b.back();
    for (const bool residual : { false, true }) {
        ChainNet net(uint32_t(a.size() * 10 + b.size()));
        const std::string x = net.input(a);
        const std::string y = net.op("MatMul", { x, constant ? net.constant(b) : net.input(b) });
        std::string last = net.op("Add", { net.constant({ columns }), y });
        if (residual) {
            Shape shape = a;
            shape.back() = columns;
            if (a.size() == 4)
                shape = { 2, 3, a[2], columns };
            last = net.op("Add", { last, net.input(shape) });
        }
        QS_HELPER(compareRuns(net, net.op("Tanh", { last })));
    }
}

void ElementChainsTests::withoutHead()
{
    ChainNet net(7);
    const std::string x = net.input({ 3, 1000, 17 });
    const std::string row = net.input({ 17 });
    QS_HELPER(compareRuns(
        net, hardSwish(net, net.op("Mul", { net.op("Neg", { x }), net.op("Add", { row, net.number(1) }) }))));
    ChainNet wider(8); // no operand has the shape of the result
    const std::string column = wider.input({ 5, 1 });
    QS_HELPER(compareRuns(wider, wider.op("Relu", { wider.op("Add", { column, wider.input({ 1, 6 }) }) })));
    ChainNet scalar(9);
    const std::string one = scalar.input({});
    QS_HELPER(compareRuns(scalar, scalar.op("Exp", { scalar.op("Add", { one, one }) })));
}

void ElementChainsTests::specialValues()
{
    ChainNet net(11);
    const std::string x = net.input({ 1, 4, 33, 35 });
    auto values = net.inputs[0].fill<float>();
    const float inf = std::numeric_limits<float>::infinity();
    for (const float special : { inf, -inf, std::nanf(""), -0.0f, 1e-42f, 3e38f, -3e38f })
        for (int k = 0; k < 5; ++k)
            values[net.random() % values.size()] = special;
    const std::string y
        = net.op("Conv", { x, net.constant({ 6, 4, 3, 3 }, 0.3f) }, convAttributes(1, 1, { 1, 1, 1, 1 }));
    QS_HELPER(compareRuns(net, net.op("Relu", { net.op("Max", { net.op("Relu", { y }), net.op("Neg", { y }) }) })));
}

void ElementChainsTests::transposed()
{
    for (const int64_t kernel : { 2, 3 }) {
        ChainNet net(uint32_t(20 + kernel));
        const std::string x = net.input({ 2, 24, 40, 41 });
        Attributes a;
        a.set("strides", std::vector<int64_t> { 2, 2 });
        const std::string y = net.op("ConvTranspose", { x, net.constant({ 24, 10, kernel, kernel }) }, std::move(a));
        QS_HELPER(compareRuns(net, net.op("Sigmoid", { net.op("Add", { y, net.constant({ 1, 10, 1, 1 }) }) })));
    }
}

void ElementChainsTests::valuesReadElsewhereStayOut()
{
    ChainNet net(31);
    const std::string x = net.input({ 1, 3, 20, 20 });
    const std::string y = net.op("Conv", { x, net.constant({ 8, 3, 1, 1 }) }, convAttributes(1, 1, { 0, 0, 0, 0 }));
    const std::string relu = net.op("Relu", { y });
    const std::string pooled = net.op("GlobalAveragePool", { relu });
    QS_HELPER(compareRuns(net, net.op("Mul", { net.op("Neg", { relu }), pooled })));
}

void ElementChainsTests::bands_data()
{
    QTest::addColumn<int64_t>("kernel");
    QTest::addColumn<int64_t>("stride");
    QTest::addColumn<std::string>("behind");
    QTest::addColumn<size_t>("tasks");
    for (const char* behind : { "", "Relu", "residual", "residual, Relu", "Relu, residual" })
        for (const int64_t stride : { 1, 2 })
            for (const int64_t kernel : { 1, 3 })
                QTest::addRow("kernel %d, stride %d, %s", int(kernel), int(stride), behind)
                    << kernel << stride << std::string(behind)
                    << size_t(std::string(behind) == "Relu, residual" ? 3 : 1);
}

void ElementChainsTests::bands()
{
    QFETCH(int64_t, kernel);
    QFETCH(int64_t, stride);
    QFETCH(std::string, behind);
    QFETCH(size_t, tasks);
    ChainNet net(uint32_t(10 * kernel + stride));
    const int64_t pad = kernel / 2;
    const std::string x = net.input({ 2, 8, 68, 67 });
    const std::string wide = net.op("Conv", { x, net.constant({ 50, 8, kernel, kernel }), net.constant({ 50 }) },
        convAttributes(1, 1, { pad, pad, pad, pad }));
    const std::string middle = net.op("Conv", { net.op("Relu", { wide }), net.constant({ 50, 1, 3, 3 }) },
        convAttributes(50, stride, { 1, 0, 1, 2 }));
    const std::string clipped = net.op("Clip", { middle, net.number(0), net.number(6) });
    std::string last = net.op(
        "Conv", { clipped, net.constant({ 9, 50, 1, 1 }), net.constant({ 9 }) }, convAttributes(1, 1, { 0, 0, 0, 0 }));
    const std::string skip = net.input({ 2, 9, (68 - 1) / stride + 1, (67 - 1) / stride + 1 });
    for (size_t at = 0; at < behind.size(); at = std::min(behind.find(", ", at), behind.size() - 2) + 2)
        last = behind.substr(at, 4) == "Relu" ? net.op("Relu", { last }) : net.op("Add", { skip, last });
    const auto plan = net.plan(last);
    const Ran reference = execute(plan, net.inputs, true, 1);
    for (const size_t threads : { 1, 2, 5 }) {
        const Ran ran = execute(plan, net.inputs, false, threads);
        QVERIFY2(sameBits(ran.output, reference.output), qPrintable(QString::number(threads) + " threads"));
        QCOMPARE(ran.tasks, tasks);
    }
}

std::string asCodes(ChainNet& n, DType type, const std::string& x)
{
    switch (type) {
    case DType::UInt8:
        return n.coded<uint8_t>(x, 0.031f, 128);
    case DType::Int8:
        return n.coded<int8_t>(x, 0.02f, -128);
    case DType::UInt16:
        return n.coded<uint16_t>(x, 0.0007f, 65535);
    default:
        return n.coded<int16_t>(x, 0.0001f, 17);
    }
}

void ElementChainsTests::codes_data()
{
    QTest::addColumn<int>("conv");
    QTest::addColumn<int>("follow");
    QTest::addColumn<int>("type");
    const DType types[] { DType::UInt8, DType::Int8, DType::UInt16, DType::Int16 };
    for (size_t c = 0; c < convCases().size(); ++c)
        for (size_t f = 0; f <= follows().size(); ++f) {
            const DType type = types[(c + f) % 4];
            const char* follow = f < follows().size() ? follows()[f].first : "nothing";
            QTest::addRow("%s, %s, %s", convCases()[c].name, follow, std::string(dtypeName(type)).c_str())
                << int(c) << int(f) << int(type);
        }
}

void ElementChainsTests::codes()
{
    QFETCH(int, conv);
    QFETCH(int, follow);
    QFETCH(int, type);
    const ConvCase& c = convCases()[size_t(conv)];
    ChainNet net(uint32_t(1000 + 100 * conv + follow));
    Shape shape;
    std::string y = convolution(net, c, shape);
    if (size_t(follow) < follows().size())
        y = follows()[size_t(follow)].second(net, y, shape);
    QS_HELPER(compareRuns(net, asCodes(net, DType(type), y)));
}

void ElementChainsTests::codesOfOtherResults()
{
    ChainNet product(50);
    const std::string row = product.input({ 130, 200 });
    QS_HELPER(compareRuns(
        product, asCodes(product, DType::UInt8, product.op("MatMul", { row, product.constant({ 200, 60 }) }))));
    ChainNet computed(51);
    const std::string a = computed.input({ 2, 3, 17, 8 });
    QS_HELPER(compareRuns(
        computed, asCodes(computed, DType::Int8, computed.op("MatMul", { a, computed.input({ 2, 3, 8, 21 }) }))));
    ChainNet sum(52); // of what may be replaced
    const std::string x = sum.input({ 3, 1000, 17 });
    QS_HELPER(
        compareRuns(sum, asCodes(sum, DType::Int8, sum.op("Add", { sum.op("Neg", { x }), sum.op("Exp", { x }) }))));
    ChainNet broadcast(53); // not made in pieces
    const std::string column = broadcast.input({ 5, 1 });
    QS_HELPER(compareRuns(
        broadcast, asCodes(broadcast, DType::Int16, broadcast.op("Add", { column, broadcast.input({ 1, 6 }) }))));
    ChainNet empty(54);
    QS_HELPER(compareRuns(empty, asCodes(empty, DType::UInt8, empty.op("Relu", { empty.input({ 2, 0, 3 }) }))));
}

void ElementChainsTests::realsReadElsewhereAreMade()
{
    ChainNet net(55);
    const std::string x = net.input({ 1, 3, 20, 20 });
    const std::string y = net.op("Conv", { x, net.constant({ 8, 3, 1, 1 }) }, convAttributes(1, 1, { 0, 0, 0, 0 }));
    QS_HELPER(
        compareRuns(net, net.op("Sub", { net.op("GlobalMaxPool", { y }), asCodes(net, DType::UInt8, y) }), false));
}

} // namespace

void ElementChainsTests::tablesOfCodes_data()
{
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("to");
    for (const DType from : { DType::UInt8, DType::Int8 })
        for (const DType to : { DType::UInt8, DType::Int8 })
            QTest::addRow("%s to %s", dtypeName(from).data(), dtypeName(to).data()) << int(from) << int(to);
}

void ElementChainsTests::tablesOfCodes()
{
    QFETCH(const int, from);
    QFETCH(const int, to);
    const std::vector<std::function<std::string(ChainNet&, const std::string&)>> functions {
        [](ChainNet& n, const std::string& x) {
            return n.op("Erf", { n.op("Div", { x, n.number(1.41421356f) }) });
        },
        [](ChainNet& n, const std::string& x) {
            return n.op("Mul", { x, n.op("Sigmoid", { x }) });
        },
        [](ChainNet& n, const std::string& x) {
            return n.op("Log", { n.op("Sub", { n.number(0.5f), x }) });
        }, // NaN
        [](ChainNet& n, const std::string& x) { return n.op("Relu", { x }); },
        hardSwish,
    };
    for (const Shape& shape : { Shape { 2, 5, 67, 110 }, Shape { 3 }, Shape {}, Shape { 0, 4 } })
        for (size_t f = 0; f < functions.size(); ++f) {
            ChainNet net(uint32_t(f + 71));
            const std::string x = net.input(shape);
            const std::string last = asCodes(net, DType(to), functions[f](net, asCodes(net, DType(from), x)));
            const auto plan = net.plan(last);
            const Ran reference = execute(plan, net.inputs, true, 1);
            for (const size_t threads : { 1, 3 }) {
                const Ran ran = execute(plan, net.inputs, false, threads);
                QVERIFY(sameBits(ran.output, reference.output));
                QCOMPARE(ran.tasks, size_t(3));
            }
        }
}

void ElementChainsTests::noTableWhereMoreThanOneValueVaries()
{
    ChainNet net(91);
    const Shape shape { 4, 30 };
    const std::string x = asCodes(net, DType::UInt8, net.input(shape));
    const std::string rows = net.op("Mul", { x, net.constant({ 30 }) }); // a number for each column
    const std::string sum = net.op("Add", { rows, asCodes(net, DType::UInt8, net.input(shape)) });
    QS_HELPER(compareRuns(net, asCodes(net, DType::Int8, sum)));
    ChainNet wider(92); // the number adds an axis
    const std::string y = asCodes(wider, DType::UInt8, wider.input({ 7 }));
    QS_HELPER(compareRuns(wider, asCodes(wider, DType::Int8, wider.op("Mul", { y, wider.constant({ 1, 1 }) }))));
}

int runElementChainsTests(int argc, char** argv)
{
    ElementChainsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "element_chains_test.moc"
