import { Link } from 'wouter';
import { NameLink } from '../ui/name-link.js';
import { numberOf } from '../ui/numbers.js';
import { Warnings } from '../ui/warnings.js';
import type { Installed } from './install-dialog.js';

/** What an installation has created, and what follows from it. */
export function InstalledNote({ installed: { installation, warnings } }: { readonly installed: Installed }) {
  const { policyId, policyName, controls } = installation;
  const count = controls.filter(({ controlId }) => controlId !== undefined).length;
  return (
    <>
      <p className="success" role="status">
        <strong>Installed {numberOf(count, 'control')}</strong> in the policy{' '}
        <NameLink href={`/policies/${policyId}`} name={policyName} />. They check the agents that have it:{' '}
        <Link href={`/policies/${policyId}?tab=agents`}>give it to agents</Link>.
      </p>
      <Warnings warnings={warnings} />
    </>
  );
}
