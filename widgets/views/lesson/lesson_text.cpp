// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/lesson_text.h"

#include "core/lesson/file/lesson_folder.h"

#include <QAbstractTextDocumentLayout>
#include <QDesktopServices>
#include <QFile>
#include <QImageReader>
#include <QResizeEvent>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextTable>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace qs {

namespace {

constexpr int kLargestPicture = 4000; ///< pixels at a side
constexpr int kShadeProperty = QTextFormat::UserProperty + 1;

/// Light becomes dark and the other way round, hues stay: a drawing for white paper is one for a dark page.
QImage turnedLightness(QImage image)
{
    image.convertTo(QImage::Format_ARGB32);
    for (int y = 0; y < image.height(); ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < image.width(); ++x) {
            const QColor color = QColor::fromRgba(line[x]).toHsl();
            line[x] = QColor::fromHsl(color.hslHue(), color.hslSaturation(), 255 - color.lightness(), qAlpha(line[x]))
                          .rgba();
        }
    }
    return image;
}

/// Text of one width has a size of its own in what Qt makes of Markdown.
void scaleCode(QTextDocument& document, const QFont& font)
{
    QTextCharFormat size;
    size.setFontPointSize(font.pointSizeF());
    std::vector<std::pair<int, int>> parts;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        for (auto at = block.begin(); !at.atEnd(); ++at) {
            const QTextFragment part = at.fragment();
            if (!part.charFormat().fontFixedPitch() || part.charFormat().fontPointSize() == font.pointSizeF())
                continue;
            parts.emplace_back(part.position(), part.position() + part.length());
        }
    QTextCursor cursor(&document);
    for (const auto& [from, to] : parts) {
        cursor.setPosition(from);
        cursor.setPosition(to, QTextCursor::KeepAnchor);
        cursor.mergeCharFormat(size);
    }
}

/// A file of the folder that is a picture of no more than that size; empty: there is none. `size` gets its own.
QString pictureFile(const QString& folder, const QUrl& name, QSize* size)
{
    if (folder.isEmpty() || !name.isRelative())
        return {};
    const auto path = pathWithin(folder.toStdString(), name.path().toStdString());
    if (!path.ok())
        return {};
    const QString file = QString::fromStdString(*path);
    *size = QImageReader(file).size();
    const bool readable = size->isValid() && size->width() <= kLargestPicture && size->height() <= kLargestPicture;
    return readable ? file : QString();
}

/// Pictures are no wider than the text, and drawn for the width that they have: scaled by the document, thin letters
/// lose their lines.
void narrowPictures(QTextDocument& document, const QString& folder, double room, double pixelRatio, PageShade look)
{
    std::vector<std::pair<int, QTextImageFormat>> pictures;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        for (auto at = block.begin(); !at.atEnd(); ++at) {
            QTextImageFormat format = at.fragment().charFormat().toImageFormat();
            QSize whole;
            if (!format.isValid() || pictureFile(folder, QUrl(format.name()), &whole).isEmpty())
                continue;
            const double width = std::floor(std::min(room, double(whole.width())));
            const bool drawn = format.width() == width && format.property(kShadeProperty).toInt() == int(look);
            if (width <= 0 || drawn)
                continue;
            format.setProperty(kShadeProperty, int(look));
            format.setWidth(width);
            format.setHeight(std::round(width * whole.height() / whole.width()));
            document.addResource(QTextDocument::ImageResource, QUrl(format.name()),
                lessonPicture(folder, QUrl(format.name()), QSizeF(width, format.height()) * pixelRatio, look));
            pictures.emplace_back(at.fragment().position(), format);
        }
    QTextCursor cursor(&document);
    for (const auto& [from, format] : pictures) {
        cursor.setPosition(from);
        cursor.setPosition(from + 1, QTextCursor::KeepAnchor);
        cursor.setCharFormat(format);
    }
}

} // namespace

void fillLessonDocument(QTextDocument& document, const QString& markdown)
{
    document.setMarkdown(markdown,
        QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) | // tables
            QTextDocument::MarkdownNoHTML);
    for (QTextFrame* const frame : document.rootFrame()->childFrames())
        if (auto* const table = qobject_cast<QTextTable*>(frame)) {
            QTextTableFormat format = table->format();
            format.setCellPadding(0);
            format.setCellSpacing(0);
            format.setBorderCollapse(true);
            format.setBorderBrush(QBrush(QColor(128, 128, 128))); // seen on either theme
            format.setTopMargin(2);
            format.setBottomMargin(4);
            table->setFormat(format);
            for (int row = 0; row < table->rows(); ++row)
                for (int column = 0; column < table->columns(); ++column) {
                    QTextTableCell cell = table->cellAt(row, column);
                    QTextTableCellFormat sides = cell.format().toTableCellFormat();
                    sides.setLeftPadding(4);
                    sides.setRightPadding(4);
                    cell.setFormat(sides);
                }
        }
}

QVariant lessonPicture(const QString& folder, const QUrl& name, const QSizeF& pixels, PageShade look)
{
    QSize size;
    const QString file = pictureFile(folder, name, &size);
    if (file.isEmpty())
        return {};
    QImageReader reader(file);
    if (!pixels.isEmpty())
        reader.setScaledSize(pixels.toSize());
    const bool drawing = reader.format().startsWith("svg");
    const QImage image = reader.read();
    return drawing && look == PageShade::Dark ? turnedLightness(image) : image;
}

LessonText::LessonText(QWidget* parent)
    : QTextBrowser(parent)
{
    setObjectName(QStringLiteral("lessonText"));
    setAccessibleName(tr("Text of the lesson"));
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    connect(document()->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged, this,
        [this](const QSizeF& size) { // another font, or a text that is laid out in steps
            if (m_fitted >= 0 && size.height() > maximumHeight())
                QMetaObject::invokeMethod(this, &LessonText::fit, Qt::QueuedConnection);
        });
    connect(this, &QTextBrowser::anchorClicked, this, [](const QUrl& link) {
        if (link.scheme() == QStringLiteral("https") || link.scheme() == QStringLiteral("http"))
            QDesktopServices::openUrl(link);
    });
}

void LessonText::showText(const QString& markdown, const QString& folder)
{
    if (markdown == m_markdown && folder == m_folder)
        return;
    // The same step: what was told below its question gives way to something else, or goes on.
    const auto differ = std::mismatch(m_markdown.cbegin(), m_markdown.cend(), markdown.cbegin(), markdown.cend());
    const auto alike = differ.first - m_markdown.cbegin();
    const bool goesOn = folder == m_folder && 2 * alike > m_markdown.size();
    const int at = goesOn ? verticalScrollBar()->value() : 0;
    m_folder = folder;
    m_markdown = markdown;
    fillLessonDocument(*document(), markdown);
    scaleCode(*document(), font());
    setTextCursor(QTextCursor(document())); // it went to the end with the text, and would be scrolled to
    fit();
    verticalScrollBar()->setValue(at);
    if (goesOn) // what came is at its end; how much of it is seen is known once the layout is done
        QMetaObject::invokeMethod(
            this, [this] { verticalScrollBar()->setValue(verticalScrollBar()->maximum()); }, Qt::QueuedConnection);
}

void LessonText::setScale(double scale)
{
    QFont larger = parentWidget()->font();
    larger.setPointSizeF(larger.pointSizeF() * scale);
    setFont(larger);
    scaleCode(*document(), font());
    fit();
}

/// As high as the text is beside no bar.
void LessonText::fit()
{
    const int at = verticalScrollBar()->value();
    m_fitted = contentsRect().width();
    narrowPictures(*document(), m_folder,
        m_fitted - verticalScrollBar()->sizeHint().width() - 2 * document()->documentMargin(), devicePixelRatioF(),
        look());
    int height = 0;
    {
        const QSignalBlocker quiet(document()->documentLayout()); // no bar comes or goes while it is measured
        const double before = document()->textWidth();
        document()->setTextWidth(m_fitted);
        const int below = document()->idealWidth() > m_fitted ? horizontalScrollBar()->sizeHint().height() : 0;
        height = int(std::ceil(document()->size().height())) + below + 2;
        document()->setTextWidth(before);
    }
    setMaximumHeight(height);
    showBarWhereNeeded();
    verticalScrollBar()->setValue(at);
}

/// The text beside a bar is higher, so that the bar alone would never find that it can go.
void LessonText::showBarWhereNeeded()
{
    setVerticalScrollBarPolicy(height() < maximumHeight() ? Qt::ScrollBarAsNeeded : Qt::ScrollBarAlwaysOff);
    if (document()->textWidth() != viewport()->width()) // as it was beside a bar that is gone
        document()->setTextWidth(viewport()->width());
}

void LessonText::resizeEvent(QResizeEvent* event)
{
    QTextBrowser::resizeEvent(event);
    showBarWhereNeeded();
    if (contentsRect().width() != m_fitted)
        QMetaObject::invokeMethod(this, &LessonText::fit, Qt::QueuedConnection);
}

QVariant LessonText::loadResource(int type, const QUrl& name)
{
    return type == QTextDocument::ImageResource ? lessonPicture(m_folder, name, {}, look()) : QVariant();
}

PageShade LessonText::look() const
{
    return palette().color(QPalette::Base).lightness() < 128 ? PageShade::Dark : PageShade::Paper;
}

void LessonText::changeEvent(QEvent* event)
{
    QTextBrowser::changeEvent(event);
    const bool changes = event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange;
    if (changes && m_fitted >= 0)
        QMetaObject::invokeMethod(this, &LessonText::fit, Qt::QueuedConnection);
}

} // namespace qs

#include "moc_lesson_text.cpp"
