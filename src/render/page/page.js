// Keeps a page up to date, and adds buttons that copy commands. Without it every page can be read all the same.
(function () {
  "use strict";
  var live = document.getElementById("live");
  var PAUSE = 2000;
  var stream = null;
  var timer = null;
  var last = 0;

  function copyButtons(inside) {
    if (!navigator.clipboard) return;
    inside.querySelectorAll(".command").forEach(function (command) {
      var text = command.textContent;
      var button = document.createElement("button");
      button.type = "button";
      button.className = "plain";
      button.textContent = "Copy";
      button.setAttribute("aria-label", "Copy: " + text);
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(text).then(function () {
          button.textContent = "Copied";
        });
      });
      command.append(button);
    });
  }

  // A part that has the focus or a selection stays as it is until it is left.
  function isInUse(part) {
    var selected = document.getSelection();
    return part.contains(document.activeElement) ||
      (selected && !selected.isCollapsed && part.contains(selected.anchorNode));
  }

  function opened(part) {
    return Array.from(part.querySelectorAll("details")).map(function (one) { return one.open; });
  }

  function replace(fresh) {
    document.querySelectorAll("[data-live]").forEach(function (part) {
      var next = fresh.getElementById(part.id);
      if (!next || isInUse(part)) return;
      var open = opened(part);
      var details = next.querySelectorAll("details");
      if (details.length === open.length) details.forEach(function (one, place) { one.open = open[place]; });
      copyButtons(next);
      part.replaceWith(document.adoptNode(next));
    });
  }

  function refresh() {
    timer = null;
    last = Date.now();
    fetch(location.href, { credentials: "same-origin" }).then(function (answer) {
      return answer.ok ? answer.text() : Promise.reject(new Error("refused"));
    }).then(function (text) {
      replace(new DOMParser().parseFromString(text, "text/html"));
      live.textContent = "Live";
    }).catch(function () {
      live.textContent = "The daemon does not answer";
    });
  }

  function changed() {
    if (timer === null) timer = setTimeout(refresh, Math.max(0, last + PAUSE - Date.now()));
  }

  function watch() {
    // A form stays as it was read.
    if (stream || location.pathname.startsWith("/do/") || !document.querySelector("[data-live]")) return;
    var first = true;
    stream = new EventSource("/api/v1/watch");
    stream.addEventListener("overview", function () {
      live.textContent = "Live";
      // The page is as new as the first overview, unless the stream had ended before.
      if (!first || last) changed();
      first = false;
    });
    ["effect", "lagged"].forEach(function (name) { stream.addEventListener(name, changed); });
    stream.addEventListener("error", function () {
      live.textContent = "The daemon does not answer; trying again";
      last = last || 1;
    });
  }

  // A hidden page holds no connection: a browser has few of them for one host.
  function sleepOrWake() {
    if (document.hidden) {
      if (stream) stream.close();
      stream = null;
      last = last || 1;
    } else {
      watch();
    }
  }

  copyButtons(document);
  document.addEventListener("visibilitychange", sleepOrWake);
  sleepOrWake();
})();
