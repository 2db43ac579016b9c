import { ownedItem } from '../browser/owned-storage.js';
import { isRecentPage, type RecentPage, withRecentPage } from './recent-pages.js';

const stored = ownedItem('recent-pages');

/** The pages that were opened last, latest first. */
export function recentPages(): readonly RecentPage[] {
  try {
    const pages: unknown = JSON.parse(stored.read() ?? '[]');
    return Array.isArray(pages) ? pages.filter(isRecentPage) : [];
  } catch {
    return [];
  }
}

export function rememberPage(page: RecentPage): void {
  stored.write(JSON.stringify(withRecentPage(recentPages(), page)));
}

/** For when the session ends: names are for those with a key only. */
export function forgetPages(): void {
  stored.forget();
}
