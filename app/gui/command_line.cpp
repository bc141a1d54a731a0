// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/command_line.h"

#include "widgets/views/window/main_window.h"

#include <QCommandLineParser>
#include <QRegularExpression>

namespace qs {

namespace {

constexpr int kSmallest = 200, kLargest = 16384;

const QCommandLineOption kData { QStringLiteral("data"), QStringLiteral("data"), QStringLiteral("D") };
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
const QCommandLineOption kScreenshot { QStringLiteral("screenshot"), QStringLiteral("screenshot"),
    QStringLiteral("OUT") };
const QCommandLineOption kSize { QStringLiteral("size"), QStringLiteral("size"), QStringLiteral("WxH") };
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

Status readChoices(const QCommandLineParser& parser, GuiOptions* options)
{
    if (parser.isSet(kLimit)) {
        bool number = false;
        const qulonglong limit = parser.value(kLimit).toULongLong(&number);
        if (!number || limit == 0)
            return badUse(
                "--limit " + parser.value(kLimit).toStdString() + " is no number of samples", "give 1 or more");
        options->inputs.data.limit = size_t(limit);
    }
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
    for (const QCommandLineOption& option : { kData, kPreprocess, kLimit, kShape, kClassNames, kSession, kView, kTheme,
             kSelect, kScreenshot, kSize, kHelp, kVersion })
        parser.addOption(option);
    GuiOptions options;
    if (!parser.parse(arguments)) {
        QString text = parser.errorText();
        return seeHelp(text.endsWith(u'.') ? text.chopped(1) : text);
    }
    options.help = parser.isSet(kHelp);
    options.version = parser.isSet(kVersion);
    if (options.help || options.version)
        return options;
    QS_CHECK(readChoices(parser, &options));
    QS_CHECK(readShapes(parser, &options));
    const QStringList files = parser.positionalArguments();
    if (files.size() > 2)
        return seeHelp(QStringLiteral("too many files: %1").arg(files.join(u' ')));
    if (files.size() == 2) {
        options.inputs.floatPath = files[0].toStdString();
        options.inputs.quantPath = files[1].toStdString();
    } else if (files.size() == 1) {
        options.inputs.floatPath = files[0].toStdString();
    }
    options.inputs.data.spec = parser.value(kData).toStdString();
    options.inputs.data.preprocess = parser.value(kPreprocess).toStdString();
    options.inputs.classNamesPath = parser.value(kClassNames).toStdString();
    options.session = parser.value(kSession);
    if (parser.isSet(kSession) && (!files.isEmpty() || !options.inputs.data.spec.empty()))
        return seeHelp(QStringLiteral("a project names its files itself, so --session takes no others"));
    options.view = parser.value(kView);
    options.select = parser.value(kSelect);
    options.screenshot = parser.value(kScreenshot);
    if (parser.isSet(kScreenshot) && options.screenshot.isEmpty())
        return badUse("--screenshot needs a file name", "give the PNG file to write");
    return options;
}

QString helpText()
{
    return QStringLiteral(
        "Usage: quantscope [FLOAT [QUANTIZED]] [options]\n"
        "Compares a float ONNX model with its quantized counterpart and shows where the error is.\n"
        "\n"
        "  --data D             data to run both models on: FILE.npz, FILE.npy, a folder, random:N[:SEED]\n"
        "  --preprocess F       how pictures of a folder are prepared (JSON)\n"
        "  --limit N            first N samples only\n"
        "  --shape NAME=2x3x4   sizes of a dynamic input, for random data; once for each input\n"
        "  --class-names F      what the classes are called: one name a line, or JSON\n"
        "  --session F.qscope   opens a project: files, recipe, runs and layout as they were saved\n"
        "  --view NAME          panel to show: %1\n"
        "  --theme T            light, dark or system\n"
        "  --select NAME        node or tensor to select\n"
        "  --screenshot OUT     save a picture of the window (PNG) when the comparison is done, and exit\n"
        "  --size WxH           size of the window in pixels\n"
        "  -h, --help           this text\n"
        "  -v, --version        the version\n"
        "\n"
        "With --screenshot the exit code is 0 done, 2 bad use, 3 bad input, 4 cancelled, 5 internal error.\n")
        .arg(MainWindow::viewNames().join(QStringLiteral(", ")));
}

} // namespace qs
