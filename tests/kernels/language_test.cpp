// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/cpu/random.h"
#include "core/kernels/product/einsum.h"
#include "core/kernels/product/square_matrices.h"
#include "core/kernels/reduce/loss.h"
#include "core/kernels/sequence/attention.h"
#include "core/kernels/sequence/cache_codes.h"
#include "core/kernels/sequence/moe.h"
#include "core/kernels/sequence/token_mixing.h"
#include "core/kernels/text_ml/letter_case.h"
#include "core/kernels/text_ml/ngrams.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace qs;
using test::RandomData;

class LanguageTests : public QObject {
    Q_OBJECT
private slots:
    void attention_data();
    void attention();
    void causalAttention_data();
    void causalAttention();
    void cacheCodes_data();
    void cacheCodes();
    void rotary();
    void recurrentIsAttention_data();
    void recurrentIsAttention();
    void expertsByTables_data();
    void expertsByTables();
    void losses();
    void products();
    void determinant();
    void inverse();
    void letters();
    void ngrams();
    void randomNumbers();
};

void LanguageTests::attention_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 40; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void LanguageTests::attention()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const int64_t mostQueries = random.integer(0, 1) ? 3 : 19, mostSize = random.integer(0, 2) ? 17 : 150;
    AttentionShape s { random.integer(1, 2), 1, random.integer(1, 3), random.integer(1, mostQueries),
        random.integer(1, 19), random.integer(1, mostSize), random.integer(1, mostSize), 0.3,
        random.integer(0, 1) ? 2.0 : 0.0 };
    s.heads = s.keyHeads * random.integer(1, 3);
    const auto q = random.floats(s.batch * s.heads * s.queries * s.keySize);
    const auto k = random.floats(s.batch * s.keyHeads * s.keys * s.keySize);
    const auto v = random.floats(s.batch * s.keyHeads * s.keys * s.valueSize);
    auto bias = random.floats(s.heads * s.keys);
    for (int64_t i = 0; i < s.heads * s.keys; ++i) // of the first head no key is left
        if (i < s.keys || random.integer(0, 3) == 0)
            bias[size_t(i)] = -std::numeric_limits<float>::infinity();
    const auto dq = test::widened(q), dk = test::widened(k), dv = test::widened(v), dbias = test::widened(bias);
    const size_t count = size_t(s.batch * s.heads * s.queries);
    std::vector<float> y(count * size_t(s.valueSize)), scores(count * size_t(s.keys));
    std::vector<double> expectedY(y.size()), expectedScores(scores.size());
    const auto stage = AttentionStage(random.integer(0, 3));
    const std::array<int64_t, 4> strides { 0, s.keys, 0, 1 };
    attentionReference(s,
        { dq.data(), dk.data(), dv.data(), { dbias.data(), strides }, expectedY.data(), expectedScores.data(), stage });
    FloatMatmul products(nullptr);
    const auto prepared = PreparedAttention::make(s, products);
    QVERIFY(prepared);
    const auto scratch = test::scratchMemory(prepared->scratchBytes());
    QVERIFY(prepared->run(
        { q.data(), k.data(), v.data(), { bias.data(), strides }, y.data(), scores.data(), stage }, scratch.get()));
    std::string different = test::difference<float>(y, expectedY, 1e-5);
    QVERIFY2(different.empty(), different.c_str());
    different = test::difference<float>(scores, expectedScores, 1e-5);
    QVERIFY2(different.empty(), different.c_str());
}

void LanguageTests::causalAttention_data()
{
    QTest::addColumn<int>("queries");
    QTest::addColumn<int>("past");
    QTest::addColumn<bool>("byHead");
    QTest::addColumn<bool>("seesOneMore"); // a key behind its own place
    QTest::newRow("a last value that is none") << 128 << -1 << false << false;
    for (const int queries : { 60, 127, 128, 131, 300 })
        for (const int past : { 0, 5 })
            for (const bool byHead : { false, true })
                for (const bool seesOneMore : { false, true })
                    QTest::addRow("%d behind %d%s%s", queries, past, byHead ? ", by head" : "",
                        seesOneMore ? ", one key more" : "")
                        << queries << past << byHead << seesOneMore;
}

void LanguageTests::causalAttention()
{
    QFETCH(const int, queries);
    QFETCH(const int, past);
    QFETCH(const bool, byHead);
    QFETCH(const bool, seesOneMore);
    RandomData random { uint32_t(queries + past) };
    const AttentionShape s { 2, 4, 2, queries, queries + std::max(past, 0), 16, 24, 0.25, byHead ? 3.0 : 0.0 };
    const auto q = random.floats(s.batch * s.heads * s.queries * s.keySize);
    const auto k = random.floats(s.batch * s.keyHeads * s.keys * s.keySize);
    auto v = random.floats(s.batch * s.keyHeads * s.keys * s.valueSize);
    if (past < 0) // 0 times it is NaN in every row
        v.back() = std::numeric_limits<float>::infinity();
    const int64_t planes = s.batch * (byHead ? s.heads : 1), plane = s.queries * s.keys;
    auto bias = random.floats(planes * plane);
    for (int64_t p = 0; p < planes; ++p)
        for (int64_t i = 0; i < s.queries; ++i)
            for (int64_t j = s.keys - s.queries + i + 1; j < s.keys; ++j)
                bias[size_t(p * plane + i * s.keys + j)] = -std::numeric_limits<float>::infinity();
    if (seesOneMore)
        bias[size_t((planes - 1) * plane + s.keys - 1)] = 1;
    const std::array<int64_t, 4> strides { byHead ? s.heads * plane : plane, byHead ? plane : 0, s.keys, 1 };
    const auto dq = test::widened(q), dk = test::widened(k), dv = test::widened(v), dbias = test::widened(bias);
    std::vector<float> y(size_t(s.batch * s.heads * s.queries * s.valueSize));
    std::vector<double> expected(y.size());
    attentionReference(s, { dq.data(), dk.data(), dv.data(), { dbias.data(), strides }, expected.data(), nullptr, {} });
    FloatMatmul products(nullptr);
    const auto prepared = PreparedAttention::make(s, products);
    QVERIFY(prepared);
    const auto scratch = test::scratchMemory(prepared->scratchBytes());
    QVERIFY(prepared->run(
        { q.data(), k.data(), v.data(), { bias.data(), strides }, y.data(), nullptr, {} }, scratch.get()));
    const std::string different = test::difference<float>(y, expected, 1e-5);
    QVERIFY2(different.empty(), different.c_str());
}

void LanguageTests::cacheCodes_data()
{
    QTest::addColumn<int>("bits");
    QTest::addColumn<bool>("perChannel");
    for (int bits : { 8, 4 })
        for (bool perChannel : { false, true })
            QTest::addRow("%d bits, %s", bits, perChannel ? "per channel" : "per tensor") << bits << perChannel;
}

void LanguageTests::cacheCodes()
{
    QFETCH(int, bits);
    QFETCH(bool, perChannel);
    constexpr int64_t kSamples = 2, kHeads = 3, kRows = 5, kSize = 8;
    RandomData random { uint32_t(bits) };
    auto x = random.floats(kSamples * kHeads * kRows * kSize);
    std::vector<float> scale(perChannel ? kHeads * kSize : 1);
    for (size_t i = 0; i < scale.size(); ++i)
        scale[i] = i % 7 == 3 ? 0.0f : 0.25f * float(i % 4 + 1); // a scale of 0 counts as 1
    x[0] = 0.5f * scale[0]; // a tie goes to the even code
    x[1] = 1000;
    x[2] = -1000;
    const CacheCodes c { bits, kHeads, kSize, scale.data(), perChannel };
    std::vector<uint8_t> codes(size_t(kSamples * kHeads * kRows * c.rowBytes()));
    quantizeCache(c, x.data(), kSamples, kRows, codes.data());
    std::vector<float> back(x.size());
    dequantizeCache(c, codes.data(), kSamples, kRows, back.data());
    const double low = bits == 8 ? -128 : -8, high = bits == 8 ? 127 : 7;
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t head = i / (kRows * kSize) % kHeads, channel = i % kSize;
        const float s = perChannel ? scale[head * kSize + channel] : scale[0];
        const double code = std::clamp(std::nearbyint(double(s != 0 ? x[i] * (1 / s) : x[i])), low, high);
        const size_t at = i / kSize * size_t(c.rowBytes()) + channel * size_t(bits) / 8;
        const int stored = bits == 8 ? int8_t(codes[at]) : (channel % 2 ? codes[at] >> 4 : codes[at] & 15) - 8;
        QCOMPARE(double(stored), code);
        QCOMPARE(back[i], float(code) * s);
    }
}

void LanguageTests::rotary()
{
    // A quarter turn of the first pair; the rest of the head stays.
    const std::vector<float> x { 1, 2, 3, 4, 5 }, cosines { 1, 1, 0, 1 }, sines { 0, 0, 1, 0 };
    const int64_t row = 1;
    RotaryShape s { 1, 1, 1, 5, 5, 5, 5, 4, false };
    std::vector<float> y(5);
    rotaryEmbed<float>(s, x.data(), cosines.data(), sines.data(), &row, y.data());
    QCOMPARE(y, (std::vector<float> { -3, 2, 1, 4, 5 }));
    s.interleaved = true;
    rotaryEmbed<float>(s, x.data(), cosines.data(), sines.data(), &row, y.data());
    QCOMPARE(y, (std::vector<float> { -2, 1, 3, 4, 5 }));
}

void LanguageTests::recurrentIsAttention_data()
{
    QTest::addColumn<int>("queries");
    QTest::addColumn<int>("keys");
    QTest::addColumn<int>("values");
    QTest::newRow("as many") << 2 << 2 << 2;
    QTest::newRow("queries share states") << 4 << 2 << 2;
    QTest::newRow("states share queries and keys") << 2 << 2 << 4;
    QTest::newRow("states share queries") << 1 << 4 << 4;
    QTest::newRow("states share a key") << 4 << 1 << 2;
}

void LanguageTests::recurrentIsAttention()
{
    // Without gates the state is the sum of all pairs so far: causal attention without softmax. Several queries share a
    // state, or several states a query; several states may share a key.
    QFETCH(const int, queries);
    QFETCH(const int, keys);
    QFETCH(const int, values);
    RandomData random { 7 };
    const LinearAttentionShape s { .batch = 2,
        .tokens = 5,
        .keySize = 3,
        .valueSize = 2,
        .queries = queries,
        .keys = keys,
        .values = values,
        .scale = 0.5 };
    const int heads = std::max(queries, values);
    const auto noise = [&](int count) { return random.floats<double>(size_t(2 * 5 * count)); };
    const auto q = noise(queries * 3), k = noise(keys * 3), v = noise(values * 2);
    std::vector<double> state(size_t(2 * values * 3 * 2), 0.0), y(size_t(2 * 5 * heads * 2)), expected;
    linearAttention<double>(s, { q.data(), k.data(), v.data(), nullptr, nullptr, state.data(), y.data() });
    for (int i = 0; i < int(y.size()); ++i) {
        const int m = i % 2, h = i / 2 % heads, token = i / (2 * heads), first = token / 5 * 5;
        const int query = h / (heads / queries), value = h / (heads / values), key = value / (values / keys);
        double sum = 0;
        for (int past = first; past <= token; ++past)
            for (int d = 0; d < 3; ++d)
                sum += q[size_t((token * queries + query) * 3 + d)] * k[size_t((past * keys + key) * 3 + d)]
                    * v[size_t((past * values + value) * 2 + m)];
        expected.push_back(0.5 * sum);
    }
    const std::string different = test::difference<double>(y, expected, 1e-12);
    QVERIFY2(different.empty(), different.c_str());
}

void LanguageTests::expertsByTables_data()
{
    QTest::addColumn<int>("block");
    QTest::addColumn<bool>("zeroPoints");
    for (const int block : { 32, 64, 128, 256 })
        for (const bool zeroPoints : { false, true })
            QTest::addRow("blocks of %d%s", block, zeroPoints ? ", zero points" : "") << block << zeroPoints;
}

/// Whole numbers of which four are 127 together, in every stretch with one scale, are not rounded: the scale is 1.
void LanguageTests::expertsByTables()
{
    QFETCH(const int, block);
    QFETCH(const bool, zeroPoints);
    RandomData random { uint32_t(block) };
    const int64_t rows = 5, depth = 256, blocks = depth / block;
    const auto codes = random.integers<uint8_t>(rows * depth / 4, 0, 255);
    const auto zero = random.integers<float>(zeroPoints ? rows * blocks : 0, 0, 3);
    const auto scales = random.floats(rows * blocks);
    auto x = random.integers<double>(depth, -31, 31);
    for (size_t i = 0; i < x.size(); i += 32)
        std::ranges::copy(std::array { 100.0, -20.0, 0.0, 7.0 }, x.begin() + std::ptrdiff_t(i));
    const auto bias = random.floats<double>(rows);
    std::vector<double> y(size_t(rows), 0.0), none(y);
    const TwoBitWeights w { codes.data(), scales.data(), zeroPoints ? zero.data() : nullptr, size_t(rows),
        size_t(depth), size_t(block) };
    expertTableProduct(w, bias.data(), x.data(), y.data());
    for (size_t r = 0; r < y.size(); ++r) {
        double sum = bias[r];
        for (size_t i = 0; i < size_t(depth); ++i) {
            const size_t at = r * size_t(blocks) + i / size_t(block);
            const int code = codes[(r * size_t(depth) + i) / 4] >> (i % 4 * 2) & 3;
            sum += (code - (zeroPoints ? double(zero[at]) : 2)) * double(scales[at]) * x[i];
        }
        QVERIFY2(std::abs(y[r] - sum) < 1e-9, qPrintable(QString("row %1: %2, not %3").arg(r).arg(y[r]).arg(sum)));
    }
    x.assign(x.size(), 0);
    expertTableProduct(w, nullptr, x.data(), y.data());
    QCOMPARE(y, none);
    // Of 127 and 0.4 in one stretch nothing but the 127 is left, but for what no code multiplies: the sum itself.
    x[0] = 127;
    x[8] = 0.4;
    const std::vector<uint8_t> ones(codes.size(), 0xff);
    const std::vector<float> one(scales.size(), 1.0f);
    expertTableProduct(
        { ones.data(), one.data(), nullptr, 1, size_t(depth), size_t(block) }, nullptr, x.data(), y.data());
    QVERIFY2(std::abs(y[0] - (1.5 * 127 - 0.5 * 127.4)) < 1e-5, qPrintable(QString::number(y[0])));
    for (const double bad : { std::numeric_limits<double>::infinity(), std::nan(""), 1e300 }) {
        x[9] = bad;
        expertTableProduct(w, nullptr, x.data(), y.data());
        QVERIFY(std::ranges::all_of(y, [](double v) { return std::isnan(v); }));
    }
}

void LanguageTests::losses()
{
    const std::vector<double> logarithms { -1, -2, -3, -4, -5, -6 }, weights { 1, 2, 3 };
    const std::vector<int64_t> targets { 2, -100 };
    std::vector<double> loss(2), weight(2);
    likelihoodLosses<double>(
        { 1, 3, 2 }, logarithms.data(), targets.data(), weights.data(), -100, loss.data(), weight.data());
    QCOMPARE(loss, (std::vector<double> { 15, 0 }));
    QCOMPARE(weight, (std::vector<double> { 3, 0 }));
}

void LanguageTests::products()
{
    // ij,jk->ik and the trace
    const std::vector<double> a { 1, 2, 3, 4 }, b { 5, 6, 7, 8 };
    std::vector<double> y(4);
    const std::vector<LabelledOperand<double>> both { { a.data(), { 0, 1 } }, { b.data(), { 1, 2 } } };
    const std::vector<int64_t> sizes { 2, 2, 2 };
    sumOfProducts<double>(both, sizes, { 0, 2 }, y.data());
    QCOMPARE(y, (std::vector<double> { 19, 22, 43, 50 }));
    const std::vector<LabelledOperand<double>> one { { a.data(), { 0, 0 } } };
    sumOfProducts<double>(one, std::vector<int64_t> { 2 }, {}, y.data());
    QCOMPARE(y[0], 5.0);
}

void LanguageTests::determinant()
{
    const std::vector<double> x { 0, 2, 3, 4, 1, 2, 2, 4 };
    std::vector<double> y(2);
    determinants<double>(2, 2, x.data(), y.data());
    QCOMPARE(y, (std::vector<double> { -6, 0 }));
    double one = 0;
    determinants<double>(1, 0, x.data(), &one);
    QCOMPARE(one, 1.0);
}

void LanguageTests::inverse()
{
    const std::vector<float> x { 4, 7, 2, 6, 0, 1, 1, 0, 1, 2, 2, 4 };
    std::vector<float> y(x.size());
    inverses<float>(3, 2, x.data(), y.data());
    const std::vector<float> expected { 0.6f, -0.7f, -0.2f, 0.4f, 0, 1, 1, 0 };
    for (size_t i = 0; i < expected.size(); ++i)
        QVERIFY(std::abs(y[i] - expected[i]) < 1e-7f);
    for (size_t i = expected.size(); i < y.size(); ++i) // of the last there is none
        QVERIFY(!std::isfinite(y[i]));
}

void LanguageTests::letters()
{
    QCOMPARE(inCase("\xF0\x90\x90\x80", LetterCase::Lower), std::string("\xF0\x90\x90\xA8")); // Deseret
    QCOMPARE(inCase("Abc \xC3\x84 \xFF", LetterCase::Lower), std::string("abc \xC3\xA4 \xFF"));
    QCOMPARE(inCase("stra\xC3\x9F"
                    "e \xD0\xB6",
                 LetterCase::Upper),
        std::string("STRA\xC3\x9F"
                    "E \xD0\x96"));
}

void LanguageTests::ngrams()
{
    Ngrams<int64_t> grams;
    const std::vector<int64_t> two { 5, 6 }, one { 5 }, line { 5, 1, 6, 5, 6 };
    grams.add(two, 0);
    grams.add(one, 1);
    const auto count = [&](NgramLimits limits) {
        std::vector<int> found(2);
        grams.count(line, limits, [&](int64_t id) { ++found[size_t(id)]; });
        return found;
    };
    QCOMPARE(count({ 1, 2, 0 }), (std::vector<int> { 1, 2 }));
    QCOMPARE(count({ 1, 2, 1 }), (std::vector<int> { 2, 2 }));
    QCOMPARE(count({ 2, 2, 1000 }), (std::vector<int> { 3, 0 }));
    QCOMPARE(count({ 1, 1, 5 }), (std::vector<int> { 0, 2 }));
}

void LanguageTests::randomNumbers()
{
    const RandomNumbers numbers(42), others(43);
    double sum = 0, squares = 0, evenly = 0;
    const int n = 20'000;
    for (int i = 0; i < n; ++i) {
        const double v = numbers.normal(uint64_t(i)), u = numbers.uniform(uint64_t(i));
        sum += v;
        squares += v * v;
        evenly += u;
        QVERIFY(u >= 0 && u < 1 && std::isfinite(v));
    }
    QVERIFY(std::abs(sum / n) < 0.03 && std::abs(squares / n - 1) < 0.05 && std::abs(evenly / n - 0.5) < 0.01);
    QCOMPARE(numbers.uniform(5), RandomNumbers(42).uniform(5));
    QVERIFY(numbers.uniform(5) != others.uniform(5));
}

int runLanguageTests(int argc, char** argv)
{
    LanguageTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "language_test.moc"
