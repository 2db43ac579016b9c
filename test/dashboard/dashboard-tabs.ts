import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { inSignedInTab, type TabOptions, type WatchedPage } from '../support/dashboard-browser.js';
import { sharedBrowser } from '../support/shared-browser.js';
import { ADMIN_KEY } from './dashboard-service.js';

/** A service that a suite of browser tests uses. */
interface Served {
  readonly url: string;
  stop(): Promise<void>;
}

/** A service and a browser, for all tests of a suite. */
export interface DashboardTabs<S extends Served> {
  readonly service: S;
  readonly browser: Browser;
  /** Address of a page of the dashboard. */
  address(path: string): string;
  /** Opens a page in a tab of its own, signed in with the admin key; the test fails if anything goes wrong in it. */
  open(
    path: string,
    test: (watched: WatchedPage) => Promise<void>,
    options?: Partial<TabOptions>,
  ): Promise<void>;
}

/** Starts a service and a browser before the tests of the suite, and ends both after them. */
export function useDashboardTabs<S extends Served>(start: () => Promise<S>): DashboardTabs<S> {
  let browser: Browser | undefined;
  let service: S | undefined;
  beforeAll(async () => {
    service = await start();
    browser = await sharedBrowser();
  });
  afterAll(async () => {
    await service?.stop();
  });
  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the suite has not started yet');
    return value;
  };
  const address = (path: string) => `${started(service).url}/ui${path}`;
  return {
    get service() {
      return started(service);
    },
    get browser() {
      return started(browser);
    },
    address,
    open: (path, test, options = {}) =>
      inSignedInTab(started(browser), address(path), { key: ADMIN_KEY, ...options }, test),
  };
}
