//! `tessera serve` becomes `tessera-server`, wherever that is; what the server then does is tested with the server.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::support::{Ran, World};

/// A program that says its name and what it was told, and ends in a way of its own.
fn stand_in(dir: &Path, name: &str) {
    fs::create_dir_all(dir).unwrap();
    let program = dir.join("tessera-server");
    fs::write(&program, format!("#!/bin/sh\nprintf '%s' '{name}'\nprintf ' <%s>' \"$@\"\nexit 7\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A copy of the program, alone in a directory.
fn alone(world: &World) -> std::path::PathBuf {
    let program = world.path("bin/tessera");
    fs::create_dir_all(world.path("bin")).unwrap();
    // By a process of its own: written here, it would stay open in whatever another test starts meanwhile, and could not run.
    let copied = std::process::Command::new("cp").arg(World::binary()).arg(&program).status().unwrap();
    assert!(copied.success());
    program
}

#[test]
fn the_server_is_found_beside_the_program_then_on_path_and_told_everything() {
    let world = World::new();
    let program = alone(&world);
    symlink(&program, world.path("linked")).unwrap();
    let path = format!("{}:/usr/bin:/bin", world.path("elsewhere").display());
    let run = |program: &Path, args: &[&str]| -> Ran {
        world.command(program).env("PATH", &path).args(args).output().unwrap().into()
    };
    stand_in(&world.path("elsewhere"), "on PATH");
    let ran = run(&program, &["serve", "--listen", "[::1]:1", "--", "-x", "a b"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(7), "on PATH <--listen> <[::1]:1> <--> <-x> <a b>"), "{ran:?}");
    stand_in(&world.path("bin"), "beside");
    for (args, told) in [
        (&["serve", "--help"][..], "beside <--help>"),
        (&["serve", "-V"], "beside <-V>"),
        (&["serve", "key", "new", "ada", "--json"], "beside <key> <new> <ada> <--json>"),
        (&["-vv", "--json", "--home", "/nowhere", "serve", "user", "list"], "beside <user> <list> <--json> <-v> <-v>"),
    ] {
        for program in [&program, &world.path("linked")] {
            let ran = run(program, args);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(7), told), "{ran:?}");
        }
    }
    assert!(run(&program, &["--help"]).stdout.contains("tessera-server"), "help says who serves");
}

#[test]
fn whoever_has_no_server_is_told_how_to_get_it() {
    let world = World::new();
    let program = alone(&world);
    let none = |args: &[&str]| -> Ran { world.command(&program).args(args).output().unwrap().into() };
    for args in [&["serve"][..], &["serve", "--help"], &["serve", "migrate"]] {
        let ran = none(args);
        assert!(ran.code == Some(1) && ran.stdout.is_empty(), "{ran:?}");
        assert!(ran.stderr.contains("cargo install --locked --path api"), "{ran:?}");
    }
    // What may not be run hides no server on PATH.
    fs::write(world.path("bin/tessera-server"), "").unwrap();
    let ran = none(&["serve"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("cargo install --locked --path api"), "{ran:?}");
    stand_in(&world.path("elsewhere"), "on PATH");
    let path = format!("{}:/usr/bin:/bin", world.path("elsewhere").display());
    let ran: Ran = world.command(&program).env("PATH", path).arg("serve").output().unwrap().into();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(7), "on PATH <>"), "{ran:?}");
}
