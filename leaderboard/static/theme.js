// Sets the chosen theme before the page is painted, and lets the button change it.
(function () {
  "use strict";
  var root = document.documentElement;
  var KEY = "bench-theme";
  root.classList.add("js");

  function stored() {
    try {
      return localStorage.getItem(KEY);
    } catch (error) {
      return null; // storage may be switched off; the system's preference then decides
    }
  }

  function apply(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  }

  function current() {
    if (root.dataset.theme) return root.dataset.theme;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  apply(stored());

  document.addEventListener("click", function (event) {
    if (!event.target.closest("[data-theme-toggle]")) return;
    var next = current() === "dark" ? "light" : "dark";
    apply(next);
    try {
      localStorage.setItem(KEY, next);
    } catch (error) {
      // the choice then lasts for this page only
    }
    document.dispatchEvent(new CustomEvent("bench:theme"));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
    document.dispatchEvent(new CustomEvent("bench:theme"));
  });
})();
