//! Themes by name and from files: a YAML map of meaning to style, a style being words (`"red bold"`, `"black on #f2cc60"`). Owns the reading;
//! what a meaning is for is [`Theme`]'s. Must not open files.

use ratatui::style::{Color, Modifier, Style};

use super::Theme;

/// Themes that are built in.
pub const BUILT_IN: [(&str, &str); 4] = [
    ("dark", include_str!("../../assets/themes/dark.yaml")),
    ("light", include_str!("../../assets/themes/light.yaml")),
    ("high-contrast", include_str!("../../assets/themes/high-contrast.yaml")),
    ("mono", include_str!("../../assets/themes/mono.yaml")),
];

impl Theme {
    /// A built-in theme; `terminal` is the terminal's own 16 colours.
    pub fn named(name: &str) -> Option<Theme> {
        if name == "terminal" {
            return Some(Theme::ansi());
        }
        BUILT_IN.iter().find(|(n, _)| *n == name).map(|(_, text)| Theme::read(text).0)
    }

    /// Reads a theme file. What it leaves out, or has wrong, is taken from the terminal's colours; each mistake is told in one line.
    pub fn read(text: &str) -> (Theme, Vec<String>) {
        let (mut theme, mut mistakes) = (Theme::ansi(), Vec::new());
        let map: serde_yaml::Mapping = match serde_yaml::from_str(text) {
            Ok(map) => map,
            Err(e) => return (theme, vec![crate::model::text::line(&format!("not a map of meanings to styles: {e}"))]),
        };
        for (key, value) in &map {
            let key = key.as_str().unwrap_or_default();
            let Some(place) = theme.place(key) else {
                mistakes.push(format!("{key}: no such meaning; allowed are {}", MEANINGS.join(", ")));
                continue;
            };
            match value.as_str().ok_or_else(|| "a style is text, such as \"red bold\"".to_string()).and_then(style) {
                Ok(style) => *place = style,
                Err(why) => mistakes.push(format!("{key}: {why}")),
            }
        }
        let mistakes = mistakes.iter().map(|m| crate::model::text::line(m)).collect();
        (theme, mistakes)
    }

    fn place(&mut self, meaning: &str) -> Option<&mut Style> {
        Some(match meaning {
            "normal" => &mut self.normal,
            "dim" => &mut self.dim,
            "strong" => &mut self.strong,
            "accent" => &mut self.accent,
            "heading" => &mut self.heading,
            "key" => &mut self.key,
            "bar" => &mut self.bar,
            "selected" => &mut self.selected,
            "found" => &mut self.found,
            "blocked" => &mut self.blocked,
            "failing" => &mut self.failing,
            "degraded" => &mut self.degraded,
            "unknown" => &mut self.unknown,
            "progressing" => &mut self.progressing,
            "ready" => &mut self.ready,
            _ => return None,
        })
    }
}

/// Every meaning a file may name.
const MEANINGS: [&str; 15] = [
    "normal",
    "dim",
    "strong",
    "accent",
    "heading",
    "key",
    "bar",
    "selected",
    "found",
    "blocked",
    "failing",
    "degraded",
    "unknown",
    "progressing",
    "ready",
];

fn style(words: &str) -> Result<Style, String> {
    let mut style = Style::new();
    let mut background = false;
    for word in words.split_whitespace() {
        let modifier = match word {
            "on" => {
                background = true;
                continue;
            }
            "plain" => continue,
            "bold" => Modifier::BOLD,
            "dim" => Modifier::DIM,
            "underlined" => Modifier::UNDERLINED,
            "reversed" => Modifier::REVERSED,
            colour => {
                let colour: Color = colour.parse().map_err(|_| {
                    format!("{colour:?} is neither a colour (red, #rrggbb, 0 to 255) nor bold, dim, underlined, reversed, plain")
                })?;
                style = if background { style.bg(colour) } else { style.fg(colour) };
                background = false;
                continue;
            }
        };
        style = style.add_modifier(modifier);
    }
    if background { Err("no colour after `on`".to_string()) } else { Ok(style) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_themes_name_every_meaning_and_nothing_else() {
        for (name, text) in BUILT_IN {
            let (_, mistakes) = Theme::read(text);
            assert!(mistakes.is_empty(), "{name}: {mistakes:?}");
            for meaning in MEANINGS {
                assert!(text.contains(&format!("\n{meaning}: ")), "{name} has no {meaning}");
            }
        }
        assert_eq!(Theme::named("mono"), Some(Theme::mono()));
        assert_eq!(Theme::named("terminal"), Some(Theme::ansi()));
        assert_eq!(Theme::named("nope"), None);
    }

    #[test]
    fn mistakes_are_told_and_the_rest_is_used() {
        let (t, mistakes) = Theme::read("ready: \"bold #00ff00 on black\"\nblocked: crimsonish\nnope: red\ndim: 3\nfound: red on\n");
        assert_eq!(t.ready, Style::new().fg(Color::Rgb(0, 255, 0)).bg(Color::Black).add_modifier(Modifier::BOLD));
        assert_eq!(t.blocked, Theme::ansi().blocked);
        assert_eq!(mistakes.len(), 4, "{mistakes:?}");
        assert!(mistakes[0].starts_with("blocked: \"crimsonish\" is neither"), "{mistakes:?}");
        assert_eq!(Theme::read("- a list").1.len(), 1);
    }
}
