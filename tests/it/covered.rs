//! Credentials in files that somebody wrote by hand, by the real program: where one is found once it stands nowhere in
//! clear, however it is spelled there and wherever the text is cut; and what is not kept whole is not brought back.

use std::fs;
use std::path::Path;

use crate::support::{Ran, World};

const PASSWORD: &str = "Tr4vel-Pl0ver!92xQ";

fn token() -> String {
    ["ghp", "_", "Zk3Rw8Qy5Tn1Vb7Mx4Lc9Jd2Hf6Gs0Pa8Ue1"].concat()
}

/// A world that knows a directory of these notes.
fn noted(notes: &[(&str, &str)]) -> World {
    let world = World::new();
    for (path, text) in notes {
        let path = world.path("notes").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    ran(&world, &["files", "add", &world.path("notes").display().to_string()]);
    world
}

fn ran(world: &World, args: &[&str]) -> Ran {
    let ran = world.run(args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// The files beneath a directory in which some bytes stand; capitals do not matter.
fn holding(dir: &Path, bytes: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, bytes));
        } else if let Ok(read) = fs::read(&path) {
            let is_in = read.windows(bytes.len()).any(|window| window.eq_ignore_ascii_case(bytes.as_bytes()));
            found.extend(is_in.then(|| path.display().to_string()));
        }
    }
    found
}

#[test]
fn a_credential_that_is_said_once_is_covered_wherever_the_file_says_it_again() {
    let text = format!(
        "---\ntags: [boats]\n---\n# About {PASSWORD}\n\n- [b] the password is {PASSWORD}\n- [a] {PASSWORD} is the name of \
         the boat #{PASSWORD}\n- [{PASSWORD}] a category\n- moored_at [[{PASSWORD}]]\n\n## {PASSWORD}\n\ntext under it\n\n\
         ## Tr4vel\\-Pl0ver\\!92xQ\n\n- [c] the lamp is green\n"
    );
    let world = noted(&[("boat.md", &text)]);
    let recalled = ran(&world, &["recall", "name of the boat"]).stdout;
    assert!(recalled.contains("is the name of the boat") && !recalled.contains(PASSWORD), "{recalled}");
    for args in [&["list", "--json"][..], &["recall", "lamp green", "--json"], &["get", "/notes/boat.md", "--json"]] {
        let shown = ran(&world, args).stdout;
        assert!(shown.contains("lamp is green") && !shown.contains(PASSWORD), "{shown}");
    }
    assert_eq!(holding(&world.home(), PASSWORD), Vec::<String>::new());
    assert_eq!(holding(&world.home(), "Pl0ver!92"), Vec::<String>::new());
}

#[test]
fn a_credential_that_an_escape_or_a_mark_hides_in_a_heading_or_a_name_is_not_noted() {
    let token = token();
    let rest = token.strip_prefix("ghp_").unwrap();
    let escaped: String = format!("\\x67hp_{rest}");
    let text = format!(
        "---\ntitle: \"on {escaped}\"\naliases: [\"{escaped}\", \"Harbour\"]\nitem: \"{escaped}\"\n---\n\n## ghp\\_{rest}\n\n- \
         [a] the lamp is green\n\n## gh*p*_{rest}\n\n- [a] the door is red\n\n## &#103;hp_{rest}\n\n- [a] the key is brass\n\n\
         ## gh**p**_{rest}\n\n- [a] the roof is tin\n"
    );
    let world = noted(&[("signs.md", &text)]);
    for args in [&["recall", "lamp door roof", "--json"][..], &["list", "--json"], &["note", "list", "--json"]] {
        let shown = ran(&world, args).stdout;
        assert!(!shown.contains(&token), "{shown}");
    }
    assert_eq!(holding(&world.home(), &token), Vec::<String>::new());
    assert!(ran(&world, &["note", "read", "Harbour"]).stdout.contains("the lamp is green"));
}

#[test]
fn a_credential_that_stands_where_a_long_text_is_cut_is_not_kept_in_part() {
    const VALUE: &str = "Zq8Lm3Xw7Rk2Pv9Zq8Lm3Xw7Rk2Pv9";
    let before = "see https://bob:";
    for inside in [1, 8, VALUE.len()] {
        let text = format!(
            "{}\n{before}{VALUE}@db.example/x\n{}\n",
            &"word ".repeat(9_000)[..32_760 - before.len() - inside - 1],
            "tail ".repeat(99)
        );
        let world = noted(&[("cut.md", &text)]);
        let shown = ran(&world, &["get", "/notes/cut.md", "--json"]).stdout;
        assert!(shown.contains("word word") && !shown.contains(&VALUE[..8]), "{inside}");
        assert_eq!(holding(&world.home(), &VALUE[..8]), Vec::<String>::new(), "{inside}");
    }
}

#[test]
fn of_a_text_that_is_all_credentials_the_beginning_is_kept_and_never_written_over_the_file() {
    let world = World::new();
    let file = world.home().join("memories/box.md");
    ran(&world, &["remember", "start"]);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let lines: String =
        (0..2_400).map(|_| format!("pwd={}$9\n", (0..6).map(|_| random.alphanumeric()).collect::<String>())).collect();
    fs::write(&file, format!("# Box\n\nimportant words\n{lines}")).unwrap();
    ran(&world, &["files", "scan"]);
    let kept = world.json(&["get", "/memories/box.md"]).to_string();
    assert!(kept.contains("important words") && kept.len() > 30_000, "{}", kept.len());
    let clean = "# Box\n\nnow clean words\n";
    fs::write(&file, clean).unwrap();
    ran(&world, &["files", "scan"]);
    let rev = world.json(&["history", "/memories/box.md"])[0]["rev"].to_string();
    let restored = world.run(&["restore", "/memories/box.md", "--before", &rev]);
    assert!(restored.code == Some(1) && restored.stderr.contains("would be incomplete"), "{restored:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), clean);
    fs::write(&file, format!("# Box\n\nimportant words\n{lines}")).unwrap();
    ran(&world, &["files", "scan"]);
    fs::remove_file(&file).unwrap();
    ran(&world, &["files", "scan"]);
    assert_eq!(world.run(&["restore", "/memories/box.md"]).code, Some(1));
    assert!(!file.exists());
}

#[test]
fn a_directory_whose_name_is_a_credential_is_not_noted() {
    let token = token();
    let world =
        noted(&[(&format!("keys/{token}/a.md"), "- [a] the lamp is green\n"), ("b.md", "- [a] the door is red\n")]);
    assert_eq!(holding(&world.home(), &token), Vec::<String>::new());
    let left = world.json(&["files", "list"]).to_string();
    assert!(left.contains("/notes/keys/ghp_…/a.md"), "{left}");
    assert!(ran(&world, &["files", "scan"]).stdout.starts_with("0 new or changed, 0 renamed, 0 deleted"));
}
