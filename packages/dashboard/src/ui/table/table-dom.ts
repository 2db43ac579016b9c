/** Class of rows that stand for the height of those that are not drawn. */
export const SPACE_CLASS = 'space';

/** The drawn rows of a table, in order. */
export function rowElements(scroller: HTMLElement | null): HTMLTableRowElement[] {
  return [...(scroller?.querySelectorAll<HTMLTableRowElement>(`tbody > tr:not(.${SPACE_CLASS})`) ?? [])];
}

/** Index of a row among all rows of its table; -1 for the head. */
export function rowIndexOf(row: Element | null): number {
  if (!(row instanceof HTMLTableRowElement) || row.closest('tbody') === null) return -1;
  return row.ariaRowIndex === null ? row.sectionRowIndex : Number(row.ariaRowIndex) - 2;
}

/** Index of the first row below the head that is in view. */
export function firstRowInView(scroller: HTMLElement): number {
  const head = scroller.querySelector('thead')?.getBoundingClientRect().bottom ?? 0;
  const row = rowElements(scroller).find((element) => element.getBoundingClientRect().top >= head - 1);
  return Math.max(0, rowIndexOf(row ?? null));
}

/** The link that a row stands for: the one with `data-row-link`, else the first one. */
export function linkOfRow(row: HTMLElement): HTMLElement | null {
  return row.querySelector<HTMLElement>('[data-row-link]') ?? row.querySelector<HTMLElement>('a');
}

/** Elements that have a use for clicks themselves. */
const CLICKABLE =
  'a, button, input, select, textarea, label, summary, dialog, [role=button], [role=menuitem]';

/** The row that a click in a table opens: one with a link, unless the click is for something in it or ends a selection. */
export function rowOfClick(target: EventTarget): HTMLTableRowElement | null {
  if (!(target instanceof Element) || target.closest(CLICKABLE) !== null) return null;
  const row = target.closest<HTMLTableRowElement>('tbody > tr');
  if (row === null || linkOfRow(row) === null) return null;
  const selection = document.getSelection();
  const isSelecting = selection !== null && !selection.isCollapsed && selection.containsNode(row, true);
  return isSelecting ? null : row;
}

/** The checkbox that a click beside it is meant for. */
export function checkboxOfClick(target: EventTarget): HTMLInputElement | null {
  if (!(target instanceof Element) || target.closest(CLICKABLE) !== null) return null;
  return target.closest('.check-cell')?.querySelector<HTMLInputElement>('input[type=checkbox]') ?? null;
}

/** Opens the link of a row, in another tab if the viewer asks for one. */
export function openRow(row: HTMLElement, inOtherTab: boolean): void {
  const link = linkOfRow(row);
  if (inOtherTab && link instanceof HTMLAnchorElement) window.open(link.href, '_blank', 'noopener');
  else link?.click();
}

/** The row that a key pressed in a table is meant for. Other elements of the row keep the keys that they use. */
export function rowOfKey(target: EventTarget, key: string): HTMLTableRowElement | null {
  if (target instanceof HTMLTableRowElement) return target;
  const isLetter = key === 'j' || key === 'k';
  if (!isLetter || !(target instanceof Element) || target.matches('input, select, textarea')) return null;
  // A dialog of a row is in the row.
  if (target.closest('dialog') !== null) return null;
  return target.closest<HTMLTableRowElement>('tbody > tr');
}

/** Distance from the end at which more rows are needed, in pixels: about eight rows. */
const NEAR_END = 300;

/** Whether an element is scrolled to its end, or nearly so. */
export function isNearEnd({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean {
  return scrollTop > 0 && scrollTop + clientHeight > scrollHeight - NEAR_END;
}
