"""A side's figures as HTML, renewed once per second."""

from collections.abc import Sequence
from html import escape

from lab.live.figures import Sample

AT_ONCE_S = 1.0
"""A post that was found sooner lights up in the first colour."""
NAMES = ("Bob", "Carla", "Dan", "Eve", "Femi")
"""What the first of the watched friends are called."""


def figures(sample: Sample | None) -> str:
    """Return the list of figures; dashes before the load has begun."""
    rows = _rows(sample) if sample else [(name, "-", "") for name in ("Offered", "Accepted")]
    return _list("large", _first(sample)) + _list("figures", rows)


def _list(kind: str, rows: Sequence[tuple[str, str, str]]) -> str:
    cells = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(more)}</small></dd></div>"
        for name, value, more in rows
    )
    return f"<dl class={kind}>{cells}</dl>"


def _first(sample: Sample | None) -> list[tuple[str, str, str]]:
    """Return what to look at first: whether posts are taken, and when friends have them."""
    offered = sample.rates["offered"] if sample else 0.0
    share = f"{min(1.0, sample.rates['accepted'] / offered):.0%}" if sample and offered else "-"
    lag_ms = sample.lag_ms if sample else {"p50": None, "p99": None}
    return [
        ("Accepted ÷ offered", share, "of the last second"),
        ("Lag p50", _ms(lag_ms["p50"]), f"p99 {_ms(lag_ms['p99'])}, of the last ten seconds"),
    ]


def _rows(sample: Sample) -> list[tuple[str, str, str]]:
    """Return name, figure and what is said in small letters."""
    why = f"; lately: {sample.why_failed}" if sample.why_failed else ""
    rows = [
        (name.capitalize(), f"{sample.rates[name]:,.0f}/s", f"{sample.totals[name]:,} posts{more}")
        for name, more in {"offered": "", "accepted": "", "refused": "", "failed": why}.items()
    ]
    backlog = "-" if sample.backlog is None else f"{sample.backlog:,}"
    pages = f"{sample.totals['reads']:,} pages, {sample.totals['reads_failed']:,} refused or failed"
    oldest = "not told" if sample.oldest_s is None else f"oldest {sample.oldest_s:,.1f} s"
    return [
        *rows,
        ("Answer p50", _ms(sample.answer_ms["p50"]), f"p99 {_ms(sample.answer_ms['p99'])}"),
        ("Backlog", backlog, oldest),
        ("Reads", f"{sample.rates['reads']:,.0f}/s", pages),
    ]


def friends(sample: Sample | None) -> str:
    """Return friends by name, then a grid of all: lit where the watched post is in their feed."""
    watched = sample.watched if sample else []
    if not watched:
        return "<p>No post is watched yet.</p>"
    cells = "".join(f"<i class={_colour(age)}></i>" for age in watched)
    text = f"One post, and {len(watched)} friends of its author: {lit(watched)} have it"
    named = "".join(
        f"<span class={_colour(age)}>→ {name}</span>"
        for name, age in zip(NAMES, watched, strict=False)
    )
    return (
        f"<p class=people aria-hidden=true><b>Ann posts</b> {named}</p>"
        f'<div class=friends role=img aria-label="{text}">{cells}</div><p>{text}. Green: within '
        "a second; orange: later; grey: not seen, or the look was refused or failed.</p>"
    )


def lit(watched: Sequence[float | None]) -> int:
    return sum(age is not None for age in watched)


def _colour(age_s: float | None) -> str:
    if age_s is None:
        return "dark"
    return "soon" if age_s < AT_ONCE_S else "late"


def audit(sample: Sample | None) -> str:
    """Return what is known of the posts that were looked for."""
    if sample is None or not any(sample.audit.values()):
        return "<p class=audit>Audit: no post has been looked for yet.</p>"
    found, missing, pending = (sample.audit[kind] for kind in ("found", "missing", "pending"))
    kind = "bad" if missing else "good"
    return (
        f"<p class='audit {kind}'>Audit from outside, a sample: {found + missing:,} delivered "
        f"posts looked for in a friend's feed, <b>{missing:,} missing</b>; {pending:,} more wait "
        "for their delivery or for a page.</p>"
    )


def now(sample: Sample | None) -> str:
    """Return what is so after a fault."""
    if sample is None:
        return ""
    backlog = "unknown" if sample.backlog is None else f"{sample.backlog:,}"
    return (
        f" Now: {sample.rates['accepted']:,.0f} of {sample.rates['offered']:,.0f} posts/s accepted,"
        f" backlog {backlog}, {sample.audit['missing']:,} missing."
    )


def cores(by_role: dict[str, float]) -> str:
    """Return how busy the processes of each role are."""
    rows = "".join(
        f"<li><span>{escape(role)}</span><meter min=0 max=2 value={busy:.2f} "
        f"aria-label='cores of {escape(role)}'></meter><span>{busy:.2f}</span></li>"
        for role, busy in sorted(by_role.items(), key=lambda item: -item[1])
    )
    return f"<ul class=cores>{rows}</ul>" if rows else "<p>No process runs.</p>"


def _ms(number: float | None) -> str:
    return "-" if number is None else f"{number:,.0f} ms"


def summary(sample: Sample | None) -> str:
    """Return a sample in one sentence."""
    if sample is None:
        return "no figures."
    return (
        f"{sample.totals['accepted']:,} of {sample.totals['offered']:,} posts accepted, "
        f"{sample.totals['refused']:,} refused, {sample.totals['failed']:,} failed; answer p99 "
        f"{_ms(sample.answer_ms['p99'])}, lag p99 {_ms(sample.lag_ms['p99'])}, backlog "
        f"{'-' if sample.backlog is None else format(sample.backlog, ',')}; one post in "
        f"{lit(sample.settled)} of {len(sample.settled)} feeds; {sample.audit['missing']:,} of "
        f"{sample.audit['missing'] + sample.audit['found']:,} delivered posts are missing."
    )
