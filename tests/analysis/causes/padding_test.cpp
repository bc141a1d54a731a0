// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"
#include "core/graph/domains.h"
#include "tests/analysis/comparing.h"
#include "tests/support/tensors.h"

#include <limits>

/// What is done to positions that the mask leaves out.
namespace {

using namespace qs;
using namespace qs::test;

constexpr int64_t kVocabulary = 40, kWide = 8, kText = 8;
constexpr int64_t kFloat = 1, kInt32 = 6;

enum class Reads { Mask, SizeOfMask, Lengths, KeysWithoutPadding };

/// mask, text -> what is added to the scores: nothing before the text's own positions and behind each of them. As
/// exporters write it, rows of padding let nothing through.
void addMask(SmallModel& m, bool lost)
{
    const float least = std::numeric_limits<float>::lowest();
    m.constant("one", Tensor::scalar(1.0f)).constant("least", Tensor::scalar(least));
    m.constant("columns", Tensor::of<int64_t>({ 2 }, { 1, 1 })).constant("rows", Tensor::of<int64_t>({ 1 }, { 1 }));
    m.node("Shape", { "attention_mask" }, { "sizes" });
    m.node("Gather", { "sizes", "columns" }, { "square" });
    m.node("ConstantOfShape", { "square" }, { "all" }, { { "value", Tensor::of<float>({ 1 }, { least }) } });
    m.node("Trilu", { "all", "rows_of" }, { "later" });
    std::string mask = "attention_mask";
    if (lost) {
        mask = "ones";
        m.node("ConstantOfShape", { "sizes" }, { "ones" }, { { "value", Tensor::of<int64_t>({ 1 }, { 1 }) } });
    }
    m.constant("rows_of", Tensor::scalar(int64_t(1)));
    m.node("Cast", { mask }, { "counts" }, { { "to", kFloat } }).node("Sub", { "one", "counts" }, { "padding" });
    m.node("Mul", { "padding", "least" }, { "left_out" }).node("Unsqueeze", { "left_out", "rows" }, { "by_row" });
    m.node("Min", { "later", "by_row" }, { "bias" });
}

/// Words, attention of one head, scores of words.
Prepared decoder(Reads reads)
{
    const Shape text { 1, -1 };
    SmallModel m("decoder");
    m.input("input_ids", text, DType::Int64).input("attention_mask", text, DType::Int64);
    std::mt19937 random(5);
    for (const char* name : { "q_w", "k_w", "v_w" })
        m.constant(name, normalFloats(random, { kWide, kWide }, 1));
    m.constant("words", normalFloats(random, { kVocabulary, kWide }, 1));
    m.constant("out", normalFloats(random, { kWide, kVocabulary }, 1));
    m.node("Gather", { "words", "input_ids" }, { "h" });
    for (const std::string n : { "q", "k", "v" })
        m.node("MatMul", { "h", n + "_w" }, { n == "k" && reads == Reads::KeysWithoutPadding ? "all_k" : n });
    if (reads == Reads::KeysWithoutPadding) {
        m.constant("last_axis", Tensor::of<int64_t>({ 1 }, { 2 }));
        m.node("Cast", { "attention_mask" }, { "shown" }, { { "to", kFloat } });
        m.node("Unsqueeze", { "shown", "last_axis" }, { "shown_rows" }).node("Mul", { "all_k", "shown_rows" }, { "k" });
    }
    if (reads == Reads::Lengths) {
        m.constant("none", Tensor::of<float>({ 1, 1, 0, kWide }, {}))
            .constant("axis", Tensor::of<int64_t>({ 1 }, { 1 }));
        m.constant("last", Tensor::of<int64_t>({ 1 }, { 1 })).constant("second", Tensor::scalar(int64_t(1)));
        m.node("ReduceSum", { "attention_mask", "axis" }, { "tokens" }).node("Sub", { "tokens", "last" }, { "ends" });
        m.node("Cast", { "ends" }, { "lengths" }, { { "to", kInt32 } })
            .node("Shape", { "attention_mask" }, { "sizes" });
        m.node("Gather", { "sizes", "second" }, { "width" })
            .node("Cast", { "width" }, { "total" }, { { "to", kInt32 } });
        m.node("GroupQueryAttention", { "q", "k", "v", "none", "none", "lengths", "total" },
            { "a", "present_k", "present_v" }, { { "num_heads", int64_t(1) }, { "kv_num_heads", int64_t(1) } },
            kMicrosoftDomain);
    } else {
        addMask(m, reads == Reads::SizeOfMask);
        m.constant("scale", Tensor::scalar(1 / std::sqrt(float(kWide))));
        m.node("Transpose", { "k" }, { "kt" }, { { "perm", std::vector<int64_t> { 0, 2, 1 } } });
        m.node("MatMul", { "q", "kt" }, { "qk" }).node("Mul", { "qk", "scale" }, { "scaled" });
        m.node("Add", { "scaled", "bias" }, { "scores" }).node("Softmax", { "scores" }, { "p" });
        m.node("MatMul", { "p", "v" }, { "a" });
    }
    return m.node("Add", { "a", "h" }, { "behind" })
        .node("MatMul", { "behind", "out" }, { "logits" })
        .output("logits")
        .finish();
}

/// Texts with so much padding each, before or behind them.
class PaddedTexts final : public DataSource {
public:
    PaddedTexts(std::vector<int> padding, bool left)
        : m_padding(std::move(padding))
        , m_left(left)
    {
        m_samples = m_feeds = m_padding.size();
    }
    Result<Feed> feed(size_t index) const override
    {
        std::mt19937 random { uint32_t(index) };
        std::vector<int64_t> ids(kText), mask(kText, 1);
        for (int64_t& id : ids)
            id = int64_t(random() % kVocabulary);
        for (int i = 0; i < m_padding[index]; ++i)
            ids[size_t(m_left ? i : kText - 1 - i)] = mask[size_t(m_left ? i : kText - 1 - i)] = 0;
        return Feed { { Tensor::of<int64_t>({ 1, kText }, ids), Tensor::of<int64_t>({ 1, kText }, mask) }, index, 1 };
    }

private:
    std::vector<int> m_padding;
    bool m_left;
};

} // namespace

class PaddingTests : public QObject {
    Q_OBJECT
private slots:
    void texts_data();
    void texts();
    void scoresOfPadding();
};

void PaddingTests::texts_data()
{
    QTest::addColumn<int>("reads");
    QTest::addColumn<QList<int>>("padding");
    QTest::addColumn<bool>("left");
    QTest::addColumn<QString>("told"); // of the finding; empty: the files are the same
    QTest::addColumn<bool>("inFloat"); // it is the float model that reads them so
    const QList<int> some { 0, 2, 4 }, all { 3, 2, 4 };
    const auto mask = int(Reads::Mask), size = int(Reads::SizeOfMask), lengths = int(Reads::Lengths);
    QTest::newRow("the mask, some padded") << mask << some << true << QString() << false;
    QTest::newRow("the mask, all padded") << mask << all << true << QString() << false;
    QTest::newRow("no mask, none padded") << size << QList<int> { 0, 0 } << true << QString() << false;
    QTest::newRow("no mask, some padded")
        << size << some << true << QStringLiteral("Of attention_mask it reads the size alone") << false;
    QTest::newRow("no mask, all padded") << size << all << true
                                         << QStringLiteral("Of attention_mask it reads the size alone") << false;
    QTest::newRow("no mask, behind what is read") << size << some << false << QString() << false;
    QTest::newRow("lengths, some padded")
        << lengths << some << true << QStringLiteral("takes lengths in place of a mask") << false;
    QTest::newRow("lengths, all padded") << lengths << all << true << QStringLiteral("takes lengths in place of a mask")
                                         << false;
    QTest::newRow("lengths, padded behind") << lengths << some << false << QString() << false;
    QTest::newRow("lengths in the float model")
        << lengths << some << true << QStringLiteral("takes lengths in place of a mask") << true;
    QTest::newRow("no mask in the float model")
        << size << some << true << QStringLiteral("Of attention_mask it reads the size alone") << true;
}

void PaddingTests::texts()
{
    QFETCH(int, reads);
    QFETCH(QList<int>, padding);
    QFETCH(bool, left);
    QFETCH(QString, told);
    QFETCH(bool, inFloat);
    const Prepared right = decoder(Reads::Mask), other = decoder(Reads(reads));
    const Prepared &f = inFloat ? other : right, &q = inFloat ? right : other;
    CompareOptions options;
    options.prove = true;
    const auto made = compareModels(pairOf(f, q), PaddedTexts({ padding.begin(), padding.end() }, left), options, {});
    QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
    QVERIFY(made->network);
    QVERIFY2(made->network->known(), made->network->reason.c_str());
    QVERIFY2(made->network->same() == told.isEmpty(), qPrintable(rulesOf(*made)));
    const Finding* const found = findingOf(*made, Rule::ModelsDiffer);
    QCOMPARE(found == nullptr, told.isEmpty());
    if (!found)
        return;
    QCOMPARE(found->severity, Severity::Error);
    QCOMPARE(QString::fromStdString(found->title),
        QStringLiteral("The %1 reads padding as text").arg(inFloat ? "float model" : "quantized file"));
    QVERIFY2(QString::fromStdString(found->summary).contains(told), found->summary.c_str());
}

/// What stands in the columns of padding counts as little as what stands in its rows.
void PaddingTests::scoresOfPadding()
{
    const auto c = compareModels(pairOf(decoder(Reads::Mask), decoder(Reads::KeysWithoutPadding)),
        PaddedTexts({ 0, 2, 4 }, false), CompareOptions(), {});
    QVERIFY2(c.ok(), c.ok() ? "" : issueText(c.issue()).c_str());
    for (const char* name : { "qk", "scaled", "scores", "p", "logits" })
        QVERIFY2(rowOf(*c, name).accumulated.exact, name);
}

QTEST_GUILESS_MAIN(PaddingTests)
#include "padding_test.moc"
