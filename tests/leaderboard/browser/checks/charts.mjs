// Charts are loaded late, follow the theme, and have a table beside them.
const TASK = "task/images.fidelity.html";
const loaded = (page) => page.requests.filter((address) => address.endsWith("plotly.min.js")).length;

export async function library_waits_until_needed(kit) {
  const overview = await kit.open("index.html");
  kit.equal(loaded(overview), 0, "loads of the library on the overview");
  const page = await kit.open(TASK, { height: 600 });
  kit.equal(loaded(page), 0, "loads of the library before a chart is near");
  await page.$eval("[data-plot]", (place) => place.scrollIntoView());
  await page.waitForSelector("[data-plot] .main-svg", { timeout: 20000 });
  await page.$$eval("[data-plot]", (all) => all.at(-1).scrollIntoView());
  await page.waitForFunction(() => [...document.querySelectorAll("[data-plot]")].at(-1).querySelector(".main-svg"), { timeout: 20000 });
  kit.equal(loaded(page), 1, "loads of the library for all charts");
}

export async function charts_show_every_model_in_the_theme(kit) {
  const page = await kit.open(TASK, { theme: "dark" });
  await page.$eval("[data-plot]", (place) => place.scrollIntoView());
  await page.waitForSelector("[data-plot] .scatterlayer .point", { timeout: 20000 });
  const colour = () => page.$eval("[data-plot] .scatterlayer .point", (point) => getComputedStyle(point).fill);
  const points = await page.$$eval("[data-plot]", (all) => all[0].querySelectorAll(".scatterlayer .point").length);
  const rows = await page.$$eval("figure:has([data-plot])", (all) => all[0].querySelectorAll("tbody tr").length);
  kit.equal(points, rows, "points and rows of the table beside");
  kit.expect(points >= 9, `only ${points} points`);
  const dark = await colour();
  await page.click("[data-theme-toggle]");
  await page.waitForFunction((old) => getComputedStyle(document.querySelector("[data-plot] .scatterlayer .point")).fill !== old, {}, dark);
  kit.expect(dark !== (await colour()), "points change colour with the theme");
}

export async function pictures_load(kit) {
  const page = await kit.open(TASK);
  await page.$$eval(".sheets img", (all) => all.forEach((image) => (image.loading = "eager")));
  await page.waitForFunction(() => [...document.querySelectorAll(".sheets img")].every((image) => image.complete), { timeout: 10000 });
  const widths = await page.$$eval(".sheets img", (all) => all.map((image) => image.naturalWidth));
  kit.expect(widths.length >= 12 && widths.every((width) => width === 112), `widths of the pictures: ${widths}`);
}

export async function the_chart_in_the_address_comes_into_view(kit) {
  const page = await kit.open("task/alignment.choice-0.html#chart=evidence-items", { site: "ranked", height: 700 });
  await page.waitForSelector("#evidence-items .main-svg", { timeout: 20000 });
  const box = await page.$eval("#evidence-items", (figure) => ({ top: figure.getBoundingClientRect().top, pointed: figure.classList.contains("pointed") }));
  kit.expect(box.pointed && box.top > -60 && box.top < 640, `the figure is at ${JSON.stringify(box)}`);
  await page.$eval('#seeds-items [data-chart="seeds-items"]', (link) => link.click());
  kit.equal(await page.evaluate(() => location.hash), "#chart=seeds-items", "address after a click on a title");
}

export async function drawings_need_no_script(kit) {
  const page = await kit.open("rank/alignment.html", { site: "ranked", script: false });
  const drawing = await page.$("#critical-difference svg.drawing");
  kit.expect(drawing && (await drawing.isVisible()), "the critical-difference diagram is drawn");
  const cells = await page.$$("#wins td");
  kit.equal(cells.length, 16, "cells of the win-rate matrix");
}
