// @vitest-environment happy-dom
import { create } from '@bufbuild/protobuf';
import { type AuditEntry, AuditEntrySchema, AuditService } from '@gen/enforcement/v1/audit_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { chooseFile } from './support/chosen-file.js';
import { type Backend, type PlainRequest, renderPage } from './support/render-page.js';

const ENTRIES: readonly AuditEntry[] = [
  ['agent.create', 'agent', 'billing-bot-01'],
  ['control.create', 'control', 'no-card-numbers'],
  ['control.create', 'control', 'watch-refunds'],
  ['policy.create', 'policy', 'mail-policy'],
].map(([action, resource, resourceName], index) =>
  create(AuditEntrySchema, {
    position: BigInt(index + 1),
    revision: BigInt(index + 1),
    time: new Date().toISOString(),
    actor: { kind: 'key', name: 'admin' },
    action: action ?? '',
    resource: resource ?? '',
    resourceId: String(index + 1),
    resourceName: resourceName ?? '',
    after: JSON.stringify({ name: resourceName, enabled: true }),
    previousHash: `hash ${index}`,
    hash: `hash ${index + 1}`,
  }),
);
const LINES = '{"action":"control.create","position":2}\n{"action":"control.create","position":3}\n';

const hasPart = (whole: string | undefined, part: string | undefined) =>
  part === undefined || (whole ?? '').toLowerCase().includes(part.toLowerCase());

/** A service with entries, whose chain is found intact once, in two parts. */
function log(): Backend {
  let verifications = 0;
  return ({ rpc }) => {
    rpc(AuditService.method.listAuditEntries, (request) => {
      const { actionContains, resourceContains, actorContains, cursor } = request;
      const found = ENTRIES.filter(
        ({ action, resourceName, actor, position }) =>
          hasPart(action, actionContains) &&
          hasPart(resourceName, resourceContains) &&
          hasPart(actor?.name, actorContains) &&
          (cursor === undefined || position < BigInt(cursor)),
      ).reverse();
      return { entries: found.slice(0, request.limit), pagination: { total: found.length } };
    });
    rpc(AuditService.method.verifyAudit, ({ afterPosition }) => {
      if (afterPosition === undefined) {
        verifications += 1;
        return { intact: true, verified: 2n, nextAfterPosition: 2n };
      }
      return verifications === 1
        ? { intact: true, verified: 2n, head: { position: 4n, hash: 'hash 4' } }
        : {
            intact: false,
            verified: 0n,
            problem: { position: 3n, message: 'entry 3 has another content than its hash' },
          };
    });
  };
}

describe('the audit log', () => {
  const rows = () => within(screen.getByRole('region', { name: 'Entries' })).getAllByRole('row');
  const shown = () => rows().map((row) => row.textContent ?? '');
  const isShown = (text: string) => shown().some((row) => row.includes(text));

  it('is filtered by its address and its field, and shows what a change did', async () => {
    const { user, sent, address } = renderPage('/audit?action=agent.create', log());
    const filterBy = async (query: string) => {
      await user.type(screen.getByRole('combobox', { name: /^Filter/ }), `${query}{Enter}`);
    };
    await screen.findByText('agent.create', { selector: 'td code' });
    expect(isShown('control.create')).toBe(false);

    await filterBy('action:control.create');
    await waitFor(() => expect(isShown('control.create')).toBe(true));
    expect(address()).toBe('/audit?action=control.create');
    const row = rows().find(({ textContent }) =>
      textContent?.includes('created the control “no-card-numbers”'),
    );
    // Anywhere in the row.
    await user.click(within(row ?? document.body).getAllByRole('cell')[0] ?? document.body);
    const details = await screen.findByRole('region', { name: 'Entry 2' });
    await within(details).findByText(/created the control/);
    within(details).getByRole('region', { name: 'Changed members' });
    const link = within(details).getByRole('link', { name: 'Show the control as it is now' });
    expect(link.getAttribute('href')).toBe('/ui/controls/2');

    // Names by a part of them, in any case; what cannot be read is no filter that is ignored.
    await filterBy('name:CARD-NUM');
    await waitFor(() => expect(shown()).toHaveLength(2));
    await user.click(screen.getByRole('button', { name: 'Remove name: CARD-NUM' }));
    await filterBy('resource:server');
    expect((await screen.findByRole('alert')).textContent).toContain(
      'Possible are: agent, control, policy, control_binding, pack, key, namespace, halt, database.',
    );
    await user.clear(screen.getByRole('combobox', { name: /^Filter/ }));
    await filterBy('actor:adm action:control.cr');
    await screen.findByRole('button', { name: 'Remove action: control.cr' });
    await waitFor(() => expect(isShown('watch-refunds')).toBe(true));
    expect(sent(AuditService.method.listAuditEntries).at(-1)).toMatchObject({
      actorContains: 'adm',
      actionContains: 'control.cr',
      limit: 50,
    });

    await user.click(screen.getByRole('button', { name: /^Range:/ }));
    const ranges = screen.getByRole('dialog', { name: 'Time range' });
    await user.click(within(ranges).getByRole('button', { name: '5 minutes' }));
    expect(new URLSearchParams(address().split('?')[1]).get('range')).toBe('5m');
    await waitFor(() =>
      expect(sent(AuditService.method.listAuditEntries).at(-1)?.startTime).toMatch(/^\d{4}-/),
    );
    await user.click(screen.getByRole('button', { name: /^Range:/ }));
    await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Any time' }));
    expect(address()).not.toContain('range');
  });

  it('is exported as the service sends it, with the filters of the page', async () => {
    const asked: PlainRequest[] = [];
    const { user } = renderPage('/audit?action=control.create', log(), {
      plain(request) {
        asked.push(request);
        return LINES;
      },
    });
    const file = chooseFile();
    await user.click(await screen.findByRole('button', { name: 'Export as NDJSON' }));
    await screen.findByText(/^Saved, /);
    expect(file.text()).toBe(LINES);
    expect(asked).toEqual([
      { method: 'POST', path: '/api/v1/audit/export', body: '{"action_contains":"control.create"}' },
    ]);
  });

  it('is verified part by part', async () => {
    const { user, sent } = renderPage('/audit', log());
    await user.click(await screen.findByRole('button', { name: 'Verify the chain' }));
    await screen.findByText('Intact: 4 entries. The last one is 4:hash 4');
    expect(sent(AuditService.method.verifyAudit).map(({ afterPosition }) => afterPosition)).toEqual([
      undefined,
      2n,
    ]);
    await user.click(screen.getByRole('button', { name: 'Verify the chain' }));
    await screen.findByText('Broken: entry 3 has another content than its hash.');
  });

  it('is not shown to a regular key', async () => {
    renderPage('/audit', log(), { role: 'regular' });
    await screen.findAllByText('audit.read');
    const pages = within(screen.getByRole('navigation', { name: 'Pages' }));
    expect(pages.queryByText('Audit log')).toBeNull();
    pages.getByText('Controls');
  });
});
