// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/quantize/qlinear.h"
#include "tests/support/helper_call.h"

#include <QFile>
#include <QTest>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace qs;

namespace {

/// A line of tests/data/qlinear/expectations.txt: what ONNX Runtime computed.
struct Recorded {
    QString op;
    bool isSigned = false;
    std::vector<Grid> grids;
    std::vector<std::vector<int>> inputs;
    std::vector<int> output;
};

std::vector<int> numbers(const QString& text)
{
    std::vector<int> out;
    for (const QString& word : text.split(' ', Qt::SkipEmptyParts))
        out.push_back(word.toInt());
    return out;
}

std::vector<Recorded> recorded()
{
    QFile file(QStringLiteral(QS_SOURCE_DIR "/tests/data/qlinear/expectations.txt"));
    std::vector<Recorded> all;
    if (!file.open(QIODevice::ReadOnly))
        return all;
    for (const QString& line : QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts)) {
        if (line.startsWith('#'))
            continue;
        const QStringList parts = line.split(" : ");
        const QStringList head = parts[0].split(' ');
        Recorded r { head[0], head[1] == "int8", {}, {}, numbers(parts.last()) };
        for (qsizetype i = 2; i + 1 < head.size(); i += 2)
            r.grids.push_back({ std::bit_cast<float>(head[i].toUInt()), head[i + 1].toInt() });
        for (qsizetype i = 1; i + 1 < parts.size(); ++i)
            r.inputs.push_back(numbers(parts[i]));
        all.push_back(std::move(r));
    }
    return all;
}

template <class T> std::vector<T> codes(const std::vector<int>& values) { return { values.begin(), values.end() }; }

template <class T> std::vector<T> compute(const Recorded& r)
{
    const std::vector<T> x = codes<T>(r.inputs[0]);
    std::vector<T> y(r.output.size());
    if (r.op == "QLinearAdd" || r.op == "QLinearMul") {
        const std::vector<T> b = codes<T>(r.inputs[1]);
        const QLinearBinary p { r.op == "QLinearAdd" ? BinaryOp::Add : BinaryOp::Mul, r.grids[0], r.grids[1],
            r.grids[2] };
        qlinearFast<T>(p, { x.data(), x.size() > 1 }, { b.data(), b.size() > 1 }, y.data(), y.size());
    } else if (r.op == "QLinearGlobalAveragePool") {
        qlinearGlobalAveragePool(3, 8, 1, r.grids[0], r.grids[1], x.data(), y.data(), nullptr);
    } else if (r.op == "QLinearAveragePool") {
        PoolShape p;
        p.axes[1] = { 4, 2, 3, 2, 1 };
        p.axes[2] = { 2, 2, 2, 1, 0 };
        p.outer = 3;
        qlinearAveragePool(p, r.grids[0], r.grids[1], x.data(), y.data(), nullptr);
    } else {
        qlinearSoftmaxRow(
            makeSoftmaxTable(r.grids[0].scale, x.size()), r.grids[1], x.data(), y.data(), nullptr, x.size(), 1);
    }
    return y;
}

template <class T> void compareAllPairs(BinaryOp op, size_t strideA, size_t strideB)
{
    std::mt19937 random(99);
    std::vector<T> a(65536 + 5), b(a.size()), fast(a.size()), slow(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<T>(i);
        b[i] = static_cast<T>(i >> 8);
    }
    for (int round = 0; round < 8; ++round) {
        const float c = 0.01f * float(1 + random() % 9);
        const auto zero = [&] { return int32_t(std::numeric_limits<T>::min()) + int32_t(random() % 256); };
        const QLinearBinary p { op, { c * float(1 + random() % 9) / 2, zero() },
            { op == BinaryOp::Add ? c * float(1 + random() % 9) / 2 : 1.0f / 64, zero() }, { c, zero() } };
        qlinearFast<T>(p, { a.data(), strideA }, { b.data(), strideB }, fast.data(), fast.size());
        qlinearReference<T>(p, { a.data(), strideA }, { b.data(), strideB }, slow.data(), nullptr, slow.size());
        QVERIFY(fast == slow);
    }
}

} // namespace

class QLinearTest : public QObject {
    Q_OBJECT
private slots:
    void agreesWithOnnxRuntime();
    void fastMatchesReference();
    void realValueLiesWithinHalfAStep();
    void poolsAgreeInBothLayouts();
    void equalGridsCopyCodes();
    void softmaxRowsMatchTheReference();
};

void QLinearTest::agreesWithOnnxRuntime()
{
    const std::vector<Recorded> all = recorded();
    QVERIFY(all.size() > 60);
    for (const Recorded& r : all) {
        if (r.isSigned)
            QVERIFY2(compute<int8_t>(r) == codes<int8_t>(r.output), qPrintable(r.op));
        else
            QVERIFY2(compute<uint8_t>(r) == codes<uint8_t>(r.output), qPrintable(r.op));
    }
}

void QLinearTest::fastMatchesReference()
{
    for (BinaryOp op : { BinaryOp::Add, BinaryOp::Mul })
        for (size_t strides = 0; strides < 4; ++strides) {
            QS_HELPER(compareAllPairs<uint8_t>(op, strides & 1, strides >> 1));
            QS_HELPER(compareAllPairs<int8_t>(op, strides & 1, strides >> 1));
        }
}

void QLinearTest::realValueLiesWithinHalfAStep()
{
    const QLinearBinary p { BinaryOp::Add, { 0.02f, 10 }, { 0.03f, -4 }, { 0.06f, 7 } };
    std::vector<int8_t> a(256), y(256);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<int8_t>(i);
    std::vector<float> real(256);
    qlinearReference<int8_t>(p, { a.data(), 1 }, { a.data(), 1 }, y.data(), real.data(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
        const double wanted = 0.02 * (a[i] - 10) + 0.03 * (a[i] + 4);
        QVERIFY(std::fabs(real[i] - wanted) < 1e-5);
        QVERIFY(std::fabs(0.06 * (y[i] - 7) - wanted) < 0.03 + 1e-5);
    }
}

void QLinearTest::poolsAgreeInBothLayouts()
{
    std::mt19937 random(5);
    const size_t channels = 5, size = 6 * 7;
    std::vector<uint8_t> plain(channels * size), last(plain.size());
    for (size_t i = 0; i < plain.size(); ++i) {
        plain[i] = static_cast<uint8_t>(random());
        last[i % size * channels + i / size] = plain[i];
    }
    PoolShape p;
    p.axes[1] = { 6, 3, 3, 2, 1 };
    p.axes[2] = { 7, 7, 2, 1, 0 };
    p.outer = channels;
    const Grid in { 0.04f, 3 }, out { 0.02f, 9 };
    std::vector<uint8_t> a(channels * 21), b(a.size());
    std::vector<float> real(a.size());
    qlinearAveragePool(p, in, out, plain.data(), a.data(), real.data());
    p.outer = 1;
    p.lanes = channels;
    qlinearAveragePool(p, in, out, last.data(), b.data(), real.data());
    for (size_t i = 0; i < a.size(); ++i)
        QCOMPARE(b[i % 21 * channels + i / 21], a[i]);
    std::vector<uint8_t> means(channels), meansLast(channels);
    qlinearGlobalAveragePool(channels, size, 1, in, out, plain.data(), means.data(), nullptr);
    qlinearGlobalAveragePool(1, size, channels, in, out, last.data(), meansLast.data(), nullptr);
    QCOMPARE(means, meansLast);
}

void QLinearTest::equalGridsCopyCodes()
{
    const CodeTable same = makeRequantizeTable<int8_t>({ 0.1f, 5 }, { 0.1f, 5 });
    const CodeTable other = makeRequantizeTable<int8_t>({ 0.1f, 5 }, { 0.2f, 0 });
    for (size_t i = 0; i < 256; ++i)
        QCOMPARE(same.code[i], uint8_t(i));
    QCOMPARE(int8_t(other.code[uint8_t(int8_t(-128))]), int8_t(-66)); // -133 * 0.1 / 0.2 = -66.5, to even
    QCOMPARE(other.real[5], 0.0f);
}

template <class T> void compareSoftmax(Grid out, float inputScale, size_t rows, size_t n)
{
    std::mt19937 random(uint32_t(rows * 1000 + n));
    std::vector<T> x(rows * n), fast(x.size()), slow(x.size());
    for (T& code : x)
        code = static_cast<T>(random());
    std::vector<float> fastReal(x.size()), slowReal(x.size());
    const SoftmaxTable table = makeSoftmaxTable(inputScale, std::max<size_t>(n, 1));
    qlinearSoftmaxRows(table, out, x.data(), fast.data(), fastReal.data(), rows, n);
    for (size_t r = 0; r < rows && n > 0; ++r)
        qlinearSoftmaxRow(table, out, &x[r * n], &slow[r * n], &slowReal[r * n], n, 1);
    QVERIFY(fast == slow);
    QVERIFY(fastReal == slowReal);
    std::fill(fast.begin(), fast.end(), T());
    qlinearSoftmaxRows(table, out, x.data(), fast.data(), nullptr, rows, n);
    QVERIFY(fast == slow);
}

void QLinearTest::softmaxRowsMatchTheReference()
{
    for (const size_t rows : { 0, 1, 7, 8, 9, 33 })
        for (const size_t n : { 0, 1, 2, 7, 16, 31, 128, 131 })
            for (const float inputScale : { 1e-6f, 0.004f, 0.05f, 0.7f, 30.0f })
                for (const float scale : { 1.0f / 255, 1.0f / 256, 0.011f, 1e-4f, 1e-12f, 3.0f }) {
                    QS_HELPER(compareSoftmax<uint8_t>({ scale, 0 }, inputScale, rows, n));
                    QS_HELPER(compareSoftmax<uint8_t>({ scale, 200 }, inputScale, rows, n));
                    QS_HELPER(compareSoftmax<int8_t>({ scale, -128 }, inputScale, rows, n));
                    QS_HELPER(compareSoftmax<int8_t>({ scale, 5 }, inputScale, rows, n));
                }
}

int runQLinearTests(int argc, char** argv)
{
    QLinearTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "qlinear_test.moc"
