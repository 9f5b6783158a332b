//! An output appears whole or not at all, whatever stands in its place and wherever the writing fails.

mod gltf_hand;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use sinew_files::{FileError, gltf::Document, write_whole};

/// An empty folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("write_whole").join(name);
    // An earlier run may have left its files.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A writer that takes `left` bytes and then no more, as a full disk does.
struct Full<'a> {
    out: &'a mut dyn Write,
    left: usize,
}

impl Write for Full<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = self.out.write(&bytes[..bytes.len().min(self.left)])?;
        self.left -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[test]
fn a_writer_that_fails_anywhere_leaves_what_was_there() {
    let folder = folder("fails");
    let document = Document::from_bytes(&gltf_hand::small().glb(), "small.glb", None).unwrap();
    let mut whole = Vec::new();
    document.to_glb(&mut whole).unwrap();
    let (new, old) = (folder.join("new.glb"), folder.join("old.glb"));
    fs::write(&old, b"as it was").unwrap();
    for path in [&new, &old] {
        for left in (0..whole.len()).step_by(37).chain([whole.len() - 1]) {
            let error = write_whole(path, |out| document.to_glb(&mut Full { out, left })).unwrap_err();
            let FileError::Io { path: named, error } = error else { panic!("{error}") };
            assert_eq!((&named, error.kind()), (path, io::ErrorKind::StorageFull));
        }
        assert_eq!(names(&folder), ["old.glb"]);
        assert_eq!(fs::read(&old).unwrap(), b"as it was");
    }
    for path in [&new, &old] {
        write_whole(path, |out| document.to_glb(&mut Full { out, left: whole.len() })).unwrap();
        assert_eq!(fs::read(path).unwrap(), whole);
    }
    assert_eq!(names(&folder), ["new.glb", "old.glb"]);
}

#[test]
fn folders_missing_and_present_are_named() {
    let folder = folder("folders");
    fs::create_dir(folder.join("dir.glb")).unwrap();
    for place in ["dir.glb", "nowhere/out.glb", ".."] {
        let path = folder.join(place);
        let error = write_whole(&path, |out| out.write_all(b"x")).unwrap_err().to_string();
        assert!(error.contains(place) && error.lines().count() == 1, "{error}");
    }
    assert_eq!(names(&folder), ["dir.glb"]);
    assert_eq!(names(&folder.join("dir.glb")), [""; 0]);
}

#[test]
fn a_name_as_long_as_names_can_be() {
    let folder = folder("long");
    let name = "n".repeat(255 - ".glb".len()) + ".glb";
    write_whole(&folder.join(&name), |out| out.write_all(b"x")).unwrap();
    assert_eq!(names(&folder), [name]);
}

#[test]
fn threads_may_write_to_one_place() {
    let folder = folder("threads");
    let path = folder.join("out");
    std::thread::scope(|scope| {
        for byte in 0..8u8 {
            let path = &path;
            scope.spawn(move || write_whole(path, |out| out.write_all(&[byte; 100_000])).unwrap());
        }
    });
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() == 100_000 && bytes.iter().all(|b| *b == bytes[0]));
    assert_eq!(names(&folder), ["out"]);
}

#[cfg(unix)]
#[test]
fn links_permissions_and_what_is_no_file_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = folder("unix");
    let (real, link) = (folder.join("real"), folder.join("link"));
    fs::write(&real, b"old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("real", &link).unwrap();
    write_whole(&link, |out| out.write_all(b"new")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&real).unwrap(), b"new");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);

    fs::set_permissions(&real, fs::Permissions::from_mode(0o400)).unwrap();
    let error = write_whole(&link, |out| out.write_all(b"newer")).unwrap_err();
    assert!(matches!(&error, FileError::Io { error, .. } if error.kind() == io::ErrorKind::PermissionDenied));
    assert_eq!(fs::read(&real).unwrap(), b"new");

    // A socket stands for a device: it cannot be written to as a file is, and renaming would put a file in its place.
    let socket = folder.join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket);
    if socket.exists() {
        assert!(write_whole(&socket, |out| out.write_all(b"x")).is_err());
        assert!(fs::metadata(&socket).unwrap().file_type().is_socket());
    }
    assert!(names(&folder).iter().all(|n| !n.ends_with(".part")));
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_yet_are_written_through() {
    use std::os::unix::fs::symlink;
    let folder = folder("dangling");
    fs::create_dir(folder.join("there")).unwrap();
    let absolute = folder.join("there/absolute");
    for (link, target, made) in [
        ("to name", "made", "made"),
        ("to folder", "there/made", "there/made"),
        ("to link", "to next", "there/next"),
        ("absolute", absolute.to_str().unwrap(), "there/absolute"),
    ] {
        symlink("there/next", folder.join("to next")).ok();
        let (link, made) = (folder.join(link), folder.join(made));
        symlink(target, &link).unwrap();
        for text in ["new", "newer"] {
            write_whole(&link, |out| out.write_all(text.as_bytes())).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{}", link.display());
            assert!(fs::symlink_metadata(&made).unwrap().is_file(), "{}", made.display());
            assert_eq!(fs::read_to_string(&made).unwrap(), text);
        }
    }
    assert!(fs::symlink_metadata(folder.join("to next")).unwrap().is_symlink());
    // Where the target cannot be made, the link stays as it is.
    for (link, target) in [("astray", "no/such/folder"), ("circle", "circle")] {
        symlink(target, folder.join(link)).unwrap();
        let error = write_whole(&folder.join(link), |out| out.write_all(b"x")).unwrap_err().to_string();
        assert!(error.contains(link) && error.lines().count() == 1, "{error}");
        assert_eq!(fs::read_link(folder.join(link)).unwrap(), Path::new(target));
    }
    assert_eq!(names(&folder.join("there")), ["absolute", "made", "next"]);
    assert!(names(&folder).iter().all(|n| !n.ends_with(".part")));
}
