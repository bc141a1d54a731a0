// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of language models: which inputs hold tokens, and loss, perplexity and KL divergence against a naive
// computation in double.
#include "core/analysis/agreement/language_row.h"
#include "core/analysis/tasks/token_inputs.h"
#include "tests/analysis/comparing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kWords = 7, kPositions = 5, kPrompts = 3;

/// ids -> one row of scores for each token.
Prepared tokenModel(const char* ids = "input_ids", const char* mask = "attention_mask", int64_t words = kWords)
{
    SmallModel model("language");
    model.input(ids, { 1, kPositions }, DType::Int64).input(mask, { 1, kPositions }, DType::Int64);
    std::vector<float> table(size_t(kWords * words));
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (float& v : table)
        v = normal(random);
    return model.constant("table", Tensor::of<float>({ kWords, words }, table))
        .node("Gather", { "table", ids }, { "logits" })
        .output("logits")
        .finish();
}

/// Words, something of each, scores; where the words are rounded to steps, everything is off.
Prepared paddedModel(const QString& form, bool rounded)
{
    constexpr int64_t kWidth = 4;
    const Shape text = form == "open sizes" ? Shape { -1, -1 } : Shape { 1, kPositions };
    SmallModel m("padded");
    m.input("input_ids", text, DType::Int64).input("attention_mask", text, DType::Int64);
    std::vector<float> table(size_t(kWords * kWidth)), head(size_t(kWidth * kWords));
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (auto* values : { &table, &head })
        for (float& v : *values)
            v = normal(random);
    for (size_t i = 0; i < size_t(kWidth); ++i) // the word that is nowhere but in padding is far out
        table[(kWords - 1) * size_t(kWidth) + i] = 20 + float(i);
    m.constant("table", Tensor::of<float>({ kWords, kWidth }, table));
    m.node("Gather", { "table", "input_ids" }, { "words" });
    if (rounded)
        m.qdq<uint8_t>("words", "rounded", 0.2f, 128);
    std::string last = rounded ? "rounded" : "words";
    const auto reshape = [&](const std::string& to, const std::vector<int64_t>& shape) {
        m.constant(to + "_shape", Tensor::of<int64_t>({ int64_t(shape.size()) }, shape));
        m.node("Reshape", { last, to + "_shape" }, { to });
        last = to;
    };
    if (form == "heads")
        reshape("split", { 0, 0, 2, 2 });
    if (form == "rows of all samples")
        reshape("flat", { -1, kWidth });
    if (form == "heads") {
        m.node("Transpose", { last }, { "turned" }, { { "perm", std::vector<int64_t> { 0, 2, 1, 3 } } });
        last = "turned";
    }
    m.node("Neg", { last }, { "hidden" });
    last = "hidden";
    if (form == "heads") {
        m.node("Transpose", { last }, { "back" }, { { "perm", std::vector<int64_t> { 0, 2, 1, 3 } } });
        last = "back";
    }
    if (form == "heads" || form == "rows of all samples")
        reshape("joined", { 1, kPositions, kWidth });
    m.constant("head", Tensor::of<float>({ kWidth, kWords }, head));
    return m.node("MatMul", { last, "head" }, { "logits" }).output("logits").finish();
}

/// Attention over the words: of each position to all ("both sides"), to itself and those before it ("causal"), to
/// itself alone ("alone"), causal with a scale of all words together ("a scale of all"), or causal and to no padding,
/// so that a row of padding has nothing before it and is the mean of all ("masked").
Prepared attentionModel(const QString& form, bool rounded)
{
    constexpr int64_t kWidth = 4;
    SmallModel m("attention");
    m.input("input_ids", { 1, kPositions }, DType::Int64).input("attention_mask", { 1, kPositions }, DType::Int64);
    std::vector<float> table(size_t(kWords * kWidth)), head(size_t(kWidth * kWords)), hidden;
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (auto* values : { &table, &head })
        for (float& v : *values)
            v = normal(random);
    for (int64_t i = 0; i < kPositions; ++i)
        for (int64_t k = 0; k < kPositions; ++k)
            hidden.push_back(form == "both sides" || k == i || (k < i && form != "alone") ? 0.f : -1e9f);
    m.constant("table", Tensor::of<float>({ kWords, kWidth }, table));
    m.constant("hidden", Tensor::of<float>({ kPositions, kPositions }, hidden));
    m.constant("head", Tensor::of<float>({ kWidth, kWords }, head));
    m.node("Gather", { "table", "input_ids" }, { "words" });
    std::string last = "words", hides = "hidden";
    if (form == "masked") {
        m.constant("one", Tensor::scalar(1.0f)).constant("least", Tensor::scalar(-1e9f));
        m.node("Cast", { "attention_mask" }, { "counts" }, { { "to", int64_t(1) } });
        m.node("Sub", { "one", "counts" }, { "padding" }).node("Mul", { "padding", "least" }, { "left_out" });
        m.node("Min", { "hidden", "left_out" }, { "bias" });
        hides = "bias";
    }
    if (form == "a scale of all") {
        m.node("DynamicQuantizeLinear", { "words" }, { "codes", "scale", "zero" });
        m.node("DequantizeLinear", { "codes", "scale", "zero" }, { "read" });
        last = "read";
    }
    if (rounded) {
        m.qdq<uint8_t>(last, "rounded", 0.05f, 128);
        last = "rounded";
    }
    return m.node("Transpose", { last }, { "keys" }, { { "perm", std::vector<int64_t> { 0, 2, 1 } } })
        .node("MatMul", { last, "keys" }, { "products" })
        .node("Add", { "products", hides }, { "masked" })
        .node("Softmax", { "masked" }, { "shares" }, { { "axis", int64_t(-1) } })
        .node("MatMul", { "shares", last }, { "mixed" })
        .node("MatMul", { "mixed", "head" }, { "logits" })
        .output("logits")
        .finish();
}

constexpr std::array<int64_t, size_t(kPrompts)> kLengths { 5, 3, 1 };

/// Padded on the right or left, by a word.
class PaddedPrompts final : public DataSource {
public:
    explicit PaddedPrompts(int64_t filler, bool left = false)
        : m_filler(filler)
        , m_left(left)
    {
        m_samples = m_feeds = size_t(kPrompts);
    }
    Result<Feed> feed(size_t index) const override
    {
        std::vector<int64_t> ids, mask;
        for (int64_t p = 0; p < kPositions; ++p) {
            mask.push_back((m_left ? kPositions - 1 - p : p) < kLengths[index]);
            ids.push_back(mask.back() ? (p + int64_t(index)) % (kWords - 1) : m_filler);
        }
        const Shape shape { 1, kPositions };
        return Feed { { Tensor::of<int64_t>(shape, ids), Tensor::of<int64_t>(shape, mask) }, index, 1 };
    }

private:
    int64_t m_filler;
    bool m_left;
};

Comparison comparedOver(const Prepared& f, const Prepared& q, const DataSource& data)
{
    CompareOptions options;
    options.nodeAlone = true;
    return compareModels(pairOf(f, q), data, options, {}).value();
}

double logProbability(const float* row, int64_t of)
{
    double sum = 0;
    for (int64_t i = 0; i < kWords; ++i)
        sum += std::exp(double(row[i]));
    return double(row[of]) - std::log(sum);
}

} // namespace

class LanguageTests : public QObject {
    Q_OBJECT
private slots:
    void tokensAreFound_data();
    void tokensAreFound();
    void textOfADecoder_data();
    void textOfADecoder();
    void promptsOfAFeed();
    void paddingCountsInNoNumber_data();
    void paddingCountsInNoNumber();
    void wholeNumbersAreEqualOrNot_data();
    void wholeNumbersAreEqualOrNot();
    void numbersAgainstNaive_data();
    void numbersAgainstNaive();
    void tokensThatScoresAreOf_data();
    void tokensThatScoresAreOf();
    void worstGuess();
    void percentileLiesBetween();
};

void LanguageTests::tokensAreFound_data()
{
    QTest::addColumn<QString>("ids");
    QTest::addColumn<QString>("mask");
    QTest::addColumn<bool>("found");
    QTest::newRow("usual") << "input_ids"
                           << "attention_mask" << true;
    QTest::newRow("own names") << "tokens"
                               << "mask" << true;
    QTest::newRow("segments") << "input_ids"
                              << "token_type_ids" << false; // guesses hidden words
    QTest::newRow("places alone") << "position_ids"
                                  << "attention_mask" << false;
}

void LanguageTests::tokensAreFound()
{
    QFETCH(const QString, ids);
    QFETCH(const QString, mask);
    QFETCH(const bool, found);
    const Prepared model = tokenModel(ids.toUtf8(), mask.toUtf8());
    const auto inputs = tokenInputs(*model.plan, model.plan->graph().outputs()[0]);
    QCOMPARE(inputs.has_value(), found);
    if (found) {
        QCOMPARE(inputs->ids, size_t(0));
        QCOMPARE(inputs->mask, std::optional<size_t>(1));
    }
}

void LanguageTests::textOfADecoder_data()
{
    QTest::addColumn<QStringList>("encoder"); // its input and mask
    QTest::addColumn<QStringList>("decoder");
    QTest::addColumn<bool>("found");
    QTest::addColumn<bool>("masked");
    QTest::newRow("two texts with masks")
        << QStringList { "input_ids", "attention_mask" }
        << QStringList { "decoder_input_ids", "decoder_attention_mask" } << true << true;
    QTest::newRow("two texts, one mask") << QStringList { "input_ids", "attention_mask" }
                                         << QStringList { "decoder_input_ids" } << true << false;
    QTest::newRow("the decoder has the usual name") << QStringList { "encoder_input_ids", "encoder_attention_mask" }
                                                    << QStringList { "input_ids" } << true << false;
    QTest::newRow("names that tell nothing")
        << QStringList { "src", "src_mask" } << QStringList { "tgt", "tgt_mask" } << true << true;
    QTest::newRow("sounds and a text") << QStringList { "features", "attention_mask" }
                                       << QStringList { "decoder_input_ids" } << true << false;
    QTest::newRow("states and a text") << QStringList { "encoder_hidden_states", "encoder_attention_mask" }
                                       << QStringList { "input_ids" } << true << false;
    QTest::newRow("states and a text with a mask") << QStringList { "encoder_hidden_states", "encoder_attention_mask" }
                                                   << QStringList { "input_ids", "attention_mask" } << true << true;
    QTest::newRow("embedded words") << QStringList { "input_ids", "attention_mask" }
                                    << QStringList { "decoder_inputs_embeds" } << false << false;
}

/// Of two texts the one that the scores stand beside, by what they are made of.
void LanguageTests::textOfADecoder()
{
    QFETCH(const QStringList, encoder);
    QFETCH(const QStringList, decoder);
    QFETCH(const bool, found);
    QFETCH(const bool, masked);
    constexpr int64_t kWidth = 4;
    SmallModel model("language");
    const auto read = [&](const QStringList& names, const std::string& made) {
        const std::string first = names[0].toStdString();
        const bool reals = first.find("features") != std::string::npos || first.find("states") != std::string::npos
            || first.find("embeds") != std::string::npos;
        if (reals)
            model.input(first, { 1, kPositions, kWidth }).node("Neg", { first }, { made });
        else
            model.input(first, { 1, kPositions }, DType::Int64)
                .constant(made + "_table", Tensor::of<float>({ kWords, kWidth }, std::vector<float>(28, 1.f)))
                .node("Gather", { made + "_table", first }, { made });
        if (names.size() > 1)
            model.input(names[1].toStdString(), { 1, kPositions }, DType::Int64)
                .node("Cast", { names[1].toStdString() }, { made + "_ones" }, { { "to", int64_t(1) } });
    };
    read(encoder, "states");
    read(decoder, "words");
    model.node("Transpose", { "states" }, { "keys" }, { { "perm", std::vector<int64_t> { 0, 2, 1 } } })
        .node("MatMul", { "words", "keys" }, { "scores" })
        .node("Softmax", { "scores" }, { "shares" })
        .node("MatMul", { "shares", "states" }, { "looked" })
        .node("Add", { "words", "looked" }, { "sum" })
        .constant("head", Tensor::of<float>({ kWidth, kWords }, std::vector<float>(28, 1.f)))
        .node("MatMul", { "sum", "head" }, { "logits" })
        .output("logits");
    const Prepared made = model.finish();
    const auto inputs = tokenInputs(*made.plan, made.plan->graph().outputs()[0]);
    QCOMPARE(inputs.has_value(), found);
    if (!found)
        return;
    const auto nameOf = [&](size_t i) { return made.plan->graph().value(made.plan->graph().inputs()[i]).name; };
    QCOMPARE(nameOf(inputs->ids), decoder[0].toStdString());
    QCOMPARE(inputs->mask.has_value(), masked);
    if (masked)
        QCOMPARE(nameOf(*inputs->mask), decoder[1].toStdString());
}

void LanguageTests::promptsOfAFeed()
{
    const std::vector<Tensor> feed { Tensor::of<int64_t>({ 2, 3 }, { 1, 2, 3, 4, 5, 0 }),
        Tensor::of<int64_t>({ 2, 5 }, { 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 }) }; // two of the past before the ids
    const auto prompts = promptTokens({ 0, 1 }, feed, 2, 3, 6);
    QCOMPARE(prompts.size(), size_t(2));
    QCOMPARE(prompts[1].ids, (std::vector<int64_t> { 4, 5, 0 }));
    QCOMPARE(prompts[1].counts, (std::vector<uint8_t> { 1, 1, 0 }));
    QVERIFY(prompts[1].hasNext(0) && !prompts[1].hasNext(1) && !prompts[0].hasNext(2));
    QVERIFY(promptTokens({ 0, 1 }, feed, 2, 3, 5).empty()); // an id is no word
    QVERIFY(promptTokens({ 0, 1 }, feed, 2, 4, 6).empty());
}

void LanguageTests::paddingCountsInNoNumber_data()
{
    QTest::addColumn<QString>("form");
    for (const char* form : { "fixed sizes", "open sizes", "heads", "rows of all samples" })
        QTest::newRow(form) << QString(form);
}

/// Whatever stands in the padding, and if nothing did.
void LanguageTests::paddingCountsInNoNumber()
{
    QFETCH(const QString, form);
    const Prepared f = paddedModel(form, false), q = paddedModel(form, true);
    const Comparison one = comparedOver(f, q, PaddedPrompts(0)), other = comparedOver(f, q, PaddedPrompts(kWords - 1));
    size_t real = 0;
    for (const int64_t length : kLengths)
        real += size_t(length);
    QCOMPARE(one.outputs[0].similarity.elements, uint64_t(real * size_t(kWords)));
    QVERIFY(one.outputs[0].similarity.sqnrDb);
    QCOMPARE(one.outputs[0].similarity.sqnrDb, other.outputs[0].similarity.sqnrDb);
    QCOMPARE(one.outputs[0].sampleSqnrDb, other.outputs[0].sampleSqnrDb);
    QCOMPARE(one.outputs[0].similarity.maxAbsError, other.outputs[0].similarity.maxAbsError);
    for (const char* name : { "words", "hidden", "logits" }) {
        const ActivationRow &a = rowOf(one, name), &b = rowOf(other, name);
        QCOMPARE(a.accumulated.elements, uint64_t(real * size_t(name == std::string("logits") ? kWords : 4)));
        QVERIFY2(a.accumulated.sqnrDb && a.accumulated.sqnrDb == b.accumulated.sqnrDb, name);
        QVERIFY2(
            a.observedRange == b.observedRange && a.floatRange == b.floatRange && a.usedCodes == b.usedCodes, name);
        QVERIFY2(a.noise.rounding == b.noise.rounding && a.clippedFraction == b.clippedFraction, name);
        QVERIFY2(a.localSqnrDb == b.localSqnrDb && a.nodeSqnrDb == b.nodeSqnrDb, name);
        QCOMPARE(a.quantHistogram.total(), b.quantHistogram.total());
    }
}

void LanguageTests::wholeNumbersAreEqualOrNot_data()
{
    QTest::addColumn<int>("step");
    QTest::addColumn<bool>("exact");
    QTest::newRow("equal") << 1 << true;
    QTest::newRow("other ones") << 2 << false;
}

/// They say which elements are meant: what they differ by is no noise.
void LanguageTests::wholeNumbersAreEqualOrNot()
{
    QFETCH(const int, step);
    QFETCH(const bool, exact);
    const auto model = [](int64_t by) {
        SmallModel m("whole");
        m.input("x", { 1, 3 }, DType::Int64).constant("by", Tensor::scalar<int64_t>(by));
        m.constant("table", Tensor::of<float>({ 8, 1 }, { 0, 1, 2, 3, 4, 5, 6, 7 }));
        m.node("Add", { "x", "by" }, { "next" }).node("Gather", { "table", "next" }, { "y" });
        return m.output("y").finish();
    };
    const FixedData data({ Tensor::of<int64_t>({ 1, 3 }, { 0, 4, 2 }), Tensor::of<int64_t>({ 1, 3 }, { 5, 4, 1 }) });
    const Comparison c = compared(model(1), model(step), data);
    const ActivationRow &x = rowOf(c, "x"), &next = rowOf(c, "next");
    QVERIFY(x.accumulated.exact && x.accumulated.rmse == Number(0.0));
    QCOMPARE(next.accumulated.exact, exact);
    QVERIFY(!next.accumulated.sqnrDb && next.accumulated.rmse.has_value() == exact);
}

void LanguageTests::numbersAgainstNaive_data()
{
    QTest::addColumn<int>("padding");
    QTest::newRow("whole prompts") << 0;
    QTest::newRow("padded on the right") << 2;
}

void LanguageTests::numbersAgainstNaive()
{
    QFETCH(const int, padding);
    std::mt19937 random(11);
    std::normal_distribution<float> normal;
    std::vector<std::vector<TokenScores>> all(kPrompts);
    double lossX = 0, lossY = 0, kl = 0, largest = 0, losses = 0, positions = 0;
    for (auto& tokens : all) {
        PromptTokens prompt;
        std::vector<float> x, y;
        for (int64_t i = 0; i < kPositions; ++i) {
            prompt.ids.push_back(int64_t(random() % kWords));
            prompt.counts.push_back(i < kPositions - padding);
            for (int64_t w = 0; w < kWords; ++w) {
                x.push_back(2 * normal(random));
                y.push_back(x.back() + 0.2f * normal(random));
            }
        }
        const ScoreSums sums = scoreSums(x.data(), y.data(), { size_t(kPositions), size_t(kWords) }, ScoreKind::Logits,
            { nullptr, &prompt, &tokens });
        QCOMPARE(int(sums.positions), int(kPositions) - padding);
        QCOMPARE(tokens.size(), size_t(kPositions));
        positions += sums.positions;
        for (int64_t i = 0; i < kPositions - padding; ++i) {
            const float *a = &x[size_t(i * kWords)], *b = &y[size_t(i * kWords)];
            double one = 0;
            for (int64_t w = 0; w < kWords; ++w)
                one += std::exp(logProbability(a, w)) * (logProbability(a, w) - logProbability(b, w));
            kl += one;
            largest = std::max(largest, one);
            if (i + 1 == kPositions - padding)
                continue;
            lossX -= logProbability(a, prompt.ids[size_t(i) + 1]);
            lossY -= logProbability(b, prompt.ids[size_t(i) + 1]);
            ++losses;
        }
    }
    std::vector<MeasuredPrompt> prompts;
    for (const auto& tokens : all)
        prompts.push_back({ prompts.size(), &tokens });
    const LanguageRow row = languageRow(prompts, size_t(positions));
    QCOMPARE(row.prompts, size_t(kPrompts));
    QCOMPARE(double(row.positions), positions);
    const auto near = [](const Number& value, double wanted) {
        return value && std::fabs(*value - wanted) <= 1e-9 * std::max(1.0, std::fabs(wanted));
    };
    QVERIFY(near(row.floatLoss, lossX / losses));
    QVERIFY(near(row.quantLoss, lossY / losses));
    QVERIFY(near(row.floatPerplexity(), std::exp(lossX / losses)));
    QVERIFY(near(row.klMean, kl / positions));
    QVERIFY(near(row.klMax, largest));
}

void LanguageTests::tokensThatScoresAreOf_data()
{
    QTest::addColumn<QString>("form");
    QTest::addColumn<bool>("own");
    QTest::newRow("a masked language model") << "both sides" << true;
    QTest::newRow("a decoder") << "causal" << false;
    QTest::newRow("each word by itself") << "alone" << false;
    QTest::newRow("a decoder whose scales are of all words") << "a scale of all" << false;
    QTest::newRow("a decoder that hides padding before the text") << "masked" << false;
}

/// Where a later token moves the scores, they are of no next one.
void LanguageTests::tokensThatScoresAreOf()
{
    QFETCH(const QString, form);
    QFETCH(const bool, own);
    const Comparison c = comparedOver(
        attentionModel(form, false), attentionModel(form, true), PaddedPrompts(kWords - 1, form == "masked"));
    const OutputRow& row = c.outputs[0];
    QVERIFY(row.language && row.language->klMean && row.language->worst);
    QCOMPARE(row.language->scored, own ? ScoredToken::Own : ScoredToken::Next);
    QCOMPARE(row.task.scored, row.language->scored);
    QCOMPARE(row.language->floatLoss.has_value(), !own);
    QCOMPARE(row.language->quantPerplexity().has_value(), !own);
    QCOMPARE(row.language->positions, size_t(9)); // padding counts as little as in decoders
}

/// Another guess comes before a larger divergence.
void LanguageTests::worstGuess()
{
    std::vector<TokenScores> one(3), two(2);
    for (auto* tokens : { &one, &two })
        for (TokenScores& token : *tokens)
            token = { 0, 0, 0.5, 0 };
    one[2].divergence = 2;
    const auto worst = [&] { return languageRow({ { 4, &one }, { 6, &two } }, 5).worst; };
    QVERIFY(worst() && worst()->prompt == 4 && worst()->position == 2 && !worst()->flipped);
    two[1] = { 0, 0, 0.75, 1 };
    QVERIFY(worst()->prompt == 6 && worst()->position == 1 && worst()->flipped && worst()->divergence == 0.75);
    two[0] = { 0, 0, NAN, 1 }; // no distribution
    QCOMPARE(worst()->position, size_t(1));
    const float x[] { 1, 2, 0, 3 }, y[] { 2, 1, 0, 3 };
    PromptTokens prompt { { 0, 1 }, { 1, 1 } };
    std::vector<TokenScores> tokens;
    scoreSums(x, y, { 2, 2 }, ScoreKind::Logits, { nullptr, &prompt, &tokens });
    QVERIFY(tokens[0].flipped == 1 && tokens[1].flipped == 0);
}

void LanguageTests::percentileLiesBetween()
{
    std::vector<TokenScores> tokens(101);
    for (size_t i = 0; i < tokens.size(); ++i)
        tokens[tokens.size() - 1 - i].divergence = double(i);
    QCOMPARE(languageRow({ { 0, &tokens } }, tokens.size()).klP99, Number(99.0));
    tokens.resize(51); // 100 down to 50
    QCOMPARE(languageRow({ { 0, &tokens } }, tokens.size()).klP99, Number(99.5));
    const std::vector<TokenScores> none(1);
    QCOMPARE(languageRow({ { 0, &none } }, 1).klMean, Number());
    QCOMPARE(languageRow({ { 0, &none } }, 1).floatLoss, Number());
}

QTEST_GUILESS_MAIN(LanguageTests)
#include "language_test.moc"
