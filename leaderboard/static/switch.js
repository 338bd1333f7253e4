// Switches between views of the same data set (facets): one is shown, the choice stands in the address.
(function () {
  "use strict";
  var Bench = (window.Bench = window.Bench || {});
  var switches = Array.prototype.slice.call(document.querySelectorAll("[data-switch]"));

  switches.forEach(function (group) {
    group.addEventListener("click", function (event) {
      var button = event.target.closest("button");
      if (!button) return;
      var patch = {};
      patch[group.dataset.switch] = button.dataset.value;
      Bench.state.set(patch);
    });
  });

  function show(group) {
    var buttons = Array.prototype.slice.call(group.querySelectorAll("button"));
    var wanted = Bench.state.get(group.dataset.switch);
    var known = buttons.some(function (button) {
      return button.dataset.value === wanted;
    });
    var value = known ? wanted : buttons[0].dataset.value;
    buttons.forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.value === value));
    });
    var cases = group.parentElement.querySelectorAll("[data-case]");
    Array.prototype.forEach.call(cases, function (part) {
      part.hidden = part.dataset.case !== value;
    });
  }

  if (switches.length)
    Bench.state.listen(function () {
      switches.forEach(show);
    });
})();
