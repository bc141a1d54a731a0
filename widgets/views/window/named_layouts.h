// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/window/docks/arrangement.h"
#include "widgets/views/window/docks/kept_layouts.h"
#include "widgets/views/window/window_settings.h"

#include <QObject>

#include <functional>

class QAction;
class QActionGroup;
class QMenu;
class QWidget;

namespace qs {

class DockLayout;

/// The layouts to choose from, the program's and the user's own, and the menu of them.
class NamedLayouts : public QObject {
    Q_OBJECT
public:
    /// Remembered: the user's layouts are those of the settings, and go there.
    NamedLayouts(DockLayout& layout, WindowMemory memory, QWidget& window);

    /// One choice for each layout, then what saves, manages and resets them. The menu follows.
    void fill(QMenu& menu);
    const KeptLayouts& kept() const { return m_kept; }
    /// Keeps the panels as they stand now; a layout of that name is replaced. False for what cannot be a name.
    bool save(const QString& name);
    bool show(const QString& name); ///< one of the user's; false where there is none of that name
    void replaceAll(const KeptLayouts& layouts);
    void askForName(); ///< of what is to be saved; asks before it replaces
    void manage();
    void reset(); ///< the one that was chosen last, as it was made
    void goBack(); ///< to the panels as they stood before the last layout was shown or reset; once more: forward
    const LayoutChoice& choice() const { return m_current; }
    void giveBack(const LayoutChoice& choice) { note(choice); } ///< the panels stand that way already
    QString current() const; ///< title of the one that was chosen last

signals:
    void changed();
    void menuFilled(); ///< with other actions than before

private:
    QAction* addOne(QMenu& menu, QActionGroup& group, const QString& id, const QString& text, int number, bool chosen,
        std::function<void()> show);
    void refill(QMenu& menu);
    void askToReplace(const QString& name);
    void tellFallback();
    void note(LayoutChoice chosen);
    void keepArrangement(); ///< for goBack(), before another one takes its place

    DockLayout& m_layout;
    QWidget& m_window;
    WindowMemory m_memory;
    KeptLayouts m_kept;
    LayoutChoice m_current = LayoutName::Inspect;
    QByteArray m_before; ///< arrangement for goBack(); empty: there was none
    LayoutChoice m_choiceBefore = LayoutName::Inspect;
};

} // namespace qs
