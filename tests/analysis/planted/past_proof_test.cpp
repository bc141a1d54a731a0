// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/decode/past_sample.h"
#include "core/analysis/rules/findings.h"
#include "tests/analysis/comparing.h"
#include "tests/support/tensors.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kVocabulary = 11, kWide = 4, kText = 6;
constexpr int64_t kFloat = 1;

/// Which cache each layer reads, and an input that nothing tells for a later token.
struct Reads {
    size_t first = 0, second = 1;
    bool counts = false;
    bool codes = false; ///< weights are stored in 8 bits
    bool crossed = false; ///< each layer gives what it remembers out by the other's name
};

std::string pastName(size_t layer) { return "past_key_values." + std::to_string(layer) + ".key"; }

/// Two layers, each of which adds the mean of what it remembers.
Prepared twoLayers(const Reads& reads)
{
    SmallModel m("decoder");
    m.input("input_ids", { 1, -1 }, DType::Int64);
    for (const size_t layer : { 0, 1 })
        m.input(pastName(layer), { 1, -1, kWide });
    if (reads.counts)
        m.input("cache_count", { 1 }, DType::Int64);
    std::mt19937 random(5);
    m.constant("words", normalFloats(random, { kVocabulary, kWide }, 1));
    m.constant("out", normalFloats(random, { kWide, kVocabulary }, 1));
    m.node("Gather", { "words", "input_ids" }, { "h0" });
    for (const size_t layer : { 0, 1 }) {
        const std::string n = std::to_string(layer), past = pastName(layer == 0 ? reads.first : reads.second);
        const Tensor w = normalFloats(random, { kWide, kWide }, 1);
        if (reads.codes)
            m.weight("w" + n, { kWide, kWide },
                symmetricCodes({ w.data<float>().begin(), w.data<float>().end() }, { 0.03f }), { 0.03f });
        else
            m.constant("w" + n, w);
        m.node("MatMul", { "h" + n, "w" + n }, { "k" + n });
        const std::string present = "present." + std::to_string(reads.crossed ? 1 - layer : layer) + ".key";
        m.node("Concat", { past, "k" + n }, { present }, { { "axis", int64_t(1) } });
        m.node("ReduceMean", { present }, { "mean" + n },
            { { "axes", std::vector<int64_t> { 1 } }, { "keepdims", int64_t(1) } });
        m.node("Add", { "h" + n, "mean" + n }, { "h" + std::to_string(layer + 1) });
    }
    if (reads.counts)
        m.constant("nothing", Tensor::scalar(0.0f))
            .node("Cast", { "cache_count" }, { "count" }, { { "to", kFloat } })
            .node("Mul", { "count", "nothing" }, { "zero" })
            .node("Add", { "h2", "zero" }, { "h3" });
    m.node("MatMul", { reads.counts ? "h3" : "h2", "out" }, { "logits" }).output("logits");
    return m.output("present.0.key").output("present.1.key").finish();
}

class Texts final : public DataSource {
public:
    Texts(bool counts, int64_t past)
        : m_counts(counts)
        , m_past(past)
    {
        m_samples = m_feeds = 2;
    }
    Result<Feed> feed(size_t index) const override
    {
        std::mt19937 random { uint32_t(index) };
        std::vector<int64_t> ids(kText);
        for (int64_t& id : ids)
            id = int64_t(random() % kVocabulary);
        Feed feed { { Tensor::of<int64_t>({ 1, kText }, ids) }, index, 1 };
        for (size_t layer = 0; layer < 2; ++layer)
            feed.inputs.push_back(normalFloats(random, { 1, m_past, kWide }, 1));
        if (m_counts)
            feed.inputs.push_back(Tensor::of<int64_t>({ 1 }, { 0 }));
        return feed;
    }

private:
    bool m_counts;
    int64_t m_past;
};

} // namespace

/// Whether both files are one network is asked behind a past, too.
class PastProofTests : public QObject {
    Q_OBJECT
private slots:
    void whatIsDoneWithAPast_data();
    void whatIsDoneWithAPast();
};

void PastProofTests::whatIsDoneWithAPast_data()
{
    QTest::addColumn<Reads>("reads");
    QTest::addColumn<int>("past"); // in the data
    QTest::addColumn<PastProof>("proof");
    QTest::addColumn<bool>("same");
    QTest::newRow("each its own") << Reads {} << 0 << PastProof::Same << true;
    QTest::newRow("exchanged") << Reads { 1, 0 } << 0 << PastProof::Apart << false;
    QTest::newRow("both the first's") << Reads { 0, 0 } << 0 << PastProof::Apart << false;
    QTest::newRow("an input that nothing tells") << Reads { 1, 0, true } << 0 << PastProof::Untested << true;
    QTest::newRow("a past in the data") << Reads {} << 3 << PastProof::NotNeeded << true;
    QTest::newRow("given out by the other's name, in codes")
        << Reads { 0, 1, false, true, true } << 0 << PastProof::NotNeeded << false;
    QTest::newRow("in codes") << Reads { 0, 1, false, true } << 0 << PastProof::Same << true;
    QTest::newRow("exchanged, a past in the data") << Reads { 1, 0 } << 3 << PastProof::NotNeeded << false;
}

void PastProofTests::whatIsDoneWithAPast()
{
    QFETCH(Reads, reads);
    QFETCH(int, past);
    QFETCH(PastProof, proof);
    QFETCH(bool, same);
    const Prepared f = twoLayers({ 0, 1, reads.counts }), q = twoLayers(reads);
    CompareOptions options;
    options.prove = true;
    const auto made = compareModels(pairOf(f, q), Texts(reads.counts, past), options, {});
    QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
    QVERIFY(made->network && made->network->known());
    QCOMPARE(made->network->past, proof);
    QCOMPARE(made->network->same(), same);
    const Finding* const found = findingOf(*made, Rule::ModelsDiffer);
    QCOMPARE(found == nullptr, same);
    if (same)
        return;
    QCOMPARE(QString::fromStdString(found->title), QStringLiteral("Caches are exchanged"));
    if (reads.crossed)
        return;
    const std::string read = pastName(reads.first == 1 ? 1 : 0), layer = reads.first == 1 ? "0" : "1";
    const std::string text = "makes present." + layer + ".key of " + read;
    QVERIFY2(found->summary.find(text) != std::string::npos, found->summary.c_str());
}

QTEST_GUILESS_MAIN(PastProofTests)
#include "past_proof_test.moc"
