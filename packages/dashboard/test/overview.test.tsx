// @vitest-environment happy-dom
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import {
  ServerService,
  type ServerStateSchema,
  StorageState,
} from '@gen/enforcement/v1/server_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { scopesOfCaller } from './support/callers.js';
import { AGENT, CARDS_ID, hasFleet } from './support/fleet-backend.js';
import { type Backend, renderPage } from './support/render-page.js';

type State = MessageInitShape<typeof ServerStateSchema>;

const WELL: State = {
  databaseUp: true,
  storageState: StorageState.OK,
  eventsEnabled: true,
  recordedResults: 'matches',
};
const COUNTS = { evaluated: 10n, denied: 3n, deniedByError: 1n, steered: 2n };

/** A service that counts evaluations of an agent and the matches of a control, and says how it is. */
function counts(stateOf: () => State, eventsOf: () => bigint): Backend {
  return (router) => {
    const { rpc } = router;
    rpc(ServerService.method.getServerInfo, () => ({
      version: '1.2.3',
      revision: 7n,
      namespace: 'default',
      namespaces: ['default'],
      role: 'admin',
      isAdmin: true,
      callerFingerprint: 'fingerprint of the overview',
      scopes: [...scopesOfCaller({ role: 'admin' })],
      state: stateOf(),
    }));
    const { method } = ObservabilityService;
    const totals = { executionTotal: 4n, matchTotal: 4n, actionTotals: { deny: 3n, steer: 1n } };
    const controlOf = { controlId: CARDS_ID, controlName: 'no-card-numbers' };
    const control = { ...controlOf, matchTotal: 4n, denyTotal: 3n, steerTotal: 1n, errorTotal: 2n };
    rpc(method.getEvaluationStats, () => ({
      counts: COUNTS,
      previous: { evaluated: 8n, denied: 3n, steered: 1n },
      timeRange: '24h',
      agents: [{ agentName: AGENT, counts: COUNTS }],
    }));
    rpc(method.getStats, () => ({ totals, controls: [control] }));
    rpc(method.getStatsOverview, () => ({
      totals: { ...totals, errorTotal: 2n },
      topControls: [control],
      agents: [{ agentName: AGENT, totals }],
    }));
    rpc(method.queryEvents, () => ({
      events: [{ controlExecutionId: 'check-1', agentName: AGENT, controlId: CARDS_ID, matched: true }],
      eventTotal: eventsOf(),
    }));
    hasFleet(router);
  };
}

const part = async (name: string) => within(await screen.findByRole('region', { name }));

describe('the first page', () => {
  it('counts every evaluation by its outcome, and leads to the recorded ones', async () => {
    const { user, address } = renderPage(
      '/',
      counts(
        () => WELL,
        () => 4n,
      ),
    );
    await screen.findByRole('link', { name: 'Evaluated steps: 10' });
    const row = (
      await (await part('Agents with the most denials')).findByRole('link', { name: AGENT })
    ).closest('tr');
    const cellsOf = (found: HTMLElement | null) =>
      within(found as HTMLElement)
        .getAllByRole('cell')
        .map(({ textContent }) => textContent);
    expect(cellsOf(row)).toEqual([AGENT, '3', '30.0 %', '1', '10']);
    const control = (await part('Controls with the most matches')).getByRole('link', {
      name: 'no-card-numbers',
    });
    expect(cellsOf(control.closest('tr'))).toEqual(['no-card-numbers', '3', '1', '0', '2']);
    const figures = [...document.querySelectorAll('.outcome-figures dd')];
    expect(figures.map(({ textContent }) => textContent)).toEqual([
      '10+25 % vs. previous 24 h',
      '330.0 % of them1 by erroras many vs. previous 24 h',
      '220.0 % of them+100 % vs. previous 24 h',
      '0',
    ]);
    // No numbers of events are said to be a share of all steps.
    await screen.findByText(/these are no shares of all checks\.$/);
    expect(await structureViolations()).toEqual([]);
    await user.click(screen.getByRole('link', { name: 'Denied: 3, 30.0 % of them' }));
    await screen.findByRole('heading', { level: 1, name: 'Events' });
    expect(new URLSearchParams(address().split('?')[1]).get('outcome')).toBe('denied');
  });

  it('has the pages of a control say how often it matched and failed', async () => {
    renderPage(
      `/controls/${CARDS_ID}`,
      counts(
        () => WELL,
        () => 4n,
      ),
    );
    const matches = await part('Matches');
    await matches.findByText('3 denied');
    matches.getByText('1 steered');
    expect(matches.getByRole('list').textContent).toContain('4 matches');
    matches.getByText('2 errors');
    matches.getByText(/^: the control fails closed/);
  });

  it('says in words what does not work, and that it works again', async () => {
    let state = WELL;
    renderPage(
      '/',
      counts(
        () => state,
        () => 4n,
      ),
    );
    await screen.findByText('answers and stores');
    const verdict = await part('Verdict');
    const health = () => screen.getByRole('banner').querySelector('.health');
    const otherTab = new BroadcastChannel('control-enforcement-session');
    for (const [next, words] of [
      [{ ...WELL, storageState: StorageState.REPLACED }, 'Changes and events cannot be stored'],
      [{ ...WELL, databaseUp: false }, 'The database does not answer'],
    ] as const) {
      state = next;
      // What another tab tells makes the page ask again at once.
      otherTab.postMessage('changed');
      await verdict.findByText(new RegExp(`^${words}`));
      expect([health()?.textContent, health()?.getAttribute('title')]).toEqual(['Needs attention', words]);
    }
    state = WELL;
    otherTab.postMessage('changed');
    await waitFor(() => expect(verdict.queryByText(/^The database does not answer/)).toBeNull());
    await screen.findByText('answers and stores');
    expect(health()?.textContent).toBe('Working');
    otherTab.close();
  });
});

describe('the activity', () => {
  it('of an agent is shown as it happens, and leads to that of a control', async () => {
    let events = 4n;
    const { user, address } = renderPage(
      `/agents/${AGENT}?tab=activity`,
      counts(
        () => WELL,
        () => events,
      ),
    );
    await screen.findByRole('link', { name: 'Steered: 1' });
    await screen.findByText('All 4 events');
    events = 5n;
    await screen.findByText('All 5 events');
    const controls = await part('Controls with the most matches');
    await user.click(controls.getByRole('link', { name: 'no-card-numbers' }));
    await screen.findByRole('heading', { level: 1, name: 'no-card-numbers' });
    await (await part('Top agents')).findByRole('link', { name: AGENT });
    const choose = async (range: string) => {
      await user.click(screen.getByRole('button', { name: /^Range: / }));
      await user.click(screen.getByRole('button', { name: range }));
    };
    await choose('7 days');
    await screen.findByRole('link', { name: 'Steered: 1' });
    expect(address()).toBe(`/controls/${CARDS_ID}?tab=activity&range=7d`);
    await choose('24 hours');
  });
});
