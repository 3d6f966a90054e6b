#!/usr/bin/env python3
"""What this card and PyTorch's libraries reach: copies, products, attention. `rivals.py`

Medians of 30 runs, timed by events: bandwidth of a copy, cuBLAS from 1024 to 8192, a linear with
GELU, attention by cuDNN and by FlashAttention 2 with heads of 64 and 128 features. Exit status
0, or 77 where there is no PyTorch with a GPU."""
import statistics
import sys

try:
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError as error:
    print("rivals: skipped: no PyTorch (%s)" % error)
    sys.exit(77)

RUNS, WARM_UP = 30, 5
HEADS = 16
BACKENDS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "FA2": SDPBackend.FLASH_ATTENTION}


def milliseconds(work):
    for _ in range(WARM_UP):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(RUNS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def copies():
    x = torch.randn(1 << 30, device="cuda")
    y = torch.empty_like(x)
    ms = milliseconds(lambda: y.copy_(x))
    print("copy: %.2f TB/s, read and written" % (2 * x.nbytes / ms / 1e9))


def products():
    for n in (1024, 2048, 4096, 8192):
        a, b = random(n, n), random(n, n)
        ms = milliseconds(lambda: a @ b)
        print("product %d^3 in bf16: %.1f TFLOP/s" % (n, 2 * n**3 / ms / 1e9))
    a, w = random(1024, 768), random(3072, 768)
    plain = milliseconds(lambda: F.linear(a, w))
    gelu = milliseconds(lambda: F.gelu(F.linear(a, w), approximate="tanh"))
    print("linear 1024 x 768 x 3072: %.1f us, with GELU (tanh) %.1f us" % (1e3 * plain, 1e3 * gelu))


def attention(features, length, causal):
    """Operations of a causal mask are half of all."""
    q, k, v = (random(1, HEADS, length, features) for _ in range(3))
    operations = 4 * HEADS * length * length * features * (0.5 if causal else 1)
    mask = "causal" if causal else "full"
    line = "attention, heads of %d, %d words, %s:" % (features, length, mask)
    for name, backend in BACKENDS.items():
        try:
            with sdpa_kernel(backend):
                ms = milliseconds(
                    lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal))
            line += " %s %.0f TFLOP/s" % (name, operations / ms / 1e9)
        except RuntimeError as e:  # this backend has no kernel for it
            line += " %s: %s" % (name, str(e)[:60])
    print(line, flush=True)


def main():
    if not torch.cuda.is_available():
        print("rivals: skipped: PyTorch finds no GPU")
        return 77
    name, versions = torch.cuda.get_device_name(), (torch.__version__, torch.version.cuda)
    print("%s, PyTorch %s, CUDA %s" % (name, *versions))
    copies()
    products()
    for features in (64, 128):
        for length in (1024, 8192):
            for causal in (True, False):
                attention(features, length, causal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
