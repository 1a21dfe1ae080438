//! Cuts a list answer into its items while it arrives, so that a list of any length costs one item of memory.
//! Owns the splitting of bytes; must not know kinds.

use serde_json::Value;

/// An item of more bytes is skipped and counted: no object that a plane needs is near it, a hostile one is.
pub const MAX_ITEM: usize = 16 << 20;
/// Everything outside `items` (metadata, messages) may have this many bytes.
const MAX_FRAME: usize = 1 << 20;

/// Cuts `{"kind": …, "metadata": …, "items": [ … ]}` into items and the frame around them.
#[derive(Debug, Default)]
pub struct Splitter {
    place: Place,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The last string read at depth 1, to see the key `items`.
    key: Vec<u8>,
    key_open: bool,
    item: Vec<u8>,
    oversized: bool,
    frame: Vec<u8>,
    /// Items that were too large to read.
    pub skipped: usize,
}

#[derive(Debug, Default, PartialEq, Clone, Copy)]
enum Place {
    #[default]
    Frame,
    /// `"items"` was read, its `[` hasn't come.
    BeforeItems,
    Items,
    InItem,
}

/// What a list says beside its items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// `metadata.resourceVersion`.
    pub resource_version: String,
    /// `metadata.continue`; empty when the list is whole.
    pub next: String,
}

impl Splitter {
    /// Feeds bytes; calls `each` with every complete item.
    ///
    /// # Errors
    /// When the frame grows beyond reason: the answer is no list.
    pub fn feed(&mut self, bytes: &[u8], each: &mut impl FnMut(&[u8])) -> Result<(), String> {
        for &b in bytes {
            match self.place {
                Place::Frame => self.frame_byte(b)?,
                Place::BeforeItems => match b {
                    b'[' => {
                        self.place = Place::Items;
                        self.frame.push(b);
                    }
                    b':' | b' ' | b'\n' | b'\r' | b'\t' => self.frame.push(b),
                    _ => {
                        // `"items": null`, or a value that is called items: an ordinary part of the frame.
                        self.place = Place::Frame;
                        self.frame_byte(b)?;
                    }
                },
                Place::Items => match b {
                    b'{' => {
                        self.place = Place::InItem;
                        self.depth = 1;
                        self.item.clear();
                        self.item.push(b);
                    }
                    b']' => {
                        self.place = Place::Frame;
                        self.depth = 1;
                        self.frame.push(b);
                    }
                    _ => {}
                },
                Place::InItem => self.item_byte(b, each),
            }
        }
        Ok(())
    }

    fn frame_byte(&mut self, b: u8) -> Result<(), String> {
        if self.frame.len() >= MAX_FRAME {
            return Err(format!("more than {MAX_FRAME} bytes outside the items: no list"));
        }
        self.frame.push(b);
        if self.in_string {
            match b {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    self.key_open = false;
                    if self.depth == 1 && self.key == b"items" {
                        self.place = Place::BeforeItems;
                    }
                }
                _ if self.key_open && self.key.len() < 16 => self.key.push(b),
                _ => {}
            }
            return Ok(());
        }
        match b {
            b'"' => {
                self.in_string = true;
                self.key_open = self.depth == 1;
                self.key.clear();
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        Ok(())
    }

    fn item_byte(&mut self, b: u8, each: &mut impl FnMut(&[u8])) {
        if self.item.len() < MAX_ITEM {
            self.item.push(b);
        } else {
            self.oversized = true;
        }
        if self.in_string {
            match b {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match b {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.place = Place::Items;
                    if std::mem::take(&mut self.oversized) {
                        self.skipped += 1;
                    } else {
                        each(&self.item);
                    }
                    self.item.clear();
                    // One large item must not hold its memory for the rest of the list.
                    self.item.shrink_to(64 << 10);
                }
            }
            _ => {}
        }
    }

    /// Ends the list: the frame, if the answer was a whole list.
    ///
    /// # Errors
    /// When the answer was cut short or is no list; the text says which.
    pub fn finish(self) -> Result<Frame, String> {
        if self.place != Place::Frame {
            return Err("the answer was cut short within the items".into());
        }
        let v: Value = serde_json::from_slice(&self.frame).map_err(|e| format!("no list: {e}"))?;
        let kind = v.get("kind").and_then(Value::as_str).unwrap_or_default();
        if !kind.ends_with("List") && v.get("items").is_none() {
            return Err(format!("found kind {kind:?} where a list was asked for"));
        }
        let meta = |k: &str| v.get("metadata").and_then(|m| m.get(k)).and_then(Value::as_str).unwrap_or_default().to_string();
        Ok(Frame { resource_version: meta("resourceVersion"), next: meta("continue") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str, step: usize) -> (Vec<Value>, Result<Frame, String>) {
        let mut s = Splitter::default();
        let mut items = Vec::new();
        for chunk in text.as_bytes().chunks(step) {
            if let Err(e) = s.feed(chunk, &mut |i| items.push(serde_json::from_slice(i).unwrap())) {
                return (items, Err(e));
            }
        }
        (items, s.finish())
    }

    const LIST: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c","items":"no"},"items":[{"a":"]}\"{"},{"b":{"items":[1,{"c":2}]}}]}"#;

    #[test]
    fn items_come_whole_however_the_bytes_come() {
        for step in [1, 2, 3, 7, 1000] {
            let (items, frame) = split(LIST, step);
            assert_eq!(items.len(), 2, "step {step}");
            assert_eq!(frame.unwrap(), Frame { resource_version: "7".into(), next: "c".into() });
        }
    }

    #[test]
    fn metadata_may_follow_and_null_items_are_none() {
        assert_eq!(split(r#"{"items":[{}],"kind":"XList","metadata":{"resourceVersion":"9"}}"#, 4).1.unwrap().resource_version, "9");
        assert_eq!(split(r#"{"kind":"XList","items":null,"metadata":{}}"#, 5).0.len(), 0);
        assert!(split(r#"{"kind":"XList","items":null}"#, 5).1.is_ok());
    }

    #[test]
    fn what_is_no_whole_list_is_an_error() {
        for text in [&LIST[..LIST.len() - 1], &LIST[..LIST.len() - 8], "", "<html>502</html>", r#"{"kind":"Status","code":403}"#, "null"] {
            assert!(split(text, 3).1.is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut s = Splitter::default();
            let _ = s.feed(&bytes, &mut |_| {});
            let _ = s.finish();
        }
    }
}
