use proptest::prelude::*;

use super::*;

fn show(login: &Login) -> String {
    match login {
        Login::Password { username, password } => {
            format!("password {}:{}", username.reveal(), password.reveal())
        }
        Login::Identity(token) => format!("identity {}", token.reveal()),
        Login::Registry(token) => format!("registry {}", token.reveal()),
    }
}

#[test]
fn promise_p005_every_configuration_of_the_table_gives_the_credential_that_the_table_says() {
    let mut count = 0;
    for block in include_str!("../../../testdata/oci/docker-configs.txt")
        .split("\n=== ")
        .skip(1)
    {
        let (name, rest) = block.split_once('\n').unwrap();
        let (document, questions) = rest.split_once("--- ").unwrap();
        for question in questions.split("\n--- ") {
            let (repository, expected) = question.trim_end().split_once(": ").unwrap();
            let reference = repository.parse().unwrap();
            let found = match login(document.trim().as_bytes(), &reference) {
                Ok(login) => show(&login),
                Err(error) => {
                    assert_eq!(error.class(), FailureClass::Input);
                    let text = format!("{} {error}", error.code());
                    assert!(
                        !text.contains("hunter2") && !format!("{error:?}").contains("hunter2"),
                        "{text}"
                    );
                    text
                }
            };
            assert!(found.starts_with(expected), "{name}: {repository}: {found}");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn a_login_shows_no_secret() {
    let login = Login::Password {
        username: Secret::new("robot".to_owned()),
        password: Secret::new("hunter2".to_owned()),
    };
    let shown = format!(
        "{login:?} {:?}",
        Login::Identity(Secret::new("hunter2".to_owned()))
    );
    assert!(!shown.contains("hunter2") && !shown.contains("robot"), "{shown}");
}

#[test]
fn stars_cost_no_more_than_their_number() {
    let label = "a".repeat(63);
    let reference = format!("{label}.example/app").parse().unwrap();
    for (stars, covers) in [("*".repeat(500_000), true), ("*a".repeat(40) + "b", false)] {
        let document = format!(r#"{{"auths": {{"{stars}.example": {{"registrytoken": "t"}}}}}}"#);
        assert_eq!(login(document.as_bytes(), &reference).is_ok(), covers);
    }
}

#[test]
fn a_document_that_is_larger_than_any_is_not_read() {
    let reference = "registry.example/app".parse().unwrap();
    let error = login(&vec![b' '; MAX_BYTES + 1], &reference).unwrap_err();
    let sentence = "the docker configuration is larger than 1 MiB";
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("docker_config_malformed", sentence)
    );
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(key in ".{0,40}", auth in ".{0,40}", rest in ".{0,40}") {
        let reference: Reference = "registry.example/team/app".parse().unwrap();
        let _ = login(rest.as_bytes(), &reference);
        let document = serde_json::json!({"auths": {key: {"auth": auth}}}).to_string();
        let _ = login(document.as_bytes(), &reference);
    }

    #[test]
    fn the_longest_path_wins_in_any_order(depths in proptest::collection::btree_set(0usize..5, 1..5)) {
        let parts = ["a", "b", "c", "d"];
        let auths: serde_json::Map<String, serde_json::Value> = depths
            .iter()
            .map(|depth| {
                let key = [&["registry.example"], &parts[..*depth]].concat().join("/");
                (key, serde_json::json!({"username": format!("u{depth}"), "password": "p"}))
            })
            .collect();
        let document = serde_json::json!({ "auths": auths }).to_string();
        let reference: Reference = "registry.example/a/b/c/d".parse().unwrap();
        let deepest = depths.last().unwrap();
        prop_assert_eq!(show(&login(document.as_bytes(), &reference).unwrap()), format!("password u{deepest}:p"));
    }
}
