//! A selection that holds on to an identity, never to a line number, and the window that shows it. Knows nothing of rows but their keys.

/// Where one is in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    key: Option<String>,
    index: usize,
    offset: usize,
}

impl Cursor {
    /// Identity of the selected row.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Line of the selected row.
    pub fn index(&self) -> usize {
        self.index
    }

    /// First line shown.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Selects by identity; takes effect with the next [`Cursor::sync`].
    pub fn select(&mut self, key: impl Into<String>) {
        self.key = Some(key.into());
    }

    /// The rows changed: follows the identity; if it is gone, the row that took its place is selected.
    pub fn sync(&mut self, len: usize, height: usize, key_at: impl Fn(usize) -> Option<String>, find: impl Fn(&str) -> Option<usize>) {
        let before = self.index;
        match self.key.as_deref().and_then(&find) {
            Some(i) => self.index = i,
            None => {
                self.index = self.index.min(len.saturating_sub(1));
                // A list that is empty for a moment (re-connect) must not forget what was selected.
                if len > 0 {
                    self.key = key_at(self.index);
                }
            }
        }
        // The selected row keeps its place on screen when rows come and go above it.
        self.offset = if self.index >= before {
            self.offset.saturating_add(self.index - before)
        } else {
            self.offset.saturating_sub(before - self.index)
        };
        self.clamp(len, height);
    }

    /// Moves by lines.
    pub fn go(&mut self, by: isize, len: usize, height: usize, key_at: impl Fn(usize) -> Option<String>) {
        self.index = self.index.saturating_add_signed(by).min(len.saturating_sub(1));
        self.key = key_at(self.index).or(self.key.take());
        self.clamp(len, height);
    }

    fn clamp(&mut self, len: usize, height: usize) {
        let height = height.max(1);
        self.offset = self.offset.min(self.index).max((self.index + 1).saturating_sub(height));
        self.offset = self.offset.min(len.saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync(c: &mut Cursor, rows: &[&str]) {
        c.sync(rows.len(), 3, |i| rows.get(i).map(|s| s.to_string()), |k| rows.iter().position(|r| *r == k));
    }

    #[test]
    fn identity_survives_insert_delete_and_an_empty_moment() {
        let mut c = Cursor::default();
        sync(&mut c, &["a", "b", "c"]);
        c.go(1, 3, 3, |i| ["a", "b", "c"].get(i).map(|s| s.to_string()));
        assert_eq!(c.key(), Some("b"));
        sync(&mut c, &["0", "a", "b", "c"]);
        assert_eq!((c.key(), c.index()), (Some("b"), 2));
        sync(&mut c, &["0", "a", "c"]);
        assert_eq!((c.key(), c.index()), (Some("c"), 2), "the next row takes its place");
        sync(&mut c, &[]);
        sync(&mut c, &["0", "c", "d"]);
        assert_eq!((c.key(), c.index()), (Some("c"), 1));
    }

    #[test]
    fn the_row_stays_where_it_is_on_screen() {
        let mut c = Cursor::default();
        let many: Vec<String> = (0..20).map(|i| format!("r{i:02}")).collect();
        let refs: Vec<&str> = many.iter().map(String::as_str).collect();
        sync(&mut c, &refs);
        c.go(10, 20, 3, |i| many.get(i).cloned());
        let place = c.index() - c.offset();
        let mut more = vec!["new"];
        more.extend(&refs);
        sync(&mut c, &more);
        assert_eq!(c.index() - c.offset(), place);
    }
}
