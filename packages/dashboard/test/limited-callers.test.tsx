// @vitest-environment happy-dom
import { Code, ConnectError } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { EvaluatorService } from '@gen/enforcement/v1/evaluator_service_pb.js';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { type Caller, signedInAs } from './support/callers.js';
import { AGENT, CARDS_ID, hasFleet } from './support/fleet-backend.js';
import { refusedCalls } from './support/refused-calls.js';
import { renderPage, type ShownPage, settled } from './support/render-page.js';

const VIEWER: Caller = { name: 'viewer', role: 'viewer' };
const EDITOR: Caller = { name: 'editor', role: 'editor' };
const RUNTIME: Caller = { name: 'runtime', role: 'agent' };
const ONE_BOT: Caller = { name: 'one-bot', role: 'agent', agents: [AGENT] };
const DASHBOARDS: Caller = { name: 'dashboards', scopes: ['events.read', 'server.read'] };
/** Names of actions that change something. */
const CHANGES = /^(New|Create|Save|Delete|Remove|Add|Link|Unlink|Switch|Rename|Restore|Edit|Bind|Clone)\b/;

/** Opens a page as a caller, over a service with an agent and its controls. */
function openAs(caller: Caller, path: string): ShownPage {
  return renderPage(path, (router) => {
    signedInAs(caller)(router);
    hasFleet(router);
    router.rpc(EvaluatorService.method.listEvaluators, () => ({}));
  });
}

async function menu(): Promise<(string | null)[]> {
  const pages = await screen.findByRole('navigation', { name: 'Pages' });
  return within(pages)
    .getAllByRole('link')
    .map(({ textContent }) => textContent);
}

/** Waits until the page has loaded, and fails if it has asked for something that the caller is refused. */
async function expectNoRefusal(page: ShownPage, caller: Caller): Promise<void> {
  await settled();
  expect(screen.queryByText('Not allowed')).toBeNull();
  expect(screen.queryAllByRole('alert').map(({ textContent }) => textContent)).toEqual([]);
  expect(refusedCalls(page, caller)).toEqual([]);
}

describe('a viewer', () => {
  it('has the pages in the menu that it can read', async () => {
    const page = openAs(VIEWER, '/');
    expect(await menu()).toEqual([
      ...['Overview', 'Live', 'Events', 'Approvals', 'Agents', 'Coverage', 'Controls'],
      ...['Policies', 'Packs', 'Templates', 'Evaluators', 'Shadows'],
      ...['Limits', 'Halts', 'Playground'],
    ]);
    await expectNoRefusal(page, VIEWER);
  });

  it.each([
    ['/agents', AGENT],
    [`/agents/${AGENT}`, 'no-card-numbers'],
    ['/controls', 'watch-refunds'],
    [`/controls/${CARDS_ID}`, 'no-card-numbers'],
    [`/controls/${CARDS_ID}?tab=usage`, AGENT],
    ['/coverage', AGENT],
    ['/policies', 'mail-policy'],
    ['/policies/1', 'mail-policy'],
    ['/packs', 'Secrets'],
    ['/packs/secrets', 'Secrets'],
    ['/packs/secrets?tab=preview', 'Preview'],
    ['/keys', 'read controls and their versions'],
  ])('is offered no change on %s', async (path, shown) => {
    const page = openAs(VIEWER, path);
    await expectNoRefusal(page, VIEWER);
    const main = within(screen.getByRole('main'));
    expect((await main.findAllByText(shown)).length).toBeGreaterThan(0);
    const offered = [
      ...main.queryAllByRole('button', { name: CHANGES }),
      ...main.queryAllByRole('link', { name: CHANGES }),
    ];
    expect(offered.map(({ textContent }) => textContent)).toEqual([]);
  });

  it('is told which scope a page needs', async () => {
    const page = openAs(VIEWER, '/audit');
    expect((await screen.findAllByText('audit.read')).length).toBeGreaterThan(0);
    await expectNoRefusal(page, VIEWER);
    expect(await structureViolations()).toEqual([]);
  });
});

describe('an editor', () => {
  it('changes controls, and sees neither keys nor the audit log', async () => {
    const page = openAs(EDITOR, '/controls');
    await screen.findByRole('link', { name: 'New control' });
    const pages = await menu();
    expect(pages).toContain('Controls');
    expect(pages).not.toContain('Audit log');
    expect(pages).not.toContain('Keys and people');
    await expectNoRefusal(page, EDITOR);
  });
});

describe('an agent', () => {
  it('has a home: what it can do, what it cannot, and a way to an agent', async () => {
    const page = openAs(RUNTIME, '/');
    expect(await menu()).toEqual(['Overview', 'Evaluators']);
    await expectNoRefusal(page, RUNTIME);
    const you = within(await screen.findByRole('region', { name: 'You' }));
    you.getByText('evaluate steps');
    you.getByText('try steps in the playground');
    you.getByText(/made by an admin of this namespace/);
    expect(await structureViolations()).toEqual([]);
    await page.user.type(screen.getByLabelText('Name of an agent'), `${AGENT}{Enter}`);
    await screen.findByText(/^2 on, 0 off/);
    expect(page.address()).toBe(`/agents/${AGENT}`);
    await expectNoRefusal(page, RUNTIME);
    expect(screen.queryByRole('link', { name: 'Try a step' })).toBeNull();
    expect(screen.getAllByRole('tab').map(({ textContent }) => textContent)).toEqual([
      'Controls',
      'Steps (1)',
      'Targets',
      'Evaluators (0)',
    ]);
  });

  it('is told which scope the playground needs', async () => {
    openAs(RUNTIME, '/playground');
    expect((await screen.findAllByText('explain')).length).toBeGreaterThan(0);
    await screen.findByRole('heading', { name: 'This key cannot open the page' });
  });

  it('sees its agents and nothing broken with a key for one agent', async () => {
    const page = openAs(ONE_BOT, '/');
    await expectNoRefusal(page, ONE_BOT);
    const agents = within(await screen.findByRole('region', { name: 'Agents of this key' }));
    expect(await structureViolations()).toEqual([]);
    await page.user.click(agents.getByRole('link', { name: AGENT }));
    await screen.findByText(/^2 on, 0 off/);
    await expectNoRefusal(page, ONE_BOT);
    // Controls have names here, and no pages.
    expect(screen.getAllByText('no-card-numbers').length).toBeGreaterThan(0);
    expect(screen.queryByRole('link', { name: 'no-card-numbers' })).toBeNull();
  });
});

describe('a key for an agent and a pattern', () => {
  const SUPPORT: Caller = { name: 'support-desk', role: 'regular', agents: ['team-*', AGENT] };
  const OTHER = 'another-bot-1';
  const TOLD = `it sees ${AGENT} and agents whose names match team-*`;

  /** Opens a page over a service that refuses what concerns other agents. */
  const open = (path: string) =>
    renderPage(path, (router) => {
      const { rpc } = router;
      const counts = { evaluated: 1n };
      const control = { controlId: CARDS_ID, controlName: 'no-card-numbers', controlExecutionId: 'check-1' };
      const event = { ...control, traceId: 'trace-1', spanId: 'span', agentName: AGENT, matched: true };
      const refusedFor = (agentName: string | undefined): void => {
        if (agentName === OTHER) throw new ConnectError('another agent', Code.PermissionDenied);
        if (agentName !== AGENT) throw new ConnectError('there is no such agent', Code.NotFound);
      };
      signedInAs(SUPPORT)(router);
      rpc(ObservabilityService.method.getEvaluationStats, () => ({
        counts,
        agents: [{ agentName: AGENT, counts }],
      }));
      rpc(ObservabilityService.method.queryEvents, () => ({ events: [event], eventTotal: 1n }));
      rpc(ObservabilityService.method.watchEvents, async function* ({ agentName }, { signal }) {
        refusedFor(agentName);
        yield { position: 1n, news: { case: 'heartbeat' as const, value: {} } };
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      });
      rpc(AgentService.method.getAgent, ({ agentName }) => {
        refusedFor(agentName);
        return { agent: { agentName } };
      });
      rpc(EvaluatorService.method.listEvaluators, () => ({}));
      hasFleet(router);
    });
  const press = async ({ user }: ShownPage, name: string, of: HTMLElement = screen.getByRole('main')) =>
    user.click(await within(of).findByRole('link', { name }));

  it('is told what it sees, and has the pages for that', async () => {
    open('/');
    expect((await screen.findByText(new RegExp(TOLD.replace('*', '\\*')))).textContent).toContain(TOLD);
    const agents = within(await screen.findByRole('region', { name: 'Agents of this key' }));
    const cells = (await agents.findAllByRole('cell')).map(({ textContent }) => textContent);
    expect(cells).toEqual([AGENT, '0', '0.0 %', '0', '1']);
    expect(await menu()).toEqual(['Overview', 'Live', 'Events', 'Agents', 'Evaluators', 'Playground']);
  });

  it('chooses an agent where the page is about one', async () => {
    const page = open('/events');
    const menuOfPages = await screen.findByRole('navigation', { name: 'Pages' });
    await screen.findByText(/^Choose an agent/);
    await press(page, AGENT);
    await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(2));
    await page.user.click(screen.getAllByRole('row')[1]?.querySelector('td') as HTMLElement);
    await screen.findByText(/^Choose an agent/);
    await press(page, AGENT);
    await screen.findByText(/^1 recorded check of 1 step/);
    await press(page, 'Live', menuOfPages);
    await press(page, AGENT);
    await screen.findByText(/^Live\./);
  });

  it.each([
    [`/live?agent=${OTHER}`, 'Refused: this key may not see these events.'],
    ['/controls', 'Not for this key'],
    [`/agents/${OTHER}`, 'Not allowed'],
  ])('is refused %s, with what it may see', async (path, refusal) => {
    open(path);
    await screen.findAllByText(refusal);
    await waitFor(() => expect(screen.getByRole('main').textContent).toContain(TOLD));
  });

  it('opens an agent of the pattern by its name', async () => {
    const { user, address } = open('/agents');
    await user.type(await screen.findByLabelText('Name of an agent, matching team-*'), 'team-bot-01');
    await user.click(screen.getByRole('button', { name: 'Open' }));
    await screen.findAllByText('Not found');
    expect(address()).toBe('/agents/team-bot-01');
  });
});

describe('a key that lists its scopes itself', () => {
  it('has the pages of its own scopes', async () => {
    openAs(DASHBOARDS, '/');
    expect(await menu()).toEqual(['Overview', 'Live', 'Events']);
    within(await screen.findByRole('region', { name: 'You' })).getByText('its own scopes');
  });

  it('asks for nothing else on the page of events', async () => {
    const page = openAs(DASHBOARDS, '/events');
    await screen.findByRole('heading', { level: 1, name: 'Events' });
    await expectNoRefusal(page, DASHBOARDS);
  });
});
