// A signature, drawn or generated from a typed name, as strokes in the service's format.
(function () {
  "use strict";
  var kept = document.querySelector("textarea[data-signature]");
  if (!kept) return;
  var canvas = document.createElement("canvas");
  var buttons = document.createElement("div");
  var strokes = [];
  var last = null;
  var pen = canvas.getContext("2d");

  canvas.className = "signature";
  canvas.width = 600;
  canvas.height = 144;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "Your signature. Draw it here, or choose Use my typed name.");
  // Takes the field's id, so that a link to the field leads to the visible canvas.
  canvas.id = kept.id;
  canvas.tabIndex = -1;
  ["aria-invalid", "aria-describedby"].forEach(function (name) {
    if (kept.hasAttribute(name)) canvas.setAttribute(name, kept.getAttribute(name));
  });
  kept.removeAttribute("id");
  buttons.className = "actions";
  buttons.appendChild(button("Use my typed name", typed));
  buttons.appendChild(button("Clear", clear));
  kept.hidden = true;
  kept.after(canvas, buttons);
  try {
    strokes = JSON.parse(kept.value || "[]");
  } catch (error) {
    strokes = [];
  }
  strokes.forEach(line);

  function button(text, action) {
    var made = document.createElement("button");
    made.type = "button";
    made.className = "plain";
    made.textContent = text;
    made.addEventListener("click", action);
    return made;
  }

  function line(stroke) {
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(stroke.mx, stroke.my);
    pen.lineTo(stroke.lx, stroke.ly);
    pen.stroke();
  }

  function add(from, to) {
    var stroke = { lx: to.x, ly: to.y, mx: from.x, my: from.y };
    strokes.push(stroke);
    line(stroke);
    kept.value = JSON.stringify(strokes);
  }

  function place(event) {
    var box = canvas.getBoundingClientRect();
    return {
      x: Math.round(((event.clientX - box.left) * canvas.width) / box.width),
      y: Math.round(((event.clientY - box.top) * canvas.height) / box.height)
    };
  }

  function clear() {
    strokes = [];
    kept.value = "";
    pen.clearRect(0, 0, canvas.width, canvas.height);
  }

  // Generates a signature from a name: a line of hills, one for each letter.
  function typed() {
    var first = document.querySelector("[name=owner_first_name]");
    var family = document.querySelector("[name=owner_last_name]");
    var name = ((first && first.value) || "") + " " + ((family && family.value) || "");
    clear();
    var at = { x: 20, y: 100 };
    Array.prototype.forEach.call(name.trim() || "X", function (letter) {
      var top = { x: at.x + 8, y: 40 + (letter.charCodeAt(0) % 40) };
      var next = { x: at.x + 16, y: 100 };
      add(at, top);
      add(top, next);
      at = next;
    });
  }

  canvas.addEventListener("pointerdown", function (event) {
    last = place(event);
    canvas.setPointerCapture(event.pointerId);
    add(last, last);
  });
  canvas.addEventListener("pointermove", function (event) {
    if (!last) return;
    var now = place(event);
    add(last, now);
    last = now;
  });
  ["pointerup", "pointercancel"].forEach(function (end) {
    canvas.addEventListener(end, function () {
      last = null;
    });
  });
})();
