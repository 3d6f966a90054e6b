//===- Features.cpp - What a model hears ----------------------------------===//
//
// From samples to features. The spectrogram is that of
// transformers.audio_utils: frames in double precision, power 2, filters in the
// mel scale of Slaney (Whisper) or Kaldi (wav2vec2-bert).
//
//===----------------------------------------------------------------------===//
#include "runtime/Media/Sound.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace heddle::rt {

namespace {

/// The discrete Fourier transform of one length, any length: a mixed-radix FFT
/// that splits off the smallest prime factor at each level.
class Fourier {
public:
  explicit Fourier(int64_t count) : count(count), turns(count), in(count), out(count), mixed(count) {
    for (int64_t k = 0; k < count; ++k)
      turns[k] = std::polar(1.0, -2 * M_PI * double(k) / double(count));
  }
  /// `result` becomes |X|^2 of the first count / 2 + 1 frequencies; a shorter
  /// `frame` is padded with zeros.
  void power(const std::vector<double> &frame, std::vector<double> &result) {
    for (int64_t i = 0; i < count; ++i)
      in[i] = i < int64_t(frame.size()) ? frame[i] : 0;
    split(in.data(), 1, out.data(), count);
    result.resize(count / 2 + 1);
    for (size_t k = 0; k < result.size(); ++k)
      result[k] = std::norm(out[k]);
  }

private:
  using Complex = std::complex<double>;

  void split(const Complex *from, int64_t stride, Complex *to, int64_t n) {
    if (n == 1) {
      to[0] = from[0];
      return;
    }
    int64_t prime = 2;
    while (n % prime != 0)
      ++prime;
    int64_t part = n / prime;
    for (int64_t p = 0; p < prime; ++p)
      split(from + p * stride, stride * prime, to + p * part, part);
    for (int64_t k = 0; k < n; ++k) {
      mixed[k] = 0;
      for (int64_t p = 0; p < prime; ++p)
        mixed[k] += to[p * part + k % part] * turns[p * k % n * (count / n)];
    }
    std::copy_n(mixed.begin(), n, to);
  }

  int64_t count;
  std::vector<Complex> turns, in, out, mixed;
};

//===----------------------------------------------------------------------===//
// Mel filters: triangles between points that are evenly spaced in the mel
// scale.

double slaneyOf(double hertz) {
  return hertz < 1000 ? 3 * hertz / 200 : 15 + std::log(hertz / 1000) * (27 / std::log(6.4));
}
double hertzOf(double slaney) {
  return slaney < 15 ? 200 * slaney / 3 : 1000 * std::exp((slaney - 15) * (std::log(6.4) / 27));
}
double kaldiOf(double hertz) { return 1127 * std::log(1 + hertz / 700); }

/// Weights [filter][frequency].
using Filters = std::vector<std::vector<double>>;

/// Filter f rises from centres[f] to centres[f + 1] and falls to centres[f +
/// 2], all in the unit of `places`, the frequencies.
Filters triangles(const std::vector<double> &centres, const std::vector<double> &places) {
  Filters filters;
  for (size_t f = 0; f + 2 < centres.size(); ++f) {
    std::vector<double> weights;
    for (double place : places) {
      double up = (place - centres[f]) / (centres[f + 1] - centres[f]);
      double down = (centres[f + 2] - place) / (centres[f + 2] - centres[f + 1]);
      weights.push_back(std::max(0.0, std::min(up, down)));
    }
    filters.push_back(std::move(weights));
  }
  return filters;
}

/// Whisper's filters, each scaled to area 1.
Filters slaneyFilters(int64_t bins, int64_t fft, double rate, double highest) {
  std::vector<double> centres, places;
  for (int64_t i = 0; i < bins + 2; ++i)
    centres.push_back(hertzOf(slaneyOf(highest) * double(i) / double(bins + 1)));
  for (int64_t k = 0; k <= fft / 2; ++k)
    places.push_back(std::floor(rate / 2) * double(k) / double(fft / 2));
  Filters filters = triangles(centres, places);
  for (int64_t f = 0; f < bins; ++f)
    for (double &weight : filters[f])
      weight *= 2 / (centres[f + 2] - centres[f]);
  return filters;
}

Filters kaldiFilters(int64_t bins, int64_t fft, double rate) {
  std::vector<double> centres, places;
  double low = kaldiOf(20), high = kaldiOf(std::floor(rate / 2));
  for (int64_t i = 0; i < bins + 2; ++i)
    centres.push_back(low + (high - low) * double(i) / double(bins + 1));
  for (int64_t k = 0; k <= fft / 2; ++k)
    places.push_back(kaldiOf(rate / double(fft) * double(k)));
  return triangles(centres, places);
}

double dot(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

//===----------------------------------------------------------------------===//

/// Whisper: [bins][frames] of exactly `samples` samples; the sound is cut or
/// padded with zeros.
void logMel(std::vector<float> wave, const Settings &settings, int64_t rate, Features &features) {
  int64_t bins = settings.integer(sound::bins), fft = settings.integer(sound::n_fft),
          hop = settings.integer(sound::hop), length = int64_t(settings.number(sound::samples, double(30 * rate)));
  features.heard = length;
  features.cut = std::max<int64_t>(0, int64_t(wave.size()) - length);
  wave.resize(length, 0);
  std::vector<double> window, frame(fft), power;
  for (int64_t i = 0; i < fft; ++i)
    window.push_back(0.5 - 0.5 * std::cos(2 * M_PI * double(i) / double(fft)));
  Filters filters = slaneyFilters(bins, fft, double(rate), 8000);
  Fourier fourier(fft);
  // Frames are centred on their sample, the ends are mirrored, and the last
  // frame is dropped, as the library does.
  int64_t frames = length / hop;
  auto mirrored = [&](int64_t at) {
    at = at < 0 ? -at : at;
    return at >= length ? 2 * (length - 1) - at : at;
  };
  features.shape = {bins, frames};
  features.values.resize(bins * frames);
  double loudest = -1e300;
  std::vector<double> logs(bins * frames);
  for (int64_t t = 0; t < frames; ++t) {
    for (int64_t i = 0; i < fft; ++i)
      frame[i] = double(wave[mirrored(t * hop + i - fft / 2)]) * window[i];
    fourier.power(frame, power);
    for (int64_t f = 0; f < bins; ++f) {
      double &value = logs[f * frames + t];
      value = std::log10(std::max(1e-10, dot(filters[f], power)));
      loudest = std::max(loudest, value);
    }
  }
  for (size_t i = 0; i < logs.size(); ++i)
    features.values[i] = float((std::max(logs[i], loudest - 8) + 4) / 4);
}

/// Takes the mean of each of `bins` over the frames away, where `means` says
/// so, and divides by its deviation. `sample`: over one frame less, and a
/// variance of 0 is no fault.
void normalise(std::vector<double> &logs, int64_t bins, bool means, bool deviations, bool sample) {
  int64_t frames = int64_t(logs.size()) / bins;
  for (int64_t f = 0; f < bins; ++f) {
    double mean = 0, square = 0;
    for (int64_t t = 0; t < frames; ++t)
      mean += logs[t * bins + f] / double(frames);
    for (int64_t t = 0; t < frames; ++t)
      square += std::pow(logs[t * bins + f] - mean, 2) / double(sample ? frames - 1 : frames);
    double scale = sample ? std::sqrt(square + 1e-7) : deviations && square > 0 ? std::sqrt(square) : 1;
    for (int64_t t = 0; t < frames; ++t)
      logs[t * bins + f] = (logs[t * bins + f] - (means ? mean : 0)) / scale;
  }
}

/// Logarithms of Kaldi's filter banks. wav2vec2-bert: [frames / stride][bins *
/// stride], every bin normalised to mean 0 and variance 1 over the frames.
/// Speech2Text: [frames][bins], the same without the stride, if at all. AST:
/// [frames][bins] of a Hann window and samples up to 1, cut or filled up with
/// zeros, then (x - mean) / std.
Status filterBanks(const std::vector<float> &wave, const Settings &settings, int64_t rate, Features &features) {
  constexpr int64_t kFrame = 400, kHop = 160, kFft = 512;
  int64_t bins = settings.integer(sound::bins), stride = settings.integer(sound::stride),
          length = settings.integer(sound::frames);
  bool hann = settings.has(sound::hann), alone = length > 0;
  int64_t frames = 1 + (int64_t(wave.size()) - kFrame) / kHop;
  if (int64_t(wave.size()) < kFrame || (!alone && frames / stride < 2))
    return badInput("the sound is too short for this model");
  std::vector<double> window, frame(kFrame), power;
  for (int64_t i = 0; i < kFrame; ++i)
    window.push_back(std::pow(0.5 - 0.5 * std::cos(2 * M_PI * double(i) / double(kFrame - 1)), hann ? 1 : 0.85));
  Filters filters = kaldiFilters(bins, kFft, double(rate));
  Fourier fourier(kFft);
  std::vector<double> logs(frames * bins);
  for (int64_t t = 0; t < frames; ++t) {
    double mean = 0;
    for (int64_t i = 0; i < kFrame; ++i)
      mean += frame[i] = double(wave[t * kHop + i]) * (hann ? 1 : 32768);
    mean /= kFrame;
    for (double &sample : frame)
      sample -= mean;
    for (int64_t i = kFrame - 1; i > 0; --i)
      frame[i] -= 0.97 * frame[i - 1];
    frame[0] *= 1 - 0.97;
    for (int64_t i = 0; i < kFrame; ++i)
      frame[i] *= window[i];
    fourier.power(frame, power);
    for (int64_t f = 0; f < bins; ++f)
      logs[t * bins + f] = std::log(std::max(1.192092955078125e-07, dot(filters[f], power)));
  }
  if (alone) {
    features.heard = length * kHop;
    features.cut = std::max<int64_t>(0, frames - length) * kHop;
    logs.resize(length * bins, 0);
    for (double &x : logs)
      x = (x - settings.number(sound::mean)) / settings.number(sound::std);
    frames = length;
  } else {
    bool speech = settings.has(sound::means);
    normalise(logs, bins, settings.flag(sound::means), settings.flag(sound::deviations), !speech);
  }
  // Neighbouring frames are joined `stride` at a time; a rest is dropped.
  features.shape = {frames / stride, bins * stride};
  features.values.assign(logs.begin(), logs.begin() + frames / stride * stride * bins);
  return {};
}

} // namespace

Status soundFeatures(const Sound &sound, const Settings &settings, Features &features) {
  int64_t rate = settings.integer(sound::rate);
  Sound same = resampled(sound, rate);
  if (settings.has(sound::fbank))
    return filterBanks(same.samples, settings, rate, features);
  if (!settings.has(sound::raw)) {
    logMel(std::move(same.samples), settings, rate, features);
    return {};
  }
  features.values = std::move(same.samples);
  features.shape = {int64_t(features.values.size())};
  if (settings.flag(sound::normalize)) {
    double mean = 0, square = 0, count = double(features.values.size());
    for (float value : features.values)
      mean += value / count;
    for (float value : features.values)
      square += (value - mean) * (value - mean) / count;
    for (float &value : features.values)
      value = float((value - mean) / std::sqrt(square + 1e-7));
  }
  return {};
}

} // namespace heddle::rt
