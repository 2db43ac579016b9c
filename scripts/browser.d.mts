import type { Browser } from 'playwright-core';

/** Whether this machine has a Chromium. */
export const HAS_BROWSER: boolean;

/** Starts a Chromium: that of CHROME_PATH, an installed one, or the packed one, which runs on Linux on x64. */
export function launchBrowser(extraArguments?: readonly string[]): Promise<Browser>;
