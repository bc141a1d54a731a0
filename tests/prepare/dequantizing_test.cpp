// SPDX-License-Identifier: GPL-3.0-or-later
// Codes that other operators than DequantizeLinear make reals of.
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/prepare/fuse/fuse_dequantizing.h"
#endif
#include "core/base/issue_text.h"
#include "core/tensor/convert.h"
#include "tests/prepare/running.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QtTest>

#include <algorithm>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

using Steps = std::vector<std::pair<std::string, float>>;

std::shared_ptr<const Plan> planOf(const GraphDraft& draft)
{
    auto built = draft.build();
    if (!built.ok())
        qFatal("%s", issueText(built.issue()).c_str());
    return Plan::make(*built);
}

std::shared_ptr<const Plan> planOf(SmallModel net)
{
    GraphDraft draft(std::make_shared<Model>(std::move(net).finish().plan->model()));
    draft.opsets[""] = 17;
    return planOf(draft);
}

/// x -> [Reshape] -> [Cast] -> steps -> Relu -> y
SmallModel stepped(DType type, bool moved, const Steps& steps)
{
    SmallModel m("q");
    m.input("x", { 1, 8 }, type).constant("sizes", Tensor::of<int64_t>({ 2 }, { 2, 4 }));
    std::string at = "x";
    if (moved) {
        m.node("Reshape", { at, "sizes" }, { "moved" });
        at = "moved";
    }
    if (type != DType::Float32) {
        m.node("Cast", { at }, { "cast" }, { { "to", int64_t(DType::Float32) } });
        at = "cast";
    }
    for (size_t i = 0; i < steps.size(); ++i) {
        const std::string number = "n" + std::to_string(i), made = "s" + std::to_string(i);
        m.constant(number, Tensor::scalar(steps[i].second)).node(steps[i].first, { at, number }, { made });
        at = made;
    }
    return m.node("Relu", { at }, { "y" }).output("y");
}

Tensor codesOf(DType type)
{
    const std::vector<int> values { 0, 1, 5, 17, 33, 64, 100, 127 };
    const auto as = [&](auto zero) {
        return Tensor::of<decltype(zero)>({ 1, 8 }, std::vector<decltype(zero)>(values.begin(), values.end()));
    };
    return type == DType::Int8 ? as(int8_t(0)) : type == DType::UInt8 ? as(uint8_t(0)) : as(int16_t(0));
}

const DraftNode* dequantizeOf(const GraphDraft& draft)
{
    const auto it
        = std::ranges::find_if(draft.nodes, [](const DraftNode& n) { return n.opType == "DequantizeLinear"; });
    return it == draft.nodes.end() ? nullptr : &*it;
}

std::vector<double> outputOf(const std::shared_ptr<const Plan>& plan, const Tensor& x)
{
    return valuesOf(plan, { plan->graph().outputs()[0] }, { x });
}

/// x -> MatMul by w -> Mul by s -> y
SmallModel scaledProduct(const Tensor& w, const Tensor& s, bool output)
{
    SmallModel m("q");
    m.input("x", { 2, 8 }).constant("w", w).constant("s", s);
    m.node("MatMul", { "x", "w" }, { "m" }).node("Mul", { "s", "m" }, { "y" }).output("y");
    if (output)
        m.output("m");
    return m;
}

Tensor whole(float most, float beside = 0)
{
    std::vector<float> values;
    for (int i = 0; i < 32; ++i)
        values.push_back(std::fmod(float(i) * 37, 2 * most + 1) - most);
    values[7] = most + beside;
    return Tensor::of<float>({ 8, 4 }, values);
}

} // namespace

class DequantizingTest : public QObject {
    Q_OBJECT
private slots:
    void inputs_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<Steps>("steps");
        QTest::addColumn<Steps>("ofReals"); // of the model that takes reals
        QTest::addColumn<double>("scale"); // 0: that is no dequantizing
        QTest::addColumn<double>("zero");
        const int i8 = int(DType::Int8), u8 = int(DType::UInt8);
        const Steps plain { { "Sub", -128.f }, { "Mul", 0.5f } };
        QTest::newRow("Sub, Mul") << i8 << plain << Steps {} << 0.5 << -128.;
        QTest::newRow("Add, Div") << u8 << Steps { { "Add", -3.f }, { "Div", 4.f } } << Steps {} << 0.25 << 3.;
        QTest::newRow("Mul, Add") << i8 << Steps { { "Mul", 0.25f }, { "Add", 2.f } } << Steps {} << 0.25 << -8.;
        QTest::newRow("Mul") << u8 << Steps { { "Mul", 0.125f } } << Steps {} << 0.125 << 0.;
        QTest::newRow("16 bits") << int(DType::Int16) << plain << Steps {} << 0.5 << -128.;
        QTest::newRow("a step of the model's own behind")
            << i8 << Steps { { "Sub", 5.f }, { "Mul", 0.5f }, { "Mul", 3.f } } << Steps { { "Mul", 3.f } } << 0.5 << 5.;
        QTest::newRow("an offset of its own behind")
            << u8 << Steps { { "Mul", 0.5f }, { "Sub", 0.3f } } << Steps { { "Sub", 0.3f } } << 0.5 << 0.;
        QTest::newRow("no whole zero point")
            << u8 << Steps { { "Sub", 127.5f }, { "Div", 127.5f } } << Steps {} << 0. << 0.;
        QTest::newRow("a zero point that is no code")
            << u8 << Steps { { "Sub", -9.f }, { "Mul", 0.5f } } << Steps {} << 0. << 0.;
        QTest::newRow("steps of the model itself") << u8 << Steps { { "Sub", 128.f }, { "Div", 128.f } }
                                                   << Steps { { "Sub", 128.f }, { "Div", 128.f } } << 0. << 0.;
        QTest::newRow("no number") << i8 << Steps {} << Steps {} << 0. << 0.;
        QTest::newRow("no scale") << i8 << Steps { { "Sub", 3.f } } << Steps {} << 0. << 0.;
        QTest::newRow("a negative scale") << i8 << Steps { { "Mul", -0.5f } } << Steps {} << 0. << 0.;
    }
    /// One DequantizeLinear computes the same, with the parameters that the numbers say.
    void inputs()
    {
        QFETCH(int, type);
        QFETCH(Steps, steps);
        QFETCH(Steps, ofReals);
        QFETCH(double, scale);
        QFETCH(double, zero);
        const auto reals = planOf(stepped(DType::Float32, false, ofReals));
        for (const bool moved : { false, true }) {
            const auto before = planOf(stepped(DType(type), moved, steps));
            GraphDraft draft(std::make_shared<Model>(before->model()));
            QCOMPARE(fuseInputDequantizing(draft, *before, "x", *reals, "x"), size_t(scale > 0));
            const DraftNode* node = dequantizeOf(draft);
            QCOMPARE(node != nullptr, scale > 0);
            if (!node)
                continue;
            QCOMPARE(node->inputs[0], std::string(moved ? "moved" : "x"));
            QCOMPARE(toDoubles(*draft.constant(node->inputs[1]))[0], scale);
            QCOMPARE(toDoubles(*draft.constant(node->inputs[2]))[0], zero);
            const auto after = planOf(draft);
            const Tensor x = codesOf(DType(type));
            const auto expected = outputOf(before, x);
            QVERIFY(!expected.empty());
            QCOMPARE(outputOf(after, x), expected);
        }
    }

    /// What the codes are made of is read by somebody else, too.
    void readTwice()
    {
        SmallModel m = stepped(DType::Int8, false, { { "Sub", 3.f }, { "Mul", 0.5f } });
        m.node("Abs", { "cast" }, { "z" }).output("z");
        const auto plan = planOf(std::move(m)), reals = planOf(stepped(DType::Float32, false, {}));
        GraphDraft draft(std::make_shared<Model>(plan->model()));
        QCOMPARE(fuseInputDequantizing(draft, *plan, "x", *reals, "x"), size_t(0));
        QVERIFY(!dequantizeOf(draft));
    }

    void products_data()
    {
        QTest::addColumn<float>("most"); // the largest number of the weight
        QTest::addColumn<float>("beside"); // off by so much
        QTest::addColumn<bool>("columns"); // a scale for each
        QTest::addColumn<float>("sign");
        QTest::addColumn<bool>("output"); // the product is one
        QTest::addColumn<bool>("coded");
        QTest::newRow("a scale a column") << 127.f << 0.f << true << 1.f << false << true;
        QTest::newRow("one scale") << 127.f << 0.f << false << 1.f << false << true;
        QTest::newRow("few codes") << 7.f << 0.f << true << 1.f << false << true;
        QTest::newRow("ones and zeros") << 1.f << 0.f << true << 1.f << false << false;
        QTest::newRow("not whole") << 100.f << 0.25f << true << 1.f << false << false;
        QTest::newRow("beyond int8") << 127.f << 1.f << true << 1.f << false << false;
        QTest::newRow("negative factors") << 127.f << 0.f << true << -1.f << false << false;
        QTest::newRow("an output of its own") << 127.f << 0.f << true << 1.f << true << false;
    }
    void products()
    {
        QFETCH(float, most);
        QFETCH(float, beside);
        QFETCH(bool, columns);
        QFETCH(float, sign);
        QFETCH(bool, output);
        QFETCH(bool, coded);
        const Tensor w = whole(most, beside),
                     s = columns ? Tensor::of<float>({ 4 }, { sign * 0.5f, sign * 0.25f, sign, sign * 0.125f })
                                 : Tensor::scalar(sign * 0.5f);
        const auto before = planOf(scaledProduct(w, s, output));
        QCOMPARE(hasWholeProducts(*before), coded);
        GraphDraft draft(std::make_shared<Model>(before->model()));
        QCOMPARE(fuseWholeProducts(draft, *before), size_t(coded));
        const DraftNode* node = dequantizeOf(draft);
        QCOMPARE(node != nullptr, coded);
        if (!node)
            return;
        const Tensor& codes = *draft.constant(node->inputs[0]);
        QCOMPARE(codes.dtype(), DType::Int8);
        QCOMPARE(toDoubles(codes), toDoubles(w));
        QCOMPARE(toDoubles(*draft.constant(node->inputs[1])), toDoubles(s));
        std::mt19937 random(3);
        const Tensor x = normalFloats(random, { 2, 8 });
        const auto expected = outputOf(before, x), made = outputOf(planOf(draft), x);
        QVERIFY(!expected.empty() && expected.size() == made.size());
        for (size_t i = 0; i < made.size(); ++i)
            QVERIFY(std::abs(made[i] - expected[i]) < 1e-4);
    }
};

QTEST_APPLESS_MAIN(DequantizingTest)
#include "dequantizing_test.moc"
