use super::*;

fn values(line: &str) -> BTreeMap<String, Vec<u8>> {
    let parsed: BTreeMap<String, String> = serde_json::from_str(line).unwrap();
    parsed
        .into_iter()
        .map(|(key, value)| (key, value.into_bytes()))
        .collect()
}

#[test]
fn promise_p006_p007_p008_every_secret_of_the_table_is_used_or_refused_as_the_table_says() {
    let mut count = 0;
    for line in include_str!("../../../testdata/oci/secrets.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (way, rest) = line.split_once(" | ").unwrap();
        let (secret, expected) = rest.split_once(" | ").unwrap();
        let mut words = way.split(' ');
        let reference: Reference = words.next().unwrap().parse().unwrap();
        let (mut plain_http, mut ca) = (false, None);
        for word in words {
            match word {
                "plain" => plain_http = true,
                "ca" => ca = Some(&b"the CA"[..]),
                other => panic!("{other}"),
            }
        }
        let values = values(secret);
        let folder = tempfile::tempdir().unwrap();
        for (key, value) in &values {
            std::fs::write(folder.path().join(key), value).unwrap();
        }
        for credentials in [
            Credentials::from_values(&values),
            Credentials::from_dir(folder.path()),
        ] {
            let found = match credentials.and_then(|c| c.granted(&reference, plain_http, ca)) {
                Ok(granted) => {
                    assert_eq!(granted.plain_http, plain_http);
                    match granted.login {
                        Login::Password { username, password } => {
                            format!("{}:{}", username.reveal(), password.reveal())
                        }
                        Login::Identity(token) => format!("identity {}", token.reveal()),
                        Login::Registry(token) => format!("token {}", token.reveal()),
                    }
                }
                Err(error) => {
                    let text = format!("{:?} {} {error}", error.class(), error.code());
                    assert!(!text.contains("hunter2") && !format!("{error:?}").contains("hunter2"));
                    text
                }
            };
            assert!(found.starts_with(expected), "{line}: {found}");
        }
        count += 1;
    }
    assert!(count > 40, "{count}");
}

#[test]
fn a_folder_that_is_not_there_is_no_anonymous_access() {
    let error = Credentials::from_dir(Path::new("/nowhere")).unwrap_err();
    let sentence = "the folder of the credential cannot be read: entity not found";
    assert_eq!(
        (error.code(), error.class(), error.to_string().as_str()),
        ("auth_unreadable", FailureClass::Input, sentence)
    );
}

#[test]
fn a_value_that_is_no_text_is_refused_by_its_key() {
    for value in [vec![0xff], vec![b'x'; 1 + (1 << 20)]] {
        let values = BTreeMap::from([("token".to_owned(), value)]);
        let error = Credentials::from_values(&values).unwrap_err();
        let sentence = "the Secret's key token is not text of at most 1 MiB";
        assert_eq!(
            (error.code(), error.class(), error.to_string().as_str()),
            ("auth_value", FailureClass::Input, sentence)
        );
    }
}

#[test]
fn the_links_of_a_mounted_secret_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("..2026_11_30");
    std::fs::create_dir(&data).unwrap();
    std::os::unix::fs::symlink("..2026_11_30", folder.path().join("..data")).unwrap();
    for (key, value) in [("registry", "registry.example"), ("token", "t\n")] {
        std::fs::write(data.join(key), value).unwrap();
        std::os::unix::fs::symlink(format!("..data/{key}"), folder.path().join(key)).unwrap();
    }
    let credentials = Credentials::from_dir(folder.path()).unwrap();
    let reference = "registry.example/app".parse().unwrap();
    let granted = credentials.granted(&reference, false, None).unwrap();
    assert_eq!(granted.login, Login::Identity(Secret::new("t".to_owned())));
}

#[test]
fn credentials_show_no_secret() {
    let secret = values(r#"{"registry":"registry.example","username":"robot","password":"hunter2"}"#);
    let docker = values(r#"{"registry":"registry.example",".dockerconfigjson":"hunter2"}"#);
    let shown = format!(
        "{:?} {:?}",
        Credentials::from_values(&secret).unwrap(),
        Credentials::from_values(&docker).unwrap()
    );
    assert!(
        !shown.contains("hunter2") && !shown.contains("104, 117"),
        "{shown}"
    );
}

#[test]
fn the_grant_of_docker_hub_is_for_the_registry_that_answers() {
    assert_eq!(
        grant_for("docker.io").unwrap().to_string(),
        "registry-1.docker.io"
    );
}
