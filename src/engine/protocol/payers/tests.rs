use serde_json::json;

use super::*;

#[test]
fn a_token_crosses_the_socket_whole_and_is_shown_nowhere() {
    let attaching = AttachToken {
        key: "SavedMethod/jane".parse().unwrap(),
        token: Secret::from("canary-1"),
        more: vec![Secret::from("canary-2")],
        replace: true,
    };
    let sent = serde_json::to_string(&attaching).unwrap();
    assert!(sent.contains("canary-1") && sent.contains("canary-2"));
    assert_eq!(serde_json::from_str::<AttachToken>(&sent).unwrap(), attaching);
    let submitted = SubmitToken { attaching, link: None, actor: "ann".to_owned() };
    assert!(!format!("{submitted:?}").contains("canary"));
}

#[test]
fn a_token_without_options_replaces_nothing() {
    let sent = json!({"key": "SavedMethod/jane", "token": "t"});
    let attaching: AttachToken = serde_json::from_value(sent).unwrap();
    assert!(attaching.more.is_empty() && !attaching.replace);
}
