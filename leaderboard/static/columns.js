// Columns: a menu per table, whose hidden columns stand in the address as hide=key,key; and the columns of
// single tasks in wide tables, which are folded until asked for (open=name,name).
(function () {
  "use strict";
  var Bench = (window.Bench = window.Bench || {});
  var entries = [];

  document.querySelectorAll("table.board").forEach(function (table) {
    var place = table.closest(".scroll").previousElementSibling;
    if (!place || !place.hasAttribute("data-tools")) return;
    var heads = Array.prototype.slice.call(table.tHead.rows[table.tHead.rows.length - 1].cells);
    var entry = { table: table, heads: heads, boxes: [], groups: groupsOf(table) };
    if (table.dataset.fold) place.append(folder(entry));
    place.append(menu(entry));
    entries.push(entry);
  });

  // The cells of the heading row above, each with the columns below it.
  function groupsOf(table) {
    if (table.tHead.rows.length < 2) return [];
    var at = 0;
    return Array.prototype.map.call(table.tHead.rows[0].cells, function (cell) {
      var group = { cell: cell, from: at, to: at + cell.colSpan };
      at = group.to;
      return group;
    });
  }

  // A style rule hides the columns of a folded table; the button only says whether it is folded.
  function folder(entry) {
    var button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    entry.folder = button;
    button.addEventListener("click", function () {
      var name = entry.table.dataset.name;
      var open = Bench.state.list("open").filter(function (other) {
        return other !== name;
      });
      if (button.getAttribute("aria-expanded") === "false") open.push(name);
      Bench.state.set({ open: open.join(",") });
    });
    return button;
  }

  function fold(entry, open) {
    if (!entry.folder) return;
    var shown = open.indexOf(entry.table.dataset.name) >= 0;
    entry.table.classList.toggle("open", shown);
    entry.folder.setAttribute("aria-expanded", String(shown));
    entry.folder.textContent = (shown ? "Hide the " : "Show all ") + entry.table.dataset.fold + " tasks";
  }

  function menu(entry) {
    var details = document.createElement("details");
    details.className = "menu";
    var summary = document.createElement("summary");
    summary.textContent = "Columns";
    var list = document.createElement("div");
    list.className = "items";
    entry.heads.slice(1).forEach(function (head) {
      var label = document.createElement("label");
      var box = document.createElement("input");
      box.type = "checkbox";
      box.addEventListener("change", function () {
        toggle(head.dataset.key, !box.checked);
      });
      label.append(box, " " + head.querySelector(".h").textContent.trim());
      list.append(label);
      entry.boxes.push(box);
    });
    details.append(summary, list);
    return details;
  }

  function toggle(key, hide) {
    var hidden = Bench.state.list("hide").filter(function (name) {
      return name !== key;
    });
    if (hide) hidden.push(key);
    Bench.state.set({ hide: hidden.join(",") });
  }

  function show(entry, hidden) {
    var off = entry.heads.map(function (head, i) {
      return i > 0 && hidden.indexOf(head.dataset.key) >= 0;
    });
    entry.boxes.forEach(function (box, i) {
      box.checked = !off[i + 1];
    });
    var rows = [entry.table.tHead.rows[entry.table.tHead.rows.length - 1]];
    Array.prototype.forEach.call(entry.table.tBodies, function (body) {
      rows = rows.concat(Array.prototype.slice.call(body.rows));
    });
    rows.forEach(function (row) {
      off.forEach(function (hide, i) {
        row.cells[i].hidden = hide;
      });
    });
    entry.groups.forEach(function (group) {
      var width = off.slice(group.from, group.to).filter(function (hide) {
        return !hide;
      }).length;
      group.cell.hidden = width === 0;
      if (width) group.cell.colSpan = width;
    });
  }

  Bench.state.listen(function () {
    entries.forEach(function (entry) {
      fold(entry, Bench.state.list("open"));
    });
  });

  var before = "";
  Bench.state.listen(function () {
    var now = Bench.state.get("hide");
    if (now === before && before !== "") return;
    if (now === "" && before === "") {
      entries.forEach(function (entry) {
        entry.boxes.forEach(function (box) {
          box.checked = true;
        });
      });
      return;
    }
    before = now;
    Bench.settle();
    entries.forEach(function (entry) {
      show(entry, now ? now.split(",") : []);
    });
  });

  // A click elsewhere or Escape closes an open menu.
  document.addEventListener("click", function (event) {
    document.querySelectorAll("details.menu[open]").forEach(function (open) {
      if (!open.contains(event.target)) open.open = false;
    });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape") return;
    document.querySelectorAll("details.menu[open]").forEach(function (open) {
      open.open = false;
      open.querySelector("summary").focus();
    });
  });
})();
