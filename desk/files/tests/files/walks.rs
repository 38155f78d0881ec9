//! Looking through a folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tessera_files::{Entry, Unfit, WalkOptions, Walked};

use crate::room::Room;

fn options() -> WalkOptions {
    WalkOptions { most_bytes: 1 << 20, most_files: 100_000, endings: Vec::new(), seed: 0 }
}

type Told = (Vec<String>, Vec<(String, u64)>, Vec<String>, Walked);

/// The files that a walk told, the digests of directories, what could not be read, and the sums.
fn walk(room: &Room, options: &WalkOptions) -> Told {
    let (mut files, mut digests, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
    let walked = room
        .tree
        .walk(options, &mut |entry| match entry {
            Entry::Directory { path, digest, files: found } => {
                digests.push((path.to_owned(), digest));
                files.extend(
                    found.iter().map(|file| format!("{path}/{}", file.name).trim_start_matches('/').to_owned()),
                );
            }
            Entry::UnreadableDirectory { path } | Entry::UnreadableFile { path } => unreadable.push(path.to_owned()),
            Entry::Unfit { .. } => {}
        })
        .unwrap();
    (files, digests, unreadable, walked)
}

#[test]
fn a_walk_finds_texts_and_leaves_out_what_is_none() {
    let room = Room::new();
    for path in ["a.md", "d/b.txt", "d/e/c", "d/e/README"] {
        room.put(path, "x");
    }
    for path in [
        ".hidden",
        ".git/config",
        "node_modules/a.md",
        "a.md~",
        ".a.md.swp",
        "4913",
        "#a#",
        "b.tmp",
        "c.part",
        "~$d.docx",
        "e.png",
        "f.crdownload",
    ] {
        room.put(path, "x");
    }
    symlink("a.md", room.at("link.md")).unwrap();
    symlink(room.outside(), room.at("out")).unwrap();
    room.fifo("fifo.md");
    room.put("large.md", vec![b'x'; (1 << 20) + 1]);
    let (files, digests, unreadable, walked) = walk(&room, &options());
    assert_eq!(files, ["a.md", "d/b.txt", "d/e/README", "d/e/c"]);
    assert_eq!(digests.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["", "d", "d/e"]);
    assert!(unreadable.is_empty());
    assert_eq!(walked, Walked { directories: 3, files: 4, unreadable: 0, left_out: 5, is_complete: true });
    let markdown = WalkOptions { endings: vec!["md".to_owned()], ..options() };
    assert_eq!(walk(&room, &markdown).0, ["a.md"]);
    let mut unfit = Vec::new();
    let mut each = |entry: Entry<'_>| {
        if let Entry::Unfit { path, why } = entry {
            unfit.push((path.to_owned(), why));
        }
    };
    room.tree.walk(&options(), &mut each).unwrap();
    let names: Vec<(&str, Unfit)> = unfit.iter().map(|(path, why)| (path.as_str(), *why)).collect();
    let no_files = ["fifo.md", "link.md", "out"].map(|name| (name, Unfit::NoFile));
    let [fifo, link, out] = no_files;
    assert_eq!(names, [("e.png", Unfit::Name), fifo, ("large.md", Unfit::TooLarge), link, out]);
}

#[test]
fn spec_5_05_a_digest_changes_with_its_own_directory_alone() {
    let room = Room::new();
    room.put("a.md", "x");
    room.put("d/b.md", "x");
    let (_, first, ..) = walk(&room, &options());
    assert_eq!(walk(&room, &options()).1, first);
    // Another file takes the name: the number differs even where size and time are the same.
    room.replace("/memories/d/b.md", "x", "y").unwrap();
    let (_, second, ..) = walk(&room, &options());
    assert_eq!((first[0] == second[0], first[1] == second[1]), (true, false));
    room.put("c.md", "x");
    assert_ne!(walk(&room, &options()).1[0], second[0]);
    let other_rules = WalkOptions { seed: 1, ..options() };
    assert_ne!(walk(&room, &other_rules).1[1], second[1]);
}

#[test]
fn spec_5_07_what_cannot_be_read_is_told_and_not_taken_for_gone() {
    let room = Room::new();
    room.put("a.md", "x");
    room.put("d/b.md", "x");
    room.put("hard.md", "x");
    fs::hard_link(room.at("hard.md"), room.outside().join("other")).unwrap();
    assert_eq!(walk(&room, &options()).2, ["hard.md"]);
    let few = WalkOptions { most_files: 1, ..options() };
    let (files, _, unreadable, walked) = walk(&room, &few);
    assert_eq!((files.len(), unreadable, walked.is_complete), (1, vec!["hard.md".to_owned(), "d".to_owned()], false));
    fs::set_permissions(room.at("d"), fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may do anything can read it all the same.
    if fs::read_dir(room.at("d")).is_err() {
        assert_eq!(walk(&room, &options()).2, ["hard.md", "d"]);
    }
    fs::set_permissions(room.at("d"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::remove_dir_all(room.at("")).unwrap();
    let nothing = walk(&room, &options());
    assert_eq!((nothing.0.len(), room.tree.is_current()), (0, false), "whoever asks for the folder first is told");
}

#[test]
fn ten_thousand_files_are_walked_at_once() {
    let room = Room::new();
    for directory in 0..100 {
        fs::create_dir(room.at(&format!("d{directory}"))).unwrap();
        for file in 0..100 {
            fs::write(room.at(&format!("d{directory}/note {file}.md")), "x").unwrap();
        }
    }
    let mut quickest = u128::MAX;
    for _ in 0..5 {
        let begin = std::time::Instant::now();
        let (mut files, mut directories) = (0, 0);
        room.tree
            .walk(&options(), &mut |entry| {
                if let Entry::Directory { files: found, .. } = entry {
                    files += found.len();
                    directories += 1;
                }
            })
            .unwrap();
        assert_eq!((files, directories), (10_000, 101));
        quickest = quickest.min(begin.elapsed().as_micros());
    }
    println!("10 000 files walked in {quickest} us");
    // A machine that does ten other things may take long; one that opened every file would take longer.
    assert!(quickest < 500_000, "{quickest} us");
}
