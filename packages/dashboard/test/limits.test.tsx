// @vitest-environment happy-dom
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { Decision, Stage } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import {
  type EvaluateResponseSchema,
  EvaluationService,
  type LimitStatusSchema,
} from '@gen/enforcement/v1/evaluation_service_pb.js';
import { MemoryService } from '@gen/enforcement/v1/memory_service_pb.js';
import { AppliesTo, ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { type Backend, noDialog, openDialog, renderPage, settled } from './support/render-page.js';

const AGENT = 'billing-bot-01';
const CONTROL = 'four-mails-a-day';
const CONTROL_ID = 5;
const STATUS: MessageInitShape<typeof LimitStatusSchema> = {
  controlId: CONTROL_ID,
  controlName: CONTROL,
  evaluatorName: 'rate',
  limit: 4,
  remaining: 1,
  resetsAfter: { seconds: 7_200n },
  key: `agent ${AGENT}`,
};

/** A service with a limit of which three quarters are used. */
function limited({ isUsed = true, verdict = {} }: Partial<LimitedService> = {}): Backend {
  let isKept = isUsed;
  return ({ rpc }) => {
    const { method } = MemoryService;
    rpc(method.listLimits, ({ minUsed = 0.5 }) => ({
      limits: isKept && minUsed <= 0.75 ? [{ keyId: 'key-1', status: STATUS, usedAt: timestampNow() }] : [],
    }));
    rpc(method.getMemoryStatus, () => ({
      store: 'sqlite',
      isUsed,
      isAvailable: true,
      keys: isKept ? 1n : 0n,
      bytes: 100n,
      maxKeys: 1_000n,
      maxBytes: 1_000_000n,
    }));
    rpc(method.getMemoryKey, ({ key }) => ({
      states: [{ evaluatorName: 'rate', status: STATUS, keyId: key?.keyId ?? '', kept: { counted: 3 } }],
    }));
    rpc(method.resetMemoryKey, () => {
      isKept = false;
      return { wasKept: true };
    });
    rpc(AgentService.method.getAgent, () => ({ agent: { agentName: AGENT } }));
    rpc(EvaluationService.method.explain, () => ({ verdict }));
  };
}

interface LimitedService {
  readonly isUsed: boolean;
  /** What a step is explained with. */
  readonly verdict: MessageInitShape<typeof EvaluateResponseSchema>;
}

describe('limits', () => {
  it('say that no control counts anything yet', async () => {
    renderPage('/limits', limited({ isUsed: false }));
    await screen.findByText('No limit is that far used');
    await screen.findByText('sqlite, which no control needs');
    expect(await structureViolations()).toEqual([]);
  });

  it('are listed with what is left of them', async () => {
    const { user, sent } = renderPage('/limits', limited());
    const link = await screen.findByRole('link', { name: CONTROL });
    expect(link.getAttribute('href')).toBe(`/ui/controls/${CONTROL_ID}`);
    const row = within(link.closest('tr') ?? document.body);
    row.getByRole('cell', { name: '75 %' });
    row.getByRole('cell', { name: '1 of 4' });
    row.getByRole('cell', { name: 'in 2 hours' });
    expect(await structureViolations()).toEqual([]);
    await user.selectOptions(screen.getByLabelText('Used'), '0.8');
    await screen.findByText('No limit is that far used');
    expect(sent(MemoryService.method.listLimits).map(({ minUsed }) => minUsed)).toEqual([undefined, 0.8]);
  });

  it('are shown in the playground', async () => {
    const { user, sent } = renderPage(
      `/playground?agent=${AGENT}`,
      limited({ verdict: { isSafe: true, limits: [STATUS] } }),
    );
    const step = '{"type": "tool", "name": "send_mail", "input": {"text": "four"}}';
    const field = await screen.findByLabelText('Step, as JSON');
    await user.clear(field);
    await user.click(field);
    await user.paste(step);
    await user.click(screen.getByRole('button', { name: 'Explain' }));
    const name = await screen.findByText(`Left of ${CONTROL}`);
    expect(name.closest('div')?.textContent).toContain('1 of 4, resets in 2 hours');
    expect(await structureViolations()).toEqual([]);
    const [request, ...others] = sent(EvaluationService.method.explain);
    expect(others).toEqual([]);
    expect(request).toMatchObject({ agentName: AGENT, stage: Stage.PRE });
    expect(new TextDecoder().decode(request?.stepJson)).toBe(step);
    expect(sent(EvaluationService.method.evaluate)).toEqual([]);
  });

  it('are not reset by viewers', async () => {
    const { user } = renderPage('/limits', limited(), { role: 'regular' });
    await user.click(await screen.findByRole('button', { name: /^Details of/ }));
    await within(await openDialog()).findByText('1 of 4');
    expect(screen.queryByRole('button', { name: /Reset/ })).toBeNull();
  });

  it('show what is kept, and are reset with a reason', async () => {
    const { user, sent } = renderPage('/limits', limited());
    await user.click(await screen.findByRole('button', { name: /^Details of/ }));
    const details = await openDialog();
    await within(details).findByText('1 of 4');
    within(details).getByText('counted');
    expect(await structureViolations()).toEqual([]);
    const key = { controlId: CONTROL_ID, keyId: 'key-1' };
    expect(sent(MemoryService.method.getMemoryKey)).toMatchObject([{ key }]);
    await user.click(within(details).getAllByRole('button', { name: /^Reset/ })[0] ?? details);
    const question = screen.getByRole('dialog', { name: /^Reset .*\?$/ });
    expect(await openDialog()).toBe(question);
    await user.type(within(question).getByLabelText('Why (for the audit log)'), 'a mistake of ours');
    expect(await structureViolations()).toEqual([]);
    await user.click(within(question).getByRole('button', { name: /^Reset/ }));
    // Its row is gone from the list, and the dialogs with it.
    await screen.findByText('No limit is that far used');
    await noDialog();
    expect(sent(MemoryService.method.resetMemoryKey)).toMatchObject([{ key, reason: 'a mistake of ours' }]);
  });
});

describe('a halt besides limits', () => {
  const REASON = '<b>stop</b> it';
  const deniedByHalt: Backend = ({ rpc }) => {
    const { method } = ObservabilityService;
    rpc(method.queryEvents, () => ({
      events: [
        {
          controlExecutionId: 'check-1',
          traceId: 'trace-1',
          spanId: 'span-1',
          agentName: AGENT,
          controlId: 0,
          controlName: 'halt 1',
          checkStage: Stage.PRE,
          appliesTo: AppliesTo.TOOL_CALL,
          action: Decision.DENY,
          matched: true,
          confidence: 1,
          evaluatorName: 'halt',
          metadata: { halt: { id: 1, reason: REASON } },
          timestamp: new Date().toISOString(),
        },
      ],
      eventTotal: 1n,
    }));
    rpc(method.getStatsOverview, () => ({
      totals: { executionTotal: 1n, matchTotal: 1n },
      topControls: [{ controlId: 0, controlName: 'halt 1', matchTotal: 1n, denyTotal: 1n }],
    }));
    const lastEvaluatedAt = new Date().toISOString();
    rpc(AgentService.method.listAgents, () => ({
      agents: [{ agentName: AGENT, lastEvaluatedAt }],
      pagination: { total: 1 },
    }));
    rpc(ControlService.method.listControls, () => ({
      controls: [{ id: CONTROL_ID, name: CONTROL }],
      pagination: { total: 1 },
    }));
  };
  const linksToNoControl = () => document.querySelectorAll('a[href*="/controls/0"]');

  it('leads from its events to the halts, and to no control', async () => {
    const { user, address } = renderPage('/events?action=deny', deniedByHalt);
    const link = await screen.findByRole('link', { name: 'halt 1' });
    expect(link.getAttribute('href')).toBe('/ui/halts?state=all');
    await user.click(screen.getByRole('link', { name: /denied by halt 1: show its trace$/ }));
    await screen.findByText(`A halt denied the step, and no control was evaluated: ${REASON}`);
    expect(address()).toContain('/traces?id=trace-1');
    expect(screen.queryByText(/Definition at the time/)).toBeNull();
    expect(linksToNoControl()).toHaveLength(0);
    expect(await structureViolations()).toEqual([]);
  });

  it('leads from the overview to the halts, and to no control', async () => {
    renderPage('/?range=1h', deniedByHalt);
    const counted = await screen.findByRole('link', { name: 'halt 1' });
    await settled();
    expect(counted.getAttribute('href')).toBe('/ui/halts?state=all');
    expect(linksToNoControl()).toHaveLength(0);
  });

  it('is the verdict of the playground', async () => {
    const reason = `halt 1 of agent "${AGENT}": ${REASON}`;
    const { user } = renderPage(
      `/playground?agent=${AGENT}`,
      limited({ verdict: { isSafe: false, reason, halt: { haltId: 1, reason: REASON } } }),
    );
    await user.click(await screen.findByRole('button', { name: 'Explain' }));
    await screen.findByText(reason);
    const link = await screen.findByRole('link', { name: 'Halts in force' });
    expect(link.getAttribute('href')).toBe('/ui/halts');
    await waitFor(() => expect(screen.getAllByText('denied')).toHaveLength(1));
  });
});
