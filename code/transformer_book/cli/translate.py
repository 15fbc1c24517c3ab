"""`translate`: texts, the lines of stdin, or what is typed at a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from transformer_book.cli import options
from transformer_book.cli.messages import one_line, warn

if TYPE_CHECKING:
    from transformer_book.translator import Encoded, Translation, Translator

    Column = Callable[[str, Translation], str]  # of the text and its translation, behind the latter

CHUNK = 512  # lines that are translated together: enough to sort them by length
NAMED = 10  # unknown words that are named; the others are counted


def translate(
    model: options.Model,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What to translate.", show_default="lines of stdin"),
    ] = None,
    beam_size: options.BeamSize = None,
    length_penalty: options.LengthPenalty = None,
    n_best: Annotated[
        int | None,
        typer.Option(
            parser=options.whole(1), metavar="N", help="Print so many: line number, score, text."
        ),
    ] = None,
    temperature: options.Temperature = None,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    min_p: options.MinP = None,
    seed: options.Seed = 0,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Print each token with its probability.")
    ] = False,
    mark_rare: Annotated[
        bool,
        typer.Option("--mark-rare", help="Print the words seldom or never seen in training."),
    ] = False,
    check: Annotated[
        bool | None,
        typer.Option("--check/--no-check", help="Print whether each series agrees to O(x**6)."),
    ] = None,
    device: options.Device = "cpu",
    threads: options.Threads = None,
) -> None:
    """Translate texts, or the lines of stdin.

    Each gives one line of output. An empty line stays empty. A line that the model cannot read
    gives an empty line and a sentence on stderr; the others are translated, and the exit status is
    2. Input and output are UTF-8: at a line that is not, reading ends. A text that begins with a
    dash needs -- before it.

    What else is printed of a translation stands behind it, each after a tab: with --probabilities
    its tokens, with --mark-rare the rare words of the source, with spaces between them. Those are
    the words that training had fewer than 3 times (for a model of whole words: that it does not
    know); what becomes of them is a guess. Of a series it is what numbers say, unless --no-check is
    given: that it agrees to O(x**6), or from which power of x on it is wrong.

    \b
    Examples:
      transformer-book translate captions-de-en "Ein Hund schläft auf dem Sofa."
      transformer-book translate captions-de-en < german.txt > english.txt
      transformer-book translate captions-de-en --n-best 3 --probabilities "Zwei Hunde schlafen."
      transformer-book translate captions-de-en --temperature 1.2 --seed 7 "Ein Hund schläft."
      transformer-book translate multi30k-de-en --mark-rare "Ein Eisvogel sitzt auf einem Ast."
      transformer-book translate series "sin(a*x)/sin(b*x)"
    """
    from transformer_book.sampling import Drawing

    drawing = Drawing.asked(temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    if drawing:
        _refuse_search({"--n-best": n_best, "--beam-size": beam_size})
    from transformer_book.support.threads import use_threads
    from transformer_book.training import choose_device
    from transformer_book.translator import Translator

    translator = Translator.from_pretrained(model, choose_device(device))
    if mark_rare and translator.rare_words("") is None:
        raise ValueError(
            f"--mark-rare marks nothing: {model} has no known_words.json, which says what words it "
            "met in training; train --resume writes that file into the folder of a run."
        )
    is_series = (translator.recipe.get("task") or {}).get("name") == "series"
    if check and not is_series:
        raise ValueError(
            f"--check is for a model of series, and {model} writes none: leave --check out."
        )
    one = sys.stdin is None or sys.stdin.isatty() if not texts else len(texts) == 1
    use_threads(translator.model, "one sentence" if one else "many sentences", threads)
    if n_best and beam_size is None:
        beam_size = max(n_best, translator.decoding.beam_size)
    search = {"drawing": drawing, "beam_size": beam_size, "length_penalty": length_penalty}
    search["n_best"] = n_best or 1
    columns = [column for column, asked in ((_tokens, probabilities), (_rare, mark_rare)) if asked]
    columns += [_check] * (is_series and check is not False)
    session = _Session(translator, search, seed, n_best is not None, columns)
    # Which draws belong to which line must not depend on when the lines arrive.
    _translate_all(session, texts, full=drawing is not None)
    session.name_unknown()
    if session.failed:
        raise typer.Exit(2)


def _refuse_search(asked: Mapping[str, int | None]) -> None:
    """What is drawn at random is not searched for."""
    for option, value in asked.items():
        if value is not None:
            raise ValueError(
                f"{option} {value} is for a search, but --temperature, --top-k, --top-p and "
                "--min-p draw at random; leave out one or the other."
            )


def _translate_all(session: _Session, texts: Sequence[str] | None, *, full: bool) -> None:
    """The texts, or what stdin gives."""
    if texts:
        session.what = "text"
        session.translate([text.encode("utf-8", "surrogateescape") for text in texts])
    elif sys.stdin is None:
        raise ValueError("There is nothing to translate: stdin is closed.")
    elif sys.stdin.isatty():
        session.what = ""
        _converse(session)
    else:
        for lines in _chunks(sys.stdin.buffer, CHUNK, full=full):
            session.translate(lines)


class _Session:
    """Lines in, lines out, and what has to be said at the end."""

    def __init__(
        self,
        translator: Translator,
        search: dict[str, Any],
        seed: int,
        several: bool,
        columns: Sequence[Column],
    ) -> None:
        self.translator, self.search, self.seed = translator, search, seed
        self.several, self.columns = several, columns
        self.what = "line"
        self.count = 0
        self.failed = False
        self.unknown: dict[str, None] = {}  # a set that keeps its order

    def translate(self, lines: Sequence[bytes]) -> None:
        """Print the translations of some lines.

        Raises:
            ValueError: a line is not UTF-8; those before it have been translated.
        """
        from transformer_book.tokens import uniform

        first = self.count + 1
        self.count += len(lines)
        readable: dict[int, Encoded] = {}
        texts: dict[int, str] = {}
        broken = None
        for number, line in enumerate(lines, first):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if uniform(text):
                    readable[number] = self.translator.encode(text)
                    texts[number] = text
            except UnicodeDecodeError:
                broken, self.count = number, number - 1
                break
            except ValueError as error:
                self.failed = True
                warn(f"{self._which(number)}{error}")
        found = {}
        if readable:
            seed = (self.seed + first - 1) % 2**63  # as far as torch counts
            results = self.translator.search(list(readable.values()), seed=seed, **self.search)
            found = dict(zip(readable, results, strict=True))
        for number in range(first, self.count + 1):
            print(self._shown(number, texts.get(number, ""), found.get(number)))
        sys.stdout.flush()
        for translation in found.values():
            self.unknown |= dict.fromkeys(translation.unknown)
        if broken is not None:
            raise ValueError(f"{self._which(broken)}This is not valid UTF-8.")

    def name_unknown(self) -> None:
        """Say which words the model has not learned, and forget them."""
        if self.unknown:
            some, more = map(_word, list(self.unknown)[:NAMED]), len(self.unknown) - NAMED
            others = f" and {more} more" if more > 0 else ""
            warn(f"The model has never seen: {', '.join(some)}{others}.")
        self.unknown = {}

    def _which(self, number: int) -> str:
        return f"{self.what.capitalize()} {number}: " if self.what else ""

    def _shown(self, number: int, text: str, translation: Translation | None) -> str:
        every = [] if translation is None else [translation, *translation.alternatives]
        if self.several:
            rows = [(number, f"{one.score:.3f}", *self._fields(text, one)) for one in every]
            return "\n".join("\t".join(map(str, row)) for row in rows or [(number, "", "")])
        return "\t".join(self._fields(text, every[0])) if every else ""

    def _fields(self, text: str, translation: Translation) -> list[str]:
        return [one_line(translation.text), *(column(text, translation) for column in self.columns)]


def _tokens(text: str, translation: Translation) -> str:
    each = zip(translation.tokens, translation.probabilities, strict=True)
    return "  ".join(f"{one_line(token)} {p:.2f}" for token, p in each)


def _rare(text: str, translation: Translation) -> str:
    return " ".join(translation.rare)


def _check(text: str, translation: Translation) -> str:
    from transformer_book.verified import checked

    return f"checked: {checked(text, translation.text)}"


def _converse(session: _Session) -> None:
    """Translate what is typed at a terminal, sentence by sentence, until Ctrl-D."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # arrow keys
    print("Type a sentence and press Enter; Ctrl-D ends.", file=sys.stderr)
    prompt = "> " if sys.stdout.isatty() else ""
    while True:
        try:
            line = input(prompt)
        except EOFError:
            print(file=sys.stderr)
            break
        session.translate([line.encode("utf-8", "surrogateescape")])
        session.name_unknown()
    session.failed = False  # each was answered when it was typed


def _chunks(stream: BinaryIO, size: int, *, full: bool) -> Iterator[list[bytes]]:
    """The lines of a stream, at most `size` at a time; those that have arrived, unless `full`.

    Only a line feed ends a line, as for `tokens.read_lines`.
    """
    lines: list[bytes] = []
    begun: list[bytes] = []
    while block := stream.read1(1 << 16):
        ended, feed, rest = block.rpartition(b"\n")
        if feed:
            lines += b"".join([*begun, ended]).split(b"\n")
            begun = []
        begun.append(rest)
        while len(lines) >= size or (lines and not full):
            yield [line.removesuffix(b"\r") for line in lines[:size]]
            del lines[:size]
    if any(begun):
        lines.append(b"".join(begun))
    if lines:
        yield [line.removesuffix(b"\r") for line in lines]


def _word(word: str) -> str:
    """A word as it can be shown on any terminal: without control characters, and not too long."""
    word = word if len(word) <= 40 else f"{word[:39]}…"
    return word if word.isprintable() else repr(word)
