//! How the screen is divided, as plain numbers: the same ones for paging and for painting.

/// Rows of the parts of the screen, from the top; 0 where there is no room for a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Columns.
    pub width: u16,
    /// Context, identity, connection.
    pub header: u16,
    /// Filter line, tabs or a summary.
    pub subline: u16,
    /// The screen itself.
    pub body: u16,
    /// Keys.
    pub footer: u16,
}

/// Divides a screen: the body goes last, the subline first.
pub fn divide((width, height): (u16, u16)) -> Geometry {
    let header = u16::from(height >= 4);
    let subline = u16::from(height >= 6);
    let footer = u16::from(height >= 3);
    Geometry { width, header, subline, footer, body: height - header.min(height) - subline - footer }
}

impl Geometry {
    /// Lines of a list: the body without its headings.
    pub fn list(&self) -> usize {
        usize::from(if self.body >= 3 { self.body - 1 } else { self.body })
    }

    /// Lines of a text.
    pub fn text(&self) -> usize {
        usize::from(self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_always_fill_the_screen() {
        for h in 0..=60 {
            let g = divide((80, h));
            assert_eq!(g.header + g.subline + g.body + g.footer, h);
        }
        assert_eq!(divide((80, 24)).list(), 20);
    }
}
