"""Texts in other formats give the same words as the plain text; damaged files are one line."""

import io
import os
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
