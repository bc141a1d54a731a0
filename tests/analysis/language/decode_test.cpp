// SPDX-License-Identifier: GPL-3.0-or-later
// Language models that go on with their own tokens: which caches belong together, and where two of them part, against a
// naive computation in double.
#include "core/analysis/decode/continued_prompt.h"
#include "core/analysis/decode/free_decoding.h"
#include "core/analysis/decode/prompt_inputs.h"
#include "core/analysis/pairs/cache_pairs.h"
#include "core/base/issue_text.h"
#include "core/tensor/convert.h"
#include "tests/support/small_decoder.h"

#include <QtTest>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

using Form = DecoderForm;

constexpr size_t kRead = 3, kNew = 12;

/// Ids, then what the form has; `ends`: positions before the padding, by prompt.
class PromptData final : public DataSource {
public:
    PromptData(const Form& form, std::vector<size_t> ends)
        : m_form(form)
        , m_ends(std::move(ends))
        , m_each(form.fixedBatch ? size_t(kDecoderBatch) : 1)
    {
        m_samples = kPrompts;
        m_feeds = kPrompts / m_each;
    }
    Result<Feed> feed(size_t index) const override
    {
        const Prompts all = decoderPrompts();
        std::vector<int64_t> ids, places;
        std::vector<int32_t> mask;
        for (size_t row = index * m_each; row < (index + 1) * m_each; ++row)
            for (size_t i = 0; i < kGiven; ++i) {
                ids.push_back(all[row][i]);
                places.push_back(int64_t(i));
                mask.push_back(i < m_ends[row]);
            }
        const Shape shape { int64_t(m_each), int64_t(kGiven) };
        Feed feed { { Tensor::of<int64_t>(shape, ids) }, index * m_each, m_each };
        if (m_form.mask)
            feed.inputs.push_back(Tensor::of<int32_t>(shape, mask));
        if (m_form.places)
            feed.inputs.push_back(Tensor::of<int64_t>(shape, places));
        if (m_form.cached)
            feed.inputs.push_back(Tensor::of<float>({ shape[0], 0, kWidth }, {}));
        if (*m_form.more)
            feed.inputs.push_back(Tensor::of<int64_t>({ 1 }, { 0 }));
        return feed;
    }

private:
    Form m_form;
    std::vector<size_t> m_ends;
    size_t m_each;
};

std::vector<double> naiveScores(const DecoderWeights& w, const Form& form, const std::vector<int64_t>& tokens)
{
    std::vector<double> state(size_t(kWidth), 0), scores(size_t(kWords), 0);
    for (size_t d = 0; d < size_t(kWidth); ++d) {
        for (const int64_t token : tokens)
            state[d] += w.words[size_t(token * kWidth) + d];
        if (form.mask)
            state[d] /= double(tokens.size());
        state[d] += w.words[size_t(tokens.back() * kWidth) + d];
        if (form.places)
            state[d] += w.places[(tokens.size() - 1) * size_t(kWidth) + d];
    }
    for (size_t word = 0; word < size_t(kWords); ++word)
        for (size_t d = 0; d < size_t(kWidth); ++d)
            scores[word] += state[d] * w.scores[d * size_t(kWords) + word];
    return scores;
}

std::vector<FirstFlip> naiveFlips(const Form& form, const std::vector<size_t>& read)
{
    const DecoderWeights x(false), y(true);
    std::vector<FirstFlip> flips;
    const Prompts all = decoderPrompts();
    for (size_t p = 0; p < all.size(); ++p) {
        std::vector<int64_t> tokens(all[p].begin(), all[p].begin() + ptrdiff_t(read[p]));
        for (size_t i = 0; i < kNew; ++i) {
            std::vector<double> a = naiveScores(x, form, tokens), b = naiveScores(y, form, tokens);
            const int64_t ours = std::ranges::max_element(a) - a.begin(),
                          theirs = std::ranges::max_element(b) - b.begin();
            tokens.push_back(ours);
            if (ours == theirs)
                continue;
            std::ranges::sort(a, std::greater<>());
            flips.push_back({ p, i, ours, theirs, a[0] - a[1] });
            break;
        }
    }
    return flips;
}

Result<FreeRun> decodedFreely(
    const Form& form, const std::vector<size_t>& ends, const FreeDecoding& options, size_t threads = 1)
{
    const Prepared x = smallDecoder(false, form), y = smallDecoder(true, form);
    WorkContext work;
    work.threads = threads;
    return decodeFree({ x.plan, y.plan, x.value("logits"), y.value("logits") }, PromptData(form, ends), options, work);
}

const std::vector<size_t> kWhole(kPrompts, kGiven);

} // namespace

Q_DECLARE_METATYPE(Form)

class DecodeTests : public QObject {
    Q_OBJECT
private slots:
    void placesInSeveralTables();
    void cachesAreFound_data();
    void cachesAreFound();
    void flipsAgainstNaive_data();
    void flipsAgainstNaive();
    void wholePrompts();
    void textsAgainstNaive_data() { flipsAgainstNaive_data(); }
    void textsAgainstNaive();
    void textsEnd_data() { flipsAgainstNaive_data(); }
    void textsEnd();
    void refusals_data();
    void refusals();
};

void DecodeTests::cachesAreFound_data()
{
    QTest::addColumn<QString>("input");
    QTest::addColumn<QString>("output");
    QTest::addColumn<bool>("found");
    QTest::newRow("Hugging Face") << "past_key_values.3.key"
                                  << "present.3.key" << true;
    QTest::newRow("full names") << "past_key_values.3.value"
                                << "present_key_values.3.value" << true;
    QTest::newRow("one number") << "past_3"
                                << "present_3" << true;
    QTest::newRow("key and number") << "past_key_self_3"
                                    << "present_key_self_3" << true;
    QTest::newRow("in and out") << "k_cache_in.3"
                                << "k_cache_out.3" << true;
    QTest::newRow("new") << "cache_k_3"
                         << "new_cache_k_3" << true;
    QTest::newRow("capitals") << "Past.3.Key"
                              << "Present.3.Key" << true;
    QTest::newRow("convolutions") << "past_conv.3"
                                  << "present_conv.3" << true;
    QTest::newRow("another layer") << "past_key_values.3.key"
                                   << "present.4.key" << false;
    QTest::newRow("keys and values") << "past_key_values.3.key"
                                     << "present.3.value" << false;
    QTest::newRow("another number") << "past_1"
                                    << "present_11" << false;
    QTest::newRow("in and out of nothing") << "input"
                                           << "output" << false;
    QTest::newRow("numbers of words") << "past_key"
                                      << "present" << false;
}

void DecodeTests::cachesAreFound()
{
    QFETCH(const QString, input);
    QFETCH(const QString, output);
    QFETCH(const bool, found);
    const std::string in = input.toStdString(), out = output.toStdString();
    SmallModel one("caches");
    const Prepared model = one.input(in, { 1, -1, 4 }).node("Identity", { in }, { out }).output(out).finish();
    QCOMPARE(cachePairs(model.graph()), found ? CarryNames({ { out, in } }) : CarryNames());
    if (!found)
        return;
    SmallModel two("caches"); // nothing tells which of two
    two.input(in, { 1, -1, 4 }).node("Identity", { in }, { out }).output(out);
    const Prepared both = two.node("Identity", { in }, { "updated_" + in }).output("updated_" + in).finish();
    QVERIFY(cachePairs(both.graph()).empty());
}

void DecodeTests::flipsAgainstNaive_data()
{
    QTest::addColumn<Form>("form");
    QTest::addColumn<bool>("carried");
    const auto row
        = [](const char* name, const Form& form, bool carried = false) { QTest::newRow(name) << form << carried; };
    row("cache, mask and places", {});
    row("without places", { .places = false });
    row("without a mask", { .mask = false });
    row("without a cache", { .cached = false });
    row("tokens alone", { .cached = false, .places = false, .mask = false });
    row("fixed batch", { .fixedBatch = true });
    row("fixed batch without a cache", { .cached = false, .fixedBatch = true });
    row("one name", { .past = "past_0", .present = "present_0" });
    row("carried by hand", { .past = "memory", .present = "kept" }, true);
}

void DecodeTests::flipsAgainstNaive()
{
    QFETCH(const Form, form);
    QFETCH(const bool, carried);
    FreeDecoding options { kRead, kNew, {} };
    if (carried)
        options.carry = { { form.present, form.past } };
    const std::vector<FirstFlip> wanted = naiveFlips(form, std::vector<size_t>(kPrompts, kRead));
    QVERIFY(!wanted.empty());
    for (const size_t threads : { size_t(1), size_t(3) }) {
        const auto run = decodedFreely(form, kWhole, options, threads);
        QVERIFY2(run.ok(), run.ok() ? "" : issueText(run.issue()).c_str());
        QCOMPARE(run->continued.size(), kPrompts);
        QCOMPARE(run->newTokens, kNew);
        QCOMPARE(run->flips.size(), wanted.size());
        for (size_t i = 0; i < wanted.size(); ++i) {
            const FirstFlip &a = run->flips[i], &b = wanted[i];
            QCOMPARE(a.prompt, b.prompt);
            QCOMPARE(a.position, b.position);
            QCOMPARE(a.floatId, b.floatId);
            QCOMPARE(a.quantId, b.quantId);
            QVERIFY(std::abs(a.floatMargin - b.floatMargin) < 1e-5);
        }
        const Prepared x = smallDecoder(false, form), y = smallDecoder(true, form);
        const DecodedPair pair { x.plan, y.plan, x.value("logits"), y.value("logits") };
        for (size_t p = 0; p < kPrompts; ++p) { // whole texts, as of each prompt alone
            const auto alone = continuedPrompt(pair, PromptData(form, kWhole), p, options, {});
            const ContinuedPrompt& made = run->continued[p];
            QVERIFY(alone.ok() && made.prompt == p && made.promptTokens == int64_t(kRead));
            QVERIFY(made.floatIds == alone->floatIds && made.quantIds == alone->quantIds);
            QCOMPARE(made.floatIds.size(), kNew);
        }
    }
}

/// Without a number of tokens each prompt is read as far as its padding.
void DecodeTests::wholePrompts()
{
    const std::vector<size_t> ends { 7, 4, 5, 7, 2, 6 };
    const auto run = decodedFreely({}, ends, { {}, kNew, {} });
    QVERIFY2(run.ok(), run.ok() ? "" : issueText(run.issue()).c_str());
    const std::vector<FirstFlip> wanted = naiveFlips({}, ends);
    QVERIFY(!run->promptTokens && run->flips.size() == wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
        QCOMPARE(run->flips[i].prompt, wanted[i].prompt);
        QCOMPARE(run->flips[i].position, wanted[i].position);
    }
}

/// Each model goes on after they parted.
void DecodeTests::textsAgainstNaive()
{
    QFETCH(const Form, form);
    QFETCH(const bool, carried);
    FreeDecoding options { kRead, kNew, {} };
    if (carried)
        options.carry = { { form.present, form.past } };
    const Prepared x = smallDecoder(false, form), y = smallDecoder(true, form);
    const DecodedPair pair { x.plan, y.plan, x.value("logits"), y.value("logits") };
    const PromptData data(form, kWhole);
    for (size_t p = 0; p < kPrompts; ++p) {
        const auto made = continuedPrompt(pair, data, p, options, {});
        QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
        QCOMPARE(made->prompt, p);
        QCOMPARE(made->promptTokens, int64_t(kRead));
        for (const bool quantized : { false, true }) {
            const DecoderWeights w(quantized);
            const Prompts all = decoderPrompts();
            std::vector<int64_t> tokens(all[p].begin(), all[p].begin() + ptrdiff_t(kRead));
            for (size_t i = 0; i < kNew; ++i) {
                const std::vector<double> scores = naiveScores(w, form, tokens);
                tokens.push_back(std::ranges::max_element(scores) - scores.begin());
            }
            tokens.erase(tokens.begin(), tokens.begin() + ptrdiff_t(kRead));
            QCOMPARE(quantized ? made->quantIds : made->floatIds, tokens);
        }
    }
    const auto beyond = continuedPrompt(pair, data, kPrompts, options, {});
    QVERIFY(!beyond.ok() && issueText(beyond.issue()).find("there is no prompt 6: there are 6") != std::string::npos);
    options.promptTokens = kGiven + 1;
    QVERIFY(!continuedPrompt(pair, data, 0, options, {}).ok());
}

/// At the first end token that a model chooses, which is part of its text; what was said before stays as it was.
void DecodeTests::textsEnd()
{
    QFETCH(const Form, form);
    QFETCH(const bool, carried);
    FreeDecoding options { kRead, kNew, {} };
    if (carried)
        options.carry = { { form.present, form.past } };
    const auto whole = decodedFreely(form, kWhole, options);
    QVERIFY(whole.ok() && whole->endTokens.empty());
    const std::vector<int64_t> ends { whole->continued[0].floatIds[2], whole->continued[1].quantIds[1] };
    options.endTokens = ends;
    const auto cut = [&](std::vector<int64_t> ids) {
        const auto last = std::ranges::find_first_of(ids, ends);
        ids.erase(last == ids.end() ? last : last + 1, ids.end());
        return ids;
    };
    const Prepared x = smallDecoder(false, form), y = smallDecoder(true, form);
    const DecodedPair pair { x.plan, y.plan, x.value("logits"), y.value("logits") };
    const auto run = decodedFreely(form, kWhole, options, 2);
    QVERIFY2(run.ok(), run.ok() ? "" : issueText(run.issue()).c_str());
    QCOMPARE(run->endTokens, ends);
    for (size_t p = 0; p < kPrompts; ++p) {
        const ContinuedPrompt &made = run->continued[p], &all = whole->continued[p];
        QCOMPARE(made.floatIds, cut(all.floatIds));
        QCOMPARE(made.quantIds, cut(all.quantIds));
        const auto alone = continuedPrompt(pair, PromptData(form, kWhole), p, options, {});
        QVERIFY(alone.ok() && alone->floatIds == made.floatIds && alone->quantIds == made.quantIds);
        const auto flip = std::ranges::find(run->flips, p, &FirstFlip::prompt);
        QCOMPARE(made.flip(), flip == run->flips.end() ? std::nullopt : std::optional(flip->position));
    }
    QVERIFY(run->continued[0].floatIds.size() <= 3);
}

void DecodeTests::refusals_data()
{
    QTest::addColumn<Form>("form");
    QTest::addColumn<int>("end"); // of prompt 4
    QTest::addColumn<int>("read");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<QString>("words");
    QTest::newRow("longer than the prompts") << Form {} << 7 << 8 << 1 << "prompt 0 has 7 tokens";
    QTest::newRow("padded") << Form {} << 2 << 3 << 1
                            << "prompt 4 has 2 tokens before its end or padding, fewer than the 3";
    QTest::newRow("nothing but padding") << Form {} << 0 << 0 << 1 << "prompt 4 begins with padding";
    QTest::newRow("unlike in a batch") << Form { .fixedBatch = true } << 5 << 0 << 1 << "--prompt-tokens";
    QTest::newRow("beyond the places") << Form {} << 7 << 3 << 80 << "new token 38 after the 3 of prompt";
    QTest::newRow("a cache without an output")
        << Form { .past = "past_key_values.0.key", .present = "kept" } << 7 << 3 << 1 << "--carry OUTPUT=INPUT";
    QTest::newRow("a number that nothing tells") << Form { .more = "past_seq_len" } << 7 << 3 << 1 << "past_seq_len";
}

void DecodeTests::refusals()
{
    QFETCH(const Form, form);
    QFETCH(const int, end);
    QFETCH(const int, read);
    QFETCH(const int, tokens);
    QFETCH(const QString, words);
    std::vector<size_t> ends = kWhole;
    ends[4] = size_t(end);
    FreeDecoding options { {}, size_t(tokens), {} };
    if (read > 0)
        options.promptTokens = size_t(read);
    // equal models never part
    const Prepared x = smallDecoder(false, form);
    const auto run
        = decodeFree({ x.plan, x.plan, x.value("logits"), x.value("logits") }, PromptData(form, ends), options, {});
    QVERIFY(!run.ok());
    QCOMPARE(run.issue().kind, IssueKind::BadInput);
    QVERIFY2(QString::fromStdString(issueText(run.issue())).contains(words), issueText(run.issue()).c_str());
}

/// Of models that see: by time, height and width; texts count on in each.
void DecodeTests::placesInSeveralTables()
{
    const PromptInputs at { 0, {}, 1 };
    const std::vector<Tensor> given { Tensor::of<int64_t>({ 2, 3 }, { 5, 6, 7, 8, 9, 10 }),
        Tensor::of<int64_t>({ 3, 2, 3 }, { 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 5 }) };
    std::vector<Tensor> inputs = firstTokens(at, given, 2);
    QCOMPARE(toInts(inputs[0]), (std::vector<int64_t> { 5, 6, 8, 9 }));
    QCOMPARE(inputs[1].shape(), (Shape { 3, 2, 2 }));
    QCOMPARE(toInts(inputs[1]), (std::vector<int64_t> { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 3, 4 }));
    addTokens(at, inputs, { 7, 7 }, true);
    QCOMPARE(inputs[1].shape(), (Shape { 3, 2, 3 }));
    QCOMPARE(toInts(inputs[1]), toInts(given[1]));
    addTokens(at, inputs, { 7, 7 }, false);
    QCOMPARE(inputs[1].shape(), (Shape { 3, 2, 1 }));
    QCOMPARE(toInts(inputs[1]), (std::vector<int64_t> { 3, 3, 3, 3, 3, 6 }));
}

QTEST_GUILESS_MAIN(DecodeTests)
#include "decode_test.moc"
