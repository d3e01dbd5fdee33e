"""Checks that a page can be read and used: its widths, colours, labels, controls, and the frame of an e-mail in it.

The environment variable RECKON_AXE names the file `axe.min.js` of axe-core, which checks each page as well.
"""

import base64
import os
import pathlib

from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.support.ui import WebDriverWait

# Texts that are too faint to read (WCAG 2.2, 1.4.3), each with its colour and the colour behind it.
FAINT = """
  var inside = arguments[0] ? arguments[0].contentDocument : document;
  function parts(colour) { return colour.match(/[0-9.]+/g).map(Number); }
  function light(colour) {
    var linear = parts(colour).slice(0, 3).map(function (part) {
      part /= 255;
      return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  }
  function behind(element) {
    for (; element; element = element.parentElement) {
      var colour = getComputedStyle(element).backgroundColor, part = parts(colour);
      if (part.length < 4 || part[3] > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  }
  return Array.from(inside.body.querySelectorAll("*")).filter(function (element) {
    return Array.from(element.childNodes).some(function (one) { return one.nodeType === 3 && one.data.trim(); });
  }).map(function (element) {
    return [element.textContent.trim(), getComputedStyle(element).color, behind(element)];
  }).filter(function (text) {
    var lights = [light(text[1]), light(text[2])].sort(function (one, other) { return other - one; });
    return (lights[0] + 0.05) / (lights[1] + 0.05) < 4.5;
  });"""
# Controls that are too small to press (WCAG 2.2, 2.5.8); a link within a sentence may be as small as its line.
SMALL = """
  return Array.from(document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary"))
    .filter(function (one) {
      if (one.offsetParent === null) return false;
      var box = one.getBoundingClientRect(), inline = getComputedStyle(one).display === "inline";
      return !inline && (box.height < 24 || box.width < 24);
    }).map(function (one) { return one.outerHTML.slice(0, 80); });"""
# Inputs without a label.
NAMELESS = """
  return Array.from(document.querySelectorAll("input:not([type=hidden]), select, textarea")).filter(function (one) {
    return one.offsetParent !== null && !one.labels.length && !one.getAttribute("aria-label");
  }).map(function (one) { return one.outerHTML.slice(0, 80); });"""
# Number of pixels by which the content is wider than the page, or than the frame of an e-mail.
TOO_WIDE = """
  var root = (arguments[0] ? arguments[0].contentDocument : document).documentElement;
  return root.scrollWidth - root.clientWidth;"""
# Number of pixels by which the frame of an e-mail is shorter than its content.
CUT = """
  var inside = arguments[0].contentDocument.documentElement;
  return Math.ceil(inside.getBoundingClientRect().height) - arguments[0].clientHeight;"""
# What axe-core finds wrong: rule, severity, and the first elements.
AXE = pathlib.Path(os.environ["RECKON_AXE"]).read_text()
VIOLATIONS = """
  var done = arguments[0];
  axe.run(document, {resultTypes: ["violations"], iframes: false}).then(function (found) {
    done(found.violations.map(function (one) {
      return [one.impact, one.id, one.nodes.slice(0, 3).map(function (node) { return node.html.slice(0, 120); })];
    }));
  }, function (error) { done([["critical", String(error), []]]); });"""


def wait(page, condition, what):
    WebDriverWait(page, 20, 0.05).until(lambda _: holds(condition), what)


def holds(condition):
    """Returns what a condition says, and no for a page, or a live part of it, that is replaced while it is read."""
    try:
        return condition()
    except StaleElementReferenceException:
        return False
    except WebDriverException as error:
        if "does not belong to the document" not in str(error.msg):
            raise
        return False


def readable(page, pictures, name, frame=None):
    """Checks a page in a wide window and in narrow ones, light and dark.

    No content is cut, too wide, too faint, too small or without a label.
    """
    for scheme in ["light", "dark"]:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        for look, wide in {"wide": 1440, "narrow": 390, "narrowest": 320}.items():
            look = look if scheme == "light" else "dark-" + look
            seen_at(page, pictures, "%s-%s" % (name, look), wide, frame)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def seen_at(page, pictures, name, wide, frame):
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": wide, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    wait(page, lambda: page.execute_script("return innerWidth") == wide, "the window has the width")
    if frame:
        wait(page, lambda: page.execute_script(CUT, frame) == 0, "the whole e-mail is shown")
    for inside in [None, frame] if frame else [None]:
        assert page.execute_script(TOO_WIDE, inside) <= 0, (name, inside)
        faint = page.execute_script(FAINT, inside)
        assert faint == [], (name, faint)
    for fault in [SMALL, NAMELESS]:
        found = page.execute_script(fault)
        assert found == [], (name, found)
    accessible(page, name)
    tall = page.execute_script("return document.documentElement.scrollHeight")
    whole = page.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": {
        "x": 0, "y": 0, "width": wide, "height": min(tall, 8000), "scale": 1}})
    (pictures / (name + ".png")).write_bytes(base64.b64decode(whole["data"]))


def accessible(page, name):
    """Checks a page with axe-core."""
    page.execute_script(AXE)
    found = page.execute_async_script(VIOLATIONS)
    assert found == [], (name, found)
