// SPDX-License-Identifier: GPL-3.0-or-later
// What was a crash once, and right files of every format that are damaged in a fixed way: each gives a result or an
// issue that is not the program's own fault, within the time and the memory that a run may take.
#include "tests/fuzz/fuzz_rounds.h"
#include "tests/fuzz/targets/input_mutator.h"

#include <QDir>
#include <QtTest>

#include <map>

using namespace qs;
using namespace qs::test;

class CorpusTest : public QObject {
    Q_OBJECT

    const unsigned m_seed = setting("QS_FUZZ_SEED", 1);
    const unsigned m_first = setting("QS_FUZZ_FIRST", 0);
    FuzzFolder m_folder;
    CostWatch m_watch;

    void tell(const FuzzTarget& target, const std::string& bytes, const std::string& name)
    {
        const CancelToken cancel = m_watch.begin(name);
        Trial trial(m_folder, &m_watch, bytes.size(), cancel);
        target.run(trial, bytes);
        m_watch.end(bytes.size());
        for (const std::string& fault : trial.faults())
            m_watch.fault(fault);
    }

private slots:
    void pastCrashes_data();
    void pastCrashes();
    void damagedFiles_data();
    void damagedFiles();
};

void CorpusTest::pastCrashes_data()
{
    QTest::addColumn<QString>("target");
    for (const FuzzTarget& target : fuzzTargets())
        QTest::newRow(target.name) << target.name;
}

void CorpusTest::pastCrashes()
{
    QFETCH(QString, target);
    const FuzzTarget& of = *fuzzTarget(target.toStdString());
    const QDir folder(QStringLiteral(QS_SOURCE_DIR "/tests/fuzz/corpus/") + target);
    for (const QString& name : folder.entryList(QDir::Files, QDir::Name))
        tell(of, bytesOf(folder.filePath(name).toStdString()), (target + u'/' + name).toStdString());
    QVERIFY2(m_watch.faults().empty(), m_watch.takenFaults().c_str());
}

void CorpusTest::damagedFiles_data() { pastCrashes_data(); }

void CorpusTest::damagedFiles()
{
    QFETCH(QString, target);
    const FuzzTarget& of = *fuzzTarget(target.toStdString());
    if (const QString only = qEnvironmentVariable("QS_FUZZ_TARGET", target); only != target)
        QSKIP("not asked for");
    const std::vector<std::string> seeds = of.seeds(m_folder);
    for (const std::string& seed : seeds)
        QVERIFY(!seed.empty());
    const unsigned rounds = setting("QS_FUZZ_ROUNDS", of.rounds);
    for (unsigned round = m_first; round < m_first + rounds; ++round) {
        const uint64_t seed = uint64_t(m_seed) << 32 | round;
        const std::string name
            = target.toStdString() + ", seed " + std::to_string(m_seed) + " round " + std::to_string(round);
        if (qEnvironmentVariableIsSet("QS_FUZZ_VERBOSE"))
            std::fprintf(stderr, "%s\n", name.c_str());
        const std::string bytes = changedInput(of, seeds[round % seeds.size()], seed);
        if (const QString kept = qEnvironmentVariable("QS_FUZZ_KEEP"); !kept.isEmpty())
            writeBytes(kept.toStdString(), bytes);
        tell(of, bytes, name);
    }
    qInfo("QS_FUZZ_SEED=%u, %u rounds: %s", m_seed, rounds, m_watch.takenSummary().c_str());
    QVERIFY2(m_watch.faults().empty(), m_watch.takenFaults().c_str());
}

QTEST_APPLESS_MAIN(CorpusTest)

#include "corpus_test.moc"
