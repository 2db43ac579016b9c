import type { GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { ControlTargets } from '../bindings/control-targets.js';
import { useMay } from '../session/session-context.js';
import { ControlAgents } from './control-agents.js';
import { ControlPolicies } from './control-policies.js';

/** The agents that a control checks, the policies that contain it, and the targets that it is bound to. */
export function ControlUsage({ control }: { readonly control: GetControlResponse }) {
  const seesTargets = useMay('bindings.read');
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
      {seesTargets && (
        <section>
          <h2>Targets</h2>
          <ControlTargets control={control} />
        </section>
      )}
    </div>
  );
}
