// Fits the height of an e-mail's frame to its content. No script runs inside the frame.
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
