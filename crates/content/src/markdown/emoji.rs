//! Replaces GitHub's emoji shortcodes: `:rocket:` becomes a rocket. Unknown names stay as written.

use std::borrow::Cow;

/// The longest name in the list has 44 letters.
const LONGEST: usize = 50;

pub(super) fn replace(text: &str) -> Cow<'_, str> {
    let mut made = String::new();
    let (mut done, mut from) = (0, 0);
    while let Some(start) = memchr::memchr(b':', &text.as_bytes()[from..]).map(|at| from + at) {
        from = start + 1;
        let rest = &text.as_bytes()[from..];
        let is_letter = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+');
        let len = rest.iter().take(LONGEST).take_while(|b| is_letter(b)).count();
        if len == 0 || rest.get(len) != Some(&b':') {
            continue;
        }
        if let Some(emoji) = emojis::get_by_shortcode(&text[from..from + len]) {
            made.push_str(&text[done..start]);
            made.push_str(emoji.as_str());
            done = from + len + 1;
            from = done;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    made.push_str(&text[done..]);
    Cow::Owned(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_pictures_and_the_rest_stays() {
        for (text, expected) in [
            (":rocket: go :+1:!", "🚀 go 👍!"),
            ("a:rocket:b", "a🚀b"),
            (":no_such_thing: 12:30:45 ::rocket: :", ":no_such_thing: 12:30:45 :🚀 :"),
            (":tada::tada:", "🎉🎉"),
            ("https://a.example:8080/x:y:z", "https://a.example:8080/x:y:z"),
            ("", ""),
        ] {
            assert_eq!(replace(text), expected);
        }
    }

    #[test]
    fn long_runs_take_linear_time() {
        assert_eq!(replace(&":".repeat(1 << 20)).len(), 1 << 20);
        assert_eq!(replace(&":?".repeat(1 << 19)).len(), 1 << 20);
    }
}
