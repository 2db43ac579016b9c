import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Limit of each wait in a tab. It only ends what hangs: on a busy machine everything takes its time. */
export const TAB_TIMEOUT_MS = 180_000;

/** A tab, with everything that must not happen in it: errors on the console, violations of the policy. */
export interface WatchedPage {
  readonly page: Page;
  readonly problems: string[];
}

export async function openWatchedPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  // Colors and sizes are not those of a moment of an animation.
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(TAB_TIMEOUT_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => {
    problems.push(`a script opened a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, problems };
}

/** Signs in with a key at the address that is open. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Settings of a tab that is opened for a test. */
export interface TabOptions {
  /** The key to sign in with. */
  readonly key: string;
  readonly colorScheme?: 'light' | 'dark';
  /** Width of the window in pixels. 1280 by default. */
  readonly width?: number;
}

/** Opens an address in a tab of its own and signs in; the test fails if anything goes wrong in the tab. */
export async function inSignedInTab(
  browser: Browser,
  address: string,
  { key, width = 1280, ...context }: TabOptions,
  test: (watched: WatchedPage) => Promise<void>,
): Promise<void> {
  const watched = await openWatchedPage(browser, { ...context, viewport: { width, height: 800 } });
  try {
    await watched.page.goto(address);
    await signIn(watched.page, key);
    await test(watched);
    expect(watched.problems).toEqual([]);
  } finally {
    await watched.page.context().close();
  }
}

/** Waits until a page of the dashboard has loaded its data. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page
    .getByText(/^Loading/)
    .first()
    .waitFor({ state: 'detached' });
}

/** Serious and critical violations that axe finds on a page. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const results = await page.evaluate(() => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } };
    return axe.run();
  });
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** By how many pixels a page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
