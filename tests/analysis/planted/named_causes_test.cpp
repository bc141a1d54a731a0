// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kCount = 512;

FixedData scaled(const Shape& shape, float factor)
{
    size_t count = 1;
    for (const int64_t size : shape)
        count *= size_t(size);
    std::vector<float> values = normals(int(count), 9);
    for (float& v : values)
        v *= factor;
    return FixedData({ Tensor::of<float>(shape, values) });
}

/// x -> Neg -> a -> MatMul -> y; in the other file `a` is moved before it is quantized.
Prepared moved(bool codes, const std::string& move)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 2, 4, 4 }).constant("w", Tensor::of<float>({ 4, 4 }, uniform(16, 5)));
    m.node("Neg", { "x" }, { "a" });
    if (!codes)
        return m.node("MatMul", { "a", "w" }, { "y" }).output("y").finish();
    const bool turned = move == "Transpose";
    m.constant("to", Tensor::of<int64_t>({ 2 }, { 8, 4 })).constant("back", Tensor::of<int64_t>({ 3 }, { 2, 4, 4 }));
    if (turned)
        m.node("Transpose", { "a" }, { "r" }, { { "perm", std::vector<int64_t> { 0, 2, 1 } } });
    else
        m.node("Reshape", { "a", "to" }, { "r" });
    m.qdq<int8_t>("r", "r_dq", 0.002f, 0).node("MatMul", { "r_dq", "w" }, { "u" });
    m.node("Reshape", { "u", "back" }, { "y" }).output("y");
    if (move == "read elsewhere")
        m.node("Abs", { "a" }, { "other" }).output("other");
    return m.finish();
}

} // namespace

/// Findings name the cause, not what follows from it, and say nothing where there is none.
class NamedCausesTests : public QObject {
    Q_OBJECT

private slots:
    void quantizersBehind_data()
    {
        QTest::addColumn<QString>("move");
        QTest::addColumn<bool>("told");
        QTest::newRow("reshaped") << "Reshape" << true;
        QTest::newRow("other order") << "Transpose" << false;
        QTest::newRow("read elsewhere") << "read elsewhere" << false;
    }
    /// A range that is too small behind a Reshape which the float file does not have.
    void quantizersBehind()
    {
        QFETCH(QString, move);
        QFETCH(bool, told);
        const Comparison c = compared(moved(false, {}), moved(true, move.toStdString()), scaled({ 2, 4, 4 }, 1));
        QCOMPARE(rowOf(c, "a").quantizer.has_value(), told);
        QVERIFY2(
            (findingOf(c, Rule::InputMismatch) || findingOf(c, Rule::RangeTooSmall)) == told, qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(NamedCausesTests)
#include "named_causes_test.moc"
