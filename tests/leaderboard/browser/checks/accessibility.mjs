// axe-core on every page type, in both themes; and use by keyboard alone.
import axeCore from "axe-core";
import { PAGES } from "../kit.mjs";

async function axe(kit, theme) {
  for (const path of PAGES) {
    const page = await kit.open(path, { theme });
    await page.$$eval("details:not(.menu)", (all) => all.forEach((details) => (details.open = true)));
    await page.evaluate(axeCore.source); // as a tool of the browser, which the page's policy does not bind
    const { violations, passes } = await page.evaluate(() => window.axe.run(document, { preload: false }));
    kit.expect(passes.length > 5, `${path}: axe ran hardly any rule`);
    for (const found of violations) {
      const where = found.nodes.slice(0, 3).map((node) => `${node.target} (${(node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? ""})`);
      kit.problem(`${path} ${theme}: ${found.id}: ${found.help}: ${where.join(" | ")}`);
    }
    await page.close();
  }
}

export async function axe_light(kit) {
  await axe(kit, "light");
}

export async function axe_dark(kit) {
  await axe(kit, "dark");
}

export async function keyboard_reaches_and_sorts(kit) {
  const page = await kit.open("index.html");
  await page.keyboard.press("Tab");
  kit.equal(await page.evaluate(() => document.activeElement.className), "skip-link", "first stop of the Tab key");
  await page.keyboard.press("Enter");
  kit.equal(await page.evaluate(() => document.activeElement.id), "main", "where the skip link leads");
  await page.focus('table.board th[data-key="model"] button');
  await page.keyboard.press("Enter");
  kit.equal(
    await page.$eval('table.board th[data-key="model"]', (head) => head.getAttribute("aria-sort")),
    "ascending",
    "aria-sort after Enter",
  );
  kit.expect((await page.$eval("[data-announce]", (place) => place.textContent)).includes("model"), "sorting is announced");
}

export async function definitions_show_on_focus(kit) {
  const page = await kit.open("task/images.fidelity.html");
  await page.focus('table.board th[data-key="fd"] button');
  const tip = await page.$eval("#tip", (box) => ({ text: box.textContent, shown: !box.hidden }));
  kit.expect(tip.shown && tip.text.includes("Fréchet distance of two Gaussians"), `tooltip says ${JSON.stringify(tip)}`);
  kit.expect(tip.text.includes("lower is better"), "the tooltip gives the direction");
  const described = await page.evaluate(() => document.activeElement.getAttribute("aria-describedby"));
  kit.equal(described, "tip", "what describes the focused head");
  await page.keyboard.press("Escape");
  kit.expect(await page.$eval("#tip", (box) => box.hidden), "Escape closes the tooltip");
}
