// @vitest-environment happy-dom
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { renderPage } from './support/render-page.js';

it('the dashboard of a service without keys warns instead of asking for one', async () => {
  const { user, address } = renderPage(
    '/',
    ({ rpc }) => {
      rpc(AgentService.method.listAgents, () => ({ pagination: {} }));
      rpc(ControlService.method.listControls, () => ({ pagination: {} }));
    },
    { role: null },
  );
  await screen.findByText(/This service requires no keys/);
  expect(address()).toBe('/');
  await screen.findByRole('heading', { name: 'Three steps to a checked agent' });
  expect(screen.queryByText('SERVICE_API_KEY')).toBeNull();
  expect(screen.queryByLabelText('API key')).toBeNull();
  expect(screen.queryByRole('button', { name: /^Account/ })).toBeNull();
  await user.click(screen.getByRole('link', { name: 'Agents' }));
  await screen.findByText(/No agents yet/);
  await user.click(screen.getByRole('link', { name: 'Controls' }));
  await screen.findByText(/No controls yet/);
});
