// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace qs {

/// For an application: Return presses the button that has the focus, and Return with Ctrl or another modifier, which
/// means something else, does not.
class PlainReturn : public QObject {
public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace qs
