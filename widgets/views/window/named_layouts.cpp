// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/named_layouts.h"

#include "widgets/views/actions/named_action.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/docks/layouts_dialog.h"

#include <QActionGroup>
#include <QInputDialog>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>

#include <utility>

namespace qs {

namespace {

struct BuiltIn {
    LayoutName name;
    const char* id;
    QString text;
};

QList<QKeySequence> keysOf(int number) { return { QKeySequence(QStringLiteral("Ctrl+Alt+%1").arg(number)) }; }

} // namespace

NamedLayouts::NamedLayouts(DockLayout& layout, WindowMemory memory, QWidget& window)
    : QObject(&window)
    , m_layout(layout)
    , m_window(window)
    , m_memory(memory)
{
    if (m_memory == WindowMemory::Remembered) {
        m_kept = readKeptLayouts();
        m_current = readLayoutChoice();
    }
    if (const auto* own = std::get_if<QString>(&m_current); own && !layoutNamed(m_kept, *own))
        m_current = LayoutName::Inspect;
    tellFallback();
    connect(&layout, &DockLayout::applied, this, [this](LayoutName name) { note(name); });
}

void NamedLayouts::note(LayoutChoice chosen)
{
    m_current = std::move(chosen);
    tellFallback();
    if (m_memory == WindowMemory::Remembered)
        writeLayoutChoice(m_current);
    emit changed();
}

/// An arrangement with no room gives way to the layout that it began with, where that is known.
void NamedLayouts::tellFallback()
{
    const auto* builtIn = std::get_if<LayoutName>(&m_current);
    m_layout.setFallback(builtIn && *builtIn != LayoutName::Teach ? *builtIn : LayoutName::Inspect);
}

QString NamedLayouts::current() const
{
    const auto* own = std::get_if<QString>(&m_current);
    return own ? *own : layoutTitle(std::get<LayoutName>(m_current));
}

void NamedLayouts::fill(QMenu& menu)
{
    const auto again = [this, &menu] { refill(menu); }; // later: what was chosen in the menu is still at work
    connect(this, &NamedLayouts::changed, &menu, again, Qt::QueuedConnection);
    refill(menu);
}

QAction* NamedLayouts::addOne(QMenu& menu, QActionGroup& group, const QString& id, const QString& text, int number,
    bool chosen, std::function<void()> show)
{
    QAction* action
        = addEntry(&menu, id, text, number <= 9 ? keysOf(number) : QList<QKeySequence>(), this, std::move(show));
    action->setCheckable(true);
    action->setChecked(chosen);
    group.addAction(action);
    return action;
}

void NamedLayouts::refill(QMenu& menu)
{
    delete menu.findChild<QActionGroup*>(QString(), Qt::FindDirectChildrenOnly);
    menu.clear();
    auto* group = new QActionGroup(&menu);
    const BuiltIn builtIn[] { { LayoutName::Inspect, "layout.inspect", tr("&Inspect") },
        { LayoutName::Compare, "layout.compare", tr("&Compare") },
        { LayoutName::WhatIf, "layout.whatIf", tr("&What-if") }, { LayoutName::Teach, "layout.teach", tr("&Teach") } };
    int number = 0;
    for (const auto& [name, id, text] : builtIn)
        addOne(menu, *group, QLatin1String(id), text, ++number, m_current == LayoutChoice(name), [this, chosen = name] {
            keepArrangement();
            m_layout.apply(chosen);
        });
    if (!m_kept.empty())
        menu.addSeparator();
    for (const KeptLayout& layout : m_kept) {
        const auto* own = std::get_if<QString>(&m_current);
        ++number;
        addOne(menu, *group, QStringLiteral("layout.own.%1").arg(number), withoutMnemonics(layout.name), number,
            own && *own == layout.name, [this, name = layout.name] { show(name); });
    }
    menu.addSeparator();
    addEntry(&menu, QStringLiteral("layout.save"), tr("&Save layout as…"), {}, this, [this] { askForName(); });
    enable(*addEntry(&menu, QStringLiteral("layout.manage"), tr("&Manage layouts…"), {}, this, [this] { manage(); }),
        !m_kept.empty(), tr("No layout was saved"));
    menu.addSeparator();
    enable(*addEntry(&menu, QStringLiteral("layout.back"), tr("&Back to the arrangement before"), {}, this,
               [this] { goBack(); }),
        !m_before.isEmpty(), tr("No other layout was shown"));
    addEntry(&menu, QStringLiteral("layout.reset"), tr("&Reset %1").arg(withoutMnemonics(current())), {}, this,
        [this] { reset(); });
    emit menuFilled();
}

bool NamedLayouts::save(const QString& given)
{
    const QString name = given.trimmed();
    const QByteArray docks = m_layout.state();
    if (!layoutNameProblem(name).isEmpty() || docks.isEmpty())
        return false;
    KeptLayouts next = m_kept;
    if (const auto same = layoutNamed(next, name))
        next[*same] = { name, docks };
    else
        next.push_back({ name, docks });
    m_current = name;
    replaceAll(next);
    return true;
}

bool NamedLayouts::show(const QString& name)
{
    const auto found = layoutNamed(m_kept, name);
    if (!found)
        return false;
    keepArrangement();
    m_layout.showState(m_kept[*found].docks);
    note(m_kept[*found].name);
    return true;
}

void NamedLayouts::replaceAll(const KeptLayouts& layouts)
{
    if (const auto* own = std::get_if<QString>(&m_current); own && !layoutNamed(layouts, *own))
        m_current = LayoutName::Inspect;
    m_kept = layouts;
    if (m_memory == WindowMemory::Remembered)
        writeKeptLayouts(m_kept);
    note(m_current);
}

void NamedLayouts::reset()
{
    if (const auto* own = std::get_if<QString>(&m_current); own && show(*own))
        return;
    const auto* name = std::get_if<LayoutName>(&m_current);
    keepArrangement();
    m_layout.apply(name ? *name : LayoutName::Inspect);
}

void NamedLayouts::keepArrangement()
{
    m_before = m_layout.state();
    m_choiceBefore = m_current;
}

void NamedLayouts::goBack()
{
    if (m_before.isEmpty())
        return;
    const QByteArray docks = m_before;
    const LayoutChoice choice = m_choiceBefore;
    keepArrangement();
    m_layout.showState(docks);
    note(choice);
}

void NamedLayouts::askForName()
{
    auto* ask = new QInputDialog(&m_window);
    ask->setObjectName(QStringLiteral("layoutName"));
    ask->setAttribute(Qt::WA_DeleteOnClose);
    ask->setWindowTitle(tr("Save layout"));
    ask->setLabelText(tr("Name of the layout:"));
    if (const auto* own = std::get_if<QString>(&m_current))
        ask->setTextValue(*own);
    ask->setOkButtonText(tr("Save"));
    connect(ask, &QInputDialog::textValueSelected, this, [this](const QString& name) {
        if (const QString problem = layoutNameProblem(name); !problem.isEmpty()) {
            auto* box = new QMessageBox(QMessageBox::Warning, tr("Save layout"), problem, QMessageBox::Ok, &m_window);
            box->setAttribute(Qt::WA_DeleteOnClose);
            connect(box, &QMessageBox::finished, this, &NamedLayouts::askForName);
            box->open();
        } else if (layoutNamed(m_kept, name)) {
            askToReplace(name);
        } else {
            save(name);
        }
    });
    ask->open();
}

void NamedLayouts::askToReplace(const QString& name)
{
    auto* box = new QMessageBox(QMessageBox::Question, tr("Save layout"),
        tr("Replace the layout “%1”?").arg(m_kept[*layoutNamed(m_kept, name)].name), QMessageBox::Cancel, &m_window);
    box->setObjectName(QStringLiteral("replaceLayout"));
    box->setTextFormat(Qt::PlainText);
    box->setAttribute(Qt::WA_DeleteOnClose);
    const QPushButton* replace = box->addButton(tr("Replace"), QMessageBox::AcceptRole);
    connect(replace, &QPushButton::clicked, this, [this, name] { save(name); });
    box->open();
}

void NamedLayouts::manage()
{
    auto* dialog = new LayoutsDialog(m_kept, &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        if (const auto* own = std::get_if<QString>(&m_current))
            m_current = dialog->nameNow(*own);
        replaceAll(dialog->layouts());
    });
    dialog->open();
}

} // namespace qs

#include "moc_named_layouts.cpp"
