import { expressionNotes } from '../agents/expression-notes.js';
import { stepNotes } from '../agents/step-notes.js';
import { addSteps, emptyCatalogue, type StepCatalogue } from '../agents/steps-catalogue.js';
import type { ControlDefinition } from '../controls/definition/definition.js';
import type { Audiences } from './audiences.js';
import { finding, type LintFinding, ruleOfWarning } from './lint-rules.js';
import { createWorkLimit } from './work.js';

/** A registered agent. */
export interface LintAgent {
  readonly name: string;
  /** As "name=value". */
  readonly labels: readonly string[];
  /** Its registration; null if it is too long to be read. */
  readonly registration: string | null;
}

/** The registered agents of a namespace. */
export interface LintAgents {
  readonly agents: readonly LintAgent[];
  /** Whether these are all. */
  readonly isComplete: boolean;
}

/** Most registered steps that controls are compared with in all: some seconds. */
const MAX_COMPARED = 20_000_000;
/** How much more a pattern for step names costs than names, and an expression. */
const PATTERN_COST = 20;

/** Compares definitions with the steps of the agents that have the controls. */
export interface RegistrationRules {
  /** The steps of the agents that have a control, or of all if no agent has it. */
  catalogueOf(control: string): StepCatalogue;
  findings(control: string, definition: ControlDefinition, document: number): Generator<LintFinding, void>;
  /** What was left out. */
  omitted(): readonly LintFinding[];
}

export function createRegistrationRules(
  { agents, isComplete }: LintAgents,
  audiences: Audiences | null,
): RegistrationRules {
  const limit = createWorkLimit(MAX_COMPARED, 'unreachable-scope', 'the registrations have too many steps');
  const all = { ...catalogueOf(agents, 'any agent', false), isComplete };
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  const known = new Map<string, StepCatalogue>();
  const catalogue = (control: string): StepCatalogue => {
    const names = audiences?.agentsOf(control) ?? null;
    if (names === null) return all;
    const having = [...names].flatMap((name) => byName.get(name) ?? []);
    if (having.length === 0) return all;
    const key = having
      .map(({ name }) => name)
      .sort()
      .join('\n');
    const before = known.get(key);
    if (before !== undefined) return before;
    const size = having.reduce((sum, { registration }) => sum + (registration?.length ?? 0), 0);
    if (!limit.spend(size / 10)) return all;
    const found = {
      ...catalogueOf(having, 'any agent that has this control', true),
      // Others may be linked where they are not seen.
      isComplete: having.every(({ registration }) => registration !== null),
    };
    known.set(key, found);
    return found;
  };
  return {
    catalogueOf: catalogue,
    *findings(control, definition, document) {
      const steps = catalogue(control);
      const hasPattern = (definition.scope?.step_name_regex ?? '') !== '';
      if (!limit.spend(steps.steps.length * (hasPattern ? PATTERN_COST : 1))) {
        limit.leaveOut(document);
        return;
      }
      const { notes, refused, unknownMembers } = expressionNotes(definition, steps);
      const warnings = [...stepNotes(definition, steps), ...notes, ...refused.map(({ warning }) => warning)];
      for (const warning of warnings) {
        const rule = unknownMembers.has(warning) ? 'unknown-member' : ruleOfWarning(warning);
        if (rule !== null) yield finding(rule, document, warning.field, warning.message);
      }
    },
    omitted: () => limit.findings(),
  };
}

function catalogueOf(agents: readonly LintAgent[], owner: string, isOfAgent: boolean): StepCatalogue {
  const catalogue = emptyCatalogue(owner, isOfAgent);
  for (const { registration } of agents) if (registration !== null) addSteps(catalogue, registration);
  return catalogue;
}
