"""Which piece of which passage stands beside each sentence of a note, and the hints that say where to look."""

from __future__ import annotations

import pytest

from crowdnotes.domain import BY_PERSON, GateStatus, SentenceSupport, Support
from crowdnotes.engines.local import LocalEngine
from crowdnotes.engines.local.attribution import Compared, find_hints, note_sentences
from tests.engines.local.made import MEASLES, WATER, made_evidence


def _one(engine: LocalEngine, note: str, *passages: str) -> SentenceSupport:
    evidence = [made_evidence(text, f"E{number}") for number, text in enumerate(passages or (MEASLES,), start=1)]
    (sentence,) = engine.support(note, evidence)
    return sentence


def test_a_sentence_stands_beside_the_nearest_piece_of_the_nearest_passage(engine: LocalEngine) -> None:
    found = _one(engine, "Fluoride in drinking water prevents tooth decay.", MEASLES, WATER)
    assert (found.evidence_id, found.support) == ("E2", Support.UNCHECKED)
    assert found.carrier is not None
    assert WATER[found.carrier.start : found.carrier.end].startswith("Fluoride in drinking water helps prevent")


def test_a_sentence_made_of_two_neighbours_stands_beside_both(engine: LocalEngine) -> None:
    passage = "Fluoride helps prevent tooth decay. Too much fluoride causes white spots on teeth. Water is wet."
    found = _one(engine, "Fluoride helps prevent tooth decay, but too much causes white spots on teeth.", passage)
    assert found.carrier is not None
    assert passage[found.carrier.start : found.carrier.end] == passage[: passage.index(" Water")]


@pytest.mark.parametrize(
    ("note", "hint", "words"),
    [
        ("The vaccine may cause a mild rash in about 38% of children.", "“about 38%”, the source “about 5%”", "38%"),
        ("The vaccine may cause a mild rash in 7 in 100 children.", "“7 in 100”, the source “about 5%”", "7 in 100"),
        ("The measles vaccine does cause autism.", "the source says “does not cause autism”, the note says it", ""),
        ("Measles is a disease that does not spread easily.", "“does not spread easily”, this quotation says", "not"),
        ("The vaccine always causes a mild rash in about 5% of children.", "Does the source?", "always"),
        ("The vaccine causes a mild rash in about 5% of children.", "the note is certain", ""),
        ("Studies prove no link between the measles vaccine and autism.", "Does the source?", "prove"),
        ("The Royal Zanzibar Society found no link with autism.", "“Royal” is not in the source", "Royal"),
        ("The vaccine may cause a mild rash, and it removes lead from old pipes.", "hardly says", "removes lead"),
    ],
)
def test_a_hint_points_at_the_words_to_look_at(engine: LocalEngine, note: str, hint: str, words: str) -> None:
    found = _one(engine, note)
    spans = [
        note[span.start : span.end] for told, span in zip(found.doubts, found.doubted, strict=True) if hint in told
    ]
    assert spans, found.doubts
    assert any(span.startswith(words) for span in spans)


@pytest.mark.parametrize(
    "note",
    [
        "Large studies found no link between the measles vaccine and autism.",
        "The vaccine may cause a mild rash in 5 in 100 children.",
        "The Example Health Agency: the measles vaccine does not cause autism.",
    ],
)
def test_what_the_passage_says_in_other_words_gets_no_hint(engine: LocalEngine, note: str) -> None:
    assert _one(engine, note).doubts == ()


@pytest.mark.parametrize(
    ("sentence", "piece", "hinted"),
    [
        ("This is wrong.", "No child caught autism from it.", False),
        ("This post is false.", "It has no cure.", False),
        ("No: polio is an infectious disease.", "Polio is an infectious disease.", False),
        ("No: vaccines cause autism.", "Vaccines do not cause autism.", True),
        ("No: vaccines do not cause autism.", "Vaccines cause autism.", True),
        ("No vaccines cause autism.", "Vaccines cause autism.", True),
        ("At least 40 % of it is water.", "No less than 40 % of it is water.", False),
        ("Take at most 4 tablets.", "Never take more than 4 tablets.", False),
        ("It was not taken in Gaza.", "The claim that it was taken in Gaza is untrue.", False),
        ("That it was taken in Gaza is a myth.", "It was not taken in Gaza.", False),
    ],
)
def test_words_that_only_deny_the_post_are_not_compared_with_the_source(
    sentence: str, piece: str, hinted: bool
) -> None:
    hints = find_hints(Compared(sentence, piece, piece, ""))
    assert any(hint.message.startswith("Denial") for hint in hints) is hinted


@pytest.mark.parametrize(
    ("sentence", "piece", "hinted"),
    [
        ("The booster cut infections by a third.", "It cut infections by a third more than no booster.", False),
        ("People with it need treatment.", "If it is not treated, people with it need another treatment.", False),
        ("All people with it will recover.", "Not all people with it will recover.", False),
        ("It comes with fever.", "It comes without fever.", False),
        ("Tylenol isn't an NSAID.", "There are two types of drugs: Tylenol and NSAIDs.", False),
        ("Herbs skip the testing drugs go through.", "Herbs do not have to go through testing as drugs do.", False),
        ("Employers may not pass the levy on to employees.", "Employers may pass the levy on to employees.", True),
        ("Diet does lower the risk of cancer.", "Studies have not shown that diet lowers the risk of cancer.", True),
        ("Diet lowers the risk of cancer.", "Studies have not shown that it lowers the risk of cancer.", True),
        ("It spreads from person to person.", "It doesn't spread from person to person.", True),
        ("The plant is no longer in use in Gaza.", "The plant is in use in Gaza.", True),
    ],
)
def test_a_denial_is_compared_only_where_both_say_what_it_denies(sentence: str, piece: str, hinted: bool) -> None:
    hints = find_hints(Compared(sentence, piece, piece, ""))
    assert any(hint.message.startswith("Denial") for hint in hints) is hinted


_POOLED = "A pooled analysis of 43 trials found no significant protective effect of vitamin D."


@pytest.mark.parametrize(
    ("around", "others", "hinted"), [("", (), True), (_POOLED, (), False), ("", (_POOLED,), False)]
)
def test_a_denial_that_the_page_or_another_source_shares_gets_no_hint(
    around: str, others: tuple[str, ...], hinted: bool
) -> None:
    piece = "A protective effect of vitamin D is what most of us hope for."
    sides = Compared("It found no protective effect of vitamin D.", piece, piece, "", others, around)
    assert any(hint.message.startswith("Denial") for hint in find_hints(sides)) is hinted


def test_the_text_around_a_passage_counts_for_a_denial(engine: LocalEngine) -> None:
    alone = made_evidence("A protective effect of vitamin D is what most of us hope for.")
    within = alone.replace(passage=alone.passage.replace(before=_POOLED))
    note = "It found no protective effect of vitamin D."
    assert [
        [hint for hint in engine.support(note, [item])[0].doubts if hint.startswith("Denial")] == []
        for item in (alone, within)
    ] == [False, True]


def test_a_denial_elsewhere_in_the_passage_is_named(engine: LocalEngine) -> None:
    passage = "Mist from hot tubs spreads it. Most people recover with drugs. It does not spread from person to person."
    [hint] = _one(engine, "Mist from tubs, then it spreads from person to person.", passage).doubts
    assert hint == "Denial: the source says “does not spread from person to person”, the note says it without “not”."


@pytest.mark.parametrize(
    ("sentence", "passage", "hinted"),
    [
        ("It rained on Sept. 5 in 2026.", "On September 5 in 2026 it rained.", False),
        ("It rained on 5 September 2026.", "On Sept 5 in 2026 it rained.", False),
        ("It rained on 5 September 2026.", "It rained: 2026-09-05.", False),
        ("It rained on 5 September 2026.", "It rained: 2026-08-05.", True),
        ("It rained on 5 September 2026.", "On Sep 5 in 2026 the augmented Septimus may have marched.", False),
        ("It rained on 5 August 2026.", "On Sep 5 in 2026 the augmented Septimus may have marched.", True),
    ],
)
def test_a_month_is_known_however_it_is_written(sentence: str, passage: str, hinted: bool) -> None:
    hints = find_hints(Compared(sentence, passage, passage, ""))
    assert any(hint.message.startswith("Name") for hint in hints) is hinted


def test_a_sentence_stands_beside_what_answers_and_not_beside_the_rumour(engine: LocalEngine) -> None:
    passage = "A post claims that the measles vaccine causes autism. The measles vaccine is no cause of autism."
    found = _one(engine, "The measles vaccine does not cause autism.", passage)
    assert found.carrier is not None
    assert passage[found.carrier.start : found.carrier.end].startswith("The measles vaccine is no cause")


def _number_hints(engine: LocalEngine, note: str, *passages: str) -> list[str]:
    return [hint for hint in _one(engine, note, *passages).doubts if hint.startswith("Number")]


@pytest.mark.parametrize(
    ("note", "passages"),
    [
        ("The trial had 46,836 participants.", ("More than 46,000 people took part in the trial; 1,000 left it.",)),
        ("The trial had 46,836 participants.", ("The trial gave 1,000 adults a pill.", "Of 46,836 patients, 3 died.")),
        ("More than 46,000 people took part.", ("In all, 46,836 participants took part.",)),
        ("Nearly 47,000 people took part.", ("In all, 46,836 participants took part.",)),
        ("46,000+ people took part.", ("In all, 46,836 participants took part.",)),
        ("About half of the patients improved.", ("Of the patients, 48% improved.",)),
        ("Half of the patients improved.", ("Of the patients, 50 percent improved.",)),
        ("A rash came in 7 in 100 children.", ("A rash came in 7% of children.",)),
        ("A rash came in 7% of children.", ("A rash came in 7 out of every 100 children.",)),
        ("One in five children had a rash.", ("Of the children, 20% had a rash.",)),
        ("Two thirds of adults were immune.", ("Of the adults, 66.7% were immune.",)),
        ("About 1.2 million people were immune.", ("There were 1,236,000 immune people.",)),
        ("Some 15% of adults were immune.", ("Of the adults, 14.6% were immune.",)),
        ("Two thirds of adults were immune.", ("Of the adults, 66.4% were immune.",)),
        ("It came in 3 per 100,000 people.", ("There were 3 cases for every 100,000 people.",)),
        ("People took 0.5 g of it.", ("The dose that people took was 500 mg of it.",)),
        ("The trial ran for two years.", ("The trial ran for 24 months in all.",)),
        ("The rate was 3.5% in the town.", ("In the town the rate was 3,5 %.",)),
        ("The rate was 3,5% in the town.", ("In the town the rate was 3.5 %.",)),
        ("The town had 12.345 cases.", ("In the town there were 12,345 cases.",)),
        ("The town had 12.345 cases.", ("In the town there were 12.345 cases.",)),
        ("The town had 12,345 cases.", ("En la ciudad hubo 12.345 casos.",)),
        ("The town had about 12,000 cases.", ("En la ciudad hubo 12.345 casos.",)),
        ("The town had over 12.000 cases.", ("In the town there were 12,345 cases.",)),
        ("The town had 12.345 cases.", ("In the town there were some 12,300 cases.",)),
        ("The land has 1.234.567 people.", ("Some 1,234,567 people live in the land.",)),
        ("The land has 1.2 million people.", ("El país tiene 1.234.567 habitantes.",)),
        ("The land has 12'345 people.", ("Some 12,345 people live in the land.",)),
        ("The land has 12,345 people.", ("Some 12’345 people live in the land.",)),
        ("The rate was 0,125 in the town.", ("In the town the rate was 0.125.",)),
        ("The loss was 1.234,50 euros.", ("The loss was 1,234.50 euros.",)),
        ("It was banned in the 1990s.", ("The city banned it in 1994.",)),
        ("It began in the 19th century.", ("It began in the nineteenth century.",)),
        ("The 26th amendment says it.", ("The Twenty-Sixth Amendment says it.",)),
        ("The 3rd dose came in spring.", ("The third dose came in spring.",)),
        ("The risk was 2 times as high.", ("The risk was doubled, to a high one.",)),
        ("3/4 of adults were immune.", ("Of the adults, 75% were immune.",)),
        ("It came in 0.1% of children.", ("It came in 1 of every 1,000 children.",)),
        ("The R0 of it is 2.5.", ("The R0 of it was estimated at 2·5.",)),
        ("People took 2½ cups of it.", ("The dose that people took was 2.5 cups of it.",)),
        ("The season of 2019/20 was mild.", ("The season of 2019–2020 was mild.",)),
        ("People took 1,000 µg of it.", ("The dose that people took was 1 milligram of it.",)),
        ("People drank 250 ml of it.", ("The dose that people drank was 0.25 litres of it.",)),
        ("The well is 5 km away.", ("The well lies 5,000 metres away.",)),
        ("The trial ran for 72 hours.", ("The trial ran for three days in all.",)),
        ("The air had 98.6 °F.", ("The air was at 37 degrees Celsius.",)),
        ("The air warmed by 3.6 °F.", ("The air warmed by 2 °C.",)),
        ("People stood 6 feet apart.", ("People stood 2 metres apart.",)),
        ("The well is 62 miles away.", ("The well lies 100 km away.",)),
        ("People ran at 62 mph.", ("People ran at 100 km/h.",)),
        ("People weighed 200 pounds.", ("People weighed 90.7 kg.",)),
        ("The land has 1.65 million square miles.", ("The land has 4.28 million km².",)),
        ("People must not exceed 400 mg of it.", ("People took no more than 400 mg of it.",)),
        ("At most 4 people had a rash.", ("Never did more than 4 people have a rash.",)),
        ("People of 65 or older took it.", ("It is for people of at least 65.",)),
        ("The rash lasts 4 days or less.", ("The rash lasts up to 4 days.",)),
        ("The rash was gone within 4 days.", ("The rash lasts up to 4 days.",)),
        ("The loss was $5–7 million.", ("The loss was between $5 million and $7 million.",)),
        ("The tail has 8 to 9 inches.", ("The tail has 21–24 centimetres.",)),
        ("It rained from 2010 to 2019.", ("In 2010–19 it rained.",)),
        ("It rained on 3/14/2019.", ("On 14 March 2019 it rained.",)),
        ("It works in 62 % (CI 58 to 66).", ("It works in 62% (95% CI 58–66).",)),
        ("It works in 58 to 66 %.", ("It works in 62% (95% CI 58–66).",)),
        ("The risk was cut by 30 %.", ("There was a 30% reduction in risk.",)),
        ("The risk rose by up to 20 %.", ("The risk was up to 20 % higher.",)),
        ("The risk fell by 62 %.", ("It had an effect of 62%, and 62% of people took it.",)),
        ("The share rose to 62 %.", ("At last, 62 % of the adults did so.",)),
        ("The risk has doubled.", ("The risk rose from 2 in 2010 to 4.1 in 2020.",)),
        ("The risk tripled.", ("The risk went up by 200 percent.",)),
        ("The risk more than doubled.", ("The risk went up by 130 percent.",)),
        ("The risk halved.", ("The risk fell by half.",)),
        ("The maker doubled down on it.", ("The maker said it again.",)),
        ("It was a double-blind trial.", ("The trial was blind.",)),
        ("The loss was €1,5 million.", ("The loss was 1.5 million euros.",)),
        ("The loss was US$1.234,50.", ("The loss was 1,234.50 dollars.",)),
        ("The land has 2 crore people.", ("Some 20 million people live in the land.",)),
    ],
)
def test_a_number_that_a_source_in_use_has_in_another_form_gets_no_hint(
    engine: LocalEngine, note: str, passages: tuple[str, ...]
) -> None:
    assert _number_hints(engine, note, *passages) == []


@pytest.mark.parametrize(
    ("note", "passage", "nearest"),
    [
        ("The trial had 64,836 participants.", "More than 46,000 people took part; 1,000 left.", "More than 46,000"),
        ("The trial had 46,386 participants.", "The trial had 46,836 participants.", "46,836"),
        ("More than 50,000 people took part.", "46,836 participants took part.", "46,836"),
        ("Fewer than 46,000 people took part.", "46,836 participants took part.", "46,836"),
        ("The trial had 13 patients.", "The trial had 12 patients.", "12"),
        ("The trial had 64.836 participants.", "The trial had 46.836 participants.", "46.836"),
        ("The trial had 5 participants.", "The trial had 12.345 participants (p = 0.005).", "12.345"),
        ("The land has 12'345 people.", "Some 13’345 people live in the land.", "13’345"),
        ("The rate was 3,5%.", "The rate was 4.5%.", "4.5%"),
        ("About half of the patients improved.", "Of the patients, 20% improved.", "20%"),
        ("Two thirds of adults were immune.", "A third of adults were immune.", "A third"),
        ("One in five children had a rash.", "One in fifty children had a rash.", "One in fifty"),
        ("Over 90% of adults were immune.", "Of the adults, 80% were immune.", "80%"),
        ("People took 10 mg of it.", "The dose that people took was 10 µg of it.", "10 µg"),
        ("The air had 39 °C.", "The air had 37 °C, and 39 people were out.", "37 °C"),
        ("A rash came in 1 in 100 children.", "A rash came in 1 in 1,000 children.", "1 in 1,000"),
        ("A rash came in 7% of children.", "A rash came in 7 in 1,000 children.", "7 in 1,000"),
        ("Fewer than 100 people took part.", "More than 100 people took part.", "More than 100"),
        ("Over 100 people took part.", "Of people, 100 or fewer took part.", "100 or fewer"),
        ("The rash lasts 4 days.", "The rash lasts up to 4 days.", "up to 4 days"),
        ("The plant made 3,000 jobs.", "The plant may make up to 3,000.", "up to 3,000"),
        ("A rash came in 15 % of children.", "A rash came in between 10 and 20 % of children.", "between 10 and 20 %"),
        ("A rash came in 15 % of children.", "A rash came in about 20–30 % of children.", "about 20–30 %"),
        ("The loss was $5–7 million.", "The loss was $5–9 million.", "$5–9 million"),
        ("The risk tripled.", "The risk doubled.", "doubled"),
        ("The risk rose by 20 %.", "The risk fell by about 20 %.", "fell by about 20 %"),
        ("The tax cut raised it by 20 %.", "It dropped 20 percent.", "dropped 20 percent"),
        ("The risk rose by 20 %.", "There was a 20 % lower risk.", "20 % lower"),
        ("The risk doubled.", "The risk was threefold.", "threefold"),
        ("It raises the risk by 62 %.", "Of both groups, 62 % of people fell ill.", "62 % of people"),
        ("The trial had 30 participants.", "Of 5 visits and 1,000 pills, 20 adults had most.", "20"),
    ],
)
def test_another_number_is_set_against_the_nearest_of_its_kind(
    engine: LocalEngine, note: str, passage: str, nearest: str
) -> None:
    [hint] = _number_hints(engine, note, passage)
    assert f"the source “{nearest}”" in hint


@pytest.mark.parametrize(
    ("note", "passage"),
    [
        ("The risk rose by 2%.", "The risk rose by 2 percentage points."),
        ("The well is 5 miles away.", "The well lies 5 km away."),
        ("The loss was $5 billion.", "The loss was €5 billion."),
        ("The risk doubled.", "The risk went up by 50 %."),
        ("It works in 95 % of people.", "It works in 62% of people (95% CI 58–66)."),
        ("It works in 66 % of people.", "It works in 62% of people (95% confidence interval: 58% to 66%)."),
        ("The risk doubled.", "The risk rose from 2 in 2010 to 3 in 2020."),
        ("The risk halved.", "The risk fell by 25 %."),
        ("People ran at 100 mph.", "People ran at 100 km/h."),
        ("The air had 96.8 °F.", "The air had 37 °C."),
        ("People weighed 220 lb.", "People weighed 90.7 kg."),
        ("People took 600 IU of it.", "People took 600 mg of it."),
    ],
)
def test_a_number_of_another_measure_is_another(engine: LocalEngine, note: str, passage: str) -> None:
    assert _number_hints(engine, note, passage)


def test_another_year_is_another_number(engine: LocalEngine) -> None:
    [hint] = _number_hints(engine, "The trial began in 2021.", "The trial began in 2020.")
    assert "2021" in hint


def test_without_passages_there_is_nothing_to_stand_beside(engine: LocalEngine) -> None:
    (alone,) = engine.support("Measles spreads easily.", [])
    assert (alone.evidence_id, alone.carrier, alone.doubts) == (None, None, ())


def test_the_engine_gives_no_verdict_of_its_own(engine: LocalEngine) -> None:
    evidence = [made_evidence(MEASLES)]
    note = "The measles vaccine does not cause autism."
    result = engine.correctness(note, evidence, engine.support(note, evidence))
    assert (result.status, result.judge) == (GateStatus.NOT_RUN, BY_PERSON)
    assert engine.correctness("", evidence, ()).status is GateStatus.NOT_RUN


def test_links_and_their_labels_are_not_sentences() -> None:
    note = "Measles spreads. Vaccines help https://a.example.org/x\nSources:\nhttps://b.example.org/y"
    assert [note[span.start : span.end] for span in note_sentences(note)] == ["Measles spreads.", "Vaccines help"]


def test_numbers_are_sentences_but_the_marks_of_links_are_not() -> None:
    note = "95%. 1 in 3. Vaccines help. [1] https://a.example.org/x\n2: https://b.example.org/y"
    assert [note[span.start : span.end] for span in note_sentences(note)] == ["95%.", "1 in 3.", "Vaccines help."]


def test_the_weakest_hint_comes_last() -> None:
    passage = "It may lower the fever of some children."
    found = find_hints(Compared("It lowers the fever of all 90 children.", passage, passage, ""))
    assert len(found) > 1
    assert found[-1].message == "How sure: the source says “may”, the note is certain."
    assert not any(hint.is_weak for hint in found[:-1])
    many = "It lowers the fever of all 90 children and 80 women, and it removes lead from old pipes."
    assert not any(hint.is_weak for hint in find_hints(Compared(many, passage, passage, "")))
