// @vitest-environment happy-dom
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ApprovalState } from '@gen/enforcement/v1/approval_pb.js';
import {
  ApprovalDecision,
  type ApprovalSchema,
  ApprovalService,
} from '@gen/enforcement/v1/approval_service_pb.js';
import { Decision, Execution } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { signedInAs } from './support/callers.js';
import { fill } from './support/fields.js';
import { AGENT, hasFleet } from './support/fleet-backend.js';
import { HOSTILE } from './support/hostile.js';
import { type Backend, noDialog, openDialog, renderPage, settled } from './support/render-page.js';

type Approval = MessageInitShape<typeof ApprovalSchema>;

interface Given {
  readonly caller?: { readonly name: string; readonly role: string };
  /** Input of the step, as the service shows it. */
  readonly input?: string;
  readonly isShortened?: boolean;
}

const ALICE = { name: 'alice', role: 'approver' };
const PENDING = ApprovalState.PENDING;
const HOUR_MS = 3_600_000;

/** A service that keeps approvals, and tells of their changes. */
function approvals({
  caller = ALICE,
  input = '{"amount":1000,"to":"ACME"}',
  isShortened = false,
}: Given = {}) {
  const kept: Approval[] = [];
  let narrowedTo: string | undefined;
  let tell = (): void => {};
  let news = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const change = (id: number, part: Approval, isTold = true): void => {
    kept[id - 1] = { ...kept[id - 1], ...part } as Approval;
    if (!isTold) return;
    tell();
    news = new Promise((resolve) => {
      tell = resolve;
    });
  };
  /** A step waits for a decision. Returns the id of its approval. */
  const ask = (part: Approval = {}): number => {
    const id = kept.length + 1;
    const control = { controlId: 1, controlName: 'wire-money', version: 1, approvers: ['role:approver'] };
    const asked = { agentName: AGENT, stepType: 'tool', stepName: 'pay', question: 'Pay 1000 to ACME?' };
    change(id, {
      ...{ id, state: PENDING, stepSha256: `sha-${id}`, askedBy: 'runtime', ...asked },
      controls: [{ ...control, quorum: 1 }],
      expiresAt: timestampFromMs(Date.now() + HOUR_MS),
      allows: 'It is for exactly this step.',
      ...part,
    });
    return id;
  };
  const current = (id: number): Approval => kept[id - 1] ?? {};
  const backend: Backend = (router) => {
    const { rpc } = router;
    const { method } = ApprovalService;
    signedInAs(caller)(router);
    rpc(method.listApprovals, ({ state, agentName, controlId, decidedBy, sessionId }) => {
      const found = kept.filter(
        (one) =>
          [undefined, one.state].includes(state) &&
          [undefined, one.agentName].includes(agentName) &&
          [undefined, one.controls?.[0]?.controlId].includes(controlId) &&
          [undefined, one.votes?.[0]?.by].includes(decidedBy) &&
          [undefined, one.sessionId].includes(sessionId),
      );
      return { approvals: found.toReversed(), pagination: { total: found.length } };
    });
    rpc(method.getApproval, ({ approvalId }) => {
      const approval = current(approvalId);
      const hasVoted = approval.votes?.some(({ by }) => by === caller.name) === true;
      const canDecide = approval.state === PENDING && caller.role === 'approver' && !hasVoted;
      return {
        approval,
        stepJson: `{"type":"tool","name":"pay","input":${narrowedTo ?? input}}`,
        stepShortened: isShortened,
        explanations: [{ controlId: 1, controlName: 'wire-money', applies: true }],
        canDecide,
        ...(canDecide ? {} : { cannotDecideBecause: 'you have voted' }),
      };
    });
    rpc(method.decideApproval, ({ approvalId, decision, comment, narrowedInputJson }) => {
      const [control] = current(approvalId).controls ?? [];
      const approved = (control?.approved ?? 0) + 1;
      const isApproved = decision === ApprovalDecision.APPROVE;
      const isOpen = isApproved && approved < (control?.quorum ?? 1);
      narrowedTo = narrowedInputJson;
      change(approvalId, {
        state: isOpen ? PENDING : isApproved ? ApprovalState.APPROVED : ApprovalState.DENIED,
        controls: [{ ...control, approved }],
        narrowed: narrowedInputJson !== undefined,
        votes: [{ by: caller.name, decision, ...(comment === undefined ? {} : { comment }) }],
      });
      return { approval: current(approvalId) };
    });
    rpc(method.watchApprovals, async function* (_request, { signal }) {
      const ended = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      yield { news: { case: 'heartbeat' as const, value: {} } };
      while (!signal.aborted) {
        await Promise.race([news, ended]);
        yield { news: { case: 'approval' as const, value: {} } };
      }
    });
    hasFleet(router);
  };
  return { backend, ask, change };
}

const press = (name: string | RegExp) => screen.findByRole('button', { name });
const dialog = async () => within(await openDialog());
const question = async () => within(await screen.findByRole('region', { name: 'Question' }));
const { decideApproval, listApprovals } = ApprovalService.method;

describe('the steps that wait', () => {
  it('are shown as they come, and are approved by keyboard', async () => {
    const { backend, ask } = approvals();
    const { user, sent } = renderPage('/approvals', backend);
    await screen.findByText('Nothing waits for you');
    const id = ask();
    await screen.findByRole('link', { name: 'Pay 1000 to ACME?' });
    await within(screen.getByRole('navigation', { name: 'Pages' })).findByRole('link', {
      name: /^Approvals\s*1 waiting$/,
    });
    await user.keyboard('ja');
    const asked = await dialog();
    await asked.findByText(/"amount": 1000/);
    expect(await structureViolations()).toEqual([]);
    await user.keyboard('fine <b>by me</b>{Enter}');
    await noDialog();
    await screen.findByText(`Approval ${id}: approved.`);
    await screen.findByText('Nothing waits for you');
    expect(sent(decideApproval)).toMatchObject([
      {
        ...{ approvalId: id, decision: ApprovalDecision.APPROVE },
        ...{ comment: 'fine <b>by me</b>', stepSha256: 'sha-1' },
      },
    ]);
    expect(sent(listApprovals).every(({ mine }) => mine)).toBe(true);
  });

  it('wait for as many people as the control says', async () => {
    const { backend, ask } = approvals();
    const control = { controlId: 1, controlName: 'close-books', quorum: 2, approvers: ['role:approver'] };
    const id = ask({ controls: [control] });
    const { user } = renderPage('/approvals', backend);
    await user.click(await press(`Approve ${id}`));
    await user.click((await dialog()).getByRole('button', { name: 'Approve' }));
    await screen.findByText(/It waits for 1 more vote\.$/);
    await user.click(screen.getByRole('link', { name: 'Pay 1000 to ACME?' }));
    await screen.findByText('1 of 2 people have approved');
    await screen.findByText('You cannot decide: you have voted');
  });

  it('are read by viewers, who decide about none', async () => {
    const { backend, ask } = approvals({ caller: { name: 'vera', role: 'viewer' } });
    ask();
    const { user, sent } = renderPage('/approvals?show=all', backend);
    const link = await screen.findByRole('link', { name: 'Pay 1000 to ACME?' });
    const buttons = () => screen.queryAllByRole('button', { name: /Approve|Deny/ });
    expect(buttons()).toEqual([]);
    await user.click(link);
    await screen.findByText('waits for a decision');
    await settled();
    expect(buttons()).toEqual([]);
    expect(sent(listApprovals).some(({ mine }) => mine !== true)).toBe(true);
  });
});

describe('a step that waits', () => {
  it('is denied by keyboard on its page, with a reason', async () => {
    const { backend, ask } = approvals();
    const id = ask();
    const { user, sent } = renderPage(`/approvals/${id}`, backend);
    await screen.findByText('0 of 1 person has approved');
    expect(await structureViolations()).toEqual([]);
    await user.keyboard('d');
    await (await dialog()).findByText(/"amount": 1000/);
    await user.keyboard('not today{Enter}');
    await noDialog();
    await (await question()).findByText('denied');
    expect(screen.queryByRole('button', { name: 'Approve' })).toBeNull();
    expect(sent(decideApproval)).toMatchObject([
      { approvalId: id, decision: ApprovalDecision.DENY, comment: 'not today' },
    ]);
  });

  it('is told at once to be cancelled, and why', async () => {
    const { backend, ask, change } = approvals();
    const id = ask();
    renderPage(`/approvals/${id}`, backend);
    await press('Approve');
    change(id, { state: ApprovalState.CANCELLED, endReason: 'the user went away' });
    await (await question()).findByText('cancelled');
    (await question()).getByText(/the user went away/);
    expect(screen.queryByRole('button', { name: 'Approve' })).toBeNull();
  });

  it('is told to be expired without news of it', async () => {
    const { backend, ask, change } = approvals();
    const id = ask({ expiresAt: timestampFromMs(Date.now()) });
    renderPage(`/approvals/${id}`, backend);
    await screen.findByText('waits for a decision');
    change(id, { state: ApprovalState.EXPIRED }, false);
    await (await question()).findByText('expired');
    expect(screen.queryByRole('button', { name: 'Approve' })).toBeNull();
  });

  it('is approved with another input, which is the only one that may be used', async () => {
    const { backend, ask } = approvals({ input: '{"amount":2500,"to":"ACME","password":"***"}' });
    const id = ask();
    const { user, sent } = renderPage(`/approvals/${id}`, backend);
    await user.click(await press('Change the input…'));
    const send = await press('Approve with this input…');
    await user.click(send);
    expect(screen.getByRole('alert').textContent).toContain('The input is as the agent has sent it');
    const field = screen.getByLabelText<HTMLTextAreaElement>(/^Input as JSON/);
    const less = field.value.replace('2500', '10');
    await fill(user, field, less);
    expect(await structureViolations()).toEqual([]);
    await user.click(send);
    const asked = await dialog();
    await asked.findByText(/"amount": 10,/);
    asked.getByText('Only this input may be used:');
    await user.click(asked.getByRole('button', { name: 'Approve' }));
    await screen.findByText('The step, as an approver has changed it');
    expect(sent(decideApproval)).toMatchObject([{ approvalId: id, narrowedInputJson: less }]);
    expect(JSON.parse(less)).toEqual({ amount: 10, to: 'ACME', password: '***' });
  });

  it('is shown as text, whatever is in it, and cannot be changed where it is not shown as a whole', async () => {
    const texts = [HOSTILE.markup, HOSTILE.rightToLeft, 'word '.repeat(2_000)];
    const { backend, ask } = approvals({ input: JSON.stringify(texts), isShortened: true });
    const id = ask({ question: `Send ${texts.join(' ')}?`, stepName: HOSTILE.rightToLeft });
    const { user } = renderPage('/approvals', backend);
    await press(`Approve ${id}`);
    await user.keyboard('a');
    await (await dialog()).findByText(/^The step is longer than/);
    await user.click((await dialog()).getByRole('button', { name: 'Cancel' }));
    await user.click(screen.getByRole('link', { name: /^Send <img src=x/ }));
    const step = await screen.findByRole('region', { name: 'The step, with secrets masked' });
    expect(step.textContent).toContain(HOSTILE.markup.replaceAll('"', '\\"'));
    expect(step.textContent?.length).toBeLessThan(5_000);
    const main = screen.getByRole('main');
    expect(main.textContent).toContain('⟨U+202E⟩');
    expect(main.textContent).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
    expect(main.querySelector('img, script')).toBeNull();
    expect(screen.queryByRole('button', { name: 'Change the input…' })).toBeNull();
    await user.click(await press(/^Show all/));
    expect(step.textContent?.length).toBeGreaterThan(10_000);
  });
});

describe('what became of a step', () => {
  const VOTE = { by: 'bob', decision: ApprovalDecision.DENY, comment: 'fine <b>by me</b>' };

  it('is told with who decided, why it was asked, and what was decided about the agent', async () => {
    const { backend, ask } = approvals();
    const id = ask({ state: ApprovalState.USED, uses: 1, votes: [VOTE] });
    renderPage(`/approvals/${id}`, backend);
    await screen.findByText('approved and used');
    screen.getByText('fine <b>by me</b>');
    within(screen.getByRole('region', { name: 'Why it is asked' })).getByText('wire-money');
    await screen.findByText('No decision about it is recorded.');
  });

  it('is found by agent, control, approver, state and session, and from the page of the agent', async () => {
    const { backend, ask } = approvals();
    ask({ question: 'Pay 7?', state: ApprovalState.DENIED, votes: [VOTE] });
    ask({ question: 'Pay 8?', controls: [{ controlId: 2 }], sessionId: 'session-1' });
    ask({ question: 'Pay 9?', agentName: 'another-bot-01' });
    const { user } = renderPage(`/agents/${AGENT}`, backend);
    await user.click(await within(await screen.findByRole('main')).findByRole('link', { name: 'Approvals' }));
    const questions = async () => {
      const table = within(await screen.findByRole('region', { name: 'Approvals' }));
      return table.queryAllByText(/^Pay \d\?$/).map(({ textContent }) => textContent);
    };
    await waitFor(async () => expect(await questions()).toEqual(['Pay 8?', 'Pay 7?']));
    const field = screen.getByRole('combobox', { name: 'Filter approvals' });
    const filtered = async (filter: string, ...expected: string[]) => {
      await user.clear(field);
      await user.type(field, `${filter}{Enter}`);
      await waitFor(async () => expect(await questions()).toEqual(expected));
      await user.click(screen.getByRole('button', { name: new RegExp(`^Remove ${filter.split(':')[0]}`) }));
    };
    await filtered('approver:bob', 'Pay 7?');
    await filtered('state:denied', 'Pay 7?');
    await filtered('session:session-1', 'Pay 8?');
    await user.type(field, 'session:none{Enter}');
    await screen.findByText('No approval matches the filters');
    expect(await structureViolations()).toEqual([]);
  });

  it('is found by the control of an address, with the votes', async () => {
    const { backend, ask } = approvals();
    ask({ votes: [VOTE], state: ApprovalState.DENIED });
    ask({ question: 'Pay 8?', controls: [{ controlId: 2 }] });
    const { sent } = renderPage('/approvals?tab=history&control=1&approver=bob&state=denied', backend);
    await screen.findByText('bob denied');
    expect(screen.queryByText('Pay 8?')).toBeNull();
    expect(sent(listApprovals)).toContainEqual(
      expect.objectContaining({ controlId: 1, decidedBy: 'bob', state: ApprovalState.DENIED }),
    );
  });

  it('is announced on the page of a control that asks', async () => {
    const { backend } = approvals();
    renderPage('/controls/1', (router) => {
      const condition = { selector: { path: '*' }, evaluator: { name: 'regex', config: { pattern: '.' } } };
      const action = { decision: Decision.DENY, approval: { approvers: ['role:approver'] } };
      const data = { execution: Execution.SERVER, condition, action };
      router.rpc(ControlService.method.getControl, () => ({
        id: 1,
        name: 'wire-money',
        version: 1n,
        data,
        action,
      }));
      backend(router);
    });
    await screen.findByText('A matching step must not run before people approve it.');
    await screen.findByText('An approval is for exactly this step.');
  });
});
