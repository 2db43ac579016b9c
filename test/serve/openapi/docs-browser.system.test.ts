import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteService } from '../../support/service-suite.js';

const BROWSER = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);

describe('the API page', () => {
  let profile: string;
  const service = suiteService();
  beforeAll(async () => {
    profile = await mkdtemp(path.join(tmpdir(), 'browser-'));
  });
  afterAll(() => rm(profile, { recursive: true, force: true }));

  it.runIf(BROWSER !== undefined)(
    'shows the operations in a real browser (where Chromium is installed)',
    async () => {
      const { stdout, stderr } = await promisify(execFile)(
        BROWSER ?? '',
        [
          '--headless',
          '--no-sandbox',
          '--disable-gpu',
          '--no-first-run',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
          '--enable-logging=stderr',
          `--user-data-dir=${profile}`,
          '--virtual-time-budget=20000',
          '--dump-dom',
          `${service.url}/docs`,
        ],
        { maxBuffer: 64 * 1024 * 1024 },
      );
      expect(stdout).toContain('Registers an agent with its step types and evaluators');
      expect(stdout).toContain('OAS 3.1');
      expect(stderr).not.toMatch(/CONSOLE.*(?:Refused|violates)/);
    },
  );
});
