// The page that compares two models: what it says is what bench.stats says, and it stands in the address.
import { hash } from "../kit.mjs";

const open = (kit, view, options) => kit.open(`compare.html${view}`, { site: "ranked", ...options });
const cells = (page) => page.$$eval("#comparison tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

export async function models_come_from_the_address(kit) {
  const page = await open(kit, "#a=theirs&b=chance");
  kit.equal(await page.$eval("#compare-a", (select) => select.value), "theirs", "A");
  kit.equal(await page.$eval("#compare-b", (select) => select.value), "chance", "B");
  kit.equal((await cells(page)).length, 7, "tasks");
  kit.expect((await page.$eval("[data-summary]", (place) => place.textContent)).startsWith("Theirs (A) has the better mean on 7"), "summary");
  kit.equal(await page.$eval("[data-command]", (code) => code.textContent), "bench compare theirs chance", "command");
}

export async function numbers_are_those_of_the_statistics(kit) {
  const page = await open(kit, "#a=ours&b=theirs");
  kit.facts.comparison = await page.evaluate(() => Bench.comparison.map((line) => [line.task.title, line.found.method, line.found.difference, line.found.low, line.found.high, line.found.p, line.found.adjusted]));
  const words = (await cells(page)).map((row) => row[1]);
  kit.equal(words[0], "A beats B (valid at any time)", "the task with samples");
  kit.expect(words.slice(1).some((text) => text === "A is better: differs in this data"), `verdicts over repeats: ${words}`);
}

export async function missing_repeats_make_no_claim(kit) {
  const page = await open(kit, "#a=ours&b=older");
  const row = (await cells(page))[3];
  kit.equal([row[1], row[5]], ["not paired: 0 of A and 1 of B of 4 repeats are missing", "no test"], "a failed repeat");
}

export async function choosing_by_keyboard_changes_the_address(kit) {
  const page = await open(kit, "");
  await page.focus("#compare-a");
  await page.select("#compare-a", "ours");
  await page.select("#compare-b", "chance");
  kit.equal(await hash(page), "#a=ours&b=chance", "address");
  await page.focus("[data-swap]");
  await page.keyboard.press("Enter");
  kit.equal(await hash(page), "#a=chance&b=ours", "address after swapping");
  await page.goBack();
  await page.waitForFunction(() => location.hash === "#a=ours&b=chance");
  kit.equal(await page.$eval("#compare-a", (select) => select.value), "ours", "A after going back");
}

export async function nonsense_in_the_address_does_no_harm(kit) {
  const page = await open(kit, "#a=<img>&b=ours");
  kit.equal(await page.$eval("#compare-b", (select) => select.value), "ours", "B");
  await page.goto(kit.address("compare.html", "ranked") + "#a=ours&b=ours");
  await page.reload();
  kit.equal(await page.$eval("[data-summary]", (place) => place.textContent), "Choose two different models.", "the same model twice");
}

export async function selected_models_lead_to_their_comparison(kit) {
  const page = await kit.open("index.html", { site: "ranked" });
  const pick = (model) => page.$eval(`tr[data-model="${model}"] .pick`, (box) => box.click());
  await pick("ours");
  kit.expect(await page.$eval("[data-compare]", (link) => link.hidden), "one model cannot be compared");
  await pick("older");
  kit.equal(await hash(page), "#sel=ours,older", "address");
  await page.$eval("[data-only]", (button) => button.click());
  const shown = await page.$$eval("table.board tbody tr", (rows) => rows.filter((row) => !row.hidden).map((row) => row.dataset.model));
  kit.equal(shown, ["ours", "older"], "rows shown");
  kit.equal(await hash(page), "#only=1&sel=ours,older", "address of only these");
  await Promise.all([page.waitForNavigation(), page.$eval("[data-compare]", (link) => link.click())]);
  kit.equal(await hash(page), "#a=ours&b=older", "where the link leads");
}

export async function without_javascript_it_says_what_to_do(kit) {
  const page = await open(kit, "", { script: false });
  const note = await page.$("noscript p, .blank");
  kit.expect(note && (await (await note.getProperty("textContent")).jsonValue()).includes("bench compare A B"), "the page names the command");
}
