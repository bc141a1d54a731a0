// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The pictures below a folder and their classes.
struct ImageFolder {
    std::vector<std::string> files; ///< relative paths, in byte order
    std::vector<int64_t> labels; ///< one a file, or empty
    std::vector<std::string> classes; ///< names of the sub-folders that the labels come from; else empty
    /// The folders are called by numbers that are not their places: whoever made them may have meant class numbers.
    bool numberedOtherwise = false;
};

/// Lists png, jpg, jpeg and bmp files. Labels come from labels.csv (file,label) or else from the sub-folders: the index
/// of a file's sub-folder among the sorted names. Names that begin with a dot are
/// skipped; any other file that is no picture is refused.
Result<ImageFolder> listImageFolder(const std::string& folder);

/// Whether a folder holds pictures, or folders with some, and no ONNX test data. Looks no further than it must.
bool holdsPictures(const std::string& folder);

/// Whether a file of that name in a folder may hold samples or their labels: pictures, or ONNX test data.
bool mayHoldData(std::string_view name);

} // namespace qs
