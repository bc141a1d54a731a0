// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/check/check_lesson.h"
#include "core/lesson/file/read_lesson.h"
#include "tests/lesson/written_lesson.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

/// The lessons that come with the program, carried out for twenty seeds.
class LessonBundledTest : public QObject {
    Q_OBJECT
private slots:
    void lesson_data();
    void lesson();
};

void LessonBundledTest::lesson_data()
{
    QTest::addColumn<QString>("folder");
    const auto folders = lessonFolders(QS_SOURCE_DIR "/resources/lessons");
    QVERIFY(folders.ok() && folders->size() >= 4);
    for (const std::string& folder : *folders)
        QTest::newRow(folder.substr(folder.rfind('/') + 1).c_str()) << QString::fromStdString(folder);
}

void LessonBundledTest::lesson()
{
    QFETCH(QString, folder);
    LessonSnapshots snapshots;
    const auto check = checkLesson(folder.toStdString(), kExamples, 20, snapshots);
    QVERIFY(check.ok());
    for (const LessonProblem& problem : check->problems)
        qWarning("%s", problemText(problem).c_str());
    QVERIFY(check->problems.empty());
    QCOMPARE(check->seeds, size_t(20));
    const auto read = readLesson(folder.toStdString(), kExamples, 1);
    QVERIFY(read->steps.size() >= 6 && read->steps.size() <= 12);
    QVERIFY(read->minutes >= 10 && read->minutes <= 20);
    size_t misconceptions = 0, questions = 0;
    for (const LessonStep& step : read->steps) {
        misconceptions += step.misconceptions.size();
        questions += step.question.has_value();
    }
    QVERIFY(misconceptions > 0 && questions >= 6);
}

QTEST_GUILESS_MAIN(LessonBundledTest)
#include "bundled_test.moc"
