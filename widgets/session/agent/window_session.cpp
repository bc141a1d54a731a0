// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/agent/window_session.h"

#include "core/project/snapshot/build_snapshot.h"
#include "widgets/session/files/open_work.h"

#include <QString>

#include <memory>
#include <utility>

namespace qs {

namespace {

template <class T> using Answer = std::optional<Result<T>>;

bool nothingOpen(const Session& session)
{
    return session.files().floatPath.empty() && session.files().quantPath.empty();
}

Issue noSamples() { return badUse("a comparison needs samples", "open the models again with data"); }

/// What the recipe as it is now asks for.
Inputs askedNow(Session& session)
{
    const SnapshotPtr shown = session.snapshot();
    if (session.work() == Session::Work::Settled && shown->data)
        return shown->inputs;
    Inputs files = session.files();
    files.links = session.recipe().links();
    const bool untouched = session.recipe().recipe() == session.recipe().base();
    return files.floatPath.empty() || (untouched && !files.quantPath.empty())
        ? files
        : byRecipe(files, session.recipe().recipe());
}

/// Runs what waits in the window, once; nothing while it is busy.
Answer<SnapshotPtr> runToTheEnd(const WindowSession::Window& window, bool& started)
{
    Session& session = window.session;
    if (session.busy())
        return std::nullopt;
    if (session.work() != Session::Work::Waiting)
        return Result<SnapshotPtr>(session.snapshot());
    if (std::exchange(started, true))
        return Result<SnapshotPtr>(window.ear.issue().value_or(
            badUse("the comparison in the window came to no end", "look at what it says there")));
    window.ear.forget();
    session.run();
    return std::nullopt;
}

/// Tries the remedies of what is shown, once; nothing while that is done.
Answer<SnapshotPtr> tryToTheEnd(const WindowSession::Window& window, bool& started)
{
    Session& session = window.session;
    if (session.busy() || session.jobs().running(Session::kRemediesTag))
        return std::nullopt;
    const SnapshotPtr shown = session.snapshot();
    if ((shown->comparison && shown->comparison->trials) || (!started && !session.canTryRemedies()))
        return Result<SnapshotPtr>(shown);
    if (std::exchange(started, true))
        return Result<SnapshotPtr>(window.ear.issue().value_or(
            badUse("the person at the window stopped the trial of remedies", "ask them before you go on")));
    window.ear.forget();
    session.tryRemedies();
    return std::nullopt;
}

Status mayOpen(const WindowSession::Window& window, const Inputs& inputs)
{
    QS_CHECK(window.edits.possible());
    Session& session = window.session;
    if (session.work() == Session::Work::Opening || session.jobs().running(QStringLiteral("roles")))
        return badUse("the window is opening something", "wait until that is open, and look at it");
    if (session.openingOf(inputs).otherModels && session.unsaved())
        return badUse("what the person at the window works on is not saved and would be lost",
            "ask them to save it, or go on with what is open");
    return {};
}

/// A recipe for the models that are open is an edit like others: the person's goes back by undo.
Status beginOpening(const WindowSession::Window& window, Inputs inputs)
{
    QS_CHECK(mayOpen(window, inputs));
    Session& session = window.session;
    if (inputs.recipe && !session.openingOf(inputs).otherModels) {
        const Recipe now = session.recipe().recipe();
        if (!(*inputs.recipe == now))
            QS_CHECK(window.edits.edit(QStringLiteral("open with another recipe"), now, *inputs.recipe));
        inputs.recipe.reset();
    }
    window.ear.forget();
    session.openInputs(inputs);
    return {};
}

} // namespace

WindowSession::WindowSession(const Window& window)
    : m_window(window)
    , m_seen { std::make_shared<Snapshot>(), {}, { "as opened" }, 0 }
{
}

WindowSession::Seen WindowSession::seen(Session& session)
{
    const QUndoStack& stack = session.recipe().stack();
    Seen now { session.snapshot(), askedNow(session), { "as opened" }, size_t(stack.index()) };
    for (int i = 0; i < stack.count(); ++i)
        now.texts.push_back(stack.text(i).toStdString());
    return now;
}

Status WindowSession::look(const WorkContext& work)
{
    QS_TRY(Seen now, m_window.gui.ask<Seen>(work.cancel, [window = m_window]() -> Answer<Seen> {
        if (window.session.work() == Session::Work::Opening)
            return std::nullopt;
        if (nothingOpen(window.session))
            return Result<Seen>(badUse("nothing is open in the window", "call open first"));
        return Result<Seen>(seen(window.session));
    }));
    take(std::move(now));
    return {};
}

/// What is shown then, and the step that it is of, in one look.
Result<SnapshotPtr> WindowSession::settled(const WorkContext& work)
{
    const auto question = [window = m_window, started = std::make_shared<bool>(false)]() -> Answer<Seen> {
        const Answer<SnapshotPtr> shown = runToTheEnd(window, *started);
        if (!shown)
            return std::nullopt;
        return shown->ok() ? Result<Seen>(seen(window.session)) : Result<Seen>(shown->issue());
    };
    QS_TRY(Seen now, m_window.gui.ask<Seen>(work.cancel, question, meanwhile(work)));
    take(std::move(now));
    return m_seen.shown;
}

void WindowSession::take(Seen now)
{
    if (!(now.present.asked() == m_seen.present.asked()))
        measured.reset();
    m_seen = std::move(now);
}

Result<SnapshotPtr> WindowSession::compared(const WorkContext& work)
{
    QS_TRY(SnapshotPtr shown, settled(work));
    if (!shown->data)
        return noSamples();
    if (!shown->comparison || shown->comparison->partial)
        return badInput("nothing could be compared", {}, "open a float model and its quantized one");
    tell(shown);
    return shown;
}

Result<SnapshotPtr> WindowSession::tried(size_t most, const WorkContext& work)
{
    QS_TRY(SnapshotPtr shown, compared(work));
    if (most == 0 || shown->comparison->trials)
        return shown;
    QS_TRY(SnapshotPtr made,
        m_window.gui.ask<SnapshotPtr>(
            work.cancel,
            [window = m_window, started = std::make_shared<bool>(false)] { return tryToTheEnd(window, *started); },
            meanwhile(work)));
    if (!made->comparison)
        return noSamples(); // they were closed meanwhile
    tell(made);
    return made;
}

Result<SnapshotPtr> WindowSession::ready(const WorkContext& work) { return settled(work); }

Result<SnapshotPtr> WindowSession::quantized(const WorkContext& work)
{
    QS_TRY(const SnapshotPtr shown, settled(work));
    if (shown->quantization && shown->inputs.asked() == m_seen.present.asked())
        return shown;
    if (!m_seen.present.recipe && !m_seen.present.quantPath.empty())
        return badUse("the quantized model is a file as it lies there, so there is nothing to make",
            "edit the recipe first: edit_recipe begins with what the file was made by");
    QS_TRY(const Recipe asked, recipe(work));
    Inputs inputs = byRecipe(m_seen.present, asked);
    inputs.compare = false;
    QS_TRY(SnapshotPtr made, buildSnapshot(inputs, shown, work.progress, work.cancel));
    QS_CHECK(unchanged(*made));
    return made;
}

Result<Recipe> WindowSession::recipe(const WorkContext& work)
{
    return m_window.gui.ask<Recipe>(work.cancel, [window = m_window]() -> Answer<Recipe> {
        Session& session = window.session;
        if (session.work() == Session::Work::Opening || session.jobs().running(QStringLiteral("recipe")))
            return std::nullopt;
        if (!session.files().quantPath.empty() && session.recipe().baseOrigin() != ValueOrigin::Imported)
            return Result<Recipe>(badInput("no recipe can be read out of the quantized file that is open",
                session.files().quantPath, "open the float model without it"));
        return Result<Recipe>(session.recipe().recipe());
    });
}

/// While the window works, whoever asked is told how far it is.
std::function<void()> WindowSession::meanwhile(const WorkContext& work) const
{
    return [this, &work] { m_window.ear.tellProgress(work.progress); };
}

/// On the GUI thread, then looks what came of it.
Status WindowSession::change(const WorkContext& work, std::function<Status()> change)
{
    QS_CHECK(m_window.gui.ask<void>(work.cancel, [change = std::move(change)] { return Answer<void>(change()); }));
    measured.reset();
    return look(work);
}

Status WindowSession::edit(std::string text, const Recipe& before, Recipe after, const WorkContext& work)
{
    return change(work, [window = m_window, text = QString::fromStdString(text), before, after = std::move(after)] {
        return window.edits.edit(text, before, after);
    });
}

Status WindowSession::undo(size_t steps, const WorkContext& work)
{
    return change(work, [window = m_window, steps] { return window.edits.undo(int(steps)); });
}

Status WindowSession::redo(size_t steps, const WorkContext& work)
{
    return change(work, [window = m_window, steps] { return window.edits.redo(int(steps)); });
}

Status WindowSession::open(const Inputs& inputs, const Check& check, const WorkContext& work)
{
    const auto allowed = [window = m_window, inputs] { return Answer<void>(mayOpen(window, inputs)); };
    QS_CHECK(m_window.gui.ask<void>(work.cancel, allowed));
    Inputs looked = inputs; // what cannot be opened leaves the window as it is
    looked.recipe.reset();
    looked.compare = false;
    QS_TRY(const SnapshotPtr made, buildSnapshot(looked, nullptr, work.progress, work.cancel));
    QS_CHECK(check(*made));
    return m_window.gui.ask<void>(
        work.cancel,
        [window = m_window, inputs, started = std::make_shared<bool>(false)]() -> Answer<void> {
            if (!*started) {
                if (Status begun = beginOpening(window, inputs); !begun.ok())
                    return begun;
                *started = true;
                return std::nullopt;
            }
            if (window.session.busy())
                return std::nullopt;
            return window.ear.issue() ? Status(*window.ear.issue()) : Status();
        },
        meanwhile(work));
}

Status WindowSession::mayWrite(const std::string& path, const WorkContext& work)
{
    QS_TRY(const OpenWork open, m_window.gui.ask<OpenWork>(work.cancel, [window = m_window]() -> Answer<OpenWork> {
        if (const Status may = window.edits.possible(); !may.ok())
            return Result<OpenWork>(may.issue());
        return Result<OpenWork>(OpenWork(window.session));
    }));
    return open.mayWrite(QString::fromStdString(path));
}

} // namespace qs
