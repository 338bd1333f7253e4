// Nothing foreign runs, nothing leaves the machine, every page is without errors.
import { PAGES } from "../kit.mjs";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:";

export async function pages_have_no_errors(kit) {
  for (const path of PAGES) {
    const page = await kit.open(path);
    kit.expect((await page.title()).endsWith("· bench"), `${path}: title`);
    kit.expect((await page.$$("h1")).length === 1, `${path}: one h1`);
  }
}

export async function policy_is_set_and_works(kit) {
  for (const path of PAGES) {
    const page = await kit.open(path);
    const found = await page.$eval('meta[http-equiv="Content-Security-Policy"]', (meta) => meta.content);
    kit.equal(found, POLICY, `${path}: policy`);
  }
  const page = await kit.open("index.html");
  const before = kit.problems.length;
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.intruder = true";
    document.head.append(script);
    const image = document.createElement("img");
    image.setAttribute("onerror", "window.intruder = true");
    image.src = "data:image/png;base64,AAAA";
    document.body.append(image);
    return new Promise((resolve) => setTimeout(() => resolve("intruder" in window), 300));
  });
  kit.expect(!ran, "an inline script or handler ran");
  kit.problems.splice(before, kit.problems.length - before, ...kit.problems.slice(before).filter((text) => !/Content.Security.Policy/i.test(text)));
}

export async function hostile_texts_are_harmless(kit) {
  for (const path of PAGES) {
    const page = await kit.open(path);
    const found = await page.evaluate(() => ({
      images: document.querySelectorAll('img[src="x"], [onerror]').length,
      inline: [...document.scripts].filter((script) => !script.src && script.type !== "application/json").length,
      links: [...document.querySelectorAll("a[href]")].filter((link) => !/^(file|https?):$/.test(link.protocol)).map((link) => link.href),
      marks: /[\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.outerHTML),
    }));
    kit.equal(found, { images: 0, inline: 0, links: [], marks: false }, path);
  }
  const page = await kit.open("model/hostile.html");
  kit.equal(await page.$eval("h1", (head) => head.textContent), "</script><img src=x onerror=alert(1)>", "the title as text");
}

export async function links_to_the_web_tell_nothing(kit) {
  const page = await kit.open("model/flow-matching.html");
  const links = await page.$$eval('a[href^="http"]', (all) => all.map((link) => [link.href, link.rel]));
  kit.equal(links, [["https://example.org/flow", "noopener noreferrer nofollow"]], "web links of the card");
}
