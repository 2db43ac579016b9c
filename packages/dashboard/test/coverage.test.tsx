// @vitest-environment happy-dom
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate, timestampNow } from '@bufbuild/protobuf/wkt';
import { Stage } from '@gen/enforcement/v1/control_pb.js';
import {
  type AgentCoverageSchema,
  CoverageService,
  CoverageState,
  type ExpectationSchema,
} from '@gen/enforcement/v1/coverage_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { type Backend, noDialog, openDialog, renderPage } from './support/render-page.js';

const AGENT = 'billing-bot-01';
const seen = { firstSeenAt: timestampNow(), lastSeenAt: timestampNow() };
const STEPS = ['send_mail', 'pay', 'a', 'b', 'c', 'd'];

/** A service with one agent, which is listed for the states that it is in. */
function coverageOf(...given: readonly MessageInitShape<typeof ExpectationSchema>[]): Backend {
  let expectations: readonly MessageInitShape<typeof ExpectationSchema>[] = given;
  return ({ rpc }) => {
    rpc(CoverageService.method.listCoverage, ({ state }) => {
      const overdue = expectations.filter(({ overdueSince }) => overdueSince !== undefined).length;
      const agent: MessageInitShape<typeof AgentCoverageSchema> = {
        agentName: AGENT,
        evaluated: 1n,
        ...seen,
        points: [{ point: 'grpc', stage: Stage.PRE, evaluated: 1n, stepCount: 1, ...seen }],
        registeredSteps: STEPS.length,
        uncheckedStepCount: STEPS.length,
        uncheckedSteps: STEPS.map((name) => ({ type: 'tool', name, stages: [Stage.PRE, Stage.POST] })),
        expectations: [...expectations],
      };
      const isListed = state === CoverageState.OVERDUE ? overdue > 0 : state !== CoverageState.NEVER_SEEN;
      const agents = isListed ? [agent] : [];
      return { agents, pagination: { total: agents.length }, summary: { agents: 1, neverSeen: 0, overdue } };
    });
    rpc(CoverageService.method.setExpectations, (request) => {
      expectations = request.expectations.map(({ point, intervalSeconds = 0 }) => ({
        intervalSeconds,
        ...(point === undefined ? {} : { point }),
      }));
      return { expectations: [...expectations] };
    });
  };
}

describe('coverage', () => {
  it('shows where steps are evaluated and which never are, and sets what is expected', async () => {
    const { user, sent } = renderPage('/coverage?name=billing', coverageOf());
    const row = (await screen.findByText(AGENT)).closest('tr') ?? document.body;
    expect(row.textContent).toContain('grpc pre');
    expect(row.textContent).toContain('send_mail pre and post');
    within(row).getByText('and 3 more');
    expect(sent(CoverageService.method.listCoverage)).toMatchObject([{ name: 'billing' }]);
    await user.click(within(row).getByRole('button', { name: `Expect of ${AGENT}` }));
    const dialog = await openDialog();
    await user.selectOptions(within(dialog).getByLabelText('At grpc, every'), '15 minutes');
    expect(await structureViolations()).toEqual([]);
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    await noDialog();
    await waitFor(() => expect(row.textContent).toContain('every 15 minutes at grpc'));
    const [{ agentName, expectations } = { agentName: '', expectations: [] }, ...others] = sent(
      CoverageService.method.setExpectations,
    );
    expect(others).toEqual([]);
    expect(agentName).toBe(AGENT);
    expect(expectations).toMatchObject([{ point: 'grpc', intervalSeconds: 900 }]);
    expect(await structureViolations()).toEqual([]);
  });

  it('lists overdue agents, and lets viewers change nothing', async () => {
    const overdueSince = timestampFromDate(new Date(1_790_000_000_000));
    const { user, sent, address } = renderPage(
      '/coverage?state=overdue',
      coverageOf({ point: 'grpc', intervalSeconds: 900, overdueSince }),
      { role: 'regular' },
    );
    await screen.findByText(/overdue since/);
    await screen.findByText(/and 1 is not heard as expected/);
    expect(screen.queryByRole('button', { name: /^Expect/ })).toBeNull();
    expect(screen.getAllByRole('row')).toHaveLength(2);
    await user.selectOptions(screen.getByLabelText('State'), 'never_seen');
    await screen.findByText('No agent matches the filters');
    expect(address()).toBe('/coverage?state=never_seen');
    expect(sent(CoverageService.method.listCoverage).map(({ state }) => state)).toEqual([
      CoverageState.OVERDUE,
      CoverageState.NEVER_SEEN,
    ]);
  });
});
