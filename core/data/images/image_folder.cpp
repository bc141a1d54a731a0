// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/image_folder.h"

#include "core/data/arrays/byte_source.h"
#include "core/data/forms.h"
#include "core/data/images/picture.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLabelsFile = "labels.csv";
constexpr int kDeepest = 16;

struct Listing {
    std::vector<std::string> files;
    std::vector<std::string> classes; ///< folders directly below the root
    bool hasLabelsFile = false;
    std::vector<std::string> others; ///< files that are no pictures
};

/// Adds what lies in root/relative (relative ends in '/', or is empty).
Status list(const std::string& root, const std::string& relative, int depth, Listing& out)
{
    const std::string folder = root + "/" + relative;
    if (depth > kDeepest)
        return badInput("folders are nested too deeply", folder, "put the pictures at most one folder deep");
    std::error_code error;
    fs::directory_iterator it(folder, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (name.starts_with("."))
            continue;
        std::error_code statError;
        if (it->is_directory(statError)) {
            if (depth == 0)
                out.classes.push_back(name);
            QS_CHECK(list(root, relative + name + "/", depth + 1, out));
        } else if (depth == 0 && name == kLabelsFile) {
            out.hasLabelsFile = true;
        } else if (isPictureName(name)) {
            out.files.push_back(relative + name);
        } else {
            out.others.push_back(relative + name);
        }
    }
    if (error)
        return badInput("cannot be read: " + error.message(), folder, "check the path and permissions");
    return {};
}

/// The fields of one CSV record (RFC 4180); `text` moves on to the next one. Empty at a quote without an end.
std::optional<std::vector<std::string>> takeRecord(std::string_view& text)
{
    std::vector<std::string> fields(1);
    bool quoted = false;
    size_t i = 0;
    for (; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c != '"')
                fields.back() += c;
            else if (i + 1 < text.size() && text[i + 1] == '"')
                fields.back() += text[++i];
            else
                quoted = false;
        } else if (c == '"' && fields.back().empty()) {
            quoted = true;
        } else if (c == ',') {
            fields.emplace_back();
        } else if (c == '\n') {
            break;
        } else if (c != '\r') {
            fields.back() += c;
        }
    }
    text.remove_prefix(std::min(i + 1, text.size()));
    if (quoted)
        return {};
    return fields;
}

Result<std::map<std::string, int64_t>> readLabels(const std::string& path)
{
    const std::string remedy = "write one line 'file,label' with a class number for each picture";
    QS_TRY(const std::string content, readSmallFile(path, uint64_t(1) << 28));
    std::string_view text = content;
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    std::map<std::string, int64_t> labels;
    for (size_t record = 1; !text.empty(); ++record) {
        const std::string where = "record " + std::to_string(record) + " of the file ";
        const auto fields = takeRecord(text);
        if (!fields)
            return badInput("has a quote without an end", path, remedy);
        if (fields->size() == 1 && fields->front().empty())
            continue;
        if (fields->size() != 2)
            return badInput(where + "has " + std::to_string(fields->size()) + " fields instead of 2", path, remedy);
        const std::string& number = (*fields)[1];
        if (record == 1 && (*fields)[0] == "file" && number == "label")
            continue;
        int64_t label = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), label);
        if (error != std::errc() || end != number.data() + number.size() || label < 0)
            return badInput(where + "has the label '" + number + "', which is no class number", path, remedy);
        std::string file = (*fields)[0];
        if (file.starts_with("./"))
            file.erase(0, 2);
        if (!labels.emplace(file, label).second)
            return badInput(where + "names '" + file + "' a second time", path, remedy);
    }
    return labels;
}

std::string firstNames(const std::vector<std::string>& names)
{
    constexpr size_t kNamed = 5;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kNamed); ++i)
        text += (i ? ", '" : "'") + names[i] + "'";
    return names.size() > kNamed ? text + " ..." : text;
}

Status labelFromFile(const std::string& folder, ImageFolder& images)
{
    const std::string path = folder + "/" + kLabelsFile;
    QS_TRY(const auto labels, readLabels(path));
    std::vector<std::string> without;
    for (const std::string& file : images.files)
        if (const auto it = labels.find(file); it != labels.end())
            images.labels.push_back(it->second);
        else
            without.push_back(file);
    if (!without.empty())
        return badInput("has no label for " + std::to_string(without.size()) + " of "
                + std::to_string(images.files.size()) + " pictures: " + firstNames(without),
            path, "add a line 'file,class number' for each, or move these pictures to another folder");
    for (const auto& [file, label] : labels)
        if (!std::binary_search(images.files.begin(), images.files.end(), file))
            return badInput("names '" + file + "', which is no picture in the folder", path,
                "correct the path, relative to the folder");
    return {};
}

Status labelFromFolders(const std::string& folder, const std::vector<std::string>& classes, ImageFolder& images)
{
    for (const std::string& file : images.files) {
        const size_t slash = file.find('/');
        if (slash == std::string::npos)
            return badInput("the picture lies beside class folders", folder + "/" + file,
                "move it into the folder of its class, or write labels.csv");
        const auto it = std::lower_bound(classes.begin(), classes.end(), file.substr(0, slash));
        images.labels.push_back(it - classes.begin());
    }
    return {};
}

Issue notPictures(const std::string& folder, const Listing& listing)
{
    const std::string& first = *std::ranges::min_element(listing.others);
    if (listing.files.empty())
        return badInput(
            "holds no picture (png, jpg, jpeg, bmp), but '" + first + "'", folder, "choose a folder with pictures");
    const size_t more = listing.others.size() - 1;
    return badInput("is no picture (png, jpg, jpeg, bmp)"
            + (more > 0 ? "; the folder holds " + std::to_string(more + 1) + " such files" : std::string()),
        folder + "/" + first, "take it out of the folder, or let its name begin with a dot: such names are skipped");
}

/// "1", "281", "872": numbers, and not 0, 1, 2.
bool areOtherNumbers(const std::vector<std::string>& classes)
{
    const auto digits = [](const std::string& name) {
        return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
    };
    if (classes.empty() || !std::ranges::all_of(classes, digits))
        return false;
    for (size_t i = 0; i < classes.size(); ++i) {
        const std::string_view name = classes[i];
        const size_t zeros = std::min(name.find_first_not_of('0'), name.size() - 1);
        if (name.substr(zeros) != std::to_string(i))
            return true;
    }
    return false;
}

/// Whether a picture lies in the folder or `depth` folders below it.
bool picturesIn(const fs::path& folder, int depth)
{
    std::error_code error;
    for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
        std::error_code statError;
        if (it->is_directory(statError) ? depth > 0 && picturesIn(it->path(), depth - 1)
                                        : isPictureName(it->path().filename().string()))
            return true;
    }
    return false;
}

} // namespace

bool mayHoldData(std::string_view name) { return isPictureName(name) || name.ends_with(".pb") || name == kLabelsFile; }

bool holdsPictures(const std::string& folder) { return !isTestDataFolder(folder) && picturesIn(folder, 2); }

Result<ImageFolder> listImageFolder(const std::string& folder)
{
    Listing listing;
    QS_CHECK(list(folder, "", 0, listing));
    // Plainly, img10 before img2, as torchvision's ImageFolder does: samples have the same numbers there.
    std::sort(listing.files.begin(), listing.files.end());
    std::sort(listing.classes.begin(), listing.classes.end());
    ImageFolder images;
    if (!listing.others.empty())
        return notPictures(folder, listing);
    images.files = std::move(listing.files);
    if (listing.hasLabelsFile)
        QS_CHECK(labelFromFile(folder, images));
    else if (!listing.classes.empty()) {
        QS_CHECK(labelFromFolders(folder, listing.classes, images));
        images.numberedOtherwise = areOtherNumbers(listing.classes);
        images.classes = std::move(listing.classes);
    }
    return images;
}

} // namespace qs
