// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/infer.h"
#include "core/ops/window.h"
#include "tests/ops/single_node.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

namespace {

Fact named(Dims dims) { return fact(DType::Float32, std::move(dims)); }

/// Inferred dims of one output, or what was wrong.
QString dimsOf(const Node& node, const std::vector<Fact>& inputs, size_t output = 0)
{
    const auto out = infer(node, inputs);
    if (!out.ok())
        return "issue";
    if (output >= out->size() || !(*out)[output].dims)
        return "unknown";
    return QString::fromStdString(dimsText(*(*out)[output].dims));
}

std::optional<int64_t> macsOf(const Node& node, const std::vector<Fact>& inputs)
{
    const Op* op = opRegistry().find(node);
    const auto out = op->infer({ node, inputs });
    return out.ok() ? op->macs({ node, inputs }, *out) : std::nullopt;
}

using Ints = std::vector<int64_t>;

} // namespace

class ProductOpsTest : public QObject {
    Q_OBJECT
private slots:
    void convSizes();
    void convKeepsNames();
    void convRefusals();
    void sizesThatNothingHas();
    void transposedSizes();
    void automaticTransposedSizes_data();
    void automaticTransposedSizes();
    void automaticPads();
    void poolSizes();
    void matmulSizes();
    void gemmSizes();
    void normSizes();
    void reducedSizes();
    void costs();
};

void ProductOpsTest::convSizes()
{
    Node conv = makeNode("Conv", 3);
    QCOMPARE(dimsOf(conv, { ofShape({ 2, 3, 9, 8 }), ofShape({ 4, 3, 3, 2 }), ofShape({ 4 }) }), "2x4x7x7");
    conv.attributes.set("pads", Ints { 1, 0, 2, 1 });
    conv.attributes.set("strides", Ints { 2, 3 });
    conv.attributes.set("dilations", Ints { 2, 1 });
    QCOMPARE(dimsOf(conv, { ofShape({ 2, 3, 9, 8 }), ofShape({ 4, 3, 3, 2 }), ofShape({ 4 }) }), "2x4x4x3");
    QCOMPARE(dimsOf(conv, { fact(DType::Float32), ofShape({ 4, 3, 3, 2 }), ofShape({ 4 }) }), "?x4x?x?");
}

void ProductOpsTest::convKeepsNames()
{
    Node conv = makeNode("Conv", 2);
    conv.attributes.set("pads", Ints { 1, 1 });
    const Dims dims { { -1, "N" }, { 3, {} }, { -1, "length" } };
    QCOMPARE(dimsOf(conv, { named(dims), ofShape({ 8, 3, 3 }) }), "Nx8xlength");
    conv.attributes.set("strides", Ints { 2 });
    QCOMPARE(dimsOf(conv, { named(dims), ofShape({ 8, 3, 3 }) }), "Nx8x?");
}

/// Declared by files that nobody vouches for; sums and products of them leave 64 bits.
void ProductOpsTest::sizesThatNothingHas()
{
    constexpr int64_t kMost = INT64_MAX;
    Node conv = makeNode("Conv", 2);
    conv.attributes.set("pads", Ints { 1, 1 });
    QCOMPARE(dimsOf(conv, { ofShape({ 1, 3, kMost }), ofShape({ 4, 3, 3 }) }), "issue");
    QCOMPARE(dimsOf(conv, { ofShape({ 1, kMost, 9 }), ofShape({ 4, kMost, 3 }) }),
        QString("1x4x9")); // nothing is computed with channels
    Node transposed = makeNode("ConvTranspose", 2);
    QCOMPARE(dimsOf(transposed, { ofShape({ 1, 4, kMost }), ofShape({ 4, 3, 3 }) }), "issue");
    transposed.attributes.set("group", int64_t(4));
    QCOMPARE(dimsOf(transposed, { ofShape({ 1, 4, 9 }), ofShape({ 4, kMost, 3 }) }), "1x?x11");
    QCOMPARE(dimsOf(makeNode("Concat", 2), { ofShape({ kMost }), ofShape({ kMost }) }), "issue"); // lacks its axis
    Node concat = makeNode("Concat", 2);
    concat.attributes.set("axis", int64_t(0));
    QCOMPARE(dimsOf(concat, { ofShape({ kMost }), ofShape({ kMost }) }), "?");
}

void ProductOpsTest::convRefusals()
{
    Node conv = makeNode("Conv", 2);
    const Fact x = ofShape({ 1, 3, 9, 9 });
    QCOMPARE(dimsOf(conv, { x, ofShape({ 4, 2, 3, 3 }) }), "issue"); // channels
    QCOMPARE(dimsOf(conv, { x, ofShape({ 4, 3, 3 }) }), "issue"); // rank
    QCOMPARE(dimsOf(conv, { x, ofShape({ 4, 3, 10, 3 }) }), "issue"); // larger than the input
    conv.attributes.set("strides", Ints { 1, 0 });
    QCOMPARE(dimsOf(conv, { x, ofShape({ 4, 3, 3, 3 }) }), "issue");
    conv.attributes.set("strides", Ints { 1 });
    QCOMPARE(dimsOf(conv, { x, ofShape({ 4, 3, 3, 3 }) }), "issue");
    conv.attributes.set("strides", Ints { 1, 1 });
    conv.attributes.set("group", int64_t(2));
    QCOMPARE(dimsOf(conv, { x, ofShape({ 4, 1, 3, 3 }) }), "issue");
    conv.attributes.set("group", int64_t(1));
    conv.attributes.set("auto_pad", std::string("LEFT"));
    QCOMPARE(dimsOf(conv, { x, ofShape({ 4, 3, 3, 3 }) }), "issue");
}

void ProductOpsTest::transposedSizes()
{
    Node conv = makeNode("ConvTranspose", 2);
    conv.attributes.set("strides", Ints { 3, 2 });
    conv.attributes.set("group", int64_t(2));
    const std::vector<Fact> inputs { ofShape({ 1, 4, 3, 3 }), ofShape({ 4, 5, 3, 3 }) };
    QCOMPARE(dimsOf(conv, inputs), "1x10x9x7");
    conv.attributes.set("output_padding", Ints { 1, 1 });
    QCOMPARE(dimsOf(conv, inputs), "1x10x10x8");
    conv.attributes.set("output_shape", Ints { 10, 8 });
    QCOMPARE(dimsOf(conv, inputs), "1x10x10x8");
}

void ProductOpsTest::automaticTransposedSizes_data()
{
    QTest::addColumn<int>("kernel");
    QTest::addColumn<int>("stride");
    QTest::addColumn<int>("dilation");
    QTest::addColumn<int>("outputPadding");
    QTest::addColumn<int>("out");
    QTest::newRow("kernel above the stride") << 4 << 3 << 1 << 0 << 12;
    QTest::newRow("kernel as the stride") << 3 << 3 << 1 << 0 << 12;
    QTest::newRow("kernel below the stride") << 2 << 3 << 1 << 0 << 11;
    QTest::newRow("kernel of one") << 1 << 3 << 1 << 0 << 10;
    QTest::newRow("dilated as far as the stride") << 2 << 3 << 2 << 0 << 12;
    QTest::newRow("padding makes up for it") << 2 << 3 << 1 << 1 << 12;
}

/// 4 elements; as many as input * stride, unless pads would have to be negative.
void ProductOpsTest::automaticTransposedSizes()
{
    QFETCH(int, kernel);
    QFETCH(int, stride);
    QFETCH(int, dilation);
    QFETCH(int, outputPadding);
    QFETCH(int, out);
    for (const char* mode : { "SAME_UPPER", "SAME_LOWER" }) {
        Node conv = makeNode("ConvTranspose", 2);
        conv.attributes.set("auto_pad", std::string(mode));
        conv.attributes.set("strides", Ints { stride });
        conv.attributes.set("dilations", Ints { dilation });
        conv.attributes.set("output_padding", Ints { outputPadding });
        QCOMPARE(dimsOf(conv, { ofShape({ 1, 2, 4 }), ofShape({ 2, 3, kernel }) }), QString("1x3x%1").arg(out));
    }
}

void ProductOpsTest::automaticPads()
{
    // 5 elements, kernel 4, stride 1: three zeros, the odd one after (upper) or before (lower).
    Node conv = makeNode("Conv", 2);
    for (const char* mode : { "SAME_UPPER", "SAME_LOWER" }) {
        conv.attributes.set("auto_pad", std::string(mode));
        const auto attributes = windowAttributes(conv);
        QVERIFY(attributes.ok());
        const auto axis = windowAxis(conv, *attributes, WindowKind::Conv, 0, 1, 5, 4);
        QVERIFY(axis.ok());
        QCOMPARE(axis->out, int64_t(5));
        QCOMPARE(axis->padBegin, int64_t(mode == std::string("SAME_UPPER") ? 1 : 2));
        QCOMPARE(axis->padBegin + axis->padEnd, int64_t(3));
    }
}

void ProductOpsTest::poolSizes()
{
    Node pool = makeNode("MaxPool", 1, 2, {}, 12);
    QCOMPARE(dimsOf(pool, { ofShape({ 1, 2, 6 }) }), "issue"); // no kernel
    pool.attributes.set("kernel_shape", Ints { 3 });
    pool.attributes.set("strides", Ints { 2 });
    QCOMPARE(dimsOf(pool, { ofShape({ 1, 2, 6 }) }), "1x2x2");
    pool.attributes.set("ceil_mode", int64_t(1));
    QCOMPARE(dimsOf(pool, { ofShape({ 1, 2, 6 }) }, 1), "1x2x3");
    QCOMPARE((*infer(pool, { ofShape({ 1, 2, 6 }) }))[1].dtype, DType::Int64);
    // A last window that would start in the padding at the end is left out.
    pool.attributes.set("kernel_shape", Ints { 1 });
    pool.attributes.set("pads", Ints { 0, 1 });
    QCOMPARE(dimsOf(pool, { ofShape({ 1, 2, 6 }) }), "1x2x3");
    QCOMPARE(dimsOf(makeNode("GlobalAveragePool", 1), { named({ { -1, "N" }, { 5, {} }, {}, { 7, {} } }) }), "Nx5x1x1");
}

void ProductOpsTest::matmulSizes()
{
    const Node node = makeNode("MatMul", 2);
    QCOMPARE(dimsOf(node, { ofShape({ 5, 1, 2, 3 }), ofShape({ 6, 3, 4 }) }), "5x6x2x4");
    QCOMPARE(dimsOf(node, { ofShape({ 3 }), ofShape({ 3 }) }), "scalar");
    QCOMPARE(dimsOf(node, { ofShape({ 3 }), ofShape({ 7, 3, 4 }) }), "7x4");
    QCOMPARE(dimsOf(node, { ofShape({ 7, 2, 3 }), ofShape({ 3 }) }), "7x2");
    QCOMPARE(dimsOf(node, { named({ { -1, "B" }, { 3, {} } }), ofShape({ 3, 4 }) }), "Bx4");
    QCOMPARE(dimsOf(node, { ofShape({ 2, 3 }), ofShape({ 4, 3 }) }), "issue");
    QCOMPARE(dimsOf(node, { ofShape({}), ofShape({ 4, 3 }) }), "issue");
}

void ProductOpsTest::gemmSizes()
{
    Node node = makeNode("Gemm", 3);
    QCOMPARE(dimsOf(node, { ofShape({ 2, 3 }), ofShape({ 3, 4 }), ofShape({ 4 }) }), "2x4");
    node.attributes.set("transA", int64_t(1));
    QCOMPARE(dimsOf(node, { ofShape({ 2, 3 }), ofShape({ 3, 4 }), ofShape({ 4 }) }), "issue");
    node.attributes.set("transB", int64_t(1));
    QCOMPARE(dimsOf(node, { ofShape({ 3, 2 }), ofShape({ 4, 3 }), ofShape({ 4 }) }), "2x4");
    QCOMPARE(dimsOf(node, { ofShape({ 1, 3, 2 }), ofShape({ 4, 3 }), ofShape({ 4 }) }), "issue");
}

void ProductOpsTest::normSizes()
{
    Node layer = makeNode("LayerNormalization", 3, 3);
    const std::vector<Fact> inputs { ofShape({ 2, 3, 4 }), ofShape({ 3, 4 }), ofShape({ 3, 4 }) };
    layer.attributes.set("axis", int64_t(1));
    QCOMPARE(dimsOf(layer, inputs), "2x3x4");
    QCOMPARE(dimsOf(layer, inputs, 2), "2x1x1");
    layer.attributes.set("axis", int64_t(3));
    QCOMPARE(dimsOf(layer, inputs), "issue");
    QCOMPARE(dimsOf(makeNode("BatchNormalization", 5),
                 { ofShape({ 2, 3, 4 }), ofShape({ 5 }), ofShape({ 5 }), ofShape({ 5 }), ofShape({ 5 }) }),
        "issue");
    QCOMPARE(dimsOf(makeNode("Softmax", 1), { ofShape({ 2, 3 }) }), "2x3");
}

void ProductOpsTest::reducedSizes()
{
    Node old = makeNode("ReduceMean", 1, 1, {}, 13);
    QCOMPARE(dimsOf(old, { ofShape({ 2, 3, 4 }) }), "1x1x1");
    old.attributes.set("axes", Ints { -1, 0 });
    QCOMPARE(dimsOf(old, { ofShape({ 2, 3, 4 }) }), "1x3x1");
    old.attributes.set("keepdims", int64_t(0));
    QCOMPARE(dimsOf(old, { ofShape({ 2, 3, 4 }) }), "3");
    old.attributes.set("axes", Ints { 3 });
    QCOMPARE(dimsOf(old, { ofShape({ 2, 3, 4 }) }), "issue");

    Node sum = makeNode("ReduceSum", 2, 1, {}, 13);
    QCOMPARE(dimsOf(sum, { ofShape({ 2, 3 }), constantFact(Tensor::of<int64_t>({ 1 }, { 1 })) }), "2x1");
    QCOMPARE(dimsOf(sum, { ofShape({ 2, 3 }), fact(DType::Int64, toDims({ 1 })) }), "?x?");
    sum.attributes.set("noop_with_empty_axes", int64_t(1));
    QCOMPARE(dimsOf(sum, { ofShape({ 2, 3 }), constantFact(Tensor::of<int64_t>({ 0 }, {})) }), "2x3");

    Node arg = makeNode("ArgMax", 1);
    arg.attributes.set("keepdims", int64_t(0));
    QCOMPARE(dimsOf(arg, { ofShape({ 2, 3 }) }), "3");
    QCOMPARE((*infer(arg, { ofShape({ 2, 3 }) }))[0].dtype, DType::Int64);
}

void ProductOpsTest::costs()
{
    Node conv = makeNode("Conv", 2);
    conv.attributes.set("group", int64_t(2));
    // 1 x 6 x 3 x 3 outputs of 2 x 3 x 3 products each.
    QCOMPARE(macsOf(conv, { ofShape({ 1, 4, 5, 5 }), ofShape({ 6, 2, 3, 3 }) }), std::optional<int64_t>(54 * 18));
    QCOMPARE(macsOf(conv, { named({ { -1, "N" }, { 4, {} }, { 5, {} }, { 5, {} } }), ofShape({ 6, 2, 3, 3 }) }),
        std::optional<int64_t>());
    QCOMPARE(macsOf(makeNode("ConvTranspose", 2), { ofShape({ 1, 4, 5, 5 }), ofShape({ 4, 2, 3, 3 }) }),
        std::optional<int64_t>(100 * 18));
    QCOMPARE(macsOf(makeNode("MatMul", 2), { ofShape({ 5, 2, 3 }), ofShape({ 3, 4 }) }), std::optional<int64_t>(120));
    QCOMPARE(macsOf(makeNode("Gemm", 2), { ofShape({ 2, 3 }), ofShape({ 3, 4 }) }), std::optional<int64_t>(24));
}

int runProductOpsTests(int argc, char** argv)
{
    ProductOpsTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "product_ops_test.moc"
