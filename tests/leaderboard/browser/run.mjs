// Runs every exported check against built sites and prints {"module.check": {problems, facts}} as JSON.
//   node run.mjs CHROMIUM SITE LARGE_SITE LONG_SITE RANKED_SITE
import puppeteer from "puppeteer-core";
import { Kit } from "./kit.mjs";

const MODULES = (process.env.MODULES ?? "accessibility,charts,compare,layout,safety,speed,table").split(",");
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const [executablePath, site, large, long, ranked] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, args: FLAGS, pipe: true });
const results = {};
try {
  for (const module of MODULES) {
    const checks = await import(`./checks/${module}.mjs`);
    for (const [name, check] of Object.entries(checks)) {
      const kit = new Kit(browser, { site, large, long, ranked });
      const start = performance.now();
      try {
        await check(kit);
      } catch (error) {
        kit.problem(`stopped: ${error.stack ?? error}`);
      }
      await kit.close();
      kit.facts.seconds = (performance.now() - start) / 1000;
      results[`${module}.${name}`] = { problems: kit.problems, facts: kit.facts };
    }
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(results));
