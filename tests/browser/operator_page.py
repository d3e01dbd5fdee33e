"""Drives Chromium through the page for operators.

Every page can be read in narrow and wide windows, light and dark, and by keyboard. It loads nothing from another host, and
its policy stops nothing of it. With scripts the page follows the daemon; without them it can be read all the same.
Arguments: the program, its folder (a daemon runs there), a folder for pictures. Ends with an error at the first failed check.
"""

import json
import pathlib
import subprocess
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from reading import readable, wait

PROGRAM, FOLDER, PICTURES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
ADDRESS = json.loads((FOLDER / ".reckon/addresses.json").read_text())["http"]
PAGES = ["/", "/resources", "/resources?not_ready=true&search=c", "/resources/RecurringCharge/default/club",
         "/graph", "/graph?resource=RecurringCharge/club", "/graph?merchant=acme", "/plan", "/intents", "/events", "/audit", "/audit?resource=Merchant/acme", "/resources?kind=Nothing"]


def reckon(*arguments):
    done = subprocess.run([PROGRAM, *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout.strip()


def browser(scripts):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1100,900",
    ]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    page = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    if not scripts:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    return page


def hosts(page):
    """Returns the origins of all requests so far."""
    found = set()
    for entry in page.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            address = message["params"]["request"]["url"]
            if address.startswith("http"):
                found.add("/".join(address.split("/")[:3]))
    return found


def by_keyboard(page):
    """Walks a page with the tab key: the first stop skips to the content, and each has a visible focus."""
    page.get(ADDRESS + "/")
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert page.switch_to.active_element.text == "Skip to the content", page.switch_to.active_element.text
    seen = []
    for _ in range(8):
        page.switch_to.active_element.send_keys(Keys.TAB)
        text, outline = page.execute_script(
            "const one = document.activeElement; return [one.innerText, getComputedStyle(one).outlineStyle]")
        assert outline == "solid", (text, outline)
        seen.append(text)
    assert seen[:6] == ["Overview", "Resources", "Plan", "Intents", "Events", "Audit"], seen
    page.get(ADDRESS + "/")
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.execute_script("return document.activeElement.id") == "content"


def follows(page):
    """A suspension by a command shows without a reload."""
    page.get(ADDRESS + "/resources/RecurringCharge/default/club")
    wait(page, lambda: page.find_element(By.ID, "live").text == "Live", "the page follows the daemon")
    reckon("suspend", "RecurringCharge/club", "--reason", "the club is closed")
    wait(page, lambda: "the club is closed" in page.find_element(By.ID, "summary").text, "the page shows the change")
    reckon("resume", "RecurringCharge/club")


def press(page, text):
    """Presses the button or the link with this text in the content of the page."""
    found = page.find_elements(By.CSS_SELECTOR, "main button[type=submit], main a.button")
    [one] = [one for one in found if one.text == text]
    one.click()


def acts(page, pictures):
    """Enters by a link, freezes and thaws, and leaves; each by the page's own buttons."""
    page.get(reckon("page"))
    press(page, "Enter")
    wait(page, lambda: page.current_url == ADDRESS + "/", "the session begins")
    assert page.find_elements(By.CSS_SELECTOR, "form.visitor"), page.page_source
    if pictures:
        readable(page, pictures, "operator-session")
    press(page, "Freeze everything…")
    wait(page, lambda: page.current_url == ADDRESS + "/do/freeze", "the form of the freeze")
    if pictures:
        readable(page, pictures, "operator-freeze")
    page.find_element(By.ID, "reason").send_keys("a walk")
    press(page, "Freeze everything")
    wait(page, lambda: "a walk" in page.find_element(By.ID, "frozen").text, "the page names the freeze")
    press(page, "Thaw…")
    wait(page, lambda: page.current_url == ADDRESS + "/do/thaw", "the form of the thaw")
    press(page, "Thaw")
    wait(page, lambda: "thawed" in page.find_element(By.CSS_SELECTOR, "main .notice").text, "the notice of the thaw")
    page.find_element(By.CSS_SELECTOR, "form.visitor button").click()
    wait(page, lambda: not page.find_elements(By.CSS_SELECTOR, "form.visitor"), "the session ends")


def filters(page):
    page.get(ADDRESS + "/resources")
    page.find_element(By.ID, "search").send_keys("CLUB", Keys.ENTER)
    wait(page, lambda: "search=CLUB" in page.current_url, "the filter is in the address")
    names = [one.text for one in page.find_elements(By.CSS_SELECTOR, "#list tbody th")]
    assert names == ["RecurringCharge/club"], names


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = browser(scripts=True)
    try:
        for number, path in enumerate(PAGES):
            page.get(ADDRESS + path)
            readable(page, PICTURES, "operator-%d" % number)
        by_keyboard(page)
        filters(page)
        follows(page)
        acts(page, PICTURES)
        assert hosts(page) == {ADDRESS}, hosts(page)
        stopped = [one for one in page.get_log("browser") if "Content Security Policy" in one["message"]]
        assert not stopped, stopped
    finally:
        page.quit()
    page = browser(scripts=False)
    try:
        for path in PAGES:
            page.get(ADDRESS + path)
            assert len(page.find_elements(By.TAG_NAME, "h1")) == 1, path
            assert page.find_element(By.ID, "live").text == "", path
        filters(page)
        acts(page, None)
    finally:
        page.quit()


main()
