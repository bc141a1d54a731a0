// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextBrowser>

namespace qs {

enum class PageShade { Paper, Dark };

/// Shows CommonMark of a lesson: pictures are files of its folder, nothing is fetched and no HTML is read. Links of the
/// web open in the browser.
class LessonText : public QTextBrowser {
    Q_OBJECT
public:
    explicit LessonText(QWidget* parent = nullptr);
    void showText(const QString& markdown, const QString& folder);
    void setScale(double scale); ///< of the window's font
    QVariant loadResource(int type, const QUrl& name) override;

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit(); ///< no higher than the text
    void showBarWhereNeeded();
    PageShade look() const;

    QString m_folder, m_markdown;
    double m_scale = 1;
    int m_fitted = -1; ///< width that the text was measured for
};

/// The same document, for paper; `folder` is where its pictures lie.
void fillLessonDocument(QTextDocument& document, const QString& markdown);
/// A picture of the folder, of so many pixels (empty: its own), or nothing. On a dark page drawings (SVG) have their
/// lightness turned round.
QVariant lessonPicture(
    const QString& folder, const QUrl& name, const QSizeF& pixels = {}, PageShade look = PageShade::Paper);

} // namespace qs
