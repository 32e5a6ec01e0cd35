//! Finds code that a strict policy stops at run time, where the script contains it literally: `eval(…)`, `new Function(…)`,
//! and WebAssembly loaded from another origin. A text search, not a parser.

use std::ops::Range;

use memchr::memchr_iter;

use crate::text::search_windows::SearchWindows;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockedCall {
    Eval,
    NewFunction,
    ExternalWasm,
}

#[derive(Debug, Default)]
pub(crate) struct CodeScan(SearchWindows);

impl CodeScan {
    pub(crate) fn write(&mut self, chunk: &[u8], mut found: impl FnMut(BlockedCall)) {
        self.0.push(chunk, |window, range| search(window, range, &mut found));
    }

    pub(crate) fn finish(&mut self, mut found: impl FnMut(BlockedCall)) {
        self.0.finish(|window, range| search(window, range, &mut found));
    }
}

fn search(window: &[u8], range: Range<usize>, found: &mut impl FnMut(BlockedCall)) {
    let from = range.start;
    for at in memchr_iter(b'(', &window[range]).map(|at| at + from) {
        let before = &window[..at];
        if let Some(before) = before.strip_suffix(b"eval") {
            // `math.eval(…)` is a method of the script or of a library.
            let is_global =
                [&b"window."[..], b"globalThis.", b"self."].iter().any(|name| before.ends_with(name));
            if is_global || !before.last().is_some_and(|byte| is_name(*byte) || *byte == b'.') {
                found(BlockedCall::Eval);
            }
        } else if let Some(before) = before.strip_suffix(b"Function") {
            let new = before.trim_ascii_end();
            if new.len() < before.len()
                && let Some(before) = new.strip_suffix(b"new")
                && !before.last().is_some_and(|byte| is_name(*byte))
            {
                found(BlockedCall::NewFunction);
            }
        } else if let Some(before) = before.strip_suffix(b"fetch") {
            let loads = [&b"instantiateStreaming("[..], b"compileStreaming("];
            let rest = window[at + 1..].trim_ascii_start();
            let is_elsewhere = matches!(rest, [b'"' | b'\'' | b'`', b'h', b't', b't', b'p', ..]);
            if is_elsewhere && loads.iter().any(|name| before.trim_ascii_end().ends_with(name)) {
                found(BlockedCall::ExternalWasm);
            }
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> Vec<BlockedCall> {
        let (mut scan, mut list) = (CodeScan::default(), Vec::new());
        code.as_bytes().chunks(3).for_each(|chunk| scan.write(chunk, |stopped| list.push(stopped)));
        scan.finish(|stopped| list.push(stopped));
        list
    }

    #[test]
    fn code_made_from_text_is_found() {
        assert_eq!(found("eval('1')"), [BlockedCall::Eval]);
        assert_eq!(found("x=window.eval(y)"), [BlockedCall::Eval]);
        assert_eq!(found("f = new Function('a', 'return a')"), [BlockedCall::NewFunction]);
        assert_eq!(
            found("WebAssembly.instantiateStreaming( fetch('https://x/a.wasm'))"),
            [BlockedCall::ExternalWasm]
        );
    }

    #[test]
    fn look_alikes_are_left_alone() {
        for code in [
            "math.eval(x)",
            "retrieval(x)",
            "medieval (x)",
            "Function('return this')()",
            "newFunction(x)",
            "renew Function",
            "isFunction(x)",
            "WebAssembly.instantiateStreaming(fetch('a.wasm'))",
            "fetch('https://x/y')",
        ] {
            assert_eq!(found(code), [], "{code}");
        }
    }
}
