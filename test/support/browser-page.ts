import { launchBrowser } from '../../scripts/browser.mjs';

/** A page in a browser of its own. */
export interface OpenPage {
  close(): Promise<void>;
}

/** Opens a page. Every name below `.example` leads to 127.0.0.1. */
export async function openPage(url: string): Promise<OpenPage> {
  const browser = await launchBrowser(['--host-resolver-rules=MAP *.example 127.0.0.1']);
  const page = await browser.newPage();
  await page.goto(url, { waitUntil: 'commit' });
  return { close: () => browser.close() };
}
