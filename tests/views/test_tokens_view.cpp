// SPDX-License-Identifier: GPL-3.0-or-later
// Two language models along a prompt: its tokens, what the models go on with, and who moved a guess.
#include "core/base/issue_text.h"
#include "core/data/arrays/npz_writer.h"
#include "core/onnx/write/export.h"
#include "tests/support/small_decoder.h"
#include "tests/views/support/example_window.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/language/blame_tree.h"
#include "widgets/views/language/cache_names_dialog.h"
#include "widgets/views/language/token_lines.h"
#include "widgets/views/language/tokens_panel.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

namespace qs::test {

namespace {

/// Models, prompts and a tokenizer in a folder.
struct Files {
    QTemporaryDir folder;
    std::string path(const char* name) const { return folder.filePath(name).toStdString(); }
    Status write(bool tokenizer, const DecoderForm& form) const
    {
        for (const bool quantized : { false, true }) {
            auto model = std::make_shared<Model>(smallDecoder(quantized, form).plan->model());
            model->path.clear(); // there is no file that it came from
            QS_CHECK(exportModel(GraphDraft(std::move(model)), path(quantized ? "b.onnx" : "a.onnx")));
        }
        QS_TRY(NpzWriter writer, NpzWriter::create(path("prompts.npz"), { "input_ids" }, kPrompts));
        const Prompts prompts = decoderPrompts();
        for (size_t p = 0; p < kPrompts; ++p)
            QS_CHECK(writer.add(p, { Tensor::of<int64_t>({ 1, int64_t(kGiven) }, prompts[p]) }));
        QS_CHECK(writer.finish());
        QFile file(folder.filePath(tokenizer ? "tokenizer.json" : "other.json"));
        if (file.open(QIODevice::WriteOnly))
            file.write(R"({"model": {"type": "Unigram", "vocab": [["▁a", 0], ["b", 0], ["▁c", 0], ["d", 0], ["e", 0],
                ["<0x0A>", 0], ["g", 0], ["h", 0], ["i", 0]]}})");
        return {};
    }
    std::string problem(bool tokenizer, const DecoderForm& form = { .cached = false }) const
    {
        const Status written = write(tokenizer, form);
        return written.ok() ? std::string() : issueText(written.issue());
    }
    Inputs inputs() const
    {
        Inputs inputs;
        inputs.floatPath = path("a.onnx");
        inputs.quantPath = path("b.onnx");
        inputs.data.spec = path("prompts.npz");
        return inputs;
    }
};

struct Shown : ExampleWindow {
    TokensPanel& panel = *window.findChild<TokensPanel*>();

    explicit Shown(const Inputs& inputs)
        : ExampleWindow(realBuild(), inputs)
    {
    }
    bool ready()
    {
        if (!QTest::qWaitFor([this] { return session.jobs().idle() && session.comparison(); }, kPatience))
            return false;
        window.showView(QStringLiteral("tokens"));
        return QTest::qWaitFor(
            [this] { return panel.lookedAt() && session.jobs().idle() && panel.shownPrompt().look(); }, kPatience);
    }
    bool idle()
    {
        return QTest::qWaitFor([this] { return session.jobs().idle(); }, kPatience);
    }
};

} // namespace

class TokensViewTest : public QObject {
    Q_OBJECT
private slots:
    void textsOfTokens();
    void promptIsColoured();
    void promptFollowsTheSample();
    void modelsGoOn();
    void guessIsBlamed();
    void worstGuessIsFound();
    void secondModelIsAsked();
    void cachesAreNamed();
    void keysAndMouse();
    void otherModelsSaySo();
    void modelsChangeWhileItIsLookedAt();
};

void TokensViewTest::textsOfTokens()
{
    QCOMPARE(tokenText(nullptr, 12), QStringLiteral("#12"));
    Files files;
    QVERIFY2(files.problem(true).empty(), files.problem(true).c_str());
    const auto words = TokenWords::read(files.path("tokenizer.json"));
    QVERIFY(words.ok());
    QCOMPARE(tokenText(&*words, 0), QStringLiteral("·a"));
    QCOMPARE(tokenText(&*words, 5), QStringLiteral("⏎"));
    QCOMPARE(tokenText(&*words, 99), QStringLiteral("#99"));
    PromptLook look { 0, std::vector<PromptToken>(3) };
    look.tokens[0].scores = { 1, 1.5, 0.25 };
    look.tokens[0].quantGuess = 1;
    look.tokens[2].padding = true;
    const TokenLine line = promptLine(look, &*words, TokenNumber::Divergence);
    QVERIFY(!line.boxes[0].badness && line.boxes[1].flipped && line.boxes[2].muted);
    QCOMPARE(line.boxes[1].badness.value(), 0.25 / tokenScale(TokenNumber::Divergence));
    QCOMPARE(promptLine(look, &*words, TokenNumber::LossIncrease).boxes[1].badness.value(), 0.5);
    QVERIFY(line.boxes[1].tip.contains(QStringLiteral("the quantized one “b” (id 1)")));
    look.scored = ScoredToken::Own; // its scores stand in its own place
    const TokenLine own = promptLine(look, &*words, TokenNumber::Divergence);
    QVERIFY(own.boxes[0].flipped && own.boxes[0].badness && !own.boxes[1].flipped && own.boxes[2].muted);
}

void TokensViewTest::promptIsColoured()
{
    Files files;
    QVERIFY2(files.problem(true).empty(), files.problem(true).c_str());
    Shown shown(files.inputs());
    QVERIFY(shown.ready());
    const auto& lines = shown.panel.flow().lines();
    QCOMPARE(lines.size(), size_t(1));
    QCOMPARE(lines[0].boxes.size(), kGiven);
    QVERIFY(!lines[0].boxes[0].badness && lines[0].boxes[1].badness); // nobody guesses the first
    const std::vector<int64_t> prompt = decoderPrompts()[0];
    for (size_t i = 0; i < kGiven; ++i)
        QVERIFY(lines[0].boxes[i].tip.contains(QStringLiteral("(id %1)").arg(prompt[i])));
    // The mean of what the tokens say is what the comparison says.
    double divergence = 0, loss = 0;
    for (size_t p = 0; p < kPrompts; ++p) {
        shown.session.selection().selectSample(p);
        QVERIFY(shown.ready() && shown.panel.shownPrompt().look()->prompt == p);
        for (const PromptToken& token : shown.panel.shownPrompt().look()->tokens) {
            divergence += token.scores.divergence;
            loss += std::isfinite(token.scores.quantLoss) ? token.scores.quantLoss : 0;
        }
    }
    const LanguageRow& row = *shown.session.comparison()->outputs[0].language;
    QVERIFY(std::abs(divergence / double(kPrompts * kGiven) - *row.klMean) < 1e-9);
    QVERIFY(std::abs(loss / double(kPrompts * (kGiven - 1)) - *row.quantLoss) < 1e-9);
}

void TokensViewTest::promptFollowsTheSample()
{
    Files files;
    QVERIFY2(files.problem(false).empty(), files.problem(false).c_str());
    Shown shown(files.inputs());
    QVERIFY(shown.ready());
    QCOMPARE(shown.panel.flow().lines()[0].boxes[0].text, QStringLiteral("#%1").arg(decoderPrompts()[0][0]));
    auto* number = shown.panel.header()->findChild<QSpinBox*>();
    number->setValue(3);
    QCOMPARE(shown.session.selection().current().sample, std::optional<size_t>(3));
    QVERIFY(shown.ready());
    QCOMPARE(shown.panel.shownPrompt().look()->prompt, size_t(3));
    shown.session.selection().selectSample(5);
    QVERIFY(shown.ready());
    QCOMPARE(number->value(), 5);
    shown.panel.shownPrompt().setTokenizer(files.folder.filePath("other.json"));
    QVERIFY(shown.idle());
    QVERIFY(!shown.panel.flow().lines()[0].boxes[0].text.startsWith(u'#'));
    shown.panel.shownPrompt().setTokenizer(files.folder.filePath("prompts.npz"));
    QVERIFY(shown.idle());
    QVERIFY(shown.panel.flow().lines()[0].boxes[0].text.startsWith(u'#'));
    QVERIFY(shown.panel.shownPrompt().tokenizerProblem().contains(QStringLiteral("prompts.npz")));
}

void TokensViewTest::modelsGoOn()
{
    Files files;
    QVERIFY2(files.problem(true).empty(), files.problem(true).c_str());
    Shown shown(files.inputs());
    QVERIFY(shown.ready());
    shown.panel.continueButton()->click();
    QVERIFY(shown.idle());
    QCOMPARE(shown.panel.flow().lines().size(), size_t(3));
    QCOMPARE(shown.panel.flow().lines()[1].boxes.size(), size_t(32));
    QCOMPARE(shown.panel.flow().lines()[2].boxes.size(), size_t(32));
    shown.panel.continueButton()->menu()->actions()[0]->trigger();
    QVERIFY(shown.idle());
    QCOMPARE(shown.panel.flow().lines()[1].boxes.size(), size_t(16));
    shown.session.selection().selectSample(2);
    QVERIFY(shown.ready());
    QCOMPARE(shown.panel.flow().lines().size(), size_t(1)); // that of another prompt
}

void TokensViewTest::guessIsBlamed()
{
    Files files;
    QVERIFY2(files.problem(true).empty(), files.problem(true).c_str());
    Shown shown(files.inputs());
    QVERIFY(shown.ready());
    QAbstractItemModelTester tester(shown.panel.tree().model());
    QVERIFY(!shown.panel.blameButton()->isEnabled());
    shown.panel.flow().choose(TokenFlow::Place { 0, 0 });
    QVERIFY(!shown.panel.blameButton()->isEnabled()); // nobody guesses the first
    shown.panel.flow().choose(TokenFlow::Place { 0, 3 });
    QVERIFY(shown.panel.blameButton()->isEnabled());
    shown.panel.blameButton()->click();
    QVERIFY(shown.idle());
    QVERIFY(shown.panel.tree().isVisible());
    QVERIFY(shown.panel.tree().topLevelItemCount() > 0);
    QVERIFY(shown.panel.blameSummary().contains(QStringLiteral("behind token 2")));
    // The last product alone differs between the two.
    QTreeWidgetItem* first = shown.panel.tree().topLevelItem(0);
    shown.panel.tree().setCurrentItem(first);
    QVERIFY(shown.session.selection().current().node.valid());
    shown.panel.continueButton()->click();
    QVERIFY(shown.idle());
    QCOMPARE(shown.panel.tree().currentItem(), first); // it is still the same blame
    shown.panel.flow().choose(TokenFlow::Place { 1, 4 });
    emit shown.panel.flow().activated();
    QVERIFY(shown.idle());
    QVERIFY2(
        shown.panel.blameSummary().contains(QStringLiteral("at new token 4")), qPrintable(shown.panel.blameSummary()));
    shown.session.selection().selectSample(1);
    QVERIFY(shown.ready());
    QVERIFY(!shown.panel.tree().isVisible());
}

void TokensViewTest::worstGuessIsFound()
{
    Files files;
    QVERIFY2(files.problem(true).empty(), files.problem(true).c_str());
    Shown shown(files.inputs());
    QVERIFY(shown.ready());
    const GuessPlace worst = *shown.session.comparison()->outputs[0].language->worst;
    shown.session.selection().selectSample(worst.prompt == 0 ? 1 : 0);
    QVERIFY(shown.ready());
    QVERIFY(shown.panel.worstButton()->isEnabled());
    shown.panel.worstButton()->click();
    QVERIFY(shown.ready() && shown.panel.shownPrompt().look()->prompt == worst.prompt);
    if (worst.position + 1 < kGiven) {
        QVERIFY(shown.panel.flow().chosen() == std::optional(TokenFlow::Place { 0, worst.position + 1 }));
        shown.panel.blameButton()->click();
        QVERIFY(shown.idle());
    }
    QVERIFY(shown.panel.tree().topLevelItemCount() > 0);
    QVERIFY(shown.panel.blameSummary().contains(QStringLiteral("behind token %1").arg(worst.position)));
}

/// B is the float model once more: it guesses what that guesses.
void TokensViewTest::secondModelIsAsked()
{
    Files files;
    QVERIFY2(files.problem(true).empty(), files.problem(true).c_str());
    QVERIFY(QFile::copy(files.folder.filePath("a.onnx"), files.folder.filePath("c.onnx")));
    Shown shown(files.inputs());
    QVERIFY(shown.ready());
    QVERIFY(!shown.panel.models()->isVisible());
    openOther(shown.session, { files.path("c.onnx"), std::nullopt });
    QVERIFY(shown.ready() && shown.session.snapshot()->other);
    QVERIFY(shown.panel.models()->isVisible());
    const auto divergence = [&] {
        double sum = 0;
        for (const PromptToken& token : shown.panel.shownPrompt().look()->tokens)
            sum += token.scores.divergence;
        return sum;
    };
    QVERIFY(divergence() > 0);
    shown.panel.continueButton()->click();
    QVERIFY(shown.idle() && shown.panel.flow().lines().size() == 3);
    shown.panel.models()->setCurrentIndex(1);
    QVERIFY(shown.ready());
    QVERIFY(divergence() == 0 && shown.panel.flow().lines().size() == 1); // what A went on with is gone
    shown.panel.continueButton()->click();
    QVERIFY(shown.idle());
    const auto& lines = shown.panel.flow().lines();
    for (size_t i = 0; i < lines[1].boxes.size(); ++i)
        QCOMPARE(lines[1].boxes[i].text, lines[2].boxes[i].text);
    shown.panel.flow().choose(TokenFlow::Place { 0, 3 });
    shown.panel.blameButton()->click();
    QVERIFY(shown.idle());
    QCOMPARE(shown.panel.tree().topLevelItemCount(), 0); // nothing moves anything
    openOther(shown.session, {});
    QVERIFY(shown.ready());
    QVERIFY(!shown.panel.models()->isVisible() && divergence() > 0);
}

/// Names of caches that tell nothing are chosen by hand.
void TokensViewTest::cachesAreNamed()
{
    Files files;
    const DecoderForm form { .past = "past_memory", .present = "kept" };
    QVERIFY2(files.problem(true, form).empty(), files.problem(true, form).c_str());
    Shown shown(files.inputs());
    QVERIFY(shown.ready());
    shown.panel.continueButton()->click();
    QVERIFY(shown.idle() && shown.panel.flow().lines().size() == 1); // no output is known to become it
    shown.panel.continueButton()->menu()->actions().back()->trigger();
    auto* dialog = shown.panel.findChild<CacheNamesDialog*>();
    QVERIFY(dialog && dialog->table()->rowCount() == 1);
    QCOMPARE(dialog->table()->item(0, 0)->text(), QStringLiteral("past_memory"));
    QCOMPARE(dialog->outputOf(0)->currentIndex(), 0);
    dialog->outputOf(0)->setCurrentText(QStringLiteral("kept"));
    dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Apply)->click();
    shown.panel.continueButton()->click();
    QVERIFY(shown.idle());
    QCOMPARE(shown.panel.flow().lines().size(), size_t(3));
    shown.panel.flow().choose(TokenFlow::Place { 1, 2 });
    shown.panel.blameButton()->click();
    QVERIFY(shown.idle());
    QVERIFY(shown.panel.blameSummary().contains(QStringLiteral("at new token 2")));
}

void TokensViewTest::keysAndMouse()
{
    TokenFlow flow;
    flow.setStyle(Theme::darkOne());
    std::vector<TokenBox> boxes(7);
    for (TokenBox& box : boxes)
        box.text = QStringLiteral("word");
    flow.setLines({ { QStringLiteral("one"), boxes }, { QStringLiteral("two"), boxes } });
    flow.resize(120, flow.heightForWidth(120));
    flow.show();
    QVERIFY(flow.heightForWidth(120) > flow.heightForWidth(600));
    for (size_t line = 0; line < 2; ++line)
        for (size_t i = 0; i < boxes.size(); ++i) {
            QVERIFY(flow.rect().contains(flow.boxAt({ line, i })));
            QVERIFY(i == 0 || !flow.boxAt({ line, i }).intersects(flow.boxAt({ line, i - 1 })));
        }
    QTest::mouseClick(&flow, Qt::LeftButton, {}, flow.boxAt({ 0, 6 }).center());
    QVERIFY(flow.chosen() == std::optional(TokenFlow::Place { 0, 6 }));
    QTest::keyClick(&flow, Qt::Key_Right);
    QVERIFY(flow.chosen() == std::optional(TokenFlow::Place { 1, 0 }));
    QTest::keyClick(&flow, Qt::Key_Home);
    QVERIFY(flow.chosen() == std::optional(TokenFlow::Place { 0, 0 }));
    QTest::keyClick(&flow, Qt::Key_Left);
    QVERIFY(flow.chosen() == std::optional(TokenFlow::Place { 0, 0 }));
    QTest::keyClick(&flow, Qt::Key_End);
    QVERIFY(flow.chosen() == std::optional(TokenFlow::Place { 1, 6 }));
    bool activated = false;
    connect(&flow, &TokenFlow::activated, &flow, [&] { activated = true; });
    QTest::keyClick(&flow, Qt::Key_Return);
    QVERIFY(activated);
    flow.setStale(true);
    QVERIFY(!flow.grab().isNull());
    flow.setLines({ { QStringLiteral("one"), boxes } });
    QVERIFY(!flow.chosen()); // its line is gone
}

void TokensViewTest::otherModelsSaySo()
{
    const std::string folder = QS_SOURCE_DIR "/resources/examples/";
    Inputs inputs;
    inputs.floatPath = folder + "digits_float.onnx";
    inputs.quantPath = folder + "digits_qdq.onnx";
    inputs.data.spec = folder + "digits_samples.npz";
    inputs.data.limit = 20;
    Shown shown(inputs);
    QTRY_VERIFY_WITH_TIMEOUT(shown.session.jobs().idle() && shown.session.comparison(), kPatience);
    QVERIFY(shown.panel.hint().startsWith(QStringLiteral("No output guesses tokens")));
    QVERIFY(!shown.panel.continueButton()->isEnabled() && !shown.panel.blameButton()->isEnabled());
}

void TokensViewTest::modelsChangeWhileItIsLookedAt()
{
    Files files;
    QVERIFY2(files.problem(true).empty(), files.problem(true).c_str());
    Shown shown(files.inputs());
    QVERIFY(shown.ready());
    Inputs alone = files.inputs();
    alone.data.spec.clear();
    shown.session.openInputs(alone);
    QVERIFY(shown.idle());
    QVERIFY(!shown.session.comparison() && !shown.panel.shownPrompt().look());
    QVERIFY(!shown.panel.hint().isEmpty());
    shown.session.openInputs(files.inputs());
    QVERIFY(shown.ready());
    shown.session.selection().selectSample(4);
    Inputs fewer = files.inputs();
    fewer.data.limit = 2;
    shown.session.openInputs(fewer); // without the prompt that is looked at
    QVERIFY(shown.ready());
    QVERIFY(shown.panel.shownPrompt().look()->prompt < 2);
}

} // namespace qs::test

QTEST_MAIN(qs::test::TokensViewTest)
#include "test_tokens_view.moc"
