import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
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
  await page.getByRole('button', { name: /^Account/ }).waitFor();
}

/** Signs out by the menu of the account. */
export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
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

/** The rules of axe about colors, but for those that it does not apply by itself. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Serious and critical violations that axe finds on a page: of all rules, of those about colors, or of all others, which
 * are about its structure.
 */
export async function axeViolations(
  page: Page,
  rules: 'all' | 'colors' | 'structure' = 'all',
): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  // What holds is not told in detail.
  const options: RunOptions = { resultTypes: ['violations'] };
  if (rules === 'colors') options.runOnly = COLOR_RULES;
  if (rules === 'structure') {
    options.rules = Object.fromEntries(COLOR_RULES.map((rule) => [rule, { enabled: false }]));
  }
  const results = await page.evaluate((given) => {
    const { axe } = globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } };
    return axe.run(given);
  }, options);
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** The violations in both themes, each with its theme. But for the colors, a page is the same in both. */
export async function axeViolationsInThemes(page: Page): Promise<(readonly [theme: string, string])[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await axeViolations(page, 'colors');
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await axeViolations(page);
  return [
    ...light.map((violation) => ['light', violation] as const),
    ...dark.map((violation) => ['dark', violation] as const),
  ];
}

/** By how many pixels a page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
