// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/sample_pictures.h"

#include <QPointer>

#include <algorithm>
#include <cstring>
#include <vector>

namespace qs {

namespace {

const QString kPicturesTag = QStringLiteral("sample-pictures");
constexpr size_t kBatch = 16; ///< that are shown at once
constexpr int kMadeFor = 2; ///< pixels of a picture for one of a plain screen

QImage enlarged(const QImage& image)
{
    const int side = SamplePictures::kSide * kMadeFor;
    return image.scaled(side, side, Qt::KeepAspectRatio, Qt::SmoothTransformation);
}

/// Numbers of words, which no picture is made of.
bool isTokens(const Tensor& input)
{
    return input.valid() && input.rank() <= 2 && (input.dtype() == DType::Int64 || input.dtype() == DType::Int32);
}

} // namespace

QImage imageOf(const Picture& picture)
{
    const bool colours = picture.channels == 3;
    QImage image(picture.width, picture.height, colours ? QImage::Format_RGB888 : QImage::Format_Grayscale8);
    const auto row = size_t(picture.width) * size_t(picture.channels);
    for (int y = 0; y < picture.height; ++y)
        std::memcpy(image.scanLine(y), picture.pixels.data() + size_t(y) * row, row);
    return image;
}

Picture SamplePreviews::of(size_t sample, int most)
{
    const size_t each = m_data.feeds() ? (m_data.samples() + m_data.feeds() - 1) / m_data.feeds() : 1;
    const size_t index = sample / std::max<size_t>(each, 1);
    if (!m_feed || m_index != index) {
        auto feed = m_data.feed(index);
        m_feed = feed.ok() ? std::optional(std::move(feed).value()) : std::nullopt;
        m_index = index;
    }
    if (!m_feed)
        return {};
    if (std::ranges::any_of(m_feed->inputs, isTokens))
        return {};
    for (const Tensor& input : m_feed->inputs)
        if (Picture picture = inputPreview(input, sample - m_feed->firstSample, m_feed->samples, most);
            !picture.pixels.empty() && picture.width * picture.height > 1)
            return picture;
    return {};
}

SamplePictures::SamplePictures(Session& session, QObject* parent)
    : QObject(parent)
    , m_session(session)
{
}

QPixmap SamplePictures::at(size_t sample) const
{
    const auto it = m_pictures.find(sample);
    return it == m_pictures.end() || m_of != m_session.snapshot()->data ? QPixmap() : it->second;
}

void SamplePictures::want()
{
    const auto data = m_session.snapshot()->data;
    if (data == m_of)
        return;
    m_of = data;
    m_pictures.clear();
    m_session.jobs().cancelTag(kPicturesTag);
    if (!data)
        return;
    JobRequest job;
    job.tag = kPicturesTag;
    job.title = tr("Small pictures of the samples");
    job.visibility = Visibility::Hidden;
    job.process = [self = QPointer(this), data](const JobContext& context) -> Result<std::function<void()>> {
        const size_t count = std::min(data->samples(), kMost);
        SamplePreviews previews(*data);
        for (size_t begin = 0; begin < count && !context.cancel.cancelled(); begin += kBatch) {
            std::vector<std::pair<size_t, QImage>> batch;
            for (size_t i = begin; i < std::min(begin + kBatch, count) && !context.cancel.cancelled(); ++i)
                if (const Picture picture = previews.of(i, kSide * kMadeFor); !picture.pixels.empty())
                    batch.emplace_back(i, enlarged(imageOf(picture)));
            context.post([self, data, batch = std::move(batch)] {
                if (!self || self->m_of != data)
                    return;
                for (const auto& [sample, image] : batch)
                    self->m_pictures[sample] = QPixmap::fromImage(image);
                emit self->changed();
            });
        }
        return std::function<void()>([] {});
    };
    m_session.jobs().start(std::move(job));
}

} // namespace qs

#include "moc_sample_pictures.cpp"
