// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/blamed_text.h"
#include "core/analysis/blame/token_blame.h"
#include "core/data/tokens/token_words.h"
#include "core/project/language/free_decoding.h"
#include "core/project/language/prompt_look.h"
#include "widgets/session/details/shown_checks.h"

#include <memory>

namespace qs {

/// A tokenizer.json, read once as long as it stays as it is.
struct ReadWords {
    QString of; ///< path, length and time; empty: there is none
    std::shared_ptr<const TokenWords> words; ///< null: none, or a problem
    QString problem;
};

/// Which quantized model is asked beside the float one.
enum class AskedModel {
    First,
    Second, ///< B, where there is one
};
/// The comparison with it.
SnapshotPtr comparisonWith(const SnapshotPtr& snapshot, AskedModel model);

/// What two language models say along the chosen sample (none: the first), and how its tokens are written.
class ShownPrompt : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownPrompt(Session& session, QObject* parent = nullptr);
    const PromptLook* look() const { return m_look ? &*m_look : nullptr; }
    /// The tokenizer.json that is told, else that of the data, else one beside the models or the data. Null: none.
    const TokenWords* words() const { return m_words.words.get(); }
    QString tokenizerProblem() const { return m_words.problem; } ///< why it is not read
    void setTokenizer(const QString& file); ///< empty: whichever there is
    void setModel(AskedModel model);
    size_t prompt() const; ///< number of the sample

protected:
    QString title() const override { return tr("Look at the tokens"); }
    bool wanted(const Snapshot& snapshot) const override;
    Work work() override;
    void forget() override { m_look.reset(); }

private:
    QString m_tokenizer; ///< told
    AskedModel m_model = AskedModel::First;
    size_t m_prompt = 0; ///< looked at, or asked for
    std::optional<PromptLook> m_look;
    ReadWords m_words;
};

/// The prompt continued by both models with their own tokens, once somebody asks for it.
class ShownContinuation : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownContinuation(Session& session, QObject* parent = nullptr);
    void continuePrompt(size_t prompt, size_t newTokens, AskedModel model);
    void setCarry(const CarryNames& carry); ///< by which names from then on
    using ShownCheck::drop; ///< of another prompt
    const ContinuedPrompt* made() const { return m_made ? &*m_made : nullptr; }
    const FreeDecoding& options() const { return m_options; }

protected:
    QString title() const override { return tr("Continue the prompt"); }
    bool wanted(const Snapshot&) const override { return m_prompt.has_value(); }
    Work work() override;
    void forget() override;

private:
    std::optional<size_t> m_prompt; ///< asked for
    FreeDecoding m_options;
    AskedModel m_model = AskedModel::First;
    std::optional<ContinuedPrompt> m_made;
};

/// Which parts of the quantized model moved one guess, once somebody asks for it.
class ShownBlame : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownBlame(Session& session, QObject* parent = nullptr);
    void blame(const BlameRequest& request, AskedModel model);
    using ShownCheck::drop; ///< of another guess
    std::shared_ptr<const TokenBlame> found() const { return m_found; }

protected:
    QString title() const override { return tr("Find who moved the guess"); }
    bool wanted(const Snapshot&) const override { return m_request.has_value(); }
    Work work() override;
    void forget() override;

private:
    std::optional<BlameRequest> m_request; ///< asked for
    AskedModel m_model = AskedModel::First;
    std::shared_ptr<const TokenBlame> m_found;
};

} // namespace qs
