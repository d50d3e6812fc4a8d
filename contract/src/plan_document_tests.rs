use super::*;

fn document() -> PlanDocument {
    let (from, to) = (Digest::of(b"from"), Digest::of(b"to"));
    PlanDocument {
        format_version: FORMAT_VERSION,
        name: PlanDocument::default_name(from, to),
        dialect: POSTGRES.into(),
        from_fingerprint: from,
        to_fingerprint: to,
        exclude: vec![],
        scope: vec!["public".into()],
        transaction_mode: TransactionMode::File,
        destructive: false,
        statements: vec![Statement {
            sql: "ALTER TABLE public.t ADD CONSTRAINT c CHECK (a < 1 AND b > 2)".into(),
            severity: Severity::Warning,
            reason: "rows that break the constraint make it fail".into(),
            lock: Some("ACCESS EXCLUSIVE".into()),
            rewrites: false,
            scans: true,
            transactional: true,
            data_dependent: true,
            privileges: vec![],
            objects: vec!["public.t".into()],
        }],
        notes: vec![],
        proof: Proof {
            scratch_server: "postgres 17".into(),
            replayed: 1,
            residual: 0,
        },
    }
}

#[test]
fn a_document_reads_back_as_it_was_written_and_angle_brackets_are_escaped() {
    let bytes = document().encode().unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(r"CHECK (a \u003c 1 AND b \u003e 2)"), "{text}");
    assert!(text.starts_with("{\n  \"format_version\": 2,\n  \"name\": \"plan_"));
    assert!(text.ends_with("}\n"));
    assert_eq!(PlanDocument::decode(&bytes).unwrap(), document());
}

#[test]
fn every_other_spelling_of_the_same_plan_is_refused() {
    let text = String::from_utf8(document().encode().unwrap()).unwrap();
    let spellings = [
        text.trim_end().to_owned(),
        format!("{text}\n"),
        format!("\u{feff}{text}"),
        format!("{text}{text}"),
        text.replace("  ", " "),
        text.replace("\\u003c", "<"),
        text.replace(
            "\"destructive\": false,",
            "\"destructive\": false,\n  \"destructive\": false,",
        ),
        text.replace("\"destructive\": false", "\"destructive\": true"),
        text.replace("\"residual\": 0", "\"residual\": 1"),
        text.replace("\"replayed\": 1", "\"replayed\": 2"),
        text.replace("\"transactional\": true", "\"transactional\": false"),
        text.replace("\"format_version\": 2", "\"format_version\": 1"),
        text.replace("\"dialect\": \"postgres\"", "\"dialect\": \"mysql\""),
        text.replace("\"lock\"", "\"unknown\""),
    ];
    for spelling in spellings {
        assert_ne!(spelling, text);
        assert!(PlanDocument::decode(spelling.as_bytes()).is_err(), "{spelling}");
    }
}
