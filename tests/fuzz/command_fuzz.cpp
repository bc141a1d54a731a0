// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged float models and quantized files of them go through the program's commands as a person would give them. Each
// command gives a result or an issue that is not the program's own fault, within a time and a memory that grow with the
// file. All in one process: starts would cost more than the work.
#include "app/cli/cli.h"
#include "core/base/issue_text.h"
#include "core/engine/registry/registry.h"
#include "tests/fuzz/fuzz_rounds.h"
#include "tests/fuzz/model_mutator.h"

#include <QDirIterator>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <array>
#include <iostream>
#include <sstream>

using namespace qs;
using namespace qs::test;

namespace {

/// A float model and, where there is one, a quantized file of it.
struct Subject {
    QString name;
    QStringList data; ///< options
    std::string floats, quantized; ///< bytes
};

std::string bytesOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

bool write(const QString& path, const std::string& bytes)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(bytes.data(), qint64(bytes.size())) == qint64(bytes.size());
}

/// Random samples, with a size for each that the file leaves open.
QStringList samplesFor(const std::string& bytes)
{
    QStringList options { QStringLiteral("--data"), QStringLiteral("random:2") };
    onnx::ModelProto proto;
    proto.ParseFromString(bytes);
    for (const auto& input : proto.graph().input()) {
        QStringList sizes;
        bool open = false;
        for (const auto& dim : input.type().tensor_type().shape().dim()) {
            sizes << QString::number(dim.has_dim_value() ? dim.dim_value() : 2);
            open = open || !dim.has_dim_value();
        }
        if (open)
            options << QStringLiteral("--shape") << QString::fromStdString(input.name()) + u'=' + sizes.join(u'x');
    }
    return options;
}

/// An element of some value of the model: its first one, by as many axes as a value may have.
QStringList someElement(const std::string& bytes, ModelMutator& random)
{
    onnx::ModelProto proto;
    proto.ParseFromString(bytes);
    const auto& nodes = proto.graph().node();
    std::string name = "y";
    if (!nodes.empty())
        if (const auto& node = nodes[static_cast<int>(random.below(size_t(nodes.size())))]; node.output_size() > 0)
            name = node.output(0);
    QStringList at;
    for (size_t axes = 1 + random.below(4); axes > 0; --axes)
        at << QString::number(random.below(3) == 0 ? 1 : 0);
    return { QStringLiteral("--tensor"), QString::fromStdString(name), QStringLiteral("--at"), at.join(u',') };
}

/// Whatever is printed goes nowhere.
class Silence {
public:
    Silence()
        : m_out(std::cout.rdbuf(m_taken.rdbuf()))
        , m_err(std::cerr.rdbuf(m_taken.rdbuf()))
    {
    }
    ~Silence()
    {
        std::cout.rdbuf(m_out);
        std::cerr.rdbuf(m_err);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    std::ostringstream m_taken;
    std::streambuf *m_out, *m_err;
};

/// As the program does it, but for signals.
Result<int> carriedOut(const QStringList& arguments, const CancelToken& cancel)
{
    const Silence silence;
    CLI::App app;
    cli::Context context;
    context.cancel = cancel;
    const auto commands = cli::addCommands(app, context);
    std::vector<std::string> reversed;
    for (const QString& argument : arguments)
        reversed.insert(reversed.begin(), argument.toStdString());
    try {
        app.parse(reversed);
    } catch (const CLI::ParseError& e) {
        return badUse(e.what());
    }
    try {
        for (const auto& [command, execute] : commands)
            if (command->parsed())
                return execute(context);
    } catch (const std::bad_alloc&) {
        return badInput("there is not enough memory");
    } catch (const std::exception& e) {
        return internalError(e.what());
    }
    return internalError("no command");
}

/// Largest memory since the last call, in bytes; 0 where the system does not tell.
uint64_t peakMemory()
{
    QFile status(QStringLiteral("/proc/self/status"));
    uint64_t peak = 0;
    if (status.open(QIODevice::ReadOnly))
        for (const QByteArray& line : status.readAll().split('\n'))
            if (line.startsWith("VmHWM:"))
                peak = line.mid(6).trimmed().split(' ').front().toULongLong() << 10;
    write(QStringLiteral("/proc/self/clear_refs"), "5");
    return peak;
}

struct Worst {
    double value = 0;
    QString command;
    void take(double next, const QString& of)
    {
        if (next > value)
            *this = { next, of };
    }
};

} // namespace

class CommandFuzz : public QObject {
    Q_OBJECT

    const unsigned m_seed = setting("QS_FUZZ_SEED", 1);
    const unsigned m_rounds = setting("QS_FUZZ_ROUNDS", 60);
    const unsigned m_first = setting("QS_FUZZ_FIRST", 0); ///< to go on behind a crash
    QTemporaryDir m_folder;
    std::vector<Subject> m_subjects;
    std::vector<std::string> m_types;
    Watchdog m_watchdog { std::chrono::seconds(10), std::chrono::seconds(60) };
    std::map<int, size_t> m_codes;
    QStringList m_faults;
    Worst m_slowest, m_largest;

    QString path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }

    void addQuantized(const QString& floats, const QStringList& options, const QStringList& data)
    {
        const QString made = path("made.onnx");
        const QStringList given { QStringLiteral("quantize"), floats, QStringLiteral("-o"), made };
        const auto result = carriedOut(given + options + data, {});
        QVERIFY2(result.ok(), result.ok() ? "" : issueText(result.issue()).c_str());
        m_subjects.push_back({ floats + u' ' + options.join(u' '), data, bytesOf(floats), bytesOf(made) });
    }

    void tell(const QString& round, const QStringList& arguments)
    {
        const QString name = round + QStringLiteral(": ") + arguments.join(u' ');
        const CancelToken cancel = m_watchdog.begin(name.toStdString());
        if (qEnvironmentVariableIsSet("QS_FUZZ_VERBOSE"))
            std::fprintf(stderr, "%s\n", qPrintable(name));
        const uint64_t before = peakMemory();
        QElapsedTimer timer;
        timer.start();
        const auto result = carriedOut(arguments, cancel);
        m_slowest.take(double(timer.elapsed()) / 1000, name);
        const uint64_t after = peakMemory();
        m_largest.take(after > before ? double(after - before) : 0, name);
        ++m_codes[result ? *result : -1 - int(result.issue().kind)];
        if (!result && (result.issue().kind == IssueKind::Internal || cancel.cancelled()))
            m_faults << name + QStringLiteral(": ") + QString::fromStdString(issueText(result.issue()));
    }

    QString arithmetic(ModelMutator& random) const
    {
        static constexpr std::array kProfiles { "simulated", "integer", "integer-avx2" };
        return QString::fromLatin1(kProfiles[random.below(kProfiles.size())]);
    }

    QStringList recipe(ModelMutator& random) const
    {
        static constexpr std::array kFormats { "qdq", "qoperator", "dynamic", "weight-only" };
        static constexpr std::array kMethods { "minmax", "percentile", "entropy", "mse", "moving-average" };
        static constexpr std::array kFlags { "--per-channel", "--reduce-range", "--symmetric-activations",
            "--preprocess-graph", "--equalize", "--bias-correction", "--adaround", "--smooth-quant", "--ort-defaults" };
        QStringList options { QStringLiteral("--format"),
            QString::fromLatin1(kFormats[random.below(kFormats.size())]) };
        if (random.below(2) == 0)
            options << QStringLiteral("--method") << QString::fromLatin1(kMethods[random.below(kMethods.size())]);
        for (const char* flag : kFlags)
            if (random.below(5) == 0)
                options << QString::fromLatin1(flag);
        return options;
    }

    std::string damaged(const std::string& bytes, ModelMutator& mutator) const
    {
        onnx::ModelProto proto;
        if (!proto.ParseFromString(bytes))
            return bytes;
        const size_t kind = mutator.below(3);
        if (kind != 0)
            mutator.rewire(proto);
        if (kind != 1)
            mutator.mutate(proto);
        return proto.SerializeAsString();
    }

    void round(unsigned number)
    {
        ModelMutator random(uint64_t(m_seed) << 32 | number, m_types);
        const Subject& subject = m_subjects[random.below(m_subjects.size())];
        const bool pair = !subject.quantized.empty(), second = pair && random.below(4) != 0;
        const QString f = path("float.onnx"), q = path("quantized.onnx");
        QVERIFY(write(f, second ? subject.floats : damaged(subject.floats, random)));
        if (pair)
            QVERIFY(write(q, second ? damaged(subject.quantized, random) : subject.quantized));
        const QString name = QStringLiteral("seed %1 round %2, %3")
                                 .arg(QString::number(m_seed), QString::number(number), subject.name);
        const QStringList data = subject.data
            + QStringList { QStringLiteral("--threads"), QString::number(1 + random.below(2)),
                  QStringLiteral("--memory-limit"), QStringLiteral("268435456") };
        const QString& changed = second ? q : f;
        tell(name, { QStringLiteral("info"), changed, QStringLiteral("--json"), path("info.json") });
        tell(name,
            QStringList { QStringLiteral("run"), changed, QStringLiteral("--all-tensors"), QStringLiteral("--out"),
                path("all.npz"), QStringLiteral("--arithmetic"), arithmetic(random) }
                + data);
        tell(name,
            QStringList { QStringLiteral("quantize"), f, QStringLiteral("-o"), path("out.onnx") }
                + (pair ? QStringList { QStringLiteral("--like"), q } : recipe(random) + data));
        const QStringList reports { QStringLiteral("--json"), path("c.json"), QStringLiteral("--html"), path("c.html"),
            QStringLiteral("--csv"), path("c.csv"), QStringLiteral("--arithmetic"), arithmetic(random) };
        tell(name,
            QStringList { QStringLiteral("compare"), f } + (pair ? QStringList { q } : recipe(random)) + data
                + reports);
        tell(name,
            QStringList { QStringLiteral("explain"), changed, QStringLiteral("--arithmetic"), arithmetic(random),
                QStringLiteral("--json"), path("e.json") }
                + someElement(bytesOf(changed), random) + data
                + (second ? QStringList { QStringLiteral("--float"), f } : QStringList {}));
        tell(name,
            QStringList { QStringLiteral("sensitivity"), f, QStringLiteral("--json"), path("s.json") } + recipe(random)
                + data);
    }

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        for (const auto& [key, lower] : loweringRegistry().all())
            m_types.push_back(key.second);
        const QString example = QStringLiteral(QS_SOURCE_DIR "/resources/examples/digits_float.onnx");
        const QStringList data { QStringLiteral("--data"),
            QStringLiteral(QS_SOURCE_DIR "/resources/examples/digits_samples.npz"), QStringLiteral("--limit"),
            QStringLiteral("2") };
        for (const char* options : { "--format qdq", "--format qdq --per-channel --activation-type uint8",
                 "--format qdq --activation-type int16 --weight-type int4", "--format qoperator --reduce-range",
                 "--format qoperator --per-channel --activation-type uint8", "--format dynamic",
                 "--format weight-only --block-size 32" })
            addQuantized(example, QString::fromLatin1(options).split(u' '), data);
        QVERIFY(!m_subjects.empty());
        const QString folder = qEnvironmentVariable("QS_FUZZ_MODELS", QS_ONNX_TESTDATA);
        QStringList found;
        for (QDirIterator it(folder, { QStringLiteral("*.onnx") }, QDir::Files, QDirIterator::Subdirectories);
             it.hasNext();)
            found << it.next();
        found.sort();
        const QStringList own { QStringLiteral(QS_SOURCE_DIR "/tests/data/microsoft"),
            QStringLiteral(QS_SOURCE_DIR "/tests/data/origin") };
        for (const QString& from : own)
            for (QDirIterator it(from, { QStringLiteral("*.onnx") }, QDir::Files); it.hasNext();)
                found << it.next();
        std::vector<Subject> singles;
        for (const QString& file : found)
            if (QFile(file).size() < 200'000)
                singles.push_back({ file, samplesFor(bytesOf(file)), bytesOf(file), {} });
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
        qInfo("%s; the slowest took %.2f s (%s); the largest %.0f MB (%s)", qPrintable(codes), m_slowest.value,
            qPrintable(m_slowest.command), m_largest.value / 1e6, qPrintable(m_largest.command));
        QVERIFY2(m_faults.empty(), qPrintable(m_faults.join(u'\n')));
#ifndef __SANITIZE_ADDRESS__ // which keeps what was given back
        QVERIFY2(m_largest.value < double(1 << 30), qPrintable(m_largest.command));
#endif
    }
};

QTEST_APPLESS_MAIN(CommandFuzz)

#include "command_fuzz.moc"
