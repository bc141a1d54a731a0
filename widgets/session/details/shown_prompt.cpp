// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/shown_prompt.h"

#include "core/data/open_data.h"
#include "core/project/language/blame.h"
#include "core/project/language/language_output.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"
#include "widgets/session/details/pair_details.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>

namespace qs {

namespace {

/// That of the data, else one in the folder of a model or of the data, or in the one above it.
QString foundTokenizer(const Snapshot& snapshot)
{
    const Inputs& inputs = snapshot.inputs;
    if (textPositions(inputs.data) > 0)
        return toQt(inputs.data.preprocess);
    for (const std::string* path : { &inputs.floatPath, &inputs.quantPath, &inputs.data.spec }) {
        if (path->empty())
            continue;
        QDir folder = QFileInfo(toQt(*path)).absoluteDir();
        for (int levels = 0; levels < 2; ++levels) {
            if (folder.exists(QStringLiteral("tokenizer.json")))
                return folder.filePath(QStringLiteral("tokenizer.json"));
            if (!folder.cdUp())
                break;
        }
    }
    return {};
}

ReadWords readWords(const QString& file, const ReadWords& known)
{
    if (file.isEmpty())
        return {};
    const QFileInfo info(file);
    ReadWords made { QStringLiteral("%1 %2 %3").arg(info.size()).arg(info.lastModified().toMSecsSinceEpoch()).arg(file),
        nullptr, {} };
    if (made.of == known.of)
        return known;
    if (auto read = TokenWords::read(file.toStdString()))
        made.words = std::make_shared<const TokenWords>(std::move(read).value());
    else
        made.problem = issueHeadline(read.issue());
    return made;
}

} // namespace

SnapshotPtr comparisonWith(const SnapshotPtr& snapshot, AskedModel model)
{
    return model == AskedModel::Second && snapshot->other ? snapshot->other->snapshot : snapshot;
}

ShownPrompt::ShownPrompt(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("prompt"), parent)
{
    connect(&session.selection(), &Selection::changed, this, [this] {
        if (prompt() == m_prompt)
            return;
        m_prompt = prompt();
        m_look.reset();
        ask();
    });
}

size_t ShownPrompt::prompt() const { return session().selection().current().sample.value_or(0); }

void ShownPrompt::setTokenizer(const QString& file)
{
    m_tokenizer = file;
    ask();
}

void ShownPrompt::setModel(AskedModel model)
{
    if (model == m_model)
        return;
    m_model = model;
    m_look.reset();
    ask();
}

bool ShownPrompt::wanted(const Snapshot& snapshot) const { return languageOutput(snapshot).ok(); }

ShownCheck::Work ShownPrompt::work()
{
    m_prompt = prompt();
    return [this, sample = m_prompt, told = m_tokenizer, known = m_words, model = m_model](
               const SnapshotPtr& both, const JobContext& job) -> Result<std::function<void()>> {
        const SnapshotPtr now = comparisonWith(both, model);
        QS_TRY(const auto outputs, sampleOutputs(detailInputs(*now), sample, detailWork(*now, job)));
        QS_TRY(PromptLook look, promptLook(*now, outputs, sample));
        const ReadWords words = readWords(told.isEmpty() ? foundTokenizer(*now) : told, known);
        return std::function<void()>([this, look = std::move(look), words] {
            m_look = look;
            m_words = words;
        });
    };
}

ShownContinuation::ShownContinuation(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("continuation"), parent)
{
    watch(true); // runs when it is asked for, and then for somebody
}

void ShownContinuation::continuePrompt(size_t prompt, size_t newTokens, AskedModel model)
{
    m_prompt = prompt;
    m_model = model;
    m_options.newTokens = newTokens;
    m_made.reset();
    ask();
}

void ShownContinuation::setCarry(const CarryNames& carry)
{
    m_options.carry = carry;
    drop();
}

void ShownContinuation::forget()
{
    m_prompt.reset();
    m_made.reset();
}

ShownCheck::Work ShownContinuation::work()
{
    return [this, prompt = *m_prompt, options = m_options, model = m_model](
               const SnapshotPtr& both, const JobContext& job) -> Result<std::function<void()>> {
        const SnapshotPtr now = comparisonWith(both, model);
        QS_TRY(ContinuedPrompt made, continuedPromptOf(*now, prompt, options, job.progress, job.cancel));
        return std::function<void()>([this, made = std::move(made)] { m_made = made; });
    };
}

ShownBlame::ShownBlame(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("blame"), parent)
{
    watch(true);
}

void ShownBlame::blame(const BlameRequest& request, AskedModel model)
{
    m_request = request;
    m_model = model;
    m_found.reset();
    ask();
}

void ShownBlame::forget()
{
    m_request.reset();
    m_found.reset();
}

ShownCheck::Work ShownBlame::work()
{
    return [this, request = *m_request, model = m_model](
               const SnapshotPtr& both, const JobContext& job) -> Result<std::function<void()>> {
        QS_TRY(TokenBlame blame, blameOf(*comparisonWith(both, model), request, job.progress, job.cancel));
        auto found = std::make_shared<const TokenBlame>(std::move(blame));
        return std::function<void()>([this, found] { m_found = found; });
    };
}

} // namespace qs

#include "moc_shown_prompt.cpp"
