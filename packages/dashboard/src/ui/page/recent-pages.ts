/** A page that was opened, with a name chosen by a user. */
export interface RecentPage {
  readonly href: string;
  readonly title: string;
}

const MAX_PAGES = 8;
const HAS_NAME = /^\/(?:agents\/.|controls\/-?\d|policies\/\d|traces\?id=.)/;

/** The list with a page in front, if it is one that has a name. */
export function withRecentPage(before: readonly RecentPage[], page: RecentPage): readonly RecentPage[] {
  if (!HAS_NAME.test(page.href)) return before;
  return [page, ...before.filter(({ href }) => href !== page.href)].slice(0, MAX_PAGES);
}

/** Whether a stored value is such a page. */
export function isRecentPage(value: unknown): value is RecentPage {
  const { href, title } = (value ?? {}) as Partial<Record<keyof RecentPage, unknown>>;
  return typeof href === 'string' && typeof title === 'string' && HAS_NAME.test(href);
}
