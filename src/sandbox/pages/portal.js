// The payment form of an invoice: the card is typed into hosted fields, and the form sends only a token.
(function () {
  "use strict";
  var form = document.getElementById("payment");
  if (!form) return;
  var hosted = window.Service && window.Service.HostedFields;
  var button = form.querySelector("button");
  var notice = document.getElementById("trouble");
  var LOST = "The payment service cannot be reached. Nothing was charged. Please try again in a moment.";
  var BLANK = "Please fill this in";
  var fields = null;
  var tried = false;

  function byId(id) {
    return document.getElementById(id);
  }

  function say(text) {
    notice.textContent = text;
    notice.hidden = text === "";
    if (text) notice.focus();
  }

  function mark(id, text) {
    byId(id + "-error").textContent = text;
    if (byId(id).classList.contains("hosted")) return;
    if (text) byId(id).setAttribute("aria-invalid", "true");
    else byId(id).removeAttribute("aria-invalid");
  }

  // Returns the error of a hosted field; an empty field is an error only after the first attempt to submit.
  function fault(field) {
    return tried && field.isEmpty ? BLANK : (field.error || "").replace(/^Card code/, "Security code");
  }

  function show(state) {
    state.fields.forEach(function (field) {
      mark(field.selector.slice(1), fault(field));
    });
  }

  // Parses month and four-digit year; null for an invalid expiry.
  function expiry() {
    var parts = /^\s*(\d{1,2})\s*[\/. -]?\s*(\d{4}|\d{2})\s*$/.exec(byId("expiry").value);
    if (!parts || Number(parts[1]) < 1 || Number(parts[1]) > 12) return null;
    return { month: Number(parts[1]), year: Number(parts[2]) + (parts[2].length === 2 ? 2000 : 0) };
  }

  // Shows the errors beside their fields, and focuses the first such field.
  function check() {
    tried = true;
    var wrong = { name: byId("name").value.trim() ? "" : BLANK };
    if (!byId("expiry").value.trim()) wrong.expiry = BLANK;
    else wrong.expiry = expiry() ? "" : "Write month and year, such as 08/31";
    fields.getState().fields.forEach(function (field) {
      wrong[field.selector.slice(1)] = fault(field);
    });
    var bad = ["number", "cvv", "expiry", "name"].filter(function (id) {
      mark(id, wrong[id]);
      return wrong[id];
    });
    if (bad.length) focus(bad[0]);
    return bad.length === 0;
  }

  function focus(id) {
    if (byId(id).classList.contains("hosted")) fields.focus("#" + id);
    else byId(id).focus();
  }

  // Returns the style of this page's own inputs, for the fields in their frames.
  function own() {
    var look = getComputedStyle(byId("name"));
    return {
      color: look.color, backgroundColor: look.backgroundColor, borderColor: look.borderTopColor,
      ":invalid": { color: look.color },
      ":focus": { outlineColor: getComputedStyle(button).backgroundColor },
      "::placeholder": { color: getComputedStyle(byId("expiry"), "::placeholder").color }
    };
  }

  function failed(error) {
    button.disabled = false;
    var told = hosted.parseException(error);
    var beside = fields.getState().fields.filter(fault);
    if (told.code !== 3 && beside.length) focus(beside[0].selector.slice(1));
    else say(told.code === 3 ? LOST : told.messages.join(". "));
  }

  if (!hosted) {
    say(LOST);
    return;
  }
  form.hidden = false;
  try {
    fields = hosted.initializeFields({
      publicKey: form.dataset.publicKey,
      input: { css: own() },
      fields: [
        { selector: "#number", title: "Card number", input: { type: "credit_card_number", placeholder: "1234 5678 9012 3456" } },
        { selector: "#cvv", title: "Security code", input: { type: "cvv", placeholder: "123" } }
      ]
    }, show);
  } catch (error) {
    form.hidden = true;
    say(hosted.parseException(error).message);
    return;
  }
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    say("");
    if (!check()) return;
    button.disabled = true;
    fields.getPaymentToken({
      exp_month: expiry().month, exp_year: expiry().year, name: form.elements.name.value,
      address1: form.elements.address1.value, postal_code: form.elements.postal_code.value
    }).then(function (token) {
      form.elements.token_id.value = token.id;
      form.submit();
    }).catch(failed);
  });
})();
