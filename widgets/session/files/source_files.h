// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <utility>
#include <vector>

namespace qs {

/// Finds the program's files that traces in models name, on this machine. Traces may come from another one: what the
/// user located once is kept in the user's settings, folder by folder.
class SourceFiles {
public:
    SourceFiles();
    /// The file here; "" where it is not on this machine. Names in the network are not asked for.
    QString find(const QString& path) const;
    /// `here` is what a trace calls `path`: what stands in front of the names that both end with is remembered, so that
    /// other files of the same folders are found, too.
    void locate(const QString& path, const QString& here);

    /// A file that is text of a program, by its ending: nothing else is opened because a model names it.
    static bool isSource(const QString& path);

private:
    std::vector<std::pair<QString, QString>> m_folders; ///< in the trace, and here; newest first
};

} // namespace qs
