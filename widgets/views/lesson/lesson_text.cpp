// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/lesson_text.h"

#include "core/lesson/file/lesson_folder.h"

#include <QAbstractTextDocumentLayout>
#include <QDesktopServices>
#include <QFile>
#include <QImageReader>
#include <QScrollBar>

#include <cmath>

namespace qs {

namespace {

constexpr int kLargestPicture = 4000; ///< pixels at a side

} // namespace

void fillLessonDocument(QTextDocument& document, const QString& markdown)
{
    document.setMarkdown(markdown,
        QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectCommonMark) | QTextDocument::MarkdownNoHTML);
}

QVariant lessonPicture(const QString& folder, const QUrl& name)
{
    if (folder.isEmpty() || !name.isRelative())
        return {};
    const auto path = pathWithin(folder.toStdString(), name.path().toStdString());
    if (!path.ok())
        return {};
    QImageReader reader(QString::fromStdString(*path));
    const QSize size = reader.size();
    if (!size.isValid() || size.width() > kLargestPicture || size.height() > kLargestPicture)
        return {};
    return reader.read();
}

LessonText::LessonText(QWidget* parent)
    : QTextBrowser(parent)
{
    setObjectName(QStringLiteral("lessonText"));
    setAccessibleName(tr("Text of the lesson"));
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    connect(document()->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged, this,
        [this](const QSizeF& size) { setMaximumHeight(int(std::ceil(size.height())) + 2); });
    connect(this, &QTextBrowser::anchorClicked, this, [](const QUrl& link) {
        if (link.scheme() == QStringLiteral("https") || link.scheme() == QStringLiteral("http"))
            QDesktopServices::openUrl(link);
    });
}

void LessonText::showText(const QString& markdown, const QString& folder)
{
    if (markdown == m_markdown && folder == m_folder)
        return;
    const bool goesOn = folder == m_folder && !m_markdown.isEmpty() && markdown.startsWith(m_markdown.left(200));
    const int at = goesOn ? verticalScrollBar()->value() : 0;
    m_folder = folder;
    m_markdown = markdown;
    fillLessonDocument(*document(), markdown);
    verticalScrollBar()->setValue(at);
    if (goesOn) // what came is at its end
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

void LessonText::setScale(double scale)
{
    QFont larger = parentWidget()->font();
    larger.setPointSizeF(larger.pointSizeF() * scale);
    setFont(larger);
}

QVariant LessonText::loadResource(int type, const QUrl& name)
{
    return type == QTextDocument::ImageResource ? lessonPicture(m_folder, name) : QVariant();
}

} // namespace qs
