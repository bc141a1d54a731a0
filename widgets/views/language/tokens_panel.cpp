// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/language/tokens_panel.h"

#include "core/project/language/language_output.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/open_dialogs.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/language/blame_tree.h"
#include "widgets/views/language/cache_names_dialog.h"
#include "widgets/views/language/token_lines.h"

#include <QActionGroup>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QSpinBox>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLeastFlow = 70; ///< font units: two lines of tokens, or what blame sums up and a row
constexpr size_t kNewTokens[] { 16, 32, 64, 128, 256 };

QLabel* wrappedLabel(const QString& name, QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(name);
    label->setContentsMargins(8, 3, 8, 3);
    wrapText(*label);
    return label;
}

QToolButton* outlinedButton(const QString& text, const QString& toolTip, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setText(text);
    button->setToolTip(toolTip);
    button->setProperty("outlined", true);
    return button;
}

bool guessesOwn(const PromptLook* look) { return look && look->scored == ScoredToken::Own; }

QString legendText(TokenNumber number, bool own)
{
    if (own && number == TokenNumber::LossIncrease)
        return TokensPanel::tr("No colours: −log p is of a next token, and here each token is guessed in its own "
                               "place, from what stands before and behind it.");
    const QString scale = QLocale().toString(tokenScale(number));
    return (number == TokenNumber::Divergence
                   ? TokensPanel::tr("Orange: the guesses of this token are apart, KL divergence from 0 to %1 nats.")
                   : TokensPanel::tr("Orange: the quantized model finds this token less likely, −log p larger by 0 to "
                                     "%1 nats."))
               .arg(scale)
        + u' ' + TokensPanel::tr("Underlined: the models guess different tokens.");
}

} // namespace

TokensPanel::TokensPanel(Session& session, QWidget* parent)
    : Panel(QStringLiteral("tokens"), tr("Tokens"), parent)
    , m_session(session)
    , m_prompt(session)
    , m_continuation(session)
    , m_found(session)
    , m_number(new QSpinBox(this))
    , m_colours(new ElidedCombo(this))
    , m_models(new ElidedCombo(this))
    , m_continue(outlinedButton(tr("Continue"), tr("Let each model go on with its own tokens"), this))
    , m_worst(outlinedButton(tr("Worst"),
          tr("Go to the token to look at first, of all prompts: the models guess different ones, and their guesses are "
             "furthest apart"),
          this))
    , m_blame(outlinedButton(tr("Blame"),
          tr("Find which layers and nodes moved the guess of the chosen token (Enter, double click)"), this))
    , m_flow(new TokenFlow(this))
    , m_scroll(new QScrollArea(this))
    , m_tree(new BlameTree(session, this))
    , m_hint(wrappedLabel(QStringLiteral("emptyText"), this))
    , m_summary(wrappedLabel(QStringLiteral("findingText"), this))
    , m_legend(wrappedLabel(QStringLiteral("tableFooter"), this))
    , m_beside(new QWidget(this))
    , m_splitter(new QSplitter(Qt::Horizontal, this))
{
    m_scroll->setWidget(m_flow);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_hint->setAlignment(Qt::AlignCenter);
    auto* beside = new QVBoxLayout(m_beside);
    beside->setContentsMargins(0, 0, 0, 0);
    beside->setSpacing(0);
    beside->addWidget(m_summary);
    beside->addWidget(m_tree, 1);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(m_scroll);
    m_splitter->addWidget(m_beside);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    auto* content = new QWidget(this);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_hint, 1);
    column->addWidget(m_splitter, 1);
    content->setMinimumHeight(fontUnits(fontMetrics(), kLeastFlow)); // blame that comes asks for no more
    setContent(content);
    addFooter(m_legend);
    setFocusProxy(m_flow);
    buildTools();
    connectAll();
    refresh();
}

void TokensPanel::buildTools()
{
    m_number->setAccessibleName(tr("Prompt"));
    m_number->setPrefix(tr("prompt "));
    m_number->setToolTip(tr("Which prompt: the chosen sample"));
    m_colours->setAccessibleName(tr("Colour of the tokens"));
    m_colours->addItems({ tr("KL divergence"), tr("loss, quantized − float") });
    m_models->setAccessibleName(tr("Quantized model that is asked"));
    m_models->setToolTip(tr("Which of the two quantized models is held against the float one"));
    m_models->addItems({ tr("A"), tr("B") });
    header()->addTool(m_number);
    header()->addTool(m_models);
    header()->addTool(m_colours);
    header()->addTool(m_worst);
    header()->addTool(m_continue);
    header()->addTool(m_blame);
    m_continue->setPopupMode(QToolButton::MenuButtonPopup);
    auto* menu = new QMenu(m_continue);
    auto* counts = new QActionGroup(menu);
    for (const size_t count : kNewTokens) {
        QAction* action = menu->addAction(tr("By %1 tokens").arg(count), this, [this, count] {
            m_newTokens = count;
            continuePrompt();
        });
        action->setCheckable(true);
        action->setChecked(count == m_newTokens);
        counts->addAction(action);
    }
    menu->addSeparator();
    menu->addAction(tr("Caches…"), this, &TokensPanel::askForCaches)
        ->setToolTip(tr("Which output becomes which input for the next token"));
    m_continue->setMenu(menu);
    m_legend->setTextFormat(Qt::RichText);
}

void TokensPanel::connectAll()
{
    connect(this, &Panel::lookedAtChanged, &m_prompt, &ShownCheck::watch);
    for (const ShownCheck* check : std::initializer_list<const ShownCheck*> { &m_prompt, &m_continuation, &m_found })
        connect(check, &ShownCheck::changed, this, &TokensPanel::refresh);
    connect(&m_session, &Session::themeChanged, this, &TokensPanel::refresh);
    connect(&m_session.numbers(), &NumbersAge::changed, this, &TokensPanel::refreshInfo);
    connect(&m_session.selection(), &Selection::changed, this, [this] { forgetOthers(); });
    connect(m_number, &QSpinBox::valueChanged, this,
        [this](int prompt) { m_session.selection().selectSample(size_t(prompt)); });
    connect(m_colours, &QComboBox::currentIndexChanged, this, &TokensPanel::refresh);
    connect(m_models, &QComboBox::currentIndexChanged, this, &TokensPanel::chooseModel);
    connect(m_worst, &QToolButton::clicked, this, &TokensPanel::goToWorst);
    connect(m_continue, &QToolButton::clicked, this, &TokensPanel::continuePrompt);
    connect(m_blame, &QToolButton::clicked, this, &TokensPanel::blame);
    connect(m_flow, &TokenFlow::activated, this, &TokensPanel::blame);
    connect(m_flow, &TokenFlow::chosenChanged, this, [this] {
        if (const auto& place = m_flow->chosen())
            m_scroll->ensureVisible(m_flow->boxAt(*place).center().x(), m_flow->boxAt(*place).center().y(), 20, 30);
        refreshInfo();
    });
    connect(m_legend, &QLabel::linkActivated, this,
        [this] { askForTokenizer(m_session, this, [this](const QString& path) { m_prompt.setTokenizer(path); }); });
}

QString TokensPanel::hint() const { return m_hint->text(); }

QString TokensPanel::blameSummary() const { return m_summary->text(); }

void TokensPanel::forgetOthers()
{
    if (m_continuation.made() && m_continuation.made()->prompt != m_prompt.prompt())
        m_continuation.drop();
    if (m_asked && m_asked->prompt != m_prompt.prompt()) {
        m_asked.reset();
        m_found.drop();
    }
}

AskedModel TokensPanel::model() const { return AskedModel(std::max(m_models->currentIndex(), 0)); }

void TokensPanel::chooseModel()
{
    m_continuation.drop();
    m_asked.reset();
    m_found.drop();
    m_prompt.setModel(model());
    refresh();
}

const LanguageRow* TokensPanel::language() const
{
    const SnapshotPtr now = comparisonWith(m_session.snapshot(), model());
    const auto output = languageOutput(*now);
    return output.ok() ? &*now->comparison->outputs[*output].language : nullptr;
}

void TokensPanel::goToWorst()
{
    const LanguageRow* const row = language();
    if (!row || !row->worst)
        return;
    m_sought = row->worst;
    m_session.selection().selectSample(m_sought->prompt);
    chooseWorst();
}

void TokensPanel::chooseWorst()
{
    if (!m_sought || !m_prompt.look() || m_prompt.look()->prompt != m_sought->prompt)
        return;
    const GuessPlace guess = *m_sought;
    m_sought.reset();
    const size_t guessed = guess.position + (guessesOwn(m_prompt.look()) ? 0 : 1);
    if (guessed < m_prompt.look()->tokens.size())
        return m_flow->choose(TokenFlow::Place { 0, guessed });
    m_flow->choose({}); // behind the last token there is none to choose
    m_asked = BlameRequest { guess.prompt, guess.position, {} };
    m_found.blame(*m_asked, model());
}

void TokensPanel::refresh()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    m_models->setVisible(snapshot->other != nullptr);
    if (!snapshot->other && model() == AskedModel::Second)
        m_models->setCurrentIndex(0);
    const PromptLook* look = m_prompt.look();
    m_hint->setText(!snapshot->comparison ? whyNothingCompared(*snapshot)
            : !languageOutput(*snapshot).ok()
            ? tr("No output guesses tokens: a language model reads token ids [batch, positions] and has an "
                 "output of scores [batch, positions, vocabulary].")
            : m_prompt.problem().isEmpty() ? tr("Reading the prompt…")
                                           : m_prompt.problem());
    m_hint->setVisible(!look);
    m_splitter->setVisible(look);
    m_legend->setVisible(look);
    std::vector<TokenLine> lines;
    if (look) {
        const auto number = TokenNumber(m_colours->currentIndex());
        lines.push_back(promptLine(*look, m_prompt.words(), number));
        if (const ContinuedPrompt* made = m_continuation.made())
            for (TokenLine& line : continuationLines(*made, m_prompt.words()))
                lines.push_back(std::move(line));
        const QString problem = m_prompt.tokenizerProblem();
        m_legend->setText(legendText(number, guessesOwn(look)) + u' '
            + (!problem.isEmpty()      ? problem.toHtmlEscaped()
                    : m_prompt.words() ? QString()
                                       : tr("Numbers stand for tokens: no tokenizer.json is known."))
            + QStringLiteral(" <a href='tokenizer'>%1</a>").arg(tr("Tokenizer…")));
    }
    m_flow->setStyle(m_session.theme());
    m_flow->setLines(std::move(lines));
    const QSignalBlocker quiet(m_number);
    m_number->setRange(0, snapshot->data ? int(snapshot->data->samples()) - 1 : 0);
    m_number->setValue(int(m_prompt.prompt()));
    showBlame();
    chooseWorst();
    refreshInfo();
}

void TokensPanel::refreshInfo()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    const bool look = m_prompt.look() && snapshot->data; // others hear of a new snapshot first
    const bool stale = m_session.numbers().stale();
    m_flow->setStale(stale);
    m_number->setEnabled(look);
    m_colours->setEnabled(look);
    const LanguageRow* const row = language();
    m_worst->setEnabled(look && row && row->worst);
    m_continue->setEnabled(look && !guessesOwn(m_prompt.look()) && !m_continuation.running());
    m_continue->setToolTip(look && guessesOwn(m_prompt.look())
            ? tr("Each token is guessed in its own place, from what stands before and behind it: there is no next "
                 "token to go on with")
            : tr("Let each model go on with its own tokens"));
    m_blame->setEnabled(look && request() && !m_found.running());
    m_number->setSuffix(look ? tr(" (%1 in all)").arg(snapshot->data->samples()) : QString());
    QStringList info;
    if (m_continuation.running())
        info << tr("going on…");
    else if (look && !m_continuation.problem().isEmpty())
        info << m_continuation.problem();
    if (look && stale)
        info << tr("before the changes");
    header()->setInfo(info.join(QStringLiteral(" · ")));
}

std::optional<BlameRequest> TokensPanel::request() const
{
    const auto& place = m_flow->chosen();
    if (!place || !m_prompt.look())
        return std::nullopt;
    if (place->line > 0 && m_continuation.made())
        return BlameRequest { m_prompt.prompt(), place->token, m_continuation.options() };
    const auto& tokens = m_prompt.look()->tokens;
    const auto guess = m_prompt.look()->guessOf(place->token);
    const bool guessed = guess && place->token < tokens.size() && !tokens[place->token].padding;
    return guessed ? std::optional(BlameRequest { m_prompt.prompt(), *guess, {} }) : std::nullopt;
}

void TokensPanel::continuePrompt()
{
    if (m_prompt.look())
        m_continuation.continuePrompt(m_prompt.prompt(), m_newTokens, model());
}

void TokensPanel::askForCaches()
{
    CacheChoices choices = cacheChoices(*m_session.snapshot());
    const CarryNames& chosen = m_continuation.options().carry;
    auto* dialog = new CacheNamesDialog(
        { std::move(choices.inputs), std::move(choices.outputs), chosen.empty() ? choices.found : chosen },
        [this](const CarryNames& names) { m_continuation.setCarry(names); }, this);
    dialog->open();
}

void TokensPanel::blame()
{
    m_asked = request();
    if (m_asked)
        m_found.blame(*m_asked, model());
}

void TokensPanel::showBlame()
{
    const std::shared_ptr<const TokenBlame> found = m_found.found();
    const bool asked = m_asked && (found || m_found.running() || !m_found.problem().isEmpty());
    if (asked && m_beside->isHidden())
        m_splitter->setSizes({ m_splitter->width() * 3 / 5, m_splitter->width() * 2 / 5 });
    m_beside->setVisible(asked);
    m_tree->setBlame(found);
    m_tree->setVisible(found != nullptr);
    if (!found) {
        m_summary->setText(m_found.running() ? tr("Looking for the parts that moved the guess…") : m_found.problem());
        return;
    }
    const QString a = tokenText(m_prompt.words(), found->floatId), b = tokenText(m_prompt.words(), found->quantId);
    m_summary->setText(tr("“%1” against “%2”, %3: the float model puts the first ahead by %4, the quantized one by %5. "
                          "What the parts did to it:")
                           .arg(a, b,
                               m_asked->freely ? tr("at new token %1").arg(m_asked->position)
                                               : tr("behind token %1").arg(m_asked->position),
                               numberText(found->floatDifference), numberText(found->quantDifference)));
}

} // namespace qs

#include "moc_tokens_panel.cpp"
