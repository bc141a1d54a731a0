// SPDX-License-Identifier: GPL-3.0-or-later
// What an attention remembers as codes, compared with what the float network remembers.
#include "core/base/files/atomic_file.h"
#include "core/base/issue_text.h"
#include "core/onnx/write/export.h"
#include "core/project/quantize/fixed_inputs.h"
#include "core/project/snapshot/build_snapshot.h"
#include "tests/support/helper_call.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace qs;

namespace {

constexpr int64_t kHeads = 2, kSize = 8, kTokens = 3, kWidth = kHeads * kSize;

/// Queries, keys and values of one layer; `bits` 0: remembered as floats.
test::Prepared layer(int64_t bits, bool perChannel)
{
    std::mt19937 random(3);
    test::SmallModel model({});
    model.input("x", { 1, kTokens, kWidth });
    for (const std::string part : { "q", "k", "v" })
        model.constant("w" + part, test::normalFloats(random, { kWidth, kWidth }, 0.5f))
            .node("MatMul", { "x", "w" + part }, { part });
    model.constant("last", Tensor::of<int32_t>({ 1 }, { kTokens - 1 }));
    model.constant("total", Tensor::scalar(int32_t(kTokens)));
    std::vector<test::SmallModel::Attribute> attributes { { "num_heads", kHeads }, { "kv_num_heads", kHeads } };
    std::vector<std::string> inputs { "q", "k", "v", "", "", "last", "total" };
    if (bits) {
        std::vector<float> scale(perChannel ? size_t(kWidth) : 1);
        for (size_t i = 0; i < scale.size(); ++i)
            scale[i] = (bits == 8 ? 0.03f : 0.5f) * (1 + 0.1f * float(i % 3));
        const Shape shape = perChannel ? Shape { 1, kHeads, 1, kSize } : Shape { 1 };
        model.constant("scale", Tensor::of<float>(shape, scale));
        inputs.insert(inputs.end(), { "", "", "", "", "", "scale", "scale" });
        const std::string mode = perChannel ? "PER_CHANNEL" : "PER_TENSOR";
        attributes.insert(
            attributes.end(), { { "k_quant_type", mode }, { "v_quant_type", mode }, { "kv_cache_bit_width", bits } });
    }
    return model
        .node("GroupQueryAttention", inputs, { "y", "present.0.key", "present.0.value" }, attributes, "com.microsoft")
        .output("y")
        .output("present.0.key")
        .output("present.0.value")
        .finish();
}

/// What is wrong with the scales of the keys.
enum class Scales { Fit, Small, Large, Moved, Exchanged };

/// The same with keys whose channels differ and values that are larger than any key; a scale for each channel.
test::Prepared unevenLayer(int64_t bits, Scales scales)
{
    std::mt19937 random(3);
    test::SmallModel model({});
    model.input("x", { 1, kTokens, kWidth });
    const auto size = [](size_t channel) { return std::exp2(float(channel * 7 % 16) / 4 - 2); };
    for (const std::string part : { "q", "k", "v" }) {
        const Tensor even = test::normalFloats(random, { kWidth, kWidth }, 0.5f);
        std::vector<float> weight(even.data<float>().begin(), even.data<float>().end());
        for (size_t i = 0; i < weight.size(); ++i)
            weight[i] *= part == "k" ? size(i % kWidth) : part == "v" ? 16.0f : 1.0f;
        model.constant("w" + part, Tensor::of<float>({ kWidth, kWidth }, weight))
            .node("MatMul", { "x", "w" + part }, { part });
    }
    model.constant("last", Tensor::of<int32_t>({ 1 }, { kTokens - 1 }));
    model.constant("total", Tensor::scalar(int32_t(kTokens)));
    std::vector<test::SmallModel::Attribute> attributes { { "num_heads", kHeads }, { "kv_num_heads", kHeads } };
    std::vector<std::string> inputs { "q", "k", "v", "", "", "last", "total" };
    if (bits) {
        const float step = bits == 8 ? 0.022f : 0.36f;
        const float factor = scales == Scales::Small ? 0.25f
            : scales == Scales::Large                ? 20.0f
            : scales == Scales::Fit                  ? 1.4f
                                                     : 1.0f;
        std::vector<float> keys(kWidth), values(kWidth, 16 * step);
        for (size_t i = 0; i < keys.size(); ++i)
            keys[i] = step * factor * size(scales == Scales::Moved ? (i + 11) % kWidth : i);
        if (scales == Scales::Exchanged)
            keys.swap(values);
        model.constant("k_scale", Tensor::of<float>({ 1, kHeads, 1, kSize }, keys));
        model.constant("v_scale", Tensor::of<float>({ 1, kHeads, 1, kSize }, values));
        inputs.insert(inputs.end(), { "", "", "", "", "", "k_scale", "v_scale" });
        const std::string mode = "PER_CHANNEL";
        attributes.insert(
            attributes.end(), { { "k_quant_type", mode }, { "v_quant_type", mode }, { "kv_cache_bit_width", bits } });
    }
    return model
        .node("GroupQueryAttention", inputs, { "y", "present.0.key", "present.0.value" }, attributes, "com.microsoft")
        .output("y")
        .output("present.0.key")
        .output("present.0.value")
        .finish();
}

/// A model that does nothing but take a past of `width`.
Graph reader(int64_t width)
{
    GraphBuilder builder;
    Dims dims = toDims({ 1, 2, 1, width });
    dims[0] = dims[2] = Dim {};
    builder.setType(builder.value("past"), { DType::Float32, dims, {} });
    builder.addInput(builder.value("past"));
    return std::move(builder).finish().value();
}

struct OnePast : DataSource {
    explicit OnePast(Shape shape)
        : past(Tensor::allocate(DType::Float32, std::move(shape)))
    {
        m_samples = m_feeds = 1;
    }
    Result<Feed> feed(size_t) const override { return Feed { { past } }; }
    Tensor past;
};

} // namespace

class ComparedCachesTests : public QObject {
    Q_OBJECT
private slots:
    void codesAreComparedAsNumbers_data();
    void codesAreComparedAsNumbers();
    void scalesThatDoNotFitAreNamed_data();
    void scalesThatDoNotFitAreNamed();
    void emptyPastsFitAnyWidth();

private:
    std::string write(const char* name, const test::Prepared& made);
    QTemporaryDir m_folder;
};

/// Its path; empty when it could not be written.
std::string ComparedCachesTests::write(const char* name, const test::Prepared& made)
{
    GraphDraft draft(std::shared_ptr<const Model>(made.plan, &made.plan->model()));
    draft.opsets["com.microsoft"] = 1;
    const auto bytes = exportToBytes(draft);
    std::string path = m_folder.filePath(QString::fromLatin1(name)).toStdString();
    return bytes.ok() && writeFile(path, *bytes).ok() ? path : std::string();
}

void ComparedCachesTests::codesAreComparedAsNumbers_data()
{
    QTest::addColumn<int>("bits");
    QTest::addColumn<bool>("perChannel");
    for (int bits : { 8, 4 })
        for (bool perChannel : { false, true })
            QTest::addRow("%d bits, %s", bits, perChannel ? "per channel" : "per tensor") << bits << perChannel;
}

void ComparedCachesTests::codesAreComparedAsNumbers()
{
    QFETCH(int, bits);
    QFETCH(bool, perChannel);
    Inputs inputs;
    inputs.floatPath = write("float.onnx", layer(0, false));
    inputs.quantPath = write("quantized.onnx", layer(bits, perChannel));
    inputs.data.spec = "random:4:1";
    inputs.threads = 1;
    const auto made = buildSnapshot(inputs, nullptr, {}, {});
    QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
    const Comparison& c = *(*made)->comparison;
    QCOMPARE(c.outputs.size(), size_t(3));
    QVERIFY(c.network && c.network->same()); // floats in place of the codes
    for (const OutputRow& row : c.outputs) {
        // Rounding to steps of s leaves a noise of s * s / 12; the floats are about 0.5 * sqrt(16) / sqrt(3) in size.
        const double s = bits == 8 ? 0.033 : 0.55, expected = 10 * std::log10(1.33 / (s * s / 12));
        QVERIFY(row.similarity.sqnrDb.has_value());
        const double db = *row.similarity.sqnrDb;
        QVERIFY2(std::abs(db - expected) < 6 || row.name == "y",
            qPrintable(
                QString::fromStdString(row.name) + QStringLiteral(": %1 dB, not about %2").arg(db).arg(expected)));
        QVERIFY(db > 5);
        const auto tensor = std::ranges::find(c.activations, row.name, &ActivationRow::name);
        QVERIFY(tensor != c.activations.end() && tensor->accumulated.sqnrDb.has_value());
        QCOMPARE(*tensor->accumulated.sqnrDb, db);
    }
}

void ComparedCachesTests::scalesThatDoNotFitAreNamed_data()
{
    QTest::addColumn<int>("bits");
    QTest::addColumn<Scales>("scales");
    QTest::addColumn<QString>("rule");
    QTest::addColumn<QString>("cause");
    for (const int bits : { 8, 4 }) {
        QTest::addRow("%d bits, fit", bits) << bits << Scales::Fit << ""
                                            << "";
        QTest::addRow("%d bits, small", bits) << bits << Scales::Small << "range_too_small"
                                              << "They are about 0.";
        QTest::addRow("%d bits, moved", bits) << bits << Scales::Moved << "range_too_"
                                              << "Moved by ";
        QTest::addRow("%d bits, exchanged", bits) << bits << Scales::Exchanged << "range_too_large"
                                                  << "Those of present.0.value would fit, and these would fit there";
    }
    QTest::addRow("8 bits, large") << 8 << Scales::Large << "range_too_large"
                                   << "They are about 2";
}

void ComparedCachesTests::scalesThatDoNotFitAreNamed()
{
    QFETCH(int, bits);
    QFETCH(Scales, scales);
    QFETCH(QString, rule);
    QFETCH(QString, cause);
    Inputs inputs;
    inputs.floatPath = write("float.onnx", unevenLayer(0, scales));
    inputs.quantPath = write("quantized.onnx", unevenLayer(bits, scales));
    inputs.data.spec = "random:16:1";
    inputs.threads = 1;
    const auto made = buildSnapshot(inputs, nullptr, {}, {});
    QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
    const Comparison& c = *(*made)->comparison;
    const auto row = std::ranges::find(c.activations, "present.0.key", &ActivationRow::name);
    QVERIFY(row != c.activations.end() && row->noise.rounding && row->noise.clipping && row->noise.inherited);
    const double all = *row->accumulated.rmse * *row->accumulated.rmse; // all that goes in is the float model's
    QVERIFY(std::abs(*row->noise.inherited) < 1e-3 * all);
    if (scales == Scales::Small || scales == Scales::Large)
        QCOMPARE(*row->noise.clipping > *row->noise.rounding, scales == Scales::Small);
    const auto found = std::ranges::find_if(c.findings, [](const Finding& f) {
        return f.tensor == "present.0.key" && (f.rule == Rule::RangeTooSmall || f.rule == Rule::RangeTooLarge);
    });
    QVERIFY(std::ranges::none_of(c.findings, [](const Finding& f) { // which recipes mend
        return f.rule == Rule::Outliers && f.tensor.starts_with("present");
    }));
    if (rule.isEmpty()) {
        QVERIFY2(found == c.findings.end(), found == c.findings.end() ? "" : found->summary.c_str());
        return;
    }
    QVERIFY(found != c.findings.end());
    QCOMPARE(QString::fromUtf8(ruleId(found->rule).data()).left(rule.size()), rule);
    QVERIFY2(found->summary.find(cause.toStdString()) != std::string::npos, found->summary.c_str());
    QVERIFY(scales != Scales::Small || found->severity == Severity::Error);
    QVERIFY2(found->remedy.find("k_scale") != std::string::npos, found->remedy.c_str());
}

/// Caches of 4 bits are half as wide as those of floats; a past that holds something has to fit.
void ComparedCachesTests::emptyPastsFitAnyWidth()
{
    const auto shapeOf = [](const Shape& data) {
        const auto known = commonInputs(OnePast(data), reader(32), reader(16), {});
        return known.ok() ? known->shapes.at("past") : Shape {};
    };
    QCOMPARE(shapeOf({ 1, 2, 0, 32 }), (Shape { 1, 2, 0, 16 }));
    QCOMPARE(shapeOf({ 1, 2, 3, 32 }), (Shape { 1, 2, 3, 32 }));
}

QTEST_GUILESS_MAIN(ComparedCachesTests)
#include "caches_test.moc"
