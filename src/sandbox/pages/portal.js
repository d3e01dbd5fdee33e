// The payment form of an invoice: the card is typed into hosted fields, and only a token is sent from here.
(function () {
  "use strict";
  var form = document.getElementById("payment");
  if (!form || !window.Service) return;
  var hosted = window.Service.HostedFields;
  var button = form.querySelector("button");
  var notice = document.getElementById("trouble");
  var places = { credit_card_number: "number", cvv: "cvv" };

  function say(text) {
    notice.textContent = text;
    notice.hidden = text === "";
    if (text) notice.focus();
  }

  function show(state) {
    state.fields.forEach(function (field) {
      var place = document.getElementById(places[field.type] + "-error");
      if (place) place.textContent = field.error;
    });
  }

  // The look of this page's own inputs, for the fields in their frames.
  function own() {
    var look = getComputedStyle(form.elements.expiry);
    var css = { color: look.color, backgroundColor: look.backgroundColor, borderColor: look.borderTopColor };
    css[":invalid"] = { color: look.color };
    return css;
  }

  var fields;
  try {
    fields = hosted.initializeFields({
      publicKey: form.dataset.publicKey,
      input: { css: own() },
      fields: [
        { selector: "#number", title: "Card number", input: { type: "credit_card_number", placeholder: "1234 5678 9012 3456" } },
        { selector: "#cvv", title: "Card code", input: { type: "cvv", placeholder: "123" } }
      ]
    }, show);
  } catch (error) {
    say(hosted.parseException(error).message);
    return;
  }

  form.addEventListener("submit", function (event) {
    event.preventDefault();
    say("");
    button.disabled = true;
    var expiry = form.elements.expiry.value.split("/");
    fields.getPaymentToken({
      exp_month: expiry[0], exp_year: expiry[1], name: form.elements.name.value, address1: form.elements.address1.value,
      postal_code: form.elements.postal_code.value
    }).then(function (token) {
      form.elements.token_id.value = token.id;
      form.submit();
    }).catch(function (error) {
      button.disabled = false;
      say(hosted.parseException(error).messages.join(". "));
    });
  });
})();
