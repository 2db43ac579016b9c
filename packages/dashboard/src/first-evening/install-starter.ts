import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { Decision, Execution, Stage } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { STARTER_CONTROLS, STARTER_POLICY, type StarterControl } from './starter-policy.js';

/**
 * Creates what the starter policy lacks, and gives it to every agent. Whatever has one of its names already stays as it
 * is, so that it can be called again, also after it failed halfway.
 */
export async function installStarter(transport: Transport): Promise<void> {
  const policies = createClient(PolicyService, transport);
  const controls = createClient(ControlService, transport);
  const { policies: found } = await policies.listPolicies({ name: STARTER_POLICY, limit: 100 });
  const policyId =
    found.find(({ name }) => name === STARTER_POLICY)?.id ??
    (await policies.createPolicy({ name: STARTER_POLICY })).policyId;
  for (const control of STARTER_CONTROLS) {
    const controlId = await idOf(control, controls);
    await policies.addPolicyControl({ policyId, controlId });
  }
  await policies.updatePolicy({ policyId, everyAgent: true });
}

async function idOf(
  { name, finds, condition }: StarterControl,
  controls: Client<typeof ControlService>,
): Promise<number> {
  const { controls: found } = await controls.listControls({ name, limit: 100 });
  const known = found.find((control) => control.name === name);
  if (known !== undefined) return known.id;
  const { controlId } = await controls.createControl({
    name,
    data: {
      description: `Observes steps whose input has ${finds}.`,
      execution: Execution.SERVER,
      scope: { stages: [Stage.PRE] },
      condition,
      action: { decision: Decision.OBSERVE },
      tags: ['starter'],
    },
  });
  return controlId;
}
