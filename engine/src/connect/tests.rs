use super::*;

#[test]
fn every_printable_character_of_a_password_survives_exactly_one_decoding() {
    let password: String = (b' '..=b'~').map(char::from).chain("%25%40é".chars()).collect();
    let escaped: String = password.bytes().map(|b| format!("%{b:02X}")).collect();
    let target = Target::from_url(&format!("postgres://u:{escaped}@db.example:6432/shop")).unwrap();
    assert_eq!(target.password, Some(Secret::new(&password)));
    let folder = tempfile::tempdir().unwrap();
    for (key, value) in [
        ("host", "db.example"),
        ("port", "6432"),
        ("user", "u"),
        ("password", &password),
        ("database", "shop"),
    ] {
        std::fs::write(folder.path().join(key), value).unwrap();
    }
    assert_eq!(Target::from_directory(folder.path()).unwrap(), target);
}

#[test]
fn a_malformed_url_is_refused_without_repeating_any_of_it() {
    let wrong = [
        ("", Code::MalformedTarget),
        ("hunter2", Code::MalformedTarget),
        ("mysql://u:hunter2@h/d", Code::UnsupportedEngine),
        ("postgres://u:hunter2@a,b/d", Code::MalformedTarget),
        ("postgres://u:hunter2@a:1,b:2/d", Code::MalformedTarget),
        ("postgres://u:hun@ter2@h/d", Code::MalformedTarget),
        ("postgres://u:hun#ter2@h/d", Code::MalformedTarget),
        ("postgres://u:hun/hunter2@h/d", Code::MalformedTarget),
        ("postgres://u:hun%ter2@h/d", Code::MalformedTarget),
        ("postgres://u:hun?hunter2=x@h/d", Code::MalformedTarget),
        (
            "postgres://u:x@h/d?sslmode=require&sslmode=disable",
            Code::MalformedTarget,
        ),
        ("postgres://u:x@h/d?sslmode=hunter2", Code::MalformedTarget),
        ("postgres://u:x@h:0/d", Code::MalformedTarget),
        ("postgres://u:x@h:70000/d", Code::MalformedTarget),
        ("postgres://u:x@/d", Code::MalformedTarget),
        ("postgres://h/d", Code::MalformedTarget),
        ("postgres://u:x@h/d?hunter2=1", Code::MalformedTarget),
        ("postgres://u:x@::1/d", Code::MalformedTarget),
    ];
    for (text, code) in wrong {
        let error = Target::from_url(text).unwrap_err();
        assert_eq!(error.kind(), code, "{text}");
        assert!(
            !format!("{error} {error:?}").contains("hunter2"),
            "{text}: {error}"
        );
    }
}

#[test]
fn promise_secrets_a_target_prints_its_address_only() {
    let target =
        Target::from_url("postgresql://me:hunter2@[::1]/shop?search_path=app&sslmode=verify-full").unwrap();
    assert_eq!(target.server_address(), "::1:5432/shop");
    assert_eq!(
        format!("{target:?}"),
        r#"Target { address: "::1:5432/shop", .. }"#
    );
    assert_eq!(target.own_schema(), "app");
    assert!(!target.tls_is_unspecified());
}

#[test]
fn a_secret_in_both_forms_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("url"), "postgres://u:p@h/d\n").unwrap();
    assert!(Target::from_directory(folder.path()).is_ok());
    std::fs::write(folder.path().join("password"), "q").unwrap();
    assert_eq!(
        Target::from_directory(folder.path()).unwrap_err().kind(),
        Code::MalformedTarget
    );
}

proptest::proptest! {
    #[test]
    fn whatever_text_stands_in_the_secret_the_parser_answers_and_repeats_none_of_it(text in "(postgres://)?[ -~é\\n]{0,60}") {
        if let Err(error) = Target::from_url(&text) {
            let shown = format!("{error} {error:?}");
            let tail: String = text.chars().skip(text.chars().count() / 2).collect();
            proptest::prop_assert!(tail.chars().count() < 12 || !shown.contains(&tail), "{}", shown);
        }
    }

    #[test]
    fn any_password_is_the_same_after_one_escape_and_one_decoding(password in "\\PC{1,40}") {
        let escaped: String = password.bytes().map(|b| format!("%{b:02x}")).collect();
        let target = Target::from_url(&format!("postgres://u:{escaped}@h/d")).unwrap();
        proptest::prop_assert_eq!(target.password, Some(Secret::new(password)));
    }
}
