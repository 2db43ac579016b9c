import { expect, it } from 'vitest';
import { axeViolations, openWatchedPage, signOut } from '../support/dashboard-browser.js';
import { startIssuer } from '../support/issuer.js';
import { startService } from '../support/service.js';
import { sharedBrowser } from '../support/shared-browser.js';

it('the dashboard signs people in at the issuer, and returns to the page they wanted', async () => {
  const issuer = await startIssuer();
  const service = await startService({
    ...issuer.environment,
    SERVICE_OIDC_CLIENT_ID: 'dashboard',
    SERVICE_OIDC_CLIENT_SECRET: 'dashboard-secret',
    SERVICE_OIDC_NAME: 'Example Login',
  });
  const watched = await openWatchedPage(await sharedBrowser());
  try {
    await issuer.configure({ redirectUris: [`${service.url}/api/oidc/callback`] });
    const { page, problems } = watched;
    // The pages of the issuer have a font of another host.
    await page.route(/^https:/, (route) => route.fulfill({ contentType: 'text/css', body: '' }));
    await page.goto(`${service.url}/ui/agents`);
    expect(await axeViolations(page)).toEqual([]);
    const enter = async (person: string): Promise<void> => {
      await page.getByRole('link', { name: 'Sign in with Example Login' }).click();
      await page.getByPlaceholder('Enter any login').fill(person);
      await page.getByPlaceholder('and password').fill('any');
      await page.getByRole('button', { name: 'Sign-in' }).click();
      await page.getByRole('button', { name: 'Continue' }).click();
    };
    await enter('mallory');
    await page.getByRole('alert').getByText('You have no role').waitFor();
    // The issuer has a session of its own.
    await page.context().clearCookies();
    await page.goto(`${service.url}/ui/agents`);
    await enter('alice');
    await page.getByText('No agents yet').waitFor();
    expect(page.url()).toBe(`${service.url}/ui/agents`);

    // The session ends while something is written: it is there on the way back.
    await page.goto(`${service.url}/ui/controls/new?agent=billing`);
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('by-alice');
    await page.getByText('kept as a draft').waitFor();
    await page.context().clearCookies({ name: 'service_session' });
    await page.getByLabel('Description').fill('and a description');
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    await again.getByRole('link', { name: 'Sign in with Example Login' }).click();
    await page
      .getByRole('dialog', { name: /unsaved draft/ })
      .getByRole('button', { name: 'Continue' })
      .click();
    expect(page.url()).toBe(`${service.url}/ui/controls/new?agent=billing`);
    expect(await name.inputValue()).toBe('by-alice');
    expect(await page.getByLabel('Description').inputValue()).toBe('and a description');
    await page.getByRole('link', { name: 'All controls' }).click();
    await page.getByRole('button', { name: 'Discard the changes of by-alice' }).click();
    await page.getByRole('heading', { level: 1, name: 'Controls' }).waitFor();
    await signOut(page);
    await page.getByRole('link', { name: 'Sign in with Example Login' }).waitFor();
    expect(problems).toEqual([]);
  } finally {
    await watched.page.context().close();
    await service.stop();
    await issuer.stop();
  }
});
