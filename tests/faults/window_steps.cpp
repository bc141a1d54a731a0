// SPDX-License-Identifier: GPL-3.0-or-later
// What somebody does in the window, without its views: "work MODEL DATA KEPT FOLDER" opens, compares, edits, undoes and
// exports, and saves a project and a report in FOLDER; "restore KEPT MODEL DATA" loses its work and takes it up again
// from what was kept there. Ends as the window does.
#include "core/quant/recipe/recipe.h"
#include "tests/faults/step_end.h"
#include "tests/support/real_build.h"
#include "widgets/session/export/exports.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/projects.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>

#include <cstdio>
#include <optional>
#include <string_view>

using namespace qs;

namespace {

constexpr int kPatience = 20'000; ///< ms

/// One window's session. What it says of troubles is kept: the first of them.
class Work {
public:
    explicit Work(const QString& kept)
        : m_session(test::realBuild())
        , m_autosave(m_session, kept)
    {
        QObject::connect(&m_session, &Session::failed, &m_session, [this](const Issue& issue) {
            if (!m_issue)
                m_issue = issue;
        });
        m_session.setAutoRun(false);
    }

    Status open(const std::string& model, const std::string& data)
    {
        Inputs inputs;
        inputs.floatPath = model;
        inputs.data.spec = data;
        inputs.data.limit = 3;
        inputs.threads = 2;
        m_session.openInputs(inputs);
        return settle();
    }

    Status edit(double percentile)
    {
        Recipe next = m_session.recipe().recipe();
        next.calibration.percentile = percentile;
        m_session.recipe().apply(QStringLiteral("Percentile"), next);
        m_autosave.flush();
        return settle();
    }

    Status run()
    {
        m_session.run();
        return settle();
    }

    Status save(const QString& folder)
    {
        saveProject(m_session, folder + QStringLiteral("/p.qscope"), QStringLiteral("as it was left"));
        QS_CHECK(settle());
        exportReport(m_session, folder + QStringLiteral("/r.html"));
        return settle();
    }

    Status recover(const QString& path)
    {
        recoverProject(m_session, path);
        return settle();
    }

    Session& session() { return m_session; }

private:
    Status settle()
    {
        QElapsedTimer timer;
        timer.start();
        do {
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 20);
            if (timer.elapsed() > kPatience)
                return internalError("what was asked for never ends");
        } while (!m_session.jobs().idle());
        QCoreApplication::processEvents();
        m_autosave.flush();
        if (m_issue)
            return *m_issue;
        // Such as a file that could not be read while the default recipe was applied: it is open without the recipe.
        const std::vector<std::string>& warnings = m_session.snapshot()->warnings;
        return warnings.empty() ? Status() : badInput(warnings.front());
    }

    Session m_session;
    Autosave m_autosave;
    std::optional<Issue> m_issue;
};

/// All that was kept can be read.
Status keptIsWhole(const QString& kept)
{
    for (const QString& name : QDir(kept).entryList({ QStringLiteral("*.qscope") }, QDir::Files)) {
        const Result<Project> project = readProject(QDir(kept).filePath(name).toStdString());
        QS_CHECK(project);
        if (!project->recovery)
            return internalError("what was kept cannot be recovered");
    }
    return {};
}

Status work(const std::string& model, const std::string& data, const QString& kept, const QString& folder)
{
    QDir(kept).removeRecursively();
    {
        Work work(kept);
        QS_CHECK(work.open(model, data));
        for (const double percentile : { 99.0, 99.5, 99.9 })
            QS_CHECK(work.edit(percentile));
        work.session().recipe().stack().undo();
        QS_CHECK(work.run());
        QS_CHECK(work.save(folder));
        QS_CHECK(work.edit(98));
        std::printf("%g\n", work.session().recipe().recipe().calibration.percentile);
    }
    return keptIsWhole(kept);
}

Status restore(const QString& kept, const std::string& model, const std::string& data)
{
    QDir(kept).removeRecursively();
    {
        Work lost(kept);
        QS_CHECK(lost.open(model, data));
        QS_CHECK(lost.edit(99));
        QS_CHECK(lost.edit(98));
    }
    const QStringList found = Autosave::lost(kept);
    if (found.size() != 1)
        return badInput("nothing was kept");
    Work work(kept);
    QS_CHECK(work.recover(found.front()));
    work.session().recipe().stack().undo();
    // Where the last edit could not be kept, the one before it is undone.
    const double percentile = work.session().recipe().recipe().calibration.percentile;
    if (percentile != 99 && percentile != quantscopeRecipe().calibration.percentile)
        return internalError("something else was kept");
    return keptIsWhole(kept);
}

Status carriedOut(const QStringList& words)
{
    const QString step = words.value(1);
    if (step == QLatin1String("work") && words.size() == 6)
        return work(words[2].toStdString(), words[3].toStdString(), words[4], words[5]);
    if (step == QLatin1String("restore") && words.size() == 5)
        return restore(words[2], words[3].toStdString(), words[4].toStdString());
    return badUse("no such step");
}

} // namespace

int main(int argc, char** argv)
{
    return test::endOfStep([&] {
        qInstallMessageHandler([](QtMsgType, const QMessageLogContext&, const QString&) {}); // Qt's words to developers
        QCoreApplication application(argc, argv);
        return carriedOut(QCoreApplication::arguments());
    });
}
