// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/language_row.h"
#include "widgets/session/details/shown_prompt.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/language/token_flow.h"

class QComboBox;
class QLabel;
class QScrollArea;
class QSpinBox;
class QSplitter;
class QToolButton;

namespace qs {

class BlameTree;

/// Two language models along one prompt: its tokens, coloured by how far the models' guesses are apart, what each goes
/// on with, and which parts of the quantized model moved the guess that is chosen.
class TokensPanel : public Panel {
    Q_OBJECT
public:
    explicit TokensPanel(Session& session, QWidget* parent = nullptr);
    TokenFlow& flow() const { return *m_flow; }
    BlameTree& tree() const { return *m_tree; }
    QToolButton* continueButton() const { return m_continue; }
    QToolButton* blameButton() const { return m_blame; }
    QToolButton* worstButton() const { return m_worst; }
    QComboBox* models() const { return m_models; } ///< hidden without a second quantized model
    QString hint() const; ///< what stands where there are no tokens
    QString blameSummary() const;
    ShownPrompt& shownPrompt() { return m_prompt; }

private:
    void buildTools();
    void connectAll();
    void refresh();
    void refreshInfo();
    void showBlame();
    void blame();
    void continuePrompt();
    void askForCaches(); ///< by which names they are carried
    void chooseModel(); ///< the quantized one that is asked
    void goToWorst(); ///< to the guess that the comparison finds worst
    void chooseWorst(); ///< once its prompt is there
    AskedModel model() const;
    const LanguageRow* language() const; ///< of the quantized model that is asked; null: there are no numbers
    std::optional<BlameRequest> request() const; ///< for the token that is chosen
    void forgetOthers(); ///< what was asked of another prompt

    Session& m_session;
    ShownPrompt m_prompt;
    ShownContinuation m_continuation;
    ShownBlame m_found;
    QSpinBox* m_number;
    QComboBox* m_colours;
    QComboBox* m_models;
    QToolButton *m_continue, *m_worst, *m_blame;
    std::optional<GuessPlace> m_sought; ///< to be chosen as soon as its prompt is there
    size_t m_newTokens = 32;
    TokenFlow* m_flow;
    QScrollArea* m_scroll;
    BlameTree* m_tree;
    QLabel *m_hint, *m_summary, *m_legend;
    QWidget* m_beside;
    QSplitter* m_splitter;
    std::optional<BlameRequest> m_asked; ///< what the tree is about, or will be
};

} // namespace qs
