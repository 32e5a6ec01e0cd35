//! What standard output is connected to, and how wide it is.

use rustix::termios::tcgetwinsize;
use std::io::IsTerminal;

/// A terminal that does not know its size is treated as one of this width.
const DEFAULT_COLUMNS: usize = 80;

/// Whether a person reads standard output.
pub(in crate::cli) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// The width of the terminal; `None` if standard output is not one, so that nothing is shortened in files and pipes.
pub(in crate::cli) fn columns() -> Option<usize> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let known = tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    Some(known.unwrap_or(DEFAULT_COLUMNS))
}
