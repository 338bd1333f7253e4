// Buttons that copy: the address of the present view, or a command.
(function () {
  "use strict";
  var Bench = (window.Bench = window.Bench || {});

  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-copy-link], [data-copy-text]");
    if (!button) return;
    var text = button.hasAttribute("data-copy-text") ? button.previousElementSibling.textContent : location.href;
    copy(text).then(
      function () {
        confirm(button, "Copied");
      },
      function () {
        confirm(button, "Copying is not allowed here");
      }
    );
  });

  function copy(text) {
    if (navigator.clipboard && window.isSecureContext) {
      return navigator.clipboard.writeText(text).catch(function () {
        return copyOldWay(text);
      });
    }
    return copyOldWay(text);
  }

  // Pages opened from a file have no clipboard interface in some browsers.
  function copyOldWay(text) {
    var area = document.createElement("textarea");
    area.value = text;
    area.className = "vh";
    document.body.append(area);
    area.select();
    var done = document.execCommand("copy");
    area.remove();
    return done ? Promise.resolve() : Promise.reject(new Error("refused"));
  }

  function confirm(button, text) {
    var before = button.dataset.label || button.textContent;
    button.dataset.label = before;
    button.textContent = text;
    Bench.announce(text);
    setTimeout(function () {
      button.textContent = before;
    }, 1600);
  }
})();
