// Selected models: a box in every row; which are ticked, and whether only those are shown, stands in the
// address as sel=a,b and only=1. Two selected models can be compared.
(function () {
  "use strict";
  var Bench = (window.Bench = window.Bench || {});
  var bar = document.querySelector("[data-selection]");
  if (!bar) return;
  var boxes = [];

  document.querySelectorAll("table.board tbody tr[data-model]").forEach(function (row) {
    var box = document.createElement("input");
    box.type = "checkbox";
    box.className = "pick";
    box.value = row.dataset.model;
    box.setAttribute("aria-label", "Select " + row.cells[0].querySelector("a").textContent);
    row.cells[0].prepend(box);
    boxes.push(box);
  });

  document.addEventListener("change", function (event) {
    if (!event.target.classList.contains("pick")) return;
    var chosen = Bench.state.list("sel").filter(function (name) {
      return name !== event.target.value;
    });
    if (event.target.checked) chosen.push(event.target.value);
    Bench.state.set({ sel: chosen.join(","), only: chosen.length ? Bench.state.get("only") : "" });
  });
  bar.querySelector("[data-only]").addEventListener("click", function () {
    Bench.state.set({ only: Bench.state.get("only") ? "" : "1" });
  });
  bar.querySelector("[data-clear]").addEventListener("click", function () {
    Bench.state.set({ sel: "", only: "" });
  });

  var before = "";
  Bench.state.listen(function () {
    var now = Bench.state.get("sel") + "|" + Bench.state.get("only");
    if (now === before) return;
    before = now;
    var chosen = Bench.state.list("sel");
    boxes.forEach(function (box) {
      box.checked = chosen.indexOf(box.value) >= 0;
      box.closest("tr").classList.toggle("picked", box.checked);
    });
    bar.hidden = !chosen.length;
    bar.querySelector("[data-count]").textContent = chosen.length + " selected";
    bar.querySelector("[data-only]").setAttribute("aria-pressed", String(Boolean(Bench.state.get("only"))));
    var link = bar.querySelector("[data-compare]");
    link.hidden = chosen.length !== 2;
    if (chosen.length === 2)
      link.href = document.body.dataset.base + "compare.html#a=" + encodeURIComponent(chosen[0]) + "&b=" + encodeURIComponent(chosen[1]);
  });
})();
