// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/qdq_nets.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

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

class PairSaturationTests : public QObject {
    Q_OBJECT

private slots:
    void saturatesPairs_data();
    void saturatesPairs();
    void saturatesByTheFile_data();
    void saturatesByTheFile();
};

void PairSaturationTests::saturatesPairs_data()
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
void PairSaturationTests::saturatesPairs()
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

void PairSaturationTests::saturatesByTheFile_data()
{
    QTest::addColumn<int>("index");
    QTest::addColumn<bool>("saturates");
    const auto row = [](const char* name, bool saturates) {
        for (int i = 0; i < int(unitCases().size()); ++i)
            if (QString(unitCases()[i].name) == name)
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

void PairSaturationTests::saturatesByTheFile()
{
    QFETCH(int, index);
    QFETCH(bool, saturates);
    QdqNet net;
    unitCases()[index].build(net);
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

} // namespace

int runPairSaturationTests(int argc, char** argv)
{
    PairSaturationTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "pair_saturation_test.moc"
