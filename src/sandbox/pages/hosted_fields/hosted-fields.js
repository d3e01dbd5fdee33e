// Hosted fields: payment inputs on the service's own pages, shown in frames of the merchant's page.
// The input never reaches that page: the frames themselves exchange it for a one-time token.
//
// This file runs on the merchant's page. It makes the frames, styles them and forwards their state,
// which never holds the input.
(function () {
  "use strict";

  var VERSION = "1.5.0";
  var BASE = new URL(".", document.currentScript.src);
  var TYPES = ["credit_card_number", "cvv", "text", "routing_number", "bank_account_number"];
  var PSEUDO = [":focus", ":valid", ":invalid", ":required"];
  var PATIENCE_MS = 15000;
  var KINDS = { 1: "initialization", 2: "configuration", 3: "network", 4: "payment" };

  // Both an object and a function, because merchants' pages use either.
  function exceptionMap(code) {
    return KINDS[code];
  }
  Object.keys(KINDS).forEach(function (code) {
    exceptionMap[code] = KINDS[code];
  });

  function exception(code, message, messages) {
    var error = new Error(message);
    error.name = "HostedFieldsException";
    error.code = code;
    error.type = KINDS[code];
    error.messages = messages && messages.length ? messages : [message];
    return error;
  }

  // Converts anything thrown to the documented shape.
  function parseException(thrown) {
    var it = thrown && typeof thrown === "object" ? thrown : { message: String(thrown) };
    var message = it.message || "Something went wrong";
    return {
      code: KINDS[it.code] ? it.code : 1,
      message: message,
      messages: Array.isArray(it.messages) ? it.messages.map(String) : [message]
    };
  }

  function isObject(value) {
    return value !== null && typeof value === "object" && !Array.isArray(value);
  }

  function checkCss(css, place, wrong) {
    if (css === undefined || css === null) return;
    if (!isObject(css)) {
      wrong.push(place + " has to be an object");
      return;
    }
    PSEUDO.forEach(function (state) {
      if (css[state] !== undefined && !isObject(css[state])) {
        wrong.push(place + "[\"" + state + "\"] has to be an object of style properties");
      }
    });
  }

  function checkField(field, at, wrong) {
    var place = "fields[" + at + "]";
    if (!isObject(field)) {
      wrong.push(place + " has to be an object");
      return;
    }
    var input = field.input === undefined ? {} : field.input;
    if (typeof field.selector !== "string" || field.selector === "") {
      wrong.push(place + ".selector has to be a text");
    } else if (!find(field.selector)) {
      wrong.push(place + ".selector finds nothing on this page: " + field.selector);
    }
    if (!isObject(input)) {
      wrong.push(place + ".input has to be an object");
      return;
    }
    if (field.input !== undefined && TYPES.indexOf(input.type) < 0) {
      wrong.push(place + ".input.type has to be one of " + TYPES.join(", "));
    }
    checkCss(input.css, place + ".input.css", wrong);
  }

  function find(selector) {
    try {
      return document.querySelector(selector);
    } catch (error) {
      return null;
    }
  }

  // Lists all errors of a configuration. Unknown properties are allowed.
  function check(config) {
    var wrong = [];
    if (!isObject(config)) return ["the configuration has to be an object"];
    if (typeof config.publicKey !== "string" || config.publicKey === "") {
      wrong.push("publicKey has to be the merchant's public key");
    }
    if (config.surchargeEnabled !== undefined && typeof config.surchargeEnabled !== "boolean") {
      wrong.push("surchargeEnabled has to be true or false");
    }
    if (config.input !== undefined && !isObject(config.input)) {
      wrong.push("input has to be an object");
    } else if (config.input) {
      checkCss(config.input.css, "input.css", wrong);
    }
    if (!Array.isArray(config.fields) || config.fields.length === 0) {
      wrong.push("fields has to be a list of at least one field");
    } else {
      config.fields.forEach(function (field, at) {
        checkField(field, at, wrong);
      });
    }
    return wrong;
  }

  function secretName() {
    var bytes = new Uint8Array(16);
    window.crypto.getRandomValues(bytes);
    return Array.prototype.map
      .call(bytes, function (byte) {
        return ("0" + byte.toString(16)).slice(-2);
      })
      .join("");
  }

  // Merges the field's styles over the page's, one object for each state.
  function styles(shared, own) {
    var merged = {};
    [shared, own].forEach(function (css) {
      Object.keys(css || {}).forEach(function (state) {
        if (isObject(css[state])) merged[state] = Object.assign({}, merged[state], css[state]);
        else merged[state] = css[state];
      });
    });
    return merged;
  }

  function Fields(config, callback) {
    var self = this;
    this.config = config;
    this.callback = callback;
    this.group = secretName();
    this.asked = {};
    this.next = 0;
    this.state = { isReady: false, fields: [] };
    if (config.surchargeEnabled) this.state.surchargeable = "unknown";
    this.frames = config.fields.map(function (field, at) {
      return self.frame(field, at);
    });
    window.addEventListener("message", function (event) {
      self.hear(event);
    });
  }

  Fields.prototype.frame = function (field, at) {
    var input = field.input || {};
    var type = input.type || "text";
    var frame = document.createElement("iframe");
    frame.src = new URL("field.html", BASE).href + "#" + this.group + "." + at;
    frame.title = field.title || input.label || type.replace(/_/g, " ");
    frame.setAttribute("allowtransparency", "true");
    frame.setAttribute("scrolling", "no");
    frame.style.cssText = "border:0;width:100%;display:block;background:transparent";
    this.state.fields.push({
      selector: field.selector, type: type, isReady: false, isFocused: false, isEmpty: true, isValid: false, error: ""
    });
    var place = find(field.selector);
    place.textContent = "";
    // Fills the height of its container, if the container has one.
    frame.style.height = place.clientHeight > 0 ? "100%" : "44px";
    place.appendChild(frame);
    return frame;
  };

  // Configures one frame; the frame receives nothing else.
  Fields.prototype.setUp = function (at) {
    var field = this.config.fields[at];
    var input = field.input || {};
    var shared = this.config.input || {};
    this.tell(at, "setup", {
      publicKey: this.config.publicKey,
      surchargeEnabled: this.config.surchargeEnabled === true,
      type: input.type || "text",
      name: typeof input.name === "string" ? input.name : field.name,
      label: this.frames[at].title,
      placeholder: input.placeholder,
      required: input.required !== false,
      format: input.format !== false,
      css: styles(shared.css, input.css)
    });
  };

  Fields.prototype.tell = function (at, what, more) {
    var message = { hostedFields: this.group, what: what, more: more };
    var frame = this.frames[at].contentWindow;
    if (frame) frame.postMessage(message, BASE.origin);
  };

  Fields.prototype.hear = function (event) {
    var data = event.data;
    if (event.origin !== BASE.origin || !data || data.hostedFields !== this.group) return;
    var at = this.frames.findIndex(function (frame) {
      return frame.contentWindow === event.source;
    });
    if (at < 0) return;
    if (data.what === "hello") this.setUp(at);
    if (data.what === "state") this.changed(at, data.more);
    if (data.what === "answer") this.answered(data.more);
  };

  Fields.prototype.changed = function (at, news) {
    if (news.surchargeable !== undefined && this.config.surchargeEnabled) {
      this.state.surchargeable = news.surchargeable;
    }
    ["isFocused", "isEmpty", "isValid", "error", "cardType"].forEach(function (name) {
      if (news[name] !== undefined) this.state.fields[at][name] = news[name];
    }, this);
    this.state.fields[at].isReady = true;
    this.state.isReady = this.state.fields.every(function (field) {
      return field.isReady;
    });
    if (typeof this.callback === "function") this.callback(this.copy());
  };

  Fields.prototype.copy = function () {
    return JSON.parse(JSON.stringify(this.state));
  };

  // Lets the frame with the number request the token, with its neighbours' values.
  Fields.prototype.token = function (formData) {
    var self = this;
    var form = isObject(formData) ? formData : {};
    var at = this.state.fields.findIndex(function (field) {
      return field.type === "credit_card_number" || field.type === "bank_account_number";
    });
    return new Promise(function (resolve, reject) {
      if (at < 0) {
        reject(exception(2, "No field holds a card number or an account number"));
        return;
      }
      if (!self.state.isReady) {
        reject(exception(1, "The fields are not ready yet"));
        return;
      }
      var wrong = missing(form, self.state.fields[at].type === "credit_card_number");
      if (wrong.length) {
        reject(exception(4, wrong[0], wrong));
        return;
      }
      var number = (self.next += 1);
      var timer = window.setTimeout(function () {
        self.answered({ number: number, code: 3, messages: ["The service did not answer"] });
      }, PATIENCE_MS);
      self.asked[number] = { resolve: resolve, reject: reject, timer: timer };
      self.tell(at, "tokenize", { number: number, form: JSON.parse(JSON.stringify(form)) });
    });
  };

  Fields.prototype.answered = function (answer) {
    var asked = this.asked[answer.number];
    if (!asked) return;
    delete this.asked[answer.number];
    window.clearTimeout(asked.timer);
    if (answer.token) asked.resolve(answer.token);
    else asked.reject(exception(answer.code, answer.messages[0], answer.messages));
  };

  function missing(form, isCard) {
    var wrong = [];
    if (!isCard) return wrong;
    [["exp_month", "Expiration month"], ["exp_year", "Expiration year"]].forEach(function (pair) {
      var value = form[pair[0]];
      if (value === undefined || value === null || String(value).trim() === "") {
        wrong.push(pair[1] + " cannot be blank");
      } else if (!/^\d+$/.test(String(value).trim())) {
        wrong.push(pair[1] + " is invalid");
      }
    });
    return wrong;
  }

  // Shows the fields. `callback` receives the state after every change.
  function initializeFields(config, callback) {
    if (callback !== undefined && typeof callback !== "function") {
      throw exception(2, "The callback has to be a function");
    }
    var wrong = check(config);
    if (wrong.length) throw exception(2, "The configuration cannot be used: " + wrong.join("; "), wrong);
    var fields;
    try {
      fields = new Fields(config, callback);
    } catch (error) {
      throw exception(1, "The fields cannot be shown: " + error.message);
    }
    var each = function (what) {
      return function (selector) {
        fields.config.fields.forEach(function (field, at) {
          if (selector === undefined || field.selector === selector) fields.tell(at, what, {});
        });
      };
    };
    return {
      getState: function () {
        return fields.copy();
      },
      getPaymentToken: function (formData) {
        return fields.token(formData);
      },
      focus: each("focus"),
      clear: each("clear"),
      disable: each("disable"),
      enable: each("enable")
    };
  }

  window.Service = window.Service || {};
  window.Service.HostedFields = {
    version: VERSION,
    initializeFields: initializeFields,
    parseException: parseException,
    exceptionMap: exceptionMap
  };
})();
