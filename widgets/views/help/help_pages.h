// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <vector>

namespace qs {

class ActionRegistry;

/// One page of the help: Markdown with one title and sections that begin with "## ".
struct HelpPage {
    QString name; ///< "start", "files", "data", "views", "numbers", "shortcuts"
    QString title;
    QString markdown;
};

/// All pages; the keys are those that the actions have now.
std::vector<HelpPage> helpPages(const ActionRegistry* actions);

/// A place where something was found.
struct HelpPlace {
    QString page; ///< name
    QString section; ///< its title; "" = the page's beginning
};
/// Sections that hold all words of the query, those with it in the title first. Nothing for an empty query.
std::vector<HelpPlace> searchHelp(const std::vector<HelpPage>& pages, const QString& query);

/// Where a panel is explained, by its object name; the views page where it is not known.
HelpPlace helpOfPanel(const QString& panel);

} // namespace qs
