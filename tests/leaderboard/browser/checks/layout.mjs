// Narrow screens, themes, print, and no JavaScript.
import { PAGES } from "../kit.mjs";

export async function no_page_scrolls_sideways(kit) {
  for (const path of PAGES) {
    const page = await kit.open(path);
    for (const width of [360, 900, 1500]) {
      await page.setViewport({ width, height: 900 });
      const extra = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      kit.expect(extra <= 0, `${path} at ${width} px is ${extra} px too wide`);
    }
    await page.close();
  }
}

export async function head_and_names_stay_in_sight(kit) {
  const page = await kit.open("task/images.fidelity.html", { width: 360, height: 700 });
  const moved = await page.$eval(".scroll:has(table.board)", (box) => {
    box.style.maxHeight = "300px";
    box.scrollTop = 200;
    box.scrollLeft = 400;
    const at = box.getBoundingClientRect();
    const name = box.querySelector("tbody:not(.pinned) th").getBoundingClientRect();
    const head = box.querySelector("thead th:nth-child(3)").getBoundingClientRect();
    return { scrolled: [box.scrollTop, box.scrollLeft], left: name.left - at.left, top: head.top - at.top };
  });
  kit.equal(moved.scrolled, [200, 400], "the table scrolls in its own box");
  kit.expect(Math.abs(moved.left) <= 2, `names moved by ${moved.left} px`);
  kit.expect(Math.abs(moved.top) <= 2, `the head moved by ${moved.top} px`);
}

export async function theme_is_kept(kit) {
  const page = await kit.open("index.html", { theme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.click("[data-theme-toggle]");
  const dark = await ground();
  kit.expect(light !== dark, "the button changes the colours");
  await page.reload();
  kit.equal(await ground(), dark, "colours after loading again");
  await page.goto(kit.address("methods.html"));
  kit.equal(await ground(), dark, "colours of another page");
  await page.click("[data-theme-toggle]");
  kit.equal(await ground(), light, "colours after the second click");
}

export async function prints_without_controls(kit) {
  const page = await kit.open("index.html");
  await page.emulateMediaType("print");
  const shown = await page.$$eval(".top, .toolbar, .tools", (all) => all.filter((part) => part.getClientRects().length).length);
  kit.equal(shown, 0, "controls on paper");
  const cut = await page.$eval(".scroll", (box) => getComputedStyle(box).overflow);
  kit.equal(cut, "visible", "overflow of tables on paper");
}

export async function works_without_javascript(kit) {
  const page = await kit.open("task/images.fidelity.html", { script: false });
  const visible = (selector) => page.$$(selector).then((all) => Promise.all(all.map((one) => one.isVisible())));
  const rows = await visible("table.board tbody tr");
  kit.expect(rows.length > 20 && rows.every(Boolean), "all rows of all facets are shown");
  kit.expect((await visible("table.board svg")).every(Boolean), "whiskers are shown");
  kit.expect((await visible(".js-only")).every((shown) => !shown), "controls that need JavaScript are hidden");
  kit.expect((await visible(".sheets img")).length >= 8, "pictures are there");
  const waiting = await page.$$(".wait");
  kit.expect(waiting.length > 0 && (await waiting[0].isVisible()), "charts say what they need");
  const text = await (await waiting[0].getProperty("textContent")).jsonValue();
  kit.expect(text.includes("needs JavaScript"), `charts say ${text}`);
  await page.goto(await page.$eval("td.fail a", (link) => link.href));
  const target = await page.$("article:target");
  kit.expect(target && (await target.isVisible()), "a failed cell leads to its failure");
}
