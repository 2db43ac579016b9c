import { quoted } from '../../contract/errors/quoted.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { earlierStepOf } from '../../kernel/evaluators/memory/history-config.js';
import type { StepCatalogue } from '../agents/steps-catalogue.js';
import { type ControlDefinition, leavesOf, type PlacedLeaf } from '../controls/definition/definition.js';
import { foregoneResult } from '../controls/definition-warnings/foregone-result.js';
import type { Audiences } from './audiences.js';
import { finding, type LintFinding } from './lint-rules.js';
import type { ActiveControl } from './set-rules.js';
import { createWorkLimit } from './work.js';

/** Most pairs of a required step and a control that may deny it: some seconds. */
const MAX_COMPARED = 200_000;

export interface PrerequisiteRules {
  findings(control: ActiveControl, catalogue: StepCatalogue | null): AsyncGenerator<LintFinding, void>;
  /** What was left out. */
  omitted(): readonly LintFinding[];
}

/** Finds statements about earlier steps that cannot have run: every agent with the control is denied them, or registers none. */
export async function createPrerequisiteRules(
  controls: readonly ActiveControl[],
  audiences: Audiences,
  registry: EvaluatorRegistry,
  pause: () => Promise<void> | void,
): Promise<PrerequisiteRules> {
  const limit = createWorkLimit(
    MAX_COMPARED,
    'prerequisite-never-permitted',
    'too many controls deny, and too many steps are required',
  );
  const denying: DenyingControl[] = [];
  for (const control of controls) {
    const { action, scope = {} } = control.definition;
    const isFinal = action.approval === undefined && action.modify === undefined;
    if (action.decision !== 'deny' || !isFinal || scope.stages?.includes('pre') === false) continue;
    denying.push({ control, deniesAll: createNameResults(control, registry) });
    await pause();
  }

  /** The control that denies every step of a name to all agents that have another control. */
  const deniedBy = async (
    name: string,
    control: ActiveControl,
    steps: StepCatalogue | null,
  ): Promise<ActiveControl | null> => {
    for (const { control: deny, deniesAll } of denying) {
      if (deny === control) continue;
      if (!limit.spend(1)) {
        limit.leaveOut(control.document ?? 0);
        return null;
      }
      if (!mayDeny(deny.definition, name, steps) || !deniesAll(name)) continue;
      if (audiences.covers(deny.name, control.name)) return deny;
      await pause();
    }
    return null;
  };

  async function* ofLeaf(
    { leaf, path, positive }: PlacedLeaf,
    control: ActiveControl,
    document: number,
    steps: StepCatalogue | null,
  ): AsyncGenerator<LintFinding, void> {
    const earlier = leaf.evaluator.name === 'history' ? earlierStepOf(leaf.evaluator.config, positive) : null;
    if (earlier === null) return;
    const registered = steps?.isComplete === true ? new Set(steps.steps.map(({ name }) => name)) : null;
    const reasons: string[] = [];
    for (const name of earlier.names) {
      if (registered !== null && registered.size > 0 && !registered.has(name)) {
        reasons.push(`no step named ${quoted(name)} is registered by ${steps?.owner}`);
        continue;
      }
      const deny = earlier.hasRun ? await deniedBy(name, control, steps) : null;
      if (deny === null) return;
      reasons.push(`every step named ${quoted(name)} is denied by the control ${quoted(deny.name)}`);
    }
    const effect = earlier.isRequired
      ? 'the steps that require it are never permitted'
      : 'this is never true';
    const message = `${reasons.join(', and ')}, so ${effect}`;
    yield finding(
      'prerequisite-never-permitted',
      document,
      `${path}.evaluator.config.event.step_names`,
      message,
    );
  }

  return {
    async *findings(control, catalogue) {
      if (control.document === null || control.definition.action.decision === 'observe') return;
      for (const placed of leavesOf(control.definition.condition, 'data.condition')) {
        yield* ofLeaf(placed, control, control.document, catalogue);
      }
    },
    omitted: () => limit.findings(),
  };
}

interface DenyingControl {
  readonly control: ActiveControl;
  /** Whether it denies every step of a name in its scope. */
  deniesAll(name: string): boolean;
}

/** Names that no check of the condition has are judged once, all together: an expression takes a millisecond. */
function createNameResults(
  { definition: { condition, scope }, isAlways }: ActiveControl,
  registry: EvaluatorRegistry,
): (name: string) => boolean {
  if (isAlways) return () => true;
  const { step_name_regex: _, ...others } = scope ?? {};
  const judged = (name: string): boolean =>
    foregoneResult({ condition, scope: { ...others, step_names: [name] } }, registry) === true;
  const named = new Set(
    [...leavesOf(condition, '')].flatMap(({ leaf: { selector, evaluator } }) => {
      const { name, config } = evaluator;
      const known = registry.get(name);
      if (known?.configSchema.safeParse(config).success !== true) return [];
      const demands = known.demands?.(config, selector.path ?? '*') ?? [];
      return demands.flatMap(({ member, texts }) =>
        member === 'name' ? texts.map((text) => text.toLowerCase()) : [],
      );
    }),
  );
  // It is longer than each of them.
  const ofOthers = judged(`${[...named].join('')}.`);
  const known = new Map<string, boolean>();
  return (name) => {
    if (!named.has(name.toLowerCase())) return ofOthers;
    const result = known.get(name) ?? judged(name);
    known.set(name, result);
    return result;
  };
}

/** Whether the scope of a control has every step of a name, whatever its type. */
function mayDeny({ scope = {} }: ControlDefinition, name: string, steps: StepCatalogue | null): boolean {
  const { step_types: types = [], step_names: names = [], step_name_regex: regex = '' } = scope;
  if ((names.length > 0 || regex !== '') && !names.includes(name)) return false;
  if (types.length === 0) return true;
  if (steps?.isComplete !== true) return false;
  const own = steps.steps.filter((step) => step.name === name);
  return own.length > 0 && own.every(({ type }) => types.includes(type));
}
