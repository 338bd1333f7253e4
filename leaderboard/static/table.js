// Sorting: every column head becomes a button; numbers sort as numbers, cells without a value come last in
// both directions, equal rows keep their order. Pinned rows stay on top; limited ones keep to themselves.
(function () {
  "use strict";
  var Bench = (window.Bench = window.Bench || {});
  var tables = Array.prototype.map.call(document.querySelectorAll("table.board"), prepare);

  function prepare(table) {
    var heads = Array.prototype.slice.call(table.tHead.rows[table.tHead.rows.length - 1].cells);
    var parts = Array.prototype.filter.call(table.tBodies, function (body) {
      return !body.classList.contains("pinned");
    });
    var sorted = table.querySelector("th[aria-sort]");
    heads.forEach(function (head) {
      var label = head.querySelector(".h");
      var button = document.createElement("button");
      button.type = "button";
      button.className = "h";
      button.append.apply(button, label.childNodes);
      label.replaceWith(button);
      button.addEventListener("click", function () {
        Bench.state.set({ sort: next(head) });
      });
    });
    return {
      table: table,
      heads: heads,
      parts: parts.map(function (body) {
        return { body: body, original: Array.prototype.slice.call(body.rows) };
      }),
      first: sorted ? { key: sorted.dataset.key, order: sorted.getAttribute("aria-sort") } : null,
    };
  }

  // First click: best first (names: A first); second click: the other way round.
  function next(head) {
    var best = bestFirst(head) === "descending" ? "-" : "";
    var other = best ? "" : "-";
    var order = head.getAttribute("aria-sort");
    var now = order ? (order === "descending" ? "-" : "") : null;
    return (now === best ? other : best) + head.dataset.key;
  }

  function bestFirst(head) {
    return head.dataset.better === "max" && !head.dataset.target ? "descending" : "ascending";
  }

  function numberOf(cell, target) {
    var text = cell.dataset.v;
    if (text === undefined) return NaN;
    return target === undefined ? Number(text) : Math.abs(Number(text) - Number(target));
  }

  function sort(rows, head, index, descending) {
    var sign = descending ? -1 : 1;
    var keyed;
    if (head.dataset.type === "text") {
      var collator = new Intl.Collator("en", { numeric: true });
      keyed = rows.map(function (row) {
        return { row: row, value: row.cells[index].textContent };
      });
      keyed.sort(function (a, b) {
        return sign * collator.compare(a.value, b.value);
      });
    } else {
      keyed = rows.map(function (row) {
        return { row: row, value: numberOf(row.cells[index], head.dataset.target) };
      });
      keyed.sort(function (a, b) {
        var noA = a.value !== a.value;
        var noB = b.value !== b.value;
        if (noA || noB) return noA - noB;
        return sign * (a.value - b.value);
      });
    }
    return keyed.map(function (item) {
      return item.row;
    });
  }

  // Rows beyond the first slice follow in the next frames: what is in sight is sorted at once, and the browser
  // never lays out a thousand rows in one go. Whoever needs all rows calls `settle` first.
  var SLICE = 150;
  var pending = [];

  function place(body, rows) {
    body.replaceChildren.apply(body, rows.slice(0, SLICE));
    if (rows.length <= SLICE) return;
    pending.push({ body: body, rows: rows, at: SLICE });
    if (pending.length === 1) requestAnimationFrame(more);
  }

  function more() {
    if (!pending.length) return;
    var first = pending[0];
    first.body.append.apply(first.body, first.rows.slice(first.at, first.at + SLICE));
    first.at += SLICE;
    if (first.at >= first.rows.length) pending.shift();
    if (pending.length) requestAnimationFrame(more);
  }

  function settle() {
    pending.splice(0).forEach(function (rest) {
      rest.body.append.apply(rest.body, rest.rows.slice(rest.at));
    });
  }
  Bench.settle = settle;

  function show(entry) {
    var wanted = Bench.state.get("sort");
    var descending = wanted.charAt(0) === "-";
    var key = descending ? wanted.slice(1) : wanted;
    var index = entry.heads.findIndex(function (head) {
      return head.dataset.key === key;
    });
    if (index < 0 && !entry.moved) return;
    entry.moved = index >= 0;
    entry.parts.forEach(function (part) {
      var rows = index < 0 ? part.original : sort(part.original, entry.heads[index], index, descending);
      place(part.body, rows);
    });
    entry.heads.forEach(function (head, i) {
      var order = null;
      if (index < 0 && entry.first && head.dataset.key === entry.first.key) order = entry.first.order;
      if (i === index) order = descending ? "descending" : "ascending";
      if (order) head.setAttribute("aria-sort", order);
      else head.removeAttribute("aria-sort");
    });
  }

  var last = null;
  if (tables.length)
    Bench.state.listen(function () {
      var wanted = Bench.state.get("sort");
      if (wanted === last) return;
      var quiet = last === null;
      last = wanted;
      settle();
      tables.forEach(show);
      if (!quiet) Bench.announce(wanted ? "Sorted by " + wanted.replace(/^-/, "") : "Original order");
    });
})();
