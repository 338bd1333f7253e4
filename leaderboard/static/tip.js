// Tooltips for pointer and keyboard: the text of `title` attributes in a box of our own.
(function () {
  "use strict";
  var box = null;
  var owner = null;

  function textOf(element) {
    if (element.hasAttribute("title")) {
      element.dataset.tip = element.getAttribute("title");
      element.removeAttribute("title");
    }
    return element.dataset.tip;
  }

  function show(element) {
    var text = textOf(element);
    if (!text || owner === element) return;
    hide();
    if (!box) {
      box = document.createElement("div");
      box.id = "tip";
      box.className = "tip";
      box.setAttribute("role", "tooltip");
      document.body.append(box);
    }
    owner = element;
    box.textContent = text;
    box.hidden = false;
    focusable(element).setAttribute("aria-describedby", "tip");
    place(element);
  }

  function focusable(element) {
    return element.querySelector("button, a") || element;
  }

  function place(element) {
    var at = element.getBoundingClientRect();
    var size = box.getBoundingClientRect();
    var left = Math.max(8, Math.min(innerWidth - size.width - 8, at.left + at.width / 2 - size.width / 2));
    var top = at.bottom + 8;
    if (top + size.height > innerHeight - 8) top = Math.max(8, at.top - size.height - 8);
    box.style.left = left + "px";
    box.style.top = top + "px";
  }

  function hide() {
    if (!owner) return;
    focusable(owner).removeAttribute("aria-describedby");
    owner = null;
    box.hidden = true;
  }

  function find(event) {
    return event.target.closest ? event.target.closest("[title], [data-tip]") : null;
  }

  document.addEventListener("mouseover", function (event) {
    var element = find(event);
    if (element) show(element);
    else hide();
  });
  document.addEventListener("focusin", function (event) {
    var element = find(event);
    if (element) show(element);
    else hide();
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") hide();
  });
  document.addEventListener("scroll", hide, true);
})();
