// SPDX-License-Identifier: GPL-3.0-or-later
// Every allocation, read and write of a scripted session fails once. Each command then gives the right result, or one
// sentence and no half results; README.md says how to try all places.
#include "tests/faults/fault_verdict.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cerrno>
#include <random>

using namespace qs::test;

namespace {

unsigned setting(const char* name, unsigned fallback)
{
    bool ok = false;
    const unsigned value = qEnvironmentVariable(name).toUInt(&ok);
    return ok ? value : fallback;
}

/// What the system may say then.
const std::vector<int>& errorsOf(Fault kind)
{
    static const std::vector<int> memory { ENOMEM }, open { EIO, EMFILE, EACCES, ENOMEM }, other { EIO },
        write { ENOSPC, EIO, EDQUOT }, look { EIO, ENOMEM }, interrupted { EINTR }, name { EIO, EACCES, ENOSPC };
    switch (kind) {
    case Fault::Memory:
    case Fault::Map:
        return memory;
    case Fault::Open:
        return open;
    case Fault::Write:
        return write;
    case Fault::Look:
        return look;
    case Fault::Interrupted:
        return interrupted;
    case Fault::Name:
        return name;
    default:
        return other;
    }
}

} // namespace

class FaultTests : public QObject {
    Q_OBJECT

    const unsigned m_seed = setting("QS_FAULT_SEED", 1);
    const unsigned m_places = setting("QS_FAULT_PLACES", 1); ///< tried of each step and kind of fault; 0 = all
    const unsigned m_place = setting("QS_FAULT_AT", 0); ///< this one alone
    const bool m_told = setting("QS_FAULT_TELL", 0) != 0;
    QTemporaryDir m_room;
    std::filesystem::path m_inputs, m_folder;
    std::unique_ptr<Disturber> m_disturber;
    std::vector<Step> m_steps;
    size_t m_runs = 0, m_disturbed = 0, m_sentences = 0;

    Ended run(const Step& step, const Disturbance& disturbance)
    {
        ++m_runs;
        Ended ended { m_disturber->run(step.command, step.input, m_folder.string(), disturbance), {} };
        ended.files = filesIn(m_folder);
        return ended;
    }

    void putBack(const Step& step)
    {
        for (const auto& [name, content] : filesIn(m_folder))
            if (!step.before.contains(name))
                std::filesystem::remove(m_folder / name);
        for (const auto& [name, content] : step.before)
            putContent(m_folder / name, content);
    }

    /// "" or what is left behind by both, the disturbed run and the next one.
    std::string left(const Step& step, const Ended& right, const Files& files)
    {
        if (litter(step, right, files).empty())
            return {};
        const Ended next = run(step, {});
        std::string wrong = next.ending.code == right.ending.code ? "" : "the next run fails: " + next.ending.messages;
        for (const std::string& name : litter(step, right, next.files))
            if (files.contains(name))
                wrong += name + " is left by the next run; ";
        return wrong;
    }

    std::string wrongAt(const Step& step, const Ended& right, Fault kind, uint64_t at)
    {
        const auto& errors = errorsOf(kind);
        putBack(step);
        const Ended ended = run(step, { kind, at, errors[at % errors.size()], m_told });
        if (m_told)
            qInfo("%s", ended.ending.messages.c_str());
        m_disturbed += ended.ending.disturbed ? 1 : 0;
        m_sentences += ended.ending.code > 1 ? 1 : 0;
        return fault(step, right, ended, kind) + left(step, right, ended.files);
    }

    std::vector<uint64_t> places(uint64_t count, std::mt19937& random) const
    {
        if (m_place != 0)
            return { m_place };
        const bool all = m_places == 0 || m_places >= count;
        std::vector<uint64_t> chosen;
        const double step = all ? 1 : double(count) / m_places;
        const double first = all ? 0 : std::uniform_real_distribution<double>(0, step)(random);
        for (double at = first; at < double(count); at += step)
            chosen.push_back(1 + uint64_t(at));
        return chosen;
    }

private slots:
    void initTestCase()
    {
        qInfo("QS_FAULT_SEED=%u QS_FAULT_PLACES=%u", m_seed, m_places);
        m_inputs = m_room.filePath("inputs").toStdString();
        m_folder = m_room.filePath("results").toStdString();
        std::filesystem::create_directory(m_inputs);
        std::filesystem::create_directory(m_folder);
        m_disturber = std::make_unique<Disturber>(m_room.path().toStdString());
        m_steps = scriptedSession(m_inputs, m_folder);
    }

    void everyCallFailsOnce_data()
    {
        QTest::addColumn<size_t>("index");
        const QString only = qEnvironmentVariable("QS_FAULT_STEP");
        for (size_t i = 0; i < m_steps.size(); ++i)
            if (only.isEmpty() || only == QString::fromStdString(m_steps[i].name))
                QTest::newRow(m_steps[i].name.c_str()) << i;
    }

    void everyCallFailsOnce()
    {
        QFETCH(size_t, index);
        const Step& step = m_steps[index];
        putBack(step);
        const Ended right = run(step, {});
        QVERIFY2(!right.ending.hung && right.ending.code < 2, right.ending.messages.c_str());
        const std::string only = qgetenv("QS_FAULT_KIND").toStdString();
        std::mt19937 random(m_seed * 1000 + unsigned(index));
        QStringList faults, tried;
        for (size_t kind = 0; kind < kFaultNames.size(); ++kind) {
            if ((!only.empty() && only != kFaultNames[kind]) || (step.inPools && Fault(kind) == Fault::Thread))
                continue;
            const auto chosen = places(right.ending.calls[kind], random);
            tried << QStringLiteral("%1 %2 of %3")
                         .arg(kFaultNames[kind])
                         .arg(chosen.size())
                         .arg(right.ending.calls[kind]);
            for (const uint64_t at : chosen)
                if (const std::string wrong = wrongAt(step, right, Fault(kind), at); !wrong.empty())
                    faults << QStringLiteral("%1 %2: %3")
                                  .arg(kFaultNames[kind])
                                  .arg(at)
                                  .arg(QString::fromStdString(wrong));
        }
        qInfo("%s", qPrintable(tried.join(", ")));
        QVERIFY2(faults.isEmpty(), qPrintable("\n" + faults.join('\n')));
    }

    void cleanupTestCase()
    {
        qInfo("%zu runs, %zu of them disturbed, %zu ended with a sentence", m_runs, m_disturbed, m_sentences);
    }
};

/// Qt ends functions of tests after five minutes.
static const bool kUnhurried
    = qputenv("QTEST_FUNCTION_TIMEOUT", "2000000000") && qputenv("QTEST_DISABLE_STACK_DUMP", "1");

QTEST_APPLESS_MAIN(FaultTests)

#include "faults_test.moc"
