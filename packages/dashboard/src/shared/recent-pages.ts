/** A page that was opened, with a name chosen by a user. */
export interface RecentPage {
  readonly href: string;
  readonly title: string;
}

const STORED_AS = 'recent-pages';
const MAX_PAGES = 8;
const HAS_NAME = /^\/(?:agents\/.|controls\/-?\d|policies\/\d|traces\?id=.)/;

/** The list with a page in front, if it is one that has a name. */
export function withRecentPage(before: readonly RecentPage[], page: RecentPage): readonly RecentPage[] {
  if (!HAS_NAME.test(page.href)) return before;
  return [page, ...before.filter(({ href }) => href !== page.href)].slice(0, MAX_PAGES);
}

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

function isRecentPage(value: unknown): value is RecentPage {
  const { href, title } = (value ?? {}) as Partial<Record<keyof RecentPage, unknown>>;
  return typeof href === 'string' && typeof title === 'string' && HAS_NAME.test(href);
}
