// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/source_files.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace qs;

/// Files of traces from other machines, and where they lie here.
class TestSourceFiles : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString here(const QString& name) const { return m_folder.filePath(name); }
    void make(const QString& name)
    {
        QVERIFY(QDir().mkpath(QFileInfo(here(name)).path()));
        QFile file(here(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
    }

private slots:
    void initTestCase()
    {
        QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test-sources"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, here(QStringLiteral("settings")));
        for (const char* name : { "net.py", "pkg/layers/conv.py", "pkg/layers/norm.py", "pkg/train.py" })
            make(QString::fromLatin1(name));
    }
    void init() { QSettings().clear(); }

    void filesThatAreHere()
    {
        const SourceFiles files;
        QCOMPARE(files.find(here("net.py")), here("net.py"));
        QCOMPARE(files.find(here("none.py")), QString());
        QCOMPARE(files.find(here("pkg")), QString()); // a folder
        QCOMPARE(files.find(QStringLiteral("net.py")), QString()); // of which folder?
        QCOMPARE(files.find(QString()), QString());
    }

    void namesInTheNetworkAreNotAskedFor_data()
    {
        QTest::addColumn<QString>("path");
        QTest::newRow("slashes") << "//server/share/net.py";
        QTest::newRow("backslashes") << "\\\\server\\share\\net.py";
    }
    void namesInTheNetworkAreNotAskedFor()
    {
        QFETCH(QString, path);
        QCOMPARE(SourceFiles().find(path), QString());
    }

    void locatedFoldersAreRemembered_data()
    {
        QTest::addColumn<QString>("trace");
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("alsoFound");
        QTest::newRow("same folders") << "/build/pkg/layers/conv.py"
                                      << "pkg/layers/conv.py"
                                      << "/build/pkg/train.py";
        QTest::newRow("windows") << "C:\\build\\pkg\\layers\\conv.py"
                                 << "pkg/layers/conv.py"
                                 << "C:\\build\\pkg\\train.py";
        QTest::newRow("another folder") << "/build/old/conv.py"
                                        << "pkg/layers/conv.py"
                                        << "/build/old/norm.py";
        QTest::newRow("another name") << "/build/net_v1.py"
                                      << "net.py"
                                      << "/build/net_v1.py";
        QTest::newRow("no folder in the trace") << "conv.py"
                                                << "pkg/layers/conv.py"
                                                << "norm.py";
    }
    void locatedFoldersAreRemembered()
    {
        QFETCH(QString, trace);
        QFETCH(QString, file);
        QFETCH(QString, alsoFound);
        {
            SourceFiles files;
            QCOMPARE(files.find(trace), QString());
            files.locate(trace, here(file));
        }
        const SourceFiles later; // another window, another day
        QCOMPARE(later.find(trace), here(file));
        QVERIFY2(QFileInfo(later.find(alsoFound)).isFile(), qPrintable(later.find(alsoFound)));
        QCOMPARE(later.find(QStringLiteral("/elsewhere/x.py")), QString());
    }

    void theLastAnswerHolds()
    {
        SourceFiles files;
        files.locate(QStringLiteral("/b/conv.py"), here("pkg/layers/conv.py"));
        make(QStringLiteral("other/conv.py"));
        files.locate(QStringLiteral("/b/conv.py"), here("other/conv.py"));
        QCOMPARE(files.find(QStringLiteral("/b/conv.py")), here("other/conv.py"));
    }

    void onlySourcesAreOpened()
    {
        QVERIFY(SourceFiles::isSource(QStringLiteral("/p/net.py")));
        QVERIFY(SourceFiles::isSource(QStringLiteral("/p/NET.PY")));
        for (const char* name : { "/usr/bin/env", "/p/a.desktop", "/p/a.py.exe", "/p/a.sh", "" })
            QVERIFY2(!SourceFiles::isSource(QString::fromLatin1(name)), name);
    }
};

QTEST_GUILESS_MAIN(TestSourceFiles)

#include "test_source_files.moc"
