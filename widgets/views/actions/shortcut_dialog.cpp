// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/actions/shortcut_dialog.h"

#include "widgets/views/actions/named_action.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>

#include <algorithm>

namespace qs {

namespace {

/// Rows that hold all words, and whose action has the keys where some are asked for.
class ShortcutFilter : public QSortFilterProxyModel {
public:
    explicit ShortcutFilter(const ShortcutModel& model, QObject* parent)
        : QSortFilterProxyModel(parent)
        , m_model(model)
    {
    }
    void setWords(const QString& words)
    {
        m_words = words.split(u' ', Qt::SkipEmptyParts);
        invalidate();
    }
    void setKeys(const QKeySequence& keys)
    {
        m_keys = keys;
        invalidate();
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex&) const override
    {
        const QList<QKeySequence> its = m_model.entry(row).keys();
        if (!m_keys.isEmpty() && std::ranges::none_of(its, [this](const QKeySequence& key) {
                return m_keys.matches(key) != QKeySequence::NoMatch;
            }))
            return false;
        return std::ranges::all_of(m_words, [&](const QString& word) { return m_model.holds(row, word); });
    }

private:
    const ShortcutModel& m_model;
    QStringList m_words;
    QKeySequence m_keys;
};

} // namespace

ShortcutDialog::ShortcutDialog(ActionRegistry& registry, QWidget* parent)
    : QDialog(parent)
    , m_registry(registry)
    , m_model(new ShortcutModel(registry, this))
    , m_proxy(new ShortcutFilter(*m_model, this))
    , m_filter(new QLineEdit(this))
    , m_filterKeys(new QKeySequenceEdit(this))
    , m_table(new QTableView(this))
    , m_keys(new QKeySequenceEdit(this))
    , m_chosenText(new QLabel(this))
    , m_note(new QLabel(this))
{
    setObjectName(QStringLiteral("shortcutDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Keyboard shortcuts"));
    registry.collect();
    buildTable();
    m_note->setObjectName(QStringLiteral("formNote"));
    m_note->setWordWrap(true);
    auto* close = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* last = new QHBoxLayout;
    addButton(last, "resetAll", tr("Reset &all"), &ShortcutDialog::resetAll);
    last->addWidget(close, 1);
    connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
    m_close = close->button(QDialogButtonBox::Close);
    auto* column = new QVBoxLayout(this);
    column->addLayout(makeFilters());
    column->addWidget(m_table, 1);
    column->addWidget(m_chosenText);
    column->addLayout(makeEditors());
    column->addWidget(m_note);
    column->addLayout(last);
    const QFontMetrics metrics(font());
    resize(140 * metrics.averageCharWidth(), 32 * metrics.height());
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        m_keys->clear();
        refresh();
    });
    connect(m_keys, &QKeySequenceEdit::keySequenceChanged, this, &ShortcutDialog::refresh);
    connect(&registry, &ActionRegistry::changed, this, &ShortcutDialog::refresh);
    for (QKeySequenceEdit* edit : { m_filterKeys, m_keys })
        edit->installEventFilter(this);
    m_table->setCurrentIndex(m_proxy->index(0, 0));
    orderFocus();
    refresh();
}

/// By Tab from the new keys to what is done with them, and out last.
void ShortcutDialog::orderFocus()
{
    QWidget* before = m_keys;
    for (QWidget* next : std::initializer_list<QWidget*> {
             button("use"), button("add"), button("remove"), button("reset"), button("resetAll"), m_close }) {
        setTabOrder(before, next);
        before = next;
    }
}

/// The list keeps a row chosen, so that the keys below are of an action that is seen.
void ShortcutDialog::chooseShown()
{
    if (!m_table->currentIndex().isValid() || m_proxy->rowCount() == 1)
        m_table->setCurrentIndex(m_proxy->index(0, 0));
    refresh();
}

/// A field for keys takes all of them; while it is empty Escape leaves the dialog.
bool ShortcutDialog::eventFilter(QObject* watched, QEvent* event)
{
    auto* edit = qobject_cast<QKeySequenceEdit*>(watched);
    if (!edit || !edit->keySequence().isEmpty()
        || (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride))
        return QDialog::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() != Qt::Key_Escape || key->modifiers() != Qt::NoModifier)
        return QDialog::eventFilter(watched, event);
    if (event->type() == QEvent::KeyPress)
        reject();
    event->accept();
    return true;
}

void ShortcutDialog::buildTable()
{
    m_proxy->setSourceModel(m_model);
    m_table->setModel(m_proxy);
    m_table->setAccessibleName(tr("Actions and their keys"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setTabKeyNavigation(false);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(QFontMetrics(font()).height() * 3 / 2);
    QHeaderView* sections = m_table->horizontalHeader();
    const int em = QFontMetrics(font()).averageCharWidth();
    for (const auto& [column, letters] : { std::pair(ShortcutModel::Where, 20), { ShortcutModel::Keys, 20 },
             { ShortcutModel::Standard, 18 }, { ShortcutModel::Note, 22 } })
        sections->resizeSection(column, letters * em);
    sections->setSectionResizeMode(ShortcutModel::Name, QHeaderView::Stretch);
    sections->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    sections->setHighlightSections(false);
}

QLayout* ShortcutDialog::makeFilters()
{
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setAccessibleName(tr("Filter by words"));
    m_filter->setClearButtonEnabled(true);
    m_filterKeys->setAccessibleName(tr("Filter by pressing keys"));
    m_filterKeys->setClearButtonEnabled(true);
    auto* label = new QLabel(tr("or by pressing &keys"), this);
    label->setBuddy(m_filterKeys);
    auto* row = new QHBoxLayout;
    row->addWidget(m_filter, 2);
    row->addWidget(label);
    row->addWidget(m_filterKeys, 1);
    auto* filter = static_cast<ShortcutFilter*>(m_proxy);
    connect(m_filter, &QLineEdit::textChanged, this, [this, filter](const QString& words) {
        filter->setWords(words);
        chooseShown();
    });
    connect(m_filterKeys, &QKeySequenceEdit::keySequenceChanged, this, [this, filter](const QKeySequence& keys) {
        filter->setKeys(keys);
        chooseShown();
    });
    return row;
}

QLayout* ShortcutDialog::makeEditors()
{
    m_keys->setAccessibleName(tr("New keys"));
    m_keys->setClearButtonEnabled(true);
    auto* label = new QLabel(tr("&Press new keys"), this);
    label->setBuddy(m_keys);
    auto* row = new QHBoxLayout;
    row->addWidget(label);
    row->addWidget(m_keys, 1);
    addButton(row, "use", tr("&Use these"), &ShortcutDialog::use);
    addButton(row, "add", tr("A&dd these"), &ShortcutDialog::add);
    addButton(row, "remove", tr("&No keys"), &ShortcutDialog::remove);
    addButton(row, "reset", tr("&Reset"), &ShortcutDialog::reset);
    return row;
}

QPushButton* ShortcutDialog::addButton(
    QLayout* row, const char* name, const QString& text, void (ShortcutDialog::*pressed)())
{
    auto* button = new QPushButton(text, this);
    button->setObjectName(QLatin1String(name));
    button->setAutoDefault(false);
    connect(button, &QPushButton::clicked, this, pressed);
    row->addWidget(button);
    return button;
}

QPushButton* ShortcutDialog::button(const char* name) const { return findChild<QPushButton*>(QLatin1String(name)); }

const ActionEntry* ShortcutDialog::chosen() const
{
    const QModelIndex index = m_proxy->mapToSource(m_table->currentIndex());
    return index.isValid() ? &m_model->entry(index.row()) : nullptr;
}

bool ShortcutDialog::choose(const QString& id)
{
    for (int row = 0; row < m_proxy->rowCount(); ++row) {
        const QModelIndex index = m_proxy->index(row, 0);
        if (m_model->entry(m_proxy->mapToSource(index).row()).id != id)
            continue;
        m_table->setCurrentIndex(index);
        return true;
    }
    return false;
}

/// What the new keys do now, and which buttons have something to do.
void ShortcutDialog::refresh()
{
    const ActionEntry* entry = chosen();
    const QKeySequence keys = m_keys->keySequence();
    const QString menu = keys.isEmpty() ? QString() : m_registry.menuOpenedBy(keys);
    QStringList others;
    if (entry && !keys.isEmpty())
        for (const ActionEntry* rival : m_registry.rivals(*entry, keys))
            others << QStringLiteral("“%1” (%2)").arg(rival->text(), rival->path);
    const QString text = keys.toString(QKeySequence::NativeText);
    const bool taken = !others.isEmpty();
    m_chosenText->setText(entry ? tr("Keys of “%1”").arg(entry->text()) : tr("Choose an action"));
    m_note->setText(!menu.isEmpty() ? tr("%1 opens the menu %2: choose others.").arg(text, menu)
            : taken
            ? tr("%1 belongs to %2. It is taken from there, if you go on.").arg(text, others.join(QStringLiteral(", ")))
            : keys.isEmpty() ? QString()
                             : tr("%1 is free.").arg(text));
    button("use")->setText(taken ? tr("Take and &use") : tr("&Use these"));
    button("add")->setText(taken ? tr("Take and a&dd") : tr("A&dd these"));
    const bool usable = entry && !keys.isEmpty() && menu.isEmpty();
    button("use")->setEnabled(usable);
    button("add")->setEnabled(usable && !entry->keys().contains(keys));
    button("remove")->setEnabled(entry && !entry->keys().isEmpty());
    button("reset")->setEnabled(entry && m_registry.isChanged(*entry));
    const auto& all = m_registry.entries();
    button("resetAll")->setEnabled(std::ranges::any_of(all, [this](const ActionEntry& e) {
        return m_registry.isChanged(e);
    }));
}

/// The chosen action has these keys from now on, and nothing else that they meet.
void ShortcutDialog::give(QList<QKeySequence> keys)
{
    const ActionEntry* entry = chosen();
    if (!entry)
        return;
    const QString id = entry->id;
    for (const QKeySequence& key : keys) {
        std::vector<QString> losers;
        for (const ActionEntry* rival : m_registry.rivals(*m_registry.find(id), key))
            losers.push_back(rival->id);
        for (const QString& loser : losers) {
            QList<QKeySequence> rest;
            for (const QKeySequence& its : m_registry.find(loser)->keys())
                if (its.matches(key) == QKeySequence::NoMatch && key.matches(its) == QKeySequence::NoMatch)
                    rest << its;
            m_registry.setKeys(loser, rest);
        }
    }
    m_registry.setKeys(id, keys);
    m_keys->clear();
    choose(id);
    m_table->setFocus(); // before the button, which has nothing to do any more, hands it to the next one
    refresh();
}

void ShortcutDialog::use() { give({ m_keys->keySequence() }); }

void ShortcutDialog::add()
{
    if (const ActionEntry* entry = chosen())
        give(entry->keys() << m_keys->keySequence());
}

void ShortcutDialog::remove() { give({}); }

void ShortcutDialog::reset()
{
    if (const ActionEntry* entry = chosen())
        give(entry->standard);
}

void ShortcutDialog::resetAll()
{
    m_table->setFocus();
    m_registry.resetAll();
}

} // namespace qs

#include "moc_shortcut_dialog.cpp"
