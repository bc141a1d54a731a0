// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/command_line.h"

#include "widgets/views/window/main_window.h"

#include <QCommandLineParser>
#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kSmallest = 200, kLargest = 16384;

const QCommandLineOption kData { QStringLiteral("data"), QStringLiteral("data"), QStringLiteral("D") };
const QCommandLineOption kCalibration { QStringLiteral("calibration-data"), QStringLiteral("calibration data"),
    QStringLiteral("D") };
const QCommandLineOption kCalibrationLimit { QStringLiteral("calibration-limit"), QStringLiteral("calibration limit"),
    QStringLiteral("N") };
const QCommandLineOption kReference { QStringLiteral("reference"), QStringLiteral("reference"), QStringLiteral("F") };
const QCommandLineOption kFramework { QStringLiteral("framework"), QStringLiteral("framework"), QStringLiteral("F") };
const QCommandLineOption kDevice { QStringLiteral("device"), QStringLiteral("device"), QStringLiteral("F") };
const QCommandLineOption kRtol { QStringLiteral("rtol"), QStringLiteral("rtol"), QStringLiteral("R") };
const QCommandLineOption kAtol { QStringLiteral("atol"), QStringLiteral("atol"), QStringLiteral("A") };
const QCommandLineOption kPreprocess { QStringLiteral("preprocess"), QStringLiteral("preprocess"),
    QStringLiteral("F") };
const QCommandLineOption kLimit { QStringLiteral("limit"), QStringLiteral("limit"), QStringLiteral("N") };
const QCommandLineOption kShape { QStringLiteral("shape"), QStringLiteral("shape"), QStringLiteral("S") };
const QCommandLineOption kClassNames { QStringLiteral("class-names"), QStringLiteral("class names"),
    QStringLiteral("F") };
const QCommandLineOption kSession { QStringLiteral("session"), QStringLiteral("session"), QStringLiteral("F") };
const QCommandLineOption kView { QStringLiteral("view"), QStringLiteral("view"), QStringLiteral("NAME") };
const QCommandLineOption kTheme { QStringLiteral("theme"), QStringLiteral("theme"), QStringLiteral("T") };
const QCommandLineOption kSelect { QStringLiteral("select"), QStringLiteral("select"), QStringLiteral("NAME") };
const QCommandLineOption kLessons { QStringLiteral("lessons"), QStringLiteral("lessons"), QStringLiteral("DIR") };
const QCommandLineOption kLesson { QStringLiteral("lesson"), QStringLiteral("lesson"), QStringLiteral("ID") };
const QCommandLineOption kScreenshot { QStringLiteral("screenshot"), QStringLiteral("screenshot"),
    QStringLiteral("OUT") };
const QCommandLineOption kServe { QStringLiteral("serve"), QStringLiteral("serve") };
const QCommandLineOption kSize { QStringLiteral("size"), QStringLiteral("size"), QStringLiteral("WxH") };
const QCommandLineOption kCompletion { QStringLiteral("completion"), QStringLiteral("completion"),
    QStringLiteral("SHELL") };
const QCommandLineOption kHelp { { QStringLiteral("h"), QStringLiteral("help") }, QStringLiteral("help") };
const QCommandLineOption kVersion { { QStringLiteral("v"), QStringLiteral("version") }, QStringLiteral("version") };

Issue seeHelp(const QString& what) { return badUse(what.toStdString(), "see quantscope --help"); }

Status readSize(const QString& text, GuiOptions* options)
{
    static const QRegularExpression pattern(QStringLiteral("^(\\d{1,6})x(\\d{1,6})$"));
    const QRegularExpressionMatch match = pattern.match(text);
    options->size = { match.captured(1).toInt(), match.captured(2).toInt() };
    const auto fits = [](int side) { return side >= kSmallest && side <= kLargest; };
    if (!match.hasMatch() || !fits(options->size.width()) || !fits(options->size.height()))
        return badUse("--size " + text.toStdString() + " is no size",
            "give WIDTHxHEIGHT in pixels, each " + std::to_string(kSmallest) + " to " + std::to_string(kLargest));
    options->sizeGiven = true;
    return {};
}

Status readShapes(const QCommandLineParser& parser, GuiOptions* options)
{
    static const QRegularExpression pattern(QStringLiteral("^(.+)=(\\d{1,9}(?:x\\d{1,9})*)$"));
    for (const QString& text : parser.values(kShape)) {
        const QRegularExpressionMatch match = pattern.match(text);
        if (!match.hasMatch())
            return badUse("--shape " + text.toStdString() + " is not NAME=2x3x4", "write sizes with x between them");
        Shape shape;
        for (const QString& size : match.captured(2).split(u'x'))
            shape.push_back(size.toLongLong());
        options->inputs.data.shapes[match.captured(1).toStdString()] = shape;
    }
    return {};
}

Status readLimit(const QCommandLineParser& parser, const QCommandLineOption& option, DataRequest* data)
{
    if (!parser.isSet(option))
        return {};
    bool number = false;
    const qulonglong limit = parser.value(option).toULongLong(&number);
    if (!number || limit == 0)
        return badUse("--" + option.names().front().toStdString() + " " + parser.value(option).toStdString()
                + " is no number of samples",
            "give 1 or more");
    data->limit = size_t(limit);
    return {};
}

/// Samples to find ranges with are read as the data are.
Status readCalibration(const QCommandLineParser& parser, GuiOptions* options)
{
    DataRequest& calibration = options->inputs.calibration;
    calibration.spec = parser.value(kCalibration).toStdString();
    if (calibration.spec.empty())
        return calibration.limit
            ? Status(badUse("--calibration-limit counts the samples of --calibration-data, which is not given",
                "add --calibration-data, or use --limit"))
            : Status();
    if (options->inputs.data.spec.empty())
        return badUse("--calibration-data needs --data to judge by", "add --data");
    calibration.preprocess = options->inputs.data.preprocess;
    calibration.shapes = options->inputs.data.shapes;
    return {};
}

/// What is asked of the comparison beside its numbers.
Status readChecks(const QCommandLineParser& parser, GuiOptions* options)
{
    options->saved = { parser.value(kFramework).toStdString(), parser.value(kDevice).toStdString() };
    if (!parser.isSet(kRtol) && !parser.isSet(kAtol))
        return {};
    ElementTolerance tolerance;
    for (const auto& [option, part] :
        { std::pair(&kRtol, &tolerance.relative), std::pair(&kAtol, &tolerance.absolute) }) {
        if (!parser.isSet(*option))
            continue;
        bool number = false;
        *part = parser.value(*option).toDouble(&number);
        if (!number || !(*part >= 0 && std::isfinite(*part)))
            return badUse("--" + option->names().front().toStdString() + " is no tolerance", "give a number from 0");
    }
    options->tolerance = tolerance;
    return {};
}

/// Says by itself what it is: one of the two models can only be told by its place.
bool showsItsRole(const QString& file)
{
    static const QStringList kSuffixes { QStringLiteral("qscope"), QStringLiteral("npz"), QStringLiteral("npy"),
        QStringLiteral("json") };
    const QFileInfo info(file);
    return info.isDir() || kSuffixes.contains(info.suffix().toLower());
}

/// With --reference two quantized models of one float model were given. The first two models are the float and the
/// quantized one; of anything else the role is found out.
void readFiles(const QStringList& files, const QString& reference, GuiOptions* options)
{
    Inputs& inputs = options->inputs;
    if (reference.isEmpty() && files.size() == 1
        && files.front().endsWith(QStringLiteral(".qscope"), Qt::CaseInsensitive)) {
        options->session = files.front();
        return;
    }
    if (reference.isEmpty() && (files.size() > 2 || std::ranges::any_of(files, showsItsRole))) {
        options->files = files;
        return;
    }
    if (!reference.isEmpty()) {
        inputs.floatPath = reference.toStdString();
        inputs.quantPath = files[0].toStdString();
        inputs.other.path = files[1].toStdString();
        return;
    }
    if (!files.isEmpty())
        inputs.floatPath = files[0].toStdString();
    if (files.size() == 2)
        inputs.quantPath = files[1].toStdString();
}

Status readChoices(const QCommandLineParser& parser, GuiOptions* options)
{
    QS_CHECK(readLimit(parser, kLimit, &options->inputs.data));
    QS_CHECK(readLimit(parser, kCalibrationLimit, &options->inputs.calibration));
    if (parser.isSet(kTheme)) {
        options->theme = themeChoiceFromName(parser.value(kTheme));
        if (!options->theme)
            return badUse("--theme " + parser.value(kTheme).toStdString() + " is unknown", "use light, dark or system");
    }
    if (parser.isSet(kView) && !MainWindow::viewNames().contains(parser.value(kView)))
        return badUse("--view " + parser.value(kView).toStdString() + " is unknown",
            "use one of " + MainWindow::viewNames().join(QStringLiteral(", ")).toStdString());
    if (parser.isSet(kSize))
        return readSize(parser.value(kSize), options);
    return {};
}

} // namespace

Result<GuiOptions> parseCommandLine(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.setSingleDashWordOptionMode(QCommandLineParser::ParseAsLongOptions);
    parser.addOptions(windowOptions());
    GuiOptions options;
    if (!parser.parse(arguments)) {
        QString text = parser.errorText();
        return seeHelp(text.endsWith(u'.') ? text.chopped(1) : text);
    }
    options.help = parser.isSet(kHelp);
    options.version = parser.isSet(kVersion);
    options.completion = parser.value(kCompletion);
    if (options.help || options.version || !options.completion.isEmpty())
        return options;
    QS_CHECK(readChoices(parser, &options));
    QS_CHECK(readShapes(parser, &options));
    const QStringList files = parser.positionalArguments();
    if (parser.isSet(kReference) && files.size() != 2)
        return seeHelp(QStringLiteral("--reference compares two quantized files"));
    readFiles(files, parser.value(kReference), &options);
    QS_CHECK(readChecks(parser, &options));
    options.inputs.data.spec = parser.value(kData).toStdString();
    options.inputs.data.preprocess = parser.value(kPreprocess).toStdString();
    QS_CHECK(readCalibration(parser, &options));
    options.inputs.classNamesPath = parser.value(kClassNames).toStdString();
    if (parser.isSet(kSession) && !files.isEmpty())
        return seeHelp(QStringLiteral("a project names its files itself, so --session takes no others"));
    if (parser.isSet(kSession))
        options.session = parser.value(kSession);
    if (!options.session.isEmpty() && !options.inputs.data.spec.empty())
        return seeHelp(QStringLiteral("a project names its files itself, so it takes no --data"));
    options.view = parser.value(kView);
    options.select = parser.value(kSelect);
    options.lessons = parser.value(kLessons);
    options.lesson = parser.value(kLesson);
    options.serve = parser.isSet(kServe);
    options.screenshot = parser.value(kScreenshot);
    if (parser.isSet(kScreenshot) && options.screenshot.isEmpty())
        return badUse("--screenshot needs a file name", "give the PNG file to write");
    if (options.serve && parser.isSet(kScreenshot))
        return badUse("--serve keeps the window open, --screenshot closes it", "leave one of them out");
    return options;
}

QList<QCommandLineOption> windowOptions()
{
    return { kData, kPreprocess, kLimit, kCalibration, kCalibrationLimit, kReference, kFramework, kDevice, kRtol, kAtol,
        kShape, kClassNames, kSession, kView, kTheme, kSelect, kLessons, kLesson, kServe, kScreenshot, kSize,
        kCompletion, kHelp, kVersion };
}

QStringList wordsOfOption(const QString& name)
{
    if (name == kView.names().last())
        return MainWindow::viewNames();
    if (name == kTheme.names().last())
        return { QStringLiteral("light"), QStringLiteral("dark"), QStringLiteral("system") };
    if (name == kCompletion.names().last())
        return { QStringLiteral("bash"), QStringLiteral("zsh"), QStringLiteral("fish") };
    return {};
}

QString helpText()
{
    return QStringLiteral(
        "Usage: quantscope [FLOAT [QUANTIZED]] [options]\n"
        "       quantscope PROJECT.qscope\n"
        "       quantscope FILE...          models, data and folders in any order\n"
        "Compares a float ONNX model with its quantized counterpart and shows where the error is.\n"
        "\n"
        "  --data D                    data to run both models on: FILE.npz, FILE.npy, a folder, random:N[:SEED]\n"
        "  --calibration-data D        samples to find ranges with, judged by those of --data\n"
        "  --calibration-limit N       first N of them only\n"
        "  --preprocess F              how pictures of a folder are prepared (JSON)\n"
        "  --limit N                   first N samples only\n"
        "  --shape NAME=2x3x4          sizes of a dynamic input, for random data; once for each input\n"
        "  --reference F               float model by which two quantized files A B are compared\n"
        "  --rtol R, --atol A          compares elements: A with B, else float with quantized\n"
        "  --framework F, --device F   what others computed for the samples, for the ladder\n"
        "  --class-names F             what the classes are called: one name a line, or JSON\n"
        "  --session F.qscope          opens a project, as F.qscope alone does: files, recipe, runs and layout\n"
        "  --view NAME                 panel to show: %1\n"
        "  --theme T                   light, dark or system\n"
        "  --select NAME               node or tensor to select\n"
        "  --lessons DIR               a folder of lessons, in place of those of the program\n"
        "  --lesson ID                 a lesson to take\n"
        "  --serve                     lets an agent attach to the window (quantscope-cli mcp --attach): it sees what "
        "the\n"
        "                              window shows, and its edits are steps of undo that can be refused\n"
        "  --screenshot OUT            save a picture of the window (PNG) when the comparison is done, and exit\n"
        "  --size WxH                  size of the window in pixels, before the screen's scale\n"
        "  --completion SHELL          prints what completes this command in bash, zsh or fish, and exits\n"
        "  -h, --help                  this text\n"
        "  -v, --version               the version\n"
        "\n"
        "With --screenshot the exit code is 0 done, 2 bad use, 3 bad input, 4 cancelled, 5 internal error.\n")
        .arg(MainWindow::viewNames().join(QStringLiteral(", ")));
}

} // namespace qs
