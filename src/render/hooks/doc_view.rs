//! The functions that scripts may call, the events and their fields, as data for programs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::policy::ScriptPower;
use crate::scripting::engine::host_functions;
use crate::scripting::host::call::HostFn;
use crate::scripting::host::event_data::{DataField, event_records};
use crate::scripting::language::names::{self, EVENT_FIELDS, EVENTS};

/// Output of `hooks doc -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HookDocView {
    version: u32,
    events: Vec<EventDoc>,
    fields: Vec<EventFieldDoc>,
    /// The kinds of records in the data of events, with their documented fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    records: Vec<EventRecordDoc>,
    functions: Vec<FunctionDoc>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EventDoc {
    r#type: &'static str,
    function: String,
    data: &'static str,
    doc: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EventFieldDoc {
    name: &'static str,
    doc: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EventRecordDoc {
    /// The kind, as in `data` of the event types.
    record: &'static str,
    fields: Vec<RecordFieldDoc>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RecordFieldDoc {
    name: &'static str,
    doc: &'static str,
    /// Scripts see it only with the right `personal`.
    personal: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FunctionDoc {
    name: &'static str,
    usage: String,
    doc: &'static str,
    /// The right that a script needs for the function.
    right: Option<&'static str>,
    arguments: Vec<ArgumentDoc>,
    options: Vec<OptionDoc>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ArgumentDoc {
    name: &'static str,
    takes: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OptionDoc {
    name: &'static str,
    takes: &'static str,
    doc: &'static str,
}

impl HookDocView {
    pub fn of_this_program() -> Self {
        let events = EVENTS.iter().map(|row| EventDoc {
            r#type: row.name,
            function: names::handler_name(row.name),
            data: row.data,
            doc: row.doc,
        });
        let fields = EVENT_FIELDS.iter();
        let fields = fields.map(|field| EventFieldDoc { name: field.name, doc: field.doc });
        let field = |field: &'static DataField| RecordFieldDoc {
            name: &field.name,
            doc: &field.doc,
            personal: field.personal,
        };
        let records = event_records().iter().map(|(record, fields)| EventRecordDoc {
            record,
            fields: fields.iter().map(field).collect(),
        });
        let functions = host_functions().map(FunctionDoc::from).collect();
        Self {
            version: 1,
            events: events.collect(),
            fields: fields.collect(),
            records: records.collect(),
            functions,
        }
    }
}

impl From<&'static HostFn> for FunctionDoc {
    fn from(row: &'static HostFn) -> Self {
        let arguments = row.arguments.iter().map(|argument| ArgumentDoc {
            name: argument.name,
            takes: argument.value_type.description(),
        });
        let options = row.options().map(|option| OptionDoc {
            name: option.name,
            takes: option.value_type.description(),
            doc: option.doc,
        });
        Self {
            name: row.name,
            usage: row.usage(),
            doc: row.doc,
            right: row.right.map(ScriptPower::word),
            arguments: arguments.collect(),
            options: options.collect(),
        }
    }
}
