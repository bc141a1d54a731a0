// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/forms.h"
#include "core/data/images/image_folder.h"
#include "core/data/images/preprocess.h"
#include "core/data/input_fit.h"

#include <algorithm>

namespace qs {

namespace {

class ImageData final : public DataSource {
public:
    ImageData(std::string folder, ImageFolder images, InputSpec input, Preprocess how, Shape shape, size_t batch)
        : m_folder(std::move(folder))
        , m_files(std::move(images.files))
        , m_input(std::move(input))
        , m_how(std::move(how))
        , m_shape(std::move(shape))
    {
        m_samples = m_files.size();
        m_feeds = m_samples / batch;
        m_labels = std::move(images.labels);
        if (images.numberedOtherwise)
            warn("the class folders are called by numbers ('" + images.classes.front()
                + "' ...), but a label is the folder's place among the sorted names, from 0: write labels.csv to give "
                  "class numbers");
        else
            m_classNames = std::move(images.classes);
    }

    Result<Feed> feed(size_t index) const override
    {
        Feed feed;
        feed.samples = m_samples / m_feeds;
        feed.firstSample = index * feed.samples;
        Tensor tensor = Tensor::allocate(m_how.dtype, m_shape);
        auto* bytes = reinterpret_cast<std::byte*>(tensor.fill<uint8_t>().data());
        const size_t step = tensor.byteCount() / feed.samples;
        for (size_t i = 0; i < feed.samples; ++i) {
            const std::string path = m_folder + "/" + m_files[feed.firstSample + i];
            QS_TRY(Picture picture, loadPicture(path));
            if (auto done = applyPreprocess(m_how, std::move(picture), bytes + i * step); !done) {
                Issue issue = std::move(done).issue();
                issue.file = path;
                return issue;
            }
        }
        QS_TRY(tensor, convertTo(std::move(tensor), m_input, m_folder));
        feed.inputs.push_back(std::move(tensor));
        return feed;
    }

    std::string sampleName(size_t sample) const override { return m_files[sample]; }

private:
    std::string m_folder;
    std::vector<std::string> m_files;
    InputSpec m_input;
    Preprocess m_how;
    Shape m_shape;
};

/// Axes of height and width for the layout, given the rank of the input; the batch axis may be missing.
std::pair<size_t, size_t> spatialAxes(const Preprocess& how, size_t rank)
{
    const size_t first = rank - 3;
    return how.channelsFirst ? std::pair { first + 1, first + 2 } : std::pair { first, first + 1 };
}

/// Takes the size from the input where the file does not give it.
Status completeSize(Preprocess& how, const InputSpec& input, const std::string& file)
{
    if (how.width > 0)
        return {};
    if (input.dims && (input.dims->size() == 3 || input.dims->size() == 4)) {
        const auto [y, x] = spatialAxes(how, input.dims->size());
        const Dims& dims = *input.dims;
        constexpr int64_t kLargest = 1 << 14;
        if (dims[y].value > 0 && dims[x].value > 0 && std::max(dims[y].value, dims[x].value) <= kLargest) {
            how.height = static_cast<int>(dims[y].value);
            how.width = static_cast<int>(dims[x].value);
            return {};
        }
    }
    return badInput("has no \"size\", and the model's input has no fixed one", file, "add \"size\": [width, height]");
}

/// Shape of one feed; pictures go in with a batch axis unless the input has three axes and takes one picture as it is.
Result<std::pair<Shape, size_t>> feedShape(const Preprocess& how, const InputSpec& input, const std::string& file)
{
    const Shape item = how.itemShape();
    if (input.dims && input.dims->size() == item.size() && fits(item, input))
        return std::pair { item, size_t(1) };
    const auto batched = [&](const Shape& one) {
        Shape shape = one;
        shape.insert(shape.begin(), batchSize(input));
        return shape;
    };
    const Shape shape = batched(item);
    if (fits(shape, input))
        return std::pair { shape, static_cast<size_t>(shape[0]) };
    Preprocess other = how;
    other.channelsFirst = !how.channelsFirst;
    std::string remedy = "set \"size\" (width, height) and \"color\" of the preprocessing to what the input needs";
    if (fits(batched(other.itemShape()), input))
        remedy = std::string("set \"layout\": \"") + (how.channelsFirst ? "nhwc" : "nchw") + "\" in the preprocessing";
    return shapeIssue(input, shapeText(shape), file, remedy);
}

} // namespace

DataResult openImageData(const DataRequest& request, const std::vector<InputSpec>& inputs)
{
    const std::string& folder = request.spec;
    if (inputs.size() != 1) {
        std::vector<std::string> names;
        for (const InputSpec& input : inputs)
            names.push_back(input.name);
        return badInput("a picture folder serves a model with one input, this one has " + std::to_string(inputs.size())
                + (names.empty() ? "" : ": " + nameList(names)),
            folder, "give a .npz with one array for each input");
    }
    QS_TRY(ImageFolder images, listImageFolder(folder));
    if (images.files.empty())
        return badInput("there are no pictures (png, jpg, jpeg, bmp) and no test_data_set_* folders", folder,
            "give a folder with pictures or ONNX test data");
    if (request.preprocess.empty())
        return badUse("the picture folder " + folder + " needs to know how pictures become tensors",
            "add --preprocess FILE.json with size, scale, mean, std, layout");
    const InputSpec& input = inputs[0];
    QS_TRY(Preprocess how, readPreprocess(request.preprocess));
    QS_CHECK(completeSize(how, input, request.preprocess));
    if (!convertible(how.dtype, input.dtype)) {
        Issue issue = dtypeIssue(input, how.dtype, request.preprocess);
        issue.remedy = "set \"dtype\" of the preprocessing to the input's type (float32 or uint8)";
        return issue;
    }
    QS_TRY(const auto shape, feedShape(how, input, request.preprocess));
    if (request.limit && *request.limit < images.files.size())
        images.files.resize(*request.limit);
    if (!images.labels.empty())
        images.labels.resize(images.files.size());
    QS_CHECK(feedsFor(images.files.size(), shape.second, folder));
    return std::shared_ptr<DataSource>(
        std::make_shared<ImageData>(folder, std::move(images), input, std::move(how), shape.first, shape.second));
}

} // namespace qs
