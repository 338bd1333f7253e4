// The state of a page's view, kept readable in the address: #sort=-fd&q=flow&tag=likelihood
// A fragment without "=" is an ordinary anchor and left alone.
(function () {
  "use strict";
  var Bench = (window.Bench = window.Bench || {});
  var listeners = [];
  var values = read();

  function read() {
    var found = Object.create(null);
    var text = location.hash.slice(1);
    if (text.indexOf("=") < 0) return found;
    text.split("&").forEach(function (pair) {
      var at = pair.indexOf("=");
      if (at > 0) found[decode(pair.slice(0, at))] = decode(pair.slice(at + 1));
    });
    return found;
  }

  function decode(text) {
    try {
      return decodeURIComponent(text);
    } catch (error) {
      return text; // a broken escape is taken as it is
    }
  }

  function encode(text) {
    return encodeURIComponent(text).replace(/%(2C|3A|3D|2F|40)/g, decodeURIComponent);
  }

  function notify() {
    listeners.forEach(function (listen) {
      listen(values);
    });
  }

  Bench.state = {
    get: function (name) {
      return values[name] || "";
    },
    list: function (name) {
      return values[name] ? values[name].split(",") : [];
    },
    // Empty values leave the address. `replace` keeps the history short while somebody types.
    set: function (patch, replace) {
      Object.keys(patch).forEach(function (name) {
        if (patch[name]) values[name] = patch[name];
        else delete values[name];
      });
      var text = Object.keys(values)
        .sort()
        .map(function (name) {
          return encode(name) + "=" + encode(values[name]);
        })
        .join("&");
      var address = text ? "#" + text : location.pathname + location.search;
      history[replace ? "replaceState" : "pushState"](null, "", address);
      notify();
    },
    listen: function (listener) {
      listeners.push(listener);
      listener(values);
    },
  };

  Bench.announce = function (text) {
    var place = document.querySelector("[data-announce]");
    if (place) place.textContent = text;
  };

  function reread() {
    var hash = location.hash;
    if (hash && hash.indexOf("=") < 0) return;
    values = read();
    notify();
  }
  window.addEventListener("popstate", reread);
  window.addEventListener("hashchange", reread);
})();
