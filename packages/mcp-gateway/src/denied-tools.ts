import { RE2JS } from 're2js';
import { type AgentControl, type Client, Decision, Execution, StageValue } from '../../client/src/index.js';
import type { Log } from './errors.js';
import { messageOf } from './errors.js';

/** Which tools the controls of an agent deny whatever their arguments are. */
export interface DeniedTools {
  /** Whether calls of a tool can never pass. False as long as that is not known: each call is decided nevertheless. */
  ofAgent(agent: string): Promise<(tool: string) => boolean>;
  close(): void;
}

/** Agents whose controls are watched; the one that was asked for longest ago is dropped. */
const MAX_AGENTS = 1_000;
/** How long a list waits for the first news of an agent. */
const FIRST_NEWS_MS = 2_000;
/** Patterns of RE2 that are found in every text that is not empty. */
const EVERYTHING = new Set([
  '',
  '.',
  '.*',
  '.+',
  '^',
  '$',
  '^.*',
  '.*$',
  '^.*$',
  '^.+$',
  '(?s).*',
  '(?s)^.*$',
  '(?s).',
]);

type Rule = (tool: string) => boolean;

interface Watched {
  rule: Rule;
  readonly first: Promise<void>;
  readonly end: AbortController;
}

/** Watches the controls of agents. `type` is the step type of tools. */
export function createDeniedTools(
  client: Pick<Client, 'watchControls'>,
  type: string,
  log: Log,
): DeniedTools {
  const agents = new Map<string, Watched>();

  function watch(agent: string): Watched {
    const end = new AbortController();
    let tell = (): void => {};
    const first = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FIRST_NEWS_MS);
      tell = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    const watched: Watched = { rule: () => false, first, end };
    const follow = async (): Promise<void> => {
      for await (const { controls, changed } of client.watchControls(agent, { signal: end.signal })) {
        if (changed) watched.rule = ruleOf([...controls.values()], type);
        tell();
      }
    };
    follow()
      .catch((error) =>
        log(
          'warn',
          `agent ${agent}: its controls are not known, so no tool is hidden for it: ${messageOf(error)}`,
        ),
      )
      .finally(() => {
        tell();
        if (agents.get(agent) === watched) agents.delete(agent);
      });
    return watched;
  }

  return {
    async ofAgent(agent) {
      const watched = agents.get(agent) ?? watch(agent);
      agents.delete(agent);
      agents.set(agent, watched);
      const [oldest] = agents;
      if (agents.size > MAX_AGENTS && oldest !== undefined) {
        agents.delete(oldest[0]);
        oldest[1].end.abort();
      }
      await watched.first;
      return watched.rule;
    },
    close() {
      for (const { end } of agents.values()) end.abort();
    },
  };
}

/** Whether one of the controls denies every call of a tool. */
export function ruleOf(controls: readonly AgentControl[], type: string): Rule {
  const rules = controls.flatMap(({ control }): Rule[] => {
    if (control === undefined || control.enabled === false || control.execution !== Execution.SERVER)
      return [];
    const { action, condition, scope } = control;
    // With an approval or a change a step may pass after all.
    if (action?.decision !== Decision.DENY || action.approval !== undefined || action.modify.length > 0)
      return [];
    if (condition === undefined || !isAlwaysTrue(condition)) return [];
    const { stepTypes = [], stepNames = [], stepNameRegex, stages = [] } = scope ?? {};
    if (stepTypes.length > 0 && !stepTypes.includes(type)) return [];
    if (stages.length > 0 && !stages.includes(StageValue.PRE)) return [];
    const names = new Set(stepNames);
    if (stepNameRegex === undefined) return [names.size === 0 ? () => true : (tool) => names.has(tool)];
    const pattern = RE2JS.compile(stepNameRegex);
    return [(tool) => (names.size === 0 || names.has(tool)) && pattern.matcher(tool).find()];
  });
  return (tool) => rules.some((rule) => rule(tool));
}

type Condition = NonNullable<NonNullable<AgentControl['control']>['condition']>;

/** Whether a condition holds for every step: only those that can be seen to, from their form. */
function isAlwaysTrue({ selector, evaluator, and, or, not }: Condition): boolean {
  if (not !== undefined) return false;
  if (and !== undefined) return and.conditions.length > 0 && and.conditions.every(isAlwaysTrue);
  if (or !== undefined) return or.conditions.some(isAlwaysTrue);
  const config: Readonly<Record<string, unknown>> = evaluator?.config ?? {};
  const members = Object.keys(config);
  if (evaluator?.name === 'cel') return members.length === 1 && config.expression === 'true';
  if (evaluator?.name !== 'regex' || members.length !== 1) return false;
  // The name and the type of a step are texts that are never empty.
  const path = selector?.path ?? '*';
  return (
    ['*', 'name', 'type'].includes(path) &&
    typeof config.pattern === 'string' &&
    EVERYTHING.has(config.pattern)
  );
}
