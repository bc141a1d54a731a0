// SPDX-License-Identifier: GPL-3.0-or-later
// Constants that are other ones in the quantized file, told by name: single numbers, and factors of normalizations.
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kRows = 32, kWidth = 16;

Comparison provedOn(const Prepared& f, const Prepared& q, std::vector<Tensor> samples)
{
    CompareOptions options;
    options.prove = true;
    return compared(f, q, FixedData(std::move(samples)), options);
}

/// Noise of this size.
Tensor sample(float size)
{
    std::vector<float> x = normals(int(kRows * kWidth), 9);
    for (float& v : x)
        v *= size;
    return Tensor::of<float>({ kRows, kWidth }, x);
}

Comparison provedOn(const Prepared& f, const Prepared& q) { return provedOn(f, q, { sample(1) }); }

/// x -> Gemm with codes of a coarse step, or with these weights in floats, and this bias.
Prepared biasedProduct(const std::vector<float>& weights, const std::vector<float>& bias, bool inputCodes, float step)
{
    SmallModel m(inputCodes || step > 0 ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("b", Tensor::of<float>({ 8 }, bias));
    if (step > 0) {
        std::vector<int8_t> codes;
        for (const float w : weights)
            codes.push_back(int8_t(std::lrint(w / step)));
        m.weight("w", { kWidth, 8 }, codes, { step });
    } else {
        m.constant("w", Tensor::of<float>({ kWidth, 8 }, weights));
    }
    if (inputCodes)
        m.qdq<int8_t>("x", "x_dq", 0.04f, 0);
    return m.node("Gemm", { inputCodes ? "x_dq" : "x", "w", "b" }, { "y" }).output("y").finish();
}

const Finding* constantsIn(const Comparison& c)
{
    const auto found = std::ranges::find(c.findings, "constants", &Finding::cause);
    return found == c.findings.end() ? nullptr : &*found;
}

double numberIn(const Finding& f, const std::string& key)
{
    const auto found = std::ranges::find(f.evidence, key, &EvidenceItem::key);
    return found == f.evidence.end() ? NAN : found->number.value_or(NAN);
}

/// What the rows of changedNumber() are about: x -> operator with the constant c -> y.
Prepared withNumber(const QString& kind, float number, bool codes)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("c", Tensor::scalar(number));
    std::string x = "x";
    if (codes) {
        m.qdq<int8_t>("x", "x_dq", 0.04f, 0);
        x = "x_dq";
    }
    if (kind == "epsilon")
        m.node("Mul", { x, x }, { "square" }).node("Add", { "square", "c" }, { "a" }).node("Sqrt", { "a" }, { "y" });
    else if (kind == "two readers")
        m.node("Mul", { x, "c" }, { "a" }).node("Sin", { "a" }, { "s" }).node("Mul", { "c", "s" }, { "y" });
    else if (kind == "mask")
        m.constant("rows", Tensor::of<bool>({ 1, 4 }, { true, true, false, true }))
            .constant("sizes", Tensor::of<int64_t>({ 2 }, { kRows * 4, 4 }))
            .node("Reshape", { x, "sizes" }, { "r" })
            .node("Where", { "rows", "r", "c" }, { "a" })
            .node("Softmax", { "a" }, { "y" }, { { "axis", int64_t(1) } });
    else
        m.node("Mul", { x, "c" }, { "a" }).node("Sigmoid", { "a" }, { "y" });
    return m.output("y").finish();
}

/// x * HardSigmoid(x); the quantized file multiplies by a number between, where that is not 0.
Prepared withFactor(bool codes, float factor)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (!codes)
        return m.node("HardSigmoid", { "x" }, { "h" }).node("Mul", { "x", "h" }, { "y" }).output("y").finish();
    m.qdq<int8_t>("x", "x_dq", 0.04f, 0);
    if (factor == 0)
        m.node("HardSigmoid", { "x_dq" }, { "h" });
    else
        m.constant("h_Scale", Tensor::scalar(factor))
            .node("HardSigmoid", { "x_dq" }, { "h_Mul" })
            .node("Mul", { "h_Mul", "h_Scale" }, { "h" });
    m.qdq<int8_t>("h", "h_dq", 1.f / 127, 0);
    return m.node("Mul", { "x_dq", "h_dq" }, { "y" }).output("y").finish();
}

/// LayerNormalization -> MatMul with few codes.
Prepared normalizedProduct(const std::vector<float>& factors, bool codes)
{
    SmallModel m(codes ? "q" : "f");
    const std::vector<float> w = uniform(int(kWidth * 8), 5);
    m.input("x", { kRows, kWidth }).constant("g", Tensor::of<float>({ kWidth }, factors));
    std::vector<float> next(size_t(kWidth), 1.f);
    for (size_t i = 0; i < next.size(); ++i)
        next[i] = 1 + 0.05f * float(int(i % 5) - 2);
    m.constant("next", Tensor::of<float>({ kWidth }, next));
    if (codes) {
        std::vector<int8_t> rounded;
        for (const float v : w)
            rounded.push_back(int8_t(std::lrint(v * 7)));
        m.weight("w", { kWidth, 8 }, rounded, { 1.f / 7 });
    } else {
        m.constant("w", Tensor::of<float>({ kWidth, 8 }, w));
    }
    return m.node("LayerNormalization", { "x", "g" }, { "n" })
        .node("MatMul", { "n", "w" }, { "a" })
        .node("LayerNormalization", { "x", "next" }, { "n2" })
        .node("MatMul", { "n2", "w" }, { "b" })
        .node("Add", { "a", "b" }, { "y" })
        .output("y")
        .finish();
}

/// LayerNormalization -> MatMul, twice. The second factors differ by float rounding alone, the second weight is stored
/// in codes and turned; `factors` are the first's.
Prepared turnedProduct(const std::vector<float>& factors, bool codes)
{
    constexpr int64_t kOut = 8;
    constexpr auto kIn = size_t(kWidth);
    const std::vector<int8_t> places { 0, 2, 5, -7, 11, 25, -64, 127 }; // by whose distances no step is told
    SmallModel m(codes ? "q" : "f");
    std::vector<float> next(kIn), w(kIn * size_t(kOut));
    std::vector<int8_t> stored(w.size());
    for (size_t i = 0; i < next.size(); ++i) {
        next[i] = 1 + 0.1f * float(i % 7);
        if (codes && i % 3 == 0)
            next[i] = std::nextafter(next[i], 9.f);
        for (size_t o = 0; o < size_t(kOut); ++o) {
            const int8_t code = places[(i + o) % places.size()];
            stored[o * size_t(kWidth) + i] = code;
            w[i * size_t(kOut) + o] = (float(code) + (code == 0 ? 0 : 0.3f)) / 64;
        }
    }
    m.input("x", { kRows, kWidth }).constant("g", Tensor::of<float>({ kWidth }, factors));
    m.constant("next", Tensor::of<float>({ kWidth }, next));
    m.node("LayerNormalization", { "x", "g" }, { "n" }).node("LayerNormalization", { "n", "next" }, { "n2" });
    if (codes)
        m.weight("u", { kOut, kWidth }, stored, std::vector<float>(size_t(kOut), 1.f / 64))
            .node("Transpose", { "u" }, { "w" }, { { "perm", std::vector<int64_t> { 1, 0 } } });
    else
        m.constant("w", Tensor::of<float>({ kWidth, kOut }, w));
    return m.node("MatMul", { "n2", "w" }, { "y" }).output("y").finish();
}

/// x -> MatMul -> Add of a bias -> y. The other file has the weight rounded to codes and stored in floats, puts out
/// codes, and its bias is the first one times `factor`.
Prepared biased(bool codes, float factor)
{
    constexpr int64_t kOut = 8;
    SmallModel m(codes ? "q" : "f");
    std::vector<float> w = uniform(int(kWidth * kOut), 5), b = uniform(int(kOut), 6, 1, 2);
    for (float& v : w)
        v = codes ? std::nearbyint(v * 31) / 31 : v;
    for (float& v : b)
        v *= codes ? factor : 1;
    m.input("x", { kRows, kWidth }).constant("w", Tensor::of<float>({ kWidth, kOut }, w));
    m.constant("b", Tensor::of<float>({ kOut }, b));
    m.node("MatMul", { "x", "w" }, { "a" });
    if (!codes)
        return m.node("Add", { "a", "b" }, { "y" }).output("y").finish();
    m.constant("s", Tensor::scalar(16.f / 127)).constant("z", Tensor::scalar<int8_t>(0));
    return m.node("Add", { "a", "b" }, { "sum" })
        .node("QuantizeLinear", { "sum", "s", "z" }, { "y" })
        .output("y")
        .finish();
}

} // namespace

class ChangedConstantTests : public QObject {
    Q_OBJECT
private slots:
    void besideRoundedWeights_data()
    {
        QTest::addColumn<float>("factor");
        QTest::addColumn<bool>("harmful");
        QTest::newRow("another bias") << 1.5f << true;
        QTest::newRow("lost") << 0.f << true;
    }
    /// What constants cost is not what rounding the weights beside them does, and known where an output is codes, too.
    void besideRoundedWeights()
    {
        QFETCH(float, factor);
        QFETCH(bool, harmful);
        const Comparison c = provedOn(biased(false, 1), biased(true, factor));
        QVERIFY(c.network && c.network->otherConstants);
        QVERIFY(c.network->errorWithoutThem);
        const auto told = std::ranges::find(c.findings, "constants", &Finding::cause);
        QVERIFY2(told != c.findings.end() && told->tensor == "b", qPrintable(rulesOf(c)));
        QCOMPARE(c.network->harmfulConstants, harmful);
        QCOMPARE(told->severity != Severity::Note, harmful);
    }

    void changedNumber_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<float>("number");
        QTest::addColumn<float>("changed");
        QTest::addColumn<QString>("tensor"); // that the first reader makes; empty: no finding
        QTest::addColumn<QString>("told");
        QTest::newRow("epsilon") << "epsilon" << 1e-6f << 0.5f << "a"
                                 << "is 0.5, in the float model 1e-06";
        QTest::newRow("scale") << "scale" << 0.25f << 0.125f << "a"
                               << "is 0.125, in the float model 0.25";
        QTest::newRow("two readers") << "two readers" << 2.f << 1.f << "a"
                                     << "and 1 more read, is 1, in the float model 2";
        QTest::newRow("mask") << "mask" << -10000.f << 0.f << "a"
                              << "is 0, in the float model -1e+04";
        QTest::newRow("the same") << "scale" << 0.25f << 0.25f << ""
                                  << "";
        QTest::newRow("written in float16") << "scale" << 0.3333333f << 0.33325195f << ""
                                            << "";
        QTest::newRow("both leave nothing") << "mask" << -10000.f << -65504.f << ""
                                            << "";
    }
    /// The node that reads the constant, its name and both numbers; and a remedy that speaks of it.
    void changedNumber()
    {
        QFETCH(const QString, kind);
        QFETCH(const float, number);
        QFETCH(const float, changed);
        QFETCH(const QString, tensor);
        QFETCH(const QString, told);
        const Comparison c = provedOn(withNumber(kind, number, false), withNumber(kind, changed, true));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2((found != nullptr) == !tensor.isEmpty(), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(QString::fromStdString(found->tensor), tensor);
        QVERIFY2(found->summary.find(told.toStdString()) != std::string::npos, found->summary.c_str());
        QVERIFY2(found->summary.find("constant c") != std::string::npos, found->summary.c_str());
        QVERIFY2(found->remedy.find("this constant") != std::string::npos, found->remedy.c_str());
    }

    void addedFactor_data()
    {
        QTest::addColumn<float>("factor");
        QTest::addColumn<int>("severity"); // -1: no finding
        QTest::addColumn<bool>("same");
        QTest::newRow("none") << 0.f << -1 << true;
        QTest::newRow("one") << 1.f << -1 << true;
        QTest::newRow("rounded factor of a HardSigmoid") << 1.0001220703125f << int(Severity::Note) << true;
        QTest::newRow("seen beside the noise") << 0.9765625f << int(Severity::Error) << true;
        QTest::newRow("not near one") << 1.25f << int(Severity::Error) << false;
    }
    /// A number that the quantizer put in is told of by what it costs, beside the noise of the file.
    void addedFactor()
    {
        QFETCH(const float, factor);
        QFETCH(const int, severity);
        QFETCH(const bool, same);
        const Comparison c = provedOn(withFactor(false, 0), withFactor(true, factor));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QCOMPARE(found ? int(found->severity) : -1, severity);
        QVERIFY(c.network && c.network->known());
        QCOMPARE(c.network->same(), same);
        if (!found || !same)
            return;
        QCOMPARE(QString::fromStdString(found->cause), QString("factor"));
        const std::string number = factor > 1 ? "multiplies by 1.000122" : "multiplies by 0.9765625";
        QVERIFY2(found->summary.find(number) != std::string::npos, found->summary.c_str());
        QVERIFY2(found->summary.find("own noise at y") != std::string::npos, found->summary.c_str());
        QCOMPARE(found->node, std::string("n_h"));
    }

    void otherFactors_data()
    {
        QTest::addColumn<int>("factors"); // 0: the float model's, 1: ones, 2: the next one's, 3: corrected
        QTest::addColumn<QString>("told"); // empty: no finding
        QTest::newRow("the same") << 0 << "";
        QTest::newRow("all ones") << 1 << "g (holds nothing but 1, ";
        QTest::newRow("another's") << 2 << "g (holds what next does, ";
    }
    /// Factors that nobody corrected are a fault though codes make more noise.
    void otherFactors()
    {
        QFETCH(const int, factors);
        QFETCH(const QString, told);
        std::vector<float> own, stored;
        for (int64_t i = 0; i < kWidth; ++i) {
            own.push_back(1 + 0.2f * float(int(i % 3) - 1));
            stored.push_back(factors == 0 ? own.back() : factors == 1 ? 1 : 1 + 0.05f * float(int(i % 5) - 2));
        }
        const Comparison c = provedOn(normalizedProduct(own, false), normalizedProduct(stored, true));
        const auto found = std::ranges::find(c.findings, "constants", &Finding::cause);
        QVERIFY2((found != c.findings.end()) == !told.isEmpty(), qPrintable(rulesOf(c)));
        if (told.isEmpty())
            return;
        QVERIFY2(found->severity != Severity::Note, qPrintable(rulesOf(c)));
        QVERIFY2(found->summary.find(told.toStdString()) != std::string::npos, found->summary.c_str());
        QVERIFY2(found->summary.find("corrected") == std::string::npos, found->summary.c_str());
    }

    /// Counted are those that are other ones: not what floats round, nor what codes round.
    void counted()
    {
        std::vector<float> own, ones(size_t(kWidth), 1.f);
        for (int64_t i = 0; i < kWidth; ++i)
            own.push_back(1 + 0.2f * float(int(i % 3) - 1));
        const Comparison same = provedOn(turnedProduct(own, false), turnedProduct(own, true));
        QVERIFY2(same.network && same.network->same(), qPrintable(rulesOf(same)));
        QVERIFY2(!findingOf(same, Rule::WeightsDiffer), qPrintable(rulesOf(same)));
        const Comparison c = provedOn(turnedProduct(own, false), turnedProduct(ones, true));
        const auto found = std::ranges::find(c.findings, "constants", &Finding::cause);
        QVERIFY2(found != c.findings.end(), qPrintable(rulesOf(c)));
        QVERIFY2(found->title.starts_with("A constant is"), qPrintable(rulesOf(c)));
    }

    /// The quantized file's normalization has ones, and the float model multiplies by its factors behind one.
    void lostFactors()
    {
        const auto network = [](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { kRows, kWidth }).constant("one", Tensor::of<float>({ kWidth }, std::vector<float>(16, 1.f)));
            m.node("LayerNormalization", { "x", "one" }, { "n" });
            if (!codes)
                m.constant("g", Tensor::of<float>({ kWidth }, uniform(int(kWidth), 7)))
                    .node("Mul", { "n", "g" }, { "m" })
                    .constant("w", Tensor::of<float>({ kWidth, 8 }, uniform(int(kWidth * 8), 5)));
            else {
                std::vector<int8_t> rounded;
                for (const float v : uniform(int(kWidth * 8), 5))
                    rounded.push_back(int8_t(std::lrint(v * 127)));
                m.weight("w", { kWidth, 8 }, rounded, { 1.f / 127 });
            }
            return m.node("MatMul", { codes ? "n" : "m", "w" }, { "y" }).output("y").finish();
        };
        const Comparison c = provedOn(network(false), network(true));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QVERIFY2(found->tensor == "m", qPrintable(rulesOf(c)));
        QVERIFY2(found->summary.find("the float model has g there") != std::string::npos, found->summary.c_str());
    }

    /// Whatever the first sample shows: a sample where the same constant or operator does more is the one that is told.
    void sampleThatShowsMost()
    {
        const Comparison other = provedOn(
            withNumber("scale", 0.25f, false), withNumber("scale", 0.125f, true), { sample(0.02f), sample(1) });
        QVERIFY2(other.network && other.network->distance.sample == 1, qPrintable(rulesOf(other)));
        const Finding* network = findingOf(other, Rule::ModelsDiffer);
        QVERIFY2(network, qPrintable(rulesOf(other)));
        QVERIFY2(network->summary.find("on sample 1") != std::string::npos, network->summary.c_str());

        const std::vector<float> w = uniform(int(kWidth * 8), 5), b(8, 0.5f), zeros(8, 0.f);
        const Comparison c = provedOn(
            biasedProduct(w, b, false, 0), biasedProduct(w, zeros, true, 1.f / 127), { sample(1), sample(0.1f) });
        const Finding* found = constantsIn(c);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        const std::vector<float> x = normals(int(kRows * kWidth), 9);
        double moved = 0, all = 0;
        for (size_t r = 0; r < size_t(kRows); ++r)
            for (size_t o = 0; o < 8; ++o) {
                double y = 0.5;
                for (size_t i = 0; i < size_t(kWidth); ++i)
                    y += 0.1 * double(x[r * size_t(kWidth) + i]) * double(w[i * 8 + o]);
                moved += 0.25;
                all += y * y;
            }
        const double told = numberIn(*found, "output_moved");
        QVERIFY2(std::abs(told - std::sqrt(moved / all)) < 0.01 * told, found->summary.c_str());
    }

    /// A correction that is wrong for the samples of the proof and right for most: what all of them say counts.
    void errorOfAllSamples()
    {
        constexpr float kStep = 1.f / 7;
        const std::vector<float> w = uniform(int(kWidth * 8), 5), v = normals(int(kWidth), 3), b(8, 0.3f);
        std::vector<float> corrected = b, usual, opposite;
        for (size_t o = 0; o < 8; ++o)
            for (size_t i = 0; i < size_t(kWidth); ++i) {
                const float weight = w[i * 8 + o];
                corrected[o] -= v[i] * (float(std::lrint(weight / kStep)) * kStep - weight);
            }
        for (int64_t r = 0; r < kRows; ++r)
            for (const float x : v) {
                usual.push_back(x);
                opposite.push_back(-x);
            }
        std::vector<Tensor> samples { Tensor::of<float>({ kRows, kWidth }, opposite) };
        samples.resize(9, Tensor::of<float>({ kRows, kWidth }, usual));
        const Comparison c
            = provedOn(biasedProduct(w, b, false, 0), biasedProduct(w, corrected, false, kStep), samples);
        const Finding* found = constantsIn(c);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->severity, Severity::Note);
        QVERIFY2(
            c.network->errorWithoutThem && std::abs(*c.network->errorWithoutThem - 1.5) < 0.05, found->summary.c_str());
        QVERIFY2(found->summary.find("3.5 dB more without them") != std::string::npos, found->summary.c_str());
    }

    void besideWeightsInFloats_data()
    {
        QTest::addColumn<float>("shift"); // of the bias
        QTest::addColumn<bool>("told"); // it is
        QTest::newRow("the same bias") << 0.f << false;
        QTest::newRow("a bias that was rounded, too") << 5e-6f << false;
        QTest::newRow("another bias") << 2.f << true;
    }
    /// Weights that were rounded and are stored in floats: a bias beside them has its own part alone.
    void besideWeightsInFloats()
    {
        QFETCH(const float, shift);
        QFETCH(const bool, told);
        const std::vector<float> w = uniform(int(kWidth * 8), 5), b = uniform(8, 6);
        std::vector<float> rounded, other;
        for (const float weight : w)
            rounded.push_back(float(std::nearbyint(double(weight) * 7) / 7));
        for (size_t o = 0; o < b.size(); ++o)
            other.push_back(b[o] + (o % 2 == 0 ? shift : -shift));
        const Comparison c
            = provedOn(biasedProduct(w, b, false, 0), biasedProduct(rounded, other, true, 0), { sample(1) });
        QVERIFY2(c.network && c.network->known(), qPrintable(rulesOf(c)));
        const Finding* found = constantsIn(c);
        QVERIFY2((found != nullptr) == told, qPrintable(rulesOf(c)));
        QCOMPARE(c.network->roundedConstants.has_value(), !told);
        const Comparison alone
            = provedOn(biasedProduct(w, b, false, 0), biasedProduct(w, other, true, 0), { sample(1) });
        const Finding* same = constantsIn(alone);
        QVERIFY2((same != nullptr) == told, qPrintable(rulesOf(alone)));
        if (!told)
            return;
        QVERIFY2(found->title.starts_with("A constant is"), found->title.c_str());
        QVERIFY(std::abs(numberIn(*found, "output_moved") - numberIn(*same, "output_moved")) < 1e-6);
    }

    void nothingQuantized_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<bool>("codes");
        QTest::newRow("Gemm") << "Gemm" << false;
        QTest::newRow("MatMul") << "MatMul" << false;
        QTest::newRow("with codes") << "MatMul" << true;
    }
    void nothingQuantized()
    {
        QFETCH(const QString, type);
        QFETCH(const bool, codes);
        const std::vector<float> w = uniform(int(kWidth * 8), 5);
        const auto network = [&](bool quantized) {
            SmallModel m(quantized ? "q" : "f");
            m.input("x", { kRows, kWidth });
            if (quantized) {
                std::vector<int8_t> rounded;
                for (const float v : w)
                    rounded.push_back(int8_t(std::lrint(v * 127)));
                m.weight("w", { kWidth, 8 }, rounded, { 1.f / 127 });
            } else {
                m.constant("w", Tensor::of<float>({ kWidth, 8 }, w));
            }
            return m.node(type.toStdString(), { "x", "w" }, { "y" }).output("y").finish();
        };
        const Comparison c = provedOn(network(false), network(codes));
        const auto found = std::ranges::find(c.findings, "nothing", &Finding::cause);
        QVERIFY2((found != c.findings.end()) == !codes, qPrintable(rulesOf(c)));
        if (codes)
            return;
        QCOMPARE(found->severity, Severity::Note);
        QVERIFY2(found->summary.find("1 " + type.toStdString()) != std::string::npos, found->summary.c_str());
        QCOMPARE(found->summary.find("MatMulNBits") != std::string::npos, type == "Gemm");
    }
};

QTEST_GUILESS_MAIN(ChangedConstantTests)
#include "changed_constants_test.moc"
