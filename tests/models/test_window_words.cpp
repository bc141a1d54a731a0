// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/models/suites.h"
#include "widgets/models/words/error_text.h"
#include "widgets/models/words/window_words.h"

#include <QtTest>

using namespace qs;

class TestWindowWords : public QObject {
    Q_OBJECT
private slots:
    void optionsBecomeFieldsAndMenus_data()
    {
        QTest::addColumn<QString>("core");
        QTest::addColumn<QString>("window");
        const auto row = [](const char* core, const char* window) {
            QTest::newRow(core) << QString::fromUtf8(core) << QString::fromUtf8(window);
        };
        row("nothing to say -- of options", "nothing to say -- of options");
        row("give --data", "open data");
        row("give --data, or --ranges with ranges found before", "open data");
        row("use --limit 24 or add samples", "open 24 samples or add samples");
        row("use --limit or a larger --memory-limit", "open fewer samples, or close programs that need memory");
        row("give its sizes with --shape ids=1x128", "give its sizes in File ▸ Random data");
        row("--fix-input 'sr=a' does not fit", "a fixed input 'sr=a' does not fit");
        row("taken; --fix-input sr=16000 --fix-shape x=1x576 puts its nodes",
            "taken; Recipe ▸ Fix inputs (sr=16000, x=1x576) puts its nodes");
        row("(--arithmetic integer-avx2), and", "(Recipe ▸ Arithmetic ▸ integer-avx2), and");
        row("float8 has no reduced range; leave --reduce-range out",
            "float8 has no reduced range; leave “Weights reduce range” out");
        row("'random:a' is not understood; write random:N or random:N:SEED with whole numbers",
            "'random:a' is not understood; open them with File ▸ Random data");
        row("use the dynamic format, or fold an If whose condition is fixed (--fix-input), or leave EnableSubgraph "
            "(--enable-subgraph, subgraphs in the recipe) out",
            "choose the dynamic format, or fold an If whose condition is fixed (Recipe ▸ Fix inputs), or leave the "
            "bodies "
            "of If, Loop and Scan out");
        row("in float16; use --ort-version 1.32 (ort_version in the recipe), or 8 bits",
            "in float16; choose 1.32 for “As ONNX Runtime” in What-if, or 8 bits");
        row("--no-such-option has no effect", "such option off has no effect");
    }

    void optionsBecomeFieldsAndMenus()
    {
        QFETCH(QString, core);
        QFETCH(QString, window);
        QCOMPARE(inWindowWords(core), window);
    }

    void issuesAreSaidInTheWindowsWords()
    {
        const Issue issue = badUse("there are no data", "give --data with a .npz or .npy file, a folder, or random:N");
        QCOMPARE(issueRemedy(issue), QStringLiteral("Open a .npz or .npy file, a folder, or random data."));
        QVERIFY(!issueDetails(issue).contains(QStringLiteral("--")));
    }
};

int runWindowWords(int argc, char** argv)
{
    TestWindowWords test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_window_words.moc"
