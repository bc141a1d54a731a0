// SPDX-License-Identifier: GPL-3.0-or-later
// Codes that were chosen by what they do to the output of a product (GPTQ), healthy and damaged, and scales that a
// format does not have.
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kRows = 32, kDepth = 64, kColumns = 16;
constexpr float kMost = 100; ///< largest code

/// Inputs that are much alike, so that errors of one row of the weight can make up for those of another.
Tensor alike()
{
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    std::vector<float> values;
    for (int64_t row = 0; row < kRows; ++row) {
        const float common = normal(random);
        for (int64_t k = 0; k < kDepth; ++k)
            values.push_back(common + 0.1f * normal(random));
    }
    return Tensor::of<float>({ kRows, kDepth }, values);
}

enum class How { Nearest, ByOutput, AtRandom };

/// Codes with one scale, 1 / kMost; by the output: what is left of one is handed on to the next.
std::vector<int8_t> codesOf(const std::vector<float>& w, How how, int shift, int64_t depth = kDepth)
{
    std::vector<int8_t> codes(w.size());
    std::mt19937 random(17);
    for (int64_t column = 0; column < kColumns; ++column) {
        float left = 0;
        for (int64_t k = 0; k < depth; ++k) {
            const auto at = size_t(k * kColumns + column);
            const float wanted = w[at] * kMost + (how == How::ByOutput ? left : 0);
            float code = std::nearbyint(wanted);
            if (how == How::AtRandom && random() % 3 == 0)
                code += random() % 2 == 0 ? 1.f : -1.f;
            left = wanted - code;
            codes[at] = int8_t(code + float(shift));
        }
    }
    return codes;
}

} // namespace

class ChosenCodesTests : public QObject {
    Q_OBJECT
private slots:
    void chosenByOutput_data()
    {
        QTest::addColumn<int>("how");
        QTest::addColumn<float>("scale"); // times the right one
        QTest::addColumn<int>("shift");
        QTest::addColumn<QString>("cause"); // of weights_differ; empty: none
        QTest::addColumn<QString>("severity");
        QTest::addColumn<QString>("told");
        QTest::newRow("nearest") << int(How::Nearest) << 1.f << 0 << ""
                                 << ""
                                 << "";
        QTest::newRow("by the output") << int(How::ByOutput) << 1.f << 0 << "by_output"
                                       << "note"
                                       << "GPTQ";
        QTest::newRow("at random") << int(How::AtRandom) << 1.f << 0 << "retrained"
                                   << "warning"
                                   << "other weights";
        QTest::newRow("by the output, half the scale") << int(How::ByOutput) << 0.5f << 0 << "changed"
                                                       << "error"
                                                       << "times the float model's";
        QTest::newRow("by the output, ten times the scale") << int(How::ByOutput) << 10.f << 0 << "changed"
                                                            << "error"
                                                            << "times the float model's";
        QTest::newRow("by the output, a lost zero point") << int(How::ByOutput) << 1.f << 9 << "changed"
                                                          << "error"
                                                          << "each is +9 steps";
    }
    void chosenByOutput()
    {
        QFETCH(const int, how);
        QFETCH(const float, scale);
        QFETCH(const int, shift);
        QFETCH(const QString, cause);
        QFETCH(const QString, severity);
        QFETCH(const QString, told);
        const std::vector<float> w = uniform(int(kDepth * kColumns), 5);
        SmallModel f("f"), q("q");
        f.input("x", { kRows, kDepth }).constant("w", Tensor::of<float>({ kDepth, kColumns }, w));
        q.input("x", { kRows, kDepth })
            .weight("w", { kDepth, kColumns }, codesOf(w, How(how), shift), { scale / kMost });
        for (SmallModel* m : { &f, &q })
            m->node("MatMul", { "x", "w" }, { "y" }).output("y");
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(f.finish(), q.finish(), FixedData({ alike() }), options);
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((found != nullptr) == !cause.isEmpty(), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(QString::fromStdString(found->cause), cause);
        QCOMPARE(QString::fromUtf8(severityName(found->severity)), severity);
        QVERIFY2(found->summary.find(told.toStdString()) != std::string::npos, found->summary.c_str());
    }

    void chosenOfConvolutions_data()
    {
        QTest::addColumn<int>("how");
        QTest::addColumn<int64_t>("groups");
        QTest::addColumn<QString>("cause"); // of weights_differ; empty: none
        for (const int64_t groups : { 1, 4, 16 }) {
            const std::string tail = ", " + std::to_string(groups) + " groups";
            QTest::newRow(("nearest" + tail).c_str()) << int(How::Nearest) << groups << "";
            QTest::newRow(("by the output" + tail).c_str()) << int(How::ByOutput) << groups << "by_output";
            QTest::newRow(("at random" + tail).c_str()) << int(How::AtRandom) << groups << "retrained";
        }
    }
    /// Windows are rows; outside of the image they hold zeros.
    void chosenOfConvolutions()
    {
        QFETCH(const int, how);
        QFETCH(const int64_t, groups);
        QFETCH(const QString, cause);
        constexpr int64_t kChannels = 16, kSize = 11;
        const int64_t depth = kChannels / groups * 9;
        const Shape shape { kColumns, kChannels / groups, 3, 3 };
        const std::vector<float> w = uniform(size_t(kColumns * depth), 5);
        std::vector<float> turned(w.size()); // [depth, columns], as products have it
        for (int64_t c = 0; c < kColumns; ++c)
            for (int64_t k = 0; k < depth; ++k)
                turned[size_t(k * kColumns + c)] = w[size_t(c * depth + k)];
        const std::vector<int8_t> chosen = codesOf(turned, How(how), 0, depth);
        std::vector<int8_t> codes(w.size());
        for (int64_t c = 0; c < kColumns; ++c)
            for (int64_t k = 0; k < depth; ++k)
                codes[size_t(c * depth + k)] = chosen[size_t(k * kColumns + c)];
        SmallModel f("f"), q("q");
        const Shape image { 1, kChannels, kSize, kSize };
        f.input("x", image).constant("w", Tensor::of<float>(shape, w));
        q.input("x", image).weight("w", shape, codes, { 1 / kMost });
        for (SmallModel* m : { &f, &q })
            m->node("Conv", { "x", "w" }, { "y" },
                 { { "group", groups }, { "pads", std::vector<int64_t> { 1, 0, 1, 0 } },
                     { "strides", std::vector<int64_t> { 2, 1 } } })
                .output("y");
        std::vector<float> values = normals(int(kChannels * kSize * kSize), 9);
        for (float& v : values)
            v = 1 + 0.1f * v;
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(f.finish(), q.finish(), FixedData({ Tensor::of<float>(image, values) }), options);
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((found != nullptr) == !cause.isEmpty(), qPrintable(rulesOf(c)));
        if (found)
            QCOMPARE(QString::fromStdString(found->cause), cause);
    }

    void tableOfUnequalRows_data()
    {
        QTest::addColumn<bool>("dynamic");
        QTest::addColumn<int>("kind");
        QTest::newRow("a dynamic file has one scale") << true << int(RemedyKind::ExcludeNode);
        QTest::newRow("a file of Q and DQ may have more") << false << int(RemedyKind::PerChannel);
    }
    /// What is offered is what the format can store.
    void tableOfUnequalRows()
    {
        QFETCH(const bool, dynamic);
        QFETCH(const int, kind);
        constexpr int64_t kWords = 32, kWidth = 16;
        std::vector<float> table = uniform(int(kWords * kWidth), 5);
        for (int64_t i = 0; i < kWidth; ++i)
            table[size_t(i)] *= 60;
        std::vector<int8_t> codes;
        for (const float v : table)
            codes.push_back(int8_t(std::lrint(v * 127 / 60)));
        const std::vector<float> w = uniform(int(kWidth * 8), 6);
        std::vector<int8_t> wCodes;
        for (const float v : w)
            wCodes.push_back(int8_t(std::lrint(v * 127)));
        SmallModel f("f"), q("q");
        f.input("ids", { 8 }, DType::Int64)
            .constant("t", Tensor::of<float>({ kWords, kWidth }, table))
            .constant("w", Tensor::of<float>({ kWidth, 8 }, w))
            .node("Gather", { "t", "ids" }, { "e" })
            .node("MatMul", { "e", "w" }, { "y" })
            .output("y");
        q.input("ids", { 8 }, DType::Int64);
        if (dynamic)
            q.constant("t_quantized", Tensor::of<int8_t>({ kWords, kWidth }, codes))
                .constant("t_scale", Tensor::scalar(60.f / 127))
                .constant("t_zero_point", Tensor::scalar<int8_t>(0))
                .constant("w_quantized", Tensor::of<int8_t>({ kWidth, 8 }, wCodes))
                .constant("w_scale", Tensor::scalar(1.f / 127))
                .constant("w_zero_point", Tensor::scalar<int8_t>(0))
                .node("Gather", { "t_quantized", "ids" }, { "e_quantized" })
                .node("DequantizeLinear", { "e_quantized", "t_scale", "t_zero_point" }, { "e" })
                .node("DynamicQuantizeLinear", { "e" }, { "e_codes", "e_scale", "e_zero" })
                .node("MatMulInteger", { "e_codes", "w_quantized", "e_zero", "w_zero_point" }, { "sums" })
                .node("Cast", { "sums" }, { "reals" }, { { "to", int64_t(1) } })
                .node("Mul", { "e_scale", "w_scale" }, { "scales" })
                .node("Mul", { "reals", "scales" }, { "y" })
                .output("y");
        else
            q.weight("t", { kWords, kWidth }, codes, { 60.f / 127 })
                .weight("w", { kWidth, 8 }, wCodes, { 1.f / 127 })
                .node("Gather", { "t", "ids" }, { "e" })
                .qdq<int8_t>("e", "e_dq", 0.01f, 0)
                .node("MatMul", { "e_dq", "w" }, { "y" })
                .output("y");
        const Comparison c
            = compared(f.finish(), q.finish(), FixedData({ Tensor::of<int64_t>({ 8 }, { 1, 2, 3, 4, 5, 6, 7, 8 }) }));
        const auto found = std::ranges::find_if(c.findings,
            [](const Finding& finding) { return finding.rule == Rule::ChannelImbalance && finding.tensor == "t"; });
        QVERIFY2(found != c.findings.end(), qPrintable(rulesOf(c)));
        QCOMPARE(int(found->change.kind), kind);
    }
};

QTEST_GUILESS_MAIN(ChosenCodesTests)
#include "chosen_codes_test.moc"
