# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions that transformers are made of: float32, on arrays (tokens, width) and heads (heads, tokens, d)."""
import numpy as np

WHOLE, BLOCK = 2048, 512  # longest heads whose scores are held at once; queries at a time of longer ones

ERF_TOP = np.float32([-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
                      -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02])
ERF_BOTTOM = np.float32([-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
                         -1.42647390514189e-02])


def _polynomial(coefficients, x):
    value = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        value *= x
        value += c
    return value


def erf(x):
    """The error function, to 4e-7: the quotient of polynomials that Eigen has for it."""
    x = np.clip(x, np.float32(-4), np.float32(4))
    square = x * x
    x *= _polynomial(ERF_TOP, square)
    x /= _polynomial(ERF_BOTTOM, square)
    return x


def gelu(x):
    value = erf(x * np.float32(np.sqrt(0.5)))
    value += 1
    value *= x
    value *= np.float32(0.5)
    return value


def silu(x):
    return x / (1 + np.exp(-x))


def linear(x, weight, bias=None):
    """x weight' + bias, weight (out, in)."""
    out = x @ weight.T
    if bias is not None:
        out += bias
    return out


def layer_norm(x, gain, shift, eps):
    x = x - x.mean(axis=-1, keepdims=True)
    x /= np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(eps))
    x *= gain
    x += shift
    return x


def rms_norm(x, gain, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(eps)) * gain


def rotary(x, base):
    """Rotary embedding of (heads, n, d): numbers i and i + d/2 of a row turn by base^(-2i/d) a position."""
    n, d = x.shape[1:]
    angle = np.arange(n)[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    left, right = x[..., :d // 2], x[..., d // 2:]
    return np.concatenate([left * cos - right * sin, right * cos + left * sin], axis=-1)


def conv1d(x, weight, bias, stride):
    """x (width, n) padded by one on both sides, weight (out, width, 3); returns (n / stride, out)."""
    padded = np.pad(x, ((0, 0), (1, 1)))
    out = sum(padded[:, tap:tap + x.shape[1]:stride].T @ weight[:, :, tap].T for tap in range(3))
    return out + bias


def split(x, heads):
    """(n, heads d) to (heads, n, d), C-contiguous, as attention functions take it."""
    return np.ascontiguousarray(x.reshape(len(x), heads, -1).transpose(1, 0, 2))


def merge(x):
    """(heads, n, d) to (n, heads d)."""
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def softmax(scores):
    """In place, along the last axis."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores


def exact_attention(layer, q, k, v, causal):
    """softmax(q k' / sqrt d) v, (heads, n, d) and (key heads, n, d); key heads divide the heads. The layer does not
    matter: it is there for other attentions, which take its place."""
    k, v = (np.repeat(x, len(q) // len(x), axis=0) for x in (k, v))
    n = q.shape[1]
    rows = n if n <= WHOLE else BLOCK
    return np.concatenate([_some_rows(q[:, at:at + rows], k, v, at if causal else n) for at in range(0, n, rows)], axis=1)


def _some_rows(q, k, v, sees):
    """The outputs of some queries: the first sees the keys up to number `sees`, the next one more, and so on."""
    scores = q @ k.transpose(0, 2, 1)
    scores *= np.float32(1 / np.sqrt(q.shape[-1]))
    if sees < k.shape[1]:
        scores[:, np.triu(np.ones(scores.shape[1:], bool), sees + 1)] = -np.inf
    return softmax(scores) @ v
