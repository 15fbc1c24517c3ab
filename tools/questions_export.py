#!/usr/bin/env python3
r"""The question bank for other systems, in _build/questions: a file for each chapter, and for all.

    moodle/*.xml    Moodle XML: a category of the question bank for each chapter
    canvas/*.zip    QTI 1.2, as Canvas imports it: a quiz for each chapter
    qti21/*.zip     QTI 2.1: a test for each chapter, formulas in MathML
    anki/*.apkg     a deck of Anki for each chapter; an import updates the cards of an earlier one

A choice explains the option that was chosen. A number is judged as on the page. Other questions are
essays, and their answer is shown afterwards. In Moodle, Canvas and Anki, formulas are TeX between
\( and \), which MathJax sets there.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import textwrap
import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html import escape, unescape
from itertools import groupby
from pathlib import Path
from zlib import crc32

import genanki
from common import ROOT, configuration
from lxml import etree
from lxml.builder import E, ElementMaker
from questions import OUTPUT, Question, as_html, bank, picture, tex

sys.path.append(str(ROOT / "book" / "extension"))
from transformer_book_math import mathml

SETTINGS = configuration()
BOOK, SITE = SETTINGS["title"], SETTINGS["html"]["baseurl"]
IMSCP = "http://www.imsglobal.org/xsd/imscp_v1p1"
P = ElementMaker(namespace=IMSCP, nsmap={None: IMSCP})
MOODLE_FILES, CANVAS_FILES = "@@PLUGINFILE@@/", "%24IMS-CC-FILEBASE%24/"
QTI12 = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
QTI21 = "http://www.imsglobal.org/xsd/imsqti_v2p1"
Q = ElementMaker(namespace=QTI21, nsmap={None: QTI21})


def in_html(
    question: Question, formula: Callable[[str, bool], str] = tex, folder: str = ""
) -> Question:
    """The same question with its texts in HTML. Its note says what it comes from.

    folder: where its figure lies, as the other system writes it.
    """

    def html(*parts: str) -> str:
        return as_html("\n\n".join(filter(None, parts)), question.page, SITE, formula)

    figure = ""
    if question.figure:
        alt, _ = picture(question)
        figure = f'<p><img src="{folder}{drawing(question)}" alt="{escape(alt)}"/></p>'
    return replace(
        question,
        text=html(question.text) + figure,
        options=tuple(
            replace(each, text=html(each.text), why=html(each.why, question.note))
            for each in question.options
        ),
        answer=html(question.answer),
        note=f'<p>From <a href="{SITE}{question.page}.html">{escape(heading(question))}</a>.</p>',
    )


def heading(question: Question) -> str:
    """The name of its chapter; numbers of two digits keep their order in every list."""
    number = question.id.partition("/")[0]
    return f"{number}. {question.title}" if number.isdigit() else question.title


def name_of(question: Question) -> str:
    """How a list names a question: its first words, without markup."""
    return textwrap.shorten(unescape(re.sub("<[^>]*>", "", question.text)), 80, placeholder=" …")


def identifier(question: Question) -> str:
    """Its id as a name in XML."""
    return "q-" + question.id.replace("/", "-")


def drawing(question: Question) -> str:
    """The name of the file of its figure."""
    return f"{identifier(question)}.svg"


def drawings(questions: Iterable[Question]) -> dict[str, bytes]:
    """The figures of questions, by the names of their files."""
    return {drawing(each): picture(each)[1] for each in questions if each.figure}


def by_page(questions: Iterable[Question]) -> list[tuple[str, list[Question]]]:
    """The questions of each page, which stand together; a page without its folder."""
    pages = groupby(questions, key=lambda each: each.page.rpartition("/")[2])
    return [(name, list(group)) for name, group in pages]


def document(root: etree._Element) -> bytes:
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def write_package(path: Path, files: dict[str, bytes]) -> None:
    """A zip that is the same whenever it is made."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def manifest(
    schema: str, version: str, resources: dict[str, str], shown: dict[str, str] | None = None
) -> bytes:
    """What a package holds. resources: each file's name and type; shown: the figure in a file."""
    listed = []
    for i, (name, kind) in enumerate(resources.items()):
        listed.append(P.resource(P.file(href=name), identifier=f"r{i}", type=kind, href=name))
        if shown and name in shown:
            listed[-1].append(P.file(href=shown[name]))
    return document(
        P.manifest(
            P.metadata(P.schema(schema), P.schemaversion(version)),
            P.organizations(),
            P.resources(*listed),
            identifier="questions",
        )
    )


# --- Moodle ---------------------------------------------------------------------------------------


def moodle_question(question: Question) -> etree._Element:
    def html(tag: str, text: str, *more: etree._Element, **attributes: str) -> etree._Element:
        return E(tag, E.text(text), *more, format="html", **attributes)

    each = in_html(question, folder=MOODLE_FILES)
    files = (
        E.file(b64encode(data).decode(), name=name, path="/", encoding="base64")
        for name, data in drawings([question]).items()
    )
    kind = {"choice": "multichoice", "number": "numerical", "open": "essay"}[each.kind]
    made = E.question(
        E.name(E.text(name_of(each))),
        html("questiontext", each.text, *files),
        html("generalfeedback", each.answer + each.note),
        E.defaultgrade("1"),
        E.idnumber(each.id),
        type=kind,
    )
    if each.options:
        made.extend([E.single("true"), E.shuffleanswers("false"), E.answernumbering("abc")])
        for option in each.options:
            fraction = "100" if option.right else "0"
            why = html("feedback", option.why)
            made.append(html("answer", option.text, why, fraction=fraction))
    elif each.number is None:
        made.extend([E.responseformat("editor"), E.responserequired("1"), E.attachments("0")])
        made.append(html("graderinfo", each.answer))
    else:
        made.append(
            E.answer(E.text(f"{each.number:g}"), E.tolerance(f"{each.within:g}"), fraction="100")
        )
    return made


def write_moodle(path: Path, questions: Sequence[Question]) -> None:
    quiz = E.quiz()
    for _, group in by_page(questions):
        place = "/".join(each.replace("/", "//") for each in (BOOK, heading(group[0])))
        quiz.append(E.question(E.category(E.text(f"$course$/top/{place}")), type="category"))
        quiz.extend(map(moodle_question, group))
    path.with_suffix(".xml").write_bytes(document(quiz))


# --- QTI 1.2 for Canvas ---------------------------------------------------------------------------


def canvas_item(question: Question) -> etree._Element:
    def html(text: str) -> etree._Element:
        return E.material(E.mattext(text, texttype="text/html"))

    def feedback(name: str, text: str) -> etree._Element:
        return E.itemfeedback(E.flow_mat(html(text)), ident=name)

    def when(*conditions: etree._Element, then: etree._Element, go_on: str) -> etree._Element:
        return E.respcondition(E.conditionvar(*conditions), then, **{"continue": go_on})

    def show(name: str) -> etree._Element:
        return E.displayfeedback(feedbacktype="Response", linkrefid=name)

    def given(tag: str, value: str) -> etree._Element:
        return E(tag, value, respident="response1")

    each = in_html(question, folder=CANVAS_FILES)
    score = E.setvar("100", action="Set", varname="SCORE")
    all_of_it = feedback("general_fb", each.answer + each.note)
    always = when(E.other(), then=show("general_fb"), go_on="Yes")
    if each.options:
        names = [str(i) for i in range(len(each.options))]
        labels = (
            E.response_label(html(option.text), ident=name)
            for name, option in zip(names, each.options, strict=True)
        )
        asked = E.response_lid(E.render_choice(*labels), rcardinality="Single")
        (right,) = (i for i, option in zip(names, each.options, strict=True) if option.right)
        rules = [when(given("varequal", i), then=show(f"{i}_fb"), go_on="Yes") for i in names]
        rules.append(when(given("varequal", right), then=score, go_on="No"))
        told = [feedback(f"{i}_fb", o.why) for i, o in zip(names, each.options, strict=True)]
    else:
        field = E.render_fib(E.response_label(ident="answer1"))
        asked, rules, told = E.response_str(field, rcardinality="Single"), [], []
        if each.number is not None:
            field.set("fibtype", "Decimal")
            ends = (each.number - each.within, each.number + each.within)
            least, most = (f"{end:.9g}" for end in ends)
            near = getattr(E, "and")(given("vargte", least), given("varlte", most))
            number = given("varequal", f"{each.number:g}")
            rules = [when(getattr(E, "or")(number, near), then=score, go_on="No")]
    asked.set("ident", "response1")
    kind = {"choice": "multiple_choice", "number": "numerical", "open": "essay"}[each.kind]
    known = {"question_type": f"{kind}_question", "points_possible": "1"}
    fields = (
        E.qtimetadatafield(E.fieldlabel(label), E.fieldentry(entry))
        for label, entry in known.items()
    )
    return E.item(
        E.itemmetadata(E.qtimetadata(*fields)),
        E.presentation(html(each.text), asked),
        E.resprocessing(
            E.outcomes(E.decvar(maxvalue="100", minvalue="0", varname="SCORE", vartype="Decimal")),
            always,
            *rules,
        ),
        all_of_it,
        *told,
        ident=identifier(each),
        title=name_of(each),
    )


def canvas_quiz(name: str, questions: Sequence[Question]) -> bytes:
    section = E.section(*map(canvas_item, questions), ident="root_section")
    quiz = E.assessment(section, ident=name, title=heading(questions[0]))
    return document(E.questestinterop(quiz, xmlns=QTI12))


def write_canvas(path: Path, questions: Sequence[Question]) -> None:
    quizzes = {f"{name}.xml": canvas_quiz(name, group) for name, group in by_page(questions)}
    figures = drawings(questions)
    kinds = dict.fromkeys(quizzes, "imsqti_xmlv1p2") | dict.fromkeys(figures, "webcontent")
    listed = manifest("IMS Content", "1.1.3", kinds)
    write_package(path.with_suffix(".zip"), {"imsmanifest.xml": listed} | quizzes | figures)


# --- QTI 2.1 --------------------------------------------------------------------------------------


def part(html: str) -> etree._Element:
    """HTML of the bank, which is well-formed, as a part of an item.

    QTI 2.1 names MathML 2, in which a fraction has its style from what stands around it.
    """
    made = etree.fromstring(f'<div xmlns="{QTI21}">{html}</div>')
    for fraction in made.findall(".//{*}mfrac[@displaystyle]"):
        styled = fraction.makeelement(fraction.tag.replace("mfrac", "mstyle"), fraction.attrib)
        fraction.attrib.clear()
        fraction.addprevious(styled)
        styled.append(fraction)
    return made


def qti_item(question: Question) -> etree._Element:
    def outcome(name: str, value: etree._Element) -> etree._Element:
        return Q.setOutcomeValue(value, identifier=name)

    def score(value: str) -> etree._Element:
        return outcome("SCORE", Q.baseValue(value, baseType="float"))

    each = in_html(question, mathml)
    response, right = Q.variable(identifier="RESPONSE"), Q.correct(identifier="RESPONSE")
    shown = Q.baseValue("ANSWER", baseType="identifier")
    explained = {"ANSWER": each.answer}
    judged, correct, kind = None, "", "string"
    if each.options:
        kind, shown = "identifier", Q.variable(identifier="RESPONSE")
        judged = Q.match(response, right)
        explained = {f"option-{i}": option.why for i, option in enumerate(each.options)}
        (correct,) = (f"option-{i}" for i, option in enumerate(each.options) if option.right)
        asked = Q.choiceInteraction(
            *(
                Q.simpleChoice(part(option.text), identifier=f"option-{i}")
                for i, option in enumerate(each.options)
            ),
            shuffle="false",
            maxChoices="1",
        )
    elif each.number is None:
        asked = Q.extendedTextInteraction(expectedLines="5")
    else:
        kind, correct = "float", f"{each.number:g}"
        ends = f"{each.within:g} {each.within:g}"
        judged = Q.equal(response, right, toleranceMode="absolute", tolerance=ends)
        asked = Q.textEntryInteraction(expectedLength="10")
    asked.set("responseIdentifier", "RESPONSE")
    declared = Q.responseDeclaration(identifier="RESPONSE", cardinality="single", baseType=kind)
    rules = []
    if judged is not None:
        declared.append(Q.correctResponse(Q.value(correct)))
        found = Q.responseIf(judged, score("1"))
        rules.append(Q.responseCondition(found, Q.responseElse(score("0"))))
    return Q.assessmentItem(
        declared,
        *(
            Q.outcomeDeclaration(identifier=name, cardinality="single", baseType=kind_of)
            for name, kind_of in (("SCORE", "float"), ("FEEDBACK", "identifier"))
        ),
        Q.itemBody(part(each.text), Q.p(asked) if kind == "float" else asked),
        Q.responseProcessing(*rules, outcome("FEEDBACK", shown)),
        *(
            Q.modalFeedback(
                part(text + each.note),
                outcomeIdentifier="FEEDBACK",
                identifier=name,
                showHide="show",
            )
            for name, text in explained.items()
        ),
        identifier=identifier(each),
        title=name_of(each),
        adaptive="false",
        timeDependent="false",
    )


def qti_test(name: str, questions: Sequence[Question]) -> bytes:
    refs = (
        Q.assessmentItemRef(identifier=identifier(each), href=f"{identifier(each)}.xml")
        for each in questions
    )
    title = heading(questions[0])
    section = Q.assessmentSection(*refs, identifier="section", title=title, visible="true")
    part_ = Q.testPart(
        section, identifier="part", navigationMode="nonlinear", submissionMode="individual"
    )
    return document(Q.assessmentTest(part_, identifier=f"t-{name}", title=title))


def write_qti(path: Path, questions: Sequence[Question]) -> None:
    items = {f"{identifier(each)}.xml": document(qti_item(each)) for each in questions}
    tests = {f"t-{name}.xml": qti_test(name, group) for name, group in by_page(questions)}
    kinds = dict.fromkeys(tests, "imsqti_test_xmlv2p1") | dict.fromkeys(
        items, "imsqti_item_xmlv2p1"
    )
    shown = {f"{identifier(each)}.xml": drawing(each) for each in questions if each.figure}
    listed = manifest("QTIv2.1 Package", "1.0.0", kinds, shown)
    files = {"imsmanifest.xml": listed} | tests | items | drawings(questions)
    write_package(path.with_suffix(".zip"), files)


# --- Anki -----------------------------------------------------------------------------------------


def number_of(name: str) -> int:
    """A number that stands for a deck or a kind of note: the same whenever it is made."""
    return (1 << 30) + crc32(name.encode()) % (1 << 30)


KIND = genanki.Model(
    number_of(BOOK),
    BOOK,
    fields=[{"name": name} for name in ("Question", "Options", "Answer", "Source", "Id")],
    templates=[
        {
            "name": "Question",
            "qfmt": "{{Question}}{{Options}}",
            "afmt": "{{Question}}<hr id=answer>{{Answer}}{{Source}}",
        }
    ],
    css=".card { max-width: 40em; margin: 1em auto; font: 1.1em/1.5 sans-serif; }\n"
    ".card img { max-width: 100%; }\n"
    ".right > p:first-child { font-weight: bold; }\n",
)


def anki_note(question: Question) -> genanki.Note:
    each = in_html(question)

    def listed(entries: Iterable[str]) -> str:
        return f'<ol type="A">{"".join(entries)}</ol>'

    options = listed(f"<li>{option.text}</li>" for option in each.options) if each.options else ""
    why = (
        f"<li{' class=right' if option.right else ''}>{option.text}{option.why}</li>"
        for option in each.options
    )
    answer = listed(why) if each.options else each.answer
    fields = [each.text, options, answer, each.note, each.id]
    return genanki.Note(KIND, fields, guid=genanki.guid_for(each.id), sort_field=each.id)


def write_anki(path: Path, questions: Sequence[Question]) -> None:
    decks = []
    for name, group in by_page(questions):
        decks.append(genanki.Deck(number_of(name), f"{BOOK}::{heading(group[0])}"))
        for each in group:
            decks[-1].add_note(anki_note(each))
    with tempfile.TemporaryDirectory() as folder:
        figures = {Path(folder) / name: data for name, data in drawings(questions).items()}
        for file, data in figures.items():
            file.write_bytes(data)
        genanki.Package(decks, list(figures)).write_to_file(path.with_suffix(".apkg"))


WRITERS = {
    "moodle": write_moodle,
    "canvas": write_canvas,
    "qti21": write_qti,
    "anki": write_anki,
}


def export(folder: Path, questions: Sequence[Question]) -> None:
    """Write them for every system, by chapter and as a whole."""
    for name, write in WRITERS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for page, group in [*by_page(questions), ("all", list(questions))]:
            write(folder / name / page, group)


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    questions = bank()
    export(OUTPUT, questions)
    print(f"{len(questions)} questions in _build/questions: {', '.join(WRITERS)}")


if __name__ == "__main__":
    main()
