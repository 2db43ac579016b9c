import type { Page } from 'playwright-core';

/** The field of the query bar of a page. */
export function queryField(page: Page) {
  return page.getByRole('combobox', { name: /^Filter/ });
}

/** Types a query, for example `agent:billing-bot outcome:denied`, and takes it. */
export async function filterBy(page: Page, query: string): Promise<void> {
  await queryField(page).fill(query);
  await queryField(page).press('Enter');
}

/** The range that a page shows, in its words. */
export async function shownRange(page: Page): Promise<string> {
  const name = await page.getByRole('button', { name: /^Range:/ }).getAttribute('aria-label');
  return name?.replace('Range: ', '') ?? '';
}
