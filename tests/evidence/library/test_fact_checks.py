"""ClaimReview data becomes a library: feeds, tables and pages, whole or broken, and nothing is made up."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.domain import FactCheck
from crowdnotes.errors import LibraryError
from crowdnotes.evidence.claim_review import claim_reviews, fact_check
from crowdnotes.evidence.library import Libraries, fact_checks, search
from crowdnotes.evidence.library.index import open_index

KIND = "fact-checks"


def review(claim: str, **fields: object) -> dict[str, object]:
    return {
        "@type": "ClaimReview",
        "claimReviewed": claim,
        "url": f"https://www.factcheck.org/2020/02/{abs(hash(claim))}/",
        "datePublished": "2020-02-03",
        "author": {"@type": "Organization", "name": "FactCheck.org"},
        "itemReviewed": {"@type": "Claim", "author": {"name": "A. Person"}},
        "reviewRating": {"ratingValue": "1", "worstRating": "1", "bestRating": "5", "alternateName": "False"},
        **fields,
    }


def feed(*reviews: object) -> str:
    """As Data Commons writes it."""
    return json.dumps(
        {"@type": "DataFeed", "dataFeedElement": [{"@type": "DataFeedItem", "item": [one]} for one in reviews]}
    )


def items_of(text: str) -> list[object]:
    return list(fact_checks._FeedReader(io.StringIO(text)).items())


def test_a_hit_tells_claim_verdict_publisher_and_date_and_its_link_is_read_as_a_page(
    libraries: Libraries, tmp_path: Path
) -> None:
    file = tmp_path / "feed.json"
    file.write_text(feed(review("Vaccines cause autism"), review("Garlic cures the flu")))
    info = libraries.add(file, "checks", kind=KIND)
    assert (info.records, info.publishers, info.newest, info.has_addresses) == (2, 1, date(2020, 2, 3), True)
    hit = libraries.search("checks", "do vaccines cause autism?")[0]
    assert (hit.title, hit.rating, hit.published) == ("Vaccines cause autism", "False", date(2020, 2, 3))
    assert hit.snippet == (
        "The claim “Vaccines cause autism”, said by A. Person. "
        "FactCheck.org rates it: False (1 on a scale from 1, worst, to 5, best)."
    )
    assert hit.url is not None
    assert (hit.library, hit.record) == (None, None)
    assert hit.check == libraries.document("checks", 0).check


def test_one_claim_that_two_publishers_checked_is_two_records_and_an_exact_copy_one(
    libraries: Libraries, tmp_path: Path
) -> None:
    file = tmp_path / "feed.json"
    again = review("Vaccines cause autism")
    file.write_text(feed(again, again, review("Vaccines cause autism", author={"name": "Snopes"})))
    info = libraries.add(file, "checks", kind=KIND)
    assert (info.records, info.duplicates, info.publishers) == (2, 1, 2)


def test_a_word_of_very_many_claims_ranks_none_of_them(
    libraries: Libraries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "feed.json"
    file.write_text(
        feed(review("Mercury from vaccines harms"), *(review(f"Vaccines bring {n} ills") for n in range(9)))
    )
    libraries.add(file, "checks", kind=KIND)
    asked = "mercury harms by vaccines"
    assert len(libraries.search("checks", asked)) > 1
    monkeypatch.setattr(search, "_MAX_RANKED_CHECKS", 5)
    assert [hit.title for hit in libraries.search("checks", asked)] == ["Mercury from vaccines harms"]


def test_where_all_words_are_very_common_the_two_rarest_stay_and_of_notes_what_holds_both(
    libraries: Libraries, tmp_path: Path
) -> None:
    file = tmp_path / "feed.json"
    common = ["Vaccines bring {} ills", "Mercury fell by {} degrees", "Towns and towns of {} people"]
    others = [review(claim.format(n)) for claim in common for n in range(9)]
    file.write_text(feed(*others, review("Mercury from vaccines in towns"), review("Towns")))
    libraries.add(file, "checks", kind=KIND)
    asked = search.build_expression("towns mercury vaccines")
    with open_index(tmp_path / "libraries" / "checks.sqlite") as index:
        assert search._keep_rare_words(index, asked, 5) == '"mercury" OR "vaccines"'
        both = search._keep_rare_words(index, asked, 5, together=True)
        assert both == '"mercury" AND "vaccines"'
        assert index.ranked(both, 9) == [27]


def test_a_check_without_a_link_is_read_as_a_record(libraries: Libraries, tmp_path: Path) -> None:
    file = tmp_path / "page.jsonld"
    file.write_text(json.dumps({"@graph": [review("Garlic cures the flu", url="javascript:alert(1)")]}))
    libraries.add(file, "checks", kind=KIND)
    hit = libraries.search("checks", "garlic flu")[0]
    assert (hit.url, hit.library, hit.record) == (None, "checks", 0)
    assert "Garlic cures the flu" in libraries.document("checks", 0).text


def test_a_table_of_fact_check_insights_with_short_rows_is_read(libraries: Libraries, tmp_path: Path) -> None:
    file = tmp_path / "insights.csv"
    file.write_text(
        "id,@type,claimReviewed,datePublished,url,author.name,itemReviewed.author.name,reviewRating.alternateName\n"
        '1,ClaimReview,"The moon, they say, is cheese",2021-05-06,https://snopes.com/a/b,Snopes,Many,Nope\n'
        "2,ClaimReview,Garlic cures the flu\n\n"
    )
    info = libraries.add(file, "checks", kind=KIND)
    assert (info.records, info.skipped) == (2, 0)
    check = libraries.search("checks", "moon cheese")[0].check
    assert check is not None
    assert (check.claimant, check.verdict, check.publisher) == ("Many", "Nope", "Snopes")


def test_a_folder_of_pages_is_read(libraries: Libraries, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    script = f'<script type="application/ld+json">{json.dumps([review("Garlic cures the flu")])}</script>'
    (folder / "one.html").write_text(f"<html><body>Words{script}<script>broken {{</script></body></html>")
    (folder / "two.jsonl").write_text(f"{json.dumps(review('a moon of cheese'))}\n{json.dumps(review('b'))}\n")
    assert libraries.add(folder, "checks", kind=KIND).records == 3


@pytest.mark.parametrize(
    ("rating", "verdict", "scale"),
    [
        (
            {"alternateName": "Mostly <b>False</b> &amp; old", "ratingValue": -1, "bestRating": -1},
            "Mostly False & old",
            "",
        ),
        ({"ratingValue": "Pants on fire"}, "Pants on fire", ""),
        ({"ratingValue": 4, "worstRating": 5, "bestRating": 1}, "", "4 on a scale from 5, worst, to 1, best"),
        ({"ratingValue": "2,5", "worstRating": "1", "bestRating": "5"}, "", "2,5 on a scale from 1, worst, to 5, best"),
        (
            {"ratingValue": 9, "worstRating": 1, "bestRating": 5},
            "",
            "9, outside its own scale from 1, worst, to 5, best",
        ),
        ({"ratingValue": 2}, "", "2, with no scale given"),
        ({"ratingValue": "nan"}, "nan", ""),
        ("Falso", "Falso", ""),
        (None, "", ""),
        ([], "", ""),
        ({"ratingValue": True, "alternateName": {"@value": "Wahr"}}, "Wahr", ""),
    ],
)
def test_a_rating_is_told_as_it_was_given(rating: object, verdict: str, scale: str) -> None:
    check = fact_check(review("Garlic cures the flu", reviewRating=rating))
    assert check is not None
    assert (check.verdict, check.scale) == (verdict, scale)


def test_without_a_verdict_the_sentence_says_only_who_checked_it() -> None:
    assert FactCheck(claim="A", publisher="B").sentence == "The claim “A”. Checked by B."
    assert FactCheck(claim="A").sentence == "The claim “A”. Checked by A fact-checker."


_LANGUAGES = {
    "de": "Das Gesundheitsministerium hat die Impfung gegen Masern verboten, sagt ein Beitrag.",
    "hi": "दावा है कि टीके से कैंसर होता है और सरकार इसे छुपा रही है",
    "ja": "ワクチンが心臓発作を引き起こすと主張する投稿が広まっている",
    "ar": "يزعم منشور أن اللقاح يسبب السرطان لدى الأطفال",
    "ru": "В посте утверждается, что вакцина вызывает бесплодие у женщин",
    "pt": "O governo proibiu a vacina contra o sarampo, afirma uma publicação nas redes",
    "es": "Una publicación asegura que beber agua con limón cura el cáncer de los niños",
    "fr": "Une publication affirme que le ministère cache les effets des antennes sur le cœur",
    "it": "Un messaggio sostiene che il latte crudo guarisce le allergie dei bambini",
    "nl": "Een bericht beweert dat mondkapjes het zuurstofgehalte van kinderen verlagen",
    "pl": "Wpis twierdzi, że fluor w wodzie obniża inteligencję dzieci w szkołach",
    "uk": "У дописі стверджують, що щеплення змінює гени дорослих людей",
    "tr": "Paylaşım, sarımsağın gribi bir gecede iyileştirdiğini iddia ediyor",
    "zh": "网上流传的帖子声称喝热水可以杀死病毒",
    "ko": "한 게시물은 마늘이 독감을 하루 만에 고친다고 주장한다",
    "th": "โพสต์อ้างว่าน้ำมะนาวรักษาโรคมะเร็งได้",
    "vi": "Bài đăng nói rằng tỏi chữa khỏi bệnh cúm chỉ trong một đêm",
    "el": "Ανάρτηση ισχυρίζεται ότι το σκόρδο θεραπεύει τη γρίπη σε μία νύχτα",
    "he": "הפוסט טוען ששום מרפא שפעת בלילה אחד",
    "sv": "Ett inlägg påstår att vitlök botar influensa över en natt hos vuxna",
}


def test_claims_in_twenty_languages_are_told_apart_and_found(libraries: Libraries, tmp_path: Path) -> None:
    file = tmp_path / "feed.json"
    file.write_text(feed(*(review(claim) for claim in _LANGUAGES.values())), encoding="utf-8")
    info = libraries.add(file, "checks", kind=KIND)
    assert set(info.languages) == set(_LANGUAGES)
    for claim in _LANGUAGES.values():
        assert libraries.search("checks", claim)[0].title == claim


def test_of_a_feed_that_is_cut_off_what_is_whole_is_kept_and_the_rest_told(
    libraries: Libraries, tmp_path: Path
) -> None:
    file = tmp_path / "feed.json"
    file.write_bytes(feed(*(review(f"Claim number {n} é") for n in range(5))).encode()[:-150])
    info = libraries.add(file, "checks", kind=KIND)
    assert info.records == 4
    assert info.skipped_names == (
        "fact-check 5 of feed.json: it is broken or longer than 1,000,000 characters",
        "fact-check 6 of feed.json: the file breaks off here",
    )


def test_of_a_feed_with_a_record_on_each_line_many_cut_lines_keep_nothing_else_back(
    libraries: Libraries, tmp_path: Path
) -> None:
    file = tmp_path / "feed.jsonl"
    lines = [json.dumps(review(f"Claim number {n} of many")) for n in range(300)]
    file.write_text("".join(f"{line[:-40] if n % 2 else line}\n" for n, line in enumerate(lines)))
    info = libraries.add(file, "checks", kind=KIND)
    assert info.records == 150


def test_a_long_feed_in_one_line_is_read_with_bounded_memory_and_a_record_that_is_too_long_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fact_checks, "_CHUNK_CHARACTERS", 20_000)
    monkeypatch.setattr(fact_checks, "MOST_OF_A_RECORD", 5_000)
    file = tmp_path / "feed.json"
    huge = review("x" * 100_000 + ' \\" {"@type": "ClaimReview", "claimReviewed": "inside a text"} ' + "\\" * 30_000)
    file.write_text(feed(*([review("A claim of some words", text="y" * 500)] * 2_000), huge, review("The last one")))
    assert file.stat().st_size > 1_500_000
    tracemalloc.start()
    found = [item if isinstance(item, str) else item["claimReviewed"] for item in fact_checks._read_claim_reviews(file)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.count("A claim of some words") == 2_000
    assert [item for item in found if item != "A claim of some words"] == [
        "it is broken or longer than 5,000 characters",
        "The last one",
    ]
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.json", '{"a": [1, 2]}', "no fact-check"),
        ("a.json", "not json", "no fact-check"),
        ("a.csv", "title,text\na,b\n", "no fact-check"),
        ("a.json", '{"a":' * 5_000, "levels of brackets"),
        ("a.pdf", "%PDF", "cannot be|not a fact-check file"),
        ("a.json", '[{"@type": "ClaimReview"}]', "no readable text"),
    ],
)
def test_a_file_without_fact_checks_is_refused_with_a_sentence(
    libraries: Libraries, tmp_path: Path, name: str, content: str, why: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(LibraryError, match=why):
        libraries.add(tmp_path / name, "checks", kind=KIND)
    assert libraries.list() == []


def test_an_unknown_kind_and_named_columns_are_refused(libraries: Libraries, table: Path) -> None:
    with pytest.raises(LibraryError, match="not a kind"):
        libraries.add(table, "checks", kind="rumours")
    with pytest.raises(LibraryError, match="have no columns"):
        libraries.add(table, "checks", kind=KIND, text_column="answer")


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "@type claimReviewed url author name itemReviewed reviewRating ratingValue @value a".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(_JSON)
def test_no_shape_of_data_breaks_the_reader_and_a_feed_gives_what_its_parts_give(data: object) -> None:
    found = list(claim_reviews(data))
    for item in found:
        check = fact_check(item)
        assert check is None or (check.claim and "\n" not in check.sentence and len(check.rating) <= 200)
    assert json.dumps(items_of(json.dumps(data))) == json.dumps(found)


@given(st.lists(st.text(max_size=30), max_size=6), st.data())
def test_a_feed_cut_anywhere_gives_the_records_before_the_cut(claims: list[str], data: st.DataObject) -> None:
    whole = feed(*(review(claim) for claim in claims))
    cut = data.draw(st.integers(0, len(whole)))
    read = [item["claimReviewed"] for item in items_of(whole[:cut]) if isinstance(item, dict)]
    assert read == claims[: len(read)]
    assert len(items_of(whole)) == len(claims)


@given(st.text(alphabet='{}[]":,\\\n a1', max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    items_of(text)


def test_of_a_folder_no_pipe_is_opened_and_no_link_leads_out_of_it(libraries: Libraries, tmp_path: Path) -> None:
    folder = tmp_path / "checks"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(review("A claim of some words")))
    (tmp_path / "outside.json").write_text(json.dumps(review("A secret of the machine")))
    (folder / "b.json").symlink_to(tmp_path / "outside.json")
    os.mkfifo(folder / "c.json")
    records = list(fact_checks.open_fact_checks(folder).read())
    assert [record.title for record in records if not record.problem] == ["A claim of some words"]
    assert [record.problem for record in records if record.problem] == [
        "leads out of the folder",
        "a pipe, socket or device, not a file",
    ]
