// Sorting, filters, columns, downloads and the address.
import { column, hash, visibleModels } from "../kit.mjs";

const TASK = "task/images.fidelity.html";
const INDEX_MNIST = "images.fidelity~mnist5k";
const sorted = (numbers, sign) => numbers.every((value, i) => i === 0 || sign * (value - numbers[i - 1]) >= 0);

function click(page, key) {
  return page.$eval(`table.board th[data-key="${key}"] button`, (button) => button.click());
}

export async function sorts_numbers_with_missing_last(kit) {
  const page = await kit.open("index.html");
  for (const [sign, order] of [
    [1, "ascending"],
    [-1, "descending"],
  ]) {
    await click(page, INDEX_MNIST);
    const found = await column(page, INDEX_MNIST);
    const numbers = found.map(Number).filter((value) => !Number.isNaN(value));
    kit.expect(numbers.length >= 5, `only ${numbers.length} numbers to sort`);
    kit.expect(sorted(numbers, sign), `not ${order}: ${numbers}`);
    kit.expect(found.slice(numbers.length).every((text) => Number.isNaN(Number(text))), `words are not last: ${found}`);
    kit.expect(found.includes("error") && found.includes("skipped") && found.includes("not run"), `cells say ${found}`);
    kit.equal(await page.$eval(`th[data-key="${INDEX_MNIST}"]`, (head) => head.getAttribute("aria-sort")), order, "aria-sort");
    kit.equal(await page.$$eval("table.board", (tables) => tables[0].querySelectorAll("[aria-sort]").length), 1, "sorted columns");
    kit.equal((await visibleModels(page))[0], "Held-out real images", "first row");
  }
}

export async function sorts_by_distance_to_a_target(kit) {
  const page = await kit.open(TASK);
  await click(page, "g2r_ratio");
  const far = (await column(page, "g2r_ratio")).map((text) => Math.abs(Number(text) - 1));
  kit.expect(far.length > 5 && sorted(far, 1), `not by distance to 1: ${far}`);
}

export async function sorting_is_stable_and_limited_rows_stay_apart(kit) {
  const page = await kit.open(TASK);
  const before = await visibleModels(page);
  await click(page, "date"); // equal for all rows
  kit.equal(await visibleModels(page), before, "order of equal rows");
  await click(page, "chamfer_dev");
  await click(page, "chamfer_dev");
  const limited = await page.$eval("table.board tbody.limited", (body) => body.rows.length);
  kit.equal(limited, 1, "limited rows below the others");
}

export async function filters_by_text(kit) {
  const page = await kit.open("index.html");
  await page.type("input[name=q]", "gauss");
  kit.equal(await visibleModels(page), ["Mixture of 50 Gaussians", "Gaussian with exact moments", "Mixture of 50 Gaussians"], "rows");
  kit.equal(await hash(page), "#q=gauss", "address");
  await page.type("input[name=q]", "zzz");
  kit.equal(await visibleModels(page), [], "rows of a filter that matches nothing");
  kit.expect(await page.$eval(".empty", (note) => !note.hidden), "the page says that nothing matches");
}

export async function filters_by_chips(kit) {
  const page = await kit.open("index.html");
  const press = (kind, value) => page.$eval(`[data-chip="${kind}"][data-value="${value}"]`, (chip) => chip.click());
  await press("role", "baseline");
  kit.expect((await visibleModels(page)).every((name) => /Gaussian with|Mean image|Uniform/.test(name)), "only baselines");
  kit.equal((await visibleModels(page)).length, 3, "number of baselines");
  await press("role", "baseline");
  await press("tag", "latent");
  await press("tag", "flow");
  kit.equal((await visibleModels(page)).sort(), ["Flow matching", "Variational autoencoder"], "either tag");
  kit.equal(await hash(page), "#tag=latent,flow", "address");
  await press("fam", "retired");
  kit.expect(await page.$eval('[data-family="images"]', (part) => part.hidden), "other families are hidden");
}

export async function restores_the_view_from_the_address(kit) {
  const page = await kit.open(`index.html#q=mixture&sort=-${INDEX_MNIST}&hide=time,memory`);
  kit.expect((await visibleModels(page)).every((name) => name.startsWith("Mixture")), "filter");
  kit.equal(await page.$eval(`th[data-key="${INDEX_MNIST}"]`, (head) => head.getAttribute("aria-sort")), "descending", "order");
  kit.expect(await page.$eval('th[data-key="time"]', (head) => head.hidden), "hidden column");
  kit.equal(await page.$eval("input[name=q]", (input) => input.value), "mixture", "text of the filter");
  await page.goto(`${kit.address("index.html")}#sort=&q=%E0%A4%A&unknown=1&=&&x`);
  await page.goto(`${kit.address(TASK)}#facet=encoder=pixels,k=5`);
  const shown = await page.$$eval("[data-case]", (all) => all.filter((part) => !part.hidden).map((part) => part.dataset.case));
  kit.equal(shown.slice(0, 2), ["encoder=pixels,k=5", "encoder=pixels,k=5"], "facets shown");
}

export async function back_button_undoes(kit) {
  const page = await kit.open("index.html");
  const before = await visibleModels(page);
  await click(page, "model");
  const after = await visibleModels(page);
  kit.expect(JSON.stringify(before) !== JSON.stringify(after), "sorting by name changes the order");
  await page.goBack();
  await page.waitForFunction(() => location.hash === "");
  kit.equal(await visibleModels(page), before, "order after going back");
  await page.goForward();
  await page.waitForFunction(() => location.hash !== "");
  kit.equal(await visibleModels(page), after, "order after going forward");
}

export async function copies_the_link(kit) {
  const page = await kit.open("index.html#q=flow", {
    before: () => {
      window.copied = [];
      document.execCommand = () => window.copied.push(document.activeElement.value);
      Object.defineProperty(navigator, "clipboard", { value: undefined });
    },
  });
  await page.$eval("[data-copy-link]", (button) => button.click());
  const copied = await page.evaluate(() => window.copied);
  kit.equal(copied, [`${kit.address("index.html")}#q=flow`], "what was copied");
}

export async function hides_columns(kit) {
  const page = await kit.open(TASK);
  await page.$eval("details.menu", (menu) => {
    menu.open = true;
    [...menu.querySelectorAll("label")].find((label) => label.textContent.trim().startsWith("FD")).click();
  });
  kit.equal(await hash(page), "#hide=fd", "address");
  const hidden = await page.$$eval("table.board", (tables) =>
    tables.map((table) => {
      const index = [...table.tHead.rows[0].cells].findIndex((cell) => cell.dataset.key === "fd");
      return [...table.rows].every((row) => row.cells[index].hidden);
    }),
  );
  kit.expect(hidden.length > 3 && hidden.every(Boolean), `hidden in every table: ${hidden}`);
  await page.goBack();
  await page.waitForFunction(() => location.hash === "");
  kit.expect(await page.$eval('th[data-key="fd"]', (head) => !head.hidden), "shown again after going back");
}

export async function downloads_what_is_shown(kit) {
  const page = await kit.open(`index.html#sort=model&hide=date,memory`, {
    before: () => {
      window.blobs = [];
      URL.createObjectURL = (blob) => (window.blobs.push(blob), "blob:none");
      HTMLAnchorElement.prototype.click = function () {
        window.file = this.download;
      };
    },
  });
  await page.$$eval(".tools button", (buttons) => buttons.find((button) => button.textContent === "CSV").click());
  const text = await page.evaluate(() => window.blobs[0].text());
  const rows = text.replace(/^\ufeff/, "").trim().split("\r\n");
  kit.equal(await page.evaluate(() => window.file), "small-images.csv", "file name");
  kit.expect(rows[0].startsWith(`model,rank,rank note,mean_rank,mean_rank note,win_rate,win_rate note,rating,rating note,jobs,jobs note,images.fidelity~digits`), `head: ${rows[0]}`);
  kit.expect(!/date|memory/.test(rows[0]), "hidden columns are left out");
  const names = (await visibleModels(page)).map((name) => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name));
  kit.equal(rows.slice(1).map((row, i) => row.startsWith(`${names[i]},`)), names.map(() => true), "rows in the order shown");
  kit.expect(rows.some((row) => /^Variational autoencoder,\d+,.*,0\.\d+,±0\.\d+,error,,/.test(row)), "a status word stands where a value is missing");
}

export async function tasks_of_a_wide_table_unfold(kit) {
  const page = await kit.open("index.html", { site: "large" });
  const shown = () => page.$eval("table.fold", (table) => [...table.tHead.rows[1].cells].filter((cell) => cell.getClientRects().length).length);
  kit.equal(await shown(), 9, "columns of a folded table");
  const button = await page.evaluateHandle(() => [...document.querySelectorAll(".tools button")].find((one) => one.textContent === "Show all 30 tasks"));
  kit.equal(await button.evaluate((one) => one.getAttribute("aria-expanded")), "false", "aria-expanded");
  await button.focus();
  await page.keyboard.press("Enter");
  kit.equal(await shown(), 39, "columns of the unfolded table");
  kit.equal(await hash(page), "#open=small-images", "address");
  kit.equal(await button.evaluate((one) => one.textContent), "Hide the 30 tasks", "the button");
  await page.goBack();
  await page.waitForFunction(() => location.hash === "");
  kit.equal(await shown(), 9, "columns after going back");
}
