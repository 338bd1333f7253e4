// Download of a table as it is shown: visible rows and columns, in the present order.
(function () {
  "use strict";

  document.querySelectorAll("table.board").forEach(function (table) {
    var place = table.closest(".scroll").previousElementSibling;
    if (!place || !place.hasAttribute("data-tools")) return;
    var button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = "CSV";
    button.setAttribute("aria-label", "Download the visible table as CSV");
    button.addEventListener("click", function () {
      window.Bench.settle();
      download(table.dataset.name + ".csv", csvOf(table));
    });
    place.append(button);
  });

  function csvOf(table) {
    var head = table.tHead.rows[table.tHead.rows.length - 1];
    var columns = Array.prototype.filter.call(head.cells, shown).map(function (cell) {
      return cell.cellIndex;
    });
    var lines = [[]];
    columns.forEach(function (i) {
      var key = head.cells[i].dataset.key;
      lines[0].push(key);
      if (i > 0) lines[0].push(key + " note");
    });
    Array.prototype.forEach.call(table.tBodies, function (body) {
      Array.prototype.filter.call(body.rows, visible).forEach(function (row) {
        var line = [];
        columns.forEach(function (i) {
          if (i === 0) line.push(row.cells[0].querySelector("a").textContent);
          else line.push.apply(line, valueOf(row.cells[i]));
        });
        lines.push(line);
      });
    });
    return lines
      .map(function (line) {
        return line.map(quote).join(",");
      })
      .join("\r\n");
  }

  function visible(element) {
    return !element.hidden;
  }

  // Columns can also be folded by the style sheet.
  function shown(cell) {
    return cell.getClientRects().length > 0;
  }

  // The number (or the word that stands for it), and the interval as shown.
  function valueOf(cell) {
    var note = cell.querySelector("i");
    if (cell.dataset.v === undefined) return [note ? cell.firstChild.textContent.trim() : cell.textContent.trim(), note ? note.textContent : ""];
    return [Number(cell.dataset.v), note ? note.textContent : ""];
  }

  // A text that begins like a formula gets an apostrophe; numbers stay numbers.
  function quote(value) {
    if (typeof value === "number") return String(value);
    var text = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  function download(name, text) {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff" + text + "\r\n"], { type: "text/csv;charset=utf-8" }));
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(function () {
      URL.revokeObjectURL(link.href);
    }, 1000);
  }
})();
