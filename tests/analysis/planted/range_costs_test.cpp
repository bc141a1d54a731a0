// SPDX-License-Identifier: GPL-3.0-or-later
// Ranges are told of by what they cost at the output.
#include "core/analysis/rows/parameter_difference.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kWidth = 32, kRows = 64;

/// x -> Neg -> a -> MatMul -> y. `width`: of the range of `a`; `beside`: also added, finely.
Prepared measured(bool codes, float width, float beside)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("w", Tensor::of<float>({ kWidth, kWidth }, uniform(kWidth * kWidth, 5)));
    m.constant("beside", Tensor::scalar(beside)).node("Neg", { "x" }, { "a" });
    if (codes)
        m.qdq<uint8_t>("a", "a_dq", width / 255, 128);
    m.node("MatMul", { codes ? "a_dq" : "a", "w" }, { "p" });
    return m.node("Add", { "p", "beside" }, { "y" }).output("y").finish();
}

/// x -> Neg -> a -> Relu -> MatMul -> y. The range of `a` is 0 to `high`; or with the Relu done by it, and none behind.
Prepared beforeRelu(bool codes, float high, bool behind)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("w", Tensor::of<float>({ kWidth, kWidth }, uniform(kWidth * kWidth, 5)));
    m.node("Neg", { "x" }, { "a" });
    if (codes)
        m.qdq<uint8_t>("a", "a_dq", high / 255, 0);
    m.node(behind ? "Relu" : "Abs", { codes ? "a_dq" : "a" }, { "r" }).node("MatMul", { "r", "w" }, { "y" });
    return m.output("y").finish();
}

/// x -> MatMul -> a -> MatMul -> b -> Neg -> y, whose second weight is a quarter of the first; `a` and `b` have one
/// scale, which is that of `a`. Or nothing but a factor stands between them; or both products have one weight.
Prepared oneScale(bool codes, const QString& between)
{
    SmallModel m(codes ? "q" : "f");
    std::vector<float> w = uniform(kWidth * kWidth, 5, -0.08f, 0.08f);
    m.input("x", { kRows, kWidth }).constant("w", Tensor::of<float>({ kWidth, kWidth }, w));
    for (float& v : w)
        v = v * 0.9f + (v > 0 ? 0.001f : -0.001f);
    m.constant("v", Tensor::of<float>({ kWidth, kWidth }, w)).constant("quarter", Tensor::scalar(0.25f));
    m.node("MatMul", { "x", "w" }, { "a" });
    const float scale = 2 * 0.75f / 255;
    if (codes)
        m.qdq<uint8_t>("a", "a_dq", scale, 128);
    const std::string a = codes ? "a_dq" : "a";
    if (between == "factor")
        m.node("Mul", { a, "quarter" }, { "b" });
    else
        m.node("MatMul", { a, between == "weight used twice" ? "w" : "v" }, { "b" });
    if (codes)
        m.qdq<uint8_t>("b", "b_dq", scale, 128);
    return m.node("Neg", { codes ? "b_dq" : "b" }, { "y" }).output("y").finish();
}

/// x -> Neg -> a; y = a + `part` * a. The range of the part is `times` as wide as its data, or as 4, where that is
/// more.
Prepared parts(bool codes, float part, float times)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("part", Tensor::scalar(part)).node("Neg", { "x" }, { "a" });
    if (codes)
        m.qdq<uint8_t>("a", "a_dq", 30.f / 255, 128);
    m.node("Mul", { codes ? "a_dq" : "a", "part" }, { "b" });
    if (codes)
        m.qdq<uint8_t>("b", "b_dq", times * 8 / 255, 128);
    return m.node("Add", { codes ? "a_dq" : "a", codes ? "b_dq" : "b" }, { "y" }).output("y").finish();
}

/// x -> Neg -> a0 -> Neg -> a1 ... -> y; the ranges of the first ones are six times as wide as the data.
Prepared wideAtFirst(bool codes, int wide)
{
    constexpr int kTensors = 10;
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    std::string last = "x";
    for (int i = 0; i < kTensors; ++i) {
        const std::string next = i + 1 < kTensors ? "a" + std::to_string(i) : "y";
        if (codes)
            m.qdq<uint8_t>(last, last + "_dq", (i < wide ? 6 : 1) * 8.2f / 255, 128);
        m.node("Neg", { codes ? last + "_dq" : last }, { next });
        last = next;
    }
    return m.output("y").finish();
}

const Finding* severeRange(const Comparison& c)
{
    const auto at = std::ranges::find_if(c.findings, [](const Finding& f) {
        return (f.rule == Rule::RangeTooSmall || f.rule == Rule::RangeTooLarge) && f.severity != Severity::Note;
    });
    return at == c.findings.end() ? nullptr : &*at;
}

/// x -> Neg -> a -> MatMul -> y with a quantizer of so many bits at x or at a, whose lowest code stands for `low`.
Prepared coarse(bool codes, const std::string& at, int bits, float low, float width)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("w", Tensor::of<float>({ kWidth, kWidth }, uniform(kWidth * kWidth, 5)));
    const float scale = width / float((1 << bits) - 1);
    const int zero = int(std::lround(-low / scale));
    const auto value = [&](const std::string& name) {
        if (!codes || name != at)
            return name;
        if (bits == 8)
            m.qdq<uint8_t>(name, name + "_dq", scale, uint8_t(zero));
        else {
            m.constant("s", Tensor::scalar(scale)).constant("z", Tensor::scalar(uint8_t(zero)));
            m.constant("lowest", Tensor::scalar(uint8_t(0))).constant("highest", Tensor::scalar(uint8_t(15)));
            m.node("QuantizeLinear", { name, "s", "z" }, { "c" }).node("Clip", { "c", "lowest", "highest" }, { "k" });
            m.node("DequantizeLinear", { "k", "s", "z" }, { name + "_dq" });
        }
        return name + "_dq";
    };
    m.node("Neg", { value("x") }, { "a" });
    return m.node("MatMul", { value("a"), "w" }, { "y" }).output("y").finish();
}

/// x -> Neg -> a, which two products read, each by a pair of its own of this width; or both by the second one, which
/// stands behind the first.
Prepared readTwice(bool codes, float first, float second, bool behind)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).node("Neg", { "x" }, { "a" });
    for (const char* weight : { "v", "w" })
        m.constant(weight, Tensor::of<float>({ kWidth, kWidth }, uniform(kWidth * kWidth, uint32_t(*weight))));
    if (codes) {
        m.constant("z", Tensor::scalar(uint8_t(128)));
        m.constant("s1", Tensor::scalar(first / 255)).constant("s2", Tensor::scalar(second / 255));
        m.node("QuantizeLinear", { "a", "s1", "z" }, { "c1" }).node("DequantizeLinear", { "c1", "s1", "z" }, { "a1" });
        m.node("QuantizeLinear", { behind ? "a1" : "a", "s2", "z" }, { "c2" });
        m.node("DequantizeLinear", { "c2", "s2", "z" }, { "a2" });
    }
    m.node("MatMul", { !codes ? "a" : behind ? "a2" : "a1", "v" }, { "p" });
    m.node("MatMul", { codes ? "a2" : "a", "w" }, { "r" });
    return m.node("Add", { "p", "r" }, { "y" }).output("y").finish();
}

} // namespace

class RangeCostsTests : public QObject {
    Q_OBJECT
private slots:
    void ranges_data()
    {
        QTest::addColumn<float>("width"); // the data's is 8
        QTest::addColumn<float>("beside");
        QTest::addColumn<int>("rule"); // -1: none is told
        QTest::newRow("right") << 8.f << 0.f << -1;
        QTest::newRow("a bit wider") << 12.f << 0.f << -1;
        QTest::newRow("an eighth narrower") << 7.f << 0.f << int(Rule::RangeTooSmall);
        QTest::newRow("twice as wide") << 16.f << 0.f << int(Rule::RangeTooLarge);
        QTest::newRow("hidden at the output") << 7.f << 4000.f << -1;
    }
    void ranges()
    {
        QFETCH(float, width);
        QFETCH(float, beside);
        QFETCH(int, rule);
        std::vector<float> x = uniform(kRows * kWidth, 3);
        for (float& v : x)
            v = std::pow(v, 5.f) * 3.98f; // few large ones
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, x) });
        const Comparison c = compared(measured(false, 0, beside), measured(true, width, beside), data);
        const auto severe = std::ranges::find_if(c.findings, [](const Finding& f) {
            return (f.rule == Rule::RangeTooSmall || f.rule == Rule::RangeTooLarge) && f.severity != Severity::Note;
        });
        QVERIFY2((severe != c.findings.end()) == (rule >= 0), qPrintable(rulesOf(c)));
        if (rule >= 0) {
            QCOMPARE(int(severe->rule), rule);
            QVERIFY2(severe->summary.find("at the worst output") != std::string::npos, severe->summary.c_str());
        }
    }
    void wideTypes_data()
    {
        QTest::addColumn<float>("width"); // the data's is 8
        QTest::addColumn<bool>("told");
        QTest::newRow("right") << 8.f << false;
        QTest::newRow("of other data") << 32.f << false;
        QTest::newRow("no more codes than a byte has") << 4000.f << true;
    }
    /// Where 16 bits leave what 8 would, that is told, however good it is.
    void wideTypes()
    {
        QFETCH(float, width);
        QFETCH(bool, told);
        const auto model = [width](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { kRows, kWidth }).node("Neg", { "x" }, { "a" });
            if (codes)
                m.qdq<uint16_t>("a", "a_dq", width / 65535, 32768);
            return m.node("Abs", { codes ? "a_dq" : "a" }, { "y" }).output("y").finish();
        };
        std::vector<float> x = uniform(kRows * kWidth, 3);
        for (float& v : x)
            v *= 4;
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, x) });
        const Comparison c = compared(model(false), model(true), data);
        const Finding* f = findingOf(c, Rule::RangeTooLarge);
        QVERIFY2((f != nullptr) == told, qPrintable(rulesOf(c)));
        if (f)
            QCOMPARE(f->severity, Severity::Note);
    }
    /// A range is judged by what a Relu behind it lets pass.
    void beforeActivation_data()
    {
        QTest::addColumn<float>("high"); // the data's is 4
        QTest::addColumn<bool>("relu");
        QTest::addColumn<bool>("told");
        QTest::newRow("holds the data") << 4.f << true << false;
        QTest::newRow("a bit short") << 3.9f << true << false;
        QTest::newRow("half of it") << 2.f << true << true;
        QTest::newRow("no Relu behind") << 4.f << false << true;
    }
    void beforeActivation()
    {
        QFETCH(float, high);
        QFETCH(bool, relu);
        QFETCH(bool, told);
        std::vector<float> x = uniform(kRows * kWidth, 3, -4, 4);
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, x) });
        for (const bool histograms : { true, false }) {
            CompareOptions options;
            options.histograms = histograms;
            const Comparison c = compared(beforeRelu(false, high, relu), beforeRelu(true, high, relu), data, options);
            const Finding* f = findingOf(c, Rule::RangeTooSmall);
            QVERIFY2(bool(f) == told, qPrintable(rulesOf(c)));
            if (told && relu) { // a quarter of all values lies beyond, half of them below 0
                const auto clipped
                    = std::ranges::find(f->evidence, std::string("float_clipped_fraction"), &EvidenceItem::key);
                QVERIFY(clipped != f->evidence.end() && clipped->number);
                QVERIFY2(std::fabs(*clipped->number - 0.25) < 0.03, f->summary.c_str());
                QVERIFY2(std::fabs(f->change.low) < 0.01 && f->change.high > 3.9, f->summary.c_str());
            }
            QVERIFY(c.coverage && (told || c.coverage->outside < 0.02));
        }
    }
    /// One scale is meant where tools give it to both tensors.
    void sharedByChance_data()
    {
        QTest::addColumn<QString>("between");
        QTest::addColumn<bool>("told");
        QTest::newRow("another weight") << "weight" << true;
        QTest::newRow("no weight") << "factor" << false;
        QTest::newRow("a part used twice") << "weight used twice" << false;
    }
    void sharedByChance()
    {
        QFETCH(QString, between);
        QFETCH(bool, told);
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, uniform(kRows * kWidth, 3)) });
        const Comparison c = compared(oneScale(false, between), oneScale(true, between), data);
        const Finding* f = severeRange(c);
        QVERIFY2(bool(f) == told, qPrintable(rulesOf(c)));
        if (told)
            QCOMPARE(f->tensor, std::string("b"));
        const ActivationRow& b = rowOf(c, "b");
        QVERIFY(b.range->second > 2.5 * b.floatRange->second); // in all of them
    }
    void siblings_data()
    {
        QTest::addColumn<float>("first"); // width of the range; the data's is 8
        QTest::addColumn<float>("second");
        QTest::addColumn<bool>("behind");
        QTest::addColumn<int>("rows");
        QTest::addColumn<QString>("told"); // the pair; empty: none
        QTest::newRow("equal") << 8.1f << 8.1f << false << 1 << "";
        QTest::newRow("equal, in a row") << 8.1f << 8.1f << true << 1 << "";
        QTest::newRow("both right") << 8.1f << 8.2f << false << 2 << "";
        QTest::newRow("both right, in a row") << 8.1f << 8.2f << true << 2 << "";
        QTest::newRow("the first too narrow") << 2.f << 8.1f << false << 2 << "a1";
        QTest::newRow("the second too narrow") << 8.1f << 2.f << false << 2 << "a2";
        QTest::newRow("the second too narrow, in a row") << 8.1f << 2.f << true << 2 << "a2";
        QTest::newRow("the second far too wide") << 8.1f << 300.f << false << 2 << "a2";
        QTest::newRow("the second far too wide, in a row") << 8.1f << 300.f << true << 2 << "a2";
    }
    /// Each pair of a tensor counts, not the first alone.
    void siblings()
    {
        QFETCH(float, first);
        QFETCH(float, second);
        QFETCH(bool, behind);
        QFETCH(int, rows);
        QFETCH(QString, told);
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, uniform(kRows * kWidth, 3, -4, 4)) });
        const Prepared whole = readTwice(false, 0, 0, false);
        const Comparison c = compared(whole, readTwice(true, first, second, behind), data);
        QCOMPARE(int(std::ranges::count(c.activations, "a", &ActivationRow::name)), rows);
        QVERIFY2(!findingOf(c, Rule::SensitiveOperator), qPrintable(rulesOf(c)));
        size_t found = 0;
        for (const Finding& f : c.findings)
            if (f.rule == Rule::RangeTooSmall || f.rule == Rule::RangeTooLarge) {
                ++found;
                QCOMPARE(QString::fromStdString(c.activations[f.activation.value()].quantizedName), told);
                QVERIFY2(f.severity != Severity::Note, qPrintable(rulesOf(c)));
                const std::string reader = told == "a1" ? "n_p" : behind ? "n_p, n_r" : "n_r";
                QVERIFY2(f.summary.find(told.toStdString() + ", which " + reader + " read") != std::string::npos,
                    f.summary.c_str());
            }
        QVERIFY2(found == (told.isEmpty() ? 0 : 1), qPrintable(rulesOf(c)));
        // Beside a file with equal pairs each that differs is told of.
        const Comparison healthy = compared(whole, readTwice(true, 8.1f, 8.1f, behind), data);
        size_t differ = 0;
        for (const ParameterDifference& d : parameterDifferences(healthy, c))
            differ += !d.same;
        QCOMPARE(differ, size_t(first != 8.1f) + size_t(second != 8.1f));
    }
    void errorsCostTheOutput_data()
    {
        QTest::addColumn<float>("part");
        QTest::addColumn<float>("times");
        QTest::addColumn<bool>("error");
        QTest::newRow("all of the output") << 1.f << 128.f << true;
        QTest::newRow("a thousandth of it") << 0.001f << 2.f << false;
    }
    /// A range that spoils a tensor is no error where the output would not gain by another one.
    void errorsCostTheOutput()
    {
        QFETCH(float, part);
        QFETCH(float, times);
        QFETCH(bool, error);
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, uniform(kRows * kWidth, 3, -4, 4)) });
        const Comparison c = compared(parts(false, part, 0), parts(true, part, times), data);
        QVERIFY(rowOf(c, "b").localSqnrDb.value_or(0) < 12);
        const auto f = std::ranges::find_if(
            c.findings, [](const Finding& one) { return one.rule == Rule::RangeTooLarge && one.tensor == "b"; });
        QVERIFY2(f != c.findings.end(), qPrintable(rulesOf(c)));
        QCOMPARE(f->severity == Severity::Error, error);
    }

    void inputsOfOtherData_data()
    {
        QTest::addColumn<int>("wide");
        QTest::addColumn<bool>("told");
        QTest::newRow("none") << 0 << false;
        QTest::newRow("the input alone") << 1 << false;
        QTest::newRow("four of ten") << 4 << true;
        QTest::newRow("all") << 10 << true;
    }
    /// Behind an input that was calibrated with larger data not all ranges are as wide.
    void inputsOfOtherData()
    {
        QFETCH(int, wide);
        QFETCH(bool, told);
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, uniform(kRows * kWidth, 3, -4, 4)) });
        const Comparison c = compared(wideAtFirst(false, 0), wideAtFirst(true, wide), data);
        QVERIFY(rowOf(c, "x").localSqnrDb.value_or(0) > 30); // nothing to say of it by itself
        const Finding* f = findingOf(c, Rule::InputMismatch);
        QVERIFY2((f != nullptr) == told, qPrintable(rulesOf(c)));
        if (f)
            QVERIFY2(f->tensor == "x" && f->severity == Severity::Warning, qPrintable(rulesOf(c)));
    }

    void coarseRanges_data()
    {
        QTest::addColumn<QString>("at");
        QTest::addColumn<int>("bits");
        QTest::addColumn<float>("low"); // of the range; the data's is -0.8 to 1.9 at x
        QTest::addColumn<float>("width");
        QTest::addColumn<float>("largest"); // one value, over the others' range
        QTest::addColumn<int>("rule"); // of a warning or an error; -1: none is told
        QTest::newRow("right") << "x" << 8 << -0.8f << 2.7f << 1.f << -1;
        QTest::newRow("pictures that nobody scaled") << "x" << 8 << 0.f << 255.f << 1.f << int(Rule::InputMismatch);
        QTest::newRow("inside") << "a" << 8 << -255.f << 255.f << 1.f << int(Rule::RangeTooLarge);
        QTest::newRow("that hold the data") << "x" << 8 << -128.f << 255.f << 1.f << int(Rule::InputMismatch);
        QTest::newRow("one large value") << "x" << 8 << -200.f << 400.f << 100.f << int(Rule::Outliers);
        QTest::newRow("one large value, inside") << "a" << 8 << -200.f << 400.f << 100.f << int(Rule::Outliers);
        QTest::newRow("one large value, twice as wide")
            << "a" << 8 << -200.f << 400.f << 50.f << int(Rule::RangeTooLarge);
        QTest::newRow("right, 4 bits") << "a" << 4 << -1.9f << 2.7f << 1.f << -1;
        QTest::newRow("twice as wide, 4 bits") << "a" << 4 << -3.8f << 5.4f << 1.f << int(Rule::RangeTooLarge);
        QTest::newRow("one larger value, 4 bits") << "a" << 4 << -4.f << 8.f << 2.f << int(Rule::SensitiveOperator);
    }
    /// Few steps where the values lie: by large ones among these, or by a range of other data.
    void coarseRanges()
    {
        QFETCH(QString, at);
        QFETCH(int, bits);
        QFETCH(float, low);
        QFETCH(float, width);
        QFETCH(float, largest);
        QFETCH(int, rule);
        std::vector<float> x = uniform(kRows * kWidth, 3, -0.8f, 1.9f);
        x[5] = 1.9f * largest;
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, x) });
        const std::string place = at.toStdString();
        const Comparison c
            = compared(coarse(false, place, bits, low, width), coarse(true, place, bits, low, width), data);
        std::vector<int> told;
        for (const Finding& f : c.findings)
            if (f.severity != Severity::Note && f.activation && c.activations[*f.activation].name == place)
                told.push_back(int(f.rule));
        QVERIFY2(told == (rule < 0 ? std::vector<int>() : std::vector<int> { rule }), qPrintable(rulesOf(c)));
    }

    /// 0 to 1 is the range of a Softmax, however small these data make it.
    void rangeOfOperator()
    {
        const auto model = [](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { kRows, kWidth }).node("Softmax", { "x" }, { codes ? "p" : "y" });
            if (codes)
                m.qdq<uint8_t>("p", "y", 1 / 255.f, 0);
            return m.output("y").finish();
        };
        const FixedData data({ Tensor::of<float>({ kRows, kWidth }, uniform(kRows * kWidth, 3)) });
        const Comparison c = compared(model(false), model(true), data);
        QVERIFY2(std::ranges::none_of(c.findings,
                     [](const Finding& f) { return f.rule == Rule::RangeTooLarge && f.severity != Severity::Note; }),
            qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(RangeCostsTests)
#include "range_costs_test.moc"
