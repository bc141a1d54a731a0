// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/recurrent.h"

#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include <QTest>

using namespace qs;
using test::RandomData;

namespace {

/// Random sizes, data and weights of one direction, with the options that the row's number switches on.
struct Case {
    RecurrentCell cell;
    RecurrentRun<float> run;
    std::vector<float> x, w, r, bias, peepholes, h0, c0;
    std::vector<int64_t> lengths;

    Case(CellKind kind, uint32_t seed)
    {
        RandomData random { seed };
        cell.kind = kind;
        const UnaryOp ops[] { UnaryOp::Sigmoid, UnaryOp::Tanh, UnaryOp::Relu, UnaryOp::Softsign };
        cell.functions[0].op = seed % 5 ? UnaryOp::Sigmoid : ops[random.integer(0, 3)];
        cell.functions[1].op = seed % 7 ? UnaryOp::Tanh : ops[random.integer(0, 3)];
        cell.functions[2] = { UnaryOp::Tanh };
        if (seed % 3 == 0)
            cell.functions[2] = { UnaryOp::Tanh, {}, 0.5, 1.5, 0.25 };
        cell.clip = seed % 4 == 0 ? 0.5 : 0;
        cell.coupled = seed % 2 == 1;
        cell.linearBeforeReset = random.integer(0, 1) == 1;
        run.length = random.integer(0, 7);
        run.batch = random.integer(1, 5);
        run.input = random.integer(1, 19);
        run.hidden = random.integer(1, 35);
        run.reverse = random.integer(0, 1) == 1;
        const int64_t width = gateCount(kind) * run.hidden;
        x = random.floats(run.length * run.batch * run.input);
        w = random.floats(width * run.input);
        r = random.floats(width * run.hidden);
        run.x = x.data();
        if (seed % 2)
            run.bias = (bias = random.floats(2 * width)).data();
        if (kind == CellKind::Lstm && seed % 3 == 1)
            run.peepholes = (peepholes = random.floats(3 * run.hidden)).data();
        if (seed % 5 < 2)
            run.h0 = (h0 = random.floats(run.batch * run.hidden)).data();
        if (kind == CellKind::Lstm && seed % 5 == 1)
            run.c0 = (c0 = random.floats(run.batch * run.hidden)).data();
        if (seed % 3 == 2)
            run.lengths = (lengths = random.integers<int64_t>(run.batch, 0, run.length)).data();
    }
};

/// sums = a * b^T, naively.
auto product(int64_t rows, int64_t inner, int64_t columns, const float* b)
{
    return [=](const float* a, float* sums) {
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j) {
                double sum = 0;
                for (int64_t k = 0; k < inner; ++k)
                    sum += double(a[i * inner + k]) * double(b[j * inner + k]);
                sums[i * columns + j] = float(sum);
            }
        return true;
    };
}

} // namespace

class RecurrentTests : public QObject {
    Q_OBJECT
private slots:
    void fastAgreesWithReference_data();
    void fastAgreesWithReference();
    void stops();
    void lstmByHand();
};

void RecurrentTests::fastAgreesWithReference_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("seed");
    for (int kind = 0; kind < 3; ++kind)
        for (int seed = 0; seed < 60; ++seed)
            QTest::addRow("kind %d seed %d", kind, seed) << kind << seed;
}

void RecurrentTests::fastAgreesWithReference()
{
    QFETCH(int, kind);
    QFETCH(int, seed);
    Case c { CellKind(kind), uint32_t(seed) };
    RecurrentRun<float>& run = c.run;
    const int64_t gates = gateCount(c.cell.kind), states = run.batch * run.hidden, width = gates * run.hidden;
    // The outputs of another direction lie between the steps and must stay as they are.
    const size_t all = size_t(run.length * 2 * states), one = size_t(states);
    std::vector<float> y(all, 77), h(one), cell(one);
    std::vector<double> yWide(all, 77), hWide(one), cellWide(one);
    run.y = y.data();
    run.yStep = 2 * states;
    run.lastH = h.data();
    run.lastC = c.cell.kind == CellKind::Lstm ? cell.data() : nullptr;
    const bool split = c.cell.kind == CellKind::Gru && !c.cell.linearBeforeReset;
    const int64_t stateWidth = split ? 2 * run.hidden : width;
    RecurrentProducts products { product(run.length * run.batch, run.input, width, c.w.data()),
        product(run.batch, run.hidden, stateWidth, c.r.data()),
        product(run.batch, run.hidden, run.hidden, c.r.data() + (split ? stateWidth * run.hidden : 0)) };
    std::vector<float> scratch(recurrentScratch(c.cell.kind, run));
    QVERIFY(recurrentFast(c.cell, run, products, scratch.data()));

    const auto x = test::widened(c.x), w = test::widened(c.w), r = test::widened(c.r), bias = test::widened(c.bias),
               peepholes = test::widened(c.peepholes), h0 = test::widened(c.h0), c0 = test::widened(c.c0);
    const auto orNull = [](const std::vector<double>& v, const float* given) { return given ? v.data() : nullptr; };
    RecurrentRun<double> wide { run.length, run.batch, run.input, run.hidden, x.data(), orNull(bias, run.bias),
        orNull(peepholes, run.peepholes), orNull(h0, run.h0), orNull(c0, run.c0), run.lengths, run.reverse,
        yWide.data(), run.yStep, hWide.data(), run.lastC ? cellWide.data() : nullptr };
    recurrentReference(c.cell, wide, w.data(), r.data());
    for (const std::string& text : { test::difference<float>(y, std::span<const double>(yWide), 1e-5),
             test::difference<float>(h, std::span<const double>(hWide), 1e-4),
             test::difference<float>(cell, std::span<const double>(cellWide), 1e-4) })
        QVERIFY2(text.empty(), text.c_str());
}

void RecurrentTests::stops()
{
    Case c(CellKind::Rnn, 1);
    c.run.length = 1;
    c.x.resize(size_t(c.run.batch * c.run.input));
    c.run.x = c.x.data();
    std::vector<float> scratch(recurrentScratch(CellKind::Rnn, c.run));
    const auto nothing = [](const float*, float*) { return true; };
    QVERIFY(!recurrentFast(c.cell, c.run, { nothing, nothing }, scratch.data(), [] { return true; }));
    const auto fails = [](const float*, float*) { return false; };
    QVERIFY(!recurrentFast(c.cell, c.run, { fails, nothing }, scratch.data()));
    QVERIFY(!recurrentFast(c.cell, c.run, { nothing, fails }, scratch.data()));
}

void RecurrentTests::lstmByHand()
{
    // One number everywhere: gates i o f c are weights 1 2 3 4 times x, all without functions.
    RecurrentCell cell { CellKind::Lstm, {} };
    const std::vector<double> x { 1, 2 }, w { 1, 2, 3, 4 }, r { 0, 0, 0, 0 };
    std::vector<double> y(2), h(1), c(1);
    RecurrentRun<double> run { 2, 1, 1, 1, x.data() };
    run.y = y.data();
    run.yStep = 1;
    run.lastH = h.data();
    run.lastC = c.data();
    recurrentReference(cell, run, w.data(), r.data());
    // C1 = 1*4 = 4, H1 = 2*4; C2 = 6*4 + 2*8 = 40, H2 = 4*40
    QCOMPARE(y, (std::vector<double> { 8, 160 }));
    QCOMPARE(h[0], 160.0);
    QCOMPARE(c[0], 40.0);
}

int runRecurrentTests(int argc, char** argv)
{
    RecurrentTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "recurrent_test.moc"
