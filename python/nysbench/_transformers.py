# SPDX-License-Identifier: GPL-3.0-or-later
"""The attention of a Hugging Face model, taken over through transformers' attention interface.

A model asks the interface for the function that its config names. `taken_over` registers a function of its own, names
it in the configs of the model, and gives each call to a handler; all is as before when the context ends. The masks
stay those that the model makes for its own attention, and what a handler does not want goes there.

q (batch, heads, n, d), k (batch, key heads, n, d), v (batch, key heads, n, dv) are tensors; a key head serves
heads / key heads query heads that follow each other. outputs: (batch, n, heads, dv).
"""
from __future__ import annotations

import contextlib
import inspect
import itertools
import re
import sys
from dataclasses import dataclass

from ._arguments import ArgumentError

# Rounding of float32, and how many numbers of a matrix of scores are held at a time.
ROUNDING, AT_A_TIME = 2.0**-24, 2**22

# Whatever of this is given to an attention changes its scores.
_CHANGES = {"softcap": "soft-capping of the scores", "s_aux": "sinks", "sinks": "sinks",
            "position_bias": "a position bias", "head_mask": "a head mask", "indices": "a choice of keys"}

_numbers = itertools.count()


def needs(name):
    """An imported module; ImportError says what to install."""
    try:
        return __import__(name)
    except ImportError as error:
        raise ImportError(f"{error}: Hugging Face models need the packages torch and transformers") from error


def require_model(model):
    torch = needs("torch")
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model: expected a module of transformers, not {type(model).__name__}")


def layer_number(name):
    """encoder.layer.3.attention.self -> 3; 0 where the name has no number."""
    found = re.findall(r"(?<![^.])\d+(?![^.])", name)
    return int(found[-1]) if found else 0


@dataclass
class Call:
    """One attention of one pass; number: of its layer; crossed: whether it attends to another sequence, None: not
    known."""
    module: object
    name: str
    number: int
    q: object
    k: object
    v: object
    mask: object
    options: dict
    crossed: bool | None
    implementation: str
    next: object
    own: object

    def outputs(self):
        """(outputs, weights or None) that there would be without this context."""
        return self.next(self.module, self.q, self.k, self.v, self.mask, **self.options)

    def own_outputs(self, **others):
        """Outputs of the model's own attention, below all contexts; others: q, k, v or mask to use instead."""
        q, k, v, mask = (others.get(name, getattr(self, name)) for name in ("q", "k", "v", "mask"))
        return self.own(self.module, q, k, v, mask, **self.options)[0]

    def factor(self):
        """What q is to be multiplied by so that softmax(q k'/sqrt d) has the model's scale."""
        scale, d = self.options.get("scaling"), self.q.shape[-1]
        factor = 1.0 if scale is None else float(scale) * d**0.5
        return 1.0 if abs(factor - 1) < 1e-12 else factor

    def refuse(self, reason):
        raise ArgumentError(f"{self.name}: {reason}")

    def check_plain(self):
        """Refuses what is known to be more than softmax(q k'/sqrt d) v over all keys, or all up to the query's own."""
        if self.q.shape[-2] != self.k.shape[-2]:
            self.refuse(
                f"{self.q.shape[-2]} queries and {self.k.shape[-2]} keys: "
                f"{'it attends to another sequence, or ' if self.crossed is None else ''}the pass continues a cache; "
                "give whole inputs, with use_cache=False")
        for option, what in _CHANGES.items():
            if self.options.get(option) is not None:
                self.refuse(f"its attention has {what} ({option})")
        if self.module.training and self.options.get("dropout"):
            self.refuse(
                "it trains, with dropout: call model.eval() first, or set the config's dropout of attention to 0")

    def check_replaceable(self):
        """Refuses what another attention cannot stand for."""
        self.check_plain()
        if self.options.get("output_attentions"):
            self.refuse("its weights are asked for (output_attentions), which an attention in its place does not have")

    def replaced(self, attention, causal):
        """Outputs that attention(q, k, v, causal=...) of tensors, (batch, heads, n, dv), has in this one's place."""
        factor = self.factor()
        q = self.q if factor == 1 else self.q * factor
        return attention(q, self.k, self.v, causal=causal).transpose(1, 2).to(self.q.dtype).contiguous()

    def causal(self):
        """True or False; ArgumentError if the mask is neither causal nor lets all be seen."""
        if self.mask is None:
            if self.implementation != "sdpa" or self.q.shape[-2] == 1:
                return False
            causal = self.options.get("is_causal")
            return bool(getattr(self.module, "is_causal", True) if causal is None else causal)
        kind = _kind_of(self.mask, self.q.shape[-2], self.k.shape[-2])
        if kind not in ("all", "causal"):
            self.refuse(kind)
        return kind == "causal"


def _kind_of(mask, n, keys):
    """"all", "causal", or why a mask is neither; masks of bool let True be seen, others are added to the scores."""
    torch = needs("torch")
    if not torch.is_tensor(mask) or mask.ndim != 4 or mask.shape[-1] != keys or mask.shape[-2] not in (1, n):
        return f"a mask that is not known: {getattr(mask, 'shape', type(mask).__name__)}"
    seen = mask if mask.dtype == torch.bool else mask > -1e4  # whose exponential is 0
    if mask.dtype != torch.bool and bool(((mask != 0) & seen).any()):
        return "its mask adds numbers to the scores, such as a position bias"
    if bool(seen.all()):
        return "all"
    seen = seen.expand(*seen.shape[:2], n, keys)
    lower = torch.ones(n, keys, dtype=torch.bool, device=seen.device).tril()
    if bool((seen == lower).all()):
        return "causal"
    return _other_kind(seen, lower)


def _other_kind(seen, lower):
    """The window, the padding or the chunks in what is seen, (batch, heads, n, n)."""
    n, everything = seen.shape[-1], lower | True
    place = needs("torch").arange(n, device=seen.device)
    for base, row, sides in ((lower, -1, ""), (everything, 0, " to either side")):
        width = int(seen[0, 0, row].sum())
        if bool((seen == (base & ((place[:, None] - place).abs() < width))).all()):
            return f"a sliding window of {width} keys{sides}, fewer than the {n} tokens: give no more tokens than that"
    hidden = ~seen.any(-2)
    if not bool(hidden.any()):  # causal, with padding before the text
        hidden = ~(seen | ~lower).all(-2)
    count, first = seen.sum(-1), seen.int().argmax(-1)
    free = hidden & ((count == 0) | (count == n) | ((count == 1) & (first == place)))  # rows that nobody looks at
    for base in (lower, everything):
        if bool(((seen == (base & ~hidden[..., None, :])).all(-1) | free).all()):
            return (f"padding: {int(hidden[:, 0].sum())} of the tokens are masked; give inputs without it, "
                    "one at a time or of one length")
        if bool((seen == (base & (first[..., :, None] == first[..., None, :]))).all()):
            return (f"its attention is in chunks of {int(count.max())} tokens, of which none sees another: "
                    "give no more tokens than that, or each text alone")
    return "its mask is neither causal nor lets all keys be seen"


def plain(q, k, v, causal, rows=None):
    """softmax(q k'/sqrt d) v, in the type of q: outputs; of some rows, numbers in increasing order, or of all."""
    torch = needs("torch")
    batch, heads, n, d = q.shape
    rows = torch.arange(n, device=q.device) if rows is None else rows
    group, out = heads // k.shape[1], q.new_empty(batch, len(rows), heads, v.shape[-1])
    step = max(1, AT_A_TIME // (n * group))
    for b, h, r in itertools.product(range(batch), range(k.shape[1]), range(0, len(rows), step)):
        mine, some = slice(h * group, (h + 1) * group), rows[r:r + step]
        keys = int(some[-1]) + 1 if causal else n
        scores = (q[b, mine, some] * d**-0.5) @ k[b, h, :keys].T
        if causal:
            scores.masked_fill_(torch.arange(keys, device=q.device) > some[:, None], float("-inf"))
        out[b, r:r + step, mine] = (scores.softmax(-1) @ v[b, h, :keys]).transpose(0, 1)
    return out


@contextlib.contextmanager
def full_precision(device):
    """float32 is multiplied as such, whatever torch.autocast and torch.set_float32_matmul_precision ask for around."""
    torch = needs("torch")
    parts = [part for part in (torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None))
             if hasattr(part, "fp32_precision")]  # since torch 2.9, where the older functions may raise an error
    with contextlib.ExitStack() as after:
        for part in parts:
            after.callback(setattr, part, "fp32_precision", part.fp32_precision)
            part.fp32_precision = "ieee"
        if not parts:
            after.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
            torch.set_float32_matmul_precision("highest")
        after.enter_context(torch.autocast(device.type, enabled=False))
        yield


def off_by(q, k, v, causal, outputs):
    """(error, allowed): the largest difference of the outputs to softmax(q k'/sqrt d) v, parts of the largest output.

    q, k, v: float32. The formula in float32 is off from that in double by e, measured in 64 rows, half of them those of
    the longest queries, whose scores round most. Allowed are 10 e, since both outputs round, others add in another
    order and have another exponential, and rows that are not measured may be worse; and 10 roundings of the largest
    output.
    """
    torch = needs("torch")
    n = q.shape[-2]
    longest = q.square().sum(-1).amax((0, 1)).topk(min(n, 32)).indices
    even = torch.linspace(0, n - 1, 32, device=q.device, dtype=torch.float64).long()
    rows = torch.cat([longest, even]).unique()
    with full_precision(q.device):
        found, exact = plain(q, k, v, causal), plain(q.double(), k.double(), v.double(), causal, rows)
    largest = float(found.abs().max()) or 1.0
    rounding = float((found[:, rows] - exact).abs().max())
    return float((outputs - found).abs().max()) / largest, 10 * (rounding / largest + ROUNDING)


def check_outputs(call, error, allowed):
    """Refuses an attention whose outputs are not what q, k and v give."""
    if error <= allowed:
        return
    given = ", ".join(name for name, value in call.options.items()
                      if name not in ("scaling", "dropout") and value is not None and value is not False)
    call.refuse(f"its attention is not softmax(q k'/sqrt d) v: off by {error:.1e} of its largest output, "
                f"rounding allows {allowed:.1e} (soft-capping, sinks, a bias, or products in less than float32?)"
                + (f"; it is also given {given}" if given else ""))


def _asking(module):
    """The class of a module whose forward asks the interface, and the names known there; or (None, {})."""
    for kind in type(module).__mro__:
        known = getattr(sys.modules.get(kind.__module__), "__dict__", {})
        if "ALL_ATTENTION_FUNCTIONS" in known and "ALL_ATTENTION_FUNCTIONS" in _used(kind):
            return kind, known
    return None, {}


def _used(kind):
    """Names that are used in the forward of a class."""
    code = getattr(inspect.unwrap(vars(kind).get("forward")), "__code__", None)
    return getattr(code, "co_names", ())


def _own(module, implementation):
    """The function that a module would call without us."""
    kind, known = _asking(module)
    if kind is None:
        raise ArgumentError(f"{type(module).__name__}: it is not its forward that asks the attention interface")
    if implementation != "eager":
        return known["ALL_ATTENTION_FUNCTIONS"][implementation]
    for name in _used(kind):
        if name.endswith("eager_attention_forward"):
            return known[name]
    raise ArgumentError(f"{type(module).__name__}: its eager attention is not known")


def _configs(model):
    """Each config that a module of the model has, once."""
    found = {}
    for module in model.modules():
        config = getattr(module, "config", None)
        if hasattr(config, "_attn_implementation_internal"):
            found[id(config)] = config
    return list(found.values())


def _other_states(module):
    """Names of the states that a module's forward takes beside its first: those of another sequence. Keys and values
    that layers of one sequence share are no such states, and are no tensor but a dict of them."""
    names = list(inspect.signature(type(module).forward).parameters)[1:]
    return [
        name for name in names[1:]
        if name in ("key", "context") or name.endswith("_states") and not name.startswith("past")
    ]


class _Crossing:
    """Which modules attend, in the present call, to states of another sequence."""

    def __init__(self, model):
        self.now, self._hooks = set(), []
        for module in model.modules():
            others = _other_states(module)
            if others:
                names = list(inspect.signature(type(module).forward).parameters)[1:]
                hook = self._hook(names, others)
                self._hooks.append(module.register_forward_pre_hook(hook, with_kwargs=True))

    def _hook(self, names, others):
        is_tensor = needs("torch").is_tensor

        def hook(module, args, kwargs):
            given = {**dict(zip(names, args)), **kwargs}
            mine = given.get(names[0])
            crossed = any(is_tensor(given.get(name)) and given[name] is not mine for name in others)
            (self.now.add if crossed else self.now.discard)(id(module))
        return hook

    def remove(self):
        for hook in self._hooks:
            hook.remove()


@contextlib.contextmanager
def taken_over(model, handler):
    """handler(call) -> (outputs, weights or None) has each attention of the model. Contexts may be nested.

    ArgumentError at once for a model without configs of transformers, or one whose attention is neither eager, sdpa nor
    ours; in a pass for attentions that cannot be found out about.
    """
    needs("torch")
    transformers = needs("transformers")
    from transformers.masking_utils import AttentionMaskInterface
    from transformers.modeling_utils import AttentionInterface
    masks, functions = AttentionMaskInterface._global_mapping, AttentionInterface._global_mapping
    before = [(config, config._attn_implementation_internal) for config in _configs(model)]
    if not before:
        raise ArgumentError(f"{type(model).__name__} is no model of transformers: no part has a config")
    if not any(_asking(module)[0] for module in model.modules()):
        raise ArgumentError(f"{type(model).__name__}: none of its attention goes through the attention interface of "
                            f"transformers {transformers.__version__}")
    names, modules = {}, {id(module): name for name, module in model.named_modules()}
    for implementation in {name or "eager" for _, name in before}:
        if implementation not in ("eager", "sdpa") and implementation not in _ours:
            raise ArgumentError(f"the model's attention is {implementation!r}: "
                                "load it with attn_implementation 'sdpa' or 'eager'")
        names[implementation] = f"nysbench-{next(_numbers)}"
    crossing = _Crossing(model)

    def function(implementation):
        base = _ours.get(implementation, implementation)

        def attend(module, query, key, value, attention_mask=None, **options):  # names by which some models call it
            name = modules.get(id(module))
            beneath = _own(module, implementation)
            if name is None:  # another model's that shares a config
                return beneath(module, query, key, value, attention_mask, **options)
            crossed, own = id(module) in crossing.now, _own(module, base)
            return handler(
                Call(module, name, layer_number(name), query, key, value, attention_mask, options, crossed, base,
                     beneath, own))
        return attend

    try:
        for implementation, name in names.items():
            _ours[name] = _ours.get(implementation, implementation)
            AttentionInterface.register(name, function(implementation))
            AttentionMaskInterface.register(name, masks[_ours[name]])
        for config, implementation in before:
            config._attn_implementation_internal = names[implementation or "eager"]
        yield
    finally:
        for config, implementation in before:
            config._attn_implementation_internal = implementation
        for name in names.values():
            for table in (_ours, functions, masks):
                table.pop(name, None)
        crossing.remove()


# Names that contexts have registered: the model's own implementation below them.
_ours: dict[str, str] = {}
