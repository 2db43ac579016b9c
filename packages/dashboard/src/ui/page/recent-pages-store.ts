import { isRecentPage, type RecentPage, withRecentPage } from './recent-pages.js';

const STORED_AS = 'recent-pages';

/** The pages that were opened last, latest first. */
export function recentPages(): readonly RecentPage[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isRecentPage) : [];
  } catch {
    return [];
  }
}

export function rememberPage(page: RecentPage): void {
  localStorage.setItem(STORED_AS, JSON.stringify(withRecentPage(recentPages(), page)));
}

/** For when the session ends: names are for those with a key only. */
export function forgetPages(): void {
  localStorage.removeItem(STORED_AS);
}
