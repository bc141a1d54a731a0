// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/shown/theme.h"

#include <QRect>
#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

namespace qs {

/// One token as it is drawn.
struct TokenBox {
    QString text; ///< as it is written; blanks and line ends visible
    QString tip; ///< what is known of it, a line each
    std::optional<double> badness; ///< 0 (best) .. 1 (worst) of the number that colours it; nothing: no colour
    bool flipped = false; ///< the models chose different tokens here
    bool muted = false; ///< padding, or what follows different texts
};

/// Tokens that follow each other, under a caption.
struct TokenLine {
    QString caption;
    std::vector<TokenBox> boxes;
};

/// Texts token by token, coloured, in as many rows as the width asks for. One token is chosen, by mouse or arrow keys.
class TokenFlow : public QWidget {
    Q_OBJECT
public:
    struct Place {
        size_t line = 0, token = 0;
        bool operator==(const Place&) const = default;
    };
    explicit TokenFlow(QWidget* parent = nullptr);
    void setLines(std::vector<TokenLine> lines); ///< the chosen place stays where there is still one
    void setStyle(const Theme& theme);
    void setStale(bool stale); ///< drawn pale
    const std::vector<TokenLine>& lines() const { return m_lines; }
    const std::optional<Place>& chosen() const { return m_chosen; }
    void choose(const std::optional<Place>& place);
    QRect boxAt(const Place& place) const;
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;

signals:
    void chosenChanged();
    void activated(); ///< Enter, or a double click on a token

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Placed {
        std::vector<QRect> captions; ///< one a line of text
        std::vector<std::vector<QRect>> boxes;
        int height = 0;
    };
    Placed placed(int width) const;
    void place();
    std::optional<Place> placeAt(const QPoint& point) const;
    void paintBox(QPainter& painter, const TokenBox& box, const QRect& rect, bool chosen) const;
    void step(int by);

    std::vector<TokenLine> m_lines;
    Placed m_placed;
    Theme m_theme;
    std::optional<Place> m_chosen;
    bool m_stale = false;
};

} // namespace qs
