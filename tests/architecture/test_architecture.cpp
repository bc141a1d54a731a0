// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/architecture/circles.h"
#include "tests/architecture/code_shape.h"
#include "tests/architecture/dependency_table.h"
#include "tests/architecture/source_files.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTest>

using namespace qs;

namespace {

const QStringList kCode { "*.h", "*.cpp" };
const QStringList kFolders { "core", "widgets", "app", "tests" };

/// All complaints of a test function at once: one run shows everything that is to be mended.
void expectNone(const QStringList& complaints)
{
    for (const QString& complaint : complaints)
        qWarning("%s", qPrintable(complaint));
    QVERIFY2(complaints.isEmpty(), qPrintable(QString("%1 complaints, see above").arg(complaints.size())));
}

QString place(const QString& file, const Include& include)
{
    return QString("%1:%2: includes %3").arg(file).arg(include.line).arg(include.target);
}

/// Who may include a third party's headers.
struct Wall {
    const char* name;
    QRegularExpression headers;
    QStringList folders; ///< beginnings of paths that may
};

const std::vector<Wall>& walls()
{
    static const std::vector<Wall> all {
        { "Qt", QRegularExpression("^(Q[A-Z]\\w*/)?(Q[A-Z]\\w*|q[a-z0-9]+\\.h)$"),
            { "widgets/", "app/gui/", "tests/" } },
        { "protobuf and ONNX", QRegularExpression("^(google/protobuf/|onnx/|onnx.*\\.pb\\.h)"),
            { "core/onnx/", "tests/onnx/", "tests/fuzz/" } },
        { "oneDNN", QRegularExpression("^(dnnl|oneapi/)"), { "core/kernels/" } },
        { "Highway", QRegularExpression("^hwy/"), { "core/kernels/" } },
        { "Eigen", QRegularExpression("^Eigen/"), { "core/tensor/eigen_map.h", "core/kernels/", "core/quant/" } },
        { "toml++", QRegularExpression("^toml\\+\\+/"), { "core/gate/" } },
        { "RE2", QRegularExpression("^re2/"), { "core/base/text/" } },
        { "utf8proc", QRegularExpression("^utf8proc"), { "core/base/text/" } },
        { "QCustomPlot", QRegularExpression("^qcustomplot"), { "widgets/plots/" } },
        { "Graphviz", QRegularExpression("^graphviz/|^(gvc|cgraph)\\.h"), { "core/layout/" } },
    };
    return all;
}

QString clangFormat14()
{
    for (const char* name : { "clang-format-14", "clang-format" }) {
        const QString program = QStandardPaths::findExecutable(name);
        QProcess process;
        process.start(program, { "--version" });
        if (!program.isEmpty() && process.waitForFinished() && process.readAll().contains("version 14."))
            return program;
    }
    return {};
}

} // namespace

class TestArchitecture : public QObject {
    Q_OBJECT
private slots:
    void includesFollowTheTable();
    void testsIncludeOnlyWhatTheyTest();
    void librariesFollowTheTable();
    void tableNamesEveryPart();
    void includesGoOneWay_data();
    void includesGoOneWay();
    void thirdPartiesStayBehindTheirWalls();
    void viewsDoNotKnowTheEngine();
    void everyFileNamesItsLicence();
    void filesKeepTheirSize();
    void typesHaveANameOfTheirOwn();
    void foldersHoldFewFiles();
    void roomsAreOnTheMap();
    void roomsStandBehindWhatTheyKnow();
    void functionsAndClassesKeepTheirSize();
    void blocksAreFound();
    void circlesAreFound();
    void codeIsFormatted();
};

void TestArchitecture::includesFollowTheTable()
{
    QStringList complaints;
    for (const QString& file : filesBelow({ "core", "widgets", "app" }, kCode)) {
        const QSet<QString> allowed = allowedParts(partOf(file));
        if (allowed.isEmpty())
            complaints << file + ": its folder is not in the table of parts";
        for (const Include& include : includesOf(file)) {
            const QString part = partOf(include.target);
            if (include.target.startsWith(".."))
                complaints << place(file, include) + ": write the path from the top folder";
            else if (include.target.startsWith("tests/") || (!part.isEmpty() && !allowed.contains(part)))
                complaints << place(file, include) + ", which its part may not know";
        }
    }
    expectNone(complaints);
}

void TestArchitecture::testsIncludeOnlyWhatTheyTest()
{
    QStringList complaints;
    for (const QString& file : filesBelow({ "tests" }, kCode)) {
        const QString tested = testedPart(file.section('/', 1, 1));
        if (tested.isEmpty())
            continue;
        const QSet<QString> allowed = allowedParts(tested);
        for (const Include& include : includesOf(file)) {
            const QString part = partOf(include.target);
            if (!part.isEmpty() && !allowed.contains(part))
                complaints << place(file, include) + ", which " + tested + " does not build on";
        }
    }
    expectNone(complaints);
}

void TestArchitecture::librariesFollowTheTable()
{
    static const QRegularExpression target("\\bqs_([a-z]+)\\b");
    QStringList complaints;
    for (const QString& file : filesBelow({ "core", "widgets", "app" }, { "CMakeLists.txt" })) {
        const QSet<QString> allowed = allowedParts(partOf(file));
        auto match = target.globalMatch(readText(file));
        while (!allowed.isEmpty() && match.hasNext()) {
            const QString name = match.next().captured(1);
            const QString part = testedPart(name);
            if (!part.isEmpty() && !allowed.contains(part))
                complaints << QString("%1: links qs_%2, which its part may not know").arg(file, name);
        }
    }
    expectNone(complaints);
}

/// ARCHITECTURE.md is the list: what it names exists, and what exists it names.
void TestArchitecture::tableNamesEveryPart()
{
    QStringList complaints;
    QStringList parts = allParts();
    for (const QString& part : parts)
        if (!QFileInfo::exists(QDir(QS_SOURCE_DIR).filePath(part + "/CMakeLists.txt")))
            complaints << part + ": stands in the table of ARCHITECTURE.md, and there is no such part";
    for (const QString& file : filesBelow({ "core", "widgets", "app" }, { "CMakeLists.txt" }))
        if (const QString part = partOf(file); !part.isEmpty() && !parts.contains(part))
            complaints << part + ": is not in the table of ARCHITECTURE.md";
    expectNone(complaints);
}

void TestArchitecture::includesGoOneWay_data()
{
    QTest::addColumn<bool>("folders");
    QTest::newRow("a header and its source") << false;
    QTest::newRow("folders") << true;
}

void TestArchitecture::includesGoOneWay()
{
    QFETCH(bool, folders);
    const auto place = [&](const QString& file) {
        const QFileInfo info(file);
        return folders ? info.path() : info.path() + '/' + info.completeBaseName();
    };
    Knowledge knowledge;
    for (const QString& file : filesBelow({ "core", "widgets", "app" }, kCode)) {
        for (const Include& include : includesOf(file)) {
            if (!partOf(include.target).isEmpty() && place(include.target) != place(file))
                knowledge[place(file)].insert(place(include.target));
        }
    }
    QStringList complaints;
    for (const QStringList& circle : circles(knowledge))
        complaints << "these include each other: " + circle.join(", ");
    expectNone(complaints);
}

void TestArchitecture::thirdPartiesStayBehindTheirWalls()
{
    QStringList complaints;
    for (const QString& file : filesBelow(kFolders, kCode)) {
        for (const Include& include : includesOf(file)) {
            for (const Wall& wall : walls()) {
                const bool inside = std::any_of(wall.folders.begin(), wall.folders.end(),
                    [&](const QString& folder) { return file.startsWith(folder); });
                if (!inside && wall.headers.match(include.target).hasMatch())
                    complaints
                        << QString("%1: %2 belongs to %3").arg(place(file, include), wall.name, wall.folders.join(' '));
            }
        }
    }
    expectNone(complaints);
}

void TestArchitecture::viewsDoNotKnowTheEngine()
{
    const QStringList hidden { "core/engine/", "core/kernels/", "core/onnx/", "core/prepare/" };
    QStringList complaints;
    for (const QString& file : filesBelow({ "widgets/views", "widgets/plots" }, kCode)) {
        for (const Include& include : includesOf(file)) {
            const bool engine = std::any_of(
                hidden.begin(), hidden.end(), [&](const QString& folder) { return include.target.startsWith(folder); });
            if (engine)
                complaints << place(file, include) + ": views show snapshots, they compute nothing";
        }
    }
    expectNone(complaints);
}

void TestArchitecture::everyFileNamesItsLicence()
{
    QStringList folders = kFolders;
    folders << "cmake"
            << "scripts"
            << "packaging"
            << "resources/examples"
            << "resources/lessons"
            << ".ci";
    QStringList files = filesBelow(folders, { "*.h", "*.cpp", "*.cmake", "CMakeLists.txt", "*.py", "*.sh", "run" });
    files << "CMakeLists.txt"
          << "run"
          << "check";
    QStringList complaints;
    for (const QString& file : files) {
        const QStringList lines = readText(file).split('\n').mid(0, 2);
        if (!lines.join('\n').contains("SPDX-License-Identifier: GPL-3.0-or-later"))
            complaints << file + ": no SPDX line at its beginning";
    }
    expectNone(complaints);
}

void TestArchitecture::filesKeepTheirSize()
{
    QStringList complaints;
    for (const QString& file : filesBelow(kFolders, kCode)) {
        const qsizetype limit = file.endsWith("/main_window.cpp") ? 400 : file.endsWith(".h") ? 300 : 600;
        const qsizetype lines = readText(file).count('\n');
        if (lines > limit)
            complaints << QString("%1: %2 lines, more than %3").arg(file).arg(lines).arg(limit);
    }
    expectNone(complaints);
}

/// Two types of one name in one program are one to the linker, which keeps the destructor of either.
void TestArchitecture::typesHaveANameOfTheirOwn()
{
    static const QRegularExpression kSpace("^namespace ([\\w:]+)"),
        kType("^(?:struct|class|enum class) (\\w+)(?: final)?(?: :.*| \\{.*)?$");
    QMap<QString, QString> known;
    QStringList complaints;
    for (const QString& file : filesBelow({ "core", "widgets", "app" }, { "*.h" })) {
        QString space;
        for (const QString& line : readText(file).split('\n')) {
            if (const auto match = kSpace.match(line); match.hasMatch())
                space = match.captured(1);
            const auto match = kType.match(line);
            if (!match.hasMatch())
                continue;
            const QString name = space + "::" + match.captured(1);
            if (const QString other = known.value(name); !other.isEmpty())
                complaints << QString("%1 and %2 both have a type %3").arg(other, file, name);
            known[name] = file;
        }
    }
    QVERIFY(known.size() > 500);
    expectNone(complaints);
}

void TestArchitecture::foldersHoldFewFiles()
{
    QMap<QString, int> files;
    for (const QString& file : filesBelow(kFolders, kCode))
        ++files[QFileInfo(file).path()];
    QStringList complaints;
    for (auto it = files.begin(); it != files.end(); ++it)
        if (*it > 25)
            complaints << QString("%1: %2 sources, more than 25: divide it by meaning").arg(it.key()).arg(*it);
    expectNone(complaints);
}

/// ARCHITECTURE.md says of each folder of sources what is in it, and names none that is not there.
void TestArchitecture::roomsAreOnTheMap()
{
    static const QRegularExpression name("`((?:core|widgets|app)(?:/[a-z_]+)+)`");
    QSet<QString> named, there;
    for (auto it = name.globalMatch(readText("ARCHITECTURE.md")); it.hasNext();)
        named.insert(it.next().captured(1));
    for (const QString& file : filesBelow({ "core", "widgets", "app" }, kCode))
        there.insert(QFileInfo(file).path());
    QStringList complaints;
    for (const QString& folder : there - named)
        complaints << folder + ": is not in ARCHITECTURE.md";
    for (const QString& path : named)
        if (!QFileInfo::exists(QDir(QS_SOURCE_DIR).filePath(path))
            && !QFileInfo::exists(QDir(QS_SOURCE_DIR).filePath(path + ".h")))
            complaints << path + ": stands in ARCHITECTURE.md, and is not there";
    expectNone(complaints);
}

/// The map names the rooms of a part in an order in which each includes only those before it.
void TestArchitecture::roomsStandBehindWhatTheyKnow()
{
    static const QRegularExpression room("`((?:core|widgets)/[a-z_/]+)`");
    QHash<QString, int> places;
    for (const QString& line : readText("ARCHITECTURE.md").split('\n')) {
        const QStringList cells = line.split('|');
        if (cells.size() != 4)
            continue;
        for (auto it = room.globalMatch(cells[2]); it.hasNext();)
            places.insert(it.next().captured(1), int(places.size()));
    }
    QVERIFY(places.size() > 50);
    QStringList complaints;
    for (const QString& file : filesBelow({ "core", "widgets" }, kCode)) {
        const QString here = QFileInfo(file).path();
        for (const Include& include : includesOf(file)) {
            const QString there = QFileInfo(include.target).path();
            if (partOf(file) == partOf(include.target) && places.value(there, -1) > places.value(here, INT_MAX))
                complaints << place(file, include) + ", which stands behind it in ARCHITECTURE.md";
        }
    }
    expectNone(complaints);
}

void TestArchitecture::functionsAndClassesKeepTheirSize()
{
    QStringList complaints;
    for (const QString& file : filesBelow({ "core", "widgets", "app" }, kCode)) {
        for (const CodeBlock& block : codeBlocks(readText(file))) {
            const int limit = block.kind == CodeBlock::Kind::Class ? 250 : 60;
            if (block.lines > limit)
                complaints << QString("%1:%2: %3 has %4 lines, more than %5")
                                  .arg(file)
                                  .arg(block.line)
                                  .arg(block.name)
                                  .arg(block.lines)
                                  .arg(limit);
        }
    }
    expectNone(complaints);
}

void TestArchitecture::blocksAreFound()
{
    const QVector<CodeBlock> blocks = codeBlocks(R"(
namespace a {
constexpr int kTable[] { 1, 2 }; // {
struct S : public B<int> {
    S(int x = {})
        : m_x(x)
    {
    }
    bool operator==(const S&) const
    {
        return "}";
    }
};
enum class E { One };
template <class T = int> void f(T t)
{
    call([&] {
        t();
    });
}
const auto g = [](int) { return 1; };
}
)");
    QStringList found;
    for (const CodeBlock& block : blocks)
        found << QString("%1 %2").arg(block.line).arg(block.lines);
    QCOMPARE(found, (QStringList { "4 10", "7 2", "10 3", "16 5" }));
}

void TestArchitecture::circlesAreFound()
{
    const Knowledge knowledge { { "a", { "b", "d" } }, { "b", { "c" } }, { "c", { "a" } }, { "d", { "e" } },
        { "f", { "g" } }, { "g", { "f" } } };
    QCOMPARE(circles(knowledge), (QVector<QStringList> { { "a", "b", "c" }, { "f", "g" } }));
}

void TestArchitecture::codeIsFormatted()
{
    const QString program = clangFormat14();
    if (program.isEmpty())
        QSKIP("clang-format 14 is not installed");
    QProcess process;
    process.setWorkingDirectory(QS_SOURCE_DIR);
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(program, QStringList { "--dry-run", "-Werror" } + filesBelow(kFolders, kCode));
    QVERIFY(process.waitForFinished(110000));
    static const QRegularExpression line("^(\\S+):\\d+:\\d+: error");
    QStringList complaints;
    for (const QString& text : QString::fromUtf8(process.readAll()).split('\n')) {
        const QRegularExpressionMatch match = line.match(text);
        const QString complaint = match.captured(1) + ": run clang-format -i on it";
        if (match.hasMatch() && !complaints.contains(complaint))
            complaints << complaint;
    }
    expectNone(complaints);
    QCOMPARE(process.exitCode(), 0);
}

QTEST_GUILESS_MAIN(TestArchitecture)
#include "test_architecture.moc"
