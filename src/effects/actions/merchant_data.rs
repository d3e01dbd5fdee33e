//! Actions on a merchant's own data: its details, its accounts, its test data, objects that no
//! document manages, and what it stores at the service (files, methods of a contact, saved cards
//! and banks).

use clap::{ArgMatches, Args, FromArgMatches};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::invoice::{NewFile, file_bytes};
use crate::api::merchant::Purge;
use crate::base::id::{Mode, PublicKey, RemoteId};
use crate::base::money::Money;
use crate::effects::actions::{
    ActionEffect, ActionRow, Changeable, FieldInput, InputForm, action, decode, money_move,
    positive, without_money,
};
use crate::effects::core::context::{EffectContext, copy_fields, set_field};
use crate::effects::invoices::upload_content;
use crate::effects::merchants::authorization::deauthorise_merchant;
use crate::effects::merchants::settings::{
    BANK_SETTINGS, CARD_DATE, CARD_SETTINGS, MERCHANT_SETTINGS, METHOD_TEXTS, RECURRING_SETTINGS,
    RemoteSetting, check,
};
use crate::effects::merchants::{change_account, change_merchant, purge_test_data};
use crate::effects::methods::PaymentMethodType;
use crate::effects::methods::change::{delete_method, set_method};
use crate::effects::methods::save::{save_in_vault, save_token};
use crate::effects::recurring::change::set_recurring;
use crate::effects::recurring::end::delete_recurring;
use crate::model::effect::{MoneyMove, PER_OCCURRENCE};

fn account_settings(sort: PaymentMethodType) -> &'static [RemoteSetting] {
    match sort {
        PaymentMethodType::Card => &CARD_SETTINGS,
        PaymentMethodType::Bank => &BANK_SETTINGS,
    }
}

fn object_settings(kind: &Changeable) -> &'static [RemoteSetting] {
    match kind {
        Changeable::Card | Changeable::Bank => &METHOD_TEXTS,
        Changeable::Recurring => &RECURRING_SETTINGS,
    }
}

const MERCHANT_SET: FieldInput = FieldInput {
    field: "set",
    form: InputForm::Settings(|_| &MERCHANT_SETTINGS),
    help: "A field to set; may be repeated. An empty VALUE removes it. Names: `contact_name`, \
           `contact_email`, `contact_phone`, `address1`, `address2`, `city`, `state`, `postal_code`, \
           `country`, `api_allowed_ip_address_ranges` (callers from other addresses are locked out, \
           this program too), `live_events_urls`, `test_events_urls`",
};

const ACCOUNT_SET: FieldInput = FieldInput {
    field: "set",
    form: InputForm::Settings(|fields| decode(&fields["type"]).map_or(&[], account_settings)),
    help: "A field to set; may be repeated. Names: `name`, `primary` (true: this account replaces the \
           present primary one of its type), `transaction_allowed_countries`; of a card account also \
           `cvv_policy`, `avs_policy`, `required_payment_fields`, `accepted_card_types`",
};

const OBJECT_SET: FieldInput = FieldInput {
    field: "set",
    form: InputForm::Settings(|fields| {
        decode(&fields["type"]).map_or(&[], |kind| object_settings(&kind))
    }),
    help: "A field to set; may be repeated. Names: `description`; of a card or bank also `reference`, \
           where an empty VALUE removes the text; of a recurring charge also `amount`, `max_amount` \
           (with their currency, such as \"125.00 USD\"), `max_occurrences`, and, where it collects \
           from a card, the card's new date: `exp_month` and `exp_year` together",
};

const FILE: FieldInput =
    FieldInput { field: "content", form: InputForm::File, help: "The file: at most 10 MiB" };

const TOKEN: FieldInput = FieldInput {
    field: "token",
    form: InputForm::Token,
    help: "A one-time token, which is valid for five minutes; `-` reads standard input. The command \
           uses the token up and writes it down nowhere",
};

action! {
    /// Change a merchant's own details: its contact person, address, allowed callers and event
    /// addresses.
    MERCHANT: "merchant".with_secret(&["set"]).with_input(MERCHANT_SET), fn merchant(new, MerchantFields {
        #[arg(skip)]
        set: Map<String, Value>,
    }) {
        check(&MERCHANT_SETTINGS, &set)?;
        Ok(without_money(change_merchant(new, set)))
    }
}

action! {
    /// Change an account that takes payments: its name, its requirements, whether it is the primary
    /// one.
    ACCOUNT: "account".with_input(ACCOUNT_SET), fn account(new, AccountFields {
        /// The account: its id on the service.
        #[arg(value_name = "ACCOUNT")]
        account: RemoteId,
        /// The account's payment type.
        #[arg(long = "type", value_name = "TYPE")]
        sort as "type": PaymentMethodType,
        #[arg(skip)]
        set: Map<String, Value>,
    }) {
        check(account_settings(sort), &set)?;
        Ok(without_money(change_account(new, sort, &account, set)))
    }
}

action! {
    /// Clear a merchant's test data.
    ///
    /// Objects that documents describe are cleared, too. The next resync (`plan --refresh`, or the
    /// daemon by itself) finds them missing and blocks their resources: nothing is created again
    /// before the document raises `reckon.dev/generation`. A purge is done once, like every action
    /// here: the next one needs a --name.
    PURGE: "purge".with_reader(read_purge), fn purge(new, PurgeFields {
        /// Clear transactions, recurring charges and their occurrences. Without this and --methods:
        /// everything.
        #[arg(long)]
        #[serde(default)]
        transactions: bool,
        /// Clear saved cards and banks, and one-time tokens.
        #[arg(long)]
        #[serde(default)]
        methods: bool,
    }) {
        if new.mode != Mode::Test {
            let name = new.merchant.short();
            return Err(format!("only test data can be purged, and {name} is a live merchant"));
        }
        let all = !transactions && !methods;
        let what = Purge {
            delete_transactions: (all || transactions).then_some(true),
            delete_payment_methods: (all || methods).then_some(true),
        };
        Ok(without_money(purge_test_data(new, &what)))
    }
}

/// Reads the arguments of `purge`. Without any both types are purged: the command shows them before a
/// person agrees.
fn read_purge(matches: &ArgMatches) -> Result<Value, clap::Error> {
    let mut fields = PurgeFields::from_arg_matches(matches)?;
    if !fields.transactions && !fields.methods {
        (fields.transactions, fields.methods) = (true, true);
    }
    Ok(json!(fields))
}

action! {
    /// Delete a saved card or bank, or a recurring charge, that no document manages.
    DELETE: "delete", fn delete(new, DeleteFields {
        /// The type of the object.
        #[arg(value_name = "TYPE")]
        kind as "type": Changeable,
        /// The object's id on the service.
        #[arg(value_name = "ID")]
        id: RemoteId,
    }) {
        Ok(without_money(match kind {
            Changeable::Card => delete_method(new, PaymentMethodType::Card, &id),
            Changeable::Bank => delete_method(new, PaymentMethodType::Bank, &id),
            Changeable::Recurring => delete_recurring(new, &id),
        }))
    }
}

/// Give a merchant's authorisation back: nothing is done for the merchant until it authorises again.
#[derive(Args, Serialize)]
struct NoArguments {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeauthoriseFields {
    /// Added by the engine: no person sets it.
    public_key: PublicKey,
}

pub(crate) const DEAUTHORISE: ActionRow =
    ActionRow::new::<NoArguments>("deauthorise", &[], deauthorise);

fn deauthorise(new: EffectContext, fields: &Value) -> Result<ActionEffect, String> {
    let DeauthoriseFields { public_key } = decode(fields)?;
    Ok(without_money(deauthorise_merchant(new, &public_key)))
}

action! {
    /// Change a saved card or bank, or a recurring charge, that no document manages. Of one that a
    /// document manages, only the date of a card that its payer gave can be changed.
    CHANGE: "change".with_input(OBJECT_SET), fn change(new, ChangeFields {
        /// The type of the object.
        #[arg(value_name = "TYPE")]
        kind as "type": Changeable,
        /// The object's id on the service.
        #[arg(value_name = "ID")]
        id: RemoteId,
        #[arg(skip)]
        set: Map<String, Value>,
    }) {
        check(object_settings(&kind), &set)?;
        let sort = match kind {
            Changeable::Card => PaymentMethodType::Card,
            Changeable::Bank => PaymentMethodType::Bank,
            Changeable::Recurring => return change_recurring_charge(new, &id, &set),
        };
        Ok(without_money(set_method(new, sort, &id, set)))
    }
}

/// Changes a recurring charge, which has one currency: every amount must be in it.
fn change_recurring_charge(
    new: EffectContext,
    id: &RemoteId,
    set: &Map<String, Value>,
) -> Result<ActionEffect, String> {
    let (mut body, mut currency, mut money) = (json!({}), None, Vec::<MoneyMove>::new());
    for (name, value) in set.iter().filter(|(name, _)| !CARD_DATE.contains(&name.as_str())) {
        let Ok(amount) = decode::<Money>(value) else {
            set_field(&mut body, name, value.clone());
            continue;
        };
        let amount = positive(amount)?;
        if currency.replace(amount.currency()).is_some_and(|one| one != amount.currency()) {
            return Err("`amount` and `max_amount` are in two currencies".to_owned());
        }
        if name == "amount" {
            money = money_move(amount, new.mode, PER_OCCURRENCE);
        }
        set_field(&mut body, name, amount.minor());
    }
    if let Some(card) = card_with_date(set)? {
        set_field(&mut body, "method", card);
    }
    let currency = currency.map(|currency| currency.code().to_owned());
    Ok(ActionEffect { effect: set_recurring(new, id, body, currency.as_deref()), money })
}

/// Returns the card with its new date, if one is named; half of a date is an error.
fn card_with_date(set: &Map<String, Value>) -> Result<Option<Value>, String> {
    let named = CARD_DATE.iter().filter(|name| set.contains_key(**name)).count();
    if named == 0 {
        return Ok(None);
    }
    if named < CARD_DATE.len() {
        return Err("a card's date is `exp_month` and `exp_year` together".to_owned());
    }
    let mut card = json!({"type": "card"});
    copy_fields(&mut card, &json!(set), &CARD_DATE);
    Ok(Some(card))
}

/// Minimum length of a one-time token (service-facts, 18): longer than a card number.
const TOKEN_LENGTH_MIN: usize = 20;

/// Parses the id by which the engine replaced the name of a document.
fn remote_id(text: &str) -> Result<RemoteId, String> {
    RemoteId::new(text).map_err(|error| error.to_string())
}

action! {
    /// Upload a file under a contact, so that an invoice can name it by its id.
    ///
    /// The service processes the file afterwards: `gateway get file.get CONTACT FILE` shows its
    /// status. If the answer is lost, the file is uploaded again: an unused copy does no harm.
    UPLOAD: "upload".with_secret(&["content"]).with_input(FILE), fn upload(new, UploadFields {
        /// The contact: the NAME of its document, or its id on the service.
        #[arg(long, value_name = "NAME|ID")]
        contact: String,
        /// The file's name for payers; the name of the local file by default.
        #[arg(long, value_name = "NAME")]
        file_name: Option<String>,
        #[arg(skip)]
        content: String,
    }) {
        let file_name = file_name.ok_or("missing field `file_name`")?;
        let file = NewFile { file_name, content };
        if let Err(problems) = file_bytes(&file) {
            let told = problems.iter().map(|one| format!("{}: {}", one.context, one.message));
            return Err(told.collect::<Vec<_>>().join("; "));
        }
        Ok(without_money(upload_content(new, &remote_id(&contact)?, file)))
    }
}

action! {
    /// Store the card or bank account behind a one-time token in a contact's vault; charges can
    /// name its id.
    VAULT: "vault".with_secret(&["token"]).with_input(TOKEN), fn vault(new, VaultFields {
        /// The contact: the NAME of its document, or its id on the service.
        #[arg(value_name = "CONTACT")]
        contact: String,
        /// The type of the method behind the token.
        #[arg(long = "type", value_name = "TYPE")]
        sort as "type": PaymentMethodType,
        #[arg(skip)]
        token: Value,
    }) {
        Ok(without_money(save_in_vault(new, &remote_id(&contact)?, sort, parse_token(&token)?)))
    }
}

action! {
    /// Save the card or bank account behind a one-time token.
    SAVE: "save".with_secret(&["token"]).with_input(TOKEN), fn save(new, SaveFields {
        /// The type of the method behind the token.
        #[arg(value_name = "TYPE")]
        sort as "type": PaymentMethodType,
        #[arg(skip)]
        token: Value,
        /// A text that describes the saved method.
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    }) {
        Ok(without_money(save_token(new, sort, parse_token(&token)?, description.as_deref())))
    }
}

/// Returns the value if it can be a one-time token. The message never contains the value.
fn parse_token(token: &Value) -> Result<&str, String> {
    let fits = |text: &&str| text.len() >= TOKEN_LENGTH_MIN && RemoteId::new(text).is_ok();
    token.as_str().filter(fits).ok_or_else(|| {
        format!(
            "the token is no one-time token, which has {TOKEN_LENGTH_MIN} characters or more: numbers of cards and \
             accounts are not taken here"
        )
    })
}

#[cfg(test)]
mod tests;
