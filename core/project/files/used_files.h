// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/file_roles.h"
#include "core/project/snapshot/snapshot.h"

#include <string>

namespace qs {

/// All files that samples are read from, and what says how pictures become inputs.
void addFilesOf(FileRoles& files, const DataRequest& request, const std::string& role);
/// What a recipe names: the model that it takes codes from, as said and beside the float model.
void addFilesOf(FileRoles& files, const Recipe& recipe, const std::string& floatPath);
/// A tokenizer, with what is read beside it.
void addTokenizer(FileRoles& files, const std::string& path);
/// A model that was opened, with those that keep its weights and the configuration that may be read beside it.
void addFilesOf(FileRoles& files, const Model& model, const std::string& role);
/// All that the inputs name.
void addFilesOf(FileRoles& files, const Inputs& inputs);
/// The same, and the weights of its models.
void addFilesOf(FileRoles& files, const Snapshot& snapshot);

} // namespace qs
