import { expect, it } from 'vitest';
import { openWatchedPage } from '../support/dashboard-browser.js';
import { startService } from '../support/service.js';
import { sharedBrowser } from '../support/shared-browser.js';

it('the dashboard of a service without keys warns instead of asking for one', async () => {
  const service = await startService();
  const watched = await openWatchedPage(await sharedBrowser());
  try {
    const { page, problems } = watched;
    await page.goto(service.url);
    await page.getByText('This service requires no keys').waitFor();
    expect(page.url()).toBe(`${service.url}/ui/`);
    await page.getByRole('heading', { name: 'Three steps to a checked agent' }).waitFor();
    expect(await page.getByText('SERVICE_API_KEY', { exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Account/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByText('No agents yet').waitFor();
    await page.getByRole('link', { name: 'Controls', exact: true }).click();
    await page.getByText('No controls yet').waitFor();
    expect(problems).toEqual([]);
  } finally {
    await watched.page.context().close();
    await service.stop();
  }
});
