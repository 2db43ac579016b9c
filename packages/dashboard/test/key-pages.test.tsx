// @vitest-environment happy-dom
import { KeyService } from '@gen/enforcement/v1/key_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { keyBackend } from './support/key-backend.js';
import { renderPage, settled } from './support/render-page.js';

const DAY_MS = 86_400_000;

const heading = (name: string) => screen.findByRole('heading', { level: 1, name });
const button = (name: string) => screen.findByRole('button', { name });

/** The secret that the page shows. */
async function shownSecret(): Promise<string> {
  const region = await screen.findByRole('region', { name: 'New secret' });
  return within(region).getByText(/^cek_/).textContent;
}

/** Names of the listed keys, from the first row. */
function listedNames(): (string | null)[] {
  const list = screen.queryByRole('region', { name: 'Keys' });
  if (list === null) return [];
  return within(list)
    .getAllByRole('row')
    .slice(1)
    .map((row) => within(row).getByRole('link').textContent);
}

function rowOf(name: string): HTMLElement {
  const row = within(screen.getByRole('region', { name: 'Keys' }))
    .getAllByRole('row')
    .find(({ textContent }) => textContent?.includes(name));
  if (row === undefined) throw new Error(`no key ${name} is listed`);
  return row;
}

describe('keys in the dashboard', () => {
  it('are created with a secret that is shown once, rotated with an overlap, and revoked', async () => {
    const keys = keyBackend();
    const { user, sent, address } = renderPage('/keys', keys.backend);
    await screen.findByText('No keys are stored in this namespace');
    await user.click(screen.getByRole('link', { name: 'New key' }));
    await heading('New key');
    // The role that may do least is the default.
    expect(await screen.findByRole<HTMLInputElement>('radio', { name: 'agent' })).toHaveProperty(
      'checked',
      true,
    );
    expect(screen.getByRole('radio', { name: 'operator' })).toHaveProperty('disabled', true);
    await user.click(await button('Create the key'));
    expect((await screen.findByRole('alert')).textContent).toBe('The key needs a name.');
    expect(sent(KeyService.method.createKey)).toEqual([]);
    await user.type(screen.getByLabelText('Name'), 'reports');
    await user.type(screen.getByLabelText('Owner: who is responsible for it'), 'team finance');
    await user.click(screen.getByRole('radio', { name: 'viewer' }));
    await user.click(await button('Create the key'));

    const first = await shownSecret();
    expect(first).toBe(keys.secrets[0]);
    const [asked] = sent(KeyService.method.createKey);
    expect(asked).toMatchObject({
      name: 'reports',
      owner: 'team finance',
      role: 'viewer',
      scopes: [],
      agents: [],
    });
    expect(asked?.idempotencyKey).not.toBe('');
    expect(Math.round((Date.parse(asked?.expiresAt ?? '') - Date.now()) / DAY_MS)).toBe(90);
    const menu = screen.getByRole('navigation', { name: 'Pages' });
    await user.click(within(menu).getByRole('link', { name: 'Agents' }));
    const question = await screen.findByRole('dialog', { name: 'Leave without a copy of the secret?' });
    await user.click(within(question).getByRole('button', { name: 'Stay' }));
    expect(address()).toBe('/keys/new');
    await user.click(await button('Copy the secret'));
    await screen.findByText('Copied.');
    expect(await navigator.clipboard.readText()).toBe(first);
    await user.click(await button('Done'));
    await heading('reports');
    await screen.findByText('never used');
    await screen.findByText('read controls and their versions');
    expect(screen.queryByText('create, change and delete controls')).toBeNull();
    const kept = JSON.stringify([{ ...localStorage }, { ...sessionStorage }]);
    expect(kept + document.documentElement.outerHTML).not.toContain(first);

    await user.click(await button('Rotate reports'));
    await user.click(await button('Make another secret'));
    const second = await shownSecret();
    expect([second, second === first]).toEqual([keys.secrets[1], false]);
    expect(sent(KeyService.method.rotateKey)).toMatchObject([{ keyId: 1, overlapSeconds: 86_400 }]);
    await screen.findByText('two secrets');
    // Without the copy, it asks, and goes.
    await user.click(await button('Done'));
    await user.click(await button('Leave'));
    await waitFor(() => expect(screen.queryByRole('region', { name: 'New secret' })).toBeNull());

    await user.click(await button('Revoke reports'));
    const dialog = await screen.findByRole('dialog');
    within(dialog).getByText(/This cannot be undone\./);
    expect(sent(KeyService.method.revokeKey)).toEqual([]);
    await user.click(within(dialog).getByRole('button', { name: 'Revoke reports' }));
    await within(screen.getByRole('region', { name: 'Key' })).findByText('revoked');
    expect(sent(KeyService.method.revokeKey)).toMatchObject([{ keyId: 1 }]);
    await waitFor(() => expect(screen.queryByRole('button', { name: /^(Rotate|Revoke)/ })).toBeNull());

    await user.click(screen.getByRole('link', { name: 'All keys' }));
    await screen.findByText('No keys are stored in this namespace');
    await user.selectOptions(screen.getByLabelText('State'), 'all');
    await waitFor(() => expect(listedNames()).toEqual(['reports']));
    within(rowOf('reports')).getByText('revoked');
  });

  it('are listed by state, role and owner, in any order', async () => {
    const keys = keyBackend();
    keys.add({ name: 'zeta', role: 'agent', owner: 'alpha team', agents: ['billing-bot-01'] });
    const expiresAt = new Date(Date.now() + DAY_MS).toISOString();
    keys.add({ name: 'eta', scopes: ['controls.read'], owner: 'beta team', expiresAt });
    const { user, sent, address } = renderPage('/keys', keys.backend);
    await waitFor(() => expect(listedNames()).toEqual(['eta', 'zeta']));
    await user.click(await button('Owner'));
    await waitFor(() => expect(listedNames()).toEqual(['zeta', 'eta']));
    expect(address()).toBe('/keys?sort=owner');
    within(rowOf('zeta')).getByText('billing-bot-01');
    await user.selectOptions(screen.getByLabelText('State'), 'expiring');
    await waitFor(() => expect(listedNames()).toEqual(['eta']));
    await user.selectOptions(screen.getByLabelText('State'), '');
    await user.selectOptions(screen.getByLabelText('Role'), 'agent');
    await waitFor(() => expect(listedNames()).toEqual(['zeta']));
    await user.selectOptions(screen.getByLabelText('Role'), '');
    await user.type(screen.getByLabelText('Name or owner contains'), 'BETA');
    await waitFor(() => expect(listedNames()).toEqual(['eta']));
    expect(sent(KeyService.method.listKeys).at(-1)).toMatchObject({ name: 'BETA', includeEnded: false });
  });

  it('are made by keyboard alone, on pages without barriers', async () => {
    const keys = keyBackend();
    const { user } = renderPage('/keys/new', keys.backend);
    await settled();
    expect(await structureViolations()).toEqual([]);
    screen.getByLabelText('Name').focus();
    await user.keyboard('by keyboard');
    await user.tab();
    await user.tab();
    // Arrows choose among the roles.
    await user.keyboard('{ArrowDown}');
    expect(screen.getByRole('radio', { name: 'viewer' })).toHaveProperty('checked', true);
    (await button('Create the key')).focus();
    await user.keyboard('{Enter}');
    await shownSecret();
    expect(await structureViolations()).toEqual([]);
    (await button('Copy the secret')).focus();
    await user.keyboard('{Enter}');
    await screen.findByText('Copied.');
    await user.tab();
    await user.keyboard('{Enter}');
    await heading('by keyboard');
    await settled();
    expect(await structureViolations()).toEqual([]);
    await user.click(screen.getByRole('link', { name: 'All keys' }));
    await screen.findByRole('link', { name: 'by keyboard' });
    expect(await structureViolations()).toEqual([]);
  });

  it('says to everyone what a key can do, and where people are managed', async () => {
    const { user } = renderPage('/', keyBackend().backend, { role: 'regular' });
    const menu = await screen.findByRole('navigation', { name: 'Pages' });
    expect(within(menu).queryByRole('link', { name: 'Keys and people' })).toBeNull();
    await user.click(await button('Account: regular key'));
    await user.click(screen.getByRole('link', { name: 'What you may do' }));
    await heading('Keys and people');
    const you = await screen.findByRole('region', { name: 'You' });
    within(you).getByText('regular key');
    within(you).getByText('create, change and delete controls');
    within(screen.getByRole('region', { name: 'People' })).getByText(/OpenID Connect/);
    expect(screen.queryByRole('region', { name: 'Keys' })).toBeNull();
  });

  it('are made by no one without the scope for it', async () => {
    const { sent } = renderPage('/keys/new', keyBackend().backend, { role: 'regular' });
    await heading('Not for this key');
    expect(screen.getAllByText('keys.write').length).toBeGreaterThan(0);
    expect(sent(KeyService.method.listRoles)).toEqual([]);
  });
});
