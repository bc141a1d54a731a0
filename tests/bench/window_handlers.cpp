// SPDX-License-Identifier: GPL-3.0-or-later
// How long the window is blocked by what people do: a scripted session of edits, selections and views, in which every
// event that the GUI thread handles is timed (painting, too).
//   QT_QPA_PLATFORM=offscreen bench_window FLOAT DATA [--calibration DATA] [--quantized FILE] [--size 1600x1000]
#include "core/base/issue_text.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/quant/recipe/recipe_edit.h"
#include "tests/support/timed_application.h"
#include "widgets/session/recipe/advisor.h"
#include "widgets/views/actions/action_registry.h"
#include "widgets/views/actions/shortcut_dialog.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/palette/palette.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/docks/arrangement.h"
#include "widgets/views/window/main_window.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QLineEdit>
#include <QPointer>
#include <QTimer>
#include <QUndoStack>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

using namespace qs;
using namespace qs::test;

namespace {

[[noreturn]] void giveUp(const QString& text)
{
    std::fprintf(stderr, "error: %s\n", qPrintable(text));
    std::exit(1);
}

double share(std::vector<double> values, double part)
{
    if (values.empty())
        return 0;
    std::ranges::sort(values);
    return values[size_t(part * double(values.size() - 1))];
}

void print(const char* what, const std::vector<Span>& spans)
{
    std::vector<double> wall, cpu;
    for (const Span& span : spans) {
        wall.push_back(span.wallMs);
        cpu.push_back(span.cpuMs);
    }
    std::printf("%-26s %6zu   clock: median %6.2f p95 %6.2f most %6.2f ms   processor: median %6.2f p95 %6.2f most "
                "%6.2f ms\n",
        what, spans.size(), share(wall, 0.5), share(wall, 0.95), share(wall, 1), share(cpu, 0.5), share(cpu, 0.95),
        share(cpu, 1));
}

void printLongest(const char* title, std::vector<std::pair<double, std::string>> all)
{
    std::ranges::sort(all, std::greater<>());
    std::printf("%s\n", title);
    for (size_t i = 0; i < std::min<size_t>(all.size(), 12); ++i)
        std::printf("  %7.2f ms  %s\n", all[i].first, all[i].second.c_str());
}

class Script {
public:
    Script(TimedApplication& application, Session& session, MainWindow& window)
        : m_application(application)
        , m_session(session)
        , m_window(window)
    {
    }

    /// Does something, then handles events until nothing is left to do.
    void act(const std::string& kind, const std::function<void()>& work, const std::string& detail = {})
    {
        m_application.beginAction();
        m_application.call(work);
        settle();
        const Span span = m_application.action();
        m_actions[kind].push_back(span);
        m_ranking.emplace_back(
            span.cpuMs, kind + (detail.empty() ? "" : " (" + detail + ")") + ": " + m_application.longestOfAction());
    }

    void settle()
    {
        QElapsedTimer quiet;
        quiet.start();
        while (quiet.elapsed() < 80) { // delayed work, such as what waits for a selection to stay
            QEventLoop loop;
            QTimer::singleShot(10, &loop, &QEventLoop::quit);
            loop.exec();
            if (!m_session.jobs().idle())
                quiet.restart();
        }
    }

    void run()
    {
        RecipeHistory& recipe = m_session.recipe();
        const size_t tensors = m_session.comparison()->activations.size();
        for (size_t i = 0; i < 12; ++i)
            act("select a tensor", [&] { m_session.selection().selectActivation(i * (tensors - 1) / 11); });
        for (const QString& view : MainWindow::viewNames())
            act(
                "show a view", [&] { m_window.showView(view); }, view.toStdString());
        for (size_t i = 0; i < 8; ++i) {
            act("select a tensor", [&] { m_session.selection().selectActivation((i * 37 + 5) % tensors); });
            act("exclude a node", [&] { m_window.recipe().toggle(m_session.selection().current()); });
        }
        const std::string dragged = m_session.comparison()->activations[tensors / 2].name;
        for (int i = 0; i < 10; ++i)
            act("drag a range", [&] {
                recipe.apply(QStringLiteral("Range"), withRange(recipe.recipe(), dragged, -1, 2 + 0.1 * i),
                    QStringLiteral("drag"));
            });
        while (recipe.stack().canUndo() && m_actions["undo"].size() < 10)
            act("undo", [&] { recipe.stack().undo(); });
        while (recipe.stack().canRedo() && m_actions["redo"].size() < 10)
            act("redo", [&] { recipe.stack().redo(); });
        for (const ThemeChoice theme : { ThemeChoice::Dark, ThemeChoice::Light })
            act("change the theme", [&] { m_window.setThemeChoice(theme); });
        for (const LayoutName layout : kLayoutNames)
            act(
                "change the layout", [&] { m_window.layoutOfPanels().apply(layout); },
                layoutTitle(layout).toStdString());
        m_window.layoutOfPanels().apply(LayoutName::Inspect);
        useGraphMenu();
        useShortcutEditor();
    }

    const std::map<std::string, std::vector<Span>>& actions() const { return m_actions; }
    /// What each action's longest handler took, and which it was.
    const std::vector<std::pair<double, std::string>>& ranking() const { return m_ranking; }

private:
    /// Asked for beside the boxes and on one.
    void useGraphMenu()
    {
        GraphCanvas& canvas = m_window.graph().canvas();
        for (const QPoint at : { QPoint(3, 3), canvas.rect().center() })
            for (int round = 0; round < 3; ++round)
                act("graph's menu", [&] {
                    QTimer::singleShot(100, &m_window, [] {
                        if (QWidget* menu = QApplication::activePopupWidget())
                            menu->close();
                    });
                    QMouseEvent move(QEvent::MouseMove, at, canvas.mapToGlobal(QPointF(at)), Qt::NoButton, {}, {});
                    QCoreApplication::sendEvent(&canvas, &move);
                    QContextMenuEvent asked(QContextMenuEvent::Mouse, at, canvas.mapToGlobal(at));
                    QCoreApplication::sendEvent(&canvas, &asked);
                });
    }

    void useShortcutEditor()
    {
        QPointer<ShortcutDialog> dialog;
        act("open the shortcut editor", [&] {
            dialog = new ShortcutDialog(m_window.actions(), &m_window);
            dialog->open();
        });
        const QString text(300, QLatin1Char('x'));
        act("filter shortcuts", [&] { // letter by letter, all in one
            for (qsizetype letters = 1; letters <= text.size(); ++letters)
                dialog->filter()->setText(text.left(letters));
        });
        act("open the palette", [&] {
            dialog->reject();
            m_window.finder().open({});
        });
    }

    TimedApplication& m_application;
    Session& m_session;
    MainWindow& m_window;
    std::map<std::string, std::vector<Span>> m_actions;
    std::vector<std::pair<double, std::string>> m_ranking;
};

Inputs inputsFrom(const QStringList& arguments, QSize& size)
{
    if (arguments.size() < 3)
        giveUp(QStringLiteral("give FLOAT DATA [--calibration DATA] [--quantized FILE] [--size 1600x1000]"));
    Inputs inputs;
    inputs.floatPath = arguments[1].toStdString();
    inputs.data.spec = arguments[2].toStdString();
    for (qsizetype i = 3; i + 1 < arguments.size(); i += 2) {
        const std::string value = arguments[i + 1].toStdString();
        if (arguments[i] == QLatin1String("--calibration"))
            inputs.calibration.spec = value;
        else if (arguments[i] == QLatin1String("--quantized"))
            inputs.quantPath = value;
        else if (arguments[i] == QLatin1String("--size"))
            size = { arguments[i + 1].section(u'x', 0, 0).toInt(), arguments[i + 1].section(u'x', 1, 1).toInt() };
        else
            giveUp(QStringLiteral("unknown option ") + arguments[i]);
    }
    return inputs;
}

} // namespace

int main(int argc, char** argv)
{
    TimedApplication application(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
    QCoreApplication::setApplicationName(QStringLiteral("quantscope-bench"));
    setUpApplication(application);
    QSize size(1600, 1000);
    const Inputs inputs = inputsFrom(application.arguments(), size);
    Session session(
        [](const Inputs& asked, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel,
            const PartialFn& partial) { return buildSnapshot(asked, previous, progress, cancel, partial); });
    QObject::connect(
        &session, &Session::failed, [](const Issue& issue) { giveUp(QString::fromStdString(issueText(issue))); });
    MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
    window.resize(size);
    window.show();
    Script script(application, session, window);
    application.begin();
    script.act("open", [&] { session.openInputs(inputs); });
    if (!session.comparison())
        giveUp(QStringLiteral("there is no comparison"));
    script.run();
    print("every event", application.events());
    std::vector<Span> all;
    for (const auto& [kind, spans] : script.actions()) {
        print(kind.c_str(), spans);
        all.insert(all.end(), spans.begin(), spans.end());
    }
    print("longest of each action", all);
    std::vector<std::pair<double, std::string>> longest;
    for (const auto& [what, span] : application.longest())
        longest.emplace_back(span.cpuMs, what);
    printLongest("longest handlers (processor time):", longest);
    printLongest("longest actions:", script.ranking());
    return 0;
}
