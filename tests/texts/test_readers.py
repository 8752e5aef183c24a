"""Texts in other formats give the same words as the plain text; damaged files are one line."""

import io
import os
import re
import time
import zipfile
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftstate.texts.markup import Gathered, read_html
from shiftstate.texts.readers import READERS, boilerplate_left, read_document, without_boilerplate
from shiftstate.texts.tokens import tokenize

TEXT = "It was the end — of the road. Éloïse & Tom went “home”."
WORDS = tokenize(TEXT)


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("-", "."), content)
    return stream.getvalue()


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DOCX = (
    f"<w:document xmlns:w='{W}'><w:body><w:p><w:r><w:t>It was the en</w:t></w:r><w:r><w:t>d — of the road.</w:t></w:r>"
    "</w:p><w:p><w:r><w:t>Éloïse &amp; Tom</w:t><w:br/><w:t>went “home”.</w:t></w:r></w:p></w:body></w:document>"
)
HTML = (
    "<html><head><title>No words</title><style>p {color: red}</style></head><body><nav>menu</nav><p>It was "
    "the <i>en</i>d &mdash; of<br>the road.</p><script>var x = 1;</script>"
    "<div>Éloïse &amp; Tom went “home”.</div></body></html>"
)
TEI = (
    "<TEI xmlns='http://www.tei-c.org/ns/1.0'><teiHeader><title>No words</title></teiHeader><text><body><div><p>It was "
    "the <hi>en</hi>d — of the<note>No!</note><lb/>road.</p><l>Éloïse &amp; Tom</l><pb n='2'/><l>went “home”.</l></div>"
    "</body></text></TEI>"
)
CONTAINER = "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>"
PACKAGE = (
    "<package><manifest><item id='b' href='two.xhtml'/><item id='a' href='text/one%20page.xhtml'/></manifest>"
    "<spine><itemref idref='a'/><itemref idref='b'/></spine></package>"
)


def epub():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OPS/book.opf", PACKAGE)
        archive.writestr("OPS/two.xhtml", "<html><body><p>Éloïse &amp; Tom went “home”.</p></body></html>")
        archive.writestr("OPS/text/one page.xhtml", "<html><body><p>It was the end — of the road.</p></body></html>")
    return stream.getvalue()


def docx():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("word/document.xml", DOCX)
    return stream.getvalue()


FILES = {".txt": TEXT.encode(), ".html": HTML.encode(), ".docx": docx(), ".epub": epub(), ".xml": TEI.encode()}


@pytest.mark.parametrize("suffix", FILES)
def test_every_format_gives_the_words_of_the_text(tmp_path, suffix):
    path = tmp_path / f"text{suffix.upper()}"
    path.write_bytes(FILES[suffix])
    assert tokenize(read_document(path)) == WORDS


@pytest.mark.parametrize("suffix", [".docx", ".epub", ".xml"])
@given(data=st.binary(max_size=60), place=st.floats(0, 1), cut=st.booleans())
def test_damaged_files_are_one_line_or_still_a_text(tmp_path_factory, suffix, data, place, cut):
    whole = FILES[suffix]
    at = int(place * len(whole))
    path = tmp_path_factory.getbasetemp() / f"damaged{suffix}"
    path.write_bytes(whole[:at] + data + (b"" if cut else whole[at + len(data) :]))
    try:
        assert read_document(path)
    except ValueError as error:
        message = str(error)
    else:
        message = str(path)
    assert "\n" not in message
    assert path.name in message


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("a.pdf", b"%PDF", "ends in '.pdf'; expected one of .txt"),
        ("a.docx", b"no zip", "is no .docx file"),
        ("a.epub", zipped(x="y"), "is no .epub file"),
        ("a.xml", b"<p>no body</p>", "has no <body>"),
        ("a.xml", b"<a><b>", "is no .xml file"),
        ("a.html", b"<p> </p>", "holds no words"),
        ("a.html", b"\xff\xfe", "is UTF-16"),
        ("a.txt", b"", "holds no words"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, name, data, complaint):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match="a" + name[1:]) as error:
        read_document(tmp_path / name)
    assert complaint in str(error.value)


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "a.docx")
    with pytest.raises(ValueError, match="a named pipe"):
        read_document(tmp_path / "a.docx")


def test_a_billion_laughs_are_refused(tmp_path):
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    (tmp_path / "a.xml").write_text(f'<!DOCTYPE x [<!ENTITY l0 "ha">{entities}]><TEI><body>&l11;</body></TEI>')
    with pytest.raises(ValueError, match=r"is no \.xml file"):
        read_document(tmp_path / "a.xml")


def test_gutenberg_s_lines_are_cut_where_they_are():
    story = "Once upon a time.\n"
    first, last = (f"*** {word} OF THE PROJECT GUTENBERG EBOOK X ***" for word in ("START", "END"))
    inside = f"{first}\n\n{story}\n{last}\nLicence"
    assert without_boilerplate(inside) == (story, True)
    assert without_boilerplate(story) == (story, False)
    assert without_boilerplate("Project Gutenberg is a library.") == ("Project Gutenberg is a library.", False)


def test_old_and_damaged_forms_of_gutenberg_s_lines_are_cut_as_far_as_they_are_there():
    story = "Once upon a time.\n"
    old = "The Project Gutenberg Etext of X\n\n*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n"
    assert without_boilerplate(f"{old}{story}\nEnd of The Project Gutenberg Etext of X\n") == (story, True)
    cut_off = f"*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n{story}"
    assert without_boilerplate(cut_off) == (story, True)
    assert not boilerplate_left(story)
    assert boilerplate_left(f"Produced for Project Gutenberg.\n{story}")
    assert boilerplate_left(f"{story * 3000}The Project Gutenberg licence")


def test_every_reader_is_tested():
    assert set(FILES) | {".htm", ".xhtml"} == set(READERS)


class _OldParagraphs(HTMLParser):
    """The standard library's parser, which is right and slow."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("script", "head", "nav")
        self.parts += ["\n"] if tag in ("p", "br") else []

    def handle_endtag(self, tag):
        self.hidden = max(0, self.hidden - (tag in ("script", "head", "nav")))
        self.parts += ["\n"] if tag in ("p", "br") else []

    def handle_data(self, data):
        self.parts += [] if self.hidden else [data]


PIECES = ["<p>", "</p>", "<br/>", "<i>", "</i>", "<nav>", "</nav>", "<script>", "</script>", "<!-- a > b -->",
          "<?x y?>", "<a href='>' title=\"it's\">", "<P CLASS=x>", "<!DOCTYPE html>", "one ", "two. ", "&amp;",
          "&eacute;", "&#233;", "5 < 6 ", "a & b "]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_pages_give_the_text_that_the_standard_library_finds(pieces):
    page = "".join(pieces) + "</script>."  # without it everything after a <script> is hidden
    old, new = _OldParagraphs(), Gathered()
    old.feed(page)
    old.close()
    read_html(page, new)
    first, second = (re.sub("\n+", "\n", text) for text in (new.text, "".join(old.parts)))  # <br/> is one break here
    assert first == second


NASTY = ["<!--", "<!a", "<?a", "<a ", "</a ", "<a b='", "<a b=c", "<", "&", "<![CDATA[", '<a "', "<a =", "<script>",
         "<a/", "</", "&#1", '<a b=""', "<a b=\"<c d='", "\n \n\t", "<template>", "=\"'>", "&#x"]  # fmt: skip


@pytest.mark.parametrize("piece", NASTY)
def test_unfinished_tags_take_no_quadratic_time(piece):
    began = time.process_time()
    for end in ("", ' c=">"', "-->", "]]>"):
        read_html(piece * (100_000 // len(piece)) + end, Gathered())
    assert time.process_time() - began < 5  # a quadratic search takes minutes


@pytest.mark.parametrize(
    ("suffix", "content", "complaint"),
    [
        (".docx", f"<d>{'<p>' * 2000}", "nested more than 1,000 deep"),
        (".docx", "<d>" + "<p/>" * 3000 + "</d>", "more than 2,000 elements"),
        (".docx", f"<p><t>{'word ' * 1000}</t></p>", "more than 4,000 characters"),
        (
            ".docx",
            "<!DOCTYPE d [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><p><t>&b;</t></p>",
            "entity 'b' is no plain text",
        ),
        (".docx", f"<!DOCTYPE d [<!ENTITY a '{'x' * 300}'>]><p><t>&a;</t></p>", "entity 'a' is no plain text"),
        (".xml", "<!DOCTYPE d SYSTEM 'd.dtd'><TEI><body>a &b; c</body></TEI>", "entity 'b' is not declared"),
        (".xml", "<!DOCTYPE d [<!ENTITY b SYSTEM '/etc/passwd'>]><TEI><body>a &b;</body></TEI>", "is not declared"),
        (".html", "<p>" * 3000, "more than 2,000 elements"),
        (".html", "word " * 1000, "more than 4,000 characters"),
        (".txt", "word " * 1000, "has 5,000 characters; expected at most 4,000"),
        (".txt", "word \ufdfa" * 200, "has 4,600 characters; expected at most 4,000"),
    ],
)
def test_too_deep_too_long_or_growing_documents_are_one_line(tmp_path, monkeypatch, suffix, content, complaint):
    monkeypatch.setattr("shiftstate.texts.markup.MAX_ELEMENTS", 2000)
    for module in ("markup", "reading"):
        monkeypatch.setattr(f"shiftstate.texts.{module}.MAX_CHARACTERS", 4000)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(packed_docx(content) if suffix == ".docx" else content.encode())
    with pytest.raises(ValueError, match="a" + suffix) as error:
        read_document(path)
    assert complaint in str(error.value)


def packed_docx(content, method=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("word/document.xml", content)
    return stream.getvalue()


def test_archives_that_unpack_to_too_much_are_refused_before_they_do(tmp_path, monkeypatch):
    monkeypatch.setattr("shiftstate.texts.readers.MAX_TEXT_BYTES", 100_000)
    path = tmp_path / "a.docx"
    path.write_bytes(packed_docx("<p>" + " " * 200_000 + "</p>"))
    with pytest.raises(ValueError, match=r"a\.docx is no \.docx file .* would unpack to more than 100,000 bytes"):
        read_document(path)
    path.write_bytes(packed_docx("<p/>", zipfile.ZIP_BZIP2))
    with pytest.raises(ValueError, match="packed by method 12"):
        read_document(path)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OPS/book.opf", "<p><item id='a' href='a.html'/>" + "<itemref idref='a'/>" * 50 + "</p>")
        archive.writestr("OPS/a.html", "<p>word</p>" * 300)
    path = tmp_path / "a.epub"
    path.write_bytes(stream.getvalue())
    with pytest.raises(ValueError, match=r"a\.epub is no \.epub file .* would unpack to more than 100,000 bytes"):
        read_document(path)
    with open(tmp_path / "a.txt", "wb") as file:
        file.truncate(10**12)
    with pytest.raises(ValueError, match=r"a\.txt holds 1,000,000 MB; expected a text of at most"):
        read_document(tmp_path / "a.txt")


def test_a_text_box_in_two_versions_and_a_paragraph_in_a_paragraph_count_once(tmp_path):
    box = "<p><r><AlternateContent><Choice><p><t>inside</t></p></Choice><Fallback><p><t>inside</t></p></Fallback>"
    path = tmp_path / "a.docx"
    path.write_bytes(packed_docx(f"<d>{box}</AlternateContent></r><r><t>outside</t></r></p></d>"))
    assert tokenize(read_document(path)) == [["inside", "outside"]]


def test_entities_that_stand_for_a_sign_are_read(tmp_path):
    (tmp_path / "a.xml").write_text("<!DOCTYPE d [<!ENTITY mdash '—'>]><TEI><body>one&mdash;two</body></TEI>")
    assert read_document(tmp_path / "a.xml") == "one—two\n"


def test_a_number_of_a_character_that_has_too_many_digits_is_no_character(tmp_path):
    (tmp_path / "a.html").write_text(f"<p>word &#{'9' * 5000}; &#x{'f' * 5000}; &#65;</p>")
    assert read_document(tmp_path / "a.html") == "word \ufffd \ufffd A\n"
