// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/plan/merged_pairs.h"
#include "core/tensor/convert.h"
#include "tests/engine/net.h"
#include "tests/engine/qdq_nets.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace qs;

Q_DECLARE_METATYPE(qs::Tensor)

using namespace qs::test;

namespace {

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

class IntegerUnitsTests : public QObject {
    Q_OBJECT

private slots:
    void fuses_data();
    void fuses();
    void runs_data() { fuses_data(); }
    void runs();
    void hidesOnlyInnerValues();
    void equalsTheQLinearOperator();
    void onePairOfPairsInARow_data();
    void onePairOfPairsInARow();
    void multipliesByStoredBlocks_data();
    void multipliesByStoredBlocks();
    void quantizesFloatConstants();
    void dividesHalfFloatsAsTheProfileSays();
    void impossibleParameters_data();
    void impossibleParameters();
};

void IntegerUnitsTests::fuses_data()
{
    QTest::addColumn<int>("index");
    for (int i = 0; i < int(unitCases().size()); ++i)
        QTest::newRow(unitCases()[i].name) << i;
}

void IntegerUnitsTests::fuses()
{
    QFETCH(int, index);
    QdqNet net;
    unitCases()[index].build(net);
    QCOMPARE(unitsOf(*net.plan()), QString(unitCases()[index].units));
    QCOMPARE(unitsOf(*net.replan(ArithmeticProfile::Simulated)), QString());
    QCOMPARE(unitsOf(*net.replan(ArithmeticProfile::IntegerAvx2)), QString(unitCases()[index].units));
}

/// Codes within one step of the file as written where units start from the same codes, equal bits whoever watches, and
/// equal to the naive kernels.
void IntegerUnitsTests::runs()
{
    QFETCH(int, index);
    QdqNet net;
    unitCases()[index].build(net);
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
    if (!unitCases()[index].sameMeaning)
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

/// Scales and zero points in front and behind, and what ONNX Runtime's optimized file has in their place.
void IntegerUnitsTests::onePairOfPairsInARow_data()
{
    QTest::addColumn<float>("firstScale");
    QTest::addColumn<int>("firstZero");
    QTest::addColumn<float>("secondScale");
    QTest::addColumn<int>("secondZero");
    QTest::addColumn<float>("scale");
    QTest::addColumn<int>("zero");
    QTest::newRow("narrower behind") << 0.003922f << 0 << 0.003773f << 0 << 0.003773f << 0;
    QTest::newRow("narrower in front") << 0.003773f << 0 << 0.003922f << 0 << 0.003773f << 0;
    QTest::newRow("overlap") << 0.01f << 100 << 0.012f << 180 << 0.0074509805999696255f << 134;
}

void IntegerUnitsTests::onePairOfPairsInARow()
{
    QFETCH(float, firstScale);
    QFETCH(int, firstZero);
    QFETCH(float, secondScale);
    QFETCH(int, secondZero);
    QFETCH(float, scale);
    QFETCH(int, zero);
    QdqNet two, one;
    for (QdqNet* net : { &two, &one })
        net->node("Softmax", { net->qdq(net->input("x", { 3, 8 }), "a") }, "s").attributes.set("axis", int64_t(-1));
    two.output(two.qdq(two.qdq("s", "p", kU8, firstScale, firstZero), "y", kU8, secondScale, secondZero));
    one.output(one.qdq("s", "y", kU8, scale, zero));
    for (const auto profile : { ArithmeticProfile::Integer, ArithmeticProfile::IntegerAvx2 }) {
        const auto a = two.m_model ? two.replan(profile) : two.plan(profile);
        const auto b = one.m_model ? one.replan(profile) : one.plan(profile);
        const auto x = run(a, { a->graph().findValue("y"), a->graph().findValue("p") }, feedOf(*a, 5));
        const auto y = run(b, { b->graph().findValue("y") }, feedOf(*b, 5));
        QVERIFY(!x.empty() && !y.empty());
        QVERIFY(sameBits(x[0], y[0]) && sameBits(x[1], y[0]));
        QCOMPARE(isOnOtherGrid(*a, a->graph().findValue("p_q")), firstScale != scale);
        QCOMPARE(isOnOtherGrid(*a, a->graph().findValue("y_q")), secondScale != scale);
        QVERIFY(!isOnOtherGrid(*b, b->graph().findValue("y_q")));
    }
}

/// A constant float weight between DequantizeLinear and QuantizeLinear is quantized to asymmetric int8.
void IntegerUnitsTests::multipliesByStoredBlocks_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("block");
    QTest::addColumn<bool>("zeros");
    for (const DType type : { DType::Int2, DType::UInt2, DType::Int4, DType::UInt4, DType::Int8, DType::UInt8 })
        for (const int block : { 0, 16, 32 })
            for (const bool zeros : { false, true })
                if (dtypeBits(type) != 2 || block == 32) // blocks of 16 are multiplied as floats
                    QTest::addRow("%s, block %d%s", dtypeName(type).data(), block, zeros ? ", zero points" : "")
                        << int(type) << block << zeros;
}

/// Rows in codes of 8 bits with one scale a block, as the definition of accuracy level 4 has it, in double.
void IntegerUnitsTests::multipliesByStoredBlocks()
{
    QFETCH(int, type);
    QFETCH(int, block);
    QFETCH(bool, zeros);
    QdqNet net;
    net.opset = 25;
    net.op("MatMul", { net.input("x", { 7, 40 }), net.storedWeight("w", DType(type), block, zeros) }, "p");
    net.output("p");
    const auto plan = net.plan();
    const auto feed = feedOf(*plan, 3);
    const auto id = [&](const char* name) { return plan->graph().findValue(name); };
    const auto made = run(plan, { id("p") }, feed);
    QVERIFY(!made.empty());
    const auto x = toFloats(feed[0]), w = toFloats(*plan->constant(id("w"))), p = toFloats(made[0]);
    const size_t step = block ? size_t(block) : 32;
    for (size_t row = 0; row < 7; ++row)
        for (size_t column = 0; column < 5; ++column) {
            double wanted = 0, size = 0;
            for (size_t first = 0; first < 40; first += step) {
                const size_t last = std::min<size_t>(40, first + step);
                float largest = 0;
                for (size_t k = first; k < last; ++k)
                    largest = std::max(largest, std::abs(x[row * 40 + k]));
                const float scale = largest / 127, inverse = 1 / scale;
                for (size_t k = first; k < last; ++k) {
                    const double term
                        = std::nearbyint(x[row * 40 + k] * inverse) * double(scale) * double(w[k * 5 + column]);
                    wanted += term;
                    size += std::abs(term);
                }
            }
            QVERIFY2(std::abs(double(p[row * 5 + column]) - wanted) <= 1e-5 * size, qPrintable(QString::number(row)));
        }
}

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

/// 0.625 / 0.05 in float16 is 12.5, which rounds to 12: the standard. In float32 it is a little more: ONNX Runtime.
void IntegerUnitsTests::dividesHalfFloatsAsTheProfileSays()
{
    const auto half = [](const Shape& shape, float value) {
        Tensor t = Tensor::allocate(DType::Float16, shape);
        t.fill<uint16_t>()[0] = floatToFloat16(value);
        return t;
    };
    for (const ArithmeticProfile profile :
        { ArithmeticProfile::Simulated, ArithmeticProfile::Integer, ArithmeticProfile::IntegerAvx2 }) {
        const auto plan = Net()
                              .input("x", DType::Float16)
                              .constant("s", half({}, 0.05f))
                              .constant("z", Tensor::scalar<int8_t>(0))
                              .opset(21)
                              .op("QuantizeLinear", { "x", "s", "z" }, { "y" })
                              .output("y")
                              .plan({ .profile = profile });
        const auto made = runNet(plan, { half({ 1 }, 0.625f) });
        QVERIFY(made.ok());
        QCOMPARE(int((*made)[0].data<int8_t>()[0]), profile == ArithmeticProfile::Simulated ? 12 : 13);
    }
}

} // namespace

/// A product of codes one of whose constants says nothing that a quantizer can be: its node keeps the reason, no unit
/// is made of it, and whatever does not depend on it runs.
void IntegerUnitsTests::impossibleParameters_data()
{
    QTest::addColumn<QString>("constant");
    QTest::addColumn<Tensor>("value");
    QTest::addColumn<QString>("told");
    const auto none = Tensor::allocate(DType::Float32, { 0 });
    for (const char* scale : { "x_s", "w_s", "y_s", "b_s" })
        QTest::newRow((QByteArray(scale) + " empty").constData()) << scale << none << "scale is empty";
    for (const char* zero : { "x_z", "y_z" })
        QTest::newRow((QByteArray(zero) + " empty").constData())
            << zero << Tensor::allocate(DType::UInt8, { 0 }) << "zero point is empty";
    QTest::newRow("two zero points") << "w_z" << Tensor::of<int8_t>({ 2 }, { 0, 0 }) << "2 elements";
    QTest::newRow("scale of integers") << "w_s" << Tensor::scalar(int64_t(1)) << "int64";
    QTest::newRow("scales beside the axis") << "w_s" << Tensor::of<float>({ 2 }, { 1, 2 }) << "does not fit";
    QTest::newRow("int64 codes") << "w_q" << Tensor::of<int64_t>({ 3, 4 }, std::vector<int64_t>(12, 1)) << "int64";
    QTest::newRow("float64 codes") << "w_q" << Tensor::of<double>({ 3, 4 }, std::vector<double>(12, 1)) << "float64";
    QTest::newRow("float zero point") << "y_z" << Tensor::scalar(3.0f) << "float32";
}

void IntegerUnitsTests::impossibleParameters()
{
    QFETCH(QString, constant);
    QFETCH(Tensor, value);
    QFETCH(QString, told);
    std::map<std::string, Tensor> constants { { "x_s", Tensor::scalar(0.05f) }, { "x_z", Tensor::scalar(uint8_t(3)) },
        { "w_q", Tensor::of<int8_t>({ 3, 4 }, std::vector<int8_t>(12, 2)) }, { "w_s", Tensor::scalar(0.1f) },
        { "w_z", Tensor::scalar(int8_t(0)) }, { "b_q", Tensor::of<int32_t>({ 4 }, { 1, 2, 3, 4 }) },
        { "b_s", Tensor::scalar(0.005f) }, { "y_s", Tensor::scalar(0.2f) }, { "y_z", Tensor::scalar(uint8_t(9)) } };
    const auto plan = [&](ArithmeticProfile profile) {
        Net net;
        net.input("x", DType::Float32, toDims({ 1, 3 }));
        for (const auto& [name, tensor] : constants)
            net.constant(name, tensor);
        net.op("QuantizeLinear", { "x", "x_s", "x_z" }, { "xq" })
            .op("DequantizeLinear", { "xq", "x_s", "x_z" }, { "xd" })
            .op("DequantizeLinear", { "w_q", "w_s", "w_z" }, { "w" })
            .op("DequantizeLinear", { "b_q", "b_s" }, { "b" })
            .op("Gemm", { "xd", "w", "b" }, { "g" })
            .op("QuantizeLinear", { "g", "y_s", "y_z" }, { "yq" })
            .op("DequantizeLinear", { "yq", "y_s", "y_z" }, { "y" })
            .output("y");
        PlanOptions options;
        options.profile = profile;
        return net.plan(options);
    };
    QVERIFY(runNet(plan(ArithmeticProfile::Integer), { floats({ 1, 2, 3 }).reshaped({ 1, 3 }) }).ok());
    constants[constant.toStdString()] = value;
    for (const auto profile :
        { ArithmeticProfile::Simulated, ArithmeticProfile::Integer, ArithmeticProfile::IntegerAvx2 }) {
        const auto ran = runNet(plan(profile), { floats({ 1, 2, 3 }).reshaped({ 1, 3 }) });
        QVERIFY(!ran.ok());
        QCOMPARE(ran.issue().kind, IssueKind::BadInput);
        QVERIFY(!ran.issue().node.empty());
        QVERIFY2(QString::fromStdString(ran.issue().what).contains(told), ran.issue().what.c_str());
    }
}

int runIntegerUnitsTests(int argc, char** argv)
{
    IntegerUnitsTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "integer_units_test.moc"
