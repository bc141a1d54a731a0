// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/backend_test.h"
#include "tests/conformance/known_failures.h"

#include <QTest>

using namespace qs;

/// ONNX's own backend tests, each with the fast and the reference kernels. QS_CONFORMANCE_DIR in the environment names
/// another folder of such tests.
class TestConformance : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void backend_data();
    void backend();
    void cleanupTestCase();

private:
    std::vector<BackendTest> m_tests;
    std::map<std::string, std::string> m_known;
    int m_passed = 0;
    int m_failed = 0;
    int m_skipped = 0;
};

void TestConformance::initTestCase()
{
    const QString other = qEnvironmentVariable("QS_CONFORMANCE_DIR");
    const QString folder = other.isEmpty() ? QStringLiteral(QS_ONNX_TESTDATA) : other;
    m_tests = findBackendTests(folder.toStdString());
    m_known = knownFailures();
    QVERIFY2(!m_tests.empty(), qPrintable(folder + " holds no tests; install libonnx-testdata"));
}

void TestConformance::backend_data()
{
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < m_tests.size(); ++i)
        QTest::newRow(m_tests[i].name.c_str()) << static_cast<int>(i);
}

void TestConformance::backend()
{
    QFETCH(int, index);
    const BackendTest& test = m_tests[static_cast<size_t>(index)];
    const auto known = m_known.find(test.name);
    BackendOutcome outcome;
    for (const KernelMode mode : { KernelMode::Fast, KernelMode::Reference }) {
        outcome = runBackendTest(test, mode);
        if (outcome.kind == BackendOutcome::Kind::Passed)
            continue;
        outcome.reason = (mode == KernelMode::Fast ? "fast: " : "reference: ") + outcome.reason;
        break;
    }
    if (outcome.late)
        outcome.kind = BackendOutcome::Kind::Failed; // a refusal that only the data can bring about is listed
    if (outcome.kind == BackendOutcome::Kind::Failed && known != m_known.end())
        outcome = { BackendOutcome::Kind::Skipped, "known: " + known->second, false };
    else if (outcome.kind == BackendOutcome::Kind::Passed && known != m_known.end())
        outcome = { BackendOutcome::Kind::Failed, "passes now: take it out of known.txt", false };

    ++(outcome.kind == BackendOutcome::Kind::Passed        ? m_passed
            : outcome.kind == BackendOutcome::Kind::Failed ? m_failed
                                                           : m_skipped);
    if (outcome.kind == BackendOutcome::Kind::Skipped)
        QSKIP(outcome.reason.c_str());
    QVERIFY2(outcome.kind == BackendOutcome::Kind::Passed, outcome.reason.c_str());
}

void TestConformance::cleanupTestCase()
{
    qInfo("%d passed, %d failed, %d skipped", m_passed, m_failed, m_skipped);
    QVERIFY2(m_passed > 0, "nothing could be run");
}

QTEST_GUILESS_MAIN(TestConformance)
#include "test_conformance.moc"
