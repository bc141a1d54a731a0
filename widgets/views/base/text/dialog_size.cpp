// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/text/dialog_size.h"

#include "widgets/views/base/text/font_units.h"

#include <QScreen>
#include <QWidget>

namespace qs {

namespace {

constexpr int kFrame = 48; ///< pixels: title bar, borders, a look at what lies behind

QSize fitting(const QWidget& window)
{
    return window.size().boundedTo(window.screen()->availableSize() - QSize(kFrame, kFrame));
}

} // namespace

void setDialogSize(QWidget& dialog, int width, int height)
{
    const QFontMetrics font = dialog.fontMetrics();
    const QSize hint = dialog.sizeHint();
    const QSize wanted(
        width > 0 ? fontUnits(font, width) : hint.width(), height > 0 ? fontUnits(font, height) : hint.height());
    dialog.resize(wanted);
    fitIntoScreen(dialog);
}

void fitIntoScreen(QWidget& window) { window.resize(fitting(window)); }

bool fitsIntoScreen(const QWidget& window) { return window.size() == fitting(window); }

} // namespace qs
