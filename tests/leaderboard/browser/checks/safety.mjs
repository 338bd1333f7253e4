// Nothing foreign runs, nothing leaves the machine, every page is without errors.
import { PAGES } from "../kit.mjs";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:";

// Errors, failed requests and dialogs are problems by themselves; the rest is looked for here.
export async function every_page_is_clean(kit) {
  for (const path of PAGES) {
    const page = await kit.open(path);
    kit.expect((await page.title()).endsWith("· bench"), `${path}: title`);
    const found = await page.evaluate(() => ({
      heads: document.querySelectorAll("h1").length,
      policy: document.querySelector('meta[http-equiv="Content-Security-Policy"]').content,
      images: document.querySelectorAll('img[src="x"], [onerror]').length,
      inline: [...document.scripts].filter((script) => !script.src && script.type !== "application/json").length,
      links: [...document.querySelectorAll("a[href]")].filter((link) => !/^(file|https?):$/.test(link.protocol)).map((link) => link.href),
      marks: /[\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.outerHTML),
    }));
    kit.equal(found, { heads: 1, policy: POLICY, images: 0, inline: 0, links: [], marks: false }, path);
    await page.close();
  }
  const page = await kit.open("model/hostile.html");
  kit.equal(await page.$eval("h1", (head) => head.textContent), "</script><img src=x onerror=alert(1)>", "the title as text");
}

export async function the_policy_stops_inline_code(kit) {
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

export async function links_to_the_web_tell_nothing(kit) {
  const page = await kit.open("model/flow-matching.html");
  const links = await page.$$eval('a[href^="http"]', (all) => all.map((link) => [link.href, link.rel]));
  kit.equal(links, [["https://example.org/flow", "noopener noreferrer nofollow"]], "web links of the card");
}
