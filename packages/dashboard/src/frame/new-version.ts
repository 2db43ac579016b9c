import { dashboardPath } from '../data/rest-address.js';

/** What browsers say, and the build tool, when a file of a page cannot be loaded. */
const MISSING_FILE =
  /dynamically imported module|importing a module script failed|unable to preload css|loading chunk/i;
const ENTRY = /<script[^>]*\ssrc="([^"]+\.js)"/;

/** Whether an error says that a file of the dashboard could not be loaded. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && MISSING_FILE.test(error.message);
}

/** Whether the server has a page with other files than the one that is open. */
export async function isNewVersionServed(): Promise<boolean> {
  try {
    const reply = await fetch(`${dashboardPath}/`, { cache: 'no-store' });
    if (!reply.ok) return false;
    const served = entryOf(await reply.text());
    const open = document.querySelector('script[type=module][src]')?.getAttribute('src');
    return served !== undefined && open !== undefined && open !== null && served !== open;
  } catch {
    return false;
  }
}

/** Path of the first script of a page. */
export function entryOf(page: string): string | undefined {
  return ENTRY.exec(page)?.[1];
}
