//! Accounts of a merchant, end to end: the chosen account, the key that signs, currency, trust money, and the brand's
//! host.

use reckon::sandbox::options::ServiceSurface;
use serde_json::{Value, json};

use crate::support::applicants;
use crate::support::payments::{
    MERCHANT, START, account, bank, card, document, first, recurring, requests,
};
use crate::support::world::{BRAND, World};

#[tokio::test(start_paused = true)]
async fn what_works_on_an_account_is_signed_with_its_own_key() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = World::new(surface, START);
        let now = "amount: \"20.00 USD\"\n  first_charge: now\n  schedule: {interval_unit: MONTH, interval_delay: 1}";
        let text = [
            MERCHANT.to_owned(),
            card("card", "4242424242424242"),
            bank("bank"),
            recurring("by-card", "card", ""),
            recurring("by-bank", "bank", ""),
            document("RecurringCharge", "at-once", &format!("method: bank\n  {now}")),
        ]
        .concat();
        world.write(&text);
        assert_eq!(world.settle().await, Vec::<String>::new());
        let (cards, checks) = (first(&world, "MerchantAccount"), first(&world, "AchAccount"));
        let signed = requests(&world, "POST", "/v1/recurring/charges");
        let mut accounts: Vec<&Value> = signed.iter().map(|one| &one["account"]).collect();
        accounts.sort_by_key(|id| **id != cards);
        assert_eq!(accounts, [&cards, &checks]);
        assert_eq!(requests(&world, "POST", "/v1/charges")[0]["account"], checks);
        world.write(&text.replace("20.00", "30.00"));
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(world.objects("recurring_charges").len(), 3);
        let changes = requests(&world, "PATCH", "/v1/recurring/charges/");
        assert_eq!(changes.iter().filter(|one| one["account"] == checks).count(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_settled_with_the_key_that_it_was_sent_with() {
    let world = World::new(ServiceSurface::Public, START);
    world.write(&[MERCHANT.to_owned(), bank("bank")].concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    let body =
        json!({"method": "POST", "path": "/v1/recurring", "fault": "drop_after", "times": 1});
    world.control("POST", "faults", &body);
    world.write(&[MERCHANT.to_owned(), bank("bank"), recurring("club", "bank", "")].concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("recurring_charges").len(), 1);
    let checks = first(&world, "AchAccount");
    let looked = requests(&world, "GET", "/v1/recurring/charges");
    assert!(looked.iter().any(|one| one["account"] == checks), "{looked:?}");
}

#[tokio::test(start_paused = true)]
async fn the_account_is_the_one_that_the_service_would_choose() {
    let world = World::new(ServiceSurface::Public, START);
    let club = account(&world, json!({"name": "Club", "primary": true}));
    world.write(
        &[MERCHANT.to_owned(), card("card", "4242424242424242"), recurring("club", "card", "")]
            .concat(),
    );
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("recurring_charges")[0]["account_id"], club["id"]);
    assert_eq!(requests(&world, "POST", "/v1/recurring/charges")[0]["account"], club["id"]);
    let silent = World::new(ServiceSurface::Documented, START);
    account(&silent, json!({"name": "Club", "primary": true}));
    silent.write(
        &[MERCHANT.to_owned(), card("card", "4242424242424242"), recurring("club", "card", "")]
            .concat(),
    );
    let told = silent.settle().await;
    assert!(
        told[0].starts_with("Blocked RecurringCharge/club: AccountUnfit (the merchant has several accounts that take cards (Card, Club)"),
        "{told:?}"
    );
    assert_eq!(silent.objects("recurring_charges").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn money_of_another_currency_than_the_chosen_account_s_is_not_sent() {
    let world = World::new(ServiceSurface::Public, START);
    account(&world, json!({"name": "Euro", "currency": "EUR", "primary": true}));
    let text = [
        MERCHANT.to_owned(),
        card("card", "4242424242424242"),
        recurring("dues", "card", ""),
        recurring("fees", "card", "account: Card\n  "),
    ]
    .concat();
    world.write(&text);
    assert_eq!(
        world.settle().await,
        [
            "Blocked RecurringCharge/dues: CurrencyMismatch (the amount is in USD, and the account \"Euro\" takes EUR: write EUR, or name another account)"
        ]
    );
    assert_eq!(world.objects("recurring_charges").len(), 1);
    world.write(&text.replacen("20.00 USD", "20.00 EUR", 1));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let mut currencies: Vec<String> = world
        .objects("recurring_charges")
        .iter()
        .map(|one| one["currency"].as_str().unwrap().to_owned())
        .collect();
    currencies.sort();
    assert_eq!(currencies, ["EUR", "USD"]);
}

#[tokio::test(start_paused = true)]
async fn money_bound_for_a_trust_account_is_told_apart() {
    let world = World::new(ServiceSurface::Documented, START);
    account(&world, json!({"name": "Escrow", "trust_account": true}));
    world.write(&[MERCHANT.to_owned(), card("card", "4242424242424242")].concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    let contact = document(
        "Contact",
        "jane",
        "first_name: Jane\n  last_name: Doe\n  email_addresses: [{address: jane@example.com}]",
    );
    let invoice = |name: &str, to: &str| {
        let lines = "line_items: [{description: Retainer, rate_per_quantity: \"125.00 USD\"}]";
        document(
            "Invoice",
            name,
            &format!("contact: jane\n  bank_account: {to}\n  invoice_date: 2029-12-30\n  {lines}"),
        )
    };
    world.write(
        &[
            MERCHANT.to_owned(),
            card("card", "4242424242424242"),
            contact,
            invoice("fee", "Operating"),
            invoice("retainer", "Trust"),
            recurring("dues", "card", "account: Card\n  "),
            recurring("retainers", "card", "account: Escrow\n  "),
        ]
        .concat(),
    );
    let told = world.plan();
    let sums: Vec<&String> = told.iter().filter(|line| line.ends_with(" test")).collect();
    assert_eq!(
        sums,
        [
            "2000 USD collected_per_occurrence test",
            "2000 USD collected_per_occurrence_into_trust test",
            "12500 USD invoiced test",
            "12500 USD invoiced_into_trust test",
        ]
    );
    assert_eq!(world.settle().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_application_goes_to_the_host_of_its_merchant_s_brand() {
    for (web_url, host) in
        [("", "127.0.0.1:8700"), ("web_url: https://brand.example/, ", "brand.example")]
    {
        assert!(host == "127.0.0.1:8700" || BRAND.ends_with(host));
        let merchant =
            applicants::MERCHANT.replace("mode: test,", &format!("mode: test, {web_url}"));
        let world = applicants::world(&format!("{}{merchant}", applicants::COMPLETE));
        let told = world.settle().await;
        assert!(told[0].starts_with("Wait MerchantApplication/harbor: AwaitsDecision"), "{told:?}");
        let submitted = requests(&world, "POST", "/api/v1/merchant_applications");
        assert_eq!(submitted.len(), 1);
        assert_eq!(submitted[0]["host"], host);
        let token = requests(&world, "POST", "/oauth/token");
        assert_eq!(token[0]["host"], "127.0.0.1:8700", "the brand's host serves web paths only");
    }
    let two =
        applicants::MERCHANT.replace("mode: test,", "mode: test, web_url: https://brand.example,");
    let other =
        applicants::MERCHANT.replace("name: harbor}\nspec: {mode", "name: second}\nspec: {mode");
    let other = other.replace("name: jane", "name: joe");
    let world = applicants::world(&format!("{}{two}{other}", applicants::COMPLETE));
    let told = world.settle().await;
    assert!(
        told[0].starts_with(
            "Blocked MerchantApplication/harbor: Unfit (merchants with different `web_url`s"
        ),
        "{told:?}"
    );
    assert_eq!(requests(&world, "POST", "/api/v1/merchant_applications").len(), 0);
}
