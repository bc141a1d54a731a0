// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/files/open_work.h"
#include "widgets/session/session.h"

namespace qs {

/// Writes a file in a job: Session::written() when it is there, and `then` is called; else Session::failed().
void writeInJob(Session& session, const QString& tag, const QString& path,
    std::function<Status(const JobContext&)> work, std::function<void()> then = {});

void exportReport(Session& session, const QString& path); ///< what is compared now, as HTML, JSON or CSV
void exportLinks(Session& session, const QString& path); ///< the pairs made by hand, as a map file

} // namespace qs
