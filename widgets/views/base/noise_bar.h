// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/predicted_noise.h"
#include "widgets/session/shown/theme.h"

#include <QWidget>

#include <array>

class QPainter;

namespace qs {

/// Clipping, rounding, weights, kernel and inherited noise, in the order in which they are drawn.
constexpr size_t kNoiseParts = 5;
using NoiseParts = std::array<double, kNoiseParts>;

/// Pixels of each part, all of the width together: what rounding leaves goes to those that lack most, so that no part
/// is seen before a larger one.
std::array<int, kNoiseParts> noiseWidths(const NoiseParts& parts, int width);
/// Fills a bar with the shares; parts below 0 have no width.
void paintNoise(QPainter& painter, const QRect& bar, const NoiseParts& parts, const Theme& theme);

/// Noise by origin as a bar, with the shares in words below it.
class NoiseBar : public QWidget {
    Q_OBJECT
public:
    explicit NoiseBar(QWidget* parent = nullptr);
    void setTheme(const Theme& theme);
    /// `note` stands first: what the numbers are of ("now", "predicted").
    /// `kernelWithin`: what came in and what the integer kernel makes are known together only, as `inherited`.
    void setNoise(const NoiseSplit& split, const Number& sqnrDb, const QString& note, bool kernelWithin = false);
    void setStale(bool stale); ///< the numbers are of another recipe than the one at hand
    bool stale() const { return m_stale; }
    QString text() const;
    QString textFor(int width) const; ///< as much of it as there is room for
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return { 120, sizeHint().height() }; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString text(double leastShare) const; ///< without the note and the parts below this share

    Theme m_theme = Theme::light();
    NoiseSplit m_split;
    Number m_sqnrDb;
    QString m_note;
    bool m_kernelWithin = false, m_stale = false;
};

} // namespace qs
