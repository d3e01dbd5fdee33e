//! Host functions that request actions.

use super::{Argument, Group, HostFn, HostOption, argument, option};
use crate::hooks::host::{Call, money, notice, pause};
use crate::hooks::session::Refused;
use crate::hooks::sort::Sort;
use crate::policy::Power;
use rhai::Dynamic;

/// Options of every action.
const COMMON: &[HostOption] = &[
    option(
        "name",
        Sort::Name,
        "the action's name beneath this event, for ever: one name does one thing, once. Made of what is asked for by default",
    ),
    option("at", Sort::Moment, "not before then; at once by default"),
];

const MERCHANT: &[HostOption] =
    &[option("merchant", Sort::Merchant, "another merchant than that of the event")];

const AMOUNT: &[HostOption] = &[option(
    "amount",
    Sort::Amount,
    "how much; all that the map says by default, so an id alone needs it",
)];

const REFERENCE: &[HostOption] = &[option("reference", Sort::Text, "words for the record")];

const RECURRING: &[HostOption] = &[option(
    "recurring",
    Sort::Object,
    "its recurring charge; needed where the occurrence is an id",
)];

const MOVEMENT: &[HostOption] =
    &[option("account", Sort::Text, "the merchant's account; the service's choice by default")];

const fn action(
    name: &'static str,
    arguments: &'static [Argument],
    options: &'static [&'static [HostOption]],
    call: fn(&Call<'_>) -> Result<Dynamic, Refused>,
    doc: &'static str,
) -> HostFn {
    HostFn { name, group: Group::Action, arguments, options, doc, power: None, call }
}

/// Marks an action that the configuration must open.
const fn closed(power: Power, row: HostFn) -> HostFn {
    HostFn { power: Some(power), ..row }
}

const CHARGE: &[Argument] = &[argument("charge", Sort::Object)];
const MOVED: &[Argument] = &[argument("method", Sort::Text), argument("amount", Sort::Amount)];
const OCCURRENCE: &[Argument] = &[argument("occurrence", Sort::Object)];
const KEY: &[Argument] = &[argument("resource", Sort::Resource)];

pub(super) static ROWS: &[HostFn] = &[
    closed(
        Power::Refund,
        action(
            "refund",
            CHARGE,
            &[AMOUNT, MERCHANT, COMMON],
            money::refund,
            "Gives money of a charge back: what is left of it, or a part.",
        ),
    ),
    closed(
        Power::Refund,
        action(
            "void",
            &[argument("transaction", Sort::Object)],
            &[REFERENCE, MERCHANT, COMMON],
            money::void,
            "Takes a transaction back before it is settled.",
        ),
    ),
    closed(
        Power::Charge,
        action(
            "capture",
            CHARGE,
            &[
                AMOUNT,
                REFERENCE,
                &[option("next_run", Sort::Truth, "with the next daily run, not at once")],
                MERCHANT,
                COMMON,
            ],
            money::capture,
            "Captures a hold.",
        ),
    ),
    closed(
        Power::Charge,
        action(
            "charge",
            MOVED,
            &[
                MOVEMENT,
                REFERENCE,
                &[
                    option("hold", Sort::Truth, "only reserve the money; cards alone"),
                    option(
                        "surcharge",
                        Sort::Amount,
                        "how much of the amount is a surcharge: the receipt shows it",
                    ),
                ],
                MERCHANT,
                COMMON,
            ],
            money::charge,
            "Takes money by a saved method: the name of its document, or its id.",
        ),
    ),
    closed(
        Power::Credit,
        action(
            "credit",
            MOVED,
            &[MOVEMENT, REFERENCE, MERCHANT, COMMON],
            money::credit,
            "Gives money by a saved method, without a charge.",
        ),
    ),
    closed(
        Power::Charge,
        action(
            "pay_occurrence",
            OCCURRENCE,
            &[AMOUNT, RECURRING, MERCHANT, COMMON],
            money::pay,
            "Pays an occurrence of a recurring charge early, or tries it again.",
        ),
    ),
    action(
        "ignore_occurrence",
        OCCURRENCE,
        &[RECURRING, MERCHANT, COMMON],
        money::ignore,
        "Takes an occurrence of a recurring charge out of the collection.",
    ),
    action(
        "cancel",
        &[argument("recurring", Sort::Object)],
        &[MERCHANT, COMMON],
        money::cancel,
        "Ends a recurring charge.",
    ),
    action(
        "hold",
        &[argument("resource", Sort::Resource), argument("reason", Sort::Text)],
        &[
            &[HostOption {
                formerly: Some("until"),
                ..option(
                    "ends",
                    Sort::Moment,
                    "when it ends; by default a person or a script ends it",
                )
            }],
            COMMON,
        ],
        pause::hold,
        "Nothing new is done to a resource, of a merchant to any of its, as with `reckon suspend`.",
    ),
    action(
        "release",
        KEY,
        &[COMMON],
        pause::release,
        "A resource goes on, as with `reckon resume`.",
    ),
    action(
        "reconcile",
        KEY,
        &[COMMON],
        pause::reconcile,
        "Looks at a resource again at once and does what is due.",
    ),
    action(
        "notify",
        &[argument("target", Sort::Target), argument("body", Sort::Body)],
        &[
            &[
                option(
                    "subject",
                    Sort::Text,
                    "the subject of a mail; that of the template by default",
                ),
                option(
                    "template",
                    Sort::Template,
                    "the text with places that the body, a map, fills in: `templates/NAME.txt` of the scripts folder, and for mails \
                     `templates/NAME.html`, too",
                ),
                option(
                    "to",
                    Sort::Text,
                    "a mail to this address, or to that of a contact, `Contact/NAME`, in place of the target's own",
                ),
            ],
            &[option(
                "at_most",
                Sort::Map,
                "`#{count: 1, per: \"1d\"}`: no more of them within a span of the events' own time. Days are days in UTC, and \
                 other spans (`30m`, `12h`, `1w`) follow one another from 1970-01-01 on. What counts together has one \
                 merchant, script and `key`; the target's name is the key by default",
            )],
            COMMON,
        ],
        notice::notify,
        "Sends a notification to a target of the configuration: a text, or a map for a program.",
    ),
    HostFn {
        name: "kv_set",
        group: Group::Action,
        arguments: &[argument("key", Sort::Text), argument("value", Sort::Any)],
        options: &[],
        doc: "Keeps a value for later runs of this script, if this one ends well.",
        power: None,
        call: notice::kv_set,
    },
    HostFn {
        name: "kv_add",
        group: Group::Action,
        arguments: &[argument("key", Sort::Text), argument("number", Sort::Number)],
        options: &[],
        doc: "Adds a whole number, or money, to the value that this script keeps under a key, or begins with it. Nothing is \
              lost where the script runs for several events at once.",
        power: None,
        call: notice::kv_add,
    },
    HostFn {
        name: "kv_delete",
        group: Group::Action,
        arguments: &[argument("key", Sort::Text)],
        options: &[],
        doc: "Keeps nothing under a key any more.",
        power: None,
        call: notice::kv_delete,
    },
    HostFn {
        name: "log",
        group: Group::Action,
        arguments: &[argument("text", Sort::Any)],
        options: &[],
        doc: "Writes a line into the run's log.",
        power: None,
        call: notice::log,
    },
];
