// @vitest-environment happy-dom
import { create } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { Decision, Execution, Stage } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import {
  AppliesTo,
  type FalsePositive,
  FalsePositiveSchema,
  ObservabilityService,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { type Backend, noDialog, openDialog, renderPage } from './support/render-page.js';

const CONTROL = 'no-card-numbers';
const CONTROL_ID = 3;
const EVENT = {
  controlExecutionId: 'check-1',
  traceId: 'trace-1',
  spanId: 'span-1',
  agentName: 'billing-bot-01',
  controlId: CONTROL_ID,
  controlName: CONTROL,
  checkStage: Stage.PRE,
  appliesTo: AppliesTo.TOOL_CALL,
  action: Decision.DENY,
  matched: true,
  confidence: 1,
  timestamp: new Date().toISOString(),
};

/** A service with one match, which is marked or not. */
function serviceWithMatch({ isMarked }: { readonly isMarked: boolean }): Backend {
  const mark = (note: string): FalsePositive =>
    create(FalsePositiveSchema, {
      controlExecutionId: EVENT.controlExecutionId,
      controlId: CONTROL_ID,
      markedBy: 'ann',
      markedAt: timestampNow(),
      note,
    });
  let marks = isMarked ? [mark('an order number')] : [];
  return ({ rpc }) => {
    const { method } = ObservabilityService;
    rpc(method.queryEvents, () => ({ events: [EVENT], eventTotal: 1n }));
    rpc(method.listFalsePositives, ({ controlId, controlExecutionIds }) => {
      const found = marks.filter((one) =>
        controlId === undefined
          ? controlExecutionIds.includes(one.controlExecutionId)
          : one.controlId === controlId,
      );
      return { falsePositives: found, pagination: { total: found.length } };
    });
    rpc(method.markFalsePositive, ({ note = '' }) => {
      marks = [mark(note)];
      return {};
    });
    rpc(method.unmarkFalsePositive, () => {
      marks = [];
      return { wasMarked: true };
    });
    rpc(method.getStatsOverview, () => ({ totals: { executionTotal: 1n, matchTotal: 1n } }));
    rpc(ControlService.method.getControl, () => ({
      id: CONTROL_ID,
      name: CONTROL,
      version: 1n,
      data: {
        execution: Execution.SERVER,
        condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } },
        action: { decision: Decision.DENY },
      },
    }));
    rpc(ControlService.method.listControlVersions, () => ({}));
  };
}

describe('false positives', () => {
  const object = `the match of ${CONTROL}`;
  const markButtons = () => screen.queryAllByRole('button', { name: `Mark as false positive ${object}` });

  it('are matches that are marked on the page of their trace, with a reason', async () => {
    const { user, sent } = renderPage('/traces?id=trace-1', serviceWithMatch({ isMarked: false }));
    await waitFor(() => expect(markButtons()).not.toEqual([]));
    await user.click(markButtons()[0] ?? document.body);
    const dialog = await openDialog();
    await user.type(within(dialog).getByLabelText(/^Why/), 'an order number');
    expect(await structureViolations()).toEqual([]);
    await user.click(within(dialog).getByRole('button', { name: /^Mark as false positive/ }));
    await screen.findByText('an order number');
    await noDialog();
    const said = screen.getByText(/Marked by/);
    expect(said.textContent).toMatch(/Marked by ann .*: an order number/);
    expect(markButtons()).toEqual([]);
    expect(sent(ObservabilityService.method.markFalsePositive)).toMatchObject([
      { controlExecutionId: 'check-1', controlId: CONTROL_ID, note: 'an order number' },
    ]);
    expect(await structureViolations()).toEqual([]);
  });

  it('are no longer marked once the mark is taken away', async () => {
    const { user, sent } = renderPage('/traces?id=trace-1', serviceWithMatch({ isMarked: true }));
    await user.click(await screen.findByRole('button', { name: `Take the mark away from ${object}` }));
    await waitFor(() => expect(markButtons()).not.toEqual([]));
    expect(sent(ObservabilityService.method.unmarkFalsePositive)).toMatchObject([
      { controlExecutionId: 'check-1', controlId: CONTROL_ID },
    ]);
  });

  it.each([`/events?control=${CONTROL_ID}`, `/controls/${CONTROL_ID}?tab=activity`])(
    'are named where the match is listed, at %s',
    async (path) => {
      renderPage(path, serviceWithMatch({ isMarked: true }));
      await screen.findByText('false positive');
      expect(await structureViolations()).toEqual([]);
    },
  );

  it('are counted on the page of the control', async () => {
    const { sent } = renderPage(`/controls/${CONTROL_ID}`, serviceWithMatch({ isMarked: true }));
    await screen.findByText('1 marked false positive in 30 days');
    expect(sent(ObservabilityService.method.listFalsePositives)).toContainEqual(
      expect.objectContaining({ controlId: CONTROL_ID, days: 30 }),
    );
  });

  it('are marked by nobody who may only read', async () => {
    renderPage('/traces?id=trace-1', serviceWithMatch({ isMarked: true }), { role: 'viewer' });
    await screen.findByText('an order number');
    expect(screen.queryByRole('button', { name: /mark/i })).toBeNull();
  });
});
