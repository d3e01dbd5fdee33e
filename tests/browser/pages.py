"""Drives Chromium through the pages of the sandbox: hosted fields on a page of another origin, the sign-up, the consent,
the portal, and the mailbox.

Arguments: the sandbox's address, a folder for pictures. Prints a line for each rule of docs/reference/service.md that the
pages keep, and ends with an error at the first broken one.
"""

import base64
import http.server
import json
import pathlib
import sys
import threading
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from reading import readable, wait

BASE, PICTURES = sys.argv[1].rstrip("/"), pathlib.Path(sys.argv[2])
CARD = "4242424242424242"

SHOP = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<script src="BASE/hosted-fields/1.5.0/hosted-fields.js"></script></head><body>
<div id="number"></div><div id="cvv"></div><div id="extra"></div><div id="routing"></div><div id="account"></div>
</body></html>"""


def ask(method, path, body=None, auth=None, form=None):
    data = form.encode() if form is not None else json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": "application/x-www-form-urlencoded" if form else "application/json"}
    if auth:
        headers["Authorization"] = auth
    request = urllib.request.Request(BASE + path, data=data, method=method, headers=headers)
    with urllib.request.urlopen(request) as answer:
        text = answer.read().decode()
    return json.loads(text) if text.startswith(("{", "[")) else text


def basic(key):
    return "Basic " + base64.b64encode((key + ":").encode()).decode()


def lines(path):
    with urllib.request.urlopen(BASE + path) as answer:
        return [json.loads(line) for line in answer.read().decode().splitlines()]


class Shop(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        Shop.asked.append(self.path)
        page = SHOP.replace("BASE", BASE).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page)

    do_POST = do_GET

    def log_message(self, *_):
        pass


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1100,900",
    ]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def seen(*rules):
    for rule in rules:
        print(rule, flush=True)


def visit(page, address):
    """Opens an address; returns when the new page is complete."""
    page.execute_script("window.isBefore = true")
    page.get(address)
    there = "return document.readyState === 'complete' && !window.isBefore"
    wait(page, lambda: page.execute_script(there), "the page is complete")


def picture(page, name, wide=1100, tall=900):
    page.set_window_size(wide, tall)
    time.sleep(0.1)
    page.save_screenshot(str(PICTURES / (name + ".png")))
    page.set_window_size(1100, 900)


def fill(page, selector, text):
    """Types into the hosted field in a place of the page."""
    page.switch_to.frame(page.find_element(By.CSS_SELECTOR, selector + " iframe"))
    page.find_element(By.ID, "field").clear()
    page.find_element(By.ID, "field").send_keys(text)
    page.switch_to.default_content()


# The expression for the text colour, for a script within a hosted field.
COLOUR = "getComputedStyle(field).color"


def within(page, selector, script):
    """Returns the value of a script about the input of the hosted field in a place of the page."""
    page.switch_to.frame(page.find_element(By.CSS_SELECTOR, selector + " iframe"))
    answer = page.execute_script("var field = document.getElementById('field'); return " + script)
    page.switch_to.default_content()
    return answer


def begin(page, config):
    """Shows hosted fields; returns the exception, if one is thrown."""
    script = """
      var config = arguments[0];
      window.states = [];
      try {
        window.fields = Service.HostedFields.initializeFields(config, function (state) { window.states.push(state); });
        return null;
      } catch (error) { return Service.HostedFields.parseException(error); }"""
    return page.execute_script(script, config)


def token(page, form):
    script = """
      var done = arguments[arguments.length - 1];
      window.fields.getPaymentToken(arguments[0]).then(function (token) { done({token: token}); }, function (error) {
        done({error: Service.HostedFields.parseException(error)});
      });"""
    return page.execute_async_script(script, form)


def state(page):
    return page.execute_script("return window.fields.getState()")


def configuration(key, **more):
    config = {
        "publicKey": key,
        "fields": [
            {"selector": "#number", "input": {"type": "credit_card_number", "placeholder": "Card", "format": True, "css": {":focus": {"color": "rgb(1, 2, 3)"}}}},
            {"selector": "#cvv", "input": {"type": "cvv", "placeholder": "Code"}},
        ],
    }
    config.update(more)
    return config


def errors(page, key, shop):
    visit(page, shop)
    assert page.execute_script("return typeof window.Service.HostedFields.initializeFields") == "function"
    seen("26.1")
    without = configuration(key)
    del without["publicKey"]
    thrown = begin(page, without)
    assert thrown["code"] == 2 and any("publicKey" in one for one in thrown["messages"]), thrown
    seen("25.1")
    lost = configuration(key)
    lost["fields"][0]["selector"] = "#nowhere"
    thrown = begin(page, lost)
    assert thrown["code"] == 2 and "#nowhere" in thrown["messages"][0], thrown
    seen("25.6")
    wrong = configuration(key)
    wrong["fields"][0]["input"]["type"] = "shoe"
    wrong["fields"][1] = {"input": {"type": "cvv"}}
    thrown = begin(page, wrong)
    assert thrown["code"] == 2 and len(thrown["messages"]) == 2, thrown
    assert "fields[0].input.type" in thrown["messages"][0] and "fields[1].selector" in thrown["messages"][1], thrown
    assert set(thrown) == {"code", "message", "messages"} and isinstance(thrown["message"], str)
    assert all(isinstance(one, str) for one in thrown["messages"]), thrown
    seen("27.1")
    kinds = page.execute_script("""
      var map = Service.HostedFields.exceptionMap;
      return [[map[1], map[2], map[3], map[4]], [map(1), map(2), map(3), map(4)]];""")
    assert kinds == [["initialization", "configuration", "network", "payment"]] * 2, kinds
    seen("27.2", "27.3")


def card(page, key, shop):
    visit(page, shop)
    extra = {"surprise": {"deep": True}, "surchargeEnabled": True, "input": {"css": {
        ":focus": {"color": "rgb(10, 11, 12)"}, ":valid": {"color": "rgb(4, 5, 6)"}, ":invalid": {"color": "rgb(7, 8, 9)"},
        ":required": {"background-color": "rgb(250, 250, 250)"}, "other": {"x": "y"}}, "more": 1}}
    config = configuration(key, **extra)
    config["fields"][0]["unknown"] = [1]
    config["fields"][0]["input"]["css"]["odd"] = 1
    config["fields"].append({"selector": "#extra", "input": {"type": "text", "name": "matter", "required": False, "odd": True}})
    thrown = begin(page, config)
    assert thrown is None, thrown
    wait(page, lambda: state(page)["isReady"], "the fields are ready")
    seen("25.5")
    frames = page.find_elements(By.TAG_NAME, "iframe")
    assert len(frames) == 3 and all(frame.get_attribute("src").startswith(BASE + "/") for frame in frames)
    seen("26.2")
    assert state(page)["surchargeable"] == "unknown"
    fill(page, "#number", "42424242424")
    assert state(page)["surchargeable"] == "unknown", "eleven digits"
    fill(page, "#number", "4242")
    fill(page, "#cvv", "1")
    page.execute_script("document.activeElement.blur()")
    early = token(page, {"exp_month": 10, "exp_year": 2030})
    assert early["error"]["code"] == 4 and len(early["error"]["messages"]) == 2, early
    last, now = page.execute_script("return [window.states[window.states.length - 1], window.fields.getState()]")
    assert last == now, (last, now)
    found = {field["selector"]: field["error"] for field in last["fields"]}
    wanted = {"#number": "Card number length is invalid", "#cvv": "Card code length is invalid", "#extra": ""}
    assert found == wanted, found
    seen("26.6")
    assert within(page, "#number", COLOUR) == "rgb(7, 8, 9)", "a wrong input has the colour of wrong inputs"
    picture(page, "hosted-error")
    fill(page, "#number", CARD)
    fill(page, "#cvv", "123")
    fill(page, "#extra", "Case 7")
    wait(page, lambda: state(page)["surchargeable"] is False, "no surcharge is set")
    page.switch_to.frame(page.find_element(By.CSS_SELECTOR, "#number iframe"))
    shown = page.find_element(By.ID, "field")
    assert shown.get_attribute("value") == "4242 4242 4242 4242" and shown.get_attribute("placeholder") == "Card"
    colour = page.execute_script("return getComputedStyle(arguments[0]).backgroundColor", shown)
    assert colour == "rgb(250, 250, 250)", colour
    shown.click()
    assert page.execute_script("return getComputedStyle(arguments[0]).color", shown) == "rgb(1, 2, 3)"
    page.switch_to.default_content()
    assert within(page, "#cvv", COLOUR) == "rgb(4, 5, 6)"
    page.switch_to.frame(page.find_element(By.CSS_SELECTOR, "#cvv iframe"))
    page.find_element(By.ID, "field").click()
    page.switch_to.default_content()
    assert within(page, "#cvv", COLOUR) == "rgb(10, 11, 12)", "the colour of all fields that have the focus"
    seen("25.3")
    for form, lacks in [({"exp_year": 2030}, "Expiration month"), ({"exp_month": 10}, "Expiration year")]:
        missing = token(page, form)["error"]
        assert missing["code"] == 4 and missing["messages"] == [lacks + " cannot be blank"], missing
    for month, year in [(10, "2030"), ("10", 2030)]:
        made = token(page, {"exp_month": month, "exp_year": year, "name": "Jane Doe", "postal_code": "62701"})
        assert len(made["token"]["id"]) == 22 and made["token"]["number"] == "************4242", made
        assert (made["token"]["exp_month"], made["token"]["exp_year"]) == (10, 2030), made
    seen("26.3", "26.4")
    return made["token"]["id"]


def unseen(page):
    """Asserts that neither the merchant's page nor its requests hold the card number."""
    inside = page.execute_script("""
      return document.documentElement.outerHTML + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) +
        document.cookie + JSON.stringify(window.states) + location.href;""")
    bare = lambda text: text.replace(" ", "").replace("%20", "").replace("+", "")
    assert CARD not in bare(inside), "the number is on the page"
    assert CARD not in bare(json.dumps(Shop.asked)), "the number was sent to the shop"
    sent = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    requests = [one["params"] for one in sent if one["method"] == "Network.requestWillBeSent"]
    assert requests, "the browser logs the requests of the page"
    carrying = [one["request"]["url"] for one in requests if CARD in bare(json.dumps(one))]
    assert carrying == [], carrying
    seen("26.5")


def surcharge(page, key, shop):
    ask("POST", "/_sandbox/policy", {"merchant": "demo", "surcharges": [{"type": "card", "surcharge_rate": 300}]})
    visit(page, shop)
    config = configuration(key, surchargeEnabled=True)
    config["fields"][0]["input"]["format"] = False
    assert begin(page, config) is None
    wait(page, lambda: state(page)["isReady"], "the fields are ready")
    fill(page, "#number", "42424242424")
    time.sleep(0.3)
    assert state(page)["surchargeable"] == "unknown", "eleven digits"
    fill(page, "#number", "424242424242")
    wait(page, lambda: state(page)["surchargeable"] is True, "a surcharge is set")
    assert within(page, "#number", "field.value") == "424242424242", "the field adds no blanks"
    seen("26.7")
    ask("POST", "/_sandbox/policy", {"merchant": "demo", "surcharges": []})


def bank(page, key, shop):
    visit(page, shop)
    fields = [
        {"selector": "#routing", "input": {"type": "routing_number"}},
        {"selector": "#account", "input": {"type": "bank_account_number"}},
    ]
    assert begin(page, {"publicKey": key, "fields": fields}) is None
    wait(page, lambda: state(page)["isReady"], "the fields are ready")
    assert "surchargeable" not in state(page), "surcharges are not enabled"
    seen("25.2")
    fill(page, "#routing", "000000013")
    fill(page, "#account", "1234567890")
    made = token(page, {"account_type": "CHECKING", "account_holder_type": "business", "name": "Acme"})
    assert made["token"]["type"] == "bank" and made["token"]["account_number"] == "******7890", made
    seen("25.4", "26.8")


def failures(page, key, shop):
    visit(page, shop)
    assert begin(page, configuration("m_0000000000000000000000")) is None
    wait(page, lambda: state(page)["isReady"], "the fields are ready")
    fill(page, "#number", CARD)
    fill(page, "#cvv", "123")
    refused = token(page, {"exp_month": 10, "exp_year": 2030})
    assert refused["error"]["code"] == 4 and refused["error"]["messages"] == ["Not authorized"], refused
    visit(page, shop)
    assert begin(page, configuration(key)) is None
    wait(page, lambda: state(page)["isReady"], "the fields are ready")
    fill(page, "#number", CARD)
    fill(page, "#cvv", "123")
    ask("POST", "/_sandbox/faults", {"fault": "reset", "path": "/v1/tokens", "times": 100})
    broken = token(page, {"exp_month": 10, "exp_year": 2030})
    assert broken["error"]["code"] == 3, broken
    ask("DELETE", "/_sandbox/faults")
    seen("27.4")


def focused(page):
    """Returns the id of the input with the focus, or of the place of the hosted field with the focus."""
    return page.execute_script("""
      var one = document.activeElement;
      return one.tagName === "IFRAME" ? one.parentNode.id : one.id;""")


def around(page):
    """Reads the pages that lead to others, and the page of an unknown address."""
    overview(page)
    visit(page, BASE + "/nothing/here")
    readable(page, PICTURES, "not-found")
    page.find_element(By.CSS_SELECTOR, "main a").click()
    wait(page, lambda: "Payment sandbox" in page.title, "the button leads to the start page")
    visit(page, BASE + "/openapi")
    box = page.find_element(By.ID, "search")
    box.send_keys("refund")
    wait(page, lambda: "operations" in page.find_element(By.ID, "found").text, "the search finds operations")
    shown = [one for one in page.find_elements(By.CSS_SELECTOR, "details.operation") if one.is_displayed()]
    shown[0].find_element(By.TAG_NAME, "summary").click()
    readable(page, PICTURES, "openapi")
    shown_id = shown[0].get_attribute("id")
    visit(page, BASE + "/")
    visit(page, BASE + "/openapi#" + shown_id)
    assert page.find_element(By.ID, shown_id).get_attribute("open"), "a link to an operation unfolds it"


def overview(page):
    """Turns the clock and orders a fault on the first page, as a person does."""
    visit(page, BASE + "/")
    before = page.find_element(By.CSS_SELECTOR, "h2#time + p time").text
    page.find_element(By.CSS_SELECTOR, "button[value=PT1H]").click()
    wait(page, lambda: "The clock was turned." in page.find_element(By.TAG_NAME, "main").text, "the form turns the clock")
    assert page.find_element(By.CSS_SELECTOR, "h2#time + p time").text != before
    page.find_element(By.CSS_SELECTOR, "#faults ~ details summary").click()
    Select(page.find_element(By.ID, "fault")).select_by_value("delay")
    page.find_element(By.ID, "path").send_keys("/v1/never")
    readable(page, PICTURES, "start")
    page.find_element(By.XPATH, "//button[text()='Order the fault']").click()
    wait(page, lambda: "/v1/never" in page.find_element(By.TAG_NAME, "main").text, "the form orders the fault")
    page.find_element(By.XPATH, "//button[text()='Remove']").click()
    wait(page, lambda: "/v1/never" not in page.find_element(By.TAG_NAME, "main").text, "the form removes the fault")
    visit(page, BASE + "/_sandbox/requests")
    readable(page, PICTURES, "requests")


def consent(page, partner):
    query = "?response_type=code&client_id=%s&redirect_uri=%s&scope=payments&state=s1" % (
        partner["client_id"], partner["redirect_uri"])
    visit(page, BASE + "/oauth/authorize" + query)
    readable(page, PICTURES, "consent")
    page.find_element(By.CSS_SELECTOR, "button[value=allow]").click()
    wait(page, lambda: page.find_elements(By.ID, "merchant-error"), "the missing choice is reported")
    assert focused(page) == "merchant", focused(page)
    readable(page, PICTURES, "consent-error")
    Select(page.find_element(By.ID, "merchant")).select_by_visible_text("demo")
    page.find_element(By.CSS_SELECTOR, "button[value=allow]").click()
    wait(page, lambda: "code=" in page.current_url, "the redirect carries the code")
    assert page.current_url.startswith(partner["redirect_uri"] + "?code=") and page.current_url.endswith("&state=s1")


APPLICANT = {
    "first_name": "Jane", "last_name": "Doe", "business_name": "Harbor Books", "business_address1": "1 Quay",
    "business_city": "Chicago", "business_state": "IL", "business_zip_code": "60601", "business_phone": "312 555 0100",
    "business_country": "US", "industry_code": "5942", "goods_and_services": "Books", "structure": "SO", "business_type": "R",
    "federal_tax_id": "00-0000001", "years_in_business": "7", "owner_first_name": "Jane", "owner_last_name": "Doe",
    "owner_title": "Owner", "owner_social_security_number": "000-12-3456", "owner_has_significant_ownership": "true",
    "owner_has_significant_responsibility": "true", "owner_address1": "1 Quay", "owner_city": "Chicago", "owner_state": "IL",
    "owner_zip_code": "60601", "owner_phone_number": "312 555 0100", "owner_email": "jane@harbor.example",
    "owner_drivers_license_number": "D000", "owner_drivers_license_state": "IL", "owner_country_of_citizenship": "US",
    "operating_account_routing_number": "000000013", "operating_account_bank_name": "First Bank of Testing",
    "operating_account_number": "1234567890",
}
DATES = {"owner_date_of_birth": "1970-02-28", "owner_drivers_license_expiration": "2031-05-31"}


def sign_up(page, partner):
    body = {"client_id": partner["client_id"], "client_secret": partner["client_secret"],
            "grant_type": "client_credentials", "scope": "tenant"}
    bearer = "Bearer " + ask("POST", "/oauth/token", body)["access_token"]
    start = {"reference": "usr_b", "plan": "basic", "email": "jane@harbor.example"}
    link = ask("POST", "/api/v1/merchant_applications/sign_up", start, bearer)["merchant_application"]["redirect_uri"]
    visit(page, link)
    readable(page, PICTURES, "sign-up")
    page.find_element(By.ID, "business_website").send_keys("https://harbor.example")
    page.find_element(By.CSS_SELECTOR, "main form button:not([type])").click()
    wait(page, lambda: page.find_elements(By.CSS_SELECTOR, "[aria-invalid=true]"), "wrong fields are marked")
    wrong = page.find_elements(By.CSS_SELECTOR, "span.error")
    assert all(page.find_element(By.ID, one.get_attribute("id").replace("-error", "")) for one in wrong)
    assert "notice" in page.switch_to.active_element.get_attribute("class"), "the list of problems has the focus"
    assert page.find_element(By.ID, "business_website").get_attribute("value") == "https://harbor.example"
    readable(page, PICTURES, "sign-up-error")
    for link in page.find_elements(By.CSS_SELECTOR, ".notice a"):
        link.click()
        assert focused(page) == link.get_attribute("href").split("#")[1], focused(page)
    for name, text in APPLICANT.items():
        control = page.find_element(By.ID, name)
        if control.tag_name == "select":
            Select(control).select_by_value(text)
        else:
            control.clear()
            control.send_keys(text)
    for name, date in DATES.items():
        page.execute_script("arguments[0].value = arguments[1]", page.find_element(By.ID, name), date)
    picture(page, "sign-up-focus")
    buttons = [one for one in page.find_elements(By.TAG_NAME, "button") if one.text == "Use my typed name"]
    buttons[0].click()
    page.find_element(By.CSS_SELECTOR, "main form button:not([type])").click()
    wait(page, lambda: "/thank_you" in page.current_url, "the application is submitted")
    picture(page, "thank-you")
    ask("POST", "/_sandbox/clock", {"advance": "PT6S"})
    kept = lines("/_sandbox/objects/applications")
    assert kept[-1]["state"] == "provisioned", kept[-1]["state"]


def invoiced(partner, merchant, messages):
    """Makes an invoice and sends its messages; returns its id."""
    code = ask("POST", "/_sandbox/credentials", {"merchant": "demo"})["authorization_code"]
    body = {"client_id": partner["client_id"], "client_secret": partner["client_secret"],
            "grant_type": "authorization_code", "scope": "payments", "redirect_uri": partner["redirect_uri"], "code": code}
    bearer = "Bearer " + ask("POST", "/oauth/token", body)["access_token"]
    person = ask("POST", "/contacts", {"first_name": "Jane", "last_name": "Doe", "type": "person", "test_mode": True,
                                       "email_addresses": [{"address": "jane@example.com"}]}, bearer)
    invoice = ask("POST", "/invoices", {
        "contact_id": person["id"], "bank_account_id": merchant["bank_accounts"][0]["id"], "test_mode": True,
        "invoice_date": "2026-11-30T12:00:00Z", "currency": "USD", "reference": "Case 7",
        "line_items": [{"description": "Retainer", "rate_per_quantity": "12500", "quantity": "1", "rate_type": "units"}],
        "invoice_messages": messages}, bearer)
    return invoice["id"]


def portal(page, partner, merchant):
    invoice = invoiced(partner, merchant, [{"email_addresses": ["jane@example.com"]}])
    visit(page, BASE + "/invoices/" + invoice)
    wait(page, lambda: len(page.find_elements(By.CSS_SELECTOR, ".hosted iframe")) == 2, "the fields are shown")
    readable(page, PICTURES, "portal")
    time.sleep(0.3)
    page.find_element(By.CSS_SELECTOR, "#payment button").click()
    message = lambda place: page.find_element(By.ID, place + "-error").text
    wait(page, lambda: message("number") == "Please fill this in", "a missing value is reported beside its field")
    assert [message(one) for one in ("cvv", "expiry", "name")] == ["Please fill this in"] * 3
    wait(page, lambda: focused(page) == "number", "the first wrong field has the focus")
    readable(page, PICTURES, "portal-error")
    fill(page, "#number", CARD)
    fill(page, "#cvv", "123")
    for name, text in {"expiry": "10/2030", "name": "Jane Doe", "postal_code": "62701"}.items():
        page.find_element(By.ID, name).send_keys(text)
    picture(page, "portal-focus")
    page.find_element(By.CSS_SELECTOR, "#payment button").click()
    wait(page, lambda: "This invoice is paid" in page.page_source, "the invoice is paid")
    picture(page, "portal-paid")


LETTER = ("Dear Jane,\n\nthank you for your trust. Please pay within thirty days; the engagement letter is at "
          "https://files.example/engagement-letters/2026/11/jane-doe-and-partners-final-version.pdf\n\n"
          "Yours,\n<script>document.title = 'taken'</script> & partners")


def mailbox(page, partner, merchant):
    visit(page, BASE + "/_sandbox/mailbox")
    assert "No e-mail was sent yet" in page.find_element(By.TAG_NAME, "main").text
    readable(page, PICTURES, "mailbox-empty")
    invoiced(partner, merchant, [{"email_addresses": ["jane@example.com"]}])
    invoice = invoiced(partner, merchant, [{
        "email_addresses": ["jane.doe@a-company-with-quite-a-long-name.example"],
        "subject": "Your invoice of November for the matter Doe and partners", "message": LETTER}])
    visit(page, BASE + "/_sandbox/mailbox")
    subjects = [one.text for one in page.find_elements(By.CSS_SELECTOR, "ol.mails a")]
    assert len(subjects) == 2 and subjects[0].startswith("Your invoice of November"), subjects
    readable(page, PICTURES, "mailbox")
    page.find_element(By.CSS_SELECTOR, "ol.mails a").click()
    wait(page, lambda: page.find_elements(By.CSS_SELECTOR, "iframe.mail"), "the e-mail is shown")
    frame = page.find_element(By.CSS_SELECTOR, "iframe.mail")
    wait(page, lambda: page.execute_script("return arguments[0].contentDocument.readyState", frame) == "complete",
         "the frame of the e-mail is complete")
    readable(page, PICTURES, "mail", frame)
    page.switch_to.frame(frame)
    message = page.find_element(By.CSS_SELECTOR, "h1 + p").text
    assert message == LETTER, message
    button = page.find_element(By.CSS_SELECTOR, "a[target=_blank]")
    assert button.get_attribute("href") == BASE + "/invoices/" + invoice
    button.click()
    page.switch_to.default_content()
    wait(page, lambda: len(page.window_handles) == 2, "the link opens a window of its own")
    assert page.title.startswith("E-mail"), page.title
    before, after = page.window_handles
    page.switch_to.window(after)
    wait(page, lambda: page.find_elements(By.CSS_SELECTOR, "#payment button"), "the portal asks for the payment")
    assert page.current_url == BASE + "/invoices/" + invoice and "125.00 USD" in page.page_source
    page.close()
    page.switch_to.window(before)


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    shown = ask("GET", "/_sandbox/credentials")
    merchant = next(one for one in shown["merchants"] if one["name"] == "demo")
    key = merchant["test"]["public_key"]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shop = "http://localhost:%d/" % server.server_address[1]
    page = browser()
    try:
        errors(page, key, shop)
        made = card(page, key, shop)
        unseen(page)
        secret = basic(merchant["test"]["secret_key"])
        kept = ask("GET", "/v1/tokens/" + made, auth=secret)
        assert kept["form_data"] == {"matter": "Case 7"} and kept["postal_code"] == "62701", kept
        surcharge(page, key, shop)
        bank(page, key, shop)
        failures(page, key, shop)
        around(page)
        consent(page, shown["partner"])
        sign_up(page, shown["partner"])
        mailbox(page, shown["partner"], merchant)
        portal(page, shown["partner"], merchant)
    finally:
        page.quit()
        server.shutdown()


main()
