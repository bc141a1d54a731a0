// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/execution.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <random>

using namespace qs;
using namespace qs::test;

namespace {

Tensor randomCodes(std::mt19937& random, DType type, Shape shape)
{
    Tensor t = Tensor::allocate(type, std::move(shape));
    for (uint8_t& code : t.fill<uint8_t>())
        code = static_cast<uint8_t>(random());
    return t;
}

/// A model of one node; inputs by name and value, the first one is the graph's input.
std::shared_ptr<const Plan> planOf(Node node, const std::vector<std::pair<std::string, Tensor>>& inputs, int opset = 13)
{
    GraphBuilder builder;
    node.name = "node";
    node.opset = opset;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const ValueId id = builder.value(inputs[i].first);
        node.inputs.push_back(id);
        if (i > 0)
            builder.setInitializer(id, inputs[i].second);
        else
            builder.addInput(id);
    }
    node.outputs = { builder.value("y") };
    builder.addOutput(node.outputs[0]);
    builder.addNode(std::move(node));
    auto model = std::make_shared<Model>();
    model->graph = *std::move(builder).finish();
    return Plan::make(model);
}

struct Outcome {
    Tensor y, unrounded;
};

Outcome run(const std::shared_ptr<const Plan>& plan, const Tensor& x, size_t threads, bool unrounded)
{
    Demand demand { { plan->graph().outputs()[0] }, {} };
    if (unrounded)
        demand.unrounded.push_back(NodeId(0));
    BufferPool pool;
    WorkerTeam team(threads);
    Execution execution(*Schedule::make(plan, demand), pool);
    execution.useTeam(&team);
    const Tensor inputs[] { x };
    if (!execution.bind(inputs).ok() || !execution.runAll().ok())
        return {};
    return { execution.get(demand.values[0]), unrounded ? execution.unrounded(NodeId(0)) : Tensor() };
}

class RowPartsTests : public QObject {
    Q_OBJECT
private slots:
    void convolutions_data()
    {
        QTest::addColumn<int>("channels");
        QTest::addColumn<int>("filters");
        QTest::addColumn<int>("groups");
        QTest::addColumn<int>("kernel");
        QTest::addColumn<int>("stride");
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("batch");
        QTest::newRow("pointwise") << 64 << 40 << 1 << 1 << 1 << 31 << 1;
        QTest::newRow("3x3") << 16 << 24 << 1 << 3 << 1 << 37 << 1;
        QTest::newRow("strided, batch") << 16 << 24 << 1 << 3 << 2 << 61 << 2;
        QTest::newRow("depthwise") << 96 << 96 << 96 << 3 << 1 << 57 << 1;
        QTest::newRow("depthwise strided") << 160 << 160 << 160 << 5 << 2 << 45 << 1;
        QTest::newRow("groups") << 24 << 36 << 3 << 3 << 1 << 41 << 1;
        QTest::newRow("little work") << 8 << 8 << 1 << 3 << 1 << 5 << 1;
    }

    void convolutions()
    {
        QFETCH(const int, channels);
        QFETCH(const int, filters);
        QFETCH(const int, groups);
        QFETCH(const int, kernel);
        QFETCH(const int, stride);
        QFETCH(const int, size);
        QFETCH(const int, batch);
        std::mt19937 random(5);
        const Tensor x = randomCodes(random, DType::UInt8, { batch, channels, size, size });
        const Tensor w = randomCodes(random, DType::Int8, { filters, channels / groups, kernel, kernel });
        Node node;
        node.attributes.set("group", int64_t(groups));
        node.attributes.set("strides", std::vector<int64_t>(2, stride));
        node.attributes.set("pads", std::vector<int64_t>(4, kernel / 2));
        Node sums = node, codes = node;
        sums.opType = "ConvInteger";
        codes.opType = "QLinearConv";
        const Tensor zero = Tensor::scalar<uint8_t>(120), wZero = Tensor::scalar<int8_t>(0);
        const auto exact = planOf(sums, { { "x", x }, { "w", w }, { "xz", zero }, { "wz", wZero } });
        const auto rounded = planOf(codes,
            { { "x", x }, { "xs", Tensor::scalar(0.02f) }, { "xz", zero }, { "w", w }, { "ws", Tensor::scalar(0.01f) },
                { "wz", wZero }, { "ys", Tensor::scalar(0.5f) }, { "yz", Tensor::scalar<uint8_t>(130) } });
        for (size_t threads : { 2, 3, 5 }) {
            QVERIFY(sameBits(run(exact, x, threads, false).y, run(exact, x, 1, false).y));
            QVERIFY(sameBits(run(rounded, x, threads, false).y, run(rounded, x, 1, false).y));
            const Outcome one = run(rounded, x, 1, true), many = run(rounded, x, threads, true);
            QVERIFY(sameBits(many.y, one.y) && sameBits(many.unrounded, one.unrounded));
        }
    }

    void normalizations_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<int>("rows");
        for (const char* type : { "Softmax", "LogSoftmax", "LayerNormalization", "InstanceNormalization" })
            for (int rows : { 1, 7, 1001 })
                QTest::newRow(qPrintable(QString("%1, %2 rows").arg(type).arg(rows))) << type << rows;
    }

    void normalizations()
    {
        QFETCH(const QString, type);
        QFETCH(const int, rows);
        std::mt19937 random(8);
        std::normal_distribution<float> normal;
        const auto floats = [&](Shape shape) {
            Tensor t = Tensor::allocate(DType::Float32, std::move(shape));
            for (float& v : t.fill<float>())
                v = normal(random);
            return t;
        };
        const int64_t width = 193;
        Node node;
        node.opType = type.toStdString();
        std::vector<std::pair<std::string, Tensor>> inputs { { "x", floats({ 3, rows, width }) } };
        const int64_t scales = type == "InstanceNormalization" ? rows : width;
        if (!type.endsWith("Softmax")) {
            inputs.emplace_back("scale", floats({ scales }));
            inputs.emplace_back("bias", floats({ scales }));
        }
        const auto plan = planOf(node, inputs, 17);
        const Tensor one = run(plan, inputs[0].second, 1, false).y;
        for (size_t threads : { 2, 3, 5 })
            QVERIFY(sameBits(run(plan, inputs[0].second, threads, false).y, one));
    }

    void products_data()
    {
        QTest::addColumn<int>("rows");
        QTest::addColumn<bool>("zeroForEachRow");
        QTest::newRow("many rows") << 1003 << false;
        QTest::newRow("a zero point a row") << 517 << true;
        QTest::newRow("one row") << 1 << false;
    }

    void products()
    {
        QFETCH(const int, rows);
        QFETCH(const bool, zeroForEachRow);
        std::mt19937 random(6);
        const Tensor a = randomCodes(random, DType::UInt8, { rows, 96 }),
                     b = randomCodes(random, DType::Int8, { 96, 70 });
        Node sums, codes;
        sums.opType = "MatMulInteger";
        codes.opType = "QLinearMatMul";
        const Tensor zero = zeroForEachRow ? randomCodes(random, DType::UInt8, { rows }) : Tensor::scalar<uint8_t>(7);
        const auto exact = planOf(sums, { { "a", a }, { "b", b }, { "az", zero } });
        const auto rounded = planOf(codes,
            { { "a", a }, { "as", Tensor::scalar(0.02f) }, { "az", Tensor::scalar<uint8_t>(7) }, { "b", b },
                { "bs", Tensor::scalar(0.01f) }, { "bz", Tensor::scalar<int8_t>(0) }, { "ys", Tensor::scalar(0.5f) },
                { "yz", Tensor::scalar<uint8_t>(130) } });
        for (size_t threads : { 2, 3 }) {
            QVERIFY(sameBits(run(exact, a, threads, false).y, run(exact, a, 1, false).y));
            QVERIFY(sameBits(run(rounded, a, threads, false).y, run(rounded, a, 1, false).y));
            QVERIFY(sameBits(run(rounded, a, threads, true).unrounded, run(rounded, a, 1, true).unrounded));
        }
    }
};

} // namespace

int runRowPartsTests(int argc, char** argv)
{
    RowPartsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "row_parts_test.moc"
