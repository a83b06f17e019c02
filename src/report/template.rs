//! The frame of all pages: an HTML file with places for what differs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub(super) const TEXT: &str = include_str!("page/page.html");

/// Returns a template up to the next `{{name}}`, the name, and the rest.
pub(super) fn place(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}

/// Returns a policy that lets the browser run nothing but this style and this script, and load nothing but `loads`.
pub(super) fn policy(loads: &str, style: &str, script: &str) -> String {
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; {loads}; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(style),
        digest(script)
    )
}

/// Fails if something in a script or a style could end its element, or load anything.
#[cfg(test)]
pub(super) fn prove_harmless(script: &str, style: &str) {
    for end in ["</script", "<!--", "<script"] {
        assert!(!script.to_ascii_lowercase().contains(end), "{end}");
    }
    assert!(!style.contains('<') && !style.contains("url(") && !style.contains("@import"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_each_place() {
        let mut names = Vec::new();
        let mut rest = TEXT;
        while let Some((_, name, after)) = place(rest) {
            names.push(name);
            rest = after;
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, ["data", "more", "policy", "script", "strips", "style", "title"]);
    }
}
