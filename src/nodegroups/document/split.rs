//! Cutting a text into documents before any is parsed, so that a bad one can't hide the rest. Must not parse.

/// A piece of the text that is one document, or one line of JSON lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Its bytes; a `---` in front is already gone.
    pub bytes: &'a [u8],
    /// Lines before it.
    pub line: usize,
    /// Columns before it, on its first line.
    pub column: usize,
}

/// All documents of a text.
pub fn chunks(bytes: &[u8]) -> Vec<Chunk<'_>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = lines(bytes);
    if is_json_lines(bytes, &lines) {
        let filled = lines.iter().enumerate().filter(|(_, l)| !l.trim_ascii().is_empty());
        return filled.map(|(line, l)| Chunk { bytes: l, line, column: 0 }).collect();
    }
    let (mut out, mut start, mut first, mut column, mut at) = (Vec::new(), 0, 0, 0, 0);
    let mut close = |from: usize, to: usize, line: usize, column: usize| {
        let bytes = bytes.get(from..to).unwrap_or_default();
        if !is_blank(bytes) {
            out.push(Chunk { bytes, line, column });
        }
    };
    for (i, line) in lines.iter().enumerate() {
        if let Some(marker) = marker(line) {
            close(start, at, first, column);
            (start, first, column) = (at + marker, i, marker);
        }
        at += line.len();
    }
    close(start, bytes.len(), first, column);
    out
}

/// Lines with their ends.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|b| *b == b'\n').collect()
}

/// How many bytes of the line are a marker that ends a document and starts the next.
fn marker(line: &[u8]) -> Option<usize> {
    let rest = line.strip_prefix(b"---").or_else(|| line.strip_prefix(b"..."))?;
    matches!(rest.first(), None | Some(b' ' | b'\t' | b'\n' | b'\r')).then_some(3)
}

/// Nothing but blanks, comments and directives.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.split(|b| *b == b'\n').all(|l| matches!(l.trim_ascii().first(), None | Some(b'#')) || l.first() == Some(&b'%'))
}

/// Several lines, the text isn't JSON as a whole, and a line alone is a JSON object.
fn is_json_lines(bytes: &[u8], lines: &[&[u8]]) -> bool {
    let object = |l: &[u8]| l.first() == Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(l).is_ok();
    let starts = bytes.trim_ascii_start().first() == Some(&b'{') || lines.iter().any(|l| object(l));
    let filled = lines.iter().filter(|l| !l.trim_ascii().is_empty()).count();
    starts
        && filled > 1
        && !lines.iter().any(|l| marker(l).is_some())
        && lines.iter().any(|l| object(l) && l.trim_ascii().len() > 2)
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err()
}
