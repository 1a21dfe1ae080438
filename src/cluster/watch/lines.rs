//! Cuts a stream into its lines while it arrives. Owns the buffer; every byte is looked at once and moved at most once a chunk,
//! however many lines a chunk holds and however many chunks a line takes. Must not know what a line says.

/// A buffer this large is given back once it is empty: one huge event must not hold its memory for the life of a watch.
const ROOM: usize = 256 << 10;

/// Bytes on their way to become lines.
#[derive(Debug, Default)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to here there is no end of a line behind `start`.
    searched: usize,
}

impl Lines {
    /// Adds what arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > ROOM {
            self.buffer.shrink_to(ROOM);
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line, with its end.
    #[allow(clippy::should_implement_trait)] // it lends from the buffer, which an iterator can't
    pub fn next(&mut self) -> Option<&[u8]> {
        match self.buffer.get(self.searched..)?.iter().position(|b| *b == b'\n') {
            Some(at) => {
                let (from, to) = (self.start, self.searched + at + 1);
                (self.start, self.searched) = (to, to);
                self.buffer.get(from..to)
            }
            None => {
                self.searched = self.buffer.len();
                None
            }
        }
    }

    /// What came after the last whole line.
    pub fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Takes what came after the last whole line.
    pub fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.rest().to_vec();
        *self = Lines::default();
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(chunks: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for chunk in chunks {
            lines.feed(chunk);
            while let Some(line) = lines.next() {
                out.push(line.to_vec());
            }
        }
        (out, lines.take_rest())
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_come(text in "[ab\n]{0,80}", step in 1usize..9) {
            let (lines, rest) = cut(&text.as_bytes().chunks(step).collect::<Vec<_>>());
            let mut expected: Vec<Vec<u8>> = text.split_inclusive('\n').map(|l| l.as_bytes().to_vec()).collect();
            let torn = expected.pop_if(|l| !l.ends_with(b"\n")).unwrap_or_default();
            prop_assert_eq!((lines, rest), (expected, torn));
        }
    }

    #[test]
    fn a_huge_line_doesnt_keep_its_room() {
        let mut lines = Lines::default();
        lines.feed(&vec![b'x'; ROOM * 4]);
        lines.feed(b"\n");
        assert_eq!(lines.next().map(<[u8]>::len), Some(ROOM * 4 + 1));
        lines.feed(b"y");
        assert!(lines.buffer.capacity() <= ROOM && lines.rest() == b"y");
    }
}
