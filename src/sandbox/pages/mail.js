// Gives the frame of an e-mail the height of what is in it. Inside the frame no script runs.
(function () {
  "use strict";
  var frame = document.querySelector("iframe.mail");
  if (!frame || !window.ResizeObserver) return;

  function follow() {
    var inside = frame.contentDocument && frame.contentDocument.documentElement;
    if (!inside) return;
    new ResizeObserver(function () {
      var border = frame.offsetHeight - frame.clientHeight;
      frame.style.height = Math.ceil(inside.getBoundingClientRect().height) + border + "px";
    }).observe(inside);
  }

  frame.addEventListener("load", follow);
  follow();
})();
