// SPDX-License-Identifier: GPL-3.0-or-later
// What most tests of the window read; compiled once for all of them (qs_precompiled_tests). No test relies on it.
#pragma once

#include "core/project/snapshot/build_snapshot.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/session.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/window/main_window.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QUndoStack>
#include <QtTest>
