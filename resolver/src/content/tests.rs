use std::fs;

use ptah_contract::failure::FailureClass;

use super::*;

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn what_is_taken_is_written_read_back_and_kept() {
    let out = tempfile::tempdir().unwrap();
    let content = Content::new(Limits::default(), Some(out.path())).unwrap();
    content.read("d/b.sql", &b"B"[..]).unwrap();
    content.folder("d").unwrap();
    let mut writer = content.file("a.sql").unwrap();
    writer.write(b"A").unwrap();
    writer.write(b"A").unwrap();
    assert_eq!(writer.finish().unwrap(), (Digest::of(b"AA"), 2));
    let manifest = content.finish(None).unwrap();
    assert_eq!(fs::read(out.path().join("a.sql")).unwrap(), b"AA");
    assert_eq!(crate::folder::resolve(out.path()).unwrap(), manifest);
}

#[test]
fn a_folder_that_content_was_begun_in_is_empty_again_unless_it_was_finished() {
    let out = tempfile::tempdir().unwrap();
    let begin = || Content::new(Limits::default(), Some(out.path())).unwrap();
    let content = begin();
    content.read("d/a.sql", &b"A"[..]).unwrap();
    let mut writer = content.file("b.sql").unwrap();
    writer.write(b"B").unwrap();
    drop(content);
    // Somebody still writes: the folder is emptied once nobody does.
    assert_eq!(entries(out.path()), 2);
    drop(writer);
    assert_eq!(entries(out.path()), 0);

    let content = begin();
    content.read("a.sql", &b"A"[..]).unwrap();
    let wanted = Digest::of(b"another");
    assert_eq!(
        content.finish(Some(wanted)).unwrap_err().code(),
        "content_digest_mismatch"
    );
    assert_eq!(entries(out.path()), 0);

    let content = begin();
    assert_eq!(content.finish(None).unwrap_err().code(), "nothing_selected");

    let content = begin();
    content.read("a.sql", &b"A"[..]).unwrap();
    fs::write(out.path().join("a.sql"), "X").unwrap();
    assert_eq!(
        content.finish(None).unwrap_err().code(),
        "content_digest_mismatch"
    );
    assert_eq!(entries(out.path()), 0);
}

#[test]
fn a_folder_with_something_in_it_is_refused_and_left_alone() {
    let out = tempfile::tempdir().unwrap();
    fs::write(out.path().join("mine"), "").unwrap();
    let error = Content::new(Limits::default(), Some(out.path())).err().unwrap();
    assert_eq!(
        (error.code(), error.class()),
        ("output_not_empty", FailureClass::Input)
    );
    assert_eq!(entries(out.path()), 1);
}

#[test]
fn an_unfinished_file_is_no_content() {
    let content = Content::new(Limits::default(), None).unwrap();
    drop(content.file("a.sql").unwrap());
    assert_eq!(content.finish(None).unwrap_err().code(), "nothing_selected");
}

#[test]
fn paths_that_collide_are_refused_before_a_byte_is_taken() {
    let content = Content::new(Limits::default(), None).unwrap();
    content.read("d/a.sql", &b""[..]).unwrap();
    for path in ["d/a.sql", "D/b.sql", "d", "d/a.sql/x", "d/A.sql"] {
        assert_eq!(
            content.file(path).err().unwrap().code(),
            "path_collision",
            "{path}"
        );
    }
    assert_eq!(content.folder("D").unwrap_err().code(), "path_collision");
    assert_eq!(content.file("../x").err().unwrap().code(), "invalid_path");
    assert!(content.file("d/b.sql").is_ok());
}

#[test]
fn every_limit_stops_at_the_byte_that_exceeds_it() {
    let small = Limits::default()
        .max_files(Some(2), "a rule")
        .max_bytes(Some(10), "another rule");
    let content = Content::new(small, None).unwrap();
    content.read("a", &[0; 6][..]).unwrap();
    assert!(content.fits("b", 4).is_ok());
    assert_eq!(content.fits("b", 5).unwrap_err().code(), "source_policy_refused");
    let mut writer = content.file("b").unwrap();
    writer.write(&[0; 4]).unwrap();
    let error = writer.write(&[0]).unwrap_err();
    assert_eq!(
        (error.code(), error.class()),
        ("source_policy_refused", FailureClass::Refused)
    );
    assert_eq!(
        error.to_string(),
        "bytes of all files exceed 10, the bound that another rule sets"
    );
    let error = content.file("c").err().unwrap();
    assert_eq!(error.to_string(), "files exceed 2, the bound that a rule sets");

    let policy = b"version: 1\ncontent: {maxFiles: 1, maxBytes: 99999999999}\n";
    let policy = ptah_contract::source_policy::SourcePolicy::parse(policy).unwrap();
    let limits = Limits::default().under(&policy);
    assert_eq!((limits.file_count(), limits.content_bytes()), (1, 512 << 20));
    let content = Content::new(limits, None).unwrap();
    content.read("a", &b""[..]).unwrap();
    assert_eq!(
        content.file("b").err().unwrap().to_string(),
        "files exceed 1, the bound that content.maxFiles of the source policy sets"
    );

    let content = Content::new(Limits::default().max_files(Some(99_999), "looser"), None).unwrap();
    assert_eq!(content.limits().file_count(), 10_000);
    let error = content.fits("a", (64 << 20) + 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "bytes of \"a\": 67108865 exceeds the limit of 67108864"
    );
    for n in 0..8 {
        content
            .read(&n.to_string(), std::io::repeat(0).take(64 << 20))
            .unwrap();
    }
    let error = content.read("8", &[0][..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "bytes of all files: 536870913 exceeds the limit of 536870912"
    );
    for n in 9..10_000 {
        content.file(&n.to_string()).unwrap();
    }
    let error = content.file("x").err().unwrap();
    assert_eq!(error.to_string(), "files: 10001 exceeds the limit of 10000");
}
