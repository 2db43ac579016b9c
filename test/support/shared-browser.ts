import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../scripts/browser.mjs';

/**
 * What spares the processor: pages of tests are open for seconds, so that compilers which optimize cost more than they
 * save, and drawing without a graphics card needs no process of its own.
 */
const SPARING = ['--js-flags=--no-opt --no-maglev --no-sparkplug', '--in-process-gpu'];

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
  const browser = await launchBrowser(SPARING);
  // The next file starts another one, whatever ended this.
  browser.once('disconnected', () => {
    shared[SHARED] = undefined;
  });
  return browser;
}
