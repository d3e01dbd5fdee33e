// Filters the operations by every word of the search. Without scripts, use the index and the browser's search.
(function () {
  "use strict";
  var box = document.getElementById("search");
  var count = document.getElementById("found");
  var all = Array.prototype.slice.call(document.querySelectorAll("details.operation"));
  if (!box) return;
  box.parentElement.hidden = false;

  function find() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    var found = all.filter(function (one) {
      var text = one.textContent.toLowerCase();
      one.hidden = !words.every(function (word) {
        return text.indexOf(word) >= 0;
      });
      return !one.hidden;
    });
    Array.prototype.forEach.call(document.querySelectorAll("section.group"), function (group) {
      group.hidden = !group.querySelector("details.operation:not([hidden])");
    });
    count.textContent = words.length ? found.length + (found.length === 1 ? " operation" : " operations") : "";
    if (found.length === 1 && words.length) found[0].open = true;
  }

  // Opens the operation that the address links to.
  function unfold() {
    var named = window.location.hash && document.getElementById(window.location.hash.slice(1));
    if (named && named.tagName === "DETAILS") named.open = true;
  }

  box.addEventListener("input", find);
  window.addEventListener("hashchange", unfold);
  find();
  unfold();
})();
