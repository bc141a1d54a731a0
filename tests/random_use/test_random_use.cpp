// SPDX-License-Identifier: GPL-3.0-or-later
// Somebody who clicks and types at random: nothing crashes, no handler takes long, and what is kept for recovery is
// the work as it is. More of it by hand:
//   QS_EVENTS=20000 QS_SEED=7 QS_MODELS="float.onnx;quantized.onnx;data.npz" build/asan/tests/test_random_use
#include "core/base/issue_text.h"
#include "tests/random_use/random_user.h"
#include "tests/support/real_build.h"
#include "tests/support/timed_application.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/projects.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/main_window.h"

#include <QDesktopServices>
#include <QDir>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <cstdio>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int kPatience = 600'000;
constexpr int kEvents = 400; ///< of each seed, in the tests
constexpr int kBetweenChecks = 200;

/// Pages that the program wants to show by others.
class NoBrowser : public QObject {
    Q_OBJECT
public slots:
    void swallow(const QUrl&) { }
};

void copyFolder(const QString& from, const QString& to)
{
    QDir().mkpath(to);
    for (const QFileInfo& entry : QDir(from).entryInfoList(QDir::Dirs | QDir::Files | QDir::NoDotAndDotDot)) {
        const QString target = to + QLatin1Char('/') + entry.fileName();
        if (entry.isDir())
            copyFolder(entry.filePath(), target);
        else
            QFile::copy(entry.filePath(), target);
    }
}

/// Copies, so that what is saved by chance replaces no file of anybody's.
Inputs copied(const QStringList& files, const QString& folder)
{
    Inputs inputs;
    int number = 0;
    const auto copy = [&](const QString& file) {
        const QFileInfo info(file);
        const QString own = folder + QStringLiteral("/%1").arg(++number); // both models may have one name
        QDir().mkpath(own);
        const QString to = own + QLatin1Char('/') + info.fileName();
        if (info.isDir())
            copyFolder(file, to);
        else if (info.isFile())
            QFile::copy(file, to);
        if (QFile::exists(file + QStringLiteral(".data"))) // weights of its own
            QFile::copy(file + QStringLiteral(".data"), to + QStringLiteral(".data"));
        return (info.exists() ? to : file).toStdString(); // "random:4" is no file
    };
    inputs.floatPath = copy(files.value(0));
    inputs.quantPath = copy(files.value(1));
    inputs.data.spec = copy(files.value(2));
    inputs.data.limit = files.value(3, QStringLiteral("4")).toUInt();
    return inputs;
}

/// What must not be lost: files, recipe, links, the first runs, and the steps of undo. A recipe that waited for its
/// run is run when it is recovered, and is the current run then.
std::string keptText(Session& session, size_t runsKept)
{
    Project project = projectOf(session);
    project.layout.clear();
    project.files.clear(); // found again
    std::vector<RecipeRun> runs = project.runs.runs();
    runs.resize(std::min(runs.size(), runsKept));
    for (RecipeRun& run : runs)
        run.numbers.reset(); // found again
    const RunId first = runs.empty() ? 0 : runs.front().id;
    project.runs = RunTree::of(std::move(runs), first);
    project.recovery = Recovery { {}, session.recipe().steps() };
    return projectToJson(project, "/none.qscope");
}

/// The first line that differs, of both; empty: none does.
QString difference(const std::string& one, const std::string& other)
{
    const QStringList a = QString::fromStdString(one).split(QLatin1Char('\n'));
    const QStringList b = QString::fromStdString(other).split(QLatin1Char('\n'));
    for (qsizetype i = 0; i < std::max(a.size(), b.size()); ++i)
        if (a.value(i) != b.value(i))
            return QStringLiteral("line %1: %2 | in place of %3\n%4")
                .arg(i)
                .arg(a.value(i), b.value(i),
                    QStringList(b.mid(std::max<qsizetype>(0, i - 8), 8)).join(QLatin1Char('\n')));
    return {};
}

struct Used {
    explicit Used(const QString& folder)
        : autosave(session, folder)
    {
        window.resize(1280, 800);
        window.show();
    }

    bool idle()
    {
        return QTest::qWaitFor([this] { return session.jobs().idle() && !session.busy(); }, kPatience);
    }

    Session session { realBuild() };
    Autosave autosave;
    MainWindow window { session, ThemeChoice::Light, WindowMemory::Fresh };
};

/// The kept work, opened by another session, is the work.
void compareKept(Used& used, const QString& folder)
{
    QTRY_VERIFY_WITH_TIMEOUT(used.session.work() != Session::Work::Opening, kPatience);
    used.autosave.flush();
    if (!used.session.unsaved())
        return;
    const size_t runs = used.session.runs().tree().runs().size();
    const std::string wanted = keptText(used.session, runs);
    const QString copy = folder + QStringLiteral("/kept.qscope");
    QFile::remove(copy);
    QVERIFY2(QFile::copy(used.autosave.path(), copy), qPrintable(used.autosave.path()));
    Session again(realBuild());
    again.setAutoRun(false);
    QSignalSpy recovered(&again, &Session::recovered), failed(&again, &Session::failed);
    recoverProject(again, copy);
    QTRY_VERIFY_WITH_TIMEOUT(!recovered.isEmpty() || !failed.isEmpty(), kPatience);
    const QString refused
        = failed.isEmpty() ? QString() : QString::fromStdString(issueText(failed.front().front().value<Issue>()));
    QVERIFY2(refused.isEmpty(), qPrintable(refused));
    const QString lost = difference(keptText(again, runs), wanted);
    if (const QString dump = qEnvironmentVariable("QS_DUMP"); !lost.isEmpty() && !dump.isEmpty()) {
        QFile::copy(copy, dump + QStringLiteral(".kept"));
        for (const auto& [name, text] : { std::pair(".wanted", wanted), std::pair(".got", keptText(again, runs)) }) {
            QFile file(dump + QLatin1String(name));
            if (file.open(QIODevice::WriteOnly))
                file.write(text.data(), qint64(text.size()));
        }
    }
    QVERIFY2(lost.isEmpty(), qPrintable(lost));
    again.jobs().cancelAll();
}

} // namespace

class TestRandomUse : public QObject {
    Q_OBJECT
public:
    explicit TestRandomUse(TimedApplication& application)
        : m_application(application)
    {
    }

private slots:
    void initTestCase()
    {
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_settings.path());
        setUpApplication(m_application);
        for (const char* scheme : { "http", "https", "file" })
            QDesktopServices::setUrlHandler(QLatin1String(scheme), &m_browser, "swallow");
    }

    void nothingBreaks_data()
    {
        QTest::addColumn<QStringList>("files");
        QTest::addColumn<unsigned>("seed");
        const unsigned first = qEnvironmentVariable("QS_SEED", QStringLiteral("1")).toUInt();
        const QString example = QStringLiteral(QS_SOURCE_DIR "/resources/examples/digits_");
        QStringList models = qEnvironmentVariable("QS_MODELS").split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        if (models.isEmpty())
            for (const char* quantized : { "qdq.onnx", "" })
                models << example + QStringLiteral("float.onnx;")
                        + (*quantized ? example + QLatin1String(quantized) : QString()) + QLatin1Char(';') + example
                        + QStringLiteral("samples.npz");
        for (qsizetype i = 0; i < models.size(); ++i)
            QTest::addRow("models %d, seed %u", int(i), first + unsigned(i))
                << models[i].split(QLatin1Char(';')) << first + unsigned(i);
    }

    void nothingBreaks()
    {
        QFETCH(QStringList, files);
        QFETCH(unsigned, seed);
        const int events = qEnvironmentVariable("QS_EVENTS", QString::number(kEvents)).toInt();
        const bool told = qEnvironmentVariableIsSet("QS_TELL");
        QTemporaryDir work, kept;
        QDir::setCurrent(work.path());
        Used used(kept.path());
        used.session.openInputs(copied(files, work.path()));
        QVERIFY(used.idle());
        QVERIFY2(used.session.snapshot()->floatModel, "the models cannot be opened");
        RandomUser user(used.window, seed);
        QTimer escape; // from menus and questions that wait in a loop of their own
        connect(&escape, &QTimer::timeout, &used.window, [&] { user.leaveDialogs(true); });
        escape.setInterval(300);
        m_application.begin();
        for (int event = 1; event <= events; ++event) {
            m_application.beginAction();
            escape.start();
            m_application.call([&] { user.act(); });
            escape.stop();
            if (told) {
                std::fprintf(stderr, "%d %s\n", event, qPrintable(user.last()));
                std::fflush(stderr);
            }
            QTest::qWait(event % 50 == 0 ? 100 : 1);
            if (!used.window.isVisible())
                used.window.show(); // it was closed, which is well where all is saved
            noteTime(user.last());
            if (event % kBetweenChecks == 0) {
                user.leaveDialogs();
                compareKept(used, work.path());
                if (QTest::currentTestFailed())
                    QFAIL(qPrintable(QStringLiteral("after event %1: %2").arg(event).arg(user.last())));
            }
        }
        user.leaveDialogs();
        used.session.cancel();
        QVERIFY(used.idle());
    }

    void cleanupTestCase()
    {
        std::ranges::sort(m_longest, std::greater<>(), [](const auto& entry) { return entry.first; });
        for (size_t i = 0; i < std::min<size_t>(m_longest.size(), 10); ++i)
            std::printf("  %7.1f ms of processor time  %s\n", m_longest[i].first, qPrintable(m_longest[i].second));
    }

private:
    void noteTime(const QString& what)
    {
        m_longest.emplace_back(m_application.action().cpuMs,
            what + QStringLiteral(": ") + QString::fromStdString(m_application.longestOfAction()));
    }

    TimedApplication& m_application;
    QTemporaryDir m_settings;
    NoBrowser m_browser;
    std::vector<std::pair<double, QString>> m_longest;
};

int main(int argc, char** argv)
{
    TimedApplication application(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
    QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
    TestRandomUse test(application);
    return QTest::qExec(&test, argc, argv);
}

#include "test_random_use.moc"
