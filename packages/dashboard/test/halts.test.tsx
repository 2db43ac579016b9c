// @vitest-environment happy-dom
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import {
  type Halt,
  HaltSchema,
  HaltScope,
  HaltService,
  HaltState,
} from '@gen/enforcement/v1/halt_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { type Backend, noDialog, openDialog, renderPage } from './support/render-page.js';

const AGENT = 'billing-bot-01';
const REASON = '<b>wrong</b> customers';

/** A service that keeps halts. */
function keepsHalts(...given: readonly MessageInitShape<typeof HaltSchema>[]): Backend {
  const halts: Halt[] = given.map((one, index) =>
    create(HaltSchema, { id: index + 1, state: HaltState.ACTIVE, createdAt: timestampNow(), ...one }),
  );
  return ({ rpc }) => {
    rpc(AgentService.method.getAgent, () => ({ agent: { agentName: AGENT } }));
    rpc(HaltService.method.listHalts, ({ state }) => {
      const found = halts.filter((halt) => state === undefined || halt.state === state);
      return { halts: found, pagination: { total: found.length } };
    });
    rpc(HaltService.method.createHalt, ({ scope, reason, agentName, sessionId }) => {
      if (scope === HaltScope.SESSION && (agentName ?? '') === '') {
        throw new ConnectError('agent_name is required', Code.InvalidArgument);
      }
      const halt = create(HaltSchema, {
        id: halts.length + 1,
        scope,
        reason,
        state: HaltState.ACTIVE,
        createdAt: timestampNow(),
        ...(agentName === undefined ? {} : { agentName }),
        ...(sessionId === undefined ? {} : { sessionId }),
      });
      halts.push(halt);
      return { halt };
    });
    rpc(HaltService.method.liftHalt, ({ haltId, reason = '' }) => {
      const halt = halts.find(({ id }) => id === haltId);
      if (halt === undefined) throw new ConnectError('no such halt', Code.NotFound);
      Object.assign(halt, {
        state: HaltState.LIFTED,
        liftedAt: timestampNow(),
        liftedBy: 'me',
        liftReason: reason,
      });
      return { halt };
    });
  };
}

describe('halts', () => {
  it('of an agent begin on its page once a reason is given', async () => {
    const { user, sent } = renderPage(`/agents/${AGENT}`, keepsHalts());
    await user.click(await screen.findByRole('button', { name: 'Halt…' }));
    const dialog = await openDialog();
    expect(dialog).toBe(screen.getByRole('dialog', { name: 'Halt steps?' }));
    expect(within(dialog).getByLabelText<HTMLInputElement>('Agent').value).toBe(AGENT);
    const halt = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Halt' });
    expect(halt.disabled).toBe(true);
    await user.type(within(dialog).getByLabelText('Reason, which agents are told'), REASON);
    await user.selectOptions(within(dialog).getByLabelText('It ends'), '60');
    expect(await structureViolations()).toEqual([]);
    expect(halt.disabled).toBe(false);
    const before = Date.now();
    await user.click(halt);
    await noDialog();
    const [request, ...others] = sent(HaltService.method.createHalt);
    expect(others).toEqual([]);
    expect(request).toMatchObject({ scope: HaltScope.AGENT, agentName: AGENT, reason: REASON });
    const endsAt = Number(request?.expiresAt?.seconds) * 1_000;
    expect(endsAt).toBeGreaterThanOrEqual(before + 3_599_000);
    expect(endsAt).toBeLessThanOrEqual(Date.now() + 3_600_000);
  });

  it('are listed, and lifted with a reason', async () => {
    const { user, sent } = renderPage(
      '/halts',
      keepsHalts({ scope: HaltScope.AGENT, agentName: AGENT, reason: REASON }),
    );
    await screen.findByText(REASON);
    expect(await structureViolations()).toEqual([]);
    await user.click(screen.getByRole('button', { name: `Lift halt 1 of agent ${AGENT}` }));
    const dialog = await openDialog();
    await user.type(within(dialog).getByLabelText('Why (for the audit log)'), 'mended');
    await user.click(within(dialog).getByRole('button', { name: /^Lift/ }));
    await screen.findByText('No halt is in force');
    expect(sent(HaltService.method.liftHalt)).toMatchObject([{ haltId: 1, reason: 'mended' }]);
    await user.selectOptions(screen.getByLabelText('State'), 'lifted');
    await waitFor(() => expect(screen.getByRole('table').textContent).toContain('by me: mended'));
    expect(sent(HaltService.method.listHalts).at(-1)?.state).toBe(HaltState.LIFTED);
  });

  it('are asked for the members of their scope, and show what the service refuses', async () => {
    const { user, sent } = renderPage('/halts', keepsHalts());
    await user.click(await screen.findByRole('button', { name: 'New halt' }));
    const dialog = await openDialog();
    expect(within(dialog).queryByRole('option', { name: 'all namespaces' })).toBeNull();
    await user.selectOptions(within(dialog).getByLabelText('Deny the steps of'), 'a session of an agent');
    expect(within(dialog).getByLabelText('Agent')).toBeDefined();
    expect(within(dialog).getByLabelText('Session')).toBeDefined();
    await user.type(within(dialog).getByLabelText('Reason, which agents are told'), 'why');
    await user.click(within(dialog).getByRole('button', { name: 'Halt' }));
    expect((await within(dialog).findByRole('alert')).textContent).toContain('agent_name is required');
    expect(sent(HaltService.method.createHalt)).toMatchObject([{ scope: HaltScope.SESSION, reason: 'why' }]);
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await noDialog();
  });

  it('of all namespaces are offered to operators', async () => {
    const { user } = renderPage('/halts', keepsHalts(), { role: 'operator' });
    await user.click(await screen.findByRole('button', { name: 'New halt' }));
    await waitFor(() => expect(screen.getByRole('option', { name: 'all namespaces' })).toBeDefined());
  });

  it('are read by viewers, who change nothing', async () => {
    renderPage('/halts', keepsHalts({ scope: HaltScope.NAMESPACE, reason: 'for all to see' }), {
      role: 'regular',
    });
    await screen.findByText('for all to see');
    expect(screen.queryByRole('button', { name: /Lift|halt/i })).toBeNull();
  });
});
