// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/actions/menu_keys.h"

#include "widgets/views/actions/named_action.h"

#include <QCoreApplication>
#include <QEvent>
#include <QHash>
#include <QMenu>
#include <QSet>
#include <QStringList>

#include <vector>

namespace qs {

namespace {

/// Where the text names its mnemonic: the place of the &; -1 for none.
qsizetype markIn(const QString& text)
{
    for (qsizetype i = 0; i + 1 < text.size() && text[i] != u'\t'; ++i) {
        if (text[i] != u'&')
            continue;
        if (text[i + 1] != u'&')
            return i;
        ++i;
    }
    return -1;
}

/// Places of the letters that may be the mnemonic, first those of words; of each letter one.
std::vector<qsizetype> lettersOf(const QString& text)
{
    std::vector<qsizetype> places;
    QSet<QChar> seen;
    const qsizetype end = text.indexOf(u'\t') < 0 ? text.size() : text.indexOf(u'\t');
    for (const bool firstOfWords : { true, false }) {
        for (qsizetype i = 0; i < end; ++i) {
            const bool begins = i == 0 || !text[i - 1].isLetterOrNumber();
            if (!text[i].isLetterOrNumber() || begins != firstOfWords || seen.contains(text[i].toLower()))
                continue;
            seen.insert(text[i].toLower());
            places.push_back(i);
        }
    }
    return places;
}

/// Who has which letter. An entry that finds all of its letters taken has another one take a different letter, where
/// that can be done (augmenting paths, as in bipartite matching).
class Letters {
public:
    explicit Letters(const QStringList& texts)
        : m_texts(texts)
    {
        for (qsizetype entry = 0; entry < texts.size(); ++entry)
            if (const QChar written = mnemonicOf(texts[entry]); !written.isNull() && !m_owner.contains(written))
                m_owner[written] = entry;
        for (qsizetype entry = 0; entry < texts.size(); ++entry) {
            QSet<QChar> tried;
            if (m_owner.value(mnemonicOf(texts[entry]), -1) != entry)
                place(entry, tried);
        }
    }
    QString text(qsizetype entry) const
    {
        if (m_owner.value(mnemonicOf(m_texts[entry]), -1) == entry)
            return m_texts[entry];
        QString text = unmarked(entry);
        for (const qsizetype at : lettersOf(text))
            if (m_owner.value(text[at].toLower(), -1) == entry)
                return text.insert(at, u'&');
        return text;
    }

private:
    QString unmarked(qsizetype entry) const
    {
        QString text = m_texts[entry];
        if (const qsizetype mark = markIn(text); mark >= 0)
            text.remove(mark, 1);
        return text;
    }
    bool place(qsizetype entry, QSet<QChar>& tried)
    {
        const QString text = unmarked(entry);
        for (const bool freeOnly : { true, false }) {
            for (const qsizetype at : lettersOf(text)) {
                const QChar letter = text[at].toLower();
                const qsizetype owner = m_owner.value(letter, -1);
                if ((freeOnly && owner >= 0) || (!freeOnly && tried.contains(letter)))
                    continue;
                tried.insert(letter);
                if (owner >= 0 && !place(owner, tried))
                    continue;
                m_owner[letter] = entry;
                return true;
            }
        }
        return false;
    }

    QStringList m_texts;
    QHash<QChar, qsizetype> m_owner;
};

} // namespace

QChar mnemonicOf(const QString& text)
{
    const qsizetype mark = markIn(text);
    return mark < 0 ? QChar() : text[mark + 1].toLower();
}

void giveMnemonics(const QList<QAction*>& entries)
{
    QList<QAction*> shown;
    QStringList texts;
    for (QAction* entry : entries) {
        if (entry->isSeparator() || !entry->isVisible())
            continue;
        shown << entry;
        texts << entry->text();
    }
    const Letters letters(texts);
    for (qsizetype i = 0; i < shown.size(); ++i)
        if (const QString text = letters.text(i); text != texts[i])
            shown[i]->setText(text);
}

MenuKeys::MenuKeys(QObject* parent)
    : QObject(parent)
{
    QCoreApplication::instance()->installEventFilter(this);
}

bool MenuKeys::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::Polish && event->type() != QEvent::ShortcutOverride)
        return false;
    auto* menu = qobject_cast<QMenu*>(watched);
    if (!menu)
        return false;
    if (event->type() == QEvent::ShortcutOverride) {
        event->accept();
        return true;
    }
    menu->setToolTipsVisible(true); // it is about to be shown for the first time
    connect(menu, &QMenu::aboutToShow, this, &MenuKeys::menuOpens, Qt::UniqueConnection);
    return false;
}

void MenuKeys::menuOpens() { giveMnemonics(static_cast<QMenu*>(sender())->actions()); }

} // namespace qs

#include "moc_menu_keys.cpp"
