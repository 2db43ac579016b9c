import { quoted } from '../../contract/errors/quoted.js';
import type { Audiences } from './audiences.js';
import { finding, type LintFinding } from './lint-rules.js';
import type { LintControl, LintSet } from './lint-set.js';

/** What is known of links besides those of the set. */
export interface LinkFacts {
  /** Whether the set has all links of the namespace. */
  readonly isNamespace: boolean;
  /** Names of controls that are bound to targets. */
  readonly bound: ReadonlySet<string>;
}

/** Controls that nothing has. A set without any link, and without the namespace, says nothing about links. */
export function* unlinkedFindings(
  { controls, policies, links }: LintSet,
  audiences: Audiences,
  { isNamespace, bound }: LinkFacts,
): Generator<LintFinding, void> {
  const where = isNamespace ? 'neither the documents nor the namespace' : 'the documents do not';
  const tellsControls = isNamespace || policies.length + links.length > 0;
  for (const { name, document, control } of tellsControls ? controls : []) {
    if (document === null || !isMeant(control) || audiences.isLinked(name) || bound.has(name)) continue;
    const message = isNamespace
      ? `${where} have a policy or an agent with the control ${quoted(name)}, so it is never evaluated`
      : `${where} have a policy or an agent with the control ${quoted(name)}, so it is evaluated only if it is linked elsewhere`;
    yield finding('unlinked-control', document, 'name', message);
  }
  for (const policy of isNamespace || links.length > 0 ? policies : []) {
    if (policy.document === null || audiences.isGiven(policy)) continue;
    const elsewhere = isNamespace
      ? 'its controls are never evaluated'
      : 'its controls are evaluated only if it is given elsewhere';
    const message = `no agent has the policy ${quoted(policy.name)}, so ${elsewhere}`;
    yield finding('unlinked-policy', policy.document, 'name', message);
  }
}

/** A control that is switched off need not be linked. */
function isMeant(control: LintControl['control']): boolean {
  return control.enabled;
}
