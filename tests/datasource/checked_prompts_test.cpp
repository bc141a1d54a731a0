// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of language models, held against what the model has room for when they are read.
#include "core/base/issue_text.h"
#include "core/data/tokens/checked_prompts.h"

#include <QtTest>

using namespace qs;

namespace {

/// One feed of two prompts: tokens, a mask, a cache, other numbers.
class TwoPrompts final : public DataSource {
public:
    explicit TwoPrompts(std::vector<Tensor> inputs)
        : m_inputs(std::move(inputs))
    {
        m_samples = 4;
        m_feeds = 2;
        m_labels = { 1, 2, 3, 4 };
        m_warnings = { "said" };
    }
    Result<Feed> feed(size_t index) const override { return Feed { m_inputs, 2 * index, 2 }; }
    std::string sampleName(size_t sample) const override { return "prompt " + std::to_string(sample); }

private:
    std::vector<Tensor> m_inputs;
};

Tensor numbers(Shape shape, std::vector<int64_t> values) { return Tensor::of<int64_t>(std::move(shape), values); }

} // namespace

class CheckedPromptsTest : public QObject {
    Q_OBJECT

    static QString refusal(std::vector<Tensor> inputs, PromptLimits limits, const std::string& tokenizer = {})
    {
        const auto data = checkedPrompts(std::make_shared<TwoPrompts>(std::move(inputs)), std::move(limits),
            { "ids", "mask", "past", "kind" }, "prompts.npz", tokenizer);
        const auto feed = data->feed(1); // prompts 2 and 3
        return feed ? QString() : QString::fromStdString(issueText(feed.issue()));
    }
    static PromptLimits limits() { return { { { 0, 10 }, { 3, 2 } }, 0, 1, { 2 }, 4 }; }
    static std::vector<Tensor> good()
    {
        return { numbers({ 2, 3 }, { 1, 2, 9, 0, -10, 5 }), numbers({ 2, 3 }, { 1, 1, 1, 1, 1, 0 }),
            Tensor::allocate(DType::Float32, { 2, 1, 0, 4 }), numbers({ 2, 3 }, { 0, 1, 0, 1, 1, 1 }) };
    }

private slots:
    void whatFitsIsHandedOn()
    {
        const auto inner = std::make_shared<TwoPrompts>(good());
        const auto data = checkedPrompts(inner, limits(), { "ids", "mask", "past", "kind" }, "prompts.npz", {});
        QCOMPARE(data->samples(), size_t(4));
        QCOMPARE(data->feeds(), size_t(2));
        QCOMPARE(data->labels(), inner->labels());
        QCOMPARE(data->warnings(), inner->warnings());
        QCOMPARE(data->sampleName(3), std::string("prompt 3"));
        const auto feed = data->feed(1);
        QVERIFY(feed.ok() && feed->firstSample == 2 && feed->inputs.size() == 4);
        QCOMPARE(feed->inputs[0].identity(), inner->feed(1)->inputs[0].identity());
        QVERIFY(checkedPrompts(inner, {}, {}, {}, {}) == inner); // nothing to check
    }

    void whatDoesNotIsSaid()
    {
        std::vector<Tensor> in = good();
        in[0] = numbers({ 2, 3 }, { 1, 2, 9, 0, 10, 5 });
        QCOMPARE(refusal(in, limits()),
            "prompts.npz: tensor 'ids': holds token 10 at position 1 of prompt 3, beyond the model's vocabulary of 10; "
            "give ids below 10, as the model's own tokenizer makes them");
        QVERIFY(refusal(in, limits(), "words.json").contains("; words.json is another model's: give the tokenizer"));
        in = good();
        in[3] = numbers({ 2, 3 }, { 2, 1, 0, 1, 1, 1 });
        QVERIFY(refusal(in, limits()).contains("'kind': holds 2 at position 0 of sample 2, beyond the model's 2 rows"));
        in = good();
        in[0] = numbers({ 2, 5 }, std::vector<int64_t>(10, 1));
        QVERIFY(refusal(in, limits()).contains("holds 5 tokens in prompt 2, the model tells 4 positions apart; give"));
        in[0] = numbers({ 2, 0 }, {});
        QVERIFY(refusal(in, limits()).contains("holds no tokens in prompt 2; give at least one"));
        in = good();
        in[1] = numbers({ 2, 2 }, { 1, 1, 1, 1 });
        QVERIFY(refusal(in, limits()).contains("'mask': is 2 long in prompt 2, 'ids' has 3 tokens; give a mask"));
        in[1] = numbers({ 2, 3 }, { 1, 1, 1, 0, 0, 0 });
        QVERIFY(refusal(in, limits()).contains("'mask': is 0 everywhere in prompt 3; give 1"));
    }

    /// What a cache holds is in the mask, and may have room to spare.
    void behindACache()
    {
        std::vector<Tensor> in = good();
        in[2] = Tensor::of<float>({ 2, 1, 2, 1 }, { 1, 2, 3, 4 });
        in[1] = numbers({ 2, 5 }, std::vector<int64_t>(10, 1));
        QCOMPARE(refusal(in, limits()), QString());
    }
};

QTEST_GUILESS_MAIN(CheckedPromptsTest)
#include "checked_prompts_test.moc"
