// @vitest-environment happy-dom
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { EvaluationService, Outcome } from '@gen/enforcement/v1/evaluation_service_pb.js';
import {
  AppliesTo,
  ControlExecutionEventSchema,
  ObservabilityService,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { eventJson } from '../src/events/event-json.js';
import { curlText, typeScriptText } from '../src/playground/call-texts.js';
import { structureViolations } from './support/accessibility.js';
import { chooseFile, takeDownloads } from './support/chosen-file.js';
import { fill } from './support/fields.js';
import { hasFleet } from './support/fleet-backend.js';
import { HOSTILE } from './support/hostile.js';
import { type Backend, renderPage, type ShownPage, settled } from './support/render-page.js';

const AGENT = 'mail-agent-of-tests';
const STEP_NAME = `it's "${HOSTILE.markup}"`;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CHECKED_AT = '2026-11-01T10:00:00.000Z';
/** Versions of the control, from before and after its checks. */
const VERSIONS = [
  ['first-secret', '2026-11-01T09:00:00.000Z'],
  ['second-secret', '2026-11-01T11:00:00.000Z'],
] as const;
const EVENTS = Array.from({ length: 5 }, (_, index) =>
  create(ControlExecutionEventSchema, {
    controlExecutionId: `check-${index}`,
    traceId: TRACE,
    spanId: `span-${index}`,
    agentName: AGENT,
    controlId: 1,
    controlName: 'changing',
    checkStage: Stage.PRE,
    appliesTo: AppliesTo.TOOL_CALL,
    action: Decision.DENY,
    matched: true,
    confidence: 1,
    evaluatorName: 'regex',
    selectorPath: 'input.text',
    stepType: 'tool',
    stepName: STEP_NAME,
    sessionId: HOSTILE.quotes,
    timestamp: CHECKED_AT,
  }),
);
const stepText = (text: string) =>
  JSON.stringify({ type: 'tool', name: STEP_NAME, input: { text, 'a\'"$`\\': HOSTILE.rightToLeft } });

interface Given {
  /** What becomes of an export. */
  readonly exports?: () => 'all' | 'broken' | 'nothing yet';
  /** The text that is denied. */
  readonly secret?: () => string;
}

/** A service with the checks of an agent, whose only control denies a text. */
function hasEvents({ exports = () => 'all', secret = () => 'second-secret' }: Given = {}): Backend {
  return (router) => {
    const { rpc } = router;
    const { method } = ObservabilityService;
    rpc(method.queryEvents, (asked) => {
      const found = EVENTS.filter(
        ({ agentName, stepName, controlId, timestamp = '' }) =>
          [undefined, agentName].includes(asked.agentName) &&
          [undefined, stepName].includes(asked.stepName) &&
          asked.matched !== false &&
          (asked.actions.length === 0 || asked.actions.includes(Decision.DENY)) &&
          (asked.controlIds.length === 0 || asked.controlIds.includes(controlId ?? 0)) &&
          timestamp < (asked.endTime ?? 'Z'),
      );
      return { events: found, eventTotal: BigInt(found.length) };
    });
    rpc(method.exportEvents, async function* (_request, { signal }) {
      if (exports() === 'broken') throw new ConnectError('the service is gone', Code.Unavailable);
      if (exports() === 'nothing yet') {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return;
      }
      for (const event of EVENTS) yield { event };
    });
    rpc(AgentService.method.listAgents, ({ name = '' }) => ({
      agents: AGENT.includes(name) ? [{ agentName: AGENT }] : [],
      pagination: {},
    }));
    rpc(ControlService.method.listControls, ({ name = '' }) => ({
      controls: 'changing'.includes(name) ? [{ id: 1, name: 'changing' }] : [],
      pagination: {},
    }));
    rpc(ControlService.method.getControl, () => ({ id: 1, name: 'changing', version: 2n, data: {} }));
    const numbered = VERSIONS.map(([pattern, createdAt], index) => ({
      versionNum: index + 1,
      createdAt,
      snapshot: {
        name: 'changing',
        data: {
          execution: Execution.SERVER,
          condition: { selector: { path: 'input.text' }, evaluator: { name: 'regex', config: { pattern } } },
          action: { decision: Decision.DENY },
        },
      },
    }));
    rpc(ControlService.method.listControlVersions, ({ cursor = '3' }) => ({
      versions: numbered.filter(({ versionNum }) => versionNum < Number(cursor)).toReversed(),
    }));
    rpc(ControlService.method.getControlVersion, ({ versionNum }) => numbered[versionNum - 1] ?? {});
    rpc(EvaluationService.method.explain, ({ stepJson }) => {
      const isSafe = !new TextDecoder().decode(stepJson).includes(secret());
      const matches = isSafe ? [] : [{ controlId: 1, controlName: 'changing', action: Decision.DENY }];
      return { verdict: { isSafe, outcome: isSafe ? Outcome.ALLOW : Outcome.DENY, matches, revision: 7n } };
    });
    hasFleet(router);
  };
}

const queryField = () => screen.findByRole<HTMLInputElement>('combobox', { name: /^Filter/ });
async function filterBy({ user }: ShownPage, query: string): Promise<void> {
  await user.clear(await queryField());
  await user.type(await queryField(), `${query}{Enter}`);
}
const isSaid = (text: string | RegExp) => screen.findByText(text);
const allAreListed = () => isSaid('5 of 5');
const press = async ({ user }: ShownPage, name: string | RegExp) =>
  user.click(await screen.findByRole('button', { name }));
const alert = async () => (await screen.findByRole('alert')).textContent;
const images = () => document.querySelectorAll('main img, main script');
const chosenRange = (address: string) => {
  const parameters = new URLSearchParams(address.split('?')[1]);
  return ['from', 'to', 'range'].map((name) => parameters.get(name));
};
/** Has the pages of the next tests the usual range. */
async function chooseAnyTime(page: ShownPage): Promise<void> {
  await press(page, /^Range:/);
  await press(page, 'Any time');
}

describe('the page of events', () => {
  it('finds events by all filters, of an exact range too', async () => {
    const session = encodeURIComponent(HOSTILE.quotes);
    const path = `/events?agent=${AGENT}&action=deny&type=tool&session=${session}&kind=tool_call`;
    const page = renderPage(path, hasEvents(), { role: 'regular' });
    await allAreListed();
    expect(page.sent(ObservabilityService.method.queryEvents)[0]).toMatchObject({
      agentName: AGENT,
      actions: [Decision.DENY],
      stepType: 'tool',
      sessionId: HOSTILE.quotes,
      appliesTo: [AppliesTo.TOOL_CALL],
    });
    await screen.findByRole('button', { name: `Remove session: ${HOSTILE.quotes}` });
    await filterBy(page, 'step:"another step"');
    await isSaid('No event matches the filters');
    await filterBy(page, `step:"${STEP_NAME.replaceAll('"', '\\"')}"`);
    await allAreListed();

    await press(page, /^Range:/);
    const range = within(screen.getByRole('dialog', { name: 'Time range' }));
    expect(await structureViolations()).toEqual([]);
    await fill(page.user, range.getByRole('textbox', { name: 'From' }), '2026-01-05 24:00');
    await page.user.click(range.getByRole('button', { name: 'Apply' }));
    expect(range.getByRole('alert').textContent).toContain('“2026-01-05 24:00” is not a time');
    await fill(page.user, range.getByRole('textbox', { name: 'From' }), '2026-01-05 12:00:07Z');
    await fill(page.user, range.getByRole('textbox', { name: 'To' }), '2026-01-06 23:30Z');
    await page.user.click(range.getByRole('button', { name: 'Apply' }));
    await isSaid('No event matches the filters');
    expect(chosenRange(page.address())).toEqual([
      '2026-01-05T12:00:07.000Z',
      '2026-01-06T23:30:00.000Z',
      null,
    ]);
    await chooseAnyTime(page);
  });

  it('exports what its filters find, to a file that is chosen or downloaded, or says why there is none', async () => {
    let exports: ReturnType<NonNullable<Given['exports']>> = 'all';
    const page = renderPage(`/events?agent=${AGENT}`, hasEvents({ exports: () => exports }), {
      role: 'regular',
    });
    const download = takeDownloads();
    const expected = EVENTS.map((event) => `${JSON.stringify(eventJson(event))}\n`).join('');
    await press(page, 'Export as NDJSON');
    await isSaid(/^5 events saved/);
    expect(await download.text()).toBe(expected);
    exports = 'broken';
    await press(page, 'Export as NDJSON');
    await isSaid(/^The export broke off after 0 events, so no file was saved/);
    exports = 'nothing yet';
    await press(page, 'Export as NDJSON');
    await press(page, 'Cancel the export');
    await isSaid(/^Cancelled after 0 events/);
    exports = 'all';
    const file = chooseFile();
    await press(page, 'Export as NDJSON');
    await isSaid(/^5 events saved/);
    expect(file.text()).toBe(expected);
  });

  it('filters by what is typed, or says what is possible', async () => {
    const page = renderPage('/events?control=changing&outcome=no-match', hasEvents(), { role: 'regular' });
    // The name of a control in an address is looked up.
    await waitFor(() => expect(page.address()).toContain('control=1'));
    await isSaid('No event matches the filters');
    await filterBy(page, 'outcome:refused');
    expect(await alert()).toContain('Possible are: denied, steered, observed, error, no match.');
    expect((await queryField()).value).toBe('outcome:refused');
    await filterBy(page, 'outcome:denied');
    expect(await alert()).toContain('The outcome no match cannot be combined');
    expect(screen.queryAllByRole('row')).toEqual([]);
    await press(page, 'Remove outcome: no match');
    await allAreListed();
  });

  it('takes what is suggested by keyboard, and a query from elsewhere', async () => {
    const page = renderPage('/events', hasEvents(), { role: 'regular' });
    const { keyboard, paste, type } = page.user;
    await type(await queryField(), 'mail-ag');
    const option = await screen.findByRole('option', { name: new RegExp(`^agent: ?${AGENT}`) });
    expect(await structureViolations()).toEqual([]);
    await keyboard('{ArrowDown}');
    expect(option.getAttribute('aria-selected')).toBe('true');
    await keyboard('{Enter}');
    await screen.findByRole('button', { name: `Remove agent: ${AGENT}` });
    await keyboard('outc{Tab}');
    expect((await queryField()).value).toBe('outcome:');
    await keyboard('ste{Tab}');
    await screen.findByRole('button', { name: 'Remove outcome: steered' });
    await isSaid('No event matches the filters');
    await keyboard('{Backspace}');
    await allAreListed();
    await keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('option')).toBeNull());
    await paste('outcome:denied control:chang color:red');
    expect(await alert()).toContain('Nothing can be filtered by “color”.');
    await screen.findByRole('button', { name: 'Remove control: changing' });
    await filterBy(page, 'control:nothing-of-this-name');
    await waitFor(async () =>
      expect(await alert()).toContain('No control has “nothing-of-this-name” in its name.'),
    );
    expect(screen.queryAllByRole('row')).toEqual([]);
  });

  it('has views that are saved in the browser, of which one can be the default', async () => {
    const page = renderPage('/events?outcome=denied', hasEvents());
    const views = () => within(screen.getByRole('dialog', { name: 'Saved views' }));
    const menu = within(await screen.findByRole('navigation', { name: 'Pages' }));
    const openAnew = async () => {
      await page.user.click(menu.getByRole('link', { name: 'Agents' }));
      await settled();
      await page.user.click(menu.getByRole('link', { name: 'Events' }));
      await settled();
    };
    await press(page, 'Views');
    await page.user.type(views().getByLabelText('Save these filters as'), `${HOSTILE.markup}{Enter}`);
    await press(page, `Open ${HOSTILE.markup} by default`);
    expect(await structureViolations()).toEqual([]);
    await openAnew();
    await screen.findByRole('button', { name: 'Remove outcome: denied' });
    expect(page.address()).toBe('/events?outcome=denied');
    await press(page, `Views: ${HOSTILE.markup}`);
    await press(page, `Rename ${HOSTILE.markup}`);
    await fill(page.user, views().getByLabelText('New name'), 'denials');
    await page.user.keyboard('{Enter}');
    expect(images()).toHaveLength(0);
    await press(page, 'Delete denials');
    await openAnew();
    await allAreListed();
    expect(page.address()).toBe('/events');
  });

  it('leads to why a step was denied, by the definition as it was, and to another try', async () => {
    const page = renderPage(`/events?agent=${AGENT}`, hasEvents());
    await allAreListed();
    // Anywhere in the row.
    await page.user.click(screen.getAllByRole('cell')[0] as HTMLElement);
    await screen.findByRole('heading', { level: 1, name: `${AGENT} · ${STEP_NAME} denied by changing` });
    await isSaid(TRACE);
    await isSaid(/^5 recorded checks of 5 steps/);
    const steps = await screen.findAllByRole('region', { name: `Step tool ${STEP_NAME}` });
    const step = within(steps[0] as HTMLElement);
    step.getByText('denied');
    const decided = await step.findByText('← decided the check');
    expect(decided.closest('li')?.textContent).toContain('input.text matches regex first-secret');
    expect(step.queryByText(/second-secret/)).toBeNull();
    expect(images()).toHaveLength(0);
    const comparison = step.getByRole('link', { name: 'compare with version 2' });
    expect(comparison.getAttribute('href')).toBe('/ui/controls/1?tab=versions&from=1&to=2');

    await page.user.click(step.getByRole('link', { name: 'Try again now' }));
    const field = await screen.findByLabelText<HTMLTextAreaElement>('Step, as JSON');
    expect(screen.getByLabelText('Agent')).toHaveProperty('value', AGENT);
    expect(JSON.parse(field.value)).toEqual({ type: 'tool', name: STEP_NAME, input: {} });
    await isSaid(/^Events hold no content of steps/);
    await fill(page.user, field, stepText('first-secret 0'));
    await page.user.keyboard('{Control>}{Enter}{/Control}');
    await isSaid('allowed');
  });
});

describe('the playground', () => {
  const step = () => screen.findByLabelText<HTMLTextAreaElement>('Step, as JSON');
  const copied = async (page: ShownPage, name: string): Promise<string> => {
    await press(page, name);
    await screen.findByText('Copied.');
    return navigator.clipboard.readText();
  };

  it('writes the evaluation as calls, without the key', async () => {
    const page = renderPage(`/playground?agent=${AGENT}`, hasEvents(), { role: 'regular' });
    await fill(page.user, await step(), stepText('second-secret'));
    const call = { apiBase: '/api/v1', keysRequired: true, agentName: AGENT, stage: 'pre' as const };
    const whole = { ...call, origin: window.location.origin, step: stepText('second-secret') };
    expect(await copied(page, 'Copy as curl')).toBe(curlText(whole));
    await page.user.click(screen.getByRole('tab', { name: 'TypeScript' }));
    expect(await copied(page, 'Copy as TypeScript')).toBe(typeScriptText(whole));
  });

  it('has the content of a step in a link only on request', async () => {
    const path = `/playground?agent=${AGENT}&stage=post`;
    const page = renderPage(path, hasEvents());
    await fill(page.user, await step(), stepText('private'));
    const base = `${window.location.origin}/ui`;
    expect(await copied(page, 'Copy link')).toBe(`${base}${path}`);
    await page.user.click(screen.getByLabelText('with the content of the step'));
    const link = await copied(page, 'Copy link');
    expect(new URL(link).search).not.toContain('private');
    cleanup();
    renderPage(link.slice(base.length), hasEvents());
    expect((await step()).value).toBe(stepText('private'));
    expect(screen.getByLabelText('Stage')).toHaveProperty('value', 'post');
  });

  it('saves test cases to a file, opens it, and says which of them fail after a change', async () => {
    let secret = 'second-secret';
    const backend = hasEvents({ secret: () => secret });
    let page = renderPage(`/playground?agent=${AGENT}`, backend);
    const explain = async (text: string, outcome: string) => {
      await fill(page.user, await step(), stepText(text));
      await press(page, 'Explain');
      await isSaid(outcome);
    };
    await explain('second-secret', 'denied');
    await fill(page.user, screen.getByLabelText('Name of the test case'), HOSTILE.markup);
    await press(page, 'Save as test case');
    await explain('harmless', 'allowed');
    await press(page, 'Save as test case');
    const download = takeDownloads();
    await press(page, 'Download 2 test cases');
    const text = await download.text();
    expect(JSON.parse(text).cases[0]).toMatchObject({
      agent: AGENT,
      stage: 'pre',
      step: JSON.parse(stepText('second-secret')),
      expected: { outcome: 'deny', matches: ['changing'] },
    });
    cleanup();

    page = renderPage(`/playground?agent=${AGENT}`, backend);
    const chosen = (content: string) => new File([content], 'cases.json', { type: 'application/json' });
    const picker = await screen.findByLabelText('File of test cases');
    await page.user.upload(picker, chosen('[]'));
    expect(await alert()).toContain('The file has no test cases');
    await page.user.upload(picker, chosen(text));
    await press(page, 'Run all');
    await isSaid('2 of 2 cases passed, 0 did not.');
    secret = 'third-secret';
    await press(page, 'Run all');
    await isSaid('1 of 2 cases passed, 1 did not.');
    const failed = screen.getByRole('button', { name: `Open ${HOSTILE.markup}` });
    expect(failed.closest('tr')?.textContent).toContain(
      'the outcome is allow, not deny; no match of changing',
    );
    await page.user.click(failed);
    expect(JSON.parse((await step()).value).input.text).toBe('second-secret');
    expect(images()).toHaveLength(0);
    expect(await structureViolations()).toEqual([]);
  });
});
