// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"
#include "core/prepare/fitted_inputs.h"
#include "tests/analysis/comparing.h"
#include "tests/support/tensors.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kSize = 8;

/// How codes are read.
struct Reading {
    std::vector<float> scale { 0.04f };
    int zero = 0;
    bool joined = false; ///< codes of before and new ones are joined as codes, else as floats
};

/// past and x, joined along tokens, become the next past. Codes are written with 0.04 and 0.
Prepared remembering(const std::string& past, const std::string& present, bool quantized, const Reading& reading)
{
    SmallModel m(quantized ? "codes" : "float");
    m.input("x", { 1, 2, 3, kSize }).input(past, { 1, 2, 4, kSize }, quantized ? DType::Int8 : DType::Float32);
    m.node("Neg", { "x" }, { "fresh" });
    if (!quantized)
        return m.node("Concat", { past, "fresh" }, { present }, { { "axis", int64_t(2) } })
            .node("Abs", { present }, { "y" })
            .output("y")
            .output(present)
            .finish();
    m.constant("s", Tensor::scalar(0.04f)).constant("z", Tensor::scalar(int8_t(0)));
    const auto channels = int64_t(reading.scale.size());
    m.constant("rs", channels == 1 ? Tensor::scalar(reading.scale[0]) : Tensor::of<float>({ channels }, reading.scale));
    m.constant("rz",
        channels == 1 ? Tensor::scalar(int8_t(reading.zero))
                      : Tensor::of<int8_t>({ channels }, std::vector<int8_t>(size_t(channels), int8_t(reading.zero))));
    const std::vector<SmallModel::Attribute> axis { { "axis", int64_t(1) } };
    if (reading.joined)
        return m.node("QuantizeLinear", { "fresh", "s", "z" }, { "fresh_codes" })
            .node("Concat", { past, "fresh_codes" }, { present }, { { "axis", int64_t(2) } })
            .node("DequantizeLinear", { present, "rs", "rz" }, { "all" }, axis)
            .node("Abs", { "all" }, { "y" })
            .output("y")
            .output(present)
            .finish();
    return m.node("DequantizeLinear", { past, "rs", "rz" }, { "before" }, axis)
        .node("Concat", { "before", "fresh" }, { "all" }, { { "axis", int64_t(2) } })
        .node("QuantizeLinear", { "all", "s", "z" }, { present })
        .node("Abs", { "all" }, { "y" })
        .output("y")
        .output(present)
        .finish();
}

} // namespace

/// What is written into a cache is read back by the next step, which one run alone does not show.
class ReturnedCodesTests : public QObject {
    Q_OBJECT
private slots:
    void misreadCachesAreNamed_data();
    void misreadCachesAreNamed();
    void inputsThatTakeFloats();
};

void ReturnedCodesTests::misreadCachesAreNamed_data()
{
    QTest::addColumn<QString>("past");
    QTest::addColumn<QString>("present");
    QTest::addColumn<Reading>("reading");
    QTest::addColumn<QString>("text"); // empty: nothing is wrong
    const QString past = "past_key_values.0.key", present = "present.0.key";
    QTest::newRow("the same") << past << present << Reading {} << "";
    QTest::newRow("the same for each channel") << past << present << Reading { { 0.04f, 0.04f } } << "";
    QTest::newRow("twice the scale") << past << present << Reading { { 0.08f } } << "0.08 and zero point 0";
    QTest::newRow("another zero point") << past << present << Reading { { 0.04f }, 20 } << "0.04 and zero point 20";
    QTest::newRow("one channel") << past << present << Reading { { 0.04f, 0.01f } } << "in channel 1 of 2";
    QTest::newRow("joined as codes") << past << present << Reading { { 0.04f }, 0, true } << "";
    QTest::newRow("joined as codes, half the scale")
        << past << present << Reading { { 0.02f }, 0, true } << "0.02 and zero point 0";
    QTest::newRow("no cache") << "image_in"
                              << "image_out" << Reading { { 0.08f } } << "";
}

void ReturnedCodesTests::misreadCachesAreNamed()
{
    QFETCH(QString, past);
    QFETCH(QString, present);
    QFETCH(Reading, reading);
    QFETCH(QString, text);
    const std::string in = past.toStdString(), out = present.toStdString();
    const Prepared f = remembering(in, out, false, {}), q = remembering(in, out, true, reading);
    ComparePair pair = pairOf(f, q);
    Comparison c;
    std::vector<Finding> found;
    findMisreadCaches(pair, c, found);
    if (text.isEmpty()) {
        QVERIFY2(found.empty(), found.empty() ? "" : found[0].summary.c_str());
        return;
    }
    QCOMPARE(found.size(), size_t(1));
    QVERIFY2(found[0].summary.find(text.toStdString()) != std::string::npos, found[0].summary.c_str());
    QVERIFY2(found[0].summary.find("0.04 and zero point 0") != std::string::npos, found[0].summary.c_str());
    QVERIFY(found[0].summary.find(in) != std::string::npos && found[0].summary.find(out) != std::string::npos);
    QCOMPARE(found[0].rule, Rule::WrongZeroPoint);
}

/// The data are floats, so codes are made of them: by the numbers that they are read with, whatever wrote them.
void ReturnedCodesTests::inputsThatTakeFloats()
{
    const std::string past = "past_key_values.0.key", present = "present.0.key";
    const Prepared f = remembering(past, present, false, {});
    for (const float scale : { 0.04f, 0.08f }) {
        const Prepared taken = remembering(past, present, true, { { scale } });
        GraphDraft draft(std::shared_ptr<const Model>(taken.plan, &taken.plan->model()));
        QVERIFY(fitInput(draft, *taken.view, past, { DType::Float32, toDims({ 1, 2, 4, kSize }), {} }));
        const auto built = draft.build();
        QVERIFY(built.ok());
        Prepared q { Plan::make(*built), {} };
        q.view = std::make_shared<const QuantView>(
            QuantView::of(q.graph(), [&](ValueId id) { return q.plan->constant(id); }));
        std::vector<Finding> found;
        findMisreadCaches(pairOf(f, q), {}, found);
        QCOMPARE(found.size(), size_t(scale == 0.04f ? 0 : 1));
    }
}

QTEST_GUILESS_MAIN(ReturnedCodesTests)
#include "returned_codes_test.moc"
