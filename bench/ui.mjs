/// <reference lib="dom" />
/**
 * The dashboard in a real browser, with 1,000 agents, 5,000 controls and a condition of 500 nodes: time to the first
 * contents and until Overview responds, frames while the list of controls scrolls, time from a key in the editor to the
 * next frame, and the bytes of each chunk. The yardstick of each time is a bare page that does the same: a heading, a long
 * plain list, a text field. Rounds alternate, ratios are medians over rounds. BENCH_ROUNDS is their number (5),
 * BENCH_AGENTS, BENCH_CONTROLS and BENCH_EVENTS are those of what is stored, BENCH_EDITS is how many keys are pressed,
 * BENCH_FRAMES how many frames are timed.
 */
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { launchBrowser } from '../scripts/browser.mjs';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { urlOf } from './support/child-server.mjs';
import { createSeries, rowOf } from './support/measure.mjs';
import { quantile, report } from './support/report.mjs';
import { loadLargeInstallation } from './support/ui-data.mjs';

/** @import { Locator, Page } from 'playwright-core' */

/**
 * Figures of one visit, in milliseconds.
 * @typedef {Partial<Record<'paint' | 'interactive' | 'frame' | 'worstFrame' | 'edit' | 'tree', number>>} Figures
 */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const COUNTS = {
  agents: Number(process.env.BENCH_AGENTS ?? 1000),
  controls: Number(process.env.BENCH_CONTROLS ?? 5000),
  conditionNodes: 500,
  events: Number(process.env.BENCH_EVENTS ?? 20_000),
};
const VIEWPORT = { width: 1280, height: 800 };
const EDITS = Number(process.env.BENCH_EDITS ?? 30);
/** A step is a frame; its pixels are about three rows. */
const SCROLLING = { steps: Number(process.env.BENCH_FRAMES ?? 120), pixels: 110 };
const ASSETS = join(import.meta.dirname, '..', 'packages', 'dashboard', 'dist', 'assets');

const BARE_PAGE = `<!doctype html><title>bare</title><h1>Bare</h1><label>Text <input></label>
<section style="height:600px;overflow:auto">${'<p style="height:36px;margin:0">row</p>'.repeat(COUNTS.controls)}</section>`;

/**
 * Times of the page in milliseconds since its navigation: first contents, and the end of the last long task.
 * @returns {Promise<{ paint: number, interactive: number }>}
 */
const loadTimes = () =>
  new Promise((resolve) => {
    let idle = performance.now();
    new PerformanceObserver((list) => {
      for (const task of list.getEntries()) idle = Math.max(idle, task.startTime + task.duration);
    }).observe({ type: 'longtask', buffered: true });
    setTimeout(() => {
      const [paint] = performance.getEntriesByName('first-contentful-paint');
      resolve({ paint: paint?.startTime ?? 0, interactive: idle });
    }, 500);
  });

/**
 * Durations of frames in milliseconds while an element scrolls.
 * @param {Element} element
 * @param {{ steps: number, pixels: number }} scrolling
 * @returns {Promise<number[]>}
 */
const scrollFrames = (element, { steps, pixels }) =>
  new Promise((resolve) => {
    /** @type {number[]} */
    const frames = [];
    let before = Number.NaN;
    /** @param {number} now */
    const step = (now) => {
      if (!Number.isNaN(before)) frames.push(now - before);
      before = now;
      if (frames.length >= steps) return resolve(frames);
      element.scrollTop += pixels;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });

/** Records, for each key, the time from the event to the frame after it. */
const watchKeys = () => {
  /** @type {number[]} */
  const keyTimes = [];
  Object.assign(window, { keyTimes });
  window.addEventListener(
    'keydown',
    (event) =>
      requestAnimationFrame(() => setTimeout(() => keyTimes.push(performance.now() - event.timeStamp))),
    true,
  );
};

const service = await startServiceProcess();
const bare = http.createServer((_request, response) => {
  response.setHeader('content-type', 'text/html').end(BARE_PAGE);
});
await once(bare.listen(0, '127.0.0.1'), 'listening');
const bareUrl = urlOf(bare);
const browser = await launchBrowser();
try {
  const largest = await loadLargeInstallation(createCaller(service.url, undefined), COUNTS);
  const figures = createSeries();
  const yardsticks = createSeries();
  for (let round = 0; round < ROUNDS; round += 1) {
    collect(yardsticks, await inNewTab(measureBare));
    collect(figures, await inNewTab(measureOverview));
    collect(figures, await inNewTab(measureScrolling));
    collect(figures, await inNewTab((page) => measureEditor(page, largest)));
  }
  /** @param {string} name @param {keyof Figures} figure */
  const row = (name, figure) =>
    // The bare page has no tree.
    rowOf(name, 'ms', figures.of(figure), figure === 'tree' ? undefined : yardsticks.of(figure));
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

/** @param {ReturnType<typeof createSeries>} into @param {Figures} measured */
function collect(into, measured) {
  for (const [figure, value] of Object.entries(measured)) into.add(figure, value);
}

/**
 * Each tab has a cache of its own, so that everything is loaded anew.
 * @param {(page: Page) => Promise<Figures>} measure
 */
async function inNewTab(measure) {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    return await measure(await context.newPage());
  } finally {
    await context.close();
  }
}

/** @param {Page} page @returns {Promise<Figures>} */
async function measureBare(page) {
  await page.goto(bareUrl);
  const times = await page.evaluate(loadTimes);
  const frames = await page.locator('section').evaluate(scrollFrames, SCROLLING);
  const edit = await measureKeys(page, page.getByLabel('Text'));
  return { ...times, ...frameFigures(frames), edit };
}

/** @param {Page} page @returns {Promise<Figures>} */
async function measureOverview(page) {
  await page.goto(`${service.url}/ui/?range=24h`, { waitUntil: 'commit' });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page
    .getByText(/^Loading/)
    .first()
    .waitFor({ state: 'detached' });
  return page.evaluate(loadTimes);
}

/** @param {Page} page @returns {Promise<Figures>} */
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
  return frameFigures(await list.evaluate(scrollFrames, SCROLLING));
}

/** @param {Page} page @param {number} controlId @returns {Promise<Figures>} */
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
      /** @type {Promise<number>} */
      new Promise((resolve) => {
        const start = performance.now();
        if (button instanceof HTMLElement) button.click();
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
      }),
  );
  return { edit, tree };
}

/** @param {Page} page @param {Locator} field */
async function measureKeys(page, field) {
  await field.focus();
  await page.evaluate(watchKeys);
  for (let edit = 0; edit < EDITS; edit += 1) {
    await page.keyboard.press('x');
    // The policy of the page forbids the usual way to wait for an expression.
    while ((await keyTimes(page)).length <= edit);
  }
  return quantile(await keyTimes(page), 0.95);
}

/**
 * What `watchKeys` has recorded so far.
 * @param {Page} page
 * @returns {Promise<number[]>}
 */
function keyTimes(page) {
  return page.evaluate('window.keyTimes');
}

/** @param {number[]} frames */
function frameFigures(frames) {
  return { frame: quantile(frames, 0.95), worstFrame: Math.max(...frames) };
}

/** Sizes of all chunks, and of what the first page loads. */
async function chunkRows() {
  const page = await readFile(join(ASSETS, '..', 'index.html'), 'utf8');
  /** @type {{ file: string, size: number, isFirst: boolean }[]} */
  const sizes = [];
  for (const file of await readdir(ASSETS)) {
    if (!file.endsWith('.js')) continue;
    const { size } = await stat(join(ASSETS, `${file}.gz`));
    sizes.push({ file, size, isFirst: page.includes(file) });
  }
  sizes.sort((a, b) => b.size - a.size);
  /** @param {typeof sizes} chosen */
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
