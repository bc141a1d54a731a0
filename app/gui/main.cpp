// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/command_line.h"
#include "app/gui/completion.h"
#include "app/gui/logout.h"
#include "core/base/files/file_roles.h"
#include "core/base/files/out_of_memory.h"
#include "core/base/files/standard_streams.h"
#include "core/base/issue_text.h"
#include "core/base/work/memory.h"
#include "core/project/snapshot/build_snapshot.h"
#include "widgets/session/agent/agent_serving.h"
#include "widgets/session/details/shown_checks.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/files/projects.h"
#include "widgets/session/files/termination_signals.h"
#include "widgets/views/base/error_bar.h"
#include "widgets/views/base/text/dialog_size.h"
#include "widgets/views/lesson/lesson_room.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/main_window.h"
#include "widgets/views/window/screenshot.h"
#include "widgets/views/window/unsaved_question.h"

#include <QApplication>
#include <QLoggingCategory>
#include <QScreen>

#include <csignal>
#include <cstdio>

namespace {

constexpr int kCancelled = 4;

int exitCode(qs::IssueKind kind)
{
    switch (kind) {
    case qs::IssueKind::BadUse:
        return 2;
    case qs::IssueKind::BadInput:
    case qs::IssueKind::NoMemory:
        return 3;
    case qs::IssueKind::Cancelled:
        return kCancelled;
    case qs::IssueKind::Internal:
        return 5;
    }
    return 5;
}

/// What it is to do when streams, memory or disks are not as they should be.
void meetTheSystem()
{
    qs::keepStandardStreams();
    qs::joinFreedMemory();
    qs::endWhereMemoryEnds(exitCode(qs::IssueKind::BadInput));
    for (const int signal : { SIGPIPE, SIGXFSZ }) // the write that meets them says what is wrong
        std::signal(signal, SIG_IGN);
}

int report(const qs::Issue& issue)
{
    std::fprintf(stderr, "error: %s\n", qs::issueText(issue).c_str());
    return exitCode(issue.kind);
}

/// What needs no window.
int printText(const qs::GuiOptions& options)
{
    QString text = options.help ? qs::helpText() : QStringLiteral("quantscope " QS_VERSION "\n");
    if (!options.completion.isEmpty()) {
        const auto script = qs::completionScript(options.completion);
        if (!script.ok())
            return report(script.issue());
        text = *script;
    }
    std::fputs(text.toLocal8Bit().constData(), stdout);
    return 0;
}

qs::Issue nothingSelected(const QString& name)
{
    return qs::badInput("--select " + name.toStdString() + " is neither a node nor a tensor of the opened files", {},
        "give a name as the graph shows it");
}

/// Before the application object exists: pictures need no display, and a missing one must not abort the program.
qs::Status choosePlatform(const qs::GuiOptions& options)
{
    if (qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        return {};
    if (!options.screenshot.isEmpty()) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
        return {};
    }
    if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY"))
        return qs::badInput("there is no display to open a window on", {},
            "set DISPLAY or WAYLAND_DISPLAY, or use --screenshot or quantscope-cli");
    return {};
}

int runForScreenshot(const qs::GuiOptions& options, qs::Session& session, qs::MainWindow& window)
{
    qs::FileRoles files;
    files.reads(options.saved.framework, "what the framework computed");
    files.reads(options.saved.device, "what the device computed");
    files.writes(options.screenshot.toStdString(), "the picture");
    if (const qs::Status free = files.check(); !free.ok())
        return report(free.issue());
    int code = 0;
    const auto fail = [&code](const qs::Issue& issue) {
        code = report(issue);
        QCoreApplication::exit(code);
    };
    QObject::connect(&session, &qs::Session::failed, &window, fail);
    QObject::connect(&session, &qs::Session::filesSwapped, &window, fail);
    const qs::TerminationSignals termination;
    QObject::connect(&termination, &qs::TerminationSignals::asked, &window, [&] { fail(qs::cancelled()); });
    qs::Screenshot screenshot(session, window, options.size);
    const auto prepare = [&]() -> qs::Status {
        if (!options.select.isEmpty() && !session.selection().selectByName(options.select.toStdString()))
            return nothingSelected(options.select);
        if (!options.view.isEmpty())
            window.showView(options.view);
        return {};
    };
    screenshot.take(options.screenshot, prepare, [&](const qs::Status& status) {
        if (code != 0)
            return;
        if (!status.ok())
            return fail(status.issue());
        QCoreApplication::exit(0);
    });
    QApplication::exec();
    return code;
}

int runInteractively(const qs::GuiOptions& options, qs::Session& session, qs::MainWindow& window)
{
    if (options.sizeGiven) {
        window.resize(options.size);
    } else if (!qs::fitsIntoScreen(window)) {
        qs::fitIntoScreen(window); // what it goes back to
        window.setWindowState(window.windowState() | Qt::WindowMaximized);
    }
    const auto once = Qt::ConnectionType(Qt::SingleShotConnection);
    QObject::connect(
        &session, &qs::Session::settled, &window,
        [&] {
            if (!options.select.isEmpty() && !session.selection().selectByName(options.select.toStdString()))
                window.errorBar().showIssue(nothingSelected(options.select));
        },
        once);
    if (options.serve)
        if (const qs::Status serving = window.agents().start(); !serving.ok())
            window.errorBar().showIssue(serving.issue());
    bool interrupted = false;
    qs::TerminationSignals termination;
    QObject::connect(&termination, &qs::TerminationSignals::asked, &window, [&] {
        interrupted = window.close(); // with unsaved work it asks first
        if (!interrupted)
            std::fputs("quantscope: the window holds work that is not saved, so it asks whether to keep it; another "
                       "signal ends it at once\n",
                stderr);
    });
    QObject::connect(&window.unsaved(), &qs::UnsavedQuestion::stayed, &termination, &qs::TerminationSignals::rearm);
    window.show();
    const auto showView = [&] {
        if (!options.view.isEmpty())
            window.showView(options.view);
    };
    QObject::connect(&session, &qs::Session::snapshotChanged, &window, showView, once); // panels come with the first
    showView();
    QApplication::exec();
    return interrupted ? kCancelled : 0;
}

} // namespace

int main(int argc, char** argv)
{
    meetTheSystem();
    QStringList arguments;
    for (int i = 0; i < argc; ++i)
        arguments << QString::fromLocal8Bit(argv[i]);
    const auto parsed = qs::parseCommandLine(arguments);
    if (!parsed.ok())
        return report(parsed.issue());
    const qs::GuiOptions& options = *parsed;
    if (options.help || options.version || !options.completion.isEmpty())
        return printText(options);
    if (const qs::Status platform = choosePlatform(options); !platform.ok())
        return report(platform.issue());

    QLoggingCategory::setFilterRules(QStringLiteral("default.warning=false")); // stderr carries our errors alone
    int onlyProgram = 1; // the other arguments are ours, not Qt's
    QApplication application(onlyProgram, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
    QCoreApplication::setApplicationName(QStringLiteral("quantscope"));
    QGuiApplication::setDesktopFileName(QStringLiteral("quantscope"));
    QCoreApplication::setApplicationVersion(QStringLiteral(QS_VERSION));
    qs::setUpApplication(application);
    const bool forScreenshot = !options.screenshot.isEmpty();
    const QStringList lost = forScreenshot ? QStringList() : qs::Autosave::lost();
    qs::Session session([](const qs::Inputs& inputs, const qs::SnapshotPtr& previous, const qs::ProgressFn& progress,
                            const qs::CancelToken& cancel, const qs::PartialFn& partial) {
        return qs::buildSnapshot(inputs, previous, progress, cancel, partial);
    });
    session.setAsksForPictures(!forScreenshot);
    if (!options.files.isEmpty())
        qs::openFiles(session, options.files, options.inputs);
    else if (!options.inputs.floatPath.empty() || !options.inputs.data.spec.empty())
        session.openInputs(options.inputs); // works while the window is being built
    else if (!options.session.isEmpty())
        qs::openProject(session, options.session);
    std::optional<qs::Autosave> autosave;
    if (!forScreenshot)
        autosave.emplace(session);
    qs::MainWindow window(
        session, options.theme, forScreenshot ? qs::WindowMemory::Fresh : qs::WindowMemory::Remembered);
    window.offerRecovery(lost);
    if (autosave)
        qs::keepWorkAtLogout(application, window, *autosave);
    if (forScreenshot && options.view == QStringLiteral("findings"))
        session.setAutoTry(true); // the picture shows what they gain
    if (options.saved.any())
        window.ladder().setFiles(options.saved);
    if (!options.lessons.isEmpty())
        window.lessons().openFolder(options.lessons);
    if (!options.lesson.isEmpty())
        window.lessons().beginById(options.lesson);
    if (options.tolerance)
        window.elements().setTolerance(*options.tolerance);
    return forScreenshot ? runForScreenshot(options, session, window) : runInteractively(options, session, window);
}
