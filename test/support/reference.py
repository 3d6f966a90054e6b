"""Layers of published models in numpy, in double precision: what small models of the suite are compared with.

Rows are [B, T, width]; the heads of a row lie side by side. A mask says what is seen and has a shape that goes with [B, heads, T, S].
A family's own arithmetic stays in its test; what two families share is here, once."""
import math

import numpy as np

EPS = 1e-5  # of norms, where a model says no other
HEADS = 4   # of the small models


#--- functions of a number ---------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def quick_gelu(x):
    return x * sigmoid(1.702 * x)


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def relu(x):
    return np.maximum(x, 0)


#--- functions of a row ------------------------------------------------------


def softmax(x):
    """Over the last axis; -inf is what is not seen, and a row that sees nothing is 0."""
    most = x.max(-1, keepdims=True)
    p = np.exp(x - np.where(np.isfinite(most), most, 0))
    return p / np.maximum(p.sum(-1, keepdims=True), 1e-300)


def layer_norm(x, weight=1.0, bias=0.0, eps=EPS):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * weight + bias


def rms_norm(x, weight=1.0, eps=EPS):
    return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + eps) * weight


#--- positions ---------------------------------------------------------------


def sinusoids(at, frequencies):
    """[..., 2 * frequencies]: the sines of places `at`, then their cosines."""
    angle = np.asarray(at, np.float64)[..., None] * frequencies
    return np.concatenate([np.sin(angle), np.cos(angle)], -1)


def frequencies(width, theta=10000.0):
    """Of width / 2 pairs of features: 1, and then slower."""
    return theta ** (-np.arange(width // 2) / (width // 2))


def rotary(x, heads=HEADS, theta=10000.0, pairs=False, part=1.0, frequencies=None, amplitude=1.0, angle=None):
    """Row t turned to position t: the first `part` of each head, features i and i + n together, or neighbours (pairs).
    angle: [T, n] of each row, where rows are no positions."""
    x = x.reshape(*x.shape[:2], heads, -1)
    n = int(x.shape[-1] * part) // 2
    if angle is None:
        angle = np.arange(x.shape[1])[:, None] * (theta ** (-np.arange(n) / n) if frequencies is None else frequencies)
    c, s = (amplitude * t[None, :, None] for t in (np.cos(angle), np.sin(angle)))
    a, b, rest = (x[..., :2 * n:2], x[..., 1:2 * n:2], x[..., 2 * n:]) if pairs else (x[..., :n], x[..., n:2 * n], x[..., 2 * n:])
    a, b = a * c - b * s, b * c + a * s
    y = np.stack([a, b], -1).reshape(*a.shape[:3], 2 * n) if pairs else np.concatenate([a, b], -1)
    return np.concatenate([y, rest], -1).reshape(*x.shape[:2], -1)


def counted(ids, pad):
    """Positions of what is no padding, from pad + 1."""
    real = (ids != pad).astype(np.int64)
    return np.cumsum(real, 1) * real + pad


def bucket(distance, two_sided, buckets=8, far=6):
    """T5's bucket of a distance, key - query."""
    base = 0
    if two_sided:
        buckets //= 2
        base = (distance > 0) * buckets
    distance = np.abs(distance) if two_sided else np.maximum(-distance, 0)
    exact = buckets // 2
    large = exact + (np.log(np.maximum(distance, 1) / exact) / np.log(far / exact) * (buckets - exact)).astype(np.int64)
    return base + np.where(distance < exact, distance, np.minimum(large, buckets - 1))


#--- attention ---------------------------------------------------------------


def by_heads(x, heads=HEADS):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def joined(x):
    """What by_heads has made of rows, as rows."""
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def causal(real):
    """[B, T] -> [B, 1, T, T]: what is no padding and not later."""
    return np.tril(np.ones((real.shape[1],) * 2, bool)) & (real > 0)[:, None, None]


def attention(q, k, v, mask=None, bias=0.0, scale=None, heads=HEADS):
    """Keys have heads as wide as queries, perhaps fewer, each for a group of them. `bias` is added to the scores after `scale`,
    which is 1 / sqrt(width of a head) unless it is given."""
    groups = q.shape[-1] // k.shape[-1]
    q, k, v = by_heads(q, heads), by_heads(k, heads // groups), by_heads(v, heads // groups)
    k, v = (np.repeat(t, groups, axis=1) for t in (k, v))
    scores = q @ k.swapaxes(2, 3) * (q.shape[-1] ** -0.5 if scale is None else scale) + bias
    return joined(softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ v)


#--- pictures and sound ------------------------------------------------------


def cubic(new, old, scale):
    """[new, old]: row i reads old at (i + 1/2) / scale - 1/2, four taps, a = -3/4, the edge beyond the edge."""
    matrix = np.zeros((new, old))
    for i in range(new):
        at = (i + 0.5) / scale - 0.5
        for tap in range(math.floor(at) - 1, math.floor(at) + 3):
            d = abs(at - tap)
            w = 1.25 * d ** 3 - 2.25 * d ** 2 + 1 if d <= 1 else -0.75 * d ** 3 + 3.75 * d ** 2 - 6 * d + 3
            matrix[i, min(max(tap, 0), old - 1)] += w
    return matrix


def corners(new, old, longest):
    """[longest, old]: linear, corner on corner, nothing past the new ones."""
    matrix = np.zeros((longest, old))
    for i in range(new):
        at = i * (old - 1) / max(new - 1, 1)
        matrix[i] = np.maximum(0, 1 - np.abs(at - np.arange(old)))
    return matrix


#--- layers with weights -----------------------------------------------------


class Reference:
    """The weights of a model by name, and what layers do with them; `eps` is that of its layer norms."""

    def __init__(self, named, eps=EPS):
        self.named, self.eps = {k: v.astype(np.float64) for k, v in named.items()}, eps

    def linear(self, name, x):
        y = x @ self.named[name + ".weight"].T
        return y + self.named[name + ".bias"] if name + ".bias" in self.named else y

    def norm(self, name, x, eps=None):
        return layer_norm(x, self.named[name + ".weight"], self.named.get(name + ".bias", 0.0), self.eps if eps is None else eps)

    def rms(self, name, x, eps=EPS):
        return rms_norm(x, self.named[name + ".weight"], eps)

    def attend(self, x, names, mask=None, bias=0.0):
        q, k, v = (self.linear(n, x) for n in names)
        return attention(q, k, v, mask, bias)

    def patches(self, name, pixels, high, wide):
        """[B, patches, features] of pictures [B, channels, height, width], cut into whole patches."""
        b, c, height, width = pixels.shape
        cut = pixels[:, :, :height // high * high, :width // wide * wide].reshape(b, c, height // high, high, width // wide, wide)
        kernel = self.named[name + ".weight"]
        return np.einsum("bciyjx,mcyx->bijm", cut, kernel).reshape(b, -1, len(kernel)) + self.named[name + ".bias"]

    def convolved(self, name, x, stride=1, groups=1):
        """[B, T, c] under a kernel [out, c / groups, taps]."""
        kernel, c = self.named[name + ".weight"], x.shape[2] // groups
        m, taps = len(kernel) // groups, kernel.shape[2]
        windows = np.stack([x[:, t:x.shape[1] - taps + 1 + t:stride] for t in range(taps)], -1)
        y = np.concatenate([np.einsum("btcu,ocu->bto", windows[:, :, g * c:(g + 1) * c], kernel[g * m:(g + 1) * m]) for g in range(groups)], -1)
        return y + self.named.get(name + ".bias", 0)
