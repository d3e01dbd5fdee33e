"""Drives Chromium through a payer's page.

The script types a card and a bank account into the service's own fields. The resources that waited for them become active
without another command. Arguments: the program, its folder (a daemon runs there), the sandbox's address, a folder for
pictures. Ends with an error at the first failed check.
"""

import base64
import json
import pathlib
import subprocess
import sys
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from reading import readable, wait

PROGRAM, FOLDER, SERVICE, PICTURES = sys.argv[1], sys.argv[2], sys.argv[3].rstrip("/"), pathlib.Path(sys.argv[4])
CARD, OTHER, ACCOUNT = "4242424242424242", "5105105105105100", "9876543210"


def reckon(*arguments, given=""):
    done = subprocess.run(
        [PROGRAM, *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=60, input=given)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout.strip()


def resource(kind, name):
    items = json.loads(reckon("-o", "json", "get", kind + "/" + name))["items"]
    return items[0]


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1100,900",
    ]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def visit(page, address):
    page.execute_script("window.isBefore = true")
    page.get(address)
    there = "return document.readyState === 'complete' && !window.isBefore"
    wait(page, lambda: page.execute_script(there), "the page is complete")


def opened(page, address):
    """Opens a payer's link; returns when its hosted fields are ready."""
    visit(page, address)
    ready = "return Array.from(document.querySelectorAll('.hosted')).every(function (one) { return one.firstChild; })"
    wait(page, lambda: page.execute_script(ready), "the fields of the service are shown")
    for place in page.find_elements(By.CSS_SELECTOR, ".hosted iframe"):
        assert place.get_attribute("src").startswith(SERVICE + "/"), place.get_attribute("src")
        page.switch_to.frame(place)
        wait(page, lambda: page.find_element(By.ID, "field").get_attribute("aria-label"), "the field is ready")
        page.switch_to.default_content()


def fill(page, place, text):
    page.switch_to.frame(page.find_element(By.CSS_SELECTOR, "#" + place + " iframe"))
    page.find_element(By.ID, "field").clear()
    page.find_element(By.ID, "field").send_keys(text)
    page.switch_to.default_content()


def error(page, place):
    return page.find_element(By.ID, place + "-error").text


def submit(page):
    page.find_element(By.CSS_SELECTOR, "#intake button").click()


def sent(page):
    """Returns every request of the browser since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    return [one["params"]["request"] for one in messages if one["method"] == "Network.requestWillBeSent"]


def quiet(page):
    """Asserts that the page blocked nothing and had no error. An ended link has its own status."""
    failed = [one for one in page.get_log("browser") if "status of 410" not in one["message"]]
    assert failed == [], failed


def focused(page):
    """Returns the id of the input with the focus, or of the place of the hosted field with the focus."""
    return page.execute_script("""
      var one = document.activeElement;
      return one.tagName === "IFRAME" ? one.parentNode.id : one.id;""")


def card(page):
    link = reckon("link", "savedmethod/jane-card")
    assert resource("RecurringCharge", "club")["reason"] == "WaitsFor"
    opened(page, link)
    readable(page, PICTURES, "intake-card")
    submit(page)
    wait(page, lambda: error(page, "number") == "Please fill this in", "a missing value is reported beside its field")
    assert [error(page, one) for one in ("expiry", "cvv", "name")] == ["Please fill this in"] * 3
    assert page.find_element(By.ID, "name").get_attribute("aria-invalid") == "true"
    wait(page, lambda: focused(page) == "number", "the first wrong field has the focus")
    fill(page, "number", CARD[:-1] + "3")
    page.find_element(By.ID, "expiry").send_keys("13/31")
    page.find_element(By.ID, "name").send_keys("Jane Doe")
    submit(page)
    wait(page, lambda: error(page, "number") == "Card number is invalid", "a wrong digit is reported beside its field")
    assert error(page, "expiry") == "Write month and year, such as 08/31" and error(page, "name") == ""
    readable(page, PICTURES, "intake-card-error")
    sent(page)
    fill(page, "number", CARD)
    fill(page, "cvv", "123")
    page.find_element(By.ID, "expiry").clear()
    # The rest by keyboard alone, to the end.
    page.find_element(By.ID, "expiry").send_keys("0831")
    page.find_element(By.ID, "name").send_keys(Keys.TAB)
    assert focused(page) == "address1"
    page.switch_to.active_element.send_keys("1 Main Street", Keys.TAB)
    assert focused(page) == "postal_code"
    page.switch_to.active_element.send_keys("60614", Keys.ENTER)
    wait(page, lambda: "Thank you" in page.title, "the card was received")
    wait(page, lambda: "are saved" in page.page_source, "the card is saved")
    readable(page, PICTURES, "intake-saved")
    held(page, CARD, "/v1/tokens")
    wait(page, lambda: resource("RecurringCharge", "club")["ready"], "the charge that waited is active")
    assert resource("SavedMethod", "jane-card")["ready"]
    visit(page, link)
    assert "not needed any more" in page.page_source


def another(page):
    """Replaces the stored card by another one. The page also makes a token for the charge, which continues with that card."""
    link = reckon("link", "savedmethod/jane-card")
    opened(page, link)
    assert "takes the place of the one that is kept now" in page.page_source
    readable(page, PICTURES, "intake-another")
    sent(page)
    fill(page, "number", OTHER)
    fill(page, "cvv", "123")
    page.find_element(By.ID, "expiry").send_keys("09/32")
    page.find_element(By.ID, "name").send_keys("Jane Doe")
    submit(page)
    wait(page, lambda: "are saved" in page.page_source, "the other card is saved")
    held(page, OTHER, "/v1/tokens", 2)
    wait(page, lambda: kept("recurring_charges")["method"]["number"].endswith(OTHER[-4:]), "the charge has the other card")
    assert kept("cards")["number"].endswith(OTHER[-4:])
    wait(page, lambda: resource("RecurringCharge", "club")["ready"], "the charge continues")
    visit(page, link)
    assert "not needed any more" in page.page_source


def kept(kind):
    """Returns the service's only object of a kind."""
    with urllib.request.urlopen(SERVICE + "/_sandbox/objects/" + kind) as answer:
        lines = answer.read().decode().splitlines()
    assert len(lines) == 1, lines
    return json.loads(lines[0])


def held(page, number, path, tokens=1):
    """Asserts that only the service's tokens received the number, from a frame of the service. The daemon received only tokens."""
    requests = sent(page)
    bodies = [(one["url"], one.get("postData", "")) for one in requests]
    with_it = [url for url, body in bodies if number in body or number in url]
    assert with_it == [SERVICE + path] * tokens, with_it
    ours = [body for url, body in bodies if "/intake/" in url and body]
    assert len(ours) == 1, ours
    sent_tokens = ours[0].split("&")
    assert len(set(sent_tokens)) == tokens and all(one.startswith("token_id=") for one in sent_tokens), ours
    origin = page.execute_script("return location.origin")
    for one in requests:
        assert one["url"].startswith((origin + "/", SERVICE + "/", "data:")), one["url"]


def bank(page):
    link = reckon("link", "SavedMethod/jane-bank", "--days", "1")
    opened(page, link)
    readable(page, PICTURES, "intake-bank")
    sent(page)
    fill(page, "routing", "000000013")
    fill(page, "account", ACCOUNT)
    Select(page.find_element(By.ID, "account_type")).select_by_visible_text("Savings")
    Select(page.find_element(By.ID, "holder")).select_by_visible_text("A business")
    assert not page.find_element(By.ID, "given").is_displayed()
    readable(page, PICTURES, "intake-bank-business")
    page.find_element(By.ID, "business").send_keys("Doe Ltd")
    submit(page)
    wait(page, lambda: "are saved" in page.page_source, "the account is saved")
    held(page, ACCOUNT, "/v1/tokens")
    wait(page, lambda: resource("SavedMethod", "jane-bank")["ready"], "the account is ready")


def lost(page):
    """Blocks the service's library: the page reports the failure and shows no form."""
    link = reckon("link", "SavedMethod/later")
    page.execute_cdp_cmd("Network.enable", {})
    page.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*hosted-fields.js"]})
    visit(page, link)
    assert "cannot be reached" in page.find_element(By.ID, "trouble").text
    assert not page.find_element(By.CSS_SELECTOR, "#intake button").is_displayed()
    assert not page.find_element(By.ID, "name").is_displayed()
    readable(page, PICTURES, "intake-lost")
    page.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    page.get_log("browser")


def over(page, link):
    """Raises the document's generation: the older link has ended."""
    tree = pathlib.Path(FOLDER, "specs", "tree.yaml")
    name = "name: later"
    tree.write_text(tree.read_text().replace(name, name + ", annotations: {reckon.dev/generation: '1'}"))

    def ended():
        visit(page, link)
        return "This link has ended" in page.page_source

    wait(page, ended, "the older link has ended")
    readable(page, PICTURES, "intake-over")


def applicant(page):
    """Follows the button of an applicant's link to the service's page. The applicant may finish that page later."""
    link = next(word for word in reckon("events", "urls").split() if "/apply/" in word)
    visit(page, link)
    readable(page, PICTURES, "apply")
    page.find_element(By.CSS_SELECTOR, "main button").click()
    wait(page, lambda: page.current_url.startswith(SERVICE + "/merchant_applications/sign_up/"), "the form is shown")
    visit(page, link[:-4])
    assert "is not valid." in page.page_source
    readable(page, PICTURES, "dead-link")


def by_hand(page):
    """Attaches a token from another page with a command, on its standard input."""
    visit(page, reckon("link", "SavedMethod/later"))
    key = page.find_element(By.ID, "intake").get_attribute("data-public-key")
    basic = "Basic " + base64.b64encode((key + ":").encode()).decode()
    details = {"type": "card", "number": CARD, "exp_month": 8, "exp_year": 2031}
    request = urllib.request.Request(SERVICE + "/v1/tokens", json.dumps(details).encode(), {
        "Authorization": basic, "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        token = json.load(answer)["id"]
    printed = reckon("-vvv", "attach", "savedmethod/later", "--token", "-", given=token + "\n")
    assert printed == "attached to SavedMethod/later; the daemon saves it", printed
    wait(page, lambda: resource("SavedMethod", "later")["ready"], "the card is saved")


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = browser()
    try:
        wait(page, lambda: resource("SavedMethod", "jane-card")["reason"] == "AwaitsIntake", "the card waits for its payer")
        wait(page, lambda: resource("SavedMethod", "later")["reason"] == "AwaitsIntake", "all methods wait for their payers")
        card(page)
        another(page)
        bank(page)
        quiet(page)
        lost(page)
        over(page, reckon("link", "SavedMethod/later"))
        applicant(page)
        by_hand(page)
    finally:
        page.quit()


main()
