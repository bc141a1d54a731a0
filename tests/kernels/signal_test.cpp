// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/signal.h"

#include "core/kernels/sequence/fourier.h"
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include <QTest>

using namespace qs;
using test::RandomData;
using Complex = std::complex<double>;

namespace {

std::vector<Complex> randomSignal(int64_t n, uint32_t seed)
{
    RandomData random { seed };
    const auto parts = random.floats<double>(2 * n);
    std::vector<Complex> x;
    for (size_t i = 0; i < size_t(n); ++i)
        x.emplace_back(parts[2 * i], parts[2 * i + 1]);
    return x;
}

double largestDifference(const std::vector<Complex>& a, const std::vector<Complex>& b)
{
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

} // namespace

class SignalTests : public QObject {
    Q_OBJECT
private slots:
    void fastAgreesWithReference_data();
    void fastAgreesWithReference();
    void halfSpectrumIsThatOfARealSignal();
    void windows();
    void melTriangles();
    void melOutsideTheSpectrum();
};

void SignalTests::fastAgreesWithReference_data()
{
    QTest::addColumn<int>("n");
    for (int n = 1; n <= 70; ++n)
        QTest::addRow("%d", n) << n;
    for (int n : { 97, 128, 400, 512, 513, 1009 })
        QTest::addRow("%d", n) << n;
}

void SignalTests::fastAgreesWithReference()
{
    QFETCH(int, n);
    const Fourier fast(n);
    std::vector<Complex> scratch(fast.scratchSize());
    for (const bool inverse : { false, true }) {
        const auto x = randomSignal(n, uint32_t(n));
        std::vector<Complex> y = x, expected(x.size());
        fast.run(y.data(), inverse, scratch.data());
        fourierReference(x.data(), expected.data(), n, inverse);
        QVERIFY2(largestDifference(y, expected) < 1e-11 * n, "seed = length");
        fast.run(y.data(), !inverse, scratch.data());
        QVERIFY2(largestDifference(y, x) < 1e-12 * n, "there and back; seed = length");
    }
}

void SignalTests::halfSpectrumIsThatOfARealSignal()
{
    for (int64_t n : { 1, 2, 5, 8, 9 }) {
        RandomData random { uint32_t(n) };
        const auto real = random.floats<double>(n);
        std::vector<Complex> x(real.begin(), real.end()), whole(x.size()), again(x.size());
        fourierReference(x.data(), whole.data(), n, false);
        const SignalView half { reinterpret_cast<const double*>(whole.data()), n / 2 + 1, 2, true };
        loadHalfSpectrum(half, again.data(), n);
        QVERIFY(largestDifference(again, whole) < 1e-12);
    }
}

void SignalTests::windows()
{
    const auto window = [](CosineWindow kind, int64_t size, bool periodic) {
        std::vector<double> out(static_cast<size_t>(size));
        fillWindow(kind, size, periodic, out.data());
        return out;
    };
    const auto close = [](const std::vector<double>& a, const std::vector<double>& b) {
        return test::difference<double>(a, std::span<const double>(b), 1e-12).empty();
    };
    QVERIFY(close(window(CosineWindow::Hann, 4, true), { 0, 0.5, 1, 0.5 }));
    QVERIFY(close(window(CosineWindow::Hann, 5, false), { 0, 0.5, 1, 0.5, 0 }));
    QVERIFY(close(window(CosineWindow::Hamming, 3, false), { 4 / 46.0, 1, 4 / 46.0 }));
    QVERIFY(close(window(CosineWindow::Blackman, 2, true), { 0, 1 }));
    for (auto kind : { CosineWindow::Hann, CosineWindow::Hamming, CosineWindow::Blackman })
        QVERIFY(std::isnan(window(kind, 1, false)[0]) && window(kind, 0, false).empty());
}

void SignalTests::melTriangles()
{
    const MelWeights mel { 8, 16, 8192, 0, 4096 };
    std::vector<double> out(9 * 8);
    QVERIFY(fillMelWeights(mel, out.data()));
    for (size_t band = 0; band < 8; ++band) {
        double most = 0;
        for (size_t row = 0; row < 9; ++row)
            most = std::max(most, out[row * 8 + band]);
        QCOMPARE(most, 1.0); // each triangle has its tip
    }
    QCOMPARE(out[0], 1.0); // ONNX's own example
    QCOMPARE(out[3 * 8 + 5], 1.0);
}

void SignalTests::melOutsideTheSpectrum()
{
    std::vector<double> out(9 * 8);
    QVERIFY(!fillMelWeights({ 8, 16, 1, 0, 1e300 }, out.data()));
}

int runSignalTests(int argc, char** argv)
{
    SignalTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "signal_test.moc"
