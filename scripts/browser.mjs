/** The Chromium of tests, pictures and benchmarks: an installed one, or the one that is a development dependency. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const INSTALLED = [process.env.CHROME_PATH ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (file) => existsSync(file),
);
/** The packed one runs there only. */
const RUNS_PACKED = process.platform === 'linux' && process.arch === 'x64';

/** No sandbox for root, and no connections of its own. */
const ARGUMENTS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Whether this machine has a Chromium. */
export const HAS_BROWSER = INSTALLED !== undefined || RUNS_PACKED;

/** @param {readonly string[]} extraArguments */
export async function launchBrowser(extraArguments = []) {
  return chromium.launch({
    executablePath: INSTALLED ?? (await packedChromium()),
    args: [...ARGUMENTS, ...extraArguments],
  });
}

async function packedChromium() {
  if (!RUNS_PACKED) throw new Error('no Chromium was found: set CHROME_PATH to one');
  const { default: packed } = await import('@sparticuz/chromium');
  return packed.executablePath();
}
