import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { type ApprovalNotice, ApprovalState } from '../../gen/proto/enforcement/v1/approval_pb.js';
import { ApprovalDecision, ApprovalService } from '../../gen/proto/enforcement/v1/approval_service_pb.js';
import {
  type ApprovalRule,
  ApprovalRuleSchema,
  Decision,
  Execution,
  Stage,
} from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService, Outcome } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { axeViolations, axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { createKeysFile } from '../support/keys-file.js';
import { AGENT, adminTransport, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const KEYS = {
  alice: 'key-of-alice-who-approves-in-tests',
  bob: 'key-of-bob-who-approves-in-tests-too',
  viewer: 'key-of-a-viewer-of-approvals-in-tests',
  runtime: 'key-of-the-agent-that-asks-in-tests',
};
const BIDI = 'pay \u202E0001\u202C \u2066EUR\u2069 to אבג';

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('approvals in the dashboard', (freshDatabaseUrl) => {
  const keysFile = createKeysFile([
    { name: 'alice', key: KEYS.alice, role: 'approver' },
    { name: 'bob', key: KEYS.bob, role: 'approver' },
    { name: 'viewer', key: KEYS.viewer, role: 'viewer' },
    { name: 'runtime', key: KEYS.runtime, role: 'agent' },
  ]);
  afterAll(() => keysFile.remove());
  const dashboard = useDashboardTabs(async () =>
    startDashboardService(await freshDatabaseUrl(), keysFile.environment),
  );
  const { open } = dashboard;
  const transport = (key?: string) => adminTransport(dashboard.service.url, key);
  const approvals = () => createClient(ApprovalService, transport(KEYS.runtime));

  /** A control of the agent that asks before each step with a name. */
  async function createControl(name: string, rule: Partial<ApprovalRule> = {}): Promise<number> {
    const { controlId } = await createClient(ControlService, transport()).createControl({
      name,
      data: {
        execution: Execution.SERVER,
        condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: '.' } } },
        scope: { stepNames: [name], stages: [Stage.PRE] },
        action: {
          decision: Decision.DENY,
          approval: create(ApprovalRuleSchema, {
            approvers: ['role:approver'],
            question: 'Pay {input.amount} to {input.to}?',
            ...rule,
          }),
        },
      },
    });
    await createClient(AgentService, transport()).addAgentControl({ agentName: AGENT, controlId });
    return controlId;
  }

  /** Evaluates a step as an agent that can wait and can take changed steps. */
  function evaluate(name: string, input: object) {
    return createClient(EvaluationService, transport(KEYS.runtime)).evaluate({
      agentName: AGENT,
      stage: Stage.PRE,
      accepts: [Outcome.ASK, Outcome.MODIFY],
      stepForm: {
        case: 'stepJson',
        value: new TextEncoder().encode(JSON.stringify({ type: 'tool', name, input })),
      },
    });
  }
  async function ask(name: string, input: object): Promise<ApprovalNotice> {
    const { outcome, approval } = await evaluate(name, input);
    expect(outcome).toBe(Outcome.ASK);
    if (approval === undefined) throw new Error('the step waits for no approval');
    return approval;
  }
  /** The approval when it is not pending any more. */
  async function ended(approvalId: number) {
    for (;;) {
      const { approval } = await approvals().awaitApproval({ approvalId, agentName: AGENT });
      if (approval !== undefined && approval.state !== ApprovalState.PENDING) return approval;
    }
  }
  const badge = (page: Page) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Approvals/ });
  const dialogOf = (page: Page) => page.getByRole('dialog');

  it('shows a new one by itself, and lets the agent go on once it is approved by keyboard', async () => {
    await createControl('wire-money');
    const input = { amount: 1000, to: 'ACME', token: 'sk-live-0123456789abcdefghij' };
    await open(
      '/approvals',
      async ({ page }) => {
        await page.getByText('Nothing waits for you').waitFor();
        const { id } = await ask('wire-money', input);
        await page.getByRole('link', { name: 'Pay 1000 to ACME?' }).waitFor();
        await badge(page).getByText('1').waitFor();
        await page.keyboard.press('j');
        await page.keyboard.press('a');
        const dialog = dialogOf(page);
        await dialog.getByText('"amount": 1000').waitFor();
        expect(await dialog.innerText()).not.toContain('0123456789abcdefghij');
        await page.keyboard.type('fine <b>by me</b>');
        expect(await axeViolations(page)).toEqual([]);
        await page.keyboard.press('Enter');
        await dialog.waitFor({ state: 'detached' });
        await page.getByText(`Approval ${id}: approved.`).waitFor();
        expect(await ended(id)).toMatchObject({
          state: ApprovalState.APPROVED,
          votes: [{ by: 'alice', comment: 'fine <b>by me</b>' }],
        });
        expect((await evaluate('wire-money', input)).outcome).toBe(Outcome.ALLOW);
        await page.getByText('Nothing waits for you').waitFor();
        await page.goto(dashboard.address(`/approvals/${id}`));
        await page.getByText('approved and used').waitFor();
        await page.getByText('fine <b>by me</b>').waitFor();
        await page.getByRole('region', { name: 'Why it is asked' }).getByText('wire-money').waitFor();
        await page.getByRole('region', { name: 'Last decisions' }).first().waitFor();
      },
      { key: KEYS.alice },
    );
  });

  it('denies by keyboard on its page, and tells the agent why', async () => {
    await createControl('drop-table');
    const { id } = await ask('drop-table', { amount: 1, to: 'x' });
    await open(
      `/approvals/${id}`,
      async ({ page }) => {
        await page.getByText('0 of 1 person has approved').waitFor();
        expect(await axeViolationsInThemes(page)).toEqual([]);
        await page.keyboard.press('d');
        await dialogOf(page).getByText('"amount": 1').waitFor();
        await page.keyboard.type('not today');
        await page.keyboard.press('Enter');
        await dialogOf(page).waitFor({ state: 'detached' });
        await page.getByRole('region', { name: 'Question' }).getByText('denied', { exact: true }).waitFor();
        expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      },
      { key: KEYS.alice },
    );
    expect(await ended(id)).toMatchObject({ state: ApprovalState.DENIED, votes: [{ comment: 'not today' }] });
    expect((await evaluate('drop-table', { amount: 1, to: 'x' })).outcome).toBe(Outcome.DENY);
  });

  it('takes two people where the control says so', async () => {
    await createControl('close-books', { quorum: 2 });
    const input = { amount: 5, to: 'books' };
    const { id } = await ask('close-books', input);
    const approve = (key: string, said: RegExp) =>
      open(
        '/approvals',
        async ({ page }) => {
          await page.getByRole('button', { name: `Approve ${id}` }).click();
          await dialogOf(page).getByRole('button', { name: 'Approve' }).click();
          await page.getByText(said).waitFor();
        },
        { key },
      );
    await approve(KEYS.alice, /It waits for 1 more vote/);
    await open(
      `/approvals/${id}`,
      async ({ page }) => {
        await page.getByText('1 of 2 people have approved').waitFor();
        await page.getByText(/^You cannot decide/).waitFor();
      },
      { key: KEYS.alice },
    );
    expect((await evaluate('close-books', input)).outcome).toBe(Outcome.ASK);
    await approve(KEYS.bob, new RegExp(`Approval ${id}: approved`));
    expect((await ended(id)).state).toBe(ApprovalState.APPROVED);
    expect((await evaluate('close-books', input)).outcome).toBe(Outcome.ALLOW);
  });

  it('shows at once that it was cancelled, and that its time is over', async () => {
    await createControl('short-lived', { expiresSeconds: 10 });
    const cancelled = await ask('short-lived', { amount: 1, to: 'a' });
    await open(
      `/approvals/${cancelled.id}`,
      async ({ page }) => {
        await page.getByRole('button', { name: 'Approve' }).waitFor();
        await approvals().cancelApproval({
          approvalId: cancelled.id,
          agentName: AGENT,
          reason: 'the user went away',
        });
        await page.getByText('the user went away').waitFor();
        await page.getByText('cancelled', { exact: true }).waitFor();
        const { id } = await ask('short-lived', { amount: 2, to: 'b' });
        await page.goto(dashboard.address(`/approvals/${id}`));
        await page.getByText('waits for a decision').waitFor();
        await page.getByText('expired', { exact: true }).waitFor();
        expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
        expect((await ended(id)).state).toBe(ApprovalState.EXPIRED);
      },
      { key: KEYS.alice },
    );
  });

  it('shows a hostile step as text, on a telephone', async () => {
    await createControl('hostile', { question: 'Send {input.html}{input.bidi}{input.long}?' });
    const html = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
    const { id } = await ask('hostile', {
      html,
      bidi: BIDI,
      [`${html}\u202E`]: null,
      long: 'word '.repeat(200_000),
    });
    await open(
      '/approvals',
      async ({ page }) => {
        await page.getByText('<img src=x onerror=').first().waitFor();
        await page.keyboard.press('a');
        const dialog = dialogOf(page);
        await dialog.getByText('The step is longer').waitFor();
        expect(await overflow(page)).toBe(0);
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        await page.goto(dashboard.address(`/approvals/${id}`));
        const step = page.getByRole('region', { name: 'The step, with secrets masked' });
        await step.getByText('onerror').waitFor();
        const text = await step.innerText();
        expect(text).toContain('⟨U+202E⟩0001⟨U+202C⟩ ⟨U+2066⟩EUR⟨U+2069⟩');
        expect(text.length).toBeLessThan(5_000);
        expect(await page.getByRole('main').innerText()).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
        expect(await page.locator('main img, main script').count()).toBe(0);
        expect(await overflow(page)).toBe(0);
        expect(await axeViolationsInThemes(page)).toEqual([]);
        await page.getByRole('button', { name: /^Show all/ }).click();
        expect((await step.innerText()).length).toBeGreaterThan(60_000);
        expect(await overflow(page)).toBe(0);
        // A step that is not shown as a whole cannot be changed here.
        expect(await page.getByRole('button', { name: 'Change the input…' }).count()).toBe(0);
      },
      { key: KEYS.alice, width: 360 },
    );
    await approvals().cancelApproval({ approvalId: id, agentName: AGENT });
  });

  it('approves another input, which is the only one that may be used', async () => {
    await createControl('refund');
    const { id } = await ask('refund', { amount: 2500, to: 'ACME', password: 'hunter2hunter2' });
    await open(
      `/approvals/${id}`,
      async ({ page }) => {
        await page.getByRole('button', { name: 'Change the input…' }).click();
        const field = page.getByLabel(/^Input as JSON/);
        const send = page.getByRole('button', { name: 'Approve with this input…' });
        await send.click();
        await page.getByRole('alert').getByText('The input is as the agent has sent it').waitFor();
        await field.fill((await field.inputValue()).replace(/"amount": \d+/, '"amount": 10'));
        expect(await axeViolations(page)).toEqual([]);
        await send.click();
        await dialogOf(page).getByText('"amount": 10').waitFor();
        await dialogOf(page).getByRole('button', { name: 'Approve' }).click();
        await page.getByText('The step, as an approver has changed it').waitFor();
      },
      { key: KEYS.bob },
    );
    const used = await evaluate('refund', {
      amount: 2500,
      to: 'ACME',
      password: 'hunter2hunter2',
    });
    expect(used.outcome).toBe(Outcome.MODIFY);
    expect(JSON.parse(used.modification?.stepJson ?? '').input).toEqual({
      amount: 10,
      to: 'ACME',
      password: 'hunter2hunter2',
    });
  });

  it('lists decisions by agent, control, approver and state, also from their pages', async () => {
    const controlId = await createControl('listed');
    const { id } = await ask('listed', { amount: 7, to: 'list' });
    const { stepSha256 } = (
      await createClient(ApprovalService, transport(KEYS.bob)).getApproval({ approvalId: id })
    ).approval ?? { stepSha256: '' };
    await createClient(ApprovalService, transport(KEYS.bob)).decideApproval({
      approvalId: id,
      decision: ApprovalDecision.DENY,
      stepSha256,
    });
    await open(
      `/agents/${AGENT}`,
      async ({ page }) => {
        await page.getByRole('main').getByRole('link', { name: 'Approvals' }).click();
        const rows = page.getByRole('region', { name: 'Approvals' }).getByRole('row');
        await rows.filter({ hasText: 'Pay 7 to list?' }).waitFor();
        const addresses = [`control=${controlId}`, 'approver=bob&state=denied'];
        for (const filter of addresses) {
          await page.goto(dashboard.address(`/approvals?tab=history&${filter}`));
          await rows.filter({ hasText: 'bob denied' }).waitFor();
          expect(await rows.filter({ hasText: 'approved' }).count()).toBe(0);
        }
        await page.goto(dashboard.address('/approvals?tab=history&session=none'));
        await page.getByText('No approval matches the filters').waitFor();
        expect(await axeViolations(page)).toEqual([]);
        await page.goto(dashboard.address(`/controls/${controlId}`));
        await page.getByText('A matching step must not run before people approve it.').waitFor();
        await page.getByText('An approval is for exactly this step.').waitFor();
      },
      { key: KEYS.alice },
    );
  });

  it('lets a viewer read, and tells those who want it in the browser', async () => {
    await createControl('told');
    await open(
      '/approvals?show=all',
      async ({ page }) => {
        await page.evaluate(() => {
          const told: string[] = [];
          const Recorder = class {
            static permission = 'granted';
            static requestPermission = async () => 'granted';
            constructor(title: string) {
              told.push(title);
            }
            close() {}
          };
          Object.assign(globalThis, { Notification: Recorder, told });
        });
        const toggle = page.getByRole('button', { name: 'Notify me in this browser' });
        await toggle.click();
        await page.getByRole('button', { name: 'Notify me in this browser', pressed: true }).waitFor();
        await ask('told', { amount: 3, to: 'me' });
        await page.getByRole('link', { name: 'Pay 3 to me?' }).waitFor();
        await expect.poll(() => page.evaluate('told')).toEqual(['Pay 3 to me?']);
        expect(await settled(page)).toBeUndefined();
      },
      { key: KEYS.alice },
    );
    await open(
      '/approvals?show=all',
      async ({ page }) => {
        await page.getByRole('link', { name: 'Pay 3 to me?' }).click();
        await page.getByText('waits for a decision').waitFor();
        expect(await page.getByRole('button', { name: /Approve|Deny/ }).count()).toBe(0);
      },
      { key: KEYS.viewer },
    );
  });
});
