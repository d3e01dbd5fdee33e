// One hosted field: an input on the service's own page, in a frame of the merchant's page. The input
// goes only to the service; the merchant's page learns if it is valid, never its value.
(function () {
  "use strict";

  var hash = window.location.hash.slice(1).split(".");
  var group = hash[0];
  var input = document.getElementById("field");
  var set = null;
  var merchant = null;
  var lastAsked = "";
  var surchargeable = "unknown";

  var LENGTHS = { credit_card_number: 19, cvv: 4, routing_number: 9, bank_account_number: 17, text: 64 };
  var COMPLETE = { credit_card_number: "cc-number", cvv: "cc-csc", text: "on" };
  var STYLE = /^(color|background-color|border(-[a-z]+)*|font(-[a-z]+)*|letter-spacing|line-height|opacity|outline(-[a-z]+)*|padding(-[a-z]+)*|text-[a-z-]+|caret-color|box-shadow|height|min-height)$/;
  // The later of two matching states counts: the focus shows on valid and invalid fields.
  var STATES = ["", ":required", ":valid", ":invalid", ":focus", "::placeholder"];

  function digits(text) {
    return text.replace(/[^0-9]/g, "");
  }

  // Checks the check digit of a card number.
  function luhn(number) {
    var sum = 0;
    for (var at = 0; at < number.length; at += 1) {
      var digit = Number(number[number.length - 1 - at]);
      if (at % 2 === 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
      sum += digit;
    }
    return sum % 10 === 0;
  }

  // Checks the check digit of a routing number; accepts the published test numbers.
  function routed(number) {
    if (/^0000000(00|01|13)$/.test(number)) return true;
    var weights = [3, 7, 1];
    var sum = 0;
    for (var at = 0; at < number.length; at += 1) sum += Number(number[at]) * weights[at % 3];
    return sum % 10 === 0;
  }

  function cardType(number) {
    if (/^4/.test(number)) return "VISA";
    if (/^(5[1-5]|2[2-7])/.test(number)) return "MASTERCARD";
    if (/^3[47]/.test(number)) return "AMERICAN_EXPRESS";
    if (/^6(011|5|4[4-9])/.test(number)) return "DISCOVER";
    if (/^3(0[0-5]|[68])/.test(number)) return "DINERS_CLUB";
    if (/^35/.test(number)) return "JCB";
    return "UNKNOWN";
  }

  function value() {
    return set && set.type === "text" ? input.value : digits(input.value);
  }

  // Returns the error of the input; empty for a valid input.
  function fault() {
    var text = value();
    if (text === "") return set.required ? names()[0] + " cannot be blank" : "";
    if (set.type === "credit_card_number") {
      if (text.length < 12 || text.length > 19) return "Card number length is invalid";
      return luhn(text) ? "" : "Card number is invalid";
    }
    if (set.type === "cvv") return /^\d{3,4}$/.test(text) ? "" : "Card code length is invalid";
    if (set.type === "routing_number") {
      return text.length === 9 && routed(text) ? "" : "Routing number is invalid";
    }
    if (set.type === "bank_account_number") {
      return text.length >= 4 && text.length <= 17 ? "" : "Account number length is invalid";
    }
    return text.length > 64 ? "Text length is invalid" : "";
  }

  function names() {
    var own = {
      credit_card_number: ["Card number", "number"], cvv: ["Card code", "cvv"], routing_number: ["Routing number", "routing_number"],
      bank_account_number: ["Account number", "account_number"], text: [set.label || "Text", set.name || "text"]
    };
    return own[set.type];
  }

  // Formats in groups of four, or 4-6-5 where that is the custom. The caret stays behind its digit.
  function format() {
    if (!set.format || set.type !== "credit_card_number") return;
    var before = digits(input.value.slice(0, input.selectionStart || 0)).length;
    var text = digits(input.value).slice(0, LENGTHS.credit_card_number);
    var cuts = cardType(text) === "AMERICAN_EXPRESS" ? [4, 10] : [4, 8, 12, 16];
    var shown = "";
    var caret = before === 0 ? 0 : -1;
    for (var at = 0; at < text.length; at += 1) {
      if (cuts.indexOf(at) >= 0) shown += " ";
      shown += text[at];
      if (at + 1 === before) caret = shown.length;
    }
    input.value = shown;
    if (document.activeElement === input) {
      var place = caret < 0 ? shown.length : caret;
      input.setSelectionRange(place, place);
    }
  }

  function tell(what, more) {
    window.parent.postMessage({ hostedFields: group, what: what, more: more }, merchant || "*");
  }

  function report() {
    var text = value();
    var wrong = fault();
    var touched = input.classList.contains("touched");
    input.setCustomValidity(wrong);
    input.setAttribute("aria-invalid", touched && wrong !== "" ? "true" : "false");
    var news = {
      isFocused: document.activeElement === input, isEmpty: text === "", isValid: wrong === "", error: touched ? wrong : ""
    };
    if (set.type === "credit_card_number") {
      news.cardType = cardType(text);
      if (set.surchargeEnabled) news.surchargeable = surchargeable;
    }
    tell("state", news);
  }

  function authorization() {
    return "Basic " + window.btoa(set.publicKey + ":");
  }

  // Asks if this card bears a surcharge, as soon as the first twelve digits are known.
  function askSurcharge() {
    if (!set.surchargeEnabled || set.type !== "credit_card_number") return;
    var start = value().slice(0, 12);
    if (start === lastAsked) return;
    lastAsked = start;
    surchargeable = "unknown";
    if (start.length < 12) return;
    window.fetch("surchargeable", { headers: { Authorization: authorization() } }).then(function (answer) {
      return answer.ok ? answer.json() : {};
    }).then(function (answer) {
      if (start !== lastAsked || typeof answer.card !== "boolean") return;
      surchargeable = answer.card;
      report();
    }).catch(function () {
      // The answer stays unknown.
    });
  }

  function style(css) {
    var sheet = new CSSStyleSheet();
    STATES.forEach(function (state) {
      var own = state === "" ? css : css[state];
      var rule = sheet.cssRules[sheet.insertRule("input" + state + " {}", sheet.cssRules.length)];
      Object.keys(own || {}).forEach(function (name) {
        var plain = name.replace(/[A-Z]/g, function (letter) {
          return "-" + letter.toLowerCase();
        });
        var text = String(own[name]);
        if (typeof own[name] === "object" || !STYLE.test(plain) || /url\(|expression|[<>{}\\]/i.test(text)) return;
        rule.style.setProperty(plain, text);
      });
    });
    document.adoptedStyleSheets = [sheet];
  }

  function setUp(more) {
    set = more;
    input.setAttribute("aria-label", set.label);
    input.placeholder = set.placeholder || "";
    input.required = set.required;
    input.autocomplete = COMPLETE[set.type] || "off";
    input.inputMode = set.type === "text" ? "text" : "numeric";
    input.maxLength = set.type === "credit_card_number" ? 23 : LENGTHS[set.type];
    style(set.css || {});
    report();
  }

  // Returns the other fields of this group: frames of the same origin on the merchant's page.
  function neighbours() {
    var found = [];
    for (var at = 0; at < window.parent.frames.length; at += 1) {
      try {
        var one = window.parent.frames[at];
        if (one.location.hash.slice(1).split(".")[0] === group && one.hostedField) found.push(one.hostedField);
      } catch (error) {
        // A frame of another origin.
      }
    }
    return found;
  }

  function problems(body) {
    var messages = (body && body.messages) || [];
    var texts = messages.map(function (one) {
      return one.message || one.code;
    });
    return texts.length ? texts : ["The service refused it"];
  }

  function tokenize(more) {
    var all = neighbours();
    var wrong = all.map(function (one) {
      return one.check();
    }).filter(Boolean);
    if (wrong.length) {
      tell("answer", { number: more.number, code: 4, messages: wrong });
      return;
    }
    var body = Object.assign({}, more.form);
    all.forEach(function (one) {
      one.fill(body);
    });
    body.type = set.type === "bank_account_number" ? "bank" : "card";
    window.fetch("/v1/tokens", {
      method: "POST", headers: { "Content-Type": "application/json", Authorization: authorization() }, body: JSON.stringify(body)
    }).then(function (answer) {
      return answer.json().then(function (token) {
        if (answer.ok) tell("answer", { number: more.number, token: token });
        else tell("answer", { number: more.number, code: 4, messages: problems(token) });
      });
    }).catch(function () {
      tell("answer", { number: more.number, code: 3, messages: ["The service cannot be reached"] });
    });
  }

  // Interface of this field for its neighbours. Only pages of this origin can call it.
  window.hostedField = {
    check: function () {
      input.classList.add("touched");
      report();
      return fault();
    },
    fill: function (body) {
      if (value() === "") return;
      if (set.type !== "text") {
        body[names()[1]] = value();
      } else if (/^(name|address1|address2|city|state|postal_code|country|phone|email|given_name|surname)$/.test(set.name || "")) {
        body[set.name] = value();
      } else {
        body.form_data = Object.assign({}, body.form_data);
        body.form_data[set.name || "text"] = value();
      }
    }
  };

  window.addEventListener("message", function (event) {
    var data = event.data;
    if (event.source !== window.parent || !data || data.hostedFields !== group) return;
    if (data.what === "setup" && !set) {
      merchant = event.origin;
      setUp(data.more);
    }
    if (!set || event.origin !== merchant) return;
    if (data.what === "tokenize") tokenize(data.more);
    if (data.what === "focus") input.focus();
    if (data.what === "disable") input.disabled = true;
    if (data.what === "enable") input.disabled = false;
    if (data.what === "clear") {
      input.value = "";
      input.classList.remove("touched");
      askSurcharge();
      report();
    }
  });

  input.addEventListener("input", function () {
    if (!set) return;
    format();
    askSurcharge();
    report();
  });
  input.addEventListener("focus", function () {
    if (set) report();
  });
  input.addEventListener("blur", function () {
    if (!set) return;
    if (value() !== "") input.classList.add("touched");
    report();
  });
  tell("hello", {});
})();
