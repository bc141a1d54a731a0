// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/lesson_paper.h"

#include "core/base/files/atomic_file.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/views/lesson/lesson_charts.h"
#include "widgets/views/lesson/lesson_text.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextObjectInterface>

namespace qs {

namespace {

constexpr int kDotsPerInch = 300;
constexpr double kPaperMargin = 18; ///< millimetres
constexpr double kPrintedPoints = 10.5;
constexpr double kChartWidth = 5.2; ///< inches
constexpr int kChart = QTextFormat::UserObject + 1, kChartNumber = QTextFormat::UserProperty + 1;
const QChar kChartBegins(0xE000), kChartEnds(0xE001); ///< around the number of a chart in a text

/// Pictures are those of the lesson's folder.
class PaperDocument : public QTextDocument {
public:
    explicit PaperDocument(const QString& folder)
        : m_folder(folder)
    {
        QFont font(QStringLiteral("sans-serif"));
        font.setPointSizeF(kPrintedPoints);
        setDefaultFont(font);
    }
    QVariant loadResource(int type, const QUrl& name) override
    {
        return type == ImageResource ? lessonPicture(m_folder, name) : QVariant();
    }

private:
    QString m_folder;
};

/// Draws charts where they stand in the text.
class ChartObjects : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
public:
    explicit ChartObjects(const std::vector<LessonChart>& charts)
        : m_charts(charts)
    {
    }
    QSizeF intrinsicSize(QTextDocument* document, int, const QTextFormat& format) override
    {
        const QPaintDevice* paper = document->documentLayout()->paintDevice();
        const QSizeF size = chartOf(format).size;
        const double width = kChartWidth * (paper ? paper->logicalDpiX() : 96);
        return { width, width * size.height() / size.width() };
    }
    void drawObject(QPainter* painter, const QRectF& place, QTextDocument*, int, const QTextFormat& format) override
    {
        const LessonChart& chart = chartOf(format);
        QPicture picture = chart.vectors;
        const double dots = double(painter->device()->logicalDpiX()) / picture.logicalDpiX(); // which play() scales by
        painter->save();
        painter->translate(place.topLeft());
        const double scale = place.width() / chart.size.width() / dots;
        painter->scale(scale, scale);
        picture.play(painter);
        painter->restore();
    }

private:
    const LessonChart& chartOf(const QTextFormat& format) const
    {
        return m_charts[size_t(format.intProperty(kChartNumber))];
    }

    const std::vector<LessonChart>& m_charts;
};

/// Puts the charts where their numbers stand.
void placeCharts(QTextDocument& document, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        QTextCursor found = document.find(kChartBegins + QString::number(i) + kChartEnds);
        if (found.isNull())
            continue;
        QTextCharFormat format;
        format.setObjectType(kChart);
        format.setProperty(kChartNumber, int(i));
        found.insertText(QString(QChar::ObjectReplacementCharacter), format);
    }
}

Status writePages(const std::string& path, const QString& title, QTextDocument& document)
{
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&bytes);
        writer.setResolution(kDotsPerInch);
        writer.setPageSize(QPageSize(QPageSize::A4));
        writer.setPageMargins(
            QMarginsF(kPaperMargin, kPaperMargin, kPaperMargin, kPaperMargin), QPageLayout::Millimeter);
        writer.setTitle(title);
        writer.setCreator(QStringLiteral("Quantscope"));
        document.print(&writer);
    }
    return writeFile(path, std::string_view(bytes.data().constData(), size_t(bytes.data().size())));
}

/// A text that is no Markdown, small.
QString markdownText(const QString& text)
{
    QString escaped;
    for (const QChar c : text) {
        if (c.unicode() < 128 && c.isPunct())
            escaped += u'\\';
        escaped += c;
    }
    return u'*' + escaped + u'*';
}

QString cell(const QString& text) { return QStringLiteral("<td>%1</td>").arg(text.toHtmlEscaped()); }

QString triesText(const LessonJson& tries)
{
    QStringList all;
    for (const auto& one : tries)
        all << toQt(one.is_string() ? one.get<std::string>() : one.dump());
    return all.join(QStringLiteral("; "));
}

QString resultHtml(const Lesson& lesson, const LessonResult& result)
{
    const int minutes = int(result.seconds) / 60, seconds = int(result.seconds) % 60;
    QString html = QStringLiteral("<h2>%1</h2><p>%2</p><table border='1' cellspacing='0' cellpadding='4'><tr>")
                       .arg(toQt(lesson.title).toHtmlEscaped(),
                           tr("Seed %1 · %2 · %3:%4 minutes")
                               .arg(lesson.seed)
                               .arg(result.complete ? tr("complete") : tr("not complete"))
                               .arg(minutes)
                               .arg(seconds, 2, 10, QLatin1Char('0'))
                               .toHtmlEscaped());
    for (const QString& head : { tr("Step"), tr("Answer"), tr("Tries"), tr("Hints"), tr("What was answered") })
        html += QStringLiteral("<th>%1</th>").arg(head.toHtmlEscaped());
    html += QStringLiteral("</tr>");
    for (const StepResult& step : result.steps) {
        const QString came = step.right ? tr("right") : step.shown ? tr("shown") : tr("open");
        html += QStringLiteral("<tr>") + cell(toQt(step.step)) + cell(came) + cell(QString::number(step.tries.size()))
            + cell(QString::number(step.hints)) + cell(triesText(step.tries)) + QStringLiteral("</tr>");
    }
    return html + QStringLiteral("</table>");
}

} // namespace

Status writeLessonPdf(
    const std::string& path, const Lesson& lesson, const std::vector<PrintedStep>& steps, bool answers)
{
    const QString title = toQt(lesson.title);
    QString text = QStringLiteral("# ") + title + QStringLiteral("\n\n");
    LessonCharts made;
    std::vector<LessonChart> charts;
    for (const PrintedStep& step : steps) {
        text += step.text;
        for (LessonChart& chart : made.of(step.snapshot, lesson.steps[step.step], !answers)) {
            text += kChartBegins + QString::number(charts.size()) + kChartEnds + QStringLiteral("\n\n")
                + markdownText(chart.caption) + QStringLiteral("\n\n");
            charts.push_back(std::move(chart));
        }
        text += step.asked;
    }
    PaperDocument document(toQt(lesson.folder));
    fillLessonDocument(document, text);
    ChartObjects objects(charts);
    document.documentLayout()->registerHandler(kChart, &objects);
    placeCharts(document, charts.size());
    return writePages(path, title, document);
}

Status writeResultPdf(const std::string& path, const Lesson& lesson, const LessonResult& result)
{
    PaperDocument document({});
    document.setHtml(resultHtml(lesson, result));
    return writePages(path, toQt(lesson.title), document);
}

Status writeResultJson(const std::string& path, const Lesson& lesson, const LessonResult& result)
{
    const LessonJson json = resultJson(lesson, result);
    return writeFile(path, json.dump(2, ' ', false, LessonJson::error_handler_t::replace) + "\n");
}

} // namespace qs

#include "lesson_paper.moc"
