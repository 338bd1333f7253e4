// Compares two models task by task: the paired t test over repeats, worked out here from the values in the
// page, or the evidence over samples that was worked out when the site was built. Models stand in the address.
(function () {
  "use strict";
  var Bench = (window.Bench = window.Bench || {});
  var place = document.getElementById("compare-data");
  if (!place) return;
  var data = JSON.parse(place.textContent);
  var choose = { a: document.getElementById("compare-a"), b: document.getElementById("compare-b") };
  var output = document.getElementById("comparison");
  var MINUS = "\u2212";

  // ln of the gamma function (Lanczos), for the incomplete beta function below.
  function logGamma(x) {
    var c = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2, -0.5395239384953e-5];
    var sum = 1.000000000190015;
    c.forEach(function (value, i) {
      sum += value / (x + 1 + i);
    });
    return (x + 0.5) * Math.log(x + 5.5) - (x + 5.5) + Math.log((2.5066282746310005 * sum) / x);
  }

  // Regularised incomplete beta function by its continued fraction (modified Lentz).
  function beta(x, a, b) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - beta(1 - x, b, a);
    var front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a;
    var tiny = 1e-300;
    var c = 1;
    var d = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
    var fraction = d;
    for (var m = 1; m < 300; m++) {
      var even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / nonzero(1 + even * d);
      c = nonzero(1 + even / c);
      fraction *= d * c;
      var odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / nonzero(1 + odd * d);
      c = nonzero(1 + odd / c);
      fraction *= d * c;
      if (Math.abs(d * c - 1) < 1e-14) break;
    }
    return front * fraction;
    function nonzero(value) {
      return Math.abs(value) < tiny ? tiny : value;
    }
  }

  // Two-sided p of Student's t, and the t whose two-sided p is given.
  function twoSided(t, df) {
    return beta(df / (df + t * t), df / 2, 0.5);
  }
  function quantile(p, df) {
    var low = 0;
    var high = 1e6;
    for (var i = 0; i < 120; i++) {
      var middle = (low + high) / 2;
      if (twoSided(middle, df) > p) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  function mean(values) {
    return (
      values.reduce(function (sum, value) {
        return sum + value;
      }, 0) / values.length
    );
  }

  // What two rows of repeats say; without a test where units are missing, single, or without spread.
  function overRepeats(task, a, b) {
    var known = [a, b].map(function (values) {
      return values.filter(function (value) {
        return value !== null;
      });
    });
    var result = { a: known[0].length ? mean(known[0]) : null, b: known[1].length ? mean(known[1]) : null, method: "" };
    if (result.a === null || result.b === null) return Object.assign(result, { words: "not run or failed" });
    var missing = [a.length - known[0].length, b.length - known[1].length];
    if (missing[0] || missing[1])
      return Object.assign(result, { difference: result.a - result.b, words: "not paired: " + missing[0] + " of A and " + missing[1] + " of B of " + a.length + " repeats are missing" });
    var sign = task.target === undefined ? 1 : -1;
    var d = a.map(function (value, i) {
      return task.target === undefined ? value - b[i] : Math.abs(value - task.target) - Math.abs(b[i] - task.target);
    });
    result.difference = mean(d);
    result.better = result.difference === 0 ? "" : (result.difference > 0) === (task.better === "max" && sign > 0) ? "A" : "B";
    if (d.length < 2) return Object.assign(result, { words: "one repeat: no claim possible" });
    var spread = Math.sqrt(
      d.reduce(function (sum, value) {
        return sum + Math.pow(value - result.difference, 2);
      }, 0) /
        (d.length - 1)
    );
    var scale = Math.max.apply(null, a.concat(b).map(Math.abs));
    // Values are given to six digits: a spread below that is rounding.
    if (spread <= 2e-6 * scale) {
      if (result.difference === 0) return Object.assign(result, { p: 1, low: 0, high: 0, method: "t" });
      return Object.assign(result, { words: "the same difference on every repeat: no claim possible" });
    }
    var error = spread * Math.sqrt(1 / d.length + (task.ratio || 0));
    var half = quantile(data.alpha, d.length - 1) * error;
    return Object.assign(result, {
      p: twoSided(Math.abs(result.difference) / error, d.length - 1),
      low: result.difference - half,
      high: result.difference + half,
      method: "t",
      n: d.length,
    });
  }

  function overSamples(task, i, j) {
    var found = (task.pairs || []).find(function (pair) {
      return (pair[0] === i && pair[1] === j) || (pair[0] === j && pair[1] === i);
    });
    if (!found) return null;
    var turned = found[0] !== i;
    var difference = turned ? -found[2] : found[2];
    return {
      difference: difference,
      low: turned ? -found[4] : found[3],
      high: turned ? -found[3] : found[4],
      logE: found[5],
      p: Math.min(1, 2 * Math.exp(-found[5])),
      better: difference === 0 ? "" : difference > 0 === (task.better === "max") ? "A" : "B",
      method: "anytime",
      n: task.samples,
    };
  }

  function compare(i, j) {
    var lines = data.tasks
      .filter(function (task) {
        return task.values[i] && task.values[j];
      })
      .map(function (task) {
        var line = overRepeats(task, task.values[i], task.values[j]);
        var evidence = overSamples(task, i, j);
        return { task: task, found: evidence ? Object.assign(line, { words: undefined }, evidence) : line };
      });
    holm(lines.filter(function (line) {
      return line.found.p !== undefined;
    }));
    return lines;
  }

  // Holm over all tasks of the comparison.
  function holm(lines) {
    var order = lines.slice().sort(function (x, y) {
      return x.found.p - y.found.p;
    });
    var largest = 0;
    order.forEach(function (line, i) {
      largest = Math.max(largest, Math.min(1, (order.length - i) * line.found.p));
      line.found.adjusted = largest;
    });
  }

  function verdict(found) {
    if (found.words) return found.words;
    if (found.adjusted > data.alpha) return "undecided";
    if (found.method === "anytime") return found.better + " beats " + (found.better === "A" ? "B" : "A") + " (valid at any time)";
    return found.better + " is better: differs in this data";
  }

  function digits(value) {
    if (value === null || value === undefined) return "none";
    var text = value !== 0 && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3) ? value.toExponential(2) : value.toPrecision(4);
    return text.replace(/-/g, MINUS);
  }

  function cell(row, text, kind) {
    var td = document.createElement("td");
    td.textContent = text;
    if (kind) td.className = kind;
    row.append(td);
    return td;
  }

  // The interval on an axis with zero in the middle.
  function whisker(td, found) {
    var reach = Math.max(Math.abs(found.low), Math.abs(found.high)) || 1;
    var x = function (value) {
      return Math.round(45 + (42 * value) / reach);
    };
    var svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "versus");
    svg.setAttribute("aria-hidden", "true");
    [
      ["zero", "M45 0v11"],
      ["", "M" + x(found.low) + " 5H" + x(found.high) + "M" + x(found.low) + " 3v4M" + x(found.high) + " 3v4M" + x(found.difference) + " 1v8"],
    ].forEach(function (part) {
      var path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      if (part[0]) path.setAttribute("class", part[0]);
      path.setAttribute("d", part[1]);
      svg.append(path);
    });
    td.append(svg);
  }

  function rowOf(line) {
    var found = line.found;
    var row = document.createElement("tr");
    var head = document.createElement("th");
    head.scope = "row";
    var link = document.createElement("a");
    link.href = line.task.href;
    link.textContent = line.task.title;
    head.append(link);
    row.append(head);
    var decided = !found.words && found.adjusted <= data.alpha;
    cell(row, verdict(found), decided ? (found.better === "A" ? "better" : "worse") : "none");
    var arrow = line.task.target !== undefined ? " \u2192 " + line.task.target : line.task.better === "max" ? " \u2191" : " \u2193";
    cell(row, digits(found.a), found.better === "A" ? "lead" : "");
    cell(row, digits(found.b), found.better === "B" ? "lead" : "");
    var difference = cell(row, found.difference === undefined ? "none" : digits(found.difference));
    if (found.low !== undefined) {
      var note = document.createElement("i");
      note.textContent = digits(found.low) + " \u2026 " + digits(found.high);
      difference.append(note);
      whisker(difference, found);
    }
    cell(row, found.adjusted === undefined ? "no test" : found.adjusted < 0.001 ? "<.001" : found.adjusted.toFixed(3), found.adjusted === undefined ? "none" : "");
    cell(row, line.task.metric + arrow);
    return row;
  }

  function sentence(lines, a, b) {
    var lead = { A: 0, B: 0 };
    var sure = { A: 0, B: 0 };
    lines.forEach(function (line) {
      if (!line.found.better) return;
      lead[line.found.better] += 1;
      if (!line.found.words && line.found.adjusted <= data.alpha) sure[line.found.better] += 1;
    });
    return (
      a.title + " (A) has the better mean on " + lead.A + ", " + b.title + " (B) on " + lead.B + " of " + lines.length + (lines.length === 1 ? " task" : " tasks") +
      "; after Holm's correction over these tasks " + sure.A + " and " + sure.B + " of them are decided."
    );
  }

  function fill(select, chosen) {
    select.replaceChildren();
    data.models.forEach(function (model) {
      var option = document.createElement("option");
      option.value = model.id;
      option.textContent = model.title + (model.role === "baseline" ? " (baseline)" : model.role === "bound" ? " (upper bound)" : "");
      option.selected = model.id === chosen;
      select.append(option);
    });
  }

  function find(id, otherwise) {
    var at = data.models.findIndex(function (model) {
      return model.id === id;
    });
    return at < 0 ? otherwise : at;
  }

  // Without an address: the first two contenders.
  function defaults() {
    var contenders = [];
    data.models.forEach(function (model, i) {
      if (model.role === "contender") contenders.push(i);
    });
    var all = contenders.length > 1 ? contenders : [0, 1];
    return [all[0], all[1]];
  }

  function show() {
    var first = defaults();
    var i = find(Bench.state.get("a"), first[0]);
    var j = find(Bench.state.get("b"), i === first[1] ? first[0] : first[1]);
    fill(choose.a, data.models[i].id);
    fill(choose.b, data.models[j].id);
    var body = output.querySelector("tbody");
    body.replaceChildren();
    var lines = i === j ? [] : compare(i, j);
    lines.forEach(function (line) {
      body.append(rowOf(line));
    });
    var words = i === j ? "Choose two different models." : lines.length ? sentence(lines, data.models[i], data.models[j]) : "These two models have no task in common.";
    output.querySelector("[data-summary]").textContent = words;
    output.querySelector(".scroll").hidden = !lines.length;
    output.querySelector("[data-command]").textContent = "bench compare " + data.models[i].id + " " + data.models[j].id;
    Bench.announce(words);
    Bench.comparison = lines; // for tests
  }

  choose.a.addEventListener("change", function () {
    Bench.state.set({ a: choose.a.value, b: choose.b.value });
  });
  choose.b.addEventListener("change", function () {
    Bench.state.set({ a: choose.a.value, b: choose.b.value });
  });
  document.querySelector("[data-swap]").addEventListener("click", function () {
    Bench.state.set({ a: choose.b.value, b: choose.a.value });
  });
  var last = null;
  Bench.state.listen(function () {
    var now = Bench.state.get("a") + "|" + Bench.state.get("b");
    if (now === last) return;
    last = now;
    show();
  });
})();
