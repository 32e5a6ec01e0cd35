//! What counts as a change, and that it is noticed.

use super::*;
use notify::event::CreateKind;
use std::fs;

fn watched(is_folder: bool, path: &str) -> WatchedPath {
    WatchedPath { is_folder, path: path.into(), linked: None }
}

#[test]
fn only_what_can_change_the_page_counts() {
    let nothing = || {
        let paths = vec![watched(true, "/a/site"), watched(false, "/a/page.html")];
        Happened { paths, ..Happened::default() }
    };
    let changed = |kind: EventKind, path: &str| {
        let mut happened = nothing();
        let is_new = happened.add(Some(&Event::new(kind).add_path(path.into())));
        assert_eq!(is_new, !happened.changed.is_empty());
        (happened.changed.into_iter().collect::<Vec<_>>(), !happened.replaced.is_empty())
    };
    let modify = EventKind::Modify(ModifyKind::Any);
    assert_eq!(changed(modify, "/a/site/x/y.css"), (vec![0], false));
    assert_eq!(changed(modify, "/a/page.html"), (vec![1], false));
    assert_eq!(changed(modify, "/a/site/.git/index"), (vec![], false));
    assert_eq!(changed(modify, "/a/site/.gitignore"), (vec![0], false));
    assert_eq!(changed(modify, "/a/other.html"), (vec![], false));
    assert_eq!(changed(EventKind::Create(CreateKind::Folder), "/a/site"), (vec![0], true));
    let read = EventKind::Access(AccessKind::Open(AccessMode::Any));
    assert_eq!(changed(read, "/a/page.html"), (vec![], false));
    let mut happened = nothing();
    assert!(happened.add(None));
    assert_eq!((happened.changed.len(), happened.replaced.len()), (2, 1));
}

#[tokio::test]
async fn a_replaced_file_a_new_folder_and_a_recreated_folder_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (site, page) = (root.join("site"), root.join("page.html"));
    fs::create_dir(&site).unwrap();
    fs::write(site.join("index.html"), "1").unwrap();
    fs::write(&page, "1").unwrap();
    let targets = [PublishPath::find(&site).unwrap(), PublishPath::find(&page).unwrap()];
    let mut changes = Changes::watch(&targets).unwrap();
    let next = async |changes: &mut Changes| {
        tokio::time::timeout(Duration::from_secs(30), changes.settle()).await.unwrap();
        changes.take().into_iter().collect::<Vec<_>>()
    };
    fs::write(root.join("page.new"), "2").unwrap();
    fs::rename(root.join("page.new"), &page).unwrap();
    assert_eq!(next(&mut changes).await, [1]);
    fs::create_dir(site.join("sub")).unwrap();
    assert_eq!(next(&mut changes).await, [0]);
    fs::write(site.join("sub/a.css"), "a").unwrap();
    assert_eq!(next(&mut changes).await, [0]);
    fs::remove_dir_all(&site).unwrap();
    fs::create_dir(&site).unwrap();
    assert_eq!(next(&mut changes).await, [0]);
    fs::write(site.join("index.html"), "2").unwrap();
    assert_eq!(next(&mut changes).await, [0]);
}

#[tokio::test]
async fn a_link_to_a_folder_is_watched_where_it_leads_and_when_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(root.join(name)).unwrap();
        fs::write(root.join(name).join("index.html"), name).unwrap();
    }
    std::os::unix::fs::symlink("one", root.join("current")).unwrap();
    let mut changes = Changes::watch(&[PublishPath::find(&root.join("current")).unwrap()]).unwrap();
    let next = async |changes: &mut Changes| {
        tokio::time::timeout(Duration::from_secs(30), changes.settle()).await.unwrap();
        assert_eq!(changes.take().into_iter().collect::<Vec<_>>(), [0]);
    };
    fs::write(root.join("one/index.html"), "changed").unwrap();
    next(&mut changes).await;
    std::os::unix::fs::symlink("two", root.join("next")).unwrap();
    fs::rename(root.join("next"), root.join("current")).unwrap();
    next(&mut changes).await;
    fs::write(root.join("two/index.html"), "changed").unwrap();
    next(&mut changes).await;
}
