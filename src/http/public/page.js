// The payer's page. Numbers are typed into the service's own fields, and this page sends only one-time tokens: one for
// the saved method, and one for each recurring charge that has a copy of its details.
(function () {
  "use strict";
  var form = document.getElementById("intake");
  var button = form.querySelector("button");
  var words = button.textContent;
  var notice = document.getElementById("trouble");
  var isCard = form.dataset.sort === "card";
  var hosted = window.Service && window.Service.HostedFields;
  var LOST = "The payment service cannot be reached. Please try again in a moment.";
  var BLANK = "Please fill this in";
  var SHOWN = isCard
    ? [["number", "credit_card_number", "Card number", "1234 5678 9012 3456"], ["cvv", "cvv", "Security code", "123"]]
    : [["routing", "routing_number", "Routing number", "123456789"], ["account", "bank_account_number", "Account number", ""]];
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
    var input = byId(id);
    if (input.classList.contains("hosted")) return;
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }

  // Returns the error of a field of the service; an empty field counts only after the first attempt to go on.
  function fault(field) {
    return tried && field.isEmpty ? BLANK : (field.error || "").replace(/^Card code/, "Security code");
  }

  function show(state) {
    state.fields.forEach(function (field) {
      mark(field.selector.slice(1), fault(field));
    });
  }

  // Parses month and year in any spelling, and returns four digits of the year; null for no date.
  function expiry(text) {
    var parts = /^\s*(\d{1,2})\s*[\/. -]\s*(\d{2}|\d{4})\s*$/.exec(text) || /^\s*(\d{2})(\d{2}|\d{4})\s*$/.exec(text);
    if (!parts || Number(parts[1]) < 1 || Number(parts[1]) > 12) return null;
    return { month: Number(parts[1]), year: Number(parts[2]) + (parts[2].length === 2 ? 2000 : 0) };
  }

  function isOver(date) {
    var now = new Date();
    return date.year < now.getFullYear() || (date.year === now.getFullYear() && date.month < now.getMonth() + 1);
  }

  function text(id) {
    return byId(id).value.trim();
  }

  function holder() {
    return byId("holder").value === "business" ? ["business"] : ["given", "surname"];
  }

  // Returns the errors of this page's inputs, by their ids.
  function faults() {
    var wrong = {};
    (isCard ? ["expiry", "name"] : holder()).forEach(function (id) {
      wrong[id] = text(id) === "" ? BLANK : "";
    });
    if (isCard && !wrong.expiry) {
      var date = expiry(text("expiry"));
      if (!date) wrong.expiry = "Write month and year, such as 08/31";
      else if (isOver(date)) wrong.expiry = "This date is over";
    }
    fields.getState().fields.forEach(function (field) {
      wrong[field.selector.slice(1)] = fault(field);
    });
    return wrong;
  }

  // Shows each error beside its field, and moves to the first such field.
  function check() {
    tried = true;
    var wrong = faults();
    var order = Array.prototype.map.call(form.querySelectorAll(".error"), function (place) {
      return place.id.replace("-error", "");
    });
    var bad = order.filter(function (id) {
      mark(id, wrong[id] || "");
      return wrong[id];
    });
    if (bad.length) focus(bad[0]);
    return bad.length === 0;
  }

  function focus(id) {
    if (!byId(id).classList.contains("hosted")) byId(id).focus();
    else if (typeof fields.focus === "function") fields.focus("#" + id);
  }

  function data() {
    if (isCard) {
      var date = expiry(text("expiry"));
      var card = { exp_month: date.month, exp_year: date.year, name: text("name") };
      if (text("address1")) card.address1 = text("address1");
      if (text("postal_code")) card.postal_code = text("postal_code");
      return card;
    }
    var bank = { account_type: byId("account_type").value };
    if (byId("holder").value === "business") {
      bank.account_holder_type = "business";
      bank.name = text("business");
    } else {
      bank.given_name = text("given");
      bank.surname = text("surname");
    }
    return bank;
  }

  // Requests further tokens of the same details, one after the other. A failure does not stop the saved method.
  function further(details, count) {
    Array.prototype.forEach.call(form.querySelectorAll(".further"), function (one) {
      form.removeChild(one);
    });
    function next(left) {
      if (left < 1) return Promise.resolve();
      return fields.getPaymentToken(details).then(function (token) {
        var input = document.createElement("input");
        input.type = "hidden";
        input.name = "token_id";
        input.className = "further";
        input.value = token.id;
        form.appendChild(input);
        return next(left - 1);
      }, function () {});
    }
    return next(count);
  }

  function idle() {
    button.disabled = false;
    button.textContent = words;
  }

  function failed(error) {
    idle();
    var told = hosted.parseException(error);
    if (told.code === 3) {
      say(LOST);
      return;
    }
    var beside = fields.getState().fields.filter(function (field) {
      return field.error;
    });
    if (beside.length) focus(beside[0].selector.slice(1));
    else say(told.messages.join(". "));
  }

  // Closes the form, which is useless without the service's fields.
  function close(text) {
    form.querySelector(".fields").hidden = true;
    button.hidden = true;
    button.disabled = true;
    say(text);
  }

  // Returns the style of this page's own inputs, for the fields in their frames.
  function own() {
    var look = getComputedStyle(form.querySelector("input:not([type=hidden])"));
    return {
      color: look.color, backgroundColor: look.backgroundColor, borderColor: look.borderTopColor,
      ":invalid": { color: look.color },
      ":focus": { outlineColor: getComputedStyle(button).backgroundColor },
      "::placeholder": { color: getComputedStyle(byId(isCard ? "expiry" : "given"), "::placeholder").color }
    };
  }

  form.hidden = false;
  if (!hosted) {
    close(LOST);
    return;
  }
  try {
    fields = hosted.initializeFields({
      publicKey: form.dataset.publicKey,
      input: { css: own() },
      fields: SHOWN.map(function (one) {
        return { selector: "#" + one[0], title: one[2], input: { type: one[1], placeholder: one[3] } };
      })
    }, show);
  } catch (error) {
    close(hosted.parseException(error).message);
    return;
  }
  if (!isCard) {
    byId("holder").addEventListener("change", function () {
      var business = byId("holder").value === "business";
      byId("business").parentNode.hidden = !business;
      byId("given").parentNode.hidden = business;
      byId("surname").parentNode.hidden = business;
    });
  }
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    say("");
    if (!check()) return;
    button.disabled = true;
    button.textContent = "Saving…";
    var details = data();
    fields.getPaymentToken(details).then(function (token) {
      byId("token").value = token.id;
      return further(details, Number(form.dataset.tokens) - 1);
    }).then(function () {
      form.submit();
    }).catch(failed);
  });
  // A page from the browser's cache is outdated.
  window.addEventListener("pageshow", function (event) {
    if (event.persisted) window.location.reload();
  });
})();
