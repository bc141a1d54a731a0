// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/lesson_paper.h"

#include "core/base/files/atomic_file.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/views/lesson/lesson_text.h"

#include <QBuffer>
#include <QPageSize>
#include <QPdfWriter>
#include <QTextDocument>

namespace qs {

namespace {

constexpr int kDotsPerInch = 300;
constexpr double kMargin = 18; ///< millimetres
constexpr double kPrintedPoints = 10.5;

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

Status writePages(const std::string& path, const QString& title, QTextDocument& document)
{
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&bytes);
        writer.setResolution(kDotsPerInch);
        writer.setPageSize(QPageSize(QPageSize::A4));
        writer.setPageMargins(QMarginsF(kMargin, kMargin, kMargin, kMargin), QPageLayout::Millimeter);
        writer.setTitle(title);
        writer.setCreator(QStringLiteral("Quantscope"));
        document.print(&writer);
    }
    return writeFile(path, std::string_view(bytes.data().constData(), size_t(bytes.data().size())));
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

Status writeLessonPdf(const std::string& path, const QString& title, const QString& markdown, const QString& folder)
{
    PaperDocument document(folder);
    fillLessonDocument(document, QStringLiteral("# ") + title + QStringLiteral("\n\n") + markdown);
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
