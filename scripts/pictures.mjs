/**
 * Takes the pictures of docs/pictures: every page of the dashboard with the demonstration data, in both themes and at
 * three widths. `npm run pictures -- editor` takes only those whose name contains "editor"; PICTURES_FOLDER is another
 * folder, PICTURES_FORMAT another format ("png").
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launchBrowser } from './browser.mjs';
import { createCaller, loadDefinitions, loadHistory, takeSteps } from './demo-data/load.mjs';
import { PAGES } from './demo-data/pages.mjs';
import { startServiceProcess } from './start-service.mjs';

const FOLDER = process.env.PICTURES_FOLDER ?? join(import.meta.dirname, '..', 'docs', 'pictures');
const FORMAT = process.env.PICTURES_FORMAT ?? 'webp';
/** `scale` is that of the picture. */
const SIZES = [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
  { width: 2560, height: 1300, scale: 0.5 },
];
const KEY = 'key-of-the-pictures';
/** WebP quality, 0 to 100: texts stay sharp at a tenth of the size of a PNG file. */
const QUALITY = 60;

/** What a page waits for before its picture is taken, beside its data. */
const PREPARATIONS = {
  live: (page) => page.getByRole('row').nth(8).waitFor(),
  editor: async (page) => {
    await page.getByRole('treeitem').nth(2).click();
    await page.getByLabel('Step, as JSON').fill(DESTRUCTIVE_STEP);
    await page.getByRole('treeitem', { name: /true/ }).first().waitFor();
  },
  playground: async (page) => {
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('denied', { exact: true }).waitFor();
  },
};
const DESTRUCTIVE_STEP = JSON.stringify(
  { type: 'tool', name: 'run_command', input: { command: 'rm -rf / --no-preserve-root' } },
  null,
  2,
);

/** A picture with more pixels of one colour shows nothing; those of the emptiest page have less than 98 % of one. */
const BLANK_SHARE = 0.999;

const [only = ''] = process.argv.slice(2);
const service = await startServiceProcess({
  SERVICE_API_KEY_ENABLED: 'true',
  SERVICE_ADMIN_API_KEYS: KEY,
  SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2',
});
const stop = new AbortController();
try {
  await mkdir(FOLDER, { recursive: true });
  const call = createCaller(service.url, KEY);
  await loadDefinitions(call);
  await loadHistory(call, { days: 14, count: 20_000, now: Date.now() });
  const steps = takeSteps(call, { stepsPerSecond: 20, signal: stop.signal });
  const { events } = await call('POST', '/observability/events/query', { limit: 1, matched: true });
  const browser = await launchBrowser();
  for (const colorScheme of ['light', 'dark']) {
    for (const size of SIZES) await takePictures(browser, { colorScheme, size, trace: events[0].trace_id });
  }
  await browser.close();
  stop.abort();
  await steps;
} finally {
  await service.stop();
}

async function takePictures(browser, { colorScheme, size, trace }) {
  const { scale = 1, ...viewport } = size;
  const context = await browser.newContext({ colorScheme, viewport, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const camera = await context.newCDPSession(page);
  // Reads the pictures: the dashboard itself may not load them.
  const darkroom = await context.newPage();
  await page.bringToFront();
  const take = async (name) => {
    // What was done on the page may have scrolled it: the clip begins at the top of the document, whatever is in view.
    await page.evaluate('scrollTo(0, 0)');
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    const clip = { x: 0, y: 0, ...viewport, scale };
    const { data } = await camera.send('Page.captureScreenshot', { format: FORMAT, quality: QUALITY, clip });
    const share = await shareOfOneColour(darkroom, data);
    if (share > BLANK_SHARE) {
      throw new Error(
        `The picture of the page "${name}" at ${viewport.width} pixels in the ${colorScheme} theme is blank: ${page.url()}`,
      );
    }
    await writeFile(
      join(FOLDER, `${name}-${colorScheme}-${viewport.width}.${FORMAT}`),
      Buffer.from(data, 'base64'),
    );
  };
  await page.goto(`${service.url}/ui/`);
  await page.getByLabel('API key').waitFor();
  if ('sign-in'.includes(only)) await take('sign-in');
  await page.getByLabel('API key').fill(KEY);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: /^Account/ }).waitFor();
  for (const [name, path] of Object.entries(PAGES)) {
    if (!name.includes(only)) continue;
    await page.goto(`${service.url}/ui${path.replace(':trace', encodeURIComponent(trace))}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page
      .getByText(/^Loading/)
      .first()
      .waitFor({ state: 'detached' });
    await PREPARATIONS[name]?.(page);
    await take(name);
  }
  await context.close();
}

/** The share of the pixels of a picture that have its most frequent colour. */
function shareOfOneColour(page, data) {
  return page.evaluate(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    const pixels = new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
    const counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    return Math.max(...counts.values()) / pixels.length;
  }, `data:image/${FORMAT};base64,${data}`);
}
