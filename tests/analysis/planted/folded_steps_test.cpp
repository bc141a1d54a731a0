// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <algorithm>
#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kChannels = 3;
constexpr float kInputScale = 1.f / 127;
const std::vector<float> kFactors { 0.5f, -2.f, 1.25f }, kTerms { 0.4f, -0.3f, 0.2f };

/// How a file writes a product whose channels are scaled and shifted.
struct Form {
    QString product = "Conv"; ///< "Gemm", "MatMul"
    QString steps; ///< behind it, in order; what is not said here its weight and bias have taken in
    bool bias = false; ///< the product adds the terms itself
    float size = 1; ///< of the terms
};

bool isConv(const Form& form) { return form.product == "Conv"; }

size_t channelOf(const Form& form, size_t i) { return isConv(form) ? i / 2 : i % kChannels; }

/// Of the product without what stands behind it.
std::vector<float> weightOf(const Form& form)
{
    std::vector<float> w = uniform(isConv(form) ? 6 : 12, 5);
    const bool scaled = form.steps.contains("Mul") || form.steps.contains("Div") || form.steps.contains("Batch");
    for (size_t i = 0; i < w.size() && !scaled; ++i)
        w[i] *= kFactors[channelOf(form, i)];
    return w;
}

std::vector<float> termsOf(const Form& form)
{
    std::vector<float> terms = kTerms;
    for (float& t : terms)
        t *= form.size;
    return terms;
}

Tensor perChannel(const Form& form, const std::vector<float>& values)
{
    return Tensor::of<float>(isConv(form) ? Shape { 1, kChannels, 1, 1 } : Shape { kChannels }, values);
}

/// "p" -> steps -> Relu -> "y"
Prepared behind(SmallModel& m, const Form& form)
{
    std::string value = "p";
    const std::vector<float> terms = termsOf(form);
    std::vector<float> inverse, negative;
    for (size_t c = 0; c < kFactors.size(); ++c) {
        inverse.push_back(1 / kFactors[c]);
        negative.push_back(-terms[c]);
    }
    for (const QString& step : form.steps.split(' ', Qt::SkipEmptyParts)) {
        const std::string type = step.toStdString(), made = value + "_" + type;
        SmallModel::Names inputs { value, made + "_c" };
        if (step == "BatchNormalization") {
            const Tensor ones = Tensor::of<float>({ kChannels }, { 1, 1, 1 });
            m.constant(made + "_c", Tensor::of<float>({ kChannels }, kFactors)).constant("ones", ones);
            m.constant("terms", Tensor::of<float>({ kChannels }, terms));
            m.constant("zeros", Tensor::of<float>({ kChannels }, { 0, 0, 0 }));
            inputs.insert(inputs.end(), { "terms", "zeros", "ones" });
        } else {
            m.constant(made + "_c",
                perChannel(form,
                    step == "Mul"       ? kFactors
                        : step == "Div" ? inverse
                        : step == "Add" ? terms
                                        : negative));
        }
        m.node(type, inputs, { made });
        value = made;
    }
    return m.node("Relu", { value }, { "y" }).output("y").finish();
}

Shape inputShape(const Form& form) { return isConv(form) ? Shape { 1, 2, 8, 8 } : Shape { 16, 4 }; }
Shape weightShape(const Form& form) { return isConv(form) ? Shape { kChannels, 2, 1, 1 } : Shape { 4, kChannels }; }

Prepared floatFile(const Form& form)
{
    SmallModel m("f");
    m.input("x", inputShape(form)).constant("w", Tensor::of<float>(weightShape(form), weightOf(form)));
    m.constant("b", Tensor::of<float>({ kChannels }, termsOf(form)));
    m.node(form.product.toStdString(), form.bias ? SmallModel::Names { "x", "w", "b" } : SmallModel::Names { "x", "w" },
        { "p" });
    return behind(m, form);
}

Prepared quantizedFile(const Form& form, float kept = 1)
{
    const std::vector<float> w = weightOf(form);
    float most = 0;
    for (const float v : w)
        most = std::max(most, std::fabs(v));
    const float scale = most / 127;
    SmallModel m("q");
    m.input("x", inputShape(form)).qdq<int8_t>("x", "x_dq", kInputScale, 0);
    m.weight("v", weightShape(form), symmetricCodes(w, { scale }), { scale });
    std::vector<int32_t> codes;
    for (const float t : termsOf(form))
        codes.push_back(int32_t(std::lround(kept * t / (scale * kInputScale))));
    if (form.bias)
        m.constant("b_codes", Tensor::of<int32_t>({ kChannels }, codes))
            .constant("b_scale", Tensor::scalar(scale * kInputScale))
            .node("DequantizeLinear", { "b_codes", "b_scale" }, { "b" });
    m.node(form.product.toStdString(),
        form.bias ? SmallModel::Names { "x_dq", "v", "b" } : SmallModel::Names { "x_dq", "v" }, { "p" });
    return behind(m, form);
}

Comparison provedOn(const ComparePair& pair, const Shape& shape)
{
    CompareOptions options;
    options.prove = true;
    size_t count = 1;
    for (const int64_t size : shape)
        count *= size_t(size);
    auto result = compareModels(pair, FixedData({ Tensor::of<float>(shape, uniform(count, 3)) }), options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

void addFormsWithBias()
{
    QTest::addColumn<QString>("ofFloat"); // product, steps
    QTest::addColumn<QString>("ofQuant");
    QTest::newRow("Mul and Add behind a Conv") << "Conv: Mul Add"
                                               << "Conv+:";
    QTest::newRow("Div and Sub behind a Conv") << "Conv: Div Sub"
                                               << "Conv+:";
    QTest::newRow("a normalization") << "Conv: BatchNormalization"
                                     << "Conv+:";
    QTest::newRow("behind a MatMul") << "MatMul: Mul Add"
                                     << "Gemm+:";
    QTest::newRow("behind a Gemm") << "Gemm: Mul Add"
                                   << "Gemm+:";
    QTest::newRow("a sum behind a MatMul") << "MatMul: Add"
                                           << "Gemm+:";
    QTest::newRow("a sum behind a Conv") << "Conv: Add"
                                         << "Conv+:";
}

void addForms()
{
    addFormsWithBias();
    QTest::newRow("the sum stays") << "Conv: Mul Add"
                                   << "Conv: Add";
    QTest::newRow("a normalization in single steps") << "Conv: BatchNormalization"
                                                     << "Conv: Mul Add";
    QTest::newRow("a normalization in the quantized file") << "Conv+:"
                                                           << "Conv: BatchNormalization";
    QTest::newRow("steps in the quantized file") << "Conv+:"
                                                 << "Conv: Mul Add";
    QTest::newRow("the same in both") << "Conv: Mul Add"
                                      << "Conv: Mul Add";
}

Form formOf(const QString& text)
{
    const QString head = text.section(':', 0, 0);
    return { QString(head).remove('+'), text.section(':', 1), head.endsWith('+') };
}

} // namespace

/// What scales and shifts channels stands behind a product in one file, and in its weight and bias in the other.
class FoldedStepsTests : public QObject {
    Q_OBJECT

private slots:
    void weights_data() { addForms(); }
    void weights()
    {
        QFETCH(QString, ofFloat);
        QFETCH(QString, ofQuant);
        const Form f = formOf(ofFloat), q = formOf(ofQuant);
        const ComparePair pair = pairOf(floatFile(f), quantizedFile(q));
        const Comparison c = provedOn(pair, inputShape(f));
        constexpr double kGoodDb = 35;
        for (const WeightRow& row : c.weights)
            QVERIFY2(row.similarity.sqnrDb.value_or(kGoodDb) >= kGoodDb, row.name.c_str());
        QVERIFY2(!findingOf(c, Rule::WeightsDiffer) && !findingOf(c, Rule::WrongBiasScale), qPrintable(rulesOf(c)));
        QVERIFY2(c.network && c.network->known() && c.network->same(), qPrintable(rulesOf(c)));
        QVERIFY(!c.network->storedWeights);
        QCOMPARE(std::ranges::any_of(c.weights, &WeightRow::bias), q.bias);
    }

    void destroyedBias_data() { addFormsWithBias(); }
    void destroyedBias()
    {
        QFETCH(QString, ofFloat);
        QFETCH(QString, ofQuant);
        const Form f = formOf(ofFloat), q = formOf(ofQuant);
        const Comparison c = provedOn(pairOf(floatFile(f), quantizedFile(q, 0)), inputShape(f));
        QVERIFY2(findingOf(c, Rule::WrongBiasScale), qPrintable(rulesOf(c)));
        QVERIFY(!findingOf(c, Rule::WeightsDiffer));
    }

    /// Little of the output, and yet what makes most of its error.
    void quietBias()
    {
        constexpr float kQuiet = 0.1f;
        const Form f { "MatMul", "Add", false, kQuiet }, q { "Gemm", "", true, kQuiet };
        const Comparison c = provedOn(pairOf(floatFile(f), quantizedFile(q, 0)), inputShape(f));
        const Finding* found = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2(found && found->severity == Severity::Warning, qPrintable(rulesOf(c)));
        QVERIFY2(found->summary.find("most of what is off") != std::string::npos, found->summary.c_str());
        const Comparison good = provedOn(pairOf(floatFile(f), quantizedFile(q)), inputShape(f));
        QVERIFY2(!findingOf(good, Rule::WrongBiasScale), qPrintable(rulesOf(good)));
    }

    /// Codes by the data's own range, and a bias that is stored as it is and rounded when the file runs.
    void dynamicCodes()
    {
        const Form f { "MatMul", "Add" };
        SmallModel m("q");
        m.input("x", inputShape(f)).constant("b", Tensor::of<float>({ kChannels }, kTerms));
        for (const char* name : { "x", "b" }) {
            const std::string n = name;
            m.node("DynamicQuantizeLinear", { n }, { n + "_codes", n + "_scale", n + "_zero" });
            m.node("DequantizeLinear", { n + "_codes", n + "_scale", n + "_zero" }, { n + "_dq" });
        }
        const std::vector<float> w = uniform(12, 5);
        m.weight("v", weightShape(f), symmetricCodes(w, { kInputScale }), { kInputScale });
        m.node("Gemm", { "x_dq", "v", "b_dq" }, { "p" });
        const Form none { "Gemm", "", true };
        SmallModel reference("f");
        reference.input("x", inputShape(f)).constant("w", Tensor::of<float>(weightShape(f), w));
        reference.node("MatMul", { "x", "w" }, { "p" });
        const Comparison c = provedOn(pairOf(behind(reference, f), behind(m, none)), inputShape(f));
        QVERIFY2(c.network && c.network->known() && c.network->same(), qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(FoldedStepsTests)
#include "folded_steps_test.moc"
