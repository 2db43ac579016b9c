/**
 * The dashboard in a real browser, with 1,000 agents, 5,000 controls and a condition of 500 nodes: time to the first
 * contents and until Overview responds, frames while the list of controls scrolls, time from a key in the editor to the
 * next frame, and the bytes of each chunk. The yardstick of each time is a bare page that does the same: a heading, a long
 * plain list, a text field. Rounds alternate, ratios are medians over rounds.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { launchBrowser } from '../scripts/browser.mjs';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { median, report } from './support/report.mjs';
import { loadLargeInstallation } from './support/ui-data.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const COUNTS = {
  agents: Number(process.env.BENCH_AGENTS ?? 1000),
  controls: Number(process.env.BENCH_CONTROLS ?? 5000),
  conditionNodes: 500,
};
const VIEWPORT = { width: 1280, height: 800 };
const EDITS = 30;
const SCROLL_STEPS = 120;
/** Pixels of one step: about three rows. */
const SCROLL_PIXELS = 110;
const ASSETS = join(import.meta.dirname, '..', 'packages', 'dashboard', 'dist', 'assets');

const BARE_PAGE = `<!doctype html><title>bare</title><h1>Bare</h1><label>Text <input></label>
<section style="height:600px;overflow:auto">${'<p style="height:36px;margin:0">row</p>'.repeat(COUNTS.controls)}</section>`;

/** Times of the page in milliseconds since its navigation: first contents, and the end of the last long task. */
const loadTimes = () =>
  new Promise((resolve) => {
    const { performance, PerformanceObserver, setTimeout } = globalThis;
    let idle = performance.now();
    new PerformanceObserver((list) => {
      for (const task of list.getEntries()) idle = Math.max(idle, task.startTime + task.duration);
    }).observe({ type: 'longtask', buffered: true });
    setTimeout(() => {
      const [paint] = performance.getEntriesByName('first-contentful-paint');
      resolve({ paint: paint?.startTime ?? 0, interactive: idle });
    }, 500);
  });

/** Durations of frames in milliseconds while an element scrolls. */
const scrollFrames = (element, [steps, pixels]) =>
  new Promise((resolve) => {
    const { requestAnimationFrame } = globalThis;
    const frames = [];
    let before;
    const step = (now) => {
      if (before !== undefined) frames.push(now - before);
      before = now;
      if (frames.length >= steps) return resolve(frames);
      element.scrollTop += pixels;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });

/** Records, for each key, the time from the event to the frame after it. */
const watchKeys = () => {
  const { performance, requestAnimationFrame, setTimeout, window } = globalThis;
  window.keyTimes = [];
  window.addEventListener(
    'keydown',
    (event) =>
      requestAnimationFrame(() =>
        setTimeout(() => window.keyTimes.push(performance.now() - event.timeStamp)),
      ),
    true,
  );
};

const service = await startServiceProcess();
const bare = http.createServer((_request, response) => {
  response.setHeader('content-type', 'text/html').end(BARE_PAGE);
});
await new Promise((resolve) => bare.listen(0, '127.0.0.1', () => resolve()));
const bareUrl = `http://127.0.0.1:${bare.address().port}/`;
const browser = await launchBrowser();
try {
  const largest = await loadLargeInstallation(createCaller(service.url, undefined), COUNTS);
  const figures = { paint: [], interactive: [], frame: [], worstFrame: [], edit: [], tree: [] };
  const yardsticks = { paint: [], interactive: [], frame: [], worstFrame: [], edit: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    collect(yardsticks, await inNewTab(measureBare));
    collect(figures, await inNewTab(measureOverview));
    collect(figures, await inNewTab(measureScrolling));
    collect(figures, await inNewTab((page) => measureEditor(page, largest)));
  }
  const row = (name, member) => ({
    name,
    value: median(figures[member]),
    unit: 'ms',
    ...(yardsticks[member] === undefined
      ? {}
      : {
          yardstick: median(yardsticks[member]),
          ratio: median(figures[member].map((value, round) => value / yardsticks[member][round])),
        }),
  });
  report('ui', [
    row('Overview, first contentful paint', 'paint'),
    row('Overview, interactive', 'interactive'),
    row(`${COUNTS.controls} controls, 95 % of frames while scrolling`, 'frame'),
    row(`${COUNTS.controls} controls, longest frame while scrolling`, 'worstFrame'),
    row(`editor with ${COUNTS.conditionNodes} nodes, 95 % of keys to the next frame`, 'edit'),
    row(`editor with ${COUNTS.conditionNodes} nodes, a group of ten duplicated to the next frame`, 'tree'),
    ...(await chunkRows()),
  ]);
} finally {
  await browser.close();
  bare.close();
  await service.stop();
}

function collect(into, measured) {
  for (const [member, value] of Object.entries(measured)) into[member].push(value);
}

/** Each tab has a cache of its own, so that everything is loaded anew. */
async function inNewTab(measure) {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    return await measure(await context.newPage());
  } finally {
    await context.close();
  }
}

async function measureBare(page) {
  await page.goto(bareUrl);
  const times = await page.evaluate(loadTimes);
  const frames = await page.locator('section').evaluate(scrollFrames, [SCROLL_STEPS, SCROLL_PIXELS]);
  const edit = await measureKeys(page, page.getByLabel('Text'));
  return { ...times, ...frameFigures(frames), edit };
}

async function measureOverview(page) {
  await page.goto(`${service.url}/ui/?range=24h`, { waitUntil: 'commit' });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page
    .getByText(/^Loading/)
    .first()
    .waitFor({ state: 'detached' });
  return page.evaluate(loadTimes);
}

async function measureScrolling(page) {
  await page.goto(`${service.url}/ui/controls`);
  const list = page.getByRole('region', { name: 'Controls', exact: true });
  await list.waitFor();
  const shown = page.locator('.load-more').getByRole('status');
  for (let text = ''; !text.startsWith(`${COUNTS.controls.toLocaleString('en')} of`); ) {
    // Loads the next page.
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    text = (await shown.textContent()) ?? '';
  }
  await list.evaluate((element) => {
    element.scrollTop = 0;
  });
  return frameFigures(await list.evaluate(scrollFrames, [SCROLL_STEPS, SCROLL_PIXELS]));
}

async function measureEditor(page, controlId) {
  await page.goto(`${service.url}/ui/controls/${controlId}/edit`);
  await page.getByRole('tree').waitFor();
  await page.getByRole('treeitem').nth(3).click();
  const field = page.getByLabel('pattern', { exact: false }).first();
  const edit = await measureKeys(page, field);
  await page.getByRole('treeitem').nth(2).click();
  const duplicate = page.getByRole('button', { name: /^Duplicate/ });
  const tree = await duplicate.evaluate(
    (button) =>
      new Promise((resolve) => {
        const { performance, requestAnimationFrame, setTimeout } = globalThis;
        const start = performance.now();
        button.click();
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
      }),
  );
  return { edit, tree };
}

async function measureKeys(page, field) {
  await field.focus();
  await page.evaluate(watchKeys);
  for (let edit = 0; edit < EDITS; edit += 1) {
    await page.keyboard.press('x');
    // The policy of the page forbids the usual way to wait for an expression.
    while ((await page.evaluate('window.keyTimes.length')) <= edit);
  }
  return percentile(await page.evaluate('window.keyTimes'), 0.95);
}

function frameFigures(frames) {
  return { frame: percentile(frames, 0.95), worstFrame: Math.max(...frames) };
}

function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Sizes of all chunks, and of what the first page loads. */
async function chunkRows() {
  const page = await readFile(join(ASSETS, '..', 'index.html'), 'utf8');
  const sizes = [];
  for (const file of await readdir(ASSETS)) {
    if (!file.endsWith('.js')) continue;
    const { size } = await stat(join(ASSETS, `${file}.gz`));
    sizes.push({ file, size, isFirst: page.includes(file) });
  }
  sizes.sort((a, b) => b.size - a.size);
  const total = (chosen) => chosen.reduce((sum, { size }) => sum + size, 0) / 1024;
  return [
    {
      name: 'JavaScript of the page itself, gzip',
      value: total(sizes.filter(({ isFirst }) => isFirst)),
      unit: 'KiB',
    },
    { name: 'all JavaScript, gzip', value: total(sizes), unit: 'KiB' },
    ...sizes.slice(0, 12).map(({ file, size }) => ({ name: `  ${file}`, value: size / 1024, unit: 'KiB' })),
  ];
}
