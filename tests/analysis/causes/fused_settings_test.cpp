// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

/// Nodes of a quantized file that do in one what the float model does in several: what they are set to otherwise.
namespace {

using namespace qs;
using namespace qs::test;

constexpr int64_t kTokens = 5, kWidth = 8, kHeads = 2, kSize = kWidth / kHeads, kPacked = 3 * kWidth;
constexpr float kAlpha = 1.5f;
const float kScale = 0.5f;

Comparison provedOn(const Prepared& f, const Prepared& q)
{
    CompareOptions options;
    options.prove = true;
    const FixedData data({ Tensor::of<float>({ 1, kTokens, kWidth }, uniform(kTokens * kWidth, 9, -2, 2)) });
    auto result = compareModels(pairOf(f, q), data, options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

std::vector<float> part(const std::vector<float>& all, int64_t which)
{
    std::vector<float> columns;
    for (size_t i = 0; i < all.size(); ++i)
        if (int64_t(i) % kPacked / kWidth == which)
            columns.push_back(all[i]);
    return columns;
}

/// In each of two layers, in the second with `fault` in the fused file.
struct Fault {
    const char* name = "";
    int64_t heads = kHeads;
    float scale = kScale, alpha = kAlpha;
    int64_t unidirectional = 0;
    std::vector<int64_t> order { 0, 1, 2 }; ///< of query, key and value in the packed weight
    bool bias = true; ///< SkipLayerNormalization reads it
    int attention = 0; ///< biases of query, key and value: none, the float model's, or zeros in their place
    const char* told = ""; ///< part of the sentence; empty: the files are the same
};

std::vector<float> packedAsIn(const std::vector<float>& all, const std::vector<int64_t>& order)
{
    std::vector<float> w(all.size());
    for (size_t i = 0; i < w.size(); ++i) {
        const int64_t column = int64_t(i) % kPacked;
        w[i] = all[i - size_t(column) + size_t(order[size_t(column / kWidth)] * kWidth + column % kWidth)];
    }
    return w;
}

/// Attention, a bias, a normalization of the sum, and a Sigmoid that gates it.
void addUnfused(SmallModel& m, const std::string& n, const std::string& in, const std::string& out, int attention)
{
    const std::vector<float> w = uniform(size_t(kWidth * kPacked), 3 + uint32_t(n[0])), b(kPacked, 0);
    m.constant(n + "shape", Tensor::of<int64_t>({ 4 }, { 0, 0, kHeads, kSize }));
    m.constant(n + "flat", Tensor::of<int64_t>({ 3 }, { 0, 0, kWidth })).constant(n + "scale", Tensor::scalar(kScale));
    for (int64_t i = 0; i < 3; ++i) {
        const std::string p = n + "qkv"[i];
        m.constant(p + "_w", Tensor::of<float>({ kWidth, kWidth }, part(w, i)));
        m.node("MatMul", { in, p + "_w" }, { p });
        if (attention > 0) {
            m.constant(p + "_b", Tensor::of<float>({ kWidth }, uniform(size_t(kWidth), 50 + uint32_t(i))));
            m.node("Add", { p + "_b", p }, { p + "_a" });
        }
        m.node("Reshape", { attention > 0 ? p + "_a" : p, n + "shape" }, { p + "_r" });
        m.node("Transpose", { p + "_r" }, { p + "_h" },
            { { "perm", i == 1 ? std::vector<int64_t> { 0, 2, 3, 1 } : std::vector<int64_t> { 0, 2, 1, 3 } } });
    }
    m.node("MatMul", { n + "q_h", n + "k_h" }, { n + "qk" }).node("Mul", { n + "qk", n + "scale" }, { n + "s" });
    m.node("Softmax", { n + "s" }, { n + "p" }).node("MatMul", { n + "p", n + "v_h" }, { n + "c" });
    m.node("Transpose", { n + "c" }, { n + "t" }, { { "perm", std::vector<int64_t> { 0, 2, 1, 3 } } });
    m.node("Reshape", { n + "t", n + "flat" }, { n + "a" });
    m.node("MatMul", { n + "a", n + "ow" }, { n + "o" });
    m.node("Add", { n + "o", in }, { n + "ab" }).node("Add", { n + "ab", n + "b" }, { n + "sum" });
    m.node("LayerNormalization", { n + "sum", n + "gamma", n + "beta" }, { n + "norm" });
    m.constant(n + "alpha", Tensor::scalar(kAlpha)).node("Mul", { n + "norm", n + "alpha" }, { n + "x" });
    m.node("Sigmoid", { n + "x" }, { n + "g" }).node("Mul", { n + "norm", n + "g" }, { out });
}

void addFused(SmallModel& m, const std::string& n, const std::string& in, const std::string& out, const Fault& f)
{
    const std::vector<float> w = uniform(size_t(kWidth * kPacked), 3 + uint32_t(n[0]));
    m.constant(n + "w", Tensor::of<float>({ kWidth, kPacked }, packedAsIn(w, f.order)));
    std::vector<float> added(kPacked, 0);
    for (int64_t i = 0; i < 3 && f.attention == 1; ++i)
        std::ranges::copy(uniform(size_t(kWidth), 50 + uint32_t(i)), added.begin() + i * kWidth);
    m.constant(n + "none", Tensor::of<float>({ kPacked }, added));
    m.node("Attention", { in, n + "w", n + "none" }, { n + "a" },
        { { "num_heads", f.heads }, { "scale", f.scale }, { "unidirectional", f.unidirectional } }, kMicrosoftDomain);
    m.node("MatMul", { n + "a", n + "ow" }, { n + "o" });
    SmallModel::Names read { n + "o", in, n + "gamma", n + "beta" };
    if (f.bias)
        read.push_back(n + "b");
    m.node("SkipLayerNormalization", read, { n + "norm" }, { { "epsilon", 1e-5f } }, kMicrosoftDomain);
    m.node("QuickGelu", { n + "norm" }, { out }, { { "alpha", f.alpha } }, kMicrosoftDomain);
}

Prepared layers(bool fused, bool biased, const Fault& fault)
{
    SmallModel m(fused ? "q" : "f");
    m.input("x", { 1, kTokens, kWidth });
    for (const std::string n : { "0", "1" }) {
        const uint32_t layer = n == "0" ? 30 : 40;
        m.constant(n + "gamma", Tensor::of<float>({ kWidth }, uniform(kWidth, layer + 1, 0.5f, 1)));
        m.constant(n + "beta", Tensor::of<float>({ kWidth }, uniform(kWidth, layer + 2)));
        m.constant(n + "ow", Tensor::of<float>({ kWidth, kWidth }, uniform(kWidth * kWidth, layer + 4)));
        m.constant(n + "b",
            Tensor::of<float>(
                { kWidth }, biased && n == "1" ? uniform(kWidth, layer + 3) : std::vector<float>(kWidth, 0)));
        const std::string in = n == "0" ? "x" : "h", out = n == "0" ? "h" : "y";
        if (fused)
            addFused(m, n, in, out, n == "0" ? Fault { .attention = std::min(fault.attention, 1) } : fault);
        else
            addUnfused(m, n, in, out, fault.attention);
    }
    return m.output("y").finish();
}

std::vector<Fault> faults()
{
    return { { .name = "none" },
        { .name = "heads", .heads = 4, .told = "Attention 'n_1a' has num_heads 4, in the float model 2" },
        { .name = "scale", .scale = 0.2f, .told = "Attention 'n_1a' has scale 0.2, in the float model 0.5" },
        { .name = "unidirectional",
            .unidirectional = 1,
            .told = "Attention 'n_1a' has unidirectional 1, in the float model 0" },
        { .name = "query and key",
            .order = { 1, 0, 2 },
            .told = "Attention 'n_1a' has the weights and biases of query and key in each other's place" },
        { .name = "key and value",
            .order = { 0, 2, 1 },
            .told = "Attention 'n_1a' has the weights and biases of key and value in each other's place" },
        { .name = "alpha", .alpha = 1, .told = "QuickGelu 'n_y' has alpha 1, in the float model 1.5" },
        { .name = "a lost bias",
            .bias = false,
            .told = "SkipLayerNormalization 'n_1norm' does not read 1b, as the float model does" },
        { .name = "biases of attention", .attention = 1 },
        { .name = "lost biases of attention",
            .attention = 2,
            .told
            = "Attention 'n_1a' has the bias 1none, which holds nothing but zeros, in the float model 1q_b, 1k_b, "
              "1v_b" } };
}

constexpr int64_t kWords = 12, kPlaces = 8;

/// ids -> two embeddings of the same words, at positions that are counted or said -> their sum.
Prepared embedded(bool codes, bool positions)
{
    SmallModel m(codes ? "q" : "f");
    m.input("ids", { 1, kTokens }, DType::Int32);
    m.constant("places", Tensor::of<int32_t>({ 1, kTokens }, { 2, 3, 4, 5, 6 }));
    for (const std::string n : { "a", "b" }) {
        const uint32_t seed = n == "a" ? 60 : 70;
        SmallModel::Names reals, scales, zeros;
        const auto table = [&](const std::string& name, const Shape& shape, uint32_t number) {
            const auto count = size_t(shape[0] * (shape.size() > 1 ? shape[1] : 1));
            std::vector<float> values = uniform(count, seed + number);
            std::vector<uint8_t> stored;
            for (float& v : values) {
                stored.push_back(uint8_t(std::lround(v * 100) + 128));
                v = float(stored.back() - 128) * 0.01f;
            }
            const std::string full = n + "_" + name;
            m.constant(full, codes ? Tensor::of<uint8_t>(shape, stored) : Tensor::of<float>(shape, values));
            reals.push_back(full);
            if (codes) {
                m.constant(full + "_scale", Tensor::scalar(0.01f))
                    .constant(full + "_zero", Tensor::scalar(uint8_t(128)));
                scales.push_back(full + "_scale");
                zeros.push_back(full + "_zero");
            }
        };
        table("word", { kWords, kWidth }, 0);
        table("place", { kPlaces, kWidth }, 1);
        table("gamma", { kWidth }, 2);
        table("beta", { kWidth }, 3);
        SmallModel::Names read { "ids", "", reals[0], reals[1], "", reals[2], reals[3], "" };
        if (codes)
            read.insert(read.end(),
                { scales[0], scales[1], "", scales[2], scales[3], zeros[0], zeros[1], "", zeros[2], zeros[3] });
        else if (positions)
            read.push_back("places");
        m.node(codes ? "QEmbedLayerNormalization" : "EmbedLayerNormalization", read, { n }, { { "epsilon", 1e-5f } },
            kMicrosoftDomain);
    }
    return m.node("Add", { "a", "b" }, { "y" }).output("y").finish();
}

} // namespace

class FusedSettingsTest : public QObject {
    Q_OBJECT
private slots:
    void named_data()
    {
        QTest::addColumn<int>("index");
        const auto all = faults();
        for (size_t i = 0; i < all.size(); ++i)
            QTest::newRow(all[i].name) << int(i);
    }
    void named()
    {
        QFETCH(int, index);
        const Fault fault = faults()[size_t(index)];
        const Comparison c = provedOn(layers(false, !fault.bias, fault), layers(true, !fault.bias, fault));
        QVERIFY2(c.network && c.network->known(), c.network ? c.network->reason.c_str() : "");
        const Finding* f = findingOf(c, Rule::ModelsDiffer);
        const std::string told = fault.told;
        QCOMPARE(c.network->same(), told.empty());
        QVERIFY2((f == nullptr) == told.empty(), qPrintable(rulesOf(c)));
        if (f)
            QVERIFY2(f->summary.find(told) != std::string::npos, f->summary.c_str());
        // What is inside of fused nodes has no partner, and is right where the files are one network.
        const Finding* unpaired = findingOf(c, Rule::Unmatched);
        QVERIFY2(unpaired && (unpaired->severity == Severity::Note) == told.empty(), qPrintable(rulesOf(c)));
    }

    void lackedInput_data()
    {
        QTest::addColumn<bool>("positions");
        QTest::newRow("positions are counted") << false;
        QTest::newRow("positions are said to the float model alone") << true;
    }
    void lackedInput()
    {
        QFETCH(bool, positions);
        CompareOptions options;
        options.prove = true;
        const FixedData data({ Tensor::of<int32_t>({ 1, kTokens }, { 3, 1, 4, 1, 5 }) });
        const Comparison c = compared(embedded(false, positions), embedded(true, positions), data, options);
        QVERIFY2(c.network && c.network->known(), c.network ? c.network->reason.c_str() : "");
        QCOMPARE(c.network->same(), !positions);
        const Finding* f = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2((f != nullptr) == positions, qPrintable(rulesOf(c)));
        if (!f)
            return;
        QVERIFY2(f->summary.find("reads 'position_ids', and n_a of the quantized file does not: "
                                 "QEmbedLayerNormalization has no such input. So it is at n_b.")
                != std::string::npos,
            f->summary.c_str());
        QCOMPARE(f->change.kind, RemedyKind::ExcludeNode);
        QCOMPARE(f->change.node, std::string("n_a"));
        QCOMPARE(f->together.size(), size_t(1));
        QCOMPARE(f->together.front().node, std::string("n_b"));
    }
};

QTEST_GUILESS_MAIN(FusedSettingsTest)
#include "fused_settings_test.moc"
