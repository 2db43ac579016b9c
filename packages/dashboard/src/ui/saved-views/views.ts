/** A page with its filters, under a name. */
export interface SavedView {
  /** Path of the page, for example `/events`. */
  readonly page: string;
  readonly name: string;
  /** The parameters of its address, without the question mark. */
  readonly search: string;
  /** Whether the page has these filters when it is opened without any. At most one view of a page. */
  readonly isDefault: boolean;
}

/** Most views of a browser, of all pages together. */
export const MAX_VIEWS = 50;
const MAX_NAME = 100;
const MAX_SEARCH = 8_192;
const VERSION = 1;

/** The views of a stored text. What is no view is left out: another version or another program wrote it. */
export function readViews(text: string | null): readonly SavedView[] {
  try {
    const stored = JSON.parse(text ?? '') as { readonly version?: unknown; readonly views?: unknown };
    if (stored?.version !== VERSION || !Array.isArray(stored.views)) return [];
    return stored.views.filter(isView).slice(0, MAX_VIEWS);
  } catch {
    return [];
  }
}

export function writeViews(views: readonly SavedView[]): string {
  return JSON.stringify({ version: VERSION, views });
}

export function viewsOf(views: readonly SavedView[], page: string): readonly SavedView[] {
  return views
    .filter((view) => view.page === page)
    .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

/** Why a view cannot be saved; undefined if it can. A view with the same name is replaced. */
export function saveProblem(
  views: readonly SavedView[],
  { page, name, search }: SavedView,
): string | undefined {
  if (name.trim() === '') return 'A view needs a name.';
  if (name.length > MAX_NAME) return `A name has at most ${MAX_NAME} characters.`;
  if (search.length > MAX_SEARCH) return 'These filters are too long to be saved.';
  const isNew = !views.some((view) => view.page === page && view.name === name);
  return isNew && views.length >= MAX_VIEWS
    ? `This browser has ${MAX_VIEWS} views already. Delete one first.`
    : undefined;
}

export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  return [...withoutView(views, view), view];
}

export function withoutView(views: readonly SavedView[], { page, name }: SavedView): readonly SavedView[] {
  return views.filter((view) => view.page !== page || view.name !== name);
}

/** The views with another default of the page; the same view again: with none. */
export function withDefault(views: readonly SavedView[], chosen: SavedView): readonly SavedView[] {
  return views.map((view) =>
    view.page === chosen.page ? { ...view, isDefault: view.name === chosen.name && !view.isDefault } : view,
  );
}

function isView(value: unknown): value is SavedView {
  const { page, name, search, isDefault } = (value ?? {}) as Partial<Record<keyof SavedView, unknown>>;
  return (
    typeof page === 'string' &&
    page.startsWith('/') &&
    typeof name === 'string' &&
    name.length <= MAX_NAME &&
    typeof search === 'string' &&
    search.length <= MAX_SEARCH &&
    typeof isDefault === 'boolean'
  );
}
