// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/warnings.h"

#include <QTest>

using namespace qs;

/// What is said of values that are no finite numbers.
class NotFiniteTests : public QObject {
    Q_OBJECT

private slots:
    void warning_data()
    {
        QTest::addColumn<bool>("input");
        QTest::addColumn<bool>("inside");
        QTest::addColumn<bool>("output");
        QTest::addColumn<std::string>("told"); // the end; "": nothing is
        QTest::newRow("none") << false << false << false << std::string();
        QTest::newRow("inside alone") << false << true << false << std::string("(a logarithm of zero, a mask)");
        QTest::newRow("up to the output") << false << true << true << std::string("; check the data");
        QTest::newRow("in the data") << true << true << false << std::string("; check the data");
    }
    void warning()
    {
        QFETCH(bool, input);
        QFETCH(bool, inside);
        QFETCH(bool, output);
        QFETCH(std::string, told);
        Comparison c;
        c.activations.resize(3);
        const bool spoiled[] { input, inside, output };
        for (size_t i = 0; i < 3; ++i) {
            c.activations[i].name = "t" + std::to_string(i);
            c.activations[i].floatNode = i > 0 ? NodeId(i - 1) : NodeId(); // the first one is an input
            c.activations[i].accumulated.nonFinite = spoiled[i] ? 7 : 0;
        }
        c.outputs.resize(1);
        c.outputs[0].similarity.nonFinite = c.activations[2].accumulated.nonFinite;
        const auto warning = nonFiniteWarning(c);
        QCOMPARE(warning.has_value(), !told.empty());
        if (warning)
            QVERIFY2(warning->ends_with(told), warning->c_str());
    }
};

QTEST_GUILESS_MAIN(NotFiniteTests)
#include "not_finite_test.moc"
