import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../scripts/browser.mjs';

/** The files of a worker share their modules, but those of another project do not. */
const SHARED = Symbol.for('control-enforcement.test.browser');
const shared = globalThis as { [SHARED]?: Promise<Browser> | undefined };

/**
 * The browser of this worker, for contexts of its files, which they close: a start takes some two seconds of a core. It
 * ends with the worker.
 */
export function sharedBrowser(): Promise<Browser> {
  shared[SHARED] ??= launchShared();
  return shared[SHARED];
}

async function launchShared(): Promise<Browser> {
  const browser = await launchBrowser();
  // The next file starts another one, whatever ended this.
  browser.once('disconnected', () => {
    shared[SHARED] = undefined;
  });
  return browser;
}
