// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QString>
#include <QWidget>

#include <vector>

namespace qs {

/// Pictures beside each other, or one above the other where there is little room, each as large as fits in, with a line
/// of text above it.
class PictureRow : public QWidget {
    Q_OBJECT
public:
    struct Shown {
        QImage image;
        QString caption; ///< empty: no line
    };
    explicit PictureRow(QWidget* parent = nullptr);
    /// `most`: pixels of the longer side at 100 %.
    void show(std::vector<Shown> pictures, int most);
    const std::vector<Shown>& pictures() const { return m_pictures; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int columns(int width) const;
    QSize sizeOf(const Shown& shown, int width) const; ///< of the picture alone
    int captionHeight() const;

    std::vector<Shown> m_pictures;
    int m_most = 0;
};

} // namespace qs
