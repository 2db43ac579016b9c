import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { createRegistry } from '../../kernel/evaluators/load-evaluators.js';
import { memoryEvaluators } from '../../kernel/evaluators/memory/memory-evaluators.js';
import type { DesiredObject } from '../configuration/configuration-object.js';
import { isDraft } from '../controls/definition/definition.js';
import { createAudiences } from './audiences.js';
import { controlFindings } from './control-rules.js';
import { unlinkedFindings } from './link-rules.js';
import { finding, type LintFinding } from './lint-rules.js';
import { EMPTY_SET, type LintSet, readLintSet } from './lint-set.js';
import { createPrerequisiteRules } from './prerequisite-rules.js';
import { createRegistrationRules, type LintAgents } from './registration-rules.js';
import { activeControls, createSetRules } from './set-rules.js';
import { MAX_FINDINGS } from './work.js';

/** What is known besides the documents. */
export interface LintFacts {
  /** The evaluators that the documents were read with. */
  readonly registry: EvaluatorRegistry;
  /** Those with memory, with the windows of the service. */
  readonly kept: EvaluatorRegistry;
  /** The registered agents; null if they are not known. */
  readonly agents: LintAgents | null;
  /** The stored objects; null if they are not known. */
  readonly stored: (LintSet & { readonly bound: ReadonlySet<string> }) | null;
  /** Whether each document is looked at by itself only. */
  readonly isEachAlone: boolean;
  /** Called between parts of the work, one control each. */
  readonly pause: () => Promise<void> | void;
}

/** The evaluators with memory of a service whose longest window is so many milliseconds. */
export function evaluatorsOfWindow(maxWindowMs: number): EvaluatorRegistry {
  return createRegistry(memoryEvaluators({ maxWindowMs }));
}

/** Finds what is probably not meant in documents, in their order. Of hidden quadratic work a bounded part is done. */
export async function lintDocuments(
  objects: readonly DesiredObject[],
  { registry, kept, agents, stored, isEachAlone, pause }: LintFacts,
): Promise<readonly LintFinding[]> {
  const { set, findings } = await readLintSet(objects, stored ?? EMPTY_SET, registry, pause);
  const audiences = createAudiences(set, agents?.agents ?? []);
  const registrations =
    agents === null ? null : createRegistrationRules(agents, isEachAlone ? null : audiences);
  for (const { name, document, control } of set.controls) {
    if (document === null) continue;
    findings.push(...controlFindings(control, document, { registry, kept }));
    if (registrations !== null && !isDraft(control)) {
      findings.push(...registrations.findings(name, control, document));
    }
    await pause();
  }
  if (!isEachAlone) {
    // Of two equal controls the stored one is kept, or that of the first document.
    const active = (await activeControls(set.controls, registry, pause)).sort(
      (one, other) => (one.document ?? -1) - (other.document ?? -1),
    );
    const pairs = await createSetRules(active, audiences, pause);
    const prerequisites = await createPrerequisiteRules(active, audiences, registry, pause);
    for (const [position, control] of active.entries()) {
      findings.push(...pairs.findings(position));
      const catalogue = registrations?.catalogueOf(control.name) ?? null;
      for await (const one of prerequisites.findings(control, catalogue)) findings.push(one);
      await pause();
    }
    const facts = { isNamespace: stored !== null, bound: stored?.bound ?? new Set<string>() };
    findings.push(...unlinkedFindings(set, audiences, facts));
    findings.push(...pairs.omitted(), ...prerequisites.omitted());
  }
  findings.push(...(registrations?.omitted() ?? []));
  return listed(findings);
}

/** In the order of the documents, each once. */
function listed(findings: readonly LintFinding[]): readonly LintFinding[] {
  const byText = new Map(
    findings.map((one) => [`${one.document} ${one.rule} ${one.field} ${one.message}`, one]),
  );
  const sorted = [...byText.values()].sort((one, other) => one.document - other.document);
  if (sorted.length <= MAX_FINDINGS) return sorted;
  const shown = sorted.slice(0, MAX_FINDINGS);
  const message = `there are ${sorted.length - MAX_FINDINGS} more findings, which are not listed`;
  return [...shown, finding('incomplete-lint', shown.at(-1)?.document ?? 0, '', message)];
}
