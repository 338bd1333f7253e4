// What a check works with: pages that report every error, and a list of problems found.
import { pathToFileURL } from "node:url";

// Every page type; what comes after a colon is of another site.
export const PAGES = [
  "index.html",
  "compare.html",
  "ranked:index.html",
  "ranked:rank/alignment.html",
  "ranked:task/alignment.choice-0.html",
  "ranked:compare.html#a=ours&b=older",
  "task/images.fidelity.html",
  "task/images.old.html",
  "model/flow-matching.html",
  "model/vae.html",
  "model/hostile.html",
  "failures.html",
  "methods.html",
  "runs.html",
  "data/index.html",
  "tiny/index.html",
];

export class Kit {
  constructor(browser, sites) {
    this.browser = browser;
    this.sites = sites;
    this.problems = [];
    this.facts = {};
    this.contexts = [];
  }

  problem(text) {
    this.problems.push(text);
  }

  expect(condition, text) {
    if (!condition) this.problem(text);
  }

  equal(found, wanted, what) {
    const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (a !== b) this.problem(`${what}: expected ${b}, found ${a}`);
  }

  address(path, site = "site") {
    const at = path.indexOf(":");
    if (at > 0) return this.address(path.slice(at + 1), path.slice(0, at));
    return `${pathToFileURL(this.sites[site])}/${path}`;
  }

  // A page in a profile of its own, so that no stored theme leaks into other checks.
  async open(path, { site = "site", theme = "light", width = 1200, height = 900, script = true, before } = {}) {
    const context = await this.browser.createBrowserContext();
    this.contexts.push(context);
    const page = await context.newPage();
    page.on("console", (message) => {
      if (["error", "warn", "warning"].includes(message.type())) this.problem(`${path}: console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.problem(`${path}: ${error.message}`));
    page.on("dialog", async (dialog) => {
      this.problem(`${path}: a dialog opened: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.requests = [];
    page.on("request", (request) => {
      page.requests.push(request.url());
      if (!/^(file|data|blob):/.test(request.url())) this.problem(`${path}: asked the network for ${request.url()}`);
    });
    page.on("requestfailed", (request) => this.problem(`${path}: could not load ${request.url()}`));
    await page.setJavaScriptEnabled(script);
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    if (before) await page.evaluateOnNewDocument(before);
    await page.goto(this.address(path, site), { waitUntil: "load" });
    return page;
  }

  async close() {
    for (const context of this.contexts) await context.close();
  }
}

// The first table's rows that can be sorted, as text of one column, in the order shown.
export function column(page, key, table = "table.board") {
  return page.$eval(
    table,
    (element, wanted) => {
      const heads = [...element.tHead.rows[element.tHead.rows.length - 1].cells];
      const index = heads.findIndex((head) => head.dataset.key === wanted);
      const body = [...element.tBodies].find((part) => !part.className);
      return [...body.rows].filter((row) => !row.hidden).map((row) => row.cells[index].dataset.v ?? row.cells[index].textContent);
    },
    key,
  );
}

export function visibleModels(page) {
  return page.$$eval("table.board", (tables) =>
    [...tables[0].querySelectorAll("tbody tr")].filter((row) => !row.hidden).map((row) => row.cells[0].querySelector("a").textContent),
  );
}

export const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
