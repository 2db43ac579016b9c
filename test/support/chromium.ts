import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A real browser: that of CHROME_PATH, or an installed one. Undefined when there is none. */
export const CHROMIUM = [process.env.CHROME_PATH ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (file) => existsSync(file),
);

/** Arguments of every browser: no sandbox for root, and no connections of its own. */
export const CHROMIUM_ARGUMENTS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A page in a browser of its own. */
export interface OpenPage {
  close(): Promise<void>;
}

/** Opens a page. Every name below `.example` leads to 127.0.0.1. */
export async function openPage(url: string): Promise<OpenPage> {
  const profile = await mkdtemp(path.join(tmpdir(), 'browser-'));
  const browser = spawn(
    CHROMIUM ?? '',
    [
      '--headless',
      ...CHROMIUM_ARGUMENTS,
      '--no-first-run',
      '--host-resolver-rules=MAP *.example 127.0.0.1',
      `--user-data-dir=${profile}`,
      url,
    ],
    { stdio: 'ignore', detached: true },
  );
  return {
    async close() {
      endGroup(browser);
      if (browser.exitCode === null && browser.signalCode === null) await once(browser, 'exit');
      // Processes of the browser may still be writing.
      await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
