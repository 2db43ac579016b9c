import type { GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { ControlAgents } from './control-agents.js';
import { ControlPolicies } from './control-policies.js';

/** The policies that contain a control, and the agents that it checks. */
export function ControlUsage({ control }: { readonly control: GetControlResponse }) {
  return (
    <div className="usage">
      <section>
        <h2>Agents</h2>
        <ControlAgents control={control} />
      </section>
      <section>
        <h2>Policies</h2>
        <ControlPolicies control={control} />
      </section>
    </div>
  );
}
