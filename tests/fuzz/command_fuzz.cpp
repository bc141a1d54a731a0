// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged float models and quantized files of them go through the program's commands as a person would give them. Each
// command gives a result or an issue that is not the program's own fault, within a time and a memory that grow with the
// file. All in one process: starts would cost more than the work.
#include "tests/fuzz/fuzz_rounds.h"
#include "tests/fuzz/fuzz_subjects.h"
#include "tests/fuzz/targets/input_mutator.h"

#include <QtTest>

#include <map>

using namespace qs;
using namespace qs::test;

class CommandFuzz : public QObject {
    Q_OBJECT

    const unsigned m_seed = setting("QS_FUZZ_SEED", 1);
    const unsigned m_rounds = setting("QS_FUZZ_ROUNDS", 60);
    const unsigned m_first = setting("QS_FUZZ_FIRST", 0); ///< to go on behind a crash
    FuzzFolder m_folder;
    std::vector<FuzzSubject> m_subjects;
    CostWatch m_watch;
    std::map<int, size_t> m_codes;

    void round(unsigned number)
    {
        ModelMutator random(uint64_t(m_seed) << 32 | number, operatorTypes());
        const FuzzSubject& subject = m_subjects[random.below(m_subjects.size())];
        const bool second = subject.pair() && random.below(4) != 0;
        const std::string floats = second ? subject.floats : random.changed(subject.floats);
        const std::string quantized = second ? random.changed(subject.quantized) : subject.quantized;
        const std::string name = "seed " + std::to_string(m_seed) + " round " + std::to_string(number);
        const Arguments options { "--threads", std::to_string(1 + random.below(2)), "--memory-limit", "134217728" };
        for (const int code :
            carryOutRound({ name, subject, floats, quantized, second, options }, m_folder, m_watch, random))
            ++m_codes[code];
    }

private slots:
    void initTestCase()
    {
        m_subjects = subjectPairs(m_folder);
        const std::vector<FuzzSubject> singles = subjectModels();
        // As many rounds with pairs as with single models.
        const size_t pairs = m_subjects.size();
        while (m_subjects.size() < singles.size())
            m_subjects.push_back(m_subjects[m_subjects.size() % pairs]);
        m_subjects.insert(m_subjects.end(), singles.begin(), singles.end());
        qInfo("QS_FUZZ_SEED=%u QS_FUZZ_ROUNDS=%u QS_FUZZ_FIRST=%u, %zu pairs, %zu models", m_seed, m_rounds, m_first,
            pairs, singles.size());
    }

    void damagedModels()
    {
        for (unsigned number = m_first; number < m_first + m_rounds; ++number)
            round(number);
        QString codes;
        for (const auto& [code, count] : m_codes)
            codes += code >= 0 ? QStringLiteral(" exit %1: %2").arg(code).arg(count)
                               : QStringLiteral(" issue %1: %2").arg(-1 - code).arg(count);
        qInfo("%s; %s", qPrintable(codes), m_watch.takenSummary().c_str());
        QVERIFY2(m_watch.faults().empty(), m_watch.takenFaults().c_str());
    }
};

QTEST_APPLESS_MAIN(CommandFuzz)

#include "command_fuzz.moc"
