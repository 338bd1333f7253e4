// Charts: drawn when they come into view, from the JSON beside them; the library is loaded once, then.
(function () {
  "use strict";
  var Bench = (window.Bench = window.Bench || {});
  var plots = Array.prototype.slice.call(document.querySelectorAll("[data-plot]"));
  var drawn = [];
  var library = null;

  // The chart somebody points at stands in the address (chart=id) and is brought into view when it is opened.
  document.addEventListener("click", function (event) {
    var link = event.target.closest("[data-chart]");
    if (!link) return;
    event.preventDefault();
    Bench.state.set({ chart: link.dataset.chart });
  });
  var pointed = "";
  Bench.state.listen(function () {
    var id = Bench.state.get("chart");
    var figure = id && id !== pointed ? document.getElementById(id) : null;
    pointed = id;
    document.querySelectorAll(".fig.pointed").forEach(function (old) {
      old.classList.remove("pointed");
    });
    if (!figure || !figure.classList.contains("fig")) return;
    figure.classList.add("pointed");
    figure.scrollIntoView();
  });
  if (!plots.length) return;

  function load() {
    if (!library) {
      library = new Promise(function (resolve, reject) {
        var script = document.createElement("script");
        script.src = document.body.dataset.root + "assets/plotly.min.js";
        script.onload = resolve;
        script.onerror = reject;
        document.head.append(script);
      });
    }
    return library;
  }

  // The colour a CSS variable has now, as rgb(): what is declared may depend on the theme.
  function colour(name) {
    var probe = document.createElement("span");
    probe.style.color = "var(" + name + ")";
    document.body.append(probe);
    var found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  }

  // "--name" anywhere in the JSON stands for the CSS variable of that name.
  function themed(value) {
    if (typeof value === "string" && value.slice(0, 2) === "--") return colour(value);
    if (Array.isArray(value))
      return value.map(function (item) {
        return themed(item);
      });
    if (value && typeof value === "object") {
      var copy = {};
      Object.keys(value).forEach(function (key) {
        copy[key] = themed(value[key]);
      });
      return copy;
    }
    return value;
  }

  function axis(own) {
    var line = colour("--rule");
    return Object.assign({ gridcolor: line, zerolinecolor: line, linecolor: line, ticks: "", automargin: true }, own && own.type === "log" ? { dtick: 1 } : {}, own);
  }

  function draw(place) {
    var spec = themed(JSON.parse(document.getElementById(place.dataset.plot).textContent));
    var layout = Object.assign(
      {
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("--ink") },
        legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
        hovermode: "closest",
        hoverlabel: { bgcolor: colour("--raised"), bordercolor: colour("--rule-strong"), font: { color: colour("--ink") } },
        modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--ink") },
        height: 400,
      },
      spec.layout
    );
    layout.margin = Object.assign({ l: 60, r: 20, t: 40, b: 52 }, spec.layout.margin);
    layout.xaxis = axis(layout.xaxis);
    layout.yaxis = axis(layout.yaxis);
    place.replaceChildren();
    return window.Plotly.newPlot(place, spec.data, layout, { responsive: true, displaylogo: false, modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] });
  }

  function open(place) {
    place.querySelector(".wait").textContent = "Drawing the chart…";
    place.setAttribute("aria-busy", "true");
    load().then(
      function () {
        drawn.push(place);
        place.removeAttribute("aria-busy");
        return draw(place);
      },
      function () {
        place.querySelector(".wait").textContent = "The chart library could not be loaded; the table below has the same numbers.";
      }
    );
  }

  var watcher = new IntersectionObserver(
    function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting) return;
        watcher.unobserve(entry.target);
        open(entry.target);
      });
    },
    { rootMargin: "200px" }
  );
  plots.forEach(function (place) {
    place.querySelector(".wait").textContent = "The chart appears here.";
    watcher.observe(place);
  });
  document.addEventListener("bench:theme", function () {
    drawn.forEach(draw);
  });
})();
