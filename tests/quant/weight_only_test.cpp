// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/weight_only/block_codes.h"
#include "core/quant/weight_only/gptq.h"
#include "core/quant/weight_only/hessian.h"
#include "core/quant/weight_only/table_codes.h"
#include "core/quant/weight_only/torch_sums.h"
#include "core/quant/write/quantizer.h"
#endif
#include "core/tensor/convert.h"
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace qs;
using qs::test::SmallModel;
using enum qs::WeightOnlyAlgorithm;

namespace {

constexpr unsigned kSeed = 20261122;

Tensor randomMatrix(int64_t rows, int64_t columns, unsigned seed = kSeed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 0.5f);
    Tensor t = Tensor::allocate(DType::Float32, { rows, columns });
    std::ranges::generate(t.fill<float>(), [&] { return normal(random); });
    return t;
}

BlockRules rulesOf(WeightOnlyAlgorithm algorithm, int bits, int64_t block, bool symmetric, size_t threads = 1)
{
    BlockRules rules;
    rules.algorithm = algorithm;
    rules.bits = bits;
    rules.blockSize = block;
    rules.symmetric = symmetric;
    rules.threads = threads;
    return rules;
}

/// What the codes stand for, [K, N].
std::vector<double> dequantized(const BlockMatrix& m, int64_t blockSize)
{
    std::vector<double> out(m.codes.size());
    for (int64_t r = 0; r < m.rows; ++r)
        for (int64_t c = 0; c < m.columns; ++c) {
            const size_t at = m.at(static_cast<size_t>(c), static_cast<size_t>(r / blockSize));
            const double zero = m.realZeros.empty() ? m.zeroPoints[at] : double(m.realZeros[at]);
            out[static_cast<size_t>(r * m.columns + c)]
                = (m.codes[static_cast<size_t>(c * m.rows + r)] - zero) * double(m.scales[at]);
        }
    return out;
}

Result<QuantizedDraft> quantize(SmallModel net, const Recipe& recipe, const QuantizerHelp& help = {})
{
    const auto prepared = std::move(net).finish();
    return quantizeDraft(GraphDraft(std::make_shared<Model>(prepared.plan->model())), recipe, {}, help);
}

Recipe blockRecipe(DType type = DType::UInt4)
{
    Recipe recipe;
    recipe.format = RecipeFormat::WeightOnly;
    recipe.weightType = type;
    recipe.weightOnly.blockSize = 16;
    return recipe;
}

SmallModel productNet(Shape input = { 2, 40 }, Shape weight = { 40, 6 })
{
    const int64_t columns = weight.back(), rows = elementCount(weight).value() / columns;
    SmallModel m("net.onnx");
    m.input("x", std::move(input))
        .constant("w", randomMatrix(rows, columns).reshaped(std::move(weight)))
        .node("MatMul", { "x", "w" }, { "y" })
        .output("y");
    return m;
}

/// y = If(go): x * outside, where the weight lies around the branch; else x * own
std::shared_ptr<const Model> branchNet()
{
    const auto branch = [](const std::string& name, const std::string& weight) {
        GraphBuilder b(name);
        b.allowOuter("x");
        if (weight == "outside")
            b.allowOuter(weight);
        else
            b.setInitializer(b.value(weight), randomMatrix(40, 6, kSeed + 2));
        Node product;
        product.name = "n_" + name + "_out";
        product.opType = "MatMul";
        product.opset = 17;
        product.inputs = { b.value("x"), b.value(weight) };
        product.outputs = { b.value(name + "_out") };
        b.addNode(std::move(product));
        b.addOutput(b.value(name + "_out"));
        return std::make_shared<const Graph>(std::move(b).finish().value());
    };
    GraphBuilder b("net");
    for (const char* name : { "go", "x" })
        b.addInput(b.value(name));
    b.setType(b.value("go"), { DType::Bool, Dims {}, {} });
    b.setType(b.value("x"), { DType::Float32, toDims({ 2, 40 }), {} });
    b.setInitializer(b.value("outside"), randomMatrix(40, 6));
    Node choice;
    choice.name = "n_y";
    choice.opType = "If";
    choice.opset = 17;
    choice.inputs = { b.value("go") };
    choice.outputs = { b.value("y") };
    choice.captures = { b.value("x"), b.value("outside") };
    choice.attributes.set("then_branch", branch("then", "outside"));
    choice.attributes.set("else_branch", branch("else", "own"));
    b.addNode(std::move(choice));
    b.addOutput(b.value("y"));
    auto model = std::make_shared<Model>();
    model->path = "net.onnx";
    model->graph = std::move(b).finish().value();
    model->opsetImports[""] = 17;
    return model;
}

const DraftNode* nodeOf(const GraphDraft& draft, const std::string& type)
{
    const auto it = std::ranges::find_if(draft.nodes, [&](const DraftNode& n) { return n.opType == type; });
    return it == draft.nodes.end() ? nullptr : &*it;
}

/// H of random inputs that depend on each other.
InputProducts productsOf(size_t size, size_t samples, std::vector<double>& inputs)
{
    std::mt19937 random(kSeed + 1);
    std::normal_distribution<double> normal;
    inputs.resize(samples * size);
    for (size_t s = 0; s < samples; ++s) {
        double carried = 0;
        for (size_t i = 0; i < size; ++i)
            inputs[s * size + i] = carried = 0.9 * carried + normal(random);
    }
    InputProducts sums { size, std::vector<double>(size), std::vector<double>(size * size) };
    for (size_t s = 0; s < samples; ++s)
        for (size_t i = 0; i < size; ++i)
            for (size_t j = 0; j < size; ++j)
                sums.full[i * size + j] += 2 * inputs[s * size + i] * inputs[s * size + j] / double(samples);
    for (size_t i = 0; i < size; ++i)
        sums.diagonal[i] = sums.full[i * size + i];
    return sums;
}

/// Squared error of inputs x (weights - what they became).
double outputError(const std::vector<double>& inputs, const Tensor& matrix, const std::vector<double>& made)
{
    const auto rows = static_cast<size_t>(matrix.dim(0)), columns = static_cast<size_t>(matrix.dim(1));
    double sum = 0;
    for (size_t s = 0; s < inputs.size() / rows; ++s)
        for (size_t c = 0; c < columns; ++c) {
            double y = 0;
            for (size_t r = 0; r < rows; ++r)
                y += inputs[s * rows + r] * (double(matrix.data<float>()[r * columns + c]) - made[r * columns + c]);
            sum += y * y;
        }
    return sum;
}

} // namespace

class WeightOnlyTest : public QObject {
    Q_OBJECT

private slots:
    /// What ONNX Runtime 1.31 makes of w[k * N + n] = ((37 i mod 101) - 50) / 64.
    void defaultCodes()
    {
        Tensor w = Tensor::allocate(DType::Float32, { 21, 1 });
        for (int i = 0; i < 21; ++i)
            w.fill<float>()[static_cast<size_t>(i)] = static_cast<float>(37 * i % 101 - 50) / 64;
        const BlockRules rules = rulesOf(Default, 4, 16, false);
        const auto m = quantizeBlocks(w, rules);
        QVERIFY(m.ok());
        const std::vector<uint8_t> expected { 0x60, 0x2c, 0xd8, 0x93, 0x5f, 0x1b, 0xc6, 0x82, 0x0d, 0xf7, 0xf2, 0, 0, 0,
            0, 0 };
        const Tensor packed = packedColumns(*m, rules);
        QVERIFY(std::ranges::equal(packed.data<uint8_t>(), expected));
        QCOMPARE(packedZeroPoints(*m, rules).data<uint8_t>()[0], uint8_t(0x58));
        const BlockRules two = rulesOf(Default, 2, 16, true);
        Tensor first = Tensor::allocate(DType::Float32, { 16, 1 });
        std::copy_n(w.data<float>().begin(), 16, first.fill<float>().begin());
        const auto small = quantizeBlocks(first, two);
        QVERIFY(small.ok());
        QVERIFY(std::ranges::equal(
            packedColumns(*small, two).data<uint8_t>(), std::vector<uint8_t> { 0x34, 0x9e, 0x37, 0x9e }));
    }

    void closeAndTheSameOnAnyThreads_data()
    {
        QTest::addColumn<int>("algorithm");
        QTest::addColumn<int>("bits");
        QTest::addColumn<bool>("symmetric");
        for (const auto algorithm : { Default, RoundToNearest, Hqq, KQuant })
            for (const int bits : { 2, 4, 8 })
                for (const bool symmetric : { false, true }) {
                    const bool zeros = algorithm == Hqq || algorithm == KQuant;
                    if ((symmetric && zeros) || (bits == 2 && algorithm != Default && algorithm != Hqq))
                        continue;
                    const std::string name = std::string(nameIn(kWeightOnlyAlgorithms, algorithm)) + " "
                        + std::to_string(bits) + (symmetric ? " symmetric" : "");
                    QTest::newRow(name.c_str()) << int(algorithm) << bits << symmetric;
                }
    }
    void closeAndTheSameOnAnyThreads()
    {
        QFETCH(int, algorithm);
        QFETCH(int, bits);
        QFETCH(bool, symmetric);
        for (const int64_t rows : { 16, 31, 64, 131 })
            for (const int64_t columns : { 1, 7, 67 })
                for (const int64_t block : { 16, 64 }) {
                    const Tensor w = randomMatrix(rows, columns);
                    BlockRules rules = rulesOf(WeightOnlyAlgorithm(algorithm), bits, block, symmetric);
                    const auto m = quantizeBlocks(w, rules);
                    rules.threads = 3;
                    const auto again = quantizeBlocks(w, rules);
                    QVERIFY(m.ok() && again.ok());
                    QVERIFY(
                        m->codes == again->codes && m->scales == again->scales && m->zeroPoints == again->zeroPoints);
                    QVERIFY(m->realZeros == again->realZeros);
                    const Tensor packed = packedColumns(*m, rules);
                    QCOMPARE(packed.shape(), (Shape { columns, (rows + block - 1) / block, block * bits / 8 }));
                    const auto back = dequantized(*m, block);
                    for (size_t i = 0; i < back.size(); ++i) {
                        const size_t column = i % static_cast<size_t>(columns), row = i / static_cast<size_t>(columns);
                        const double step
                            = std::abs(double(m->scales[m->at(column, row / static_cast<size_t>(block))]));
                        // Those that search for the least error clip some values.
                        const double allowed = algorithm == int(Default) ? (symmetric ? 1.01 : 0.51) : 1.6;
                        const double least = bits == 2 ? 2 : allowed;
                        QVERIFY2(std::abs(back[i] - double(w.data<float>()[i])) <= least * step,
                            qPrintable(QString("%1x%2 blocks of %3, element %4, seed %5")
                                           .arg(rows)
                                           .arg(columns)
                                           .arg(block)
                                           .arg(i)
                                           .arg(kSeed)));
                    }
                }
    }

    void operatorForm_data()
    {
        QTest::addColumn<int>("algorithm");
        QTest::addColumn<QStringList>("inputs");
        QTest::newRow("default") << int(Default) << QStringList { "x", "w_Q4", "w_scales", "w_zero_points" };
        QTest::newRow("rtn") << int(RoundToNearest) << QStringList { "x", "w_Q4G16", "w_scale", "w_zp" };
        QTest::newRow("k-quant") << int(KQuant) << QStringList { "x", "w_Q4G16", "w_scale", "w_zp" };
        QTest::newRow("hqq") << int(Hqq) << QStringList { "x", "w_Q4", "w_scales", "w_zero_points" };
    }
    void operatorForm()
    {
        QFETCH(int, algorithm);
        QFETCH(QStringList, inputs);
        Recipe recipe = blockRecipe();
        recipe.weightOnly.algorithm = WeightOnlyAlgorithm(algorithm);
        const auto made = quantize(productNet(), recipe);
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        const DraftNode* node = nodeOf(made->draft, "MatMulNBits");
        QVERIFY(node);
        QCOMPARE(node->inputs.size(), size_t(inputs.size()));
        for (int i = 0; i < inputs.size(); ++i)
            QCOMPARE(node->inputs[static_cast<size_t>(i)], inputs[i].toStdString());
        QCOMPARE(node->attributes.integer("K", 0), int64_t(40));
        QCOMPARE(node->attributes.integer("block_size", 0), int64_t(16));
        QVERIFY(!node->attributes.has("accuracy_level"));
        QVERIFY(!made->draft.constant("w"));
        const bool real = algorithm == int(Hqq);
        QCOMPARE(made->draft.constant(node->inputs[3])->dtype(), real ? DType::Float32 : DType::UInt8);
        QVERIFY(made->draft.build().ok());
    }

    void leadingOnesComeBack()
    {
        Recipe recipe = blockRecipe();
        const auto kept = quantize(productNet({ 2, 3, 5, 40 }, { 1, 40, 6 }), recipe);
        QVERIFY(kept.ok());
        QCOMPARE(kept->draft.nodes.size(), size_t(1));
        const auto lost = quantize(productNet({ 2, 40 }, { 1, 1, 40, 6 }), recipe);
        QVERIFY(lost.ok());
        QCOMPARE(nodeOf(lost->draft, "MatMulNBits")->outputs.front(), std::string("y_pre_reshape"));
        QCOMPARE(lost->draft.nodes.back().outputs.front(), std::string("y"));
        const auto built = lost->draft.build();
        QVERIFY(built.ok());
        const auto stays = quantize(productNet({ 2, 40 }, { 2, 40, 6 }), recipe);
        QVERIFY(stays.ok());
        QVERIFY(!nodeOf(stays->draft, "MatMulNBits"));
    }

    void optionsOfOneNode()
    {
        Recipe recipe = blockRecipe();
        recipe.weightOnly.accuracyLevel = 4;
        recipe.weightOnly.nodes["n_y"] = { DType::Int8, 32 };
        const auto made = quantize(productNet(), recipe);
        QVERIFY(made.ok());
        const DraftNode* node = nodeOf(made->draft, "MatMulNBits");
        QCOMPARE(node->inputs.size(), size_t(3));
        QCOMPARE(node->attributes.integer("bits", 0), int64_t(8));
        QCOMPARE(node->attributes.integer("block_size", 0), int64_t(32));
        QCOMPARE(node->attributes.integer("accuracy_level", 0), int64_t(4));
    }

    void channelWise()
    {
        Recipe recipe = blockRecipe(DType::Int4);
        recipe.weightOnly.dequantizeForm = recipe.weightOnly.channelWise = true;
        const auto made = quantize(productNet(), recipe);
        QVERIFY(made.ok());
        QCOMPARE(made->draft.constant("w_DQ_Q4")->shape(), (Shape { 6, 40 }));
        QCOMPARE(made->draft.constant("w_DQ_scales")->shape(), (Shape { 6, 1 }));
        QCOMPARE(nodeOf(made->draft, "MatMul")->inputs[1], std::string("w_DQ_Q4_output_transposed"));
        QCOMPARE(made->draft.opsets.at(""), int64_t(21));
    }

    void tables()
    {
        const Tensor table = randomMatrix(5, 40);
        const auto made = quantizeTable(table, 1, 16, false, 2);
        QVERIFY(made.ok());
        QCOMPARE(made->scales.shape(), (Shape { 5, 3 }));
        QCOMPARE(made->zeroPoints->dtype(), DType::UInt4);
        const auto codes = toInts(made->codes), zeros = toInts(*made->zeroPoints);
        const auto scales = toFloats(made->scales);
        for (size_t i = 0; i < codes.size(); ++i) {
            const size_t block = i / 40 * 3 + i % 40 / 16;
            const double back = double(codes[i] - zeros[block]) * double(scales[block]);
            QVERIFY(std::abs(back - double(table.data<float>()[i])) <= 1.01 * double(scales[block]));
        }
        Recipe recipe = blockRecipe();
        recipe.opTypes = { "Gather" };
        recipe.weightOnly.tableAxis = 2;
        SmallModel net("net.onnx");
        net.input("x", { 3 }, DType::Int64)
            .constant("w", randomMatrix(20, 40))
            .node("Gather", { "w", "x" }, { "y" })
            .output("y");
        const auto refused = quantize(net, recipe);
        QVERIFY(!refused.ok());
        QVERIFY(refused.issue().what.find("no axis 2") != std::string::npos);
        recipe.weightOnly.tableAxis = -1;
        const auto written = quantize(net, recipe);
        QVERIFY(written.ok());
        QCOMPARE(nodeOf(written->draft, "GatherBlockQuantized")->attributes.integer("quantize_axis", -1), int64_t(1));
    }

    void torchSums()
    {
        std::vector<float> values(1000);
        std::mt19937 random(kSeed);
        std::uniform_real_distribution<float> uniform(-1, 1);
        std::ranges::generate(values, [&] { return uniform(random); });
        for (const size_t n : { 1u, 7u, 8u, 32u, 33u, 128u, 999u, 1000u }) {
            const double exact = std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), 0.0);
            QVERIFY(std::abs(double(torchSum(values.data(), n)) - exact) < 1e-4);
        }
        for (size_t c = 0; c < 50; ++c) {
            double exact = 0;
            for (size_t r = 0; r < 20; ++r)
                exact += double(values[r * 50 + c]);
            QVERIFY(std::abs(double(torchColumnSum(values.data(), 20, 50, c)) - exact) < 1e-5);
        }
    }

    void inverseRoots()
    {
        for (const size_t n : { 1u, 3u, 4u, 17u, 130u, 330u }) { // up to more than one block
            std::vector<double> inputs;
            InputProducts sums = productsOf(n, 3 * n + 5, inputs);
            std::vector<double> one = sums.full, two = sums.full;
            QVERIFY(inverseRoot(one, n, 1) && inverseRoot(two, n, 3));
            QVERIFY(one == two);
            // UT U is the inverse, so U H UT is one.
            std::vector<double> right(n * n); // H UT
            for (size_t k = 0; k < n; ++k)
                for (size_t l = 0; l < n; ++l)
                    for (size_t j = 0; j < n; ++j)
                        right[k * n + j] += sums.full[k * n + l] * one[j * n + l];
            for (size_t i = 0; i < n; ++i)
                for (size_t j = 0; j < n; ++j) {
                    double sum = 0;
                    for (size_t k = 0; k < n; ++k)
                        sum += one[i * n + k] * right[k * n + j];
                    QVERIFY(std::abs(sum - (i == j ? 1 : 0)) < 1e-9);
                    QVERIFY(j >= i || one[i * n + j] == 0);
                }
        }
        std::vector<double> negative { 1, 2, 2, 1 };
        QVERIFY(!inverseRoot(negative, 2, 1));
    }

    void gptqGainsBySpreading()
    {
        const Tensor w = randomMatrix(96, 70);
        std::vector<double> inputs;
        const InputProducts sums = productsOf(96, 300, inputs);
        BlockRules rules = rulesOf(Gptq, 4, 32, false);
        GptqOptions options;
        const auto plain = gptqBlocks(w, sums, rules, options);
        const auto nearest = quantizeBlocks(w, rules);
        options.spreadErrors = true;
        const auto spread = gptqBlocks(w, sums, rules, options);
        QVERIFY(plain.ok() && nearest.ok() && spread.ok());
        const auto error
            = [&](const BlockMatrix& m) { return outputError(inputs, w, dequantized(m, rules.blockSize)); };
        QVERIFY2(error(*spread) < 0.7 * error(*nearest), qPrintable(QString::number(error(*spread) / error(*nearest))));
        QVERIFY(error(*spread) < 0.7 * error(*plain));
        for (const bool perChannel : { false, true })
            for (const bool reorder : { false, true })
                for (const bool search : { false, true }) {
                    options.perChannel = perChannel;
                    options.reorder = reorder;
                    options.searchScale = search;
                    rules.threads = 1;
                    const auto one = gptqBlocks(w, sums, rules, options);
                    rules.threads = 3;
                    const auto three = gptqBlocks(w, sums, rules, options);
                    QVERIFY(one.ok() && three.ok());
                    QVERIFY(one->codes == three->codes && one->scales == three->scales);
                    QVERIFY(!perChannel || error(*one) < error(*nearest));
                }
    }

    void refusals_data()
    {
        QTest::addColumn<int>("which");
        QTest::addColumn<QString>("named");
        QTest::newRow("no samples for GPTQ") << 0 << "samples";
        QTest::newRow("block of 512") << 1 << "no blocks of 512";
        QTest::newRow("16 bits") << 2 << "int16";
        QTest::newRow("8 bits by DequantizeLinear") << 3 << "4 bits only";
        QTest::newRow("hqq without zero points") << 4 << "always has zero points";
        QTest::newRow("2 bits of rtn") << 5 << "4 and 8 bits only";
        QTest::newRow("one block a column") << 6 << "DequantizeLinear only";
        QTest::newRow("accuracy of hqq") << 7 << "accuracy level";
        QTest::newRow("unknown node") << 8 << "not in the model";
        QTest::newRow("tables by rtn") << 9 << "Gather";
        QTest::newRow("2 bits in pairs") << 10 << "blocks only";
        QTest::newRow("ratio of default") << 11 << "clip_ratios";
        QTest::newRow("infinite weight") << 12 << "infinity";
    }
    void refusals()
    {
        QFETCH(int, which);
        QFETCH(QString, named);
        Recipe recipe = blockRecipe();
        WeightOnlyOptions& o = recipe.weightOnly;
        SmallModel net = productNet();
        constexpr WeightOnlyAlgorithm algorithms[] { Gptq, Default, Default, Default, Hqq, RoundToNearest, Default, Hqq,
            Default, RoundToNearest, Default, Default, Default };
        o.algorithm = algorithms[which];
        if (which == 1)
            o.blockSize = 512;
        if (which == 2)
            recipe.weightType = DType::Int16;
        if (which == 3)
            recipe.weightType = DType::UInt8;
        o.dequantizeForm = which == 3;
        if (which == 4)
            recipe.weightType = DType::Int4;
        if (which == 5 || which == 10)
            recipe.weightType = DType::UInt2;
        o.channelWise = which == 6;
        o.accuracyLevel = which == 7 ? 4 : 0;
        if (which == 8)
            o.nodes["nothing"] = {};
        if (which == 9)
            recipe.opTypes = { "MatMul", "Gather" };
        if (which == 10)
            recipe.format = RecipeFormat::Qdq;
        if (which == 11)
            o.clipRatios["w"] = 0.5;
        if (which == 12) {
            Tensor w = randomMatrix(40, 6);
            w.fill<float>()[7] = INFINITY;
            net = SmallModel("net.onnx");
            net.input("x", { 2, 40 }).constant("w", w).node("MatMul", { "x", "w" }, { "y" }).output("y");
        }
        const auto made = quantize(net, recipe);
        QVERIFY(!made.ok());
        QVERIFY2(made.issue().what.find(named.toStdString()) != std::string::npos, made.issue().what.c_str());
        QVERIFY(!made.issue().remedy.empty());
    }

    /// A weight in blocks is made once for quantizations that say the same of it, and has the constants that it has
    /// alone.
    void madeOnce()
    {
        const auto prepared = productNet().finish();
        const GraphDraft draft(std::make_shared<Model>(prepared.plan->model()));
        QuantizerHelp help;
        help.made = std::make_shared<MadeConstants>();
        const auto codesOf = [&](const Recipe& recipe, const QuantizerHelp& with) {
            const auto made = quantizeDraft(draft, recipe, {}, with);
            return made.ok() ? *made->draft.constant(nodeOf(made->draft, "MatMulNBits")->inputs[1]) : Tensor();
        };
        const Tensor first = codesOf(blockRecipe(), help);
        QVERIFY(first.valid());
        QCOMPARE(codesOf(blockRecipe(), help).identity(), first.identity());
        for (const DType type : { DType::Int4, DType::UInt8, DType::UInt4 })
            for (const int64_t block : { 16, 32 }) {
                Recipe recipe = blockRecipe(type);
                recipe.weightOnly.blockSize = block;
                const Tensor shared = codesOf(recipe, help), own = codesOf(recipe, {});
                QCOMPARE(shared.shape(), own.shape());
                QVERIFY(std::ranges::equal(shared.bytes(), own.bytes()));
            }
    }

    void productsInSubgraphs_data()
    {
        QTest::addColumn<int>("algorithm");
        QTest::addColumn<bool>("pairs");
        QTest::addColumn<bool>("excluded");
        QTest::addColumn<int>("inside"); // products that become blocks
        QTest::newRow("default") << int(Default) << false << false << 2;
        QTest::newRow("with DequantizeLinear") << int(Default) << true << false << 2;
        QTest::newRow("hqq") << int(Hqq) << false << false << 2;
        QTest::newRow("one excluded") << int(Default) << false << true << 1;
        QTest::newRow("algorithm that stays outside") << int(RoundToNearest) << false << false << 0;
    }
    void productsInSubgraphs()
    {
        QFETCH(int, algorithm);
        QFETCH(bool, pairs);
        QFETCH(bool, excluded);
        QFETCH(int, inside);
        Recipe recipe = blockRecipe();
        recipe.weightOnly.algorithm = WeightOnlyAlgorithm(algorithm);
        recipe.weightOnly.dequantizeForm = pairs;
        if (excluded)
            recipe.exclude = { "n_else_out" };
        const auto made = quantizeDraft(GraphDraft(branchNet()), recipe, {});
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        const auto built = made->draft.build();
        QVERIFY2(built.ok(), built.ok() ? "" : built.issue().what.c_str());
        const DraftNode* choice = nodeOf(made->draft, "If");
        int found = 0;
        for (const auto& body : subgraphs(choice->attributes))
            for (const Node& node : body->nodes())
                found += node.is("MatMulNBits", "com.microsoft") || node.name.ends_with("_matmul_Q4");
        QCOMPARE(found, inside);
        // The weight lies outside, and so do its codes; the float one goes when nobody reads it.
        QCOMPARE(made->draft.constant("outside") != nullptr, inside == 0);
        const auto plan = Plan::make(*built);
        QVERIFY(!plan->blocked(plan->graph().outputs()[0]));
    }
};

int runWeightOnlyTests(int argc, char** argv)
{
    WeightOnlyTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "weight_only_test.moc"
