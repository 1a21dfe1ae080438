//! Text that must not be printed, and base64. Owns hiding; must not decide where a credential comes from.

use k8s_openapi::ByteString;

/// A credential in memory. `Debug` shows that there is one, nothing else; there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn new(s: impl Into<String>) -> Self {
        Secret(s.into())
    }

    /// The text itself: only for handing on to kube or a plugin.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[hidden]")
    }
}

/// Bytes of a base64 field. Line breaks and blanks inside are allowed: folded YAML text has them.
pub(super) fn decode(base64: &str) -> Option<Vec<u8>> {
    let joined: String = base64.split_whitespace().collect();
    serde_json::from_value::<ByteString>(joined.into()).ok().map(|b| b.0)
}

/// Base64 of bytes.
pub(super) fn encode(bytes: &[u8]) -> String {
    match serde_json::to_value(ByteString(bytes.to_vec())) {
        Ok(serde_json::Value::String(s)) => s,
        _ => String::new(),
    }
}

/// A bearer token fit for a header: outer blanks gone. `None` where characters remain that no header may hold; kube would panic on these.
pub(super) fn token(raw: &str) -> Option<Secret> {
    let t = raw.trim();
    (!t.is_empty() && t.bytes().all(|b| b.is_ascii_graphic())).then(|| Secret::new(t))
}

/// The DER blocks of a PEM text with this label. Text around the blocks is allowed, as it is for OpenSSL.
pub(super) fn pem_blocks(pem: &[u8], label: &str) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(pem);
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    text.split(begin.as_str()).skip(1).filter_map(|rest| rest.split_once(end.as_str())).filter_map(|(body, _)| decode(body)).collect()
}

/// Hides what looks like a token inside a plugin's words: long runs of the characters that JWTs and base64 use.
pub(super) fn hide_tokens(words: &str) -> String {
    let long = |w: &str| {
        w.len() >= 40 && w.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+/=".contains(&b)) && w.bytes().any(|b| b.is_ascii_digit())
    };
    let is_sep = |c: char| c.is_whitespace() || "\"',;:()[]{}<>&?=".contains(c);
    let mut out = String::new();
    for piece in words.split_inclusive(is_sep) {
        let bare = piece.trim_end_matches(is_sep);
        let looks = (long(bare) && !bare.starts_with('/')) || bare.starts_with("eyJ");
        out.push_str(if looks { "[hidden]" } else { bare });
        out.push_str(piece.get(bare.len()..).unwrap_or(""));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_no_printed_form() {
        let secret = Secret::new("hunter2hunter2");
        assert!(!format!("{secret:?} {:?} {:#?}", Some(&secret), [&secret]).contains("hunter2"));
    }

    #[test]
    fn what_looks_like_a_credential_is_hidden_in_foreign_words_and_the_rest_stays() {
        let long = "AKIA0123456789abcdefghijklmnopqrstuvwxyz-_01";
        let jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln";
        for (words, shown) in [
            (format!("login failed: token={long} for you"), "login failed: token=[hidden] for you".to_string()),
            (format!("{{\"token\":\"{jwt}\"}}"), "{\"token\":\"[hidden]\"}".to_string()),
            (format!("Bearer {jwt}"), "Bearer [hidden]".to_string()),
            ("/usr/local/share/of/a/very/long/path/2/the/plugin-x".into(), "/usr/local/share/of/a/very/long/path/2/the/plugin-x".into()),
            ("no such user: alice@example.org".into(), "no such user: alice@example.org".into()),
        ] {
            assert_eq!(hide_tokens(&words), shown);
        }
    }
}
