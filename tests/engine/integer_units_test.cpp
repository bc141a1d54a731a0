// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/execution.h"
#include "core/tensor/convert.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace qs;

namespace {

/// A Q/DQ graph under construction; nodes are named after their first outputs. Weights and data are the same each time.
struct QdqNet {
    GraphBuilder builder;
    std::vector<Node> nodes;
    std::mt19937 random { 7 };
    int opset = 17;

    std::string input(const std::string& name, Shape shape)
    {
        const ValueId id = builder.value(name);
        Dims dims;
        for (int64_t d : shape)
            dims.push_back({ d, {} });
        builder.setType(id, { DType::Float32, dims, {} });
        builder.addInput(id);
        return name;
    }
    std::string constant(const std::string& name, Tensor tensor)
    {
        builder.setInitializer(builder.value(name), std::move(tensor));
        return name;
    }
    Node& node(const std::string& type, const std::vector<std::string>& inputs, const std::string& output)
    {
        Node n;
        n.name = output;
        n.opType = type;
        n.opset = opset;
        for (const std::string& name : inputs)
            n.inputs.push_back(name.empty() ? ValueId() : builder.value(name));
        n.outputs = { builder.value(output) };
        nodes.push_back(std::move(n));
        return nodes.back();
    }
    std::string op(const std::string& type, const std::vector<std::string>& inputs, const std::string& output)
    {
        node(type, inputs, output);
        return output;
    }
    std::vector<std::string> grid(const std::string& stem, DType type, float scale, int zero)
    {
        return { constant(stem + "_s", Tensor::scalar(scale)),
            constant(stem + "_z",
                type == DType::Int8 ? Tensor::scalar(static_cast<int8_t>(zero))
                                    : Tensor::scalar(static_cast<uint8_t>(zero))) };
    }
    /// x -> NAME_q -> NAME, with default zero points.
    std::string qdq(const std::string& x, const std::string& name, DType type = DType::UInt8, float scale = 0.05f)
    {
        return qdq(x, name, type, scale, type == DType::Int8 ? 0 : 128);
    }
    std::string qdq(const std::string& x, const std::string& name, DType type, float scale, int zero)
    {
        const auto g = grid(name, type, scale, zero);
        op("QuantizeLinear", { x, g[0], g[1] }, name + "_q");
        return op("DequantizeLinear", { name + "_q", g[0], g[1] }, name);
    }
    Tensor codes(Shape shape)
    {
        Tensor t = Tensor::allocate(DType::Int8, std::move(shape));
        for (int8_t& c : t.fill<int8_t>())
            c = static_cast<int8_t>(random() % 3 ? int(random() % 256) - 128 : random() % 2 ? 127 : -128);
        return t;
    }
    std::string weight(const std::string& name, Shape shape)
    {
        constant(name + "_q", codes(std::move(shape)));
        const auto g = grid(name, DType::Int8, 0.01f, 0);
        return op("DequantizeLinear", { name + "_q", g[0], g[1] }, name);
    }
    std::string bias(const std::string& name, int64_t n, float scale = 0.05f * 0.01f)
    {
        Tensor t = Tensor::allocate(DType::Int32, { n });
        for (int32_t& c : t.fill<int32_t>())
            c = static_cast<int32_t>(random() % 6000) - 3000;
        constant(name + "_q", t);
        constant(name + "_s", Tensor::scalar(scale));
        return op("DequantizeLinear", { name + "_q", name + "_s" }, name);
    }
    /// 3x3 over 4 channels, to `m` channels.
    std::string conv(const std::string& x, const std::string& name, int64_t m = 8)
    {
        node("Conv", { x, weight(name + "_w", { m, 4, 3, 3 }), bias(name + "_b", m) }, name)
            .attributes.set("pads", std::vector<int64_t> { 1, 1, 1, 1 });
        return name;
    }
    void output(const std::string& name) { builder.addOutput(builder.value(name)); }

    std::shared_ptr<const Plan> plan(
        ArithmeticProfile profile = ArithmeticProfile::Integer, KernelMode mode = KernelMode::Fast)
    {
        for (Node& n : nodes)
            builder.addNode(std::move(n));
        auto graph = std::move(builder).finish();
        if (!graph.ok())
            qFatal("%s", graph.issue().what.c_str());
        auto model = std::make_shared<Model>();
        model->path = "net.onnx";
        model->graph = std::move(*graph);
        m_model = model;
        return Plan::make(m_model, { mode, profile });
    }
    /// The same graph in another arithmetic.
    std::shared_ptr<const Plan> replan(ArithmeticProfile profile, KernelMode mode = KernelMode::Fast) const
    {
        return Plan::make(m_model, { mode, profile });
    }
    std::shared_ptr<const Model> m_model;
};

const Shape kImage { 1, 4, 6, 5 };
constexpr DType kS8 = DType::Int8, kU8 = DType::UInt8;

/// "QLinearConv+MaxPool>y_q": the operators of each unit and what it makes, in node order.
QString unitsOf(const Plan& plan)
{
    QStringList list;
    for (size_t n = 0; n < plan.graph().nodes().size(); ++n) {
        const FusedUnit* unit = plan.unit(NodeId(n));
        if (!unit || unit->when != FusedUnit::When::Always)
            continue;
        QStringList parts;
        for (const QString& part : QString::fromStdString(unit->lowered.kernel).split(", "))
            parts << part.section(':', 0, 0);
        list << parts.join('+') + '>'
                + QString::fromStdString(plan.graph().value(plan.graph().nodes()[n].outputs[0]).name);
    }
    return list.join(' ');
}

struct Case {
    const char* name;
    void (*build)(QdqNet&);
    const char* units;
    bool sameMeaning = true; ///< the runtime computes what the file says
};

void convTo(QdqNet& n, DType in, DType out, float biasScale = 0.05f * 0.01f)
{
    const std::string x = n.qdq(n.input("x", kImage), "a", in);
    n.op("Conv", { x, n.weight("w", { 8, 4, 3, 3 }), n.bias("b", 8, biasScale) }, "conv");
    n.output(n.qdq("conv", "y", out, 1.5f));
}

void reluTo(QdqNet& n, int zero)
{
    n.op("Relu", { n.conv(n.qdq(n.input("x", kImage), "a"), "conv") }, "relu");
    n.output(n.qdq("relu", "y", kU8, 0.7f, zero));
}

void clipTo(QdqNet& n, float scale)
{
    n.constant("low", Tensor::scalar(0.0f));
    n.constant("high", Tensor::scalar(6.0f));
    n.op("Clip", { n.conv(n.qdq(n.input("x", kImage), "a"), "conv"), "low", "high" }, "clip");
    n.output(n.qdq("clip", "y", kU8, scale, 0));
}

void branch(QdqNet& n, DType type)
{
    const std::string x = n.qdq(n.input("x", kImage), "a", type);
    n.output(n.qdq(n.conv(x, "c1", 4), "y1", type, 1.5f));
    n.output(n.qdq(n.conv(x, "c2", 4), "y2", type, 1.5f));
}

void pooledBranch(QdqNet& n, DType type, int readers)
{
    n.node("MaxPool", { n.qdq(n.input("x", kImage), "a", type) }, "pool")
        .attributes.set("kernel_shape", std::vector<int64_t> { 2, 2 });
    for (int i = 0; i < readers; ++i) {
        const std::string stem = std::to_string(i);
        n.output(n.qdq(n.conv("pool", "c" + stem, 4), "y" + stem, type, 1.5f));
    }
}

void binary(QdqNet& n, DType a, DType b, DType out)
{
    n.op("Add", { n.qdq(n.input("x", kImage), "a", a), n.qdq(n.input("z", kImage), "b", b, 0.07f) }, "sum");
    n.output(n.qdq("sum", "y", out, 0.1f));
}

void product(QdqNet& n, DType type, bool quantized)
{
    n.op("MatMul", { n.qdq(n.input("x", { 3, 36 }), "a", type), n.weight("w", { 36, 5 }) }, "p");
    n.output(quantized ? n.qdq("p", "y", type, 1.5f) : "p");
}

void addend(QdqNet& n, Shape rows, Shape terms)
{
    rows.push_back(36);
    Tensor b = Tensor::allocate(DType::Float32, std::move(terms));
    std::ranges::fill(b.fill<float>(), 0.25f);
    n.op("MatMul", { n.qdq(n.input("x", rows), "a"), n.weight("w", { 36, 5 }) }, "p");
    n.op("Add", { n.constant("b", b), "p" }, "sum");
    n.output(n.qdq("sum", "y", kU8, 1.5f));
}

void gemm(QdqNet& n, float alpha, float beta, bool bias, bool quantized, float biasScale = 0.05f * 0.01f)
{
    std::vector<std::string> inputs { n.qdq(n.input("x", { 3, 36 }), "a"), n.weight("w", { 36, 5 }) };
    if (bias)
        inputs.push_back(n.bias("b", 5, biasScale));
    Node& node = n.node("Gemm", inputs, "g");
    node.attributes.set("alpha", alpha);
    node.attributes.set("beta", beta);
    n.output(quantized ? n.qdq("g", "y", kU8, 1.5f) : "g");
}

void move(QdqNet& n, const char* type, float scale)
{
    n.op(type, { n.qdq(n.input("x", kImage), "a") }, "moved");
    n.output(n.qdq("moved", "y", kU8, scale));
}

void twins(QdqNet& n, float second)
{
    n.conv(n.qdq(n.input("x", kImage), "a"), "conv");
    const auto g = n.grid("g", kU8, 1.5f, 128), h = n.grid("h", kU8, second, 128);
    const auto& other = second == 1.5f ? g : h;
    n.op("QuantizeLinear", { "conv", g[0], g[1] }, "q1");
    n.op("QuantizeLinear", { "conv", other[0], other[1] }, "q2");
    n.output(n.op("DequantizeLinear", { "q1", g[0], g[1] }, "y1"));
    n.output(n.op("DequantizeLinear", { "q2", other[0], other[1] }, "y2"));
}

void residual(QdqNet& n, DType type)
{
    const std::string x = n.qdq(n.input("x", kImage), "a", type);
    n.op("Add", { n.qdq(n.conv(x, "conv", 4), "c", type, 1.5f), x }, "sum");
    n.output(n.qdq("sum", "y", type, 1.5f));
}

const Case kCases[] = {
    { "conv", [](QdqNet& n) { convTo(n, kU8, kU8); }, "QLinearConv>y_q" },
    { "conv s8", [](QdqNet& n) { convTo(n, kS8, kS8); }, "QLinearConv>y_q" },
    { "conv u8 to s8", [](QdqNet& n) { convTo(n, kU8, kS8); }, "QLinearConv>y_q" },
    { "conv, bias on another grid", [](QdqNet& n) { convTo(n, kU8, kU8, 0.01f); }, "" },
    { "conv, zero point of Relu", [](QdqNet& n) { reluTo(n, 0); }, "QLinearConv>y_q" },
    { "conv, Relu that matters", [](QdqNet& n) { reluTo(n, 10); }, "" },
    { "conv, range of Clip", [](QdqNet& n) { clipTo(n, 6.0f / 255); }, "QLinearConv>y_q" },
    { "conv, Clip that matters", [](QdqNet& n) { clipTo(n, 8.0f / 255); }, "" },
    { "shared DequantizeLinear", [](QdqNet& n) { branch(n, kU8); }, "QLinearConv>y1_q QLinearConv>y2_q" },
    { "shared s8 DequantizeLinear is not shifted", [](QdqNet& n) { branch(n, kS8); }, "" },
    { "residual", [](QdqNet& n) { residual(n, kU8); }, "QLinearConv>c_q QLinearAdd>y_q" },
    { "s8 residual", [](QdqNet& n) { residual(n, kS8); }, "" },
    { "conv whose output is read",
        [](QdqNet& n) {
            convTo(n, kU8, kU8);
            n.output("conv");
        },
        "" },
    { "codes that are read",
        [](QdqNet& n) {
            convTo(n, kU8, kU8);
            n.output("y_q");
        },
        "QLinearConv>y_q" },
    { "s8 codes that are read",
        [](QdqNet& n) {
            convTo(n, kS8, kS8);
            n.output("y_q");
        },
        "" },
    { "two equal quantizers", [](QdqNet& n) { twins(n, 1.5f); }, "QLinearConv>q1 Identity>q2" },
    { "two quantizers", [](QdqNet& n) { twins(n, 2.0f); }, "" },
    { "pool before conv", [](QdqNet& n) { pooledBranch(n, kU8, 1); }, "MaxPool+QLinearConv>y0_q" },
    { "pool before two convs", [](QdqNet& n) { pooledBranch(n, kU8, 2); },
        "MaxPool+QLinearConv>y0_q MaxPool+QLinearConv>y1_q" },
    { "s8 pool before conv", [](QdqNet& n) { pooledBranch(n, kS8, 1); }, "MaxPool+QLinearConv>y0_q" },
    { "s8 pool before two convs", [](QdqNet& n) { pooledBranch(n, kS8, 2); }, "" },
    { "pool behind conv and Relu",
        [](QdqNet& n) {
            n.op("Relu", { n.conv(n.qdq(n.input("x", kImage), "a"), "conv") }, "relu");
            n.node("MaxPool", { "relu" }, "pool").attributes.set("kernel_shape", std::vector<int64_t> { 2, 2 });
            n.output(n.qdq("pool", "y", kU8, 0.7f, 0));
        },
        "QLinearConv+MaxPool>y_q" },
    { "identities between",
        [](QdqNet& n) {
            n.op("Identity", { n.qdq(n.input("x", kImage), "a") }, "same");
            n.op("Identity", { n.conv("same", "conv") }, "too");
            n.output(n.qdq("too", "y", kU8, 1.5f));
        },
        "QLinearConv>y_q" },
    { "float constants of a conv",
        [](QdqNet& n) {
            Tensor w = Tensor::allocate(DType::Float32, { 8, 4, 3, 3 });
            for (float& v : w.fill<float>())
                v = static_cast<float>(n.random() % 1000) / 1000 - 0.3f;
            n.op("Conv", { n.qdq(n.input("x", kImage), "a"), n.constant("w", w) }, "conv");
            n.output(n.qdq("conv", "y", kU8, 1.5f));
        },
        "QLinearConv>y_q" },
    { "add", [](QdqNet& n) { binary(n, kU8, kU8, kU8); }, "QLinearAdd>y_q" },
    { "add s8", [](QdqNet& n) { binary(n, kS8, kS8, kS8); }, "QLinearAdd>y_q" },
    { "add u8 and s8", [](QdqNet& n) { binary(n, kU8, kS8, kU8); }, "QLinearAdd>y_q" },
    { "where and number",
        [](QdqNet& n) {
            n.op("Greater", { n.input("x", kImage), n.constant("zero", Tensor::scalar(0.0f)) }, "which");
            n.op("Where", { "which", n.qdq("x", "a"), n.constant("number", Tensor::scalar(-3.0f)) }, "chosen");
            n.output(n.qdq("chosen", "y", kU8, 0.06f));
        },
        "QLinearWhere>y_q" },
    { "product", [](QdqNet& n) { product(n, kU8, true); }, "QLinearMatMul>y_q" },
    { "product to float", [](QdqNet& n) { product(n, kU8, false); }, "MatMulIntegerToFloat>p" },
    { "s8 product to float", [](QdqNet& n) { product(n, kS8, false); }, "MatMulIntegerToFloat>p" },
    { "product and addend", [](QdqNet& n) { addend(n, { 3 }, { 5 }); }, "QGemm>y_q" },
    { "product and addend, rank 3",
        [](QdqNet& n) {
            addend(n, { 2, 3 }, { 5 });
        },
        "Reshape+QGemm+Reshape>y_q" },
    { "product and matrix",
        [](QdqNet& n) {
            addend(n, { 3 }, { 3, 5 });
        },
        "" },
    { "gemm", [](QdqNet& n) { gemm(n, 1, 1, true, true); }, "QGemm>y_q" },
    { "gemm, bias on another grid", [](QdqNet& n) { gemm(n, 1, 1, true, true, 0.4f); }, "QGemm>y_q", false },
    { "gemm to float", [](QdqNet& n) { gemm(n, 1, 1, true, false); }, "QGemm>g" },
    { "gemm, alpha", [](QdqNet& n) { gemm(n, 0.5f, 1, false, true); }, "QGemm>y_q" },
    { "gemm, alpha and bias", [](QdqNet& n) { gemm(n, 0.5f, 1, true, true); }, "" },
    { "gemm, beta", [](QdqNet& n) { gemm(n, 1, 2, true, true); }, "" },
    { "movement on one grid", [](QdqNet& n) { move(n, "Flatten", 0.05f); }, "Flatten>y_q" },
    { "movement to another grid", [](QdqNet& n) { move(n, "Flatten", 0.06f); }, "" },
    { "not joined", [](QdqNet& n) { move(n, "Tanh", 0.05f); }, "" },
    { "mean", [](QdqNet& n) { move(n, "GlobalAveragePool", 0.05f); }, "QLinearGlobalAveragePool>y_q" },
};

Tensor randomFloats(Shape shape, unsigned seed, float spread = 4)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, spread);
    Tensor t = Tensor::allocate(DType::Float32, std::move(shape));
    for (float& v : t.fill<float>())
        v = normal(random);
    return t;
}

std::vector<Tensor> feedOf(const Plan& plan, unsigned seed)
{
    std::vector<Tensor> inputs;
    for (ValueId id : plan.graph().inputs())
        inputs.push_back(randomFloats(*toShape(*plan.graph().value(id).type.dims), seed++));
    return inputs;
}

/// Values of one run, or an empty list with the reason printed.
std::vector<Tensor> run(const std::shared_ptr<const Plan>& plan, const std::vector<ValueId>& wanted,
    const std::vector<Tensor>& feed, std::map<NodeId, PairCounts>* counts = nullptr)
{
    auto schedule = Schedule::make(plan, { wanted, {} });
    if (!schedule.ok()) {
        qWarning("%s", schedule.issue().what.c_str());
        return {};
    }
    BufferPool pool;
    Execution execution(*schedule, pool);
    Status status = execution.bind(feed);
    if (status.ok())
        status = execution.runAll();
    if (!status.ok()) {
        qWarning("%s: %s", status.issue().node.c_str(), status.issue().what.c_str());
        return {};
    }
    std::vector<Tensor> values;
    for (ValueId id : wanted)
        values.push_back(toPlain(execution.get(id)));
    if (counts)
        *counts = execution.pairCounts();
    return values;
}

bool sameBits(const Tensor& a, const Tensor& b)
{
    return a.shape() == b.shape() && a.dtype() == b.dtype() && std::ranges::equal(a.bytes(), b.bytes());
}

/// Everything that exists in a plan and depends on data.
std::vector<ValueId> visible(const Plan& plan)
{
    std::vector<ValueId> list;
    for (const Node& node : plan.graph().nodes())
        for (ValueId id : node.outputs)
            if (id.valid() && !plan.hidden(id) && !plan.constant(id))
                list.push_back(id);
    return list;
}

/// a [1, K] x b [K, 1] in integer-avx2, with extreme codes at some places.
QdqNet pairNet(int64_t depth, const std::vector<std::pair<int64_t, int>>& weights)
{
    QdqNet n;
    Tensor w = Tensor::allocate(DType::Int8, { depth, 1 });
    std::ranges::fill(w.fill<int8_t>(), int8_t(0));
    for (const auto& [k, code] : weights)
        w.fill<int8_t>()[static_cast<size_t>(k)] = static_cast<int8_t>(code);
    const ValueId x = n.builder.value("x");
    n.builder.setType(x, { DType::UInt8, Dims { { 1, {} }, { depth, {} } }, {} });
    n.builder.addInput(x);
    n.op("MatMulInteger", { "x", n.constant("w", w) }, "y");
    n.output("y");
    return n;
}

class IntegerUnitsTests : public QObject {
    Q_OBJECT

private slots:
    void fuses_data();
    void fuses();
    void runs_data() { fuses_data(); }
    void runs();
    void hidesOnlyInnerValues();
    void equalsTheQLinearOperator();
    void saturatesPairs_data();
    void saturatesPairs();
    void saturatesByTheFile_data();
    void saturatesByTheFile();
    void quantizesFloatConstants();
};

void IntegerUnitsTests::fuses_data()
{
    QTest::addColumn<int>("index");
    for (int i = 0; i < int(std::size(kCases)); ++i)
        QTest::newRow(kCases[i].name) << i;
}

void IntegerUnitsTests::fuses()
{
    QFETCH(int, index);
    QdqNet net;
    kCases[index].build(net);
    QCOMPARE(unitsOf(*net.plan()), QString(kCases[index].units));
    QCOMPARE(unitsOf(*net.replan(ArithmeticProfile::Simulated)), QString());
    QCOMPARE(unitsOf(*net.replan(ArithmeticProfile::IntegerAvx2)), QString(kCases[index].units));
}

/// Codes within one step of the file as written where units start from the same codes, equal bits whoever watches, and
/// equal to the naive kernels.
void IntegerUnitsTests::runs()
{
    QFETCH(int, index);
    QdqNet net;
    kCases[index].build(net);
    for (const auto profile : { ArithmeticProfile::Integer, ArithmeticProfile::IntegerAvx2 }) {
        const auto plan = net.m_model ? net.replan(profile) : net.plan(profile);
        const auto feed = feedOf(*plan, 11);
        const std::vector<ValueId> outputs(plan->graph().outputs().begin(), plan->graph().outputs().end());
        const auto alone = run(plan, outputs, feed);
        auto all = visible(*plan);
        const auto watched = run(plan, all, feed);
        QVERIFY(!alone.empty() && !watched.empty());
        const auto naive = run(net.replan(profile, KernelMode::Reference), outputs, feed);
        QVERIFY(!naive.empty());
        for (size_t i = 0; i < outputs.size(); ++i) {
            const auto at = std::ranges::find(all, outputs[i]) - all.begin();
            QVERIFY(sameBits(alone[i], watched[static_cast<size_t>(at)]));
            if (isInteger(alone[i].dtype()))
                QVERIFY(sameBits(alone[i], naive[i]));
        }
    }
    if (!kCases[index].sameMeaning)
        return;
    const auto integer = net.replan(ArithmeticProfile::Integer);
    const auto feed = feedOf(*integer, 11);
    std::vector<ValueId> codes;
    for (ValueId id : visible(*integer))
        if (dtypeBits(integer->facts().of(id).dtype) == 8)
            codes.push_back(id);
    const auto a = run(integer, codes, feed), b = run(net.replan(ArithmeticProfile::Simulated), codes, feed);
    for (size_t i = 0; i < codes.size(); ++i) {
        const auto x = toInts(a[i]), y = toInts(b[i]);
        QCOMPARE(x.size(), y.size());
        for (size_t k = 0; k < x.size(); ++k)
            QVERIFY2(std::abs(x[k] - y[k]) <= 2, integer->graph().value(codes[i]).name.c_str());
    }
}

void IntegerUnitsTests::hidesOnlyInnerValues()
{
    QdqNet net;
    convTo(net, kU8, kU8);
    const auto plan = net.plan();
    const auto id = [&](const char* name) { return plan->graph().findValue(name); };
    for (const char* name : { "x", "a_q", "a", "y_q", "y" })
        QVERIFY2(!plan->hidden(id(name)), name);
    QVERIFY(plan->hidden(id("conv")));
    const auto refused = Schedule::make(plan, { { id("conv") }, {} });
    QVERIFY(!refused.ok());
    QCOMPARE(refused.issue().kind, IssueKind::BadInput);
    QCOMPARE(refused.issue().tensor, std::string("conv"));
    QVERIFY(!refused.issue().remedy.empty());
    // The value before rounding can still be had, from the node that rounds.
    const auto schedule = Schedule::make(plan, { { id("y_q") }, { plan->graph().value(id("y_q")).producer } });
    QVERIFY(schedule.ok());
    BufferPool pool;
    Execution execution(*schedule, pool);
    QVERIFY(execution.bind(feedOf(*plan, 3)).ok() && execution.runAll().ok());
    const auto before = toFloats(execution.unrounded(plan->graph().value(id("y_q")).producer));
    const auto codes = toInts(execution.get(id("y_q")));
    QCOMPARE(before.size(), codes.size());
    for (size_t i = 0; i < codes.size(); ++i)
        QVERIFY(codes[i] == 0 || codes[i] == 255 || std::abs(before[i] / 1.5f + 128 - float(codes[i])) <= 0.501f);
}

/// A unit computes what the operator of a QOperator file computes.
void IntegerUnitsTests::equalsTheQLinearOperator()
{
    QdqNet qdq, qlinear;
    convTo(qdq, kU8, kU8);
    convTo(qlinear, kU8, kU8);
    qlinear.nodes.clear();
    qlinear.op("QuantizeLinear", { "x", "a_s", "a_z" }, "a_q");
    qlinear.op("QLinearConv", { "a_q", "a_s", "a_z", "w_q", "w_s", "w_z", "y_s", "y_z", "b_q" }, "y_q");
    qlinear.op("DequantizeLinear", { "y_q", "y_s", "y_z" }, "y");
    for (const auto profile : { ArithmeticProfile::Integer, ArithmeticProfile::IntegerAvx2 }) {
        const auto a = qdq.m_model ? qdq.replan(profile) : qdq.plan(profile);
        const auto b = qlinear.m_model ? qlinear.replan(profile) : qlinear.plan(profile);
        std::map<NodeId, PairCounts> countsA, countsB;
        const auto x = run(a, { a->graph().findValue("y_q") }, feedOf(*a, 5), &countsA);
        const auto y = run(b, { b->graph().findValue("y_q") }, feedOf(*b, 5), &countsB);
        QVERIFY(!x.empty() && !y.empty());
        QVERIFY(sameBits(x[0], y[0]));
        QCOMPARE(countsA.size(), countsB.size());
        if (profile == ArithmeticProfile::IntegerAvx2)
            QCOMPARE(countsA.begin()->second.saturated, countsB.begin()->second.saturated);
    }
}

void IntegerUnitsTests::saturatesPairs_data()
{
    using Places = std::vector<std::pair<int64_t, int>>;
    QTest::addColumn<int64_t>("depth");
    QTest::addColumn<Places>("weights");
    QTest::addColumn<int32_t>("sum");
    QTest::addColumn<int>("pairs");
    const auto all = [](int64_t depth, int code) {
        Places places;
        for (int64_t k = 0; k < depth; ++k)
            places.emplace_back(k, code);
        return places;
    };
    QTest::newRow("0 and 1") << int64_t(8) << Places { { 0, 127 }, { 1, 127 } } << 32767 << 1;
    QTest::newRow("2 and 3") << int64_t(8) << Places { { 2, 127 }, { 3, 127 } } << 32767 << 1;
    QTest::newRow("6 and 7") << int64_t(8) << Places { { 6, 127 }, { 7, 127 } } << 32767 << 1;
    QTest::newRow("1 and 2") << int64_t(8) << Places { { 1, 127 }, { 2, 127 } } << 64770 << 0;
    QTest::newRow("0 and 2") << int64_t(8) << Places { { 0, 127 }, { 2, 127 } } << 64770 << 0;
    QTest::newRow("an odd end") << int64_t(9) << Places { { 7, 127 }, { 8, 127 } } << 64770 << 0;
    QTest::newRow("64 x 127") << int64_t(64) << all(64, 127) << 1048544 << 32;
    QTest::newRow("64 x 64") << int64_t(64) << all(64, 64) << 1044480 << 0;
    QTest::newRow("64 x -64") << int64_t(64) << all(64, -64) << -1044480 << 0;
    QTest::newRow("64 x 65") << int64_t(64) << all(64, 65) << 1048544 << 32;
    QTest::newRow("64 x -65") << int64_t(64) << all(64, -65) << -1048576 << 32;
    QTest::newRow("64 x -128") << int64_t(64) << all(64, -128) << -1048576 << 32;
}

/// Sums measured on ONNX Runtime's kernels on a CPU without VNNI: all activations 255.
void IntegerUnitsTests::saturatesPairs()
{
    using Places = std::vector<std::pair<int64_t, int>>;
    QFETCH(int64_t, depth);
    QFETCH(Places, weights);
    QFETCH(int32_t, sum);
    QFETCH(int, pairs);
    Tensor x = Tensor::allocate(DType::UInt8, { 1, depth });
    std::ranges::fill(x.fill<uint8_t>(), uint8_t(255));
    int64_t exact = 0;
    for (const auto& [k, code] : weights)
        exact += 255 * code;
    auto net = pairNet(depth, weights);
    const auto plan = net.plan(ArithmeticProfile::IntegerAvx2);
    std::map<NodeId, PairCounts> counts;
    const auto y = run(plan, { plan->graph().findValue("y") }, { x }, &counts);
    QVERIFY(!y.empty());
    QCOMPARE(y[0].data<int32_t>()[0], sum);
    QCOMPARE(counts.size(), size_t(1));
    QCOMPARE(counts.begin()->second.pairs, uint64_t(depth + 1) / 2);
    QCOMPARE(counts.begin()->second.saturated, std::vector<uint64_t> { uint64_t(pairs) });
    const auto same = run(net.replan(ArithmeticProfile::Integer), { plan->graph().findValue("y") }, { x });
    QCOMPARE(int64_t(same[0].data<int32_t>()[0]), exact);
}

void IntegerUnitsTests::saturatesByTheFile_data()
{
    QTest::addColumn<int>("index");
    QTest::addColumn<bool>("saturates");
    const auto row = [](const char* name, bool saturates) {
        for (int i = 0; i < int(std::size(kCases)); ++i)
            if (QString(kCases[i].name) == name)
                QTest::newRow(name) << i << saturates;
    };
    row("conv", true);
    row("conv s8", true);
    row("conv u8 to s8", true);
    row("shared DequantizeLinear", true);
    row("shared s8 DequantizeLinear is not shifted", false);
    row("s8 codes that are read", false);
    row("codes that are read", true);
    row("product", true);
    row("s8 product to float", true);
    row("gemm", true);
    row("add", false);
}

void IntegerUnitsTests::saturatesByTheFile()
{
    QFETCH(int, index);
    QFETCH(bool, saturates);
    QdqNet net;
    kCases[index].build(net);
    const auto plan = net.plan(ArithmeticProfile::IntegerAvx2);
    const auto feed = feedOf(*plan, 23);
    const std::vector<ValueId> outputs(plan->graph().outputs().begin(), plan->graph().outputs().end());
    std::map<NodeId, PairCounts> counts;
    const auto a = run(plan, outputs, feed, &counts);
    const auto b = run(net.replan(ArithmeticProfile::Integer), outputs, feed);
    QVERIFY(!a.empty() && !b.empty());
    uint64_t pairs = 0;
    for (const auto& [id, count] : counts)
        for (uint64_t c : count.saturated)
            pairs += c;
    QCOMPARE(pairs > 0, saturates);
    QCOMPARE(!sameBits(a[0], b[0]), saturates);
}

/// A constant float weight between DequantizeLinear and QuantizeLinear is quantized to asymmetric int8.
void IntegerUnitsTests::quantizesFloatConstants()
{
    QdqNet net;
    const std::string x = net.qdq(net.input("x", { 1, 1, 1, 2 }), "a", kU8, 1.0f, 0);
    net.constant("w", Tensor::of<float>({ 3, 1, 1, 1 }, { -1.0f, 0.3f, 1.55f }));
    net.constant("b", Tensor::of<float>({ 3 }, { 0.0f, 0.26f, -0.14f }));
    net.op("Conv", { x, "w", "b" }, "conv");
    net.output(net.qdq("conv", "y", kU8, 0.01f, 100));
    const auto plan = net.plan();
    // Range 2.55 over 255 steps: scale 0.01, zero point -28; 0.3 -> 30 - 28 = 2; biases in steps of 0.01.
    const auto y = run(plan, { plan->graph().findValue("y_q") }, { Tensor::of<float>({ 1, 1, 1, 2 }, { 0, 1 }) });
    QVERIFY(!y.empty());
    QCOMPARE(toInts(y[0]), (std::vector<int64_t> { 100, 0, 126, 156, 86, 241 }));
}

} // namespace

int runIntegerUnitsTests(int argc, char** argv)
{
    IntegerUnitsTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "integer_units_test.moc"
