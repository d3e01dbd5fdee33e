//! Host functions that request actions.

use super::{Argument, FunctionGroup, HostFn, HostOption, argument, option};
use crate::hooks::host::{HostCall, money, notice, pause};
use crate::hooks::session::HostError;
use crate::hooks::sort::ArgumentType;
use crate::policy::ScriptPower;
use rhai::Dynamic;

/// Options of every action.
const COMMON: &[HostOption] = &[
    option(
        "name",
        ArgumentType::Name,
        "the action's name beneath this event, for ever: one name does one thing, once. Made of what is asked for by default",
    ),
    option("at", ArgumentType::Moment, "not before then; at once by default"),
];

const MERCHANT: &[HostOption] =
    &[option("merchant", ArgumentType::Merchant, "another merchant than that of the event")];

const AMOUNT: &[HostOption] = &[option(
    "amount",
    ArgumentType::Amount,
    "how much; all that the map says by default, so an id alone needs it",
)];

const REFERENCE: &[HostOption] = &[option("reference", ArgumentType::Text, "words for the record")];

const RECURRING: &[HostOption] = &[option(
    "recurring",
    ArgumentType::Object,
    "its recurring charge; needed where the occurrence is an id",
)];

const MOVEMENT: &[HostOption] = &[option(
    "account",
    ArgumentType::Text,
    "the merchant's account; the service's choice by default",
)];

const fn action(
    name: &'static str,
    arguments: &'static [Argument],
    options: &'static [&'static [HostOption]],
    call: fn(&HostCall<'_>) -> Result<Dynamic, HostError>,
    doc: &'static str,
) -> HostFn {
    HostFn { name, group: FunctionGroup::Action, arguments, options, doc, right: None, call }
}

/// Marks an action that the configuration must open.
const fn with_right(power: ScriptPower, row: HostFn) -> HostFn {
    HostFn { right: Some(power), ..row }
}

const CHARGE: &[Argument] = &[argument("charge", ArgumentType::Object)];
const MOVEMENT_ARGUMENTS: &[Argument] =
    &[argument("method", ArgumentType::Text), argument("amount", ArgumentType::Amount)];
const OCCURRENCE: &[Argument] = &[argument("occurrence", ArgumentType::Object)];
const KEY: &[Argument] = &[argument("resource", ArgumentType::Resource)];

pub(super) static ROWS: &[HostFn] = &[
    with_right(
        ScriptPower::Refund,
        action(
            "refund",
            CHARGE,
            &[AMOUNT, MERCHANT, COMMON],
            money::refund,
            "Gives money of a charge back: what is left of it, or a part.",
        ),
    ),
    with_right(
        ScriptPower::Refund,
        action(
            "void",
            &[argument("transaction", ArgumentType::Object)],
            &[REFERENCE, MERCHANT, COMMON],
            money::void,
            "Takes a transaction back before it is settled.",
        ),
    ),
    with_right(
        ScriptPower::Charge,
        action(
            "capture",
            CHARGE,
            &[
                AMOUNT,
                REFERENCE,
                &[option(
                    "next_run",
                    ArgumentType::Boolean,
                    "with the next daily run, not at once",
                )],
                MERCHANT,
                COMMON,
            ],
            money::capture,
            "Captures a hold.",
        ),
    ),
    with_right(
        ScriptPower::Charge,
        action(
            "charge",
            MOVEMENT_ARGUMENTS,
            &[
                MOVEMENT,
                REFERENCE,
                &[
                    option("hold", ArgumentType::Boolean, "only reserve the money; cards alone"),
                    option(
                        "surcharge",
                        ArgumentType::Amount,
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
    with_right(
        ScriptPower::Credit,
        action(
            "credit",
            MOVEMENT_ARGUMENTS,
            &[MOVEMENT, REFERENCE, MERCHANT, COMMON],
            money::credit,
            "Gives money by a saved method, without a charge.",
        ),
    ),
    with_right(
        ScriptPower::Charge,
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
        &[argument("recurring", ArgumentType::Object)],
        &[MERCHANT, COMMON],
        money::cancel,
        "Ends a recurring charge.",
    ),
    action(
        "hold",
        &[argument("resource", ArgumentType::Resource), argument("reason", ArgumentType::Text)],
        &[
            &[HostOption {
                former_name: Some("until"),
                ..option(
                    "ends",
                    ArgumentType::Moment,
                    "when it ends; by default a person or a script ends it",
                )
            }],
            COMMON,
        ],
        pause::suspend,
        "Nothing new is done to a resource, of a merchant to any of its, as with `reckon suspend`.",
    ),
    action(
        "release",
        KEY,
        &[COMMON],
        pause::resume,
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
        &[argument("target", ArgumentType::Target), argument("body", ArgumentType::Body)],
        &[
            &[
                option(
                    "subject",
                    ArgumentType::Text,
                    "the subject of a mail; that of the template by default",
                ),
                option(
                    "template",
                    ArgumentType::Template,
                    "the text with places that the body, a map, fills in: `templates/NAME.txt` of the scripts folder, and for mails \
                     `templates/NAME.html`, too",
                ),
                option(
                    "to",
                    ArgumentType::Text,
                    "a mail to this address, or to that of a contact, `Contact/NAME`, in place of the target's own",
                ),
            ],
            &[option(
                "at_most",
                ArgumentType::Map,
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
        group: FunctionGroup::Action,
        arguments: &[argument("key", ArgumentType::Text), argument("value", ArgumentType::Any)],
        options: &[],
        doc: "Keeps a value for later runs of this script, if this one ends well.",
        right: None,
        call: notice::kv_set,
    },
    HostFn {
        name: "kv_add",
        group: FunctionGroup::Action,
        arguments: &[argument("key", ArgumentType::Text), argument("number", ArgumentType::Number)],
        options: &[],
        doc: "Adds a whole number, or money, to the value that this script keeps under a key, or begins with it. Nothing is \
              lost where the script runs for several events at once.",
        right: None,
        call: notice::kv_add,
    },
    HostFn {
        name: "kv_delete",
        group: FunctionGroup::Action,
        arguments: &[argument("key", ArgumentType::Text)],
        options: &[],
        doc: "Keeps nothing under a key any more.",
        right: None,
        call: notice::kv_delete,
    },
    HostFn {
        name: "log",
        group: FunctionGroup::Action,
        arguments: &[argument("text", ArgumentType::Any)],
        options: &[],
        doc: "Writes a line into the run's log.",
        right: None,
        call: notice::log,
    },
];
