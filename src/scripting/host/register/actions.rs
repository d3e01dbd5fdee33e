//! Host functions that request actions.

use super::{Argument, FunctionGroup, HostFn, HostOption, argument, option};
use crate::policy::ScriptPower;
use crate::scripting::check::argument_type::ArgumentType;
use crate::scripting::host::functions::{HostCall, money, notice, pause};
use crate::scripting::run::session::HostError;
use rhai::Dynamic;

/// Options of every action.
const COMMON: &[HostOption] = &[
    option(
        "name",
        ArgumentType::Name,
        "the action's permanent name within this event: one name does one thing, once. Derived \
        from the arguments by default",
    ),
    option("at", ArgumentType::Moment, "the earliest time; at once by default"),
];

const MERCHANT: &[HostOption] =
    &[option("merchant", ArgumentType::Merchant, "a merchant other than the event's")];

const AMOUNT: &[HostOption] = &[option(
    "amount",
    ArgumentType::Amount,
    "the amount; by default that of the map, so an id alone needs it",
)];

const REFERENCE: &[HostOption] =
    &[option("reference", ArgumentType::Text, "a text for the record")];

const RECURRING: &[HostOption] = &[option(
    "recurring",
    ArgumentType::Object,
    "its recurring charge; required if the occurrence is an id",
)];

const MOVEMENT: &[HostOption] = &[option(
    "account",
    ArgumentType::Text,
    "the merchant's account; the service chooses one by default",
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
            "Refunds a charge: the rest of it, or a part.",
        ),
    ),
    with_right(
        ScriptPower::Refund,
        action(
            "void",
            &[argument("transaction", ArgumentType::Object)],
            &[REFERENCE, MERCHANT, COMMON],
            money::void,
            "Voids a transaction before it is settled.",
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
                    "capture with the next daily run instead of at once",
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
                    option("hold", ArgumentType::Boolean, "only reserve the money; for cards only"),
                    option(
                        "surcharge",
                        ArgumentType::Amount,
                        "the part of the amount that is a surcharge; the receipt shows it",
                    ),
                ],
                MERCHANT,
                COMMON,
            ],
            money::charge,
            "Charges a saved method: the name of its document, or its id.",
        ),
    ),
    with_right(
        ScriptPower::Credit,
        action(
            "credit",
            MOVEMENT_ARGUMENTS,
            &[MOVEMENT, REFERENCE, MERCHANT, COMMON],
            money::credit,
            "Pays money out to a saved method, without a charge.",
        ),
    ),
    with_right(
        ScriptPower::Charge,
        action(
            "pay_occurrence",
            OCCURRENCE,
            &[AMOUNT, RECURRING, MERCHANT, COMMON],
            money::pay,
            "Pays an occurrence of a recurring charge early, or retries it.",
        ),
    ),
    action(
        "ignore_occurrence",
        OCCURRENCE,
        &[RECURRING, MERCHANT, COMMON],
        money::ignore,
        "Removes an occurrence of a recurring charge from the collection.",
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
                    "the end of the suspension; by default a person or a script ends it",
                )
            }],
            COMMON,
        ],
        pause::suspend,
        "Suspends a resource, or everything of a merchant, as `reckon suspend` does.",
    ),
    action(
        "release",
        KEY,
        &[COMMON],
        pause::resume,
        "Resumes a resource, as `reckon resume` does.",
    ),
    action(
        "reconcile",
        KEY,
        &[COMMON],
        pause::reconcile,
        "Plans a resource again at once, and does what is due.",
    ),
    action(
        "notify",
        &[argument("target", ArgumentType::Target), argument("body", ArgumentType::Body)],
        &[
            &[
                option(
                    "subject",
                    ArgumentType::Text,
                    "the subject of a mail; the template's by default",
                ),
                option(
                    "template",
                    ArgumentType::Template,
                    "the template that the body, a map, fills in: `templates/NAME.txt` in the \
                    scripts folder, and for mails also `templates/NAME.html`",
                ),
                option(
                    "to",
                    ArgumentType::Text,
                    "the recipient of a mail, an address or a contact (`Contact/NAME`), in place \
                    of the target's own",
                ),
            ],
            &[option(
                "at_most",
                ArgumentType::Map,
                "`#{count: 1, per: \"1d\"}`: the most notifications in a span of the events' own \
                time. Days are UTC days; other spans (`30m`, `12h`, `1w`) follow one another from \
                1970-01-01. Notifications of the same merchant, script and `key` count together; \
                the key is the target's name by default",
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
        doc: "Stores a value for later runs of this script, if this run succeeds.",
        right: None,
        call: notice::kv_set,
    },
    HostFn {
        name: "kv_add",
        group: FunctionGroup::Action,
        arguments: &[argument("key", ArgumentType::Text), argument("number", ArgumentType::Number)],
        options: &[],
        doc: "Adds a whole number or money to the stored value of a key, or stores it as the \
            first value. No update is lost if the script runs for several events at once.",
        right: None,
        call: notice::kv_add,
    },
    HostFn {
        name: "kv_delete",
        group: FunctionGroup::Action,
        arguments: &[argument("key", ArgumentType::Text)],
        options: &[],
        doc: "Deletes the stored value of a key.",
        right: None,
        call: notice::kv_delete,
    },
    HostFn {
        name: "log",
        group: FunctionGroup::Action,
        arguments: &[argument("text", ArgumentType::Any)],
        options: &[],
        doc: "Writes a line to the run's log.",
        right: None,
        call: notice::log,
    },
];
