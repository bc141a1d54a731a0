// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/precision.h"
#include "core/analysis/rules/findings.h"
#include "core/graph/domains.h"
#include "core/tensor/convert.h"
#include "tests/analysis/comparing.h"
#include "tests/support/tensors.h"

/// What differs between two files where the data do not reach.
namespace {

using namespace qs;
using namespace qs::test;

constexpr int64_t kVocabulary = 50, kRead = 40, kWide = 8, kText = 6; ///< words from `kRead` on are in no text
constexpr int64_t kInt32 = 6;

struct Form {
    const char* name = "";
    std::vector<int> otherRows {}; ///< of the embedding
    bool rounded = false; ///< it is rounded to float16
    float mask = -10000;
    float softcap = 50;
    int64_t window = -1;
    const char* told = ""; ///< part of the note; empty: there is none
};

/// Words; attention in single nodes with a mask that is stored; attention in one node; scores of words.
Prepared network(const Form& form)
{
    SmallModel m("network");
    m.input("input_ids", { 1, kText }, DType::Int64);
    std::mt19937 random(5);
    std::vector<float> words = toFloats(normalFloats(random, { kVocabulary, kWide }, 1));
    for (float& v : words)
        v = form.rounded ? rounded(v, Precision::Float16) : v;
    for (const int row : form.otherRows)
        for (int64_t i = 0; i < kWide; ++i)
            words[size_t(row * kWide + i)] += 1;
    std::vector<float> mask(size_t(kText * kText), 0);
    for (int64_t row = 0; row < kText; ++row)
        for (int64_t i = row + 1; i < kText; ++i)
            mask[size_t(row * kText + i)] = form.mask;
    m.constant("words", Tensor::of<float>({ kVocabulary, kWide }, words));
    m.constant("mask", Tensor::of<float>({ 1, kText, kText }, mask));
    m.constant("out", normalFloats(random, { kWide, kVocabulary }, 1))
        .constant("v_w", normalFloats(random, { kWide, kWide }, 1));
    m.constant("none", Tensor::of<float>({ 1, 1, 0, kWide }, {}))
        .constant("ends", Tensor::of<int32_t>({ 1 }, { kText - 1 }));
    m.constant("total", Tensor::scalar(int32_t(kText)));
    m.node("Gather", { "words", "input_ids" }, { "h" }).node("MatMul", { "h", "v_w" }, { "v" });
    m.node("Transpose", { "h" }, { "ht" }, { { "perm", std::vector<int64_t> { 0, 2, 1 } } });
    m.node("MatMul", { "h", "ht" }, { "hh" }).node("Add", { "hh", "mask" }, { "scores" });
    m.node("Softmax", { "scores" }, { "p" }).node("MatMul", { "p", "v" }, { "a" });
    m.node("GroupQueryAttention", { "a", "a", "v", "none", "none", "ends", "total" }, { "g", "present_k", "present_v" },
        { { "num_heads", int64_t(1) }, { "kv_num_heads", int64_t(1) }, { "scale", 1e-4f }, { "softcap", form.softcap },
            { "local_window_size", form.window } },
        kMicrosoftDomain);
    m.node("MatMul", { "g", "out" }, { "logits" });
    return m.output("logits").finish();
}

} // namespace

class UnreachedTests : public QObject {
    Q_OBJECT
private slots:
    void files_data();
    void files();
};

Q_DECLARE_METATYPE(Form)

void UnreachedTests::files_data()
{
    QTest::addColumn<Form>("form");
    for (const Form& form : {
             Form { .name = "the same" },
             Form { .name = "rows that no text has",
                    .otherRows = { 43, 44, 47 },
                    .told = "The table words is another one in rows 43 to 44, 47 of 50" },
             Form { .name = "one row", .otherRows = { 49 }, .told = "The table words is another one in row 49 of 50" },
             Form { .name = "rows that are read", .otherRows = { 3, 4 } },
             Form { .name = "rounded to float16", .rounded = true },
             Form { .name = "another way to mask", .mask = -3.4e38f },
             Form { .name = "a bound of scores", .softcap = 0, .told = "has softcap 0, in the float model 50" },
             Form { .name = "a window as long as the texts",
                    .window = kText,
                    .told = "has local_window_size 6, in the float model -1" },
             Form { .name = "a shorter window", .window = 2 },
         })
        QTest::newRow(form.name) << form;
}

void UnreachedTests::files()
{
    QFETCH(Form, form);
    std::vector<Tensor> texts;
    for (uint32_t i = 0; i < 3; ++i) {
        std::mt19937 random(i);
        std::vector<int64_t> ids(kText);
        for (int64_t& id : ids)
            id = int64_t(random() % kRead);
        ids[0] = 3;
        texts.push_back(Tensor::of<int64_t>({ 1, kText }, ids));
    }
    CompareOptions options;
    options.prove = true;
    const Comparison made = compared(network({}), network(form), FixedData(texts), options);
    QVERIFY(made.network && made.network->known());
    const auto note = std::ranges::find(made.findings, "unreached", &Finding::cause);
    QVERIFY2((note == made.findings.end()) == QString(form.told).isEmpty(), qPrintable(rulesOf(made)));
    if (note == made.findings.end())
        return;
    QVERIFY(made.network->same());
    QCOMPARE(note->severity, Severity::Note);
    QVERIFY2(QString::fromStdString(note->summary).contains(QLatin1String(form.told)), note->summary.c_str());
}

QTEST_GUILESS_MAIN(UnreachedTests)
#include "unreached_test.moc"
