//! The progress of backups and restores in words.

use crate::cli::output::show_progress;
use dropleaf_store::backup::Progress;

const BAR: usize = 30;

pub(super) fn show(progress: Progress) {
    show_progress(&text(progress));
}

fn text(progress: Progress) -> String {
    let bar = |done: u64, total: u64| {
        let filled = usize::try_from(done.saturating_mul(BAR as u64) / total.max(1)).unwrap_or(BAR).min(BAR);
        format!("[{:<BAR$}] {done}/{total}", "#".repeat(filled))
    };
    match progress {
        Progress::Waiting => "waiting until old backups are deleted …".to_owned(),
        Progress::Verifying { done, total } => format!("checking     {}", bar(done, total)),
        Progress::Database => "database …".to_owned(),
        Progress::Objects { done, total } => format!("large files  {}", bar(done, total)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_fills_with_the_work() {
        let shown = |done, total| text(Progress::Objects { done, total });
        assert_eq!(shown(0, 0), format!("large files  [{}] 0/0", " ".repeat(30)));
        assert_eq!(shown(1, 2), format!("large files  [{}{}] 1/2", "#".repeat(15), " ".repeat(15)));
        assert_eq!(shown(2, 2), format!("large files  [{}] 2/2", "#".repeat(30)));
    }
}
