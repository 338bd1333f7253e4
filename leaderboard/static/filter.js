// Text filter and chips: which rows (and, on the overview, which families) are shown.
(function () {
  "use strict";
  var Bench = (window.Bench = window.Bench || {});
  var toolbar = document.querySelector("[data-toolbar]");
  if (!toolbar) return;
  var input = toolbar.elements.q;
  var chips = Array.prototype.slice.call(document.querySelectorAll("[data-chip]"));

  toolbar.addEventListener("submit", function (event) {
    event.preventDefault();
  });
  input.addEventListener("input", function () {
    Bench.state.set({ q: input.value }, true);
  });
  chips.forEach(function (chip) {
    chip.addEventListener("click", function () {
      var chosen = Bench.state.list(chip.dataset.chip);
      var at = chosen.indexOf(chip.dataset.value);
      if (at < 0) chosen.push(chip.dataset.value);
      else chosen.splice(at, 1);
      var patch = {};
      patch[chip.dataset.chip] = chosen.join(",");
      Bench.state.set(patch);
    });
  });

  function matches(row, words, roles, tags, only) {
    var text = row.cells[0].textContent.toLowerCase();
    var own = (row.dataset.tags || "").split(" ");
    return (
      (!only || only.indexOf(row.dataset.model) >= 0) &&
      words.every(function (word) {
        return text.indexOf(word) >= 0;
      }) &&
      (!roles.length || roles.indexOf(row.dataset.role) >= 0) &&
      (!tags.length ||
        tags.some(function (tag) {
          return own.indexOf(tag) >= 0;
        }))
    );
  }

  function show() {
    var words = Bench.state.get("q").toLowerCase().split(/\s+/).filter(Boolean);
    var roles = Bench.state.list("role");
    var tags = Bench.state.list("tag");
    var families = Bench.state.list("fam");
    var only = Bench.state.get("only") ? Bench.state.list("sel") : null;
    var total = 0;
    if (input.value !== Bench.state.get("q")) input.value = Bench.state.get("q");
    chips.forEach(function (chip) {
      var on = Bench.state.list(chip.dataset.chip).indexOf(chip.dataset.value) >= 0;
      chip.setAttribute("aria-pressed", String(on));
    });
    document.querySelectorAll("[data-family]").forEach(function (section) {
      section.hidden = families.length > 0 && families.indexOf(section.dataset.family) < 0;
    });
    document.querySelectorAll("table.board").forEach(function (table) {
      var shown = 0;
      Array.prototype.forEach.call(table.tBodies, function (body) {
        Array.prototype.forEach.call(body.rows, function (row) {
          row.hidden = !matches(row, words, roles, tags, only);
          if (!row.hidden) shown += 1;
        });
      });
      total += shown;
      var empty = table.closest(".scroll").nextElementSibling;
      if (empty && empty.classList.contains("empty")) empty.hidden = shown > 0;
    });
    return total;
  }

  var before = "";
  Bench.state.listen(function () {
    var now = ["q", "role", "tag", "fam", "only"].map(Bench.state.get).join("|");
    if (Bench.state.get("only")) now += Bench.state.get("sel");
    if (now === before) return;
    before = now;
    Bench.settle();
    var total = show();
    Bench.announce(total + (total === 1 ? " row shown" : " rows shown"));
  });
})();
