use super::*;

#[test]
fn every_decision_about_an_intent_reads_back_from_its_word() {
    let id = RemoteId::new("card_1").unwrap();
    for said in [
        ManualResolution::Done(id.clone()),
        ManualResolution::Unverified(id),
        ManualResolution::NotDone,
        ManualResolution::Retry,
    ] {
        assert_eq!(said.word().parse::<ManualResolution>(), Ok(said));
    }
}

#[test]
fn a_decision_without_a_valid_id_is_refused_with_what_to_write() {
    for text in ["", "done", "done:", "unverified", "unverified:", "not-done:x", "Retry"] {
        let refused = text.parse::<ManualResolution>();
        assert!(refused.is_err(), "{text}");
    }
    assert_eq!(
        "done".parse::<ManualResolution>().unwrap_err(),
        "write the id of the created object: done:REMOTE_ID"
    );
}

const VERBS: [EffectVerb; 9] = [
    EffectVerb::Created,
    EffectVerb::Changed,
    EffectVerb::Removed,
    EffectVerb::Prepared,
    EffectVerb::Refused,
    EffectVerb::InDoubt,
    EffectVerb::OnHold,
    EffectVerb::NotSent,
    EffectVerb::GivenUp,
];

#[test]
fn the_verbs_of_effects_have_words_of_their_own_and_four_mean_that_it_was_done() {
    let words: std::collections::BTreeSet<&str> = VERBS.map(EffectVerb::word).into();
    assert_eq!(words.len(), VERBS.len());
    let done: Vec<&str> =
        VERBS.into_iter().filter(|verb| verb.is_done()).map(EffectVerb::word).collect();
    assert_eq!(done, ["created", "changed", "removed", "prepared"]);
}
